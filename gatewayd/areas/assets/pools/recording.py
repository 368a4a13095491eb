"""Transactions enter the holdings they concern, or are taken out of them again, in one transaction (decision 0022).

Days, holdings, cash and sums of income are whole when this returns. A holding to which a transfer, a spin-off or a
merger carries cost is computed after the one from which it comes: by date, until nothing differs any more.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.assets.books.transactions import AssetTransaction
from gatewayd.areas.assets.pools import cash, contributions, holding_rows, income_years, reading, scopes, splits
from gatewayd.areas.assets.pools.computing import Computed
from gatewayd.areas.assets.pools.days import Day, arriving
from gatewayd.areas.assets.pools.exact import quantity_of, quantity_text
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.areas.assets.pools.recomputing import Changes, Shift, recompute
from gatewayd.areas.assets.pools.scopes import Concerned, Scope
from gatewayd.errors import Problem, invalid_field
from gatewayd.ledger.calendar import period_locks
from gatewayd.store import WriteTx

ROUNDS: Final = 8  # Chosen: a day that differs again so often depends on itself
_SELLING: Final = frozenset({"sell", "transfer_out", "merger"})


def record(tx: WriteTx, rows: Sequence[AssetTransaction]) -> None:
    """Enter stored transactions: any number, of any instruments, each once.

    Raises `Problem` `insufficient_quantity` where an account that may not be short would hold less than nothing at the
    end of any day; `transactionId` names the first row at fault. `validation_failed`: two splits of one day differ, or
    transfers go in a circle. `period_closed`: a split is of a closed day of somebody who held it.
    """
    waiting: list[AssetTransaction] = []
    for row in sorted(rows, key=lambda row: (row.trade_date, row.id)):
        if (field := contributions.unmeasured(row)) is not None:
            _enter_rows(tx, waiting, 1)  # what is held by then
            waiting = []
            row = replace(row, **{field: _all_held(tx, row)})
        waiting.append(row)
    _enter_rows(tx, waiting, 1)
    cash.add(tx, rows, 1)
    income_years.add(tx, rows, 1)


def take_back(tx: WriteTx, rows: Sequence[AssetTransaction]) -> None:
    """Take out what recorded transactions brought, as if they had never been. Raises as `record` does."""
    _enter_rows(tx, sorted(rows, key=lambda row: (row.trade_date, row.id)), -1)
    cash.add(tx, rows, -1)
    income_years.add(tx, rows, -1)


def _all_held(tx: WriteTx, row: AssetTransaction) -> str:
    """All that the account holds, at the end of the day, of what the row is about; of two instruments, of the old one.

    A spin-off is about the original shares (TCGA 1992 s126): what the day sold is of them, and what it bought is not,
    unless there are no others.
    """
    instrument_id = row.from_instrument_id or row.instrument_id or ""
    held = reading.quantity_held(tx, row.account_id, instrument_id, row.trade_date)
    if row.type == "spin_off":
        original = held - reading.traded(tx, Key(row.account_id, instrument_id), row.trade_date)
        held = original if original > 0 else held
    return quantity_text(held)


@dataclass(slots=True)
class Pending:
    """Holdings that are to be computed anew, with what their days get."""

    scope_of: dict[str, Scope] = field(default_factory=dict)
    changes: dict[Key, Changes] = field(default_factory=lambda: defaultdict(dict))

    def add(self, scope: Scope, instrument_id: str, day: Day, sign: int = 1) -> None:
        self.scope_of[scope.id] = scope
        days = self.changes[Key(scope.id, instrument_id)]
        days.setdefault(day.date, Day(day.date)).add(day, sign)

    def pop(self) -> tuple[Key, Changes]:
        """The holding with the earliest change; of a day, one that cost leaves goes before one that it may come to."""

        def order(key: Key) -> tuple[str, bool]:
            days = self.changes[key]
            first = min(days)
            return first, not (days[first].leaving or days[first].staying)

        key = min(self.changes, key=order)
        return key, self.changes.pop(key)


def _enter_rows(tx: WriteTx, rows: Sequence[AssetTransaction], sign: int) -> None:
    known: dict[str, Concerned] = {}

    def concerned(account_id: str) -> Concerned:
        if account_id not in known:
            known[account_id] = scopes.concerned(tx, account_id)
        return known[account_id]

    pending = Pending()
    for row in rows:
        for contribution in contributions.contributions(row, concerned(row.account_id), concerned):
            pending.add(contribution.scope, contribution.instrument_id, contribution.day, sign)
    _retell_splits(tx, rows, sign, pending)
    settle(tx, pending, rows)


def _retell_splits(tx: WriteTx, rows: Iterable[AssetTransaction], sign: int, pending: Pending) -> None:
    told = [row for row in rows if row.type == "split" and row.instrument_id is not None]
    without = [row.id for row in told] if sign < 0 else []
    for instrument_id in sorted({row.instrument_id or "" for row in told}):
        dates = splits.retell(tx, instrument_id, without)
        if not dates:
            continue
        for scope in holding_rows.holders(tx, instrument_id):
            _refuse_closed(tx, scope, instrument_id, dates)
            known = scope if scope.is_pool else scopes.concerned(tx, scope.id).account
            pending.add(known, instrument_id, Day(dates[0]))


def _refuse_closed(tx: WriteTx, holder: Scope, instrument_id: str, dates: Iterable[str]) -> None:
    """Refuse a split where a holder's books are closed on its day: it is one for all who held it then."""
    for date in dates:
        if reading.is_restated(tx, Key(holder.id, instrument_id), date):
            period_locks.refuse_closed(tx, holder.legal_entity_id, date)


