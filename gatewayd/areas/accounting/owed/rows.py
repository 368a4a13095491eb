"""Payments, refunds and credit of clients as they are stored. Owns the table `client_payments`.

What is for an invoice stands among its payments. What is on account of a client is the sum of `on_account`, and what
is theirs of invoices that were paid too much is the balance of these.
"""

from typing import Final, NamedTuple

from msgspec import UNSET

from gatewayd.areas.accounting.owed.shapes import ClientPayment, ClientPaymentPart
from gatewayd.money import Money
from gatewayd.store import ReadTx, RemovableTable


class Account(NamedTuple):
    """Whose money, with whom, in which currency. `of` is the legal entity's id, or '' for the organization itself."""

    client_id: str
    of: str
    currency: str


_SELECT_PARTS = """
SELECT invoice_id, position, amount FROM invoice_payments
WHERE org_id = :org_id AND client_payment_id = :id ORDER BY invoice_id, position
"""
_OF_ACCOUNT = """
org_id = :org_id AND client_id = :client_id AND currency = :currency AND coalesce(legal_entity_id, '') = :of
"""
_SELECT_MOVEMENTS = f"SELECT date, sum(on_account) FROM client_payments WHERE {_OF_ACCOUNT} GROUP BY date ORDER BY date"
_SELECT_OPEN = f"""
SELECT id FROM invoices WHERE {_OF_ACCOUNT} AND open_due_date IS NOT NULL ORDER BY supply_date, id LIMIT :count
"""
_SELECT_OVERPAID = f"SELECT id FROM invoices WHERE {_OF_ACCOUNT} AND balance_due < 0 ORDER BY supply_date, id"
_SELECT_LATEST_CREDIT_NOTE = """
SELECT max(issue_date) FROM invoices
WHERE org_id = :org_id AND credits_invoice_id = :id AND status NOT IN ('draft', 'void')
"""
_SELECT_OF_LINE = "SELECT id FROM client_payments WHERE org_id = :org_id AND bank_transaction_id = :line_id"


def _parts(tx: ReadTx, row: ClientPayment) -> list[ClientPaymentPart]:
    return [
        ClientPaymentPart(invoice_id=invoice_id, position=position, amount=Money(amount, row.currency))
        for invoice_id, position, amount in tx.rows(_SELECT_PARTS, id=row.id)
    ]


CLIENT_PAYMENTS: Final = RemovableTable(
    "client_payments",
    ClientPayment,
    kind="client_payment",
    prefix="cpay",
    derived={"invoices": _parts, "warnings": lambda tx, row: UNSET},
)


def on_account(tx: ReadTx, account: Account, date: str) -> int:
    """What may be taken of what is on account on an ISO date, minor units: no later day is left with less than 0."""
    balance, left = 0, None
    for day, amount in tx.rows(_SELECT_MOVEMENTS, **account._asdict()):
        if day > date:
            left = balance if left is None else min(left, balance)
        balance += amount
    return balance if left is None else min(left, balance)


def is_covered(tx: ReadTx, account: Account) -> bool:
    """Whether no day has less than nothing on account."""
    balance = 0
    for _, amount in tx.rows(_SELECT_MOVEMENTS, **account._asdict()):
        balance += amount
        if balance < 0:
            return False
    return True


def open_invoices(tx: ReadTx, account: Account, count: int) -> list[str]:
    """The ids of at most `count` invoices on which money is due, by the oldest tax point first."""
    return [str(id_) for (id_,) in tx.rows(_SELECT_OPEN, count=count, **account._asdict())]


def overpaid_invoices(tx: ReadTx, account: Account) -> list[str]:
    """The ids of the invoices that were paid too much, by the oldest tax point first."""
    return [str(id_) for (id_,) in tx.rows(_SELECT_OVERPAID, **account._asdict())]


def latest_credit_note(tx: ReadTx, invoice_id: str) -> str:
    """The ISO date of the last credit note in force against an invoice; '': there is none."""
    return tx.value(_SELECT_LATEST_CREDIT_NOTE, id=invoice_id) or ""


def of_line(tx: ReadTx, line_id: str) -> str | None:
    """The id of the client payment that a bank line is of; None: of none."""
    id_: str | None = tx.value(_SELECT_OF_LINE, line_id=line_id)
    return id_
