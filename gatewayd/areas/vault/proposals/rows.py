"""Documents whose reading may propose something, and what somebody said to it. Owns the table `vault_proposals`.

What is proposed is not stored: it follows from the facts, and from the books as they are when it is asked for.
"""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.shapes import Document, DocumentRow
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.errors import Problem, invalid, invalid_state
from gatewayd.extraction.shapes import CertificateFacts, Facts
from gatewayd.ledger import references
from gatewayd.ledger.references import Reference
from gatewayd.store import ReadTx, WriteTx

ProposalKind = Literal["bank_line", "certificate"]
Decision = Literal["accepted", "dismissed"]
_BILLS: Final = frozenset({"invoice", "receipt"})

_NOTE = """
INSERT INTO vault_proposals (org_id, document_id, kind) VALUES (:org_id, :document_id, :kind)
ON CONFLICT (org_id, document_id) DO UPDATE SET kind = excluded.kind WHERE vault_proposals.decision IS NULL
"""
_WITHDRAW = """
DELETE FROM vault_proposals WHERE org_id = :org_id AND document_id = :document_id AND decision IS NULL
"""
_SELECT = """
SELECT kind, decision, target_id FROM vault_proposals WHERE org_id = :org_id AND document_id = :document_id
"""
_DECIDE = """
UPDATE vault_proposals SET decision = :decision, target_id = :target_id, decided_by = :decided_by, decided_at = :now
WHERE org_id = :org_id AND document_id = :document_id
"""
_FORGET = "DELETE FROM vault_proposals WHERE org_id = :org_id AND document_id = :document_id"


_SELECT_OPEN = f"""
{documents.SELECT_PROPOSING} AND q.document_id < :before ORDER BY q.document_id DESC LIMIT :count
"""
_SELECT_OPEN_OF_KIND = f"""
{documents.SELECT_PROPOSING} AND q.kind = :kind AND q.document_id < :before ORDER BY q.document_id DESC LIMIT :count
"""


class State(NamedTuple):
    """What a document may propose, and what was decided. `target_id` is what was accepted."""

    kind: ProposalKind
    decision: Decision | None
    target_id: str | None


def note(tx: WriteTx, document_id: str, facts: Facts) -> None:
    """Note what kind of proposals may follow from what was read in a document; what was decided stays."""
    known = {"kind": facts.kind, "total": facts.total} | parses.corrections_of(tx, document_id)
    note_known(tx, document_id, (known["kind"], known["total"]), facts.certificate)


def note_known(
    tx: WriteTx, document_id: str, kind_and_total: tuple[str | None, str | None], certificate: CertificateFacts | None
) -> None:
    """The same of a document's kind and total as they are known, by reading it or from somebody who corrected them."""
    kind = _kind_of(*kind_and_total, certificate)
    if kind is None:
        withdraw(tx, document_id)
    else:
        tx.run(_NOTE, document_id=document_id, kind=kind)


def withdraw(tx: WriteTx, document_id: str) -> None:
    """Note that nothing follows from a document; what was decided stays."""
    tx.run(_WITHDRAW, document_id=document_id)


def _kind_of(kind: str | None, total: str | None, certificate: CertificateFacts | None) -> ProposalKind | None:
    """What kind of proposals may follow; None: none. Without a postcode no property is found for a certificate."""
    if kind in _BILLS and total is not None:
        return "bank_line"
    is_of_property = certificate is not None and certificate.type != "other" and certificate.postcode is not None
    return "certificate" if is_of_property else None


def find(tx: ReadTx, document_id: str) -> State | None:
    """What a document may propose; None: nothing."""
    row = tx.row(_SELECT, document_id=document_id)
    return None if row is None else State(*row)


def decide(tx: WriteTx, document_id: str, decision: Decision, target_id: str | None, decided_by: str) -> None:
    """Note what somebody decided."""
    values = {"decision": decision, "target_id": target_id, "decided_by": decided_by}
    tx.run(_DECIDE, document_id=document_id, **values)


def forget(tx: WriteTx, document_id: str) -> None:
    """Delete what is known of a document that goes for good."""
    tx.run(_FORGET, document_id=document_id)


def undecided(tx: ReadTx, kind: ProposalKind | None, before: str, count: int) -> Iterator[Document]:
    """Documents on which nobody has decided, newest first, of one kind or of all."""
    bounds = {"before": before, "count": count}
    rows = tx.each(_SELECT_OPEN, **bounds) if kind is None else tx.each(_SELECT_OPEN_OF_KIND, kind=kind, **bounds)
    for values in rows:
        yield documents.read(tx, values)


# -- what every decision asks first


def document_named(tx: ReadTx, document_id: str, *others: Reference) -> DocumentRow:
    """The document that a request names. Raises `Problem` `validation_failed` where it, or another, does not exist."""
    if errors := [*references.unknown(tx, [Reference("documentId", "document", document_id), *others])]:
        raise invalid(*errors)
    return documents.get(tx, document_id)


def is_open(state: State | None, decision: Decision, target_id: str | None) -> bool:
    """Whether a decision is still to be made; False: this very one was. Raises `Problem` `invalid_state`."""
    if state is None:
        message = "The document proposes nothing of the kind: `vault.reparseDocument` has it read once more."
        raise invalid_state(message, "none", ("open",))
    if state.decision is None:
        return True
    if (state.decision, state.target_id) != (decision, target_id):
        raise decided(state.decision)
    return False


def decided(decision: Decision) -> Problem:
    """Somebody decided otherwise before."""
    message = f"What it proposed is {decision} already: only what is open can be decided otherwise."
    return invalid_state(message, decision, ("open",))