def settle(tx: WriteTx, pending: Pending, rows: Sequence[AssetTransaction]) -> None:
    rounds: Counter[tuple[Key, str]] = Counter()
    while pending.changes:
        key, changes = pending.pop()
        scope = pending.scope_of[key.scope_id]
        rounds[key, min(changes)] += 1
        if rounds[key, min(changes)] > ROUNDS:
            raise invalid_field(
                "counterAccountId", "conflict", f"What is transferred around {min(changes)} goes in a circle."
            )
        done = recompute(tx, scope, key.instrument_id, changes)
        if rows and not scope.is_pool:  # without any nothing is sold that was not
            _refuse_short(scope, key, done.days, rows)
        for shift in done.shifts:
            _pass_on(tx, pending, scope, shift)


def _pass_on(tx: WriteTx, pending: Pending, giver: Scope, shift: Shift) -> None:
    """Let the holding that cost goes to take over what has become more."""
    to_scope, instrument_id = shift.leaving.to_scope or "", shift.leaving.to_instrument or ""
    scope = pending.scope_of.get(to_scope)
    if scope is None:
        scope = scopes.pool_of(to_scope) if giver.is_pool else scopes.concerned(tx, to_scope).account
    day = arriving(shift.date, shift.leaving.kind, shift.cost, shift.lot_cost, pooled=scope.is_pool)
    pending.add(scope, instrument_id, day)


def _refuse_short(
    scope: Scope, key: Key, days: Sequence[tuple[Day, Computed]], rows: Sequence[AssetTransaction]
) -> None:
    """Chosen: what is short cannot be handed on, whatever the account allows."""
    for day, computed in days:
        if computed.outcome.quantity.startswith("-") and (not scope.allow_short or day.departed or day.passed):
            raise _insufficient(key, day, computed, rows)


def _insufficient(key: Key, day: Day, computed: Computed, rows: Sequence[AssetTransaction]) -> Problem:
    outgoing = day.disposed + day.passed + day.departed
    held = quantity_of(computed.outcome.quantity) + outgoing
    named = [row for row in rows if key.instrument_id in (row.instrument_id, row.from_instrument_id)]
    named = [row for row in named if row.account_id == key.scope_id] or named or list(rows)
    selling = [row for row in named if row.type in _SELLING and row.trade_date <= day.date]
    at_fault = selling[-1] if selling else named[0]
    return Problem(
        "insufficient_quantity",
        f"The account {key.scope_id} holds {quantity_text(held)} of {key.instrument_id} on {day.date}, and "
        f"{quantity_text(outgoing)} would leave.",
        extra={
            "accountId": key.scope_id,
            "instrumentId": key.instrument_id,
            "date": day.date,
            "held": quantity_text(held),
            "asked": quantity_text(outgoing),
            "transactionId": at_fault.id,
        },
    )
