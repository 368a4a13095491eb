"""What documents propose (Domain F.6): operations. They are extensions."""

from msgspec.structs import replace

from gatewayd.areas.vault.documents import changing
from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.shapes import Document, DocumentLink, DocumentRow
from gatewayd.areas.vault.proposals import listing, rows
from gatewayd.areas.vault.proposals.bank_lines import BankLines, Match
from gatewayd.areas.vault.proposals.rows import Decision, State
from gatewayd.areas.vault.proposals.shapes import (
    AcceptProposal,
    DismissProposal,
    DocumentProposal,
    ListDocumentProposals,
    ProposingDocument,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import MAX_KEY, Listing, Page, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import invalid, invalid_field, invalid_state
from gatewayd.ledger import references
from gatewayd.ledger.references import Reference
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx


def list_proposals(tx: ReadTx, caller: Caller, request: ListDocumentProposals) -> Listing[ProposingDocument]:
    """List documents on whose proposals nobody has decided, newest first, with what they propose.

    A supplier's bill or a receipt proposes the bank transaction that paid it: of its total, of about its date, and
    without a document so far. Each proposal has a score and a reason, and nothing is done by itself.
    """
    bank_lines = BankLines(tx)
    if request.document_id is not None:
        found = _document(tx, request.document_id)
        state = rows.find(tx, found.id)
        is_asked = state is not None and state.decision is None and request.kind in (None, state.kind)
        one = [encode(_proposing(documents.shown(tx, found), bank_lines))] if is_asked else []
        return Listing.of(one, None)
    (before,) = cursor_key(request, str) or (MAX_KEY,)
    items: list[bytes] = []

    def size(document: Document) -> int:
        items.append(encode(_proposing(document, bank_lines)))
        return len(items[-1])

    taken, more = fill(listing.undecided(tx, request.kind, str(before), request.limit + 1), request.limit, size)
    return Listing.of(items[: len(taken)], next_cursor(request, (taken[-1].id,)) if more else None)


def accept_proposal(tx: WriteTx, caller: Caller, request: AcceptProposal) -> Document:
    """Let a document belong to one of the bank transactions that are proposed for it.

    It is linked to it, and a document of whatever is allocated of it, now or later, so that profit and loss counts
    those expenses as documented; what lies in a closed period stays as it is. To accept the same again changes nothing.
    """
    document = _document(
        tx, request.document_id, Reference("bankTransactionId", "bank_transaction", request.bank_transaction_id)
    )
    if not _is_open(rows.find(tx, document.id), "accepted", request.bank_transaction_id):
        return documents.shown(tx, document)
    proposed = {match.line.id for match in BankLines(tx).matches(documents.shown(tx, document))}
    if request.bank_transaction_id not in proposed:
        raise invalid_field("bankTransactionId", "conflict", "It is not proposed for this document.")
    rows.decide(tx, document.id, "accepted", request.bank_transaction_id, caller.reference)
    link = DocumentLink(type="bank_transaction", id=request.bank_transaction_id)
    return changing.store(tx, document, replace(document, links=[*document.links, link]))


def dismiss_proposal(tx: WriteTx, caller: Caller, request: DismissProposal) -> Document:
    """Let nothing be proposed for a document any more, also where it is read anew. Again changes nothing."""
    document = _document(tx, request.document_id)
    if _is_open(rows.find(tx, document.id), "dismissed", None):
        rows.decide(tx, document.id, "dismissed", None, caller.reference)
    return documents.shown(tx, document)


def _document(tx: ReadTx, document_id: str, *others: Reference) -> DocumentRow:
    """The document that a request names. Raises `Problem` `validation_failed` where it, or another, does not exist."""
    if errors := [*references.unknown(tx, [Reference("documentId", "document", document_id), *others])]:
        raise invalid(*errors)
    return documents.get(tx, document_id)


def _is_open(state: State | None, decision: Decision, target_id: str | None) -> bool:
    """Whether a decision is still to be made; False: this very one was. Raises `Problem` `invalid_state`."""
    if state is None:
        raise invalid_state("The document proposes nothing.", "none", ("open",))
    if state.decision is None:
        return True
    if (state.decision, state.target_id) != (decision, target_id):
        raise invalid_state(f"What it proposed is {state.decision} already.", state.decision, ("open",))
    return False


def _proposing(document: Document, bank_lines: BankLines) -> ProposingDocument:
    facts = document.extracted
    return ProposingDocument(
        document_id=document.id,
        name=document.name,
        document_kind="other" if facts is None else facts.kind,
        date=document.document_date or (None if facts is None else facts.date),
        total=None if facts is None else facts.total,
        currency=None if facts is None else facts.currency,
        counterparty=None if facts is None else facts.counterparty,
        proposals=[_proposal(match) for match in bank_lines.matches(document)],
    )


def _proposal(match: Match) -> DocumentProposal:
    line = match.line
    return DocumentProposal(
        kind="bank_line",
        score=match.score,
        reason=match.reason,
        bank_transaction_id=line.id,
        account_id=line.account_id,
        date=line.date,
        description=line.description,
        amount=Money(-line.amount, line.currency),
        currency=line.currency,
    )


OPERATIONS = (
    Operation(
        id="vault.listProposals",
        kind="read",
        method="GET",
        path="/vault/proposals",
        scopes=("vault:read", "accounting:read"),
        request=ListDocumentProposals,
        response=Page[ProposingDocument],
        handler=list_proposals,
        extension=True,
        example={"kind": "bank_line", "limit": 20},
    ),
    Operation(
        id="vault.acceptProposal",
        kind="write",
        method="POST",
        path="/vault/proposals/accept",
        scopes=("vault:write", "accounting:write"),
        request=AcceptProposal,
        response=Document,
        handler=accept_proposal,
        errors=("invalid_state",),
        extension=True,
        example={
            "documentId": "doc_01k0000000000000000000000e",
            "bankTransactionId": "btx_01k0000000000000000000000f",
        },
    ),
    Operation(
        id="vault.dismissProposal",
        kind="write",
        method="POST",
        path="/vault/proposals/dismiss",
        scopes=("vault:write",),
        request=DismissProposal,
        response=Document,
        handler=dismiss_proposal,
        errors=("invalid_state",),
        extension=True,
        example={"documentId": "doc_01k0000000000000000000000f"},
    ),
)
