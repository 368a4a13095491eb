"""What documents propose (Domain F.6): handlers that need more areas than one.

What nobody has decided is listed, whatever it proposes; a certificate is made by accepting it.
"""

import datetime
from typing import Final

from msgspec import UNSET, UnsetType

from gatewayd.areas.landlord.certificates.operations import create_certificate
from gatewayd.areas.landlord.certificates.rows import CERTIFICATES
from gatewayd.areas.landlord.certificates.rows import shown as shown_certificate
from gatewayd.areas.landlord.certificates.shapes import WINDOW_DAYS, CreateCertificate
from gatewayd.areas.landlord.register import properties
from gatewayd.areas.landlord.register.properties import PROPERTIES
from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.shapes import Document, DocumentLink, DocumentRow
from gatewayd.areas.vault.parses import learning, senders
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.parses.senders import Party
from gatewayd.areas.vault.proposals import rows
from gatewayd.areas.vault.proposals.bank_lines import BankLines, Match
from gatewayd.areas.vault.proposals.rows import State
from gatewayd.areas.vault.proposals.shapes import (
    AcceptCertificate,
    DocumentProposal,
    ListDocumentProposals,
    ProposedCertificate,
    ProposingDocument,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Handlers
from gatewayd.contract.pages import MAX_KEY, Listing, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import invalid_field
from gatewayd.ledger.certificate_shapes import Certificate
from gatewayd.ledger.references import Reference
from gatewayd.money import Money
from gatewayd.proposing import bills, certificates
from gatewayd.proposing.bills import BillMatch
from gatewayd.proposing.certificates import CertificateMatch
from gatewayd.store import ReadTx, WriteTx

_AS_READ: Final = ("type", "reference", "issuer_name", "issuer_registration", "result", "rating", "score")
"""What of a certificate is as it was read, unless somebody says otherwise."""


def list_proposals(tx: ReadTx, caller: Caller, request: ListDocumentProposals) -> Listing[ProposingDocument]:
    """List documents on whose proposals nobody has decided, newest first, with what they propose.

    A supplier's bill or a receipt proposes the bank transaction that paid it: of its total, of about its date, and
    without a document so far; and the bill that it is, unless that of the supplier is entered already. A certificate
    that landlords keep, such as a gas safety record, proposes the certificate of a property with its address. Each has
    a score and a reason, and nothing is done by itself.
    """
    bank_lines, parties = BankLines(tx), senders.parties(tx)
    if request.document_id is not None:
        document = rows.document_named(tx, request.document_id)
        state = rows.find(tx, document.id)
        is_asked = state is not None and state.decision is None and request.kind in (None, state.kind)
        listed = [encode(_proposing(tx, documents.shown(tx, document), bank_lines, parties))] if is_asked else []
        return Listing.of(listed, None)
    (before,) = cursor_key(request, str) or (MAX_KEY,)
    items: list[bytes] = []

    def size(document: Document) -> int:
        items.append(encode(_proposing(tx, document, bank_lines, parties)))
        return len(items[-1])

    taken, more = fill(rows.undecided(tx, request.kind, str(before), request.limit + 1), request.limit, size)
    return Listing.of(items[: len(taken)], next_cursor(request, (taken[-1].id,)) if more else None)


def _proposing(tx: ReadTx, document: Document, bank_lines: BankLines, parties: list[Party]) -> ProposingDocument:
    facts = document.extracted
    of_lines = [_bank_line(match) for match in bank_lines.matches(document)]
    bill = bills.match(tx, document, bank_lines)
    of_bills = [] if bill is None else [_bill(bill)]
    return ProposingDocument(
        document_id=document.id,
        name=document.name,
        document_kind="other" if facts is None else facts.kind,
        date=document.document_date or (None if facts is None else facts.date),
        total=None if facts is None else facts.total,
        currency=None if facts is None else facts.currency,
        counterparty=None if facts is None else facts.counterparty,
        supplier_id=None if facts is None else senders.party_of(parties, facts.vat_number, facts.counterparty),
        vat_number=None if facts is None else facts.vat_number,
        reference=None if facts is None else facts.reference,
        net=None if facts is None else facts.net,
        vat=None if facts is None else facts.vat,
        amount_due=None if facts is None else facts.amount_due,
        due_date=None if facts is None else facts.due_date,
        proposals=[*of_lines, *of_bills, *(_certificate(match) for match in certificates.matches(tx, document))],
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
        bill=None,
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
        bill=None,
    )


def _bill(match: BillMatch) -> DocumentProposal:
    return DocumentProposal(
        kind="bill",
        score=match.score,
        reason=match.reason,
        bank_transaction_id=None,
        account_id=None,
        date=None,
        description=None,
        amount=None,
        currency=None,
        certificate=None,
        bill=match.bill,
    )


def accept_certificate(tx: WriteTx, caller: Caller, request: AcceptCertificate) -> Certificate:
    """Create the certificate that a document proposes for a property, as `landlord.createCertificate` would.

    The document is the certificate's, and linked to it and to the property. To accept the same again changes nothing.
    """
    owner = Reference("propertyId", "property", request.property_id)
    document = rows.document_named(tx, request.document_id, owner)
    state = rows.find(tx, document.id)
    if (made := _made(tx, state, request)) is not None:
        return made
    rows.is_open(state, "accepted", None)
    certificate = create_certificate(tx, caller, _to_create(_proposed(tx, document, request), request))
    assert certificate.id is not None, "stored"
    if isinstance(request.issuer_name, str):
        learning.learn(tx, parses.facts_of(tx, document.id), {"counterparty": request.issuer_name})
    rows.decide(tx, document.id, "accepted", certificate.id, caller.reference)
    of_both = [
        DocumentLink(type="certificate", id=certificate.id),
        DocumentLink(type="property", id=certificate.property_id),
    ]
    documents.link(tx, document, of_both)
    return certificate


def _made(tx: ReadTx, state: State | None, request: AcceptCertificate) -> Certificate | None:
    """The certificate that was made by accepting the same before; None: there was none, or it is of another place."""
    if state is None or state.target_id is None:
        return None
    row = CERTIFICATES.find(tx, state.target_id)
    if row is None or row.property_id != request.property_id or request.unit_id not in (UNSET, row.unit_id):
        return None
    return shown_certificate(row, tx.today, WINDOW_DAYS)


def _proposed(tx: ReadTx, document: DocumentRow, request: AcceptCertificate) -> ProposedCertificate:
    """What is proposed for the property. Raises `Problem`: `validation_failed`, `invalid_state` (it is archived)."""
    properties.refuse_archived(PROPERTIES.get(tx, request.property_id))
    for match in certificates.matches(tx, documents.shown(tx, document)):
        if match.certificate.property_id == request.property_id:
            return match.certificate
    raise invalid_field("propertyId", "conflict", "It is not proposed for this document.")


def _to_create(proposed: ProposedCertificate, request: AcceptCertificate) -> CreateCertificate:
    issued = _day(request.issued_date, proposed.issued_date)
    if issued is None:
        raise invalid_field("issuedDate", "required", "It was not found in the document: when was it issued?")
    as_read = {name: value for name in _AS_READ if (value := getattr(request, name)) is not UNSET}
    return CreateCertificate(
        property_id=proposed.property_id,
        unit_id=proposed.unit_id if request.unit_id is UNSET else request.unit_id,
        issued_date=issued,
        expiry_date=_day(request.expiry_date, proposed.expiry_date),
        document_id=request.document_id,
        **({name: getattr(proposed, name) for name in _AS_READ} | as_read),
    )


def _day(said: datetime.date | UnsetType, read: str | None) -> datetime.date | None:
    if said is not UNSET:
        return said
    return None if read is None else datetime.date.fromisoformat(read)


HANDLERS: Final[Handlers] = {
    "vault.listProposals": list_proposals,
    "vault.acceptCertificate": accept_certificate,
    "accounting.acceptBill": bills.accept,
}
