"""The rows of brokers' files, staged for their runs, and the brokers' ids of the transactions that they became.

Owns the tables `import_trades` and `broker_records`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from gatewayd.areas.assets.imports.requests import rank_of
from gatewayd.areas.assets.imports.shapes import ImportedTrade
from gatewayd.contract.wire import encode
from gatewayd.money import Money
from gatewayd.statements.shapes import Trade
from gatewayd.store import ReadTx, Row, StagedRows, WriteTx

STAGED = StagedRows("import_trades")
POSITION: Final = 0  # the column of `SELECT_ROWS` that has it

_STAGE = """
INSERT INTO import_trades (org_id, import_id, position, line, action, date, holding, rank, record_id, trade)
VALUES (:org_id, :import_id, :position, :line, 'add', :date, :holding, :rank, :record_id, :trade)
"""
_DECIDE = """
UPDATE import_trades SET action = :action, reason = :reason, existing_transaction_id = :existing_id, differs = :differs
WHERE org_id = :org_id AND import_id = :import_id AND position = :position
"""
_MARK = """
UPDATE import_trades SET transaction_id = :transaction_id
WHERE org_id = :org_id AND import_id = :import_id AND position = :position
"""
_SELECT_WAITING = """
SELECT position, trade, record_id FROM import_trades
WHERE org_id = :org_id AND import_id = :import_id AND action = 'add' AND transaction_id IS NULL
ORDER BY holding, date, rank, position LIMIT :count
"""
_SELECT_AFTER = """
SELECT position, trade, record_id FROM import_trades
WHERE org_id = :org_id AND import_id = :import_id AND action = 'add' AND position > :after
ORDER BY position LIMIT :count
"""
_SELECT_KEPT_OUT = """
SELECT position FROM import_trades WHERE org_id = :org_id AND import_id = :import_id AND action <> 'add'
"""
_SELECT_IN_ORDER = """
SELECT position, holding, trade FROM import_trades
WHERE org_id = :org_id AND import_id = :import_id AND action = 'add' AND transaction_id IS NULL AND holding <> ''
ORDER BY holding, date, rank, position
"""
_SELECT_DAYS = """
SELECT date, count(position) FROM import_trades WHERE org_id = :org_id AND import_id = :import_id
GROUP BY date ORDER BY date
"""
_SELECT_OF_DAYS = """
SELECT position, trade, record_id FROM import_trades
WHERE org_id = :org_id AND import_id = :import_id AND date >= :first AND date <= :last ORDER BY date, position
"""
_COUNT_MOVED = """
SELECT count(position) FROM import_trades
WHERE org_id = :org_id AND import_id = :import_id AND action = 'add' AND transaction_id IS NOT NULL
"""
SELECT_ROWS: Final = """
SELECT position, line, action, reason, transaction_id, existing_transaction_id, differs, trade FROM import_trades
WHERE org_id = :org_id AND import_id = :import_id AND position > :after
"""
_KEEP_RECORD = """
INSERT INTO broker_records (org_id, account_id, record_id, transaction_id)
VALUES (:org_id, :account_id, :record_id, :transaction_id)
"""
_SELECT_RECORDS = """
SELECT known.record_id, stored.id, stored.trade_date, stored.type, stored.quantity, stored.gross_amount, stored.fees,
    stored.taxes, stored.currency
FROM broker_records AS known JOIN asset_transactions AS stored ON stored.id = known.transaction_id
    AND stored.org_id = :org_id
