"""What always holds of positions, whatever was bought and sold: accounts add up to the whole, totals to positions."""

from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.clock import DAY
from tests.areas.accounting.books import Json
from tests.areas.assets.test_positions import Shareholder
from tests.support.store import MemoryStore

DAYS = ("2026-03-02", "2026-04-05", "2026-04-06", "2026-04-20", "2026-05-01", "2026-11-20")
ACCOUNTS = ("first", "second", "isa")
TWO_FOR_ONE = {"numerator": 2, "denominator": 1}

trades = st.lists(
    st.tuples(
        st.sampled_from(DAYS),
        st.sampled_from(ACCOUNTS),
        st.integers(-60, 100).filter(bool),  # below 0: sold
        st.integers(1, 100_000),
    ),
    min_size=1,
    max_size=8,
)


def enter(holder: Shareholder, history: list[tuple[str, str, int, int]]) -> dict[str, int]:
    """Enter what can be: nothing is sold that is not held. Answers what each account holds."""
    held = dict.fromkeys(ACCOUNTS, 0)
    for day, account, quantity, pence in sorted(history, key=lambda trade: trade[0]):
        if held[account] + quantity < 0:
            continue
        held[account] += quantity
        kind = "buy" if quantity > 0 else "sell"
        holder.trade(kind, day, str(abs(quantity)), f"{pence / 100:.2f}", getattr(holder, account))
    return held


def total(positions: list[Json], field: str) -> Decimal:
    return sum((Decimal(one[field]) for one in positions), Decimal(0))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=trades)
def test_accounts_add_up_to_the_whole(database_image: bytes, history: list[tuple[str, str, int, int]]) -> None:
    holder = Shareholder(MemoryStore(database_image))
    held = enter(holder, history)
    holder.price("1.37", "2026-11-20")
    for method in ("section_104", "average_cost", "fifo"):
        asked = f"method={method}&includeClosed=true"
        whole = holder.positions(f"portfolioId={holder.portfolio_id}&{asked}")
        parts = [one for name in ACCOUNTS for one in holder.positions(f"accountId={getattr(holder, name)}&{asked}")]
        assert total(whole, "quantity") == total(parts, "quantity") == sum(held.values())
        # each part is rounded by itself
        assert abs(total(whole, "costBasisBase") - total(parts, "costBasisBase")) <= Decimal("0.01")
        assert total(whole, "marketValueBase") == total(parts, "marketValueBase")
        for one in [*whole, *parts]:
            gain = Decimal(one["marketValueBase"]) - Decimal(one["costBasisBase"])
            assert Decimal(one["unrealisedGain"]) == gain
            if one["quantity"] == "0":
                assert (one["costBasisBase"], one["averageCost"]) == ("0.00", None)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=trades)
def test_totals_are_those_of_the_positions(database_image: bytes, history: list[tuple[str, str, int, int]]) -> None:
    holder = Shareholder(MemoryStore(database_image))
    held = enter(holder, history)
    holder.price("1.37", "2026-11-20")
    for day in DAYS:
        query = f"&asOfDate={day}"
        positions = holder.positions(f"portfolioId={holder.portfolio_id}{query}")
        totals = holder.one("getPortfolio", f"id={holder.portfolio_id}{query}")["totals"]
        assert Decimal(totals["cost"]) == total(positions, "costBasisBase")
        assert all(one["quantity"] != "0" for one in positions)
        in_accounts = [holder.one("getAccount", f"id={getattr(holder, name)}{query}") for name in ACCOUNTS]
        assert Decimal(totals["cash"]) == total(in_accounts, "cashBalance")
        assert (totals["value"] is None) == any(one["value"] is None for one in in_accounts)
        assert Decimal(totals["priced"]["value"]) == total([one["totals"]["priced"] for one in in_accounts], "value")
    assert bool(positions) == any(held.values())


happenings = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 5, 29, 30, 31, 45]),  # days since the one before
        st.sampled_from(["buy", "buy", "sell", "sell", "split"]),
        st.integers(1, 60),
        st.integers(1, 100_000),
        st.sampled_from(["first", "isa", "short"]),
    ),
    min_size=1,
    max_size=7,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=happenings)
def test_a_day_looks_for_ever_as_it_looked_then(
    database_image: bytes, history: list[tuple[int, str, int, int, str]]
) -> None:
    """Whatever comes after it: acquisitions that disposals are matched with, covered short positions, splits."""
    store = MemoryStore(database_image)
    holder = Shareholder(store)
    accounts = {"first": holder.first, "isa": holder.isa}
    accounts["short"] = holder.account(holder.portfolio_id, allowShort=True)["id"]
    held = dict.fromkeys(accounts, 0)
    seen: dict[str, Any] = {}

    def look(day: str) -> list[Any]:
        methods = ("section_104", "average_cost", "fifo")
        asked = f"portfolioId={holder.portfolio_id}&includeClosed=true&asOfDate={day}"
        found: list[Any] = [holder.positions(f"{asked}&method={method}") for method in methods]
        return [*found, holder.one("getPortfolio", f"id={holder.portfolio_id}&asOfDate={day}")["totals"]]

    for gap, kind, quantity, pence, name in history:
        store.clock.advance(gap * DAY)
        today = store.read(lambda tx: tx.today)
        if kind == "split":
            if gap < 29:  # one so near to another would be the same
                continue
            holder.enter(accounts[name], kind, today, instrumentId=holder.share, splitRatio=TWO_FOR_ONE)
            held = {one: 2 * units for one, units in held.items()}
        elif kind == "buy" or name == "short" or held[name] >= quantity:
            held[name] += quantity if kind == "buy" else -quantity
            holder.trade(kind, today, str(quantity), f"{pence / 100:.2f}", accounts[name])
        seen[today] = look(today)
    for day, then in seen.items():
        assert look(day) == then, day
    store.close()
