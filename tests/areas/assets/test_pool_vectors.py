"""The worked examples of Domain C5, as pure computations and as transactions that are recorded."""

import itertools
import random
from fractions import Fraction

import pytest

from gatewayd.areas.assets.pools.computing import NOTHING, Computed, pooled
from gatewayd.areas.assets.pools.days import Day
from gatewayd.areas.assets.pools.exact import COST_UNIT, cost_of, quantity_of
from gatewayd.areas.assets.pools.matching import Split
from tests.areas.assets.holdings import Holdings
from tests.areas.assets.vectors import VECTORS, Entry, Vector

NAMED = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)


def _computed(entries: tuple[Entry, ...]) -> list[tuple[str, Computed]]:
    days: dict[str, Day] = {}
    splits = []
    for entry in entries:
        day = days.setdefault(entry.date, Day(entry.date))
        if entry.type == "split":
            splits.append(Split(entry.date, Fraction(entry.quantity)))
        elif entry.type == "sell":
            day.disposed += quantity_of(entry.quantity)
            day.proceeds += cost_of(entry.gross) - cost_of(entry.fees)
        else:
            day.acquired += quantity_of(entry.quantity)
            day.acquired_cost += cost_of(entry.gross) + cost_of(entry.fees)
    ordered = [days[date] for date in sorted(days)]
    return list(zip(sorted(days), pooled(NOTHING, ordered, splits, ()), strict=True))


def _is_near(cost: Fraction, pounds: str) -> bool:
    """To the penny."""
    return abs(cost - Fraction(pounds)) < Fraction(1, 200)


@NAMED
def test_the_examples_give_their_gains_and_leave_their_pools(vector: Vector) -> None:
    computed = _computed(vector.entries)
    assert {date: one.gain for date, one in computed if one.gain is not None} == vector.gains
    last = computed[-1][1].outcome
    assert quantity_of(last.quantity) == quantity_of(last.pool_quantity) == Fraction(vector.left[0])
    assert _is_near(Fraction(cost_of(last.pool_cost), COST_UNIT), vector.left[1])


@NAMED
def test_recorded_in_any_order_they_give_the_same(vector: Vector, holdings: Holdings) -> None:
    shorts = holdings.new_account(short=True)  # so that a sale may be told before its purchase
    orders = list(itertools.permutations(vector.entries))
    for number, order in enumerate(random.Random(vector.name).sample(orders, min(6, len(orders)))):
        share = holdings.instrument(name=f"{vector.name} {number}")
        for entry in order:
            if entry.type == "split":
                holdings.split(entry.date, int(entry.quantity), account=shorts, instrument=share)
            else:
                holdings.enter(
                    entry.type, entry.date, entry.quantity, entry.gross, fees=entry.fees, account=shorts,
                    instrument=share,
                )  # fmt: skip
        assert holdings.gains(share) == vector.gains, order
        quantity, cost = holdings.pool(share)
        assert quantity == Fraction(vector.left[0])
        assert _is_near(cost, vector.left[1]), order
