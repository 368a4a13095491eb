"""Documents on whose proposals nobody has decided, with what they propose. Reads only."""

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.shapes import Document
from gatewayd.areas.vault.proposals import rows
from gatewayd.areas.vault.proposals.bank_lines import BankLines, Match
from gatewayd.areas.vault.proposals.shapes import DocumentProposal, ListDocumentProposals, ProposingDocument
from gatewayd.contract.caller import Caller
from gatewayd.contract.pages import MAX_KEY, Listing, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.money import Money
from gatewayd.proposing import certificates
from gatewayd.proposing.certificates import CertificateMatch
from gatewayd.store import ReadTx


def list_proposals(tx: ReadTx, caller: Caller, request: ListDocumentProposals) -> Listing[ProposingDocument]:
    """List documents on whose proposals nobody has decided, newest first, with what they propose.

    A supplier's bill or a receipt proposes the bank transaction that paid it: of its total, of about its date, and
    without a document so far. A certificate that landlords keep, such as a gas safety record, proposes the
    certificate of a property with its address. Each has a score and a reason, and nothing is done by itself.
    """
    bank_lines = BankLines(tx)
    if request.document_id is not None:
        found = rows.document_named(tx, request.document_id)
        state = rows.find(tx, found.id)
        is_asked = state is not None and state.decision is None and request.kind in (None, state.kind)
        one = [encode(_proposing(tx, documents.shown(tx, found), bank_lines))] if is_asked else []
        return Listing.of(one, None)
    (before,) = cursor_key(request, str) or (MAX_KEY,)
    items: list[bytes] = []

    def size(document: Document) -> int:
        items.append(encode(_proposing(tx, document, bank_lines)))
        return len(items[-1])

    taken, more = fill(rows.undecided(tx, request.kind, str(before), request.limit + 1), request.limit, size)
    return Listing.of(items[: len(taken)], next_cursor(request, (taken[-1].id,)) if more else None)


def _proposing(tx: ReadTx, document: Document, bank_lines: BankLines) -> ProposingDocument:
    facts = document.extracted
    of_lines = [_bank_line(match) for match in bank_lines.matches(document)]
    return ProposingDocument(
        document_id=document.id,
        name=document.name,
        document_kind="other" if facts is None else facts.kind,
        date=document.document_date or (None if facts is None else facts.date),
        total=None if facts is None else facts.total,
        currency=None if facts is None else facts.currency,
        counterparty=None if facts is None else facts.counterparty,
        proposals=[*of_lines, *(_certificate(match) for match in certificates.matches(tx, document))],
    )


def _bank_line(match: Match) -> DocumentProposal:
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
        certificate=None,
    )


def _certificate(match: CertificateMatch) -> DocumentProposal:
    return DocumentProposal(
        kind="certificate",
        score=match.score,
        reason=match.reason,
        bank_transaction_id=None,
        account_id=None,
        date=None,
        description=None,
        amount=None,
        currency=None,
        certificate=match.certificate,
    )
