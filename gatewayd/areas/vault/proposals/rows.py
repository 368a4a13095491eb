"""Documents whose reading may propose something, and what somebody said to it. Owns the table `vault_proposals`.

What is proposed is not stored: it follows from the facts, and from the books as they are when it is asked for.
"""

from typing import Final, Literal, NamedTuple

from gatewayd.areas.vault.proposals.shapes import ProposalKind
from gatewayd.extraction.shapes import Facts
from gatewayd.store import ReadTx, WriteTx

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


class State(NamedTuple):
    """What a document may propose, and what was decided. `target_id` is what was accepted."""

    kind: ProposalKind
    decision: Decision | None
    target_id: str | None


def note(tx: WriteTx, document_id: str, facts: Facts) -> None:
    """Note what kind of proposals may follow from what was read in a document; what was decided stays."""
    kind = _kind_of(facts)
    if kind is None:
        tx.run(_WITHDRAW, document_id=document_id)
    else:
        tx.run(_NOTE, document_id=document_id, kind=kind)


def _kind_of(facts: Facts) -> ProposalKind | None:
    """What kind of proposals may follow; None: none. Without a postcode no property is found for a certificate."""
    if facts.kind in _BILLS and facts.total is not None:
        return "bank_line"
    found = facts.certificate
    is_of_property = found is not None and found.type != "other" and found.postcode is not None
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
