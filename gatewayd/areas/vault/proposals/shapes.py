"""Requests and responses of what documents propose."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.vault.proposals.rows import ProposalKind
from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Amount, Date, DateText, Id, Request, Response
from gatewayd.extraction.shapes import DocumentKind
from gatewayd.ledger.certificate_shapes import CertificateResult, CertificateType, EpcRating

Score = Annotated[int, Meta(ge=0, le=100, description="How sure it is, of 100.")]


class ListDocumentProposals(PageRequest, frozen=True, kw_only=True):
    """Of one document, or of one kind; else all that nobody has decided."""

    document_id: Id | None = None
    kind: ProposalKind | None = None


class ProposedCertificate(Response, frozen=True, kw_only=True):
    """What `landlord.createCertificate` would be given, as it was read; null: it was not found.

    Without `issuedDate` whoever accepts it has to say it. `address` is that of the document.
    """

    property_id: Id
    property_name: str
    unit_id: str | None
    type: CertificateType
    issued_date: DateText | None
    expiry_date: DateText | None
    reference: str | None
    issuer_name: str | None
    issuer_registration: str | None
    result: CertificateResult | None
    rating: EpcRating | None
    score: int | None
    address: str | None


class DocumentProposal(Response, frozen=True, kw_only=True):
    """What a document probably belongs to, and why.

    A `bank_line` is for `vault.acceptProposal`: `bankTransactionId` to `currency` say which, and `amount` is money out.
    A `certificate` is for `vault.acceptCertificate`: `certificate` says of which property. The others are null.
    """

    kind: ProposalKind
    score: Score
    reason: str
    bank_transaction_id: Id | None
    account_id: Id | None
    date: DateText | None
    description: str | None
    amount: Amount | None
    currency: str | None
    certificate: ProposedCertificate | None


class ProposingDocument(Response, frozen=True, kw_only=True):
    """A document with what it proposes, the surest first; none: nothing fits so far.

    `documentKind` to `counterparty` are what was read in it, as in its `extracted`.
    """

    document_id: Id
    name: str
    document_kind: DocumentKind
    date: DateText | None
    total: str | None
    currency: str | None
    counterparty: str | None
    proposals: list[DocumentProposal]


class AcceptCertificate(Request, frozen=True, kw_only=True):
    """Of which of the properties that are proposed for a document its certificate is.

    An absent field is as it is proposed; `unitId` null: of the whole property. Whatever else was misread can be mended
    by `landlord.updateCertificate`.
    """

    document_id: Id
    property_id: Id
    unit_id: Id | UnsetType | None = UNSET
    issued_date: Date | UnsetType = UNSET
    expiry_date: Date | UnsetType = UNSET
