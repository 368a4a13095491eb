"""Bank transactions as they are stored. Owns the table `bank_transactions`, but for what is allocated of them.

They come and go with imports: in one statement for many, out of the rows that were staged.
"""

import functools
from collections.abc import Iterable, Mapping
from typing import Final

from gatewayd.areas.banking.transactions.shapes import StoredTransaction, TransactionRow
from gatewayd.contract.wire import encode, open_wire
from gatewayd.errors import not_found
from gatewayd.ledger.imports.import_runs import VISIBLE
from gatewayd.store import Columns, ReadTx, Row, WriteTx
from gatewayd.store.rows import removals

COLUMNS = Columns(TransactionRow)
NAME: Final = "bank_transactions"
"""What the removals of lines are kept under."""
_FROM_FILE = tuple(
    name
    for name in COLUMNS.names
    if name not in {"id", "account_id", "allocated", "import_id", "source", "created_at", "updated_at", "version"}
)
"""What a staged row has under the same names."""
FROM_FILE = ", ".join(_FROM_FILE)

SELECT = f"SELECT {COLUMNS.sql} FROM bank_transactions WHERE org_id = :org_id AND {VISIBLE}"
_SELECT_ONE = f"{SELECT} AND id = :id"
_SELECT_ALLOCATIONS = """
SELECT source_id, id FROM allocations WHERE org_id = :org_id AND source_id IN ({ids}) ORDER BY source_id, id
"""
_MOVE_IN = f"""
INSERT INTO bank_transactions (
    id, org_id, account_id, import_id, source, created_at, updated_at, version, allocated, {FROM_FILE}
)
SELECT transaction_id, org_id, :account_id, import_id, 'import', :now, :updated_at, 1, 0, {FROM_FILE}
FROM import_rows
WHERE org_id = :org_id AND import_id = :import_id AND action = 'add' AND position > :after AND position <= :upto
"""
_REPLACE = f"""
UPDATE bank_transactions SET {", ".join(f"{name} = :{name}" for name in _FROM_FILE)},
    import_id = :import_id, updated_at = :updated_at, version = version + 1
WHERE org_id = :org_id AND id = :id
"""
_SELECT_OF_IMPORT = """
SELECT org_id, id FROM bank_transactions WHERE org_id = :org_id AND import_id = :import_id ORDER BY date LIMIT :count
"""
_SELECT_IN_RANGE = """
SELECT date FROM bank_transactions
WHERE org_id = :org_id AND import_id = :import_id AND date >= :first AND date <= :last ORDER BY date LIMIT 1
"""
_SELECT_IN_USE = """
SELECT 1 FROM bank_transactions
WHERE org_id = :org_id AND account_id = :account_id AND import_id = :import_id AND allocated <> 0 LIMIT 1
"""
_DELETE = "DELETE FROM bank_transactions WHERE org_id = :org_id AND id = :id"


def get(tx: ReadTx, id_: str) -> TransactionRow | None:
    """One transaction; None where there is none, or its import is being applied or undone."""
    row = tx.row(_SELECT_ONE, id=id_)
    return None if row is None else COLUMNS.load(row)


def item(tx: ReadTx, id_: str) -> bytes:
    """The JSON of one transaction. Raises `Problem` `not_found`, also while its import is applied or undone."""
    row = tx.row(_SELECT_ONE, id=id_)
    if row is None:
        raise not_found("bank transaction")
    return items(tx, [row])[0]


def items(tx: ReadTx, rows: list[Row]) -> list[bytes]:
    """The JSON of transactions that were selected with `SELECT`."""
    loaded = [COLUMNS.load(row) for row in rows]
    allocations = allocations_of(tx, [row.id for row in loaded if row.allocated])
    return [_item(row, allocations.get(row.id, [])) for row in loaded]


def allocations_of(tx: ReadTx, ids: list[str]) -> dict[str, list[str]]:
    """The ids of the allocations of each line that has any."""
    by_line: dict[str, list[str]] = {}
    if ids:
        values = {f"id_{index}": id_ for index, id_ in enumerate(ids)}
        for source_id, id_ in tx.rows(allocations_sql(len(ids)), **values):
            by_line.setdefault(source_id, []).append(id_)
    return by_line


@functools.cache  # at most one statement for each page length
def allocations_sql(count: int) -> str:
    """The statement that reads the allocations of so many lines."""
    return _SELECT_ALLOCATIONS.format(ids=", ".join(f":id_{index}" for index in range(count)))


def _item(row: TransactionRow, allocations: list[str]) -> bytes:
    """The JSON of the stored fields with the derived ones appended, a third cheaper than a struct of all."""
    return b'%b,"direction":"%b","unallocatedAmount":"%b","allocations":%b}' % (
        open_wire(row, StoredTransaction),
        b"in" if row.amount.minor >= 0 else b"out",
        str(row.amount - row.allocated).encode(),
        encode(allocations) if allocations else b"[]",
    )


# -- what imports ask and write


def first_within(tx: ReadTx, import_id: str, ranges: Iterable[tuple[str, str]]) -> str | None:
    """The date of a line of an import that lies in one of the ranges; None: none does."""
    for first, last in ranges:
        date: str | None = tx.value(_SELECT_IN_RANGE, import_id=import_id, first=first, last=last)
        if date is not None:
            return date
    return None


def is_in_use(tx: ReadTx, account_id: str, import_id: str) -> bool:
    """Whether any line of an import is allocated."""
    return tx.row(_SELECT_IN_USE, account_id=account_id, import_id=import_id) is not None


def move_in(tx: WriteTx, account_id: str, import_id: str, after: int, upto: int) -> int:
    """Bring the staged rows of these positions that are to be added into the account; answers how many."""
    return tx.run(
        _MOVE_IN, account_id=account_id, import_id=import_id, after=after, upto=upto, updated_at=tx.updated_at
    )


def move_out(tx: WriteTx, import_id: str, count: int) -> int:
    """Delete at most `count` of what an import brought; answers how many that was.

    They are deleted one by one: for a set of ids SQLite would read all lines of the organization.
    """
    rows = tx.rows(_SELECT_OF_IMPORT, import_id=import_id, count=count)
    tx.run_each(_DELETE, rows)
    removals.keep_all(tx, NAME, [row[1] for row in rows])
    return len(rows)


def replace_with(tx: WriteTx, id_: str, import_id: str | None, values: Mapping[str, object]) -> None:
    """Give a line other values: those of columns in `FROM_FILE`, by name."""
    tx.run(_REPLACE, id=id_, import_id=import_id, updated_at=tx.updated_at, **values)


def delete(tx: WriteTx, id_: str) -> None:
    """Delete one line."""
    tx.run(_DELETE, id=id_)
    removals.keep(tx, NAME, id_)


def file_values(row: TransactionRow) -> dict[str, object]:
    """What `replace_with` needs to bring a line back to this."""
    values = dict(zip(COLUMNS.names, COLUMNS.dump(row), strict=True))
    return {name: values[name] for name in _FROM_FILE}
