"""Requests of proposals, and their kinds."""

from typing import Literal

from gatewayd.contract.wire import Id, Request

ProposalKind = Literal["bank_line", "certificate"]


class AcceptProposal(Request, frozen=True, kw_only=True):
    """Which of the bank transactions that are proposed for a document it belongs to."""

    document_id: Id
    bank_transaction_id: Id


class DismissProposal(Request, frozen=True, kw_only=True):
    """The document of which nothing is to be proposed any more."""

    document_id: Id
