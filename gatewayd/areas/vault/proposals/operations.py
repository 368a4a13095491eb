"""What people say to the proposals of documents (Domain F.6): operations. They are extensions."""

from typing import Final

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.shapes import Document, DocumentLink, DocumentRow
from gatewayd.areas.vault.parses import learning
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.proposals import rows
from gatewayd.areas.vault.proposals.bank_lines import BankLines
from gatewayd.areas.vault.proposals.correcting import FactChanges, corrected
from gatewayd.areas.vault.proposals.shapes import AcceptCertificate, ListDocumentProposals, ProposingDocument
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import Page
from gatewayd.contract.wire import Id, Request
from gatewayd.errors import invalid_field
from gatewayd.ledger.certificate_shapes import Certificate
from gatewayd.ledger.references import Reference
from gatewayd.store import ReadTx, WriteTx


class AcceptProposal(FactChanges, frozen=True, kw_only=True):
    """Which of the bank transactions that are proposed for a document it belongs to.

    What was misread can be corrected with it, as by `vault.correctFacts`.
    """

    document_id: Id
    """The document that proposes it."""
    bank_transaction_id: Id
    """The bank transaction that it belongs to, one of those that are proposed for it."""


class DismissProposal(Request, frozen=True, kw_only=True):
    """The document of which nothing is to be proposed any more."""

    document_id: Id
    """The document of which nothing is to be proposed any more."""


def accept_proposal(tx: WriteTx, caller: Caller, request: AcceptProposal) -> Document:
    """Let a document belong to one of the bank transactions that are proposed for it.

    It is linked to that transaction, and becomes evidence for whatever is allocated of it, now or later, so that profit
    and loss counts those expenses as documented; what lies in a closed period stays as it is. To accept the same again
    changes nothing. What is corrected with it is learned for the sender's next documents.
    """
    document = rows.document_named(
        tx, request.document_id, Reference("bankTransactionId", "bank_transaction", request.bank_transaction_id)
    )
    if not rows.is_open(rows.find(tx, document.id), "accepted", request.bank_transaction_id):
        return documents.shown(tx, document)
    proposed = _lines_of(tx, document)
    learning.confirm(tx, parses.facts_of(tx, document.id))
    document = corrected(tx, document, request)
    if request.bank_transaction_id not in proposed | _lines_of(tx, document):
        raise invalid_field("bankTransactionId", "conflict", "It is not proposed for this document.")
    rows.decide(tx, document.id, "accepted", request.bank_transaction_id, caller.reference)
    return documents.link(tx, document, [DocumentLink(type="bank_transaction", id=request.bank_transaction_id)])


def _lines_of(tx: ReadTx, document: DocumentRow) -> set[str]:
    """The bank transactions that are proposed for a document."""
    return {match.line.id for match in BankLines(tx).matches(documents.shown(tx, document))}


def dismiss_proposal(tx: WriteTx, caller: Caller, request: DismissProposal) -> Document:
    """Let nothing be proposed for a document any more, also where it is read anew.

    To dismiss it again changes nothing.
    """
    document = rows.document_named(tx, request.document_id)
    if rows.is_open(rows.find(tx, document.id), "dismissed", None):
        rows.decide(tx, document.id, "dismissed", None, caller.reference)
    return documents.shown(tx, document)


OPERATIONS = (
    Operation(
        id="vault.acceptProposal",
        kind="write",
        method="POST",
        path="/vault/proposals/accept",
        scopes=("vault:write", "accounting:write"),
        request=AcceptProposal,
        response=Document,
        handler=accept_proposal,
        errors=("invalid_state", "limit_reached"),
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

BY_ENGINE: Final = (
    Operation(
        id="vault.listProposals",
        kind="read",
        method="GET",
        path="/vault/proposals",
        scopes=("vault:read", "accounting:read"),
        request=ListDocumentProposals,
        response=Page[ProposingDocument],
        handler=AT_CATALOGUE,
        extension=True,
        example={"kind": "bank_line", "limit": 20},
    ),
    Operation(
        id="vault.acceptCertificate",
        kind="write",
        method="POST",
        path="/vault/proposals/accept-certificate",
        scopes=("vault:write", "accounting:write"),
        request=AcceptCertificate,
        response=Certificate,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "limit_reached"),
        extension=True,
        example={
            "documentId": "doc_01k0000000000000000000000g",
            "propertyId": "prop_01k0000000000000000000000a",
        },
    ),
)
"""What needs more areas than the vault: rows whose handlers are `proposing`'s."""
