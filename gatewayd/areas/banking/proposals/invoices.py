"""Which open invoice or bill money pays: by what is due, its number or reference in the text, the name of who sent or
has it. Money that comes in pays invoices, and money that goes out bills. Reads only.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Literal, NamedTuple

from gatewayd.ledger.allocating.allocation_rules import share
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.money import Money
from gatewayd.store import ReadTx, Row

_NOT_WORDS = re.compile(r"[\W_]+")
_OF_COMPANIES = re.compile(r"\b(ltd|limited|plc|llp|inc|gmbh|and co|& co)\b\.?")
_FEWEST_CHARACTERS = 4  # Chosen: shorter numbers and names stand in any text
_NAME_CHARACTERS = 16  # of a name, as banks cut off what is longer than 18
_CIS_PERCENTAGES = (20, 30)
_EARLY = 20  # points less where the money came before the invoice
LOOKED_AT = 200  # Chosen: of more the latest are held against a text, and all are found by their amount
SAME_AMOUNT = 5  # Chosen: with more invoices of one amount the amount says nothing

_COLUMNS = (
    "'Invoice', invoices.id, number, invoices.reference, clients.name, invoices.currency, balance_due, gross_total,"
    " net_total, cis_deduction, issue_date, legal_entity_id"
)
_SELECT_LATEST = f"""
SELECT {_COLUMNS} FROM invoices JOIN clients ON clients.org_id = :org_id AND clients.id = client_id
WHERE invoices.org_id = :org_id AND open_due_date IS NOT NULL AND invoices.kind = 'invoice'
ORDER BY open_due_date DESC, invoices.id DESC LIMIT :count
"""
_BILL_COLUMNS = (
    "'Bill', bills.id, coalesce(number, ''), NULL, coalesce(claimant, clients.name), bills.currency, balance_due,"
    " gross_total, net_total, 0, bill_date, legal_entity_id"
)
_SELECT_LATEST_BILLS = f"""
SELECT {_BILL_COLUMNS} FROM bills LEFT JOIN clients ON clients.org_id = :org_id AND clients.id = supplier_id
WHERE bills.org_id = :org_id AND open_due_date IS NOT NULL
ORDER BY open_due_date DESC, bills.id DESC LIMIT :count
"""
_SELECT_BILLS_OF_BALANCE = f"""
SELECT {_BILL_COLUMNS} FROM bills LEFT JOIN clients ON clients.org_id = :org_id AND clients.id = supplier_id
WHERE bills.org_id = :org_id AND open_due_date IS NOT NULL AND balance_due = :balance_due
ORDER BY bills.id LIMIT :count
"""
_SELECT_OF_BALANCE = f"""
SELECT {_COLUMNS} FROM invoices JOIN clients ON clients.org_id = :org_id AND clients.id = client_id
WHERE invoices.org_id = :org_id AND open_due_date IS NOT NULL AND balance_due = :balance_due
    AND invoices.kind = 'invoice'
ORDER BY invoices.id LIMIT :count
"""


class OpenInvoice(NamedTuple):
    """An invoice or a bill on which money is due. Dates are ISO.

    `client` is who has the invoice, or who is owed the bill; `number` may be empty. `cis_deduction` is what CIS lines
    say is withheld.
    """

    what: Literal["Invoice", "Bill"]
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


class Match(NamedTuple):
    """An invoice that a line may pay, with how much of it, how sure that is, and why."""

    invoice: OpenInvoice
    amount: Money
    score: int
    reason: str


class _Signs(NamedTuple):
    """Which marks of an invoice stand in the text of a line."""

    number: bool
    reference: bool
    client: bool


class _Amount(NamedTuple):
    """What an amount says of an invoice, and its score: with the number, the client's name, or neither in the text."""

    says: str
    with_number: int
    with_client: int
    alone: int

    def score(self, signs: _Signs) -> int:
        if signs.number or signs.reference:
            return self.with_number
        return self.with_client if signs.client else self.alone


def latest(tx: ReadTx) -> list[OpenInvoice]:
    """The open invoices that fall due last, at most `LOOKED_AT`."""
    return [_of_row(row) for row in tx.rows(_SELECT_LATEST, count=LOOKED_AT)]


