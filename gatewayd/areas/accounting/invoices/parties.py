"""Who sells to whom: the parties of an invoice, looked up once. Reads, but for a client that a request brings."""

from typing import NamedTuple

from gatewayd.areas.accounting.clients import rows as clients
from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.clients.shapes import StoredClient
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import CreateInvoice, InvoiceRow
from gatewayd.areas.accounting.invoices.states import CREDITABLE
from gatewayd.errors import invalid, invalid_field, invalid_state
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.vat import sellers
from gatewayd.ledger.vat.sellers import Seller
from gatewayd.store import ReadTx, WriteTx


class Parties(NamedTuple):
    """Who sells to whom, and the invoice that is credited, if this is a credit note."""

    seller: Seller
    client: StoredClient
    original: InvoiceRow | None


def of_request(tx: WriteTx, request: CreateInvoice) -> Parties:
    """The parties that a request names; a new client is stored.

    Raises `Problem` `validation_failed`, `invalid_state` (what is credited is a draft or void), and what a new client
    raises.
    """
    if request.credits_invoice_id is not None:
        return _of_credit(tx, request, request.credits_invoice_id)
    selling = seller(tx, request.legal_entity_id)
    if request.client is not None:
        return Parties(selling, clients.add(tx, request.client, "client."), None)
    return Parties(selling, _client(tx, request.client_id or ""), None)


def of_change(tx: WriteTx, row: InvoiceRow, request: CreateInvoice) -> Parties:
    """The parties of a draft that becomes what `request` says: those it had may have been archived since.

    Raises `Problem` `validation_failed`, `invalid_state` (what is credited is void).
    """
    if request.credits_invoice_id is not None:
        return _of_credit(tx, request, request.credits_invoice_id)
    same_seller = row.legal_entity_id is not None and request.legal_entity_id == row.legal_entity_id
    selling = _seller_of(tx, row) if same_seller else seller(tx, request.legal_entity_id)
    same_client = request.client_id == row.client_id
    client = CLIENTS.get(tx, row.client_id) if same_client else _client(tx, request.client_id or "")
    return Parties(selling, client, None)


def of_row(tx: ReadTx, row: InvoiceRow) -> Parties:
    """The parties of a draft, by today's facts: one that names no legal entity is sold by the one there is now.

    Raises `Problem`: `invalid_state` (what it credits is void), `validation_failed` (there are several now).
    """
    original = None if row.credits_invoice_id is None else INVOICES.get(tx, row.credits_invoice_id)
    if original is not None and original.status not in CREDITABLE:
        message = f"The invoice it credits is {original.status}."
        raise invalid_state(message, original.status, tuple(sorted(CREDITABLE)))
    if original is None and row.legal_entity_id is None:
        return Parties(seller(tx, None), CLIENTS.get(tx, row.client_id), None)
    return Parties(_seller_of(tx, row), CLIENTS.get(tx, row.client_id), original)


def _client(tx: ReadTx, client_id: str) -> StoredClient:
    client = CLIENTS.find(tx, client_id)
    if client is None:
        raise invalid(unknown_reference("clientId", "client"))
    if client.archived_at is not None:
        raise invalid_field("clientId", "conflict", "The client is archived.")
    return client


def seller(tx: ReadTx, legal_entity_id: str | None) -> Seller:
    """The seller that a request names; None: the one there is. Raises `Problem` `validation_failed`."""
    if legal_entity_id is None:
        only = sellers.find_only(tx)
        if only is None:
            raise invalid_field("legalEntityId", "required", "The organization has several: which one sells?")
        return only
    found = sellers.find(tx, legal_entity_id)
    if found is None:
        raise invalid(unknown_reference("legalEntityId", "legal_entity"))
    if found.archived:
        raise invalid_field("legalEntityId", "conflict", "The legal entity is archived.")
    return found


def _of_credit(tx: WriteTx, request: CreateInvoice, invoice_id: str) -> Parties:
    """A credit note stands between the same parties as the invoice it credits."""
    original = INVOICES.find(tx, invoice_id)
    if original is None:
        raise invalid_field("creditsInvoiceId", "unknown_reference", "There is no such invoice.")
    if original.kind != "invoice":
        raise invalid_field("creditsInvoiceId", "conflict", "A credit note credits an invoice, not a credit note.")
    if original.status not in CREDITABLE:
        message = f"An invoice that is {original.status} cannot be credited."
        raise invalid_state(message, original.status, tuple(sorted(CREDITABLE)))
    if request.client_id not in (None, original.client_id):
        raise invalid_field("clientId", "conflict", "The invoice that is credited is another client's.")
    if request.legal_entity_id not in (None, original.legal_entity_id):
        raise invalid_field("legalEntityId", "conflict", "The invoice that is credited is another seller's.")
    if request.currency not in (None, original.currency):
        raise invalid_field("currency", "currency_mismatch", f"The invoice that is credited is in {original.currency}.")
    return Parties(_seller_of(tx, original), CLIENTS.get(tx, original.client_id), original)


def _seller_of(tx: ReadTx, row: InvoiceRow) -> Seller:
    """The seller of an invoice, by today's facts."""
    found = sellers.organization(tx) if row.legal_entity_id is None else sellers.find(tx, row.legal_entity_id)
    assert found is not None  # a foreign key
    return found
