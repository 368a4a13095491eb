"""Requests and responses of proposals."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Amount, DateText, Id, Request, Response
from gatewayd.extraction.shapes import DocumentKind

ProposalKind = Literal["bank_line"]
Score = Annotated[int, Meta(ge=0, le=100, description="How sure it is, of 100.")]


class ListDocumentProposals(PageRequest, frozen=True, kw_only=True):
    """Of one document, or of one kind; else all that nobody has decided."""

    document_id: Id | None = None
    kind: ProposalKind | None = None


class DocumentProposal(Response, frozen=True, kw_only=True):
    """A bank transaction that a bill or receipt probably belongs to, and why. `amount` is money out."""

    kind: ProposalKind
    score: Score
    reason: str
    bank_transaction_id: Id
    account_id: Id
    date: DateText
    description: str
    amount: Amount
    currency: str


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


class AcceptProposal(Request, frozen=True, kw_only=True):
    """Which of the bank transactions that are proposed for a document it belongs to."""

    document_id: Id
    bank_transaction_id: Id


class DismissProposal(Request, frozen=True, kw_only=True):
    """The document of which nothing is to be proposed any more."""

    document_id: Id
