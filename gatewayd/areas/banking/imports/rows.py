"""The rows of statement files, staged for their runs. Owns the table `import_rows`."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from gatewayd.areas.banking.transactions.rows import FROM_FILE
from gatewayd.contract.wire import Amount, DateText, Id, Response, encode
from gatewayd.ledger.imports.import_shapes import Action
from gatewayd.store import Columns, ReadTx, Row, StagedRows, WriteTx


class ImportRow(Response, frozen=True, kw_only=True):
    """A row of a file, and what becomes of it."""

    position: int
    """Its place among the rows of the file that are taken, from 1."""
    line: int
    """The line of the file where it begins, from 1; of OFX and CAMT, which transaction of the file it is."""
    action: Action
    """`add`: it is new; `duplicate`: it is there already; `replace`: it takes the place of a pending one; `refuse`: its
    day is in a closed period."""
    reason: str | None
    """Why it is not simply added, for people. Null: it is added."""
    transaction_id: Id
    """The id that its bank transaction has, or will have, where it is added."""
    existing_transaction_id: Id | None
    """The bank transaction that it is already, or whose place it takes. Null: none."""
    booking_date: DateText | None
    """The day on which the bank booked it. Null: it is pending."""
    value_date: DateText | None
    """The day from which the bank counts the money. Null: the file does not say."""
    amount: Amount
    """Positive for money in, negative for money out."""
    currency: str
    """The currency of the account."""
    description: str
    """What the bank wrote, without superfluous spaces."""
    counterparty_name: str | None
    """Who it is with. Null: the file does not say."""
    reference: str | None
    """The remittance information. Null: none."""
    balance_after: Amount | None
    """The balance of the account behind it. Null: the file does not say."""


SHOWN = Columns(ImportRow)
STAGED = StagedRows("import_rows")

_STAGE = f"""
INSERT INTO import_rows (org_id, import_id, position, line, statement, action, transaction_id, {FROM_FILE})
VALUES (:org_id, :import_id, :position, :line, :statement, 'add', :transaction_id,
    {", ".join(f":{name}" for name in FROM_FILE.split(", "))})
"""
_DECIDE = """
UPDATE import_rows SET action = :action, reason = :reason, existing_transaction_id = :existing_id,
    fingerprint = :fingerprint
WHERE org_id = :org_id AND import_id = :import_id AND position = :position
"""
_REMEMBER = """
UPDATE import_rows SET before = :before
WHERE org_id = :org_id AND import_id = :import_id AND position = :position
"""
_SELECT_REPLACING = f"""
SELECT position, existing_transaction_id, before, {FROM_FILE} FROM import_rows
WHERE org_id = :org_id AND import_id = :import_id AND action = 'replace' ORDER BY position
"""
SELECT_ROWS: Final = f"""
SELECT {SHOWN.sql} FROM import_rows WHERE org_id = :org_id AND import_id = :import_id AND position > :after
"""


class Staged(NamedTuple):
    """A row of a file on its way into the table; `values` are those of `FROM_FILE`, in its order."""

    position: int
    line: int
    statement: int
    values: tuple[object, ...]


class Decision(NamedTuple):
    """What becomes of a row. `existing_id` is the transaction that it is or replaces."""

    position: int
    action: str
    reason: str | None
    existing_id: str | None
    fingerprint: str


class Replacing(NamedTuple):
    """A row that takes the place of a transaction; `values` are by column."""

    position: int
    transaction_id: str
    before: str | None
    values: dict[str, object]


def stage(tx: WriteTx, import_id: str, staged: Iterable[Staged]) -> None:
    """Keep rows, marked to be added until another decision is written."""
    org_id, new_id = tx.org_id, tx.new_id
    tx.run_each(
        _STAGE,
        [(org_id, import_id, row.position, row.line, row.statement, new_id("btx"), *row.values) for row in staged],
    )


def decide(tx: WriteTx, import_id: str, decisions: Sequence[Decision]) -> None:
    """Write down what becomes of rows."""
    org_id = tx.org_id
    tx.run_each(
        _DECIDE,
        [(d.action, d.reason, d.existing_id, d.fingerprint, org_id, import_id, d.position) for d in decisions],
    )


def replacing(tx: ReadTx, import_id: str) -> list[Replacing]:
    """The rows that replace transactions."""
    names = FROM_FILE.split(", ")
    rows = tx.rows(_SELECT_REPLACING, import_id=import_id)
    return [Replacing(row[0], row[1], row[2], dict(zip(names, row[3:], strict=True))) for row in rows]


def remember(tx: WriteTx, import_id: str, position: int, before: str) -> None:
    """Keep what a replaced transaction was before, so that the import can be undone."""
    tx.run(_REMEMBER, import_id=import_id, position=position, before=before)


def row_item(row: Row) -> bytes:
    """The JSON of a staged row that was selected with `SELECT_ROWS`."""
    wire: bytes = encode(SHOWN.load(row))
    return wire
