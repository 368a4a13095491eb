"""Transactions as they are stored. Owns the table `asset_transactions`."""

from collections.abc import Iterable, Sequence

from gatewayd.areas.assets.income.rules import income_date
from gatewayd.areas.assets.transactions.shapes import AssetTransaction
from gatewayd.store import ReadTx, Table, WriteTx


def _income_date(row: AssetTransaction) -> str | None:
    return income_date(row.type, row.trade_date)


TRANSACTIONS = Table(
    "asset_transactions", AssetTransaction, kind="transaction", prefix="txn", written={"income_date": _income_date}
)

_SELECT_LAST = f"{TRANSACTIONS.select} AND import_id = :import_id ORDER BY id DESC LIMIT :count"
_SELECT_REVERSED = """
SELECT trade_date FROM asset_transactions
WHERE org_id = :org_id AND import_id = :import_id AND reversed_by_id IS NOT NULL ORDER BY id LIMIT 1
"""
_SELECT_IN_RANGE = """
SELECT trade_date FROM asset_transactions
WHERE org_id = :org_id AND import_id = :import_id AND trade_date >= :first AND trade_date <= :last
ORDER BY trade_date LIMIT 1
"""
_SELECT_SHARED = """
SELECT named.instrument_id FROM (
    SELECT DISTINCT ours.instrument_id FROM asset_transactions AS ours
    WHERE ours.org_id = :org_id AND ours.import_id = :import_id AND ours.instrument_id IS NOT NULL
) AS named
WHERE EXISTS (
    SELECT 1 FROM asset_transactions AS others
    WHERE others.org_id = :org_id AND others.instrument_id = named.instrument_id
        AND (others.import_id IS NULL OR others.import_id <> :import_id)
)
"""
_SELECT_OF_INSTRUMENT = f"{TRANSACTIONS.select} AND import_id = :import_id AND instrument_id = :instrument_id"
_DELETE = "DELETE FROM asset_transactions WHERE org_id = :org_id AND id = :id"


# -- what imports brought


def last_of_import(tx: ReadTx, import_id: str, count: int) -> list[AssetTransaction]:
    """What an import brought last, latest first."""
    return [TRANSACTIONS.read(tx, row) for row in tx.rows(_SELECT_LAST, import_id=import_id, count=count)]


def reversed_of_import(tx: ReadTx, import_id: str) -> str | None:
    """The day of a transaction of an import that was reversed since; None: none was."""
    found: str | None = tx.value(_SELECT_REVERSED, import_id=import_id)
    return found


def first_within(tx: ReadTx, import_id: str, ranges: Iterable[tuple[str, str]]) -> str | None:
    """The day of a transaction of an import that lies in one of the ranges; None: none does."""
    for first, last in ranges:
        found: str | None = tx.value(_SELECT_IN_RANGE, import_id=import_id, first=first, last=last)
        if found is not None:
            return found
    return None


def shared_instruments(tx: ReadTx, import_id: str) -> list[str]:
    """The instruments of an import of which there are other transactions too."""
    return sorted(row[0] for row in tx.rows(_SELECT_SHARED, import_id=import_id))


def of_import_and_instrument(tx: ReadTx, import_id: str, instrument_id: str) -> list[AssetTransaction]:
    """What an import brought of an instrument."""
    found = tx.rows(_SELECT_OF_INSTRUMENT, import_id=import_id, instrument_id=instrument_id)
    return [TRANSACTIONS.read(tx, row) for row in found]


def delete(tx: WriteTx, ids: Sequence[str]) -> None:
    """Delete transactions that an import brought and that is undone: nobody else deletes any."""
    tx.run_each(_DELETE, [(tx.org_id, id_) for id_ in ids])
