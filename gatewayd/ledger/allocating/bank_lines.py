"""Bank transactions as allocations need them: whose the account is, which documents there are, how much is allocated.

The rows are the banking area's; `allocated` alone is written here, by `ledger/allocations`. Owns the table
`line_documents`: which documents belong to which line. A document's own row says so too, and is what people change;
this table is changed with it.

What is left to allocate of a legal entity or a business (Domain B9 and C1) is counted of booked lines. Ranges of ISO
dates include both ends.
"""

from typing import Literal, NamedTuple

import msgspec

from gatewayd.errors import not_found
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.imports.import_runs import VISIBLE, VISIBLE_LINES
from gatewayd.ledger.taxpayers.businesses import accounts_of
from gatewayd.money import Money
from gatewayd.store import ReadTx, Row, WriteTx

LineType = Literal[
    "faster_payment",
    "direct_debit",
    "standing_order",
    "card",
    "cash",
    "cheque",
    "transfer",
    "fee",
    "interest",
    "bacs",
    "chaps",
    "other",
]
COLUMNS = (
    "lines.id, account_id, date, amount, allocated, lines.currency, lines.status, description, match_key, reference,"
    " counterparty_name, lines.type, import_id, legal_entity_id, business_ids"
)
"""Of `bank_transactions AS lines` joined with `bank_accounts AS accounts`, in the order of `BankLine`."""
LINES = f"""
SELECT {COLUMNS}
FROM bank_transactions AS lines JOIN bank_accounts AS accounts ON accounts.org_id = :org_id AND accounts.id = account_id
WHERE lines.org_id = :org_id AND {VISIBLE_LINES}
""".strip()
"""What every statement on lines begins with; conditions follow."""
_SELECT_ONE = f"""
{LINES} AND lines.id = :id
"""
_SELECT_UNALLOCATED = f"""
{LINES} AND lines.allocated <> lines.amount AND lines.status = 'booked'
    AND (account_id, date, lines.id) > (:account_id, :date, :id)
ORDER BY account_id, date, lines.id LIMIT :count
"""
_SELECT_UNALLOCATED_OF_ACCOUNT = f"""
{LINES} AND lines.allocated <> lines.amount AND lines.status = 'booked'
    AND account_id = :account_id AND (date, lines.id) > (:date, :id)
ORDER BY date, lines.id LIMIT :count
"""
_SELECT_LATEST_UNALLOCATED = f"""
{LINES} AND lines.allocated <> lines.amount AND lines.status = 'booked'
    AND account_id = :account_id AND (date, lines.id) < (:date, :id)
ORDER BY date DESC, lines.id DESC LIMIT :count
"""
_SELECT_OF_IMPORT = f"""
{LINES} AND lines.import_id = :import_id AND lines.allocated = 0 AND lines.status = 'booked'
    AND (date, lines.id) > (:date, :id)
ORDER BY date, lines.id LIMIT :count
"""
_SELECT_ORGANIZATION_ANY_ORG = "SELECT org_id FROM bank_transactions WHERE id = :id"
_UPDATE_ALLOCATED = """
UPDATE bank_transactions SET allocated = :allocated, updated_at = :updated_at, version = version + 1
WHERE org_id = :org_id AND id = :id
"""

