"""Requests and responses of what documents propose."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.vault.proposals.rows import ProposalKind
from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Amount, Date, DateText, Id, Name, Request, Response
from gatewayd.extraction.shapes import DocumentKind
from gatewayd.ledger.certificate_shapes import (
    CertificateNumber,
    CertificateResult,
    CertificateType,
    EpcRating,
    Registration,
)
from gatewayd.ledger.certificate_shapes import Score as EpcScore

Score = Annotated[int, Meta(ge=0, le=100, description="How sure it is, of 100.")]


class ListDocumentProposals(PageRequest, frozen=True, kw_only=True):
    """Of one document, or of one kind; else all on which nobody has decided."""

    document_id: Id | None = None
    """Only what this document proposes."""
    kind: ProposalKind | None = None
    """Only documents that propose bank transactions and bills, `bank_line`, or certificates of properties,
    `certificate`."""


class ProposedCertificate(Response, frozen=True, kw_only=True):
    """What `landlord.createCertificate` would be given, as it was read in the document."""

    property_id: Id
    """The property that it is probably of."""
    property_name: str
    """What that property is called."""
    unit_id: str | None
    """The unit that it is probably of. Null: the whole property."""
    type: CertificateType
    """Which certificate it is."""
    issued_date: DateText | None
    """The day on which it was issued: the date that somebody gave the document, else the one that was read. Null: it
    was not found, and whoever accepts it has to give it."""
    expiry_date: DateText | None
    """The last day on which it holds. Null: it was not found, and follows from its type."""
    reference: str | None
    """The number that its issuer gave it. Null: it was not found."""
    issuer_name: str | None
    """Who issued it. Null: it was not found."""
    issuer_registration: str | None
    """The issuer's registration number, with Gas Safe or NICEIC for example. Null: it was not found."""
    result: CertificateResult | None
    """What the check found. Null: it was not found."""
    rating: EpcRating | None
    """The band of an EPC, from `A`, the best, to `G`. Null: it was not found, or it is no EPC."""
    score: int | None
    """The points of an EPC. Null: they were not found, or it is no EPC."""
    address: str | None
    """The address that stands in the document, for comparing. Null: it was not found."""


class ProposedBill(Response, frozen=True, kw_only=True):
    """The bill that `accounting.acceptBill` would enter, as it was read in the document."""

    supplier_id: Id | None
    """The one client who has the name or the VAT number that was read. Null: none has, or several do."""
    supplier_name: str | None
    """Who sent it, by its text. Null: it was not found."""
    number: str | None
    """The number that the supplier gave it. Null: it was not found."""
    bill_date: DateText | None
    """The date that somebody gave the document, else the one that was read. Null: it was not found."""
    due_date: DateText | None
    """The last day to pay, as it was read. Null: it was not found, or is before the bill."""
    gross: Amount | None
    """What is to be paid, VAT included. Null: it was not found."""
    vat: Amount | None
    """The VAT in `gross`, as it was read. Null: it was not found, or cannot be."""
    currency: str
    """The currency of `gross` and `vat`: GBP where none was found."""


class DocumentProposal(Response, frozen=True, kw_only=True):
    """What a document probably belongs to, and why."""

    kind: Literal[ProposalKind, "bill"]
    """`bank_line`: money out that it is the bill or receipt of, for `vault.acceptProposal`; `bill`: the bill that it
    is, for `accounting.acceptBill`; `certificate`: a certificate of a property, for `vault.acceptCertificate`."""
    score: Score
    reason: str
    """Why it probably is, for people."""
    bank_transaction_id: Id | None
    """The bank transaction that it is proposed for. Null: it proposes something else."""
    account_id: Id | None
    """The bank account of that transaction. Null: it proposes something else."""
    date: DateText | None
    """The day of that transaction. Null: it proposes something else."""
    description: str | None
    """What the bank wrote on that transaction. Null: it proposes something else."""
    amount: Amount | None
    """What went out by that transaction, above 0. Null: it proposes something else."""
    currency: str | None
    """The currency of `amount`. Null: it proposes something else."""
    certificate: ProposedCertificate | None
    """The certificate that would be made. Null: it proposes something else."""
    bill: ProposedBill | None
    """The bill that would be entered. Null: it proposes something else."""


class ProposingDocument(Response, frozen=True, kw_only=True):
    """A document with what it proposes."""

    document_id: Id
    """The document."""
    name: str
    """What it is called."""
    document_kind: DocumentKind
    """What kind of document it seems to be by its text; `other` where it was not read."""
    date: DateText | None
    """The date that somebody gave it, else the one that was read in it. Null: neither is known."""
    total: str | None
    """What is to be paid, or was, by its text: a decimal of `currency`. Null: it was not found."""
    currency: str | None
    """The currency of `total`, by its ISO 4217 code. Null: it was not found."""
    counterparty: str | None
    """Who sent or issued it, by its text. Null: it was not found."""
    supplier_id: Id | None
    """The client or supplier that the sender is, by its VAT number or its name. Null: none is, or several are."""
    vat_number: str | None
    """The sender's VAT number. Null: it was not found."""
    reference: str | None
    """The document's number. Null: it was not found."""
    net: str | None
    """`total` without VAT: a decimal of `currency`. Null: it was not found, or does not agree with `total`."""
    vat: str | None
    """The VAT in `total`: a decimal of `currency`. Null: it was not found, or does not agree with `total`."""
    amount_due: str | None
    """What is still to be paid of `total`: a decimal of `currency`. Null: nothing says so."""
    due_date: DateText | None
    """By when it is to be paid. Null: it was not found."""
    proposals: list[DocumentProposal]
    """What it proposes, of each kind the surest first. Empty: nothing fits so far."""


class AcceptCertificate(Request, frozen=True, kw_only=True):
    """Of which of the properties that are proposed for a document its certificate is, and what of it was misread."""

    document_id: Id
    """The document that proposes it, and which the certificate has from then on."""
    property_id: Id
    """The property that it is of, one of those that are proposed."""
    unit_id: Id | UnsetType | None = UNSET
    """The unit that it is of. Null: the whole property. Left out: as it is proposed."""
    issued_date: Date | UnsetType = UNSET
    """The day on which it was issued. Left out: as it is proposed; required where that is null."""
    expiry_date: Date | UnsetType = UNSET
    """The last day on which it holds. Left out: as it is proposed, else it follows from its type."""
    type: CertificateType | UnsetType = UNSET
    """Which certificate it is. Left out: as it is proposed."""
    reference: CertificateNumber | UnsetType | None = UNSET
    """The number that its issuer gave it. Null: it has none. Left out: as it is proposed."""
    issuer_name: Name | UnsetType | None = UNSET
    """Who issued it. Null: nobody is named. Left out: as it is proposed. What is given is learned for the issuer's next
    documents."""
    issuer_registration: Registration | UnsetType | None = UNSET
    """The issuer's registration number. Null: it has none. Left out: as it is proposed."""
    result: CertificateResult | UnsetType | None = UNSET
    """What the check found. Null: nothing is said. Left out: as it is proposed."""
    rating: EpcRating | UnsetType | None = UNSET
    """The band of an EPC. Null: it is none, or none is told. Left out: as it is proposed."""
    score: EpcScore | UnsetType | None = UNSET
    """The points of an EPC. Null: it is none, or none are told. Left out: as it is proposed."""
