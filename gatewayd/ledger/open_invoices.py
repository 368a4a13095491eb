"""Invoices on which money is due, as what looks for their payments sees them. Reads only."""

from typing import NamedTuple

from gatewayd.money import Money
from gatewayd.store import ReadTx, Row

LOOKED_AT = 200  # Chosen: of more the latest are held against a text, and all are found by their amount
SAME_AMOUNT = 5  # Chosen: with more invoices of one amount the amount says nothing

_COLUMNS = (
    "invoices.id, number, invoices.reference, clients.name, invoices.currency, balance_due, gross_total, net_total,"
    " cis_deduction, issue_date, legal_entity_id"
)
_SELECT_LATEST = f"""
SELECT {_COLUMNS} FROM invoices JOIN clients ON clients.org_id = :org_id AND clients.id = client_id
WHERE invoices.org_id = :org_id AND open_due_date IS NOT NULL AND invoices.kind = 'invoice'
ORDER BY open_due_date DESC, invoices.id DESC LIMIT :count
"""
_SELECT_OF_BALANCE = f"""
SELECT {_COLUMNS} FROM invoices JOIN clients ON clients.org_id = :org_id AND clients.id = client_id
WHERE invoices.org_id = :org_id AND open_due_date IS NOT NULL AND balance_due = :balance_due
    AND invoices.kind = 'invoice'
ORDER BY invoices.id LIMIT :count
"""


class OpenInvoice(NamedTuple):
    """An invoice on which money is due. Dates are ISO; `cis_deduction` is what its CIS lines say is withheld."""

    id: str
    number: str
    reference: str | None
    client: str
    currency: str
    balance: Money
    gross: Money
    net: Money
    cis_deduction: Money
    issue_date: str
    legal_entity_id: str | None


def latest(tx: ReadTx) -> list[OpenInvoice]:
    """Those that fall due last, at most `LOOKED_AT`."""
    return [_of_row(row) for row in tx.rows(_SELECT_LATEST, count=LOOKED_AT)]


def of_balance(tx: ReadTx, balance: Money) -> list[OpenInvoice]:
    """Those on which exactly so much is due, at most `SAME_AMOUNT` of any currency with so many minor units."""
    found = [_of_row(row) for row in tx.rows(_SELECT_OF_BALANCE, balance_due=balance.minor, count=SAME_AMOUNT)]
    return [invoice for invoice in found if invoice.currency == balance.currency]


def _of_row(row: Row) -> OpenInvoice:
    *names, currency, balance, gross, net, cis_deduction, issue_date, legal_entity_id = row
    amounts = [Money(amount, currency) for amount in (balance, gross, net, cis_deduction)]
    return OpenInvoice._make((*names, currency, *amounts, issue_date, legal_entity_id))