def of_balance(tx: ReadTx, balance: Money) -> list[OpenInvoice]:
    """The open invoices on which exactly this is due. At most `SAME_AMOUNT` are read, of any currency."""
    open_invoices = [_of_row(row) for row in tx.rows(_SELECT_OF_BALANCE, balance_due=balance.minor, count=SAME_AMOUNT)]
    return [invoice for invoice in open_invoices if invoice.currency == balance.currency]


def latest_bills(tx: ReadTx) -> list[OpenInvoice]:
    """The open bills that fall due last, at most `LOOKED_AT`."""
    return [_of_row(row) for row in tx.rows(_SELECT_LATEST_BILLS, count=LOOKED_AT)]


def bills_of_balance(tx: ReadTx, balance: Money) -> list[OpenInvoice]:
    """The open bills on which exactly this is due. At most `SAME_AMOUNT` are read, of any currency."""
    open_bills = [
        _of_row(row) for row in tx.rows(_SELECT_BILLS_OF_BALANCE, balance_due=balance.minor, count=SAME_AMOUNT)
    ]
    return [bill for bill in open_bills if bill.currency == balance.currency]


def match(line: BankLine, invoice: OpenInvoice) -> Match | None:
    """How well an invoice fits what is left of a line of money in, or a bill of money out; None: it does not."""
    owners = {line.legal_entity_id, invoice.legal_entity_id} - {None}
    if invoice.currency != line.currency or len(owners) > 1:
        return None
    signs = _signs(line, invoice)
    amount = _amount(line.rest, invoice)
    score = amount.score(signs)
    if score == 0:
        return None
    if line.date < invoice.issue_date:
        score = max(score - _EARLY, 1)
    said = ", ".join((amount.says, *_described(signs, invoice)))
    return Match(invoice, min(line.rest, invoice.balance), score, f"{_named(invoice)}: {said}.")


def _named(invoice: OpenInvoice) -> str:
    return f"{invoice.what} {invoice.number}" if invoice.number else f"{invoice.what} of {invoice.issue_date}"


def _amount(rest: Money, invoice: OpenInvoice) -> _Amount:
    if rest == invoice.balance:
        return _Amount("the amount is what is due", 98, 92, 60)
    for percent in _CIS_PERCENTAGES:
        if not invoice.cis_deduction and rest == _after_cis(invoice, percent):
            return _Amount(f"the amount is what is due less {percent} % of the net, as CIS withholds", 84, 75, 45)
    if rest < invoice.balance:
        return _Amount(f"the amount is a part of the {invoice.balance} that is due", 82, 40, 0)
    return _Amount(f"the amount is more than the {invoice.balance} that is due", 66, 30, 0)


def _after_cis(invoice: OpenInvoice, percent: int) -> Money:
    withheld = share(invoice.net.minor, Decimal(percent), Decimal(100))
    return invoice.balance - Money(withheld, invoice.currency)


def _signs(line: BankLine, invoice: OpenInvoice) -> _Signs:
    text = _letters(line.text)
    client = _letters(_OF_COMPANIES.sub("", invoice.client.casefold()))[:_NAME_CHARACTERS]
    return _Signs(
        number=_within(_letters(invoice.number), text),
        reference=_within(_letters(invoice.reference or ""), text),
        client=_within(client, text),
    )


def _described(signs: _Signs, invoice: OpenInvoice) -> Iterator[str]:
    if signs.number:
        yield "its number is in the text"
    if signs.reference:
        yield f'its reference "{invoice.reference}" is in the text'
    if signs.client:
        yield f"{invoice.client} is named"


def _of_row(row: Row) -> OpenInvoice:
    *names, currency, balance, gross, net, cis_deduction, issue_date, legal_entity_id = row
    amounts = [Money(amount, currency) for amount in (balance, gross, net, cis_deduction)]
    return OpenInvoice._make((*names, currency, *amounts, issue_date, legal_entity_id))


def _letters(text: str) -> str:
    return _NOT_WORDS.sub("", text.casefold())


def _within(word: str, text: str) -> bool:
    return len(word) >= _FEWEST_CHARACTERS and word in text