_names = msgspec.json.Decoder(list[str])
_SELECT_DOCUMENTS = """
SELECT l.document_id FROM line_documents l
JOIN vault_documents d ON d.org_id = l.org_id AND d.id = l.document_id
WHERE l.org_id = :org_id AND l.bank_transaction_id = :line_id AND d.org_id = :org_id AND d.status = 'uploaded'
ORDER BY l.document_id
"""
UNDOCUMENTED = """
NOT EXISTS (
    SELECT 1 FROM line_documents AS l JOIN vault_documents AS d ON d.org_id = l.org_id AND d.id = l.document_id
    WHERE l.org_id = :org_id AND l.bank_transaction_id = lines.id AND d.org_id = :org_id AND d.status = 'uploaded'
) AND NOT EXISTS (
    SELECT 1 FROM allocations AS parts
    WHERE parts.org_id = :org_id AND parts.source_id = lines.id AND parts.document_ids <> '[]'
)
""".strip()
"""The condition that a bank line, by the name `lines`, has no document."""
_PUT_DOCUMENT = """
INSERT INTO line_documents (org_id, bank_transaction_id, document_id) VALUES (:org_id, :line_id, :document_id)
ON CONFLICT (org_id, bank_transaction_id, document_id) DO NOTHING
"""
_TAKE_DOCUMENT = """
DELETE FROM line_documents WHERE org_id = :org_id AND bank_transaction_id = :line_id AND document_id = :document_id
"""
_FORGET_DOCUMENT = "DELETE FROM line_documents WHERE org_id = :org_id AND document_id = :document_id"
_LEFT = f"""
FROM bank_transactions
WHERE org_id = :org_id AND account_id = :account_id AND date BETWEEN :first AND :last
    AND allocated <> amount AND status = 'booked' AND {VISIBLE}
"""
_SELECT_LINES = f"SELECT count(id), min(id) {_LEFT} AND amount >= :least"
_SELECT_MONEY = f"SELECT currency, count(*), sum(amount - allocated) {_LEFT} GROUP BY currency"
_LEAST = -(1 << 62)  # minor units: every amount


class BankLine(NamedTuple):
    """A bank transaction. `amount` and `allocated` are minor units, + in and - out; `date` is ISO.

    `legal_entity_id` and `business_ids` are its account's; None: the account names nobody.
    """

    id: str
    account_id: str
    date: str
    amount: int
    allocated: int
    currency: str
    status: str
    description: str
    match_key: str
    reference: str | None
    counterparty_name: str | None
    type: str
    import_id: str | None
    legal_entity_id: str | None
    business_ids: tuple[str, ...]

    @property
    def unallocated(self) -> int:
        """What is left to allocate, signed as the amount is."""
        return self.amount - self.allocated

    @property
    def direction(self) -> Literal["in", "out"]:
        """Which way the money went."""
        return "in" if self.amount > 0 else "out"

    @property
    def text(self) -> str:
        """All that was written on it, case-folded."""
        return " ".join(filter(None, (self.description, self.reference, self.counterparty_name))).casefold()

    @property
    def position(self) -> "Position":
        """Where it stands among the lines of all accounts."""
        return Position(self.account_id, self.date, self.id)

    @property
    def rest(self) -> Money:
        """What is left to allocate, without its sign."""
        return Money(abs(self.unallocated), self.currency)


class Position(NamedTuple):
    """Where a line stands among those of all accounts. `date` is ISO."""

    account_id: str
    date: str
    id: str


def of_row(row: Row) -> BankLine:
    """The line of a row that was selected with `COLUMNS`."""
    return BankLine._make((*row[:-1], tuple(_names.decode(row[-1]))))


def find(tx: ReadTx, line_id: str) -> BankLine | None:
    """The line; None where the organization has no such one."""
    row = tx.row(_SELECT_ONE, id=line_id)
    return None if row is None else of_row(row)


def get(tx: ReadTx, line_id: str) -> BankLine:
    """The line. Raises `Problem` `not_found`."""
    line = find(tx, line_id)
    if line is None:
        raise not_found("bank transaction")
    return line


def organization_of(tx: ReadTx, line_id: str) -> str:
    """Whose line it is, for the operator of the instance. Raises `Problem` `not_found`."""
    org_id: str | None = tx.value(_SELECT_ORGANIZATION_ANY_ORG, id=line_id)
    if org_id is None:
        raise not_found("bank transaction")
    return org_id


def unallocated(tx: ReadTx, after: Position, count: int, *, one_account: bool) -> list[BankLine]:
    """The next lines of which something is unallocated, oldest first.

    They are of the account of `after` alone, or of that and the accounts that follow it.
    """
    sql = _SELECT_UNALLOCATED_OF_ACCOUNT if one_account else _SELECT_UNALLOCATED
    return [of_row(row) for row in tx.rows(sql, count=count, **after._asdict())]