WHERE known.org_id = :org_id AND known.account_id = :account_id AND known.record_id IN (
    SELECT record_id FROM import_trades
    WHERE org_id = :org_id AND import_id = :import_id AND date >= :first AND date <= :last AND record_id IS NOT NULL
)
ORDER BY stored.id
"""
_FORGET_RECORD = "DELETE FROM broker_records WHERE org_id = :org_id AND transaction_id = :transaction_id"

_decode = msgspec.json.Decoder(Trade).decode


class Staged(NamedTuple):
    """A row of a file on its way into the table. `holding` is what the file calls its instrument by."""

    position: int
    holding: str
    trade: Trade


class Waiting(NamedTuple):
    """A row that is to come in."""

    position: int
    trade: Trade
    record_id: str | None


class Decision(NamedTuple):
    """What becomes of a row. `existing_id` is the transaction that it is, from which it `differs`."""

    position: int
    action: str
    reason: str | None
    existing_id: str | None = None
    differs: tuple[str, ...] = ()


class Known(NamedTuple):
    """A transaction of the account with an id of the broker. Amounts are in minor units of the currency."""

    id: str
    trade_date: str
    type: str
    quantity: str | None
    gross_amount: int | None
    fees: int
    taxes: int
    currency: str


# -- staged rows


def stage(tx: WriteTx, import_id: str, staged: Iterable[Staged]) -> None:
    """Keep rows, each to be added, until it is decided otherwise."""
    rows = [
        (
            *(tx.org_id, import_id, row.position, row.trade.line, row.trade.date, row.holding),
            *(rank_of(row.trade), row.trade.record_id, msgspec.json.encode(row.trade).decode()),
        )
        for row in staged
    ]
    tx.run_each(_STAGE, rows)


def decide(tx: WriteTx, import_id: str, decisions: Sequence[Decision]) -> None:
    """Write down what becomes of rows."""
    values = [
        (d.action, d.reason, d.existing_id, _json_names(d.differs), tx.org_id, import_id, d.position) for d in decisions
    ]
    tx.run_each(_DECIDE, values)


def waiting(tx: ReadTx, import_id: str, count: int) -> list[Waiting]:
    """The next rows that are to come in: one instrument after the other, each from its first day on."""
    return _waiting(tx.rows(_SELECT_WAITING, import_id=import_id, count=count))


def to_add(tx: ReadTx, import_id: str, after: int, count: int) -> list[Waiting]:
    """The rows behind a position that are to come in, in the order of the file."""
    return _waiting(tx.rows(_SELECT_AFTER, import_id=import_id, after=after, count=count))


def of_days(tx: ReadTx, import_id: str, first: str, last: str) -> list[Waiting]:
    """All rows of some days."""
    return _waiting(tx.rows(_SELECT_OF_DAYS, import_id=import_id, first=first, last=last))


def kept_out(tx: ReadTx, import_id: str) -> list[int]:
    """The positions of rows that are not to come in."""
    return [row[0] for row in tx.rows(_SELECT_KEPT_OUT, import_id=import_id)]


def in_order(tx: ReadTx, import_id: str) -> Iterator[tuple[int, str, Trade]]:
    """Position, holding and trade of the rows that are to come in, in that order, but for those of cash alone."""
    for position, holding, trade in tx.each(_SELECT_IN_ORDER, import_id=import_id):
        yield position, holding, _decode(trade)


def days(tx: ReadTx, import_id: str) -> list[tuple[str, int]]:
    """The days of a file, with how many rows each has."""
    return [(row[0], row[1]) for row in tx.rows(_SELECT_DAYS, import_id=import_id)]


def mark(tx: WriteTx, import_id: str, became: Sequence[tuple[int, str]]) -> None:
    """Note which transactions rows have become, by position."""
    tx.run_each(_MARK, [(id_, tx.org_id, import_id, position) for position, id_ in became])


def moved(tx: ReadTx, import_id: str) -> int:
    """How many rows have come in."""
    return int(tx.value(_COUNT_MOVED, import_id=import_id))


def row_item(row: Row) -> bytes:
    """The JSON of a staged row that was selected with `SELECT_ROWS`."""
    position, line, action, reason, transaction_id, existing_id, differs, text = row
    trade = _decode(text)
    instrument, currency = trade.instrument, trade.currency
    wire: bytes = encode(
        ImportedTrade(
            position=position,
            line=line,
            action=action,
            reason=reason,
            transaction_id=transaction_id,
            existing_transaction_id=existing_id,
            differs=msgspec.json.decode(differs, type=list[str]) if action == "duplicate" else [],
            type=trade.type,
            trade_date=trade.date,
            isin=None if instrument is None else instrument.isin,
            symbol=None if instrument is None else instrument.symbol,
            instrument_name=None if instrument is None else instrument.name,
            quantity=trade.quantity,
            unit_price=trade.unit_price,
            gross_amount=None if trade.gross is None else Money(trade.gross, currency),
            fees=Money(trade.fees, currency),
            taxes=Money(trade.taxes, currency),
            currency=currency,
            fx_rate=trade.fx_rate,
            description=trade.description,
        )
    )
    return wire


def _json_names(names: Sequence[str]) -> str:
    return msgspec.json.encode(names).decode()


def _waiting(rows: Iterable[Row]) -> list[Waiting]:
    return [Waiting(position, _decode(trade), record_id) for position, trade, record_id in rows]


# -- what brokers call them


def keep_records(tx: WriteTx, account_id: str, records: Sequence[tuple[str, str]]) -> None:
    """Remember the brokers' ids of transactions: pairs of record id and transaction id."""
    tx.run_each(_KEEP_RECORD, [(tx.org_id, account_id, record_id, id_) for record_id, id_ in records])


def records(tx: ReadTx, account_id: str, import_id: str, first: str, last: str) -> dict[str, list[Known]]:
    """The account's transactions of which a row of some days of a file has the record id, by that."""
    by_record: dict[str, list[Known]] = {}
    for record_id, *known in tx.rows(
        _SELECT_RECORDS, account_id=account_id, import_id=import_id, first=first, last=last
    ):
        by_record.setdefault(record_id, []).append(Known(*known))
    return by_record


def forget_records(tx: WriteTx, transaction_ids: Sequence[str]) -> None:
    """Forget the brokers' ids of transactions that go."""
    tx.run_each(_FORGET_RECORD, [(tx.org_id, id_) for id_ in transaction_ids])
