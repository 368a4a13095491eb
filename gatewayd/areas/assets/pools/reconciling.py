"""Whether what is stored of holdings is what transactions bring and what follows from it; and making it so.

Days and splits are computed anew from all transactions of an instrument, and what follows from the first day on. What a
migration has marked is done as the daemon starts: all of an organization in one transaction, since what one holding
carries to another would meet days that are still wrong. After a kill the organization is done once more. Owns the
tables `asset_holdings_to_compute` and `asset_instruments_to_enter`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as changed
from functools import cache, partial
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.assets.books.transactions import TRANSACTIONS, AssetTransaction
from gatewayd.areas.assets.pools import holding_rows, reading, scopes, splits
from gatewayd.areas.assets.pools.computing import NOTHING
from gatewayd.areas.assets.pools.contributions import contributions, unmeasured
from gatewayd.areas.assets.pools.days import Day, arriving, read_day
from gatewayd.areas.assets.pools.exact import cost_of
from gatewayd.areas.assets.pools.holding_rows import Key, StoredDay, StoredHolding
from gatewayd.areas.assets.pools.reading import Range
from gatewayd.areas.assets.pools.recomputing import Window, compute
from gatewayd.areas.assets.pools.recording import Pending, settle
from gatewayd.areas.assets.pools.scopes import Scope
from gatewayd.ledger.calendar import period_locks
from gatewayd.store import ReadTx, WriteTx

_SELECT_INSTRUMENTS = "SELECT id FROM instruments WHERE org_id = :org_id AND id > :after ORDER BY id LIMIT :count"
_HOLDS = "reversed_by_id IS NULL AND reverses_transaction_id IS NULL"
_SELECT_OF = f"{TRANSACTIONS.select} AND instrument_id = :instrument_id AND {_HOLDS}"
_SELECT_FROM = f"""
{TRANSACTIONS.select} AND type IN ('merger', 'spin_off') AND from_instrument_id = :instrument_id AND {_HOLDS}
"""
BEFORE_ALL: Final = Key("", "")
_NEVER: Final = ""
_SELECT_OUTDATED_ANY_ORG = """
SELECT org_id FROM asset_holdings_to_compute UNION SELECT org_id FROM asset_instruments_to_enter ORDER BY org_id
"""
_SELECT_TO_COMPUTE = """
SELECT scope_id, instrument_id FROM asset_holdings_to_compute WHERE org_id = :org_id ORDER BY scope_id, instrument_id
"""
_SELECT_TO_ENTER = "SELECT instrument_id FROM asset_instruments_to_enter WHERE org_id = :org_id ORDER BY instrument_id"
_SELECT_POOLS = """
SELECT DISTINCT scope_id FROM asset_holdings WHERE org_id = :org_id AND portfolio_id IS NULL ORDER BY scope_id
"""
_DELETE_TO_COMPUTE = "DELETE FROM asset_holdings_to_compute WHERE org_id = :org_id"
_DELETE_TO_ENTER = "DELETE FROM asset_instruments_to_enter WHERE org_id = :org_id"


# -- what transactions bring


class DayFault(NamedTuple):
    """A day of a holding that has something else than its transactions bring. Both equal: the holding is missing."""

    scope: Scope
    key: Key
    stored: Day
    expected: Day


class Faults(NamedTuple):
    """What is wrong of some instruments: days of holdings, and whose splits are others than those that were told."""

    days: list[DayFault]
    splits: list[str]
    last: str | None  # of these instruments; None: there are no more


def faults(tx: ReadTx, after: str, count: int) -> Faults:
    """What is wrong of the next `count` instruments behind one of the organization."""
    ids = [row[0] for row in tx.rows(_SELECT_INSTRUMENTS, after=after, count=count)]
    days = [fault for id_ in ids for fault in _of_instrument(tx, id_)]
    untold = [id_ for id_ in ids if splits.differ(tx, id_)]
    return Faults(days, untold, ids[-1] if len(ids) == count else None)


def faults_of(tx: ReadTx, instrument_id: str) -> Faults:
    """What is wrong of one instrument."""
    untold = [instrument_id] if splits.differ(tx, instrument_id) else []
    return Faults(list(_of_instrument(tx, instrument_id)), untold, None)


@dataclass(slots=True)
class _Expected:
    """What transactions bring to the holdings of an instrument."""

    scope_of: dict[Key, Scope] = field(default_factory=dict)
    days: dict[Key, dict[str, Day]] = field(default_factory=lambda: defaultdict(dict))
    givers: set[tuple[Key, str]] = field(default_factory=set)  # days of other instruments from which cost comes
    unmeasured: set[str] = field(default_factory=set)  # whose quantity is what was held as they were entered

    def add(self, key: Key, day: Day) -> None:
        self.days[key].setdefault(day.date, Day(day.date)).add(day)


def _of_instrument(tx: ReadTx, instrument_id: str) -> Iterator[DayFault]:
    expected = _expected(tx, instrument_id)
    held = {Key(scope.id, instrument_id): scope for scope in holding_rows.holders(tx, instrument_id)}
    scope_of = {**held, **expected.scope_of}
    stored = {key: {day.date: day for day in holding_rows.days_since(tx, key, "")} for key in scope_of}
    _add_carried(expected, scope_of, (day for days in stored.values() for day in days.values()), instrument_id)
    for giver, date in expected.givers:
        days = [day for day in holding_rows.days_between(tx, giver, date, date) if day.date == date]
        _add_carried(expected, scope_of, days, instrument_id)
    for key, scope in scope_of.items():
        yield from _differing(scope, key, stored[key], expected)
        if key not in held and stored[key]:
            day = read_day(*next((date, day.inputs) for date, day in stored[key].items()))
            yield DayFault(scope, key, day, day)


def _expected(tx: ReadTx, instrument_id: str) -> _Expected:
    expected = _Expected()
    concerned = cache(partial(scopes.concerned, tx))
    for row in _transactions(tx, instrument_id):
        if unmeasured(row) is not None:
            expected.unmeasured.add(row.id)
        for contribution in contributions(row, concerned(row.account_id), concerned):
            if contribution.instrument_id == instrument_id:
                key = Key(contribution.scope.id, instrument_id)
                expected.scope_of[key] = contribution.scope
                expected.add(key, contribution.day)
                if row.from_instrument_id is not None and row.instrument_id == instrument_id:
                    expected.givers.add((Key(contribution.scope.id, row.from_instrument_id), row.trade_date))
    return expected


def _transactions(tx: ReadTx, instrument_id: str) -> Iterator[AssetTransaction]:
    for sql in (_SELECT_OF, _SELECT_FROM):
        for values in tx.each(sql, instrument_id=instrument_id):
            yield TRANSACTIONS.read(tx, values)


def _add_carried(
    expected: _Expected, scope_of: Mapping[Key, Scope], givers: Iterable[StoredDay], instrument_id: str
) -> None:
    """What these days carry to the instrument, as they are stored."""
    for day in givers:
        for leaving, carried in zip(day.inputs.leaving, day.outcome.carried, strict=True):
            key = Key(leaving.to_scope or "", leaving.to_instrument or "")
            if key.instrument_id == instrument_id and key in scope_of:
                costs = cost_of(carried.cost), cost_of(carried.lot_cost)
                expected.add(key, arriving(day.date, leaving.kind, *costs, pooled=scope_of[key].is_pool))


def _differing(scope: Scope, key: Key, stored: Mapping[str, StoredDay], expected: _Expected) -> Iterator[DayFault]:
    wanted = expected.days[key]
    for date in sorted({*stored, *wanted}):
        has = read_day(date, stored[date].inputs) if date in stored else Day(date)
        wants = _measured(wanted.get(date, Day(date)), has, expected.unmeasured)
        if has != wants:
            yield DayFault(scope, key, has, wants)


def _measured(day: Day, stored: Day, of: set[str]) -> Day:
    """The day of the transactions, with the quantities that only the stored day knows."""
    known = {
        departure.transaction_id: departure.quantity for departure in stored.leaving if departure.transaction_id in of
    }
    known |= {
        distribution.transaction_id: distribution.quantity
        for distribution in stored.distributions
        if distribution.transaction_id in of
    }
    leaving = [
        replace(departure, quantity=known.get(departure.transaction_id, departure.quantity))
        for departure in day.leaving
    ]
    paid = [
        replace(distribution, quantity=known.get(distribution.transaction_id, distribution.quantity))
        for distribution in day.distributions
    ]
    return changed(day, leaving=leaving, distributions=paid)


# -- what follows from the days


class Stale(NamedTuple):
    """A holding that is not what its days say. `since` is the first day that differs; "": only what is left does."""

    key: Key
    since: str


def stale(tx: ReadTx, after: Key, count: int) -> tuple[list[Stale], Key | None]:
    """What is stale of the next holdings behind one of the organization, and the last of them; None: that was all."""
    holdings = holding_rows.following(tx, after, count)
    stale_holdings = [Stale(holding.key, since) for holding in holdings if (since := _differs(tx, holding)) is not None]
    return stale_holdings, holdings[-1].key if len(holdings) == count else None


def _differs(tx: ReadTx, holding: StoredHolding) -> str | None:
    """The first day that differs; None: none does."""
    key = holding.key
    stored = holding_rows.days_since(tx, key, _NEVER)
    if not stored:
        return _NEVER
    facts = splits.of_instrument(tx, key.instrument_id)
    days = [read_day(day.date, day.inputs) for day in stored]
    window = Window(days[0].date, NOTHING, [], stored)
    computed = compute(tx, holding.scope, key, window, days, facts)
    for day, result in zip(stored, computed, strict=True):
        if (day.outcome, day.gain, day.lot_gain) != (result.outcome, result.gain, result.lot_gain):
            return day.date
    last = computed[-1].outcome
    left = holding_rows.left_after((days[-1].date, last), holding_rows.quantity_after(last, days[-1].date, facts))
    return None if left == holding.left else _NEVER


# -- made so


def compute_anew(tx: WriteTx, keys: Iterable[Key]) -> None:
    """Compute all days of holdings anew from what transactions bring, which stays as it is stored.

    Raises `Problem` `validation_failed` for transfers that go in a circle.
    """
    pending = Pending()
    for key in keys:
        scope = next(
            (holder for holder in holding_rows.holders(tx, key.instrument_id) if holder.id == key.scope_id), None
        )
        if scope is not None:
            pending.add(scope, key.instrument_id, Day(holding_rows.days_since(tx, key, "")[0].date))
    settle(tx, pending, ())


def enter_anew(tx: WriteTx, faults: Faults) -> None:
    """Make days and splits what the transactions bring, and compute what follows. Raises as `compute_anew`."""
    pending = Pending()
    for fault in faults.days:
        pending.add(fault.scope, fault.key.instrument_id, fault.expected)
        pending.add(fault.scope, fault.key.instrument_id, fault.stored, -1)
    for instrument_id in faults.splits:
        dates = splits.retell(tx, instrument_id)
        for scope in holding_rows.holders(tx, instrument_id):
            pending.add(scope, instrument_id, Day(dates[0]))
    settle(tx, pending, ())


# -- what a migration has marked


class ClosedGain(NamedTuple):
    """A gain of a closed day that has changed. In minor units of pounds; None: there is none."""

    legal_entity_id: str
    instrument_id: str
    date: str
    before: int | None
    after: int | None


class Done(NamedTuple):
    """How many holdings and instruments were done, and which gains changed on closed days."""

    holdings: int
    instruments: int
    closed: list[ClosedGain]


def organizations_outdated(tx: ReadTx) -> list[str]:
    """The organizations of which a migration has marked any."""
    return [row[0] for row in tx.rows(_SELECT_OUTDATED_ANY_ORG)]


def compute_outdated(tx: WriteTx) -> Done:
    """Do what is marked in the organization. Raises `Problem` as `compute_anew`."""
    before = _closed_gains(tx)
    instruments = [row[0] for row in tx.rows(_SELECT_TO_ENTER)]
    for instrument_id in instruments:
        enter_anew(tx, faults_of(tx, instrument_id))
    marked = [Key(scope_id, instrument_id) for scope_id, instrument_id in tx.rows(_SELECT_TO_COMPUTE)]
    compute_anew(tx, marked)
    tx.run(_DELETE_TO_COMPUTE)
    tx.run(_DELETE_TO_ENTER)
    after = _closed_gains(tx)
    changed = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    closed = [ClosedGain(*key, before.get(key), after.get(key)) for key in changed]
    return Done(len(marked), len(instruments), closed)


def _closed_gains(tx: ReadTx) -> dict[tuple[str, str, str], int | None]:
    """The gains of closed days, by legal entity, instrument and date. A person's pool has the person's id."""
    return {
        (id_, instrument_id, day.date): day.gain
        for (id_,) in tx.rows(_SELECT_POOLS)
        for closed in period_locks.closed_ranges(tx, id_, overrides=False)
        for instrument_id, day in reading.disposals(tx, id_, Range(*closed))
    }
