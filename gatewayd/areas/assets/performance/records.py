"""What is read once for all days of a performance: quantities, prices, trades and cash of accounts. Reads only."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final, NamedTuple

import msgspec

from gatewayd.areas.assets.pools.days import Outcome
from gatewayd.areas.assets.pools.exact import quantity_of
from gatewayd.money import exponent
from gatewayd.store import ReadTx

_SELECT_DAYS = """
SELECT d.scope_id, d.instrument_id, d.date, d.outcome FROM asset_days AS d
WHERE d.org_id = :org_id AND d.scope_id = :account_id
"""
_SELECT_DAYS_OF = f"{_SELECT_DAYS} AND d.instrument_id = :instrument_id ORDER BY d.date"
_SELECT_DAYS_ALL = f"{_SELECT_DAYS} ORDER BY d.instrument_id, d.date"
_SELECT_ENTRIES = """
SELECT type, trade_date, instrument_id, from_instrument_id, quantity, gross_amount, net_amount, currency, fx_rate,
    counter_account_id
FROM asset_transactions
WHERE org_id = :org_id AND account_id = :account_id AND trade_date <= :last AND type <> 'reversal'
    AND reversed_by_id IS NULL
ORDER BY trade_date, id
"""
_SELECT_SPLITS = "SELECT splits FROM instruments WHERE org_id = :org_id AND id = :instrument_id"
_SELECT_PRICES = """
SELECT date, price, currency FROM asset_prices
WHERE org_id = :org_id AND instrument_id = :instrument_id AND date <= :last ORDER BY date
"""
_TRADES: Final = frozenset({"buy", "sell"})
_outcome = msgspec.json.Decoder(Outcome).decode


class Subject(NamedTuple):
    """Accounts in one base currency: all that they hold, or one instrument of it; until an ISO date."""

    accounts: frozenset[str]
    base: str
    instrument_id: str | None
    last: str


class Entry(NamedTuple):
    """What of a transaction counts. Amounts are in minor units of its currency, `net` with its effect on cash."""

    type: str
    date: str
    instrument_id: str | None
    from_instrument_id: str | None
    quantity: str | None
    gross: int | None
    net: int
    currency: str
    fx_rate: str
    counter: str | None

    def in_base(self, minor: int) -> Fraction:
        """An amount in major units of the base currency."""
        return Fraction(minor, 10 ** exponent(self.currency)) * Fraction(self.fx_rate)


class Price(NamedTuple):
    """What one unit was worth at the end of an ISO date."""

    date: str
    each: Fraction
    currency: str


class Listed(NamedTuple):
    """An instrument: its splits as JSON, its recorded prices and those of its trades, oldest first."""

    splits: str
    prices: list[Price]
    trades: list[Price]


class Records(NamedTuple):
    """Quantities after each day by account and instrument, instruments by id, and all entries, oldest first."""

    held: Mapping[tuple[str, str], list[tuple[str, Fraction]]]
    listed: Mapping[str, Listed]
    entries: list[Entry]


def read(tx: ReadTx, subject: Subject) -> Records:
    """All that is known of a subject."""
    held: dict[tuple[str, str], list[tuple[str, Fraction]]] = defaultdict(list)
    entries: list[Entry] = []
    sql = _SELECT_DAYS_ALL if subject.instrument_id is None else _SELECT_DAYS_OF
    named = {} if subject.instrument_id is None else {"instrument_id": subject.instrument_id}
    for account_id in sorted(subject.accounts):
        for scope_id, instrument_id, date, text in tx.each(sql, account_id=account_id, **named):
            held[scope_id, instrument_id].append((date, quantity_of(_outcome(text).quantity)))
        rows = tx.rows(_SELECT_ENTRIES, account_id=account_id, last=subject.last)
        entries += [Entry(*row) for row in rows]
    entries.sort(key=lambda entry: entry.date)
    ids = {instrument_id for _, instrument_id in held} | {entry.instrument_id for entry in entries}
    traded = _traded(entries)
    listed = {id_: _listed(tx, id_, subject.last, traded[id_]) for id_ in sorted(filter(None, ids))}
    return Records(held, listed, entries)


def _traded(entries: Iterable[Entry]) -> Mapping[str, list[Price]]:
    """What was paid for one unit, by instrument."""
    by_instrument: dict[str, list[Price]] = defaultdict(list)
    for entry in entries:
        if entry.type in _TRADES and entry.gross is not None and entry.quantity is not None:
            each = Fraction(entry.gross, 10 ** exponent(entry.currency)) / quantity_of(entry.quantity)
            by_instrument[entry.instrument_id or ""].append(Price(entry.date, each, entry.currency))
    return by_instrument


def _listed(tx: ReadTx, instrument_id: str, last: str, trades: list[Price]) -> Listed:
    rows = tx.rows(_SELECT_PRICES, instrument_id=instrument_id, last=last)
    prices = [Price(date, Fraction(each), currency) for date, each, currency in rows]
    return Listed(tx.value(_SELECT_SPLITS, instrument_id=instrument_id) or "[]", prices, trades)
