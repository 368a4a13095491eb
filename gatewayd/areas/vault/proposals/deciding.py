"""What every decision on a proposal asks first. Reads only."""

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.areas.vault.proposals.rows import Decision, State
from gatewayd.errors import Problem, invalid, invalid_state
from gatewayd.ledger import references
from gatewayd.ledger.references import Reference
from gatewayd.store import ReadTx


def document_named(tx: ReadTx, document_id: str, *others: Reference) -> DocumentRow:
    """The document that a request names. Raises `Problem` `validation_failed` where it, or another, does not exist."""
    if errors := [*references.unknown(tx, [Reference("documentId", "document", document_id), *others])]:
        raise invalid(*errors)
    return documents.get(tx, document_id)


def is_open(state: State | None, decision: Decision, target_id: str | None) -> bool:
    """Whether a decision is still to be made; False: this very one was. Raises `Problem` `invalid_state`."""
    if state is None:
        raise invalid_state("The document proposes nothing.", "none", ("open",))
    if state.decision is None:
        return True
    if (state.decision, state.target_id) != (decision, target_id):
        raise decided(state.decision)
    return False


def decided(decision: Decision) -> Problem:
    """Somebody decided otherwise before."""
    return invalid_state(f"What it proposed is {decision} already.", decision, ("open",))