def latest_unallocated(tx: ReadTx, before: Position, count: int) -> list[BankLine]:
    """The lines of one account of which something is unallocated, latest first, from a position on."""
    return [of_row(row) for row in tx.rows(_SELECT_LATEST_UNALLOCATED, count=count, **before._asdict())]


def of_import(tx: ReadTx, import_id: str, after: Position, count: int) -> list[BankLine]:
    """The next booked lines of an import of which nothing is allocated, oldest first; those of one account."""
    return [
        of_row(row)
        for row in tx.rows(_SELECT_OF_IMPORT, import_id=import_id, date=after.date, id=after.id, count=count)
    ]


def set_allocated(tx: WriteTx, line: BankLine, allocated: int) -> BankLine:
    """Keep the sum of a line's allocations, signed minor units, as a change of the line that syncing clients see."""
    tx.run(_UPDATE_ALLOCATED, id=line.id, allocated=allocated, updated_at=tx.updated_at)
    return line._replace(allocated=allocated)


def documents_of(tx: ReadTx, line_id: str) -> list[str]:
    """The documents of a bank line whose bytes are there and not in the trash, oldest first."""
    return [row[0] for row in tx.rows(_SELECT_DOCUMENTS, line_id=line_id)]


def put_document(tx: WriteTx, line_id: str, document_id: str) -> None:
    """Note that a document belongs to a bank line."""
    tx.run(_PUT_DOCUMENT, line_id=line_id, document_id=document_id)


def take_document(tx: WriteTx, line_id: str, document_id: str) -> None:
    """Note that a document does not belong to a bank line any more."""
    tx.run(_TAKE_DOCUMENT, line_id=line_id, document_id=document_id)


def forget_document(tx: WriteTx, document_id: str) -> None:
    """Delete what is known of a document that goes for good."""
    tx.run(_FORGET_DOCUMENT, document_id=document_id)


class UnallocatedLines(NamedTuple):
    """How many lines, and the id of one of them; None: there is none."""

    lines: int
    first_id: str | None


class UnallocatedMoney(NamedTuple):
    """How many lines, and what is left of them, minor units, + in and - out."""

    currency: str
    lines: int
    amount: int


def unallocated_lines(tx: ReadTx, legal_entity_id: str, business_id: str | None, days: DateRange) -> UnallocatedLines:
    """The lines within a range of which something is left. `business_id` None: of the entity as a whole."""
    return _count(tx, accounts_of(tx, legal_entity_id, business_id), days, _LEAST)


def unallocated_income(tx: ReadTx, legal_entity_id: str, business_id: str, days: DateRange) -> UnallocatedLines:
    """The lines of money that came in within a range of which something is left."""
    return _count(tx, accounts_of(tx, legal_entity_id, business_id), days, 1)


def unallocated_money(tx: ReadTx, legal_entity_id: str, business_id: str, days: DateRange) -> list[UnallocatedMoney]:
    """What is left of the lines within a range, by currency."""
    sums: dict[str, list[int]] = {}
    for account_id in accounts_of(tx, legal_entity_id, business_id):
        for currency, count, amount in tx.rows(_SELECT_MONEY, account_id=account_id, **days._asdict()):
            total = sums.setdefault(currency, [0, 0])
            total[0] += count
            total[1] += amount
    return [UnallocatedMoney(currency, *total) for currency, total in sorted(sums.items())]


def _count(tx: ReadTx, account_ids: list[str], days: DateRange, least: int) -> UnallocatedLines:
    total, first_id = 0, None
    for account_id in account_ids:
        count, id_ = tx.rows(_SELECT_LINES, account_id=account_id, least=least, **days._asdict())[0]
        total, first_id = total + count, first_id or id_
    return UnallocatedLines(total, first_id)
