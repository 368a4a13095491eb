"""One pool beside each broker's average: each event that makes them differ is named, and all add up."""

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.areas.assets.gains import comparing
from gatewayd.areas.assets.pools import reconciling
from gatewayd.areas.assets.pools.exact import cost_of
from gatewayd.areas.assets.pools.reconciling import Faults
from gatewayd.errors import Problem
from tests.areas.assets.holdings import Holdings
from tests.support.store import MemoryStore

FIRST = datetime.date(2025, 1, 10)
COSTS = "SELECT scope_id, instrument_id, cost FROM asset_holdings"
Told = list[tuple[str, str, str | None, str, str, str]]


def compared(holdings: Holdings, person: str | None = None, instrument: str | None = None) -> Any:
    asked = {"legalEntityId": person or holdings.person, "instrumentId": instrument or holdings.share}
    (found,) = holdings.ask("comparePools", **asked)["data"]
    return found


def told(found: Any) -> Told:
    names = ("date", "kind", "transactionId", "poolCost", "accountCost", "difference")
    return [tuple(day[name] for name in names) for day in found["days"]]


@pytest.fixture
def brokers(holdings: Holdings) -> tuple[str, str]:
    """100 at 10 with one broker, 100 at 20 with another: 15 in the pool."""
    other = holdings.new_account()
    holdings.buy("2025-01-10", 100, "1000")
    holdings.buy("2025-01-10", 100, "2000", account=other)
    return holdings.account, other


def test_a_gift_is_named_on_both_sides(holdings: Holdings, brokers: tuple[str, str]) -> None:
    """50 leave the account at 500, and the pool at 750."""
    spouse = holdings.entity("individual")
    theirs = holdings.new_account(holdings.new_portfolio(spouse))
    out, into = given_away(holdings, "2025-02-01", 50, brokers[0], theirs)
    given_by = compared(holdings)
    assert (given_by["difference"], given_by["earlierDifference"]) == ("250.00", "0.00")
    assert told(given_by) == [("2025-02-01", "gift", out, "750.00", "500.00", "250.00")]
    got = compared(holdings, spouse)
    assert (got["pool"]["cost"], got["difference"], got["earlierDifference"]) == ("750.00", "-250.00", "0.00")
    assert told(got) == [("2025-02-01", "gift", into, "-750.00", "-500.00", "-250.00")]


def test_a_spin_off_is_named_of_both_shares(holdings: Holdings, brokers: tuple[str, str]) -> None:
    """A fifth of 2,000 with the broker; a fifth of half of 3,000 of the pool, for the report is about half of it."""
    new, given = holdings.instrument(), {"from_instrument_id": holdings.share, "cost_share": "0.2"}
    id_ = holdings.enter("spin_off", "2025-03-01", 10, instrument=new, account=brokers[1], **given)
    old = compared(holdings)
    assert (old["pool"]["cost"], old["difference"], old["earlierDifference"]) == ("2700.00", "-100.00", "0.00")
    assert told(old) == [("2025-03-01", "spin_off", id_, "300.00", "400.00", "-100.00")]
    spun = compared(holdings, instrument=new)
    assert told(spun) == [("2025-03-01", "spin_off", id_, "-300.00", "-400.00", "100.00")]
    assert (spun["pool"]["cost"], spun["difference"]) == ("300.00", "100.00")


def test_two_events_of_a_day_stand_apart(holdings: Holdings, brokers: tuple[str, str]) -> None:
    """A sale of 20 with the second broker comes after a merger that took the 100 of the first."""
    new = holdings.instrument()
    id_ = holdings.enter("merger", "2025-03-01", 40, instrument=new, from_instrument_id=holdings.share)
    holdings.sell("2025-03-01", 20, "500", account=brokers[1])
    old = compared(holdings)
    expected = [
        ("2025-03-01", "disposal", None, "300.00", "400.00", "-100.00"),
        ("2025-03-01", "merger", id_, "1500.00", "1000.00", "500.00"),
    ]
    assert (told(old), old["difference"], old["earlierDifference"]) == (expected, "400.00", "0.00")
    assert [match["rule"] for match in old["days"][0]["matches"]] == ["pool"]
    assert told(compared(holdings, instrument=new)) == [
        ("2025-03-01", "merger", id_, "-1500.00", "-1000.00", "-500.00")
    ]


def test_what_was_reversed_or_is_in_a_wrapper_is_no_event(holdings: Holdings, brokers: tuple[str, str]) -> None:
    isa, new = holdings.new_account(wrapper="isa"), holdings.instrument()
    holdings.buy("2025-01-10", 100, "9000", account=isa)
    holdings.enter("merger", "2025-03-01", 40, instrument=new, from_instrument_id=holdings.share, account=isa)
    holdings.reverse(*given_away(holdings, "2025-02-01", 50, brokers[0], None))
    found = compared(holdings)
    assert (found["days"], found["difference"]) == ([], "0.00")


def test_pennies_add_up_whatever_is_rounded(holdings: Holdings, brokers: tuple[str, str]) -> None:
    """Of 3 that cost a penny, beside 3 that cost nothing."""
    share, other = holdings.instrument(), brokers[1]
    holdings.buy("2025-01-10", 3, "0.01", instrument=share)
    holdings.buy("2025-01-10", 3, "0.00", instrument=share, account=other)
    for day in ("2025-02-01", "2025-02-02", "2025-02-03"):
        holdings.sell(day, 1, "1", instrument=share)
    found = compared(holdings, instrument=share)
    # a sixth of a penny of the pool and a third of the account's, each time: -1/6, -2/6, -3/6 of a penny
    assert (found["difference"], found["earlierDifference"]) == ("-0.01", "0.00")
    assert [(day["date"], day["difference"]) for day in found["days"]] == [("2025-02-03", "-0.01")]


def test_what_is_not_shown_is_the_earlier_difference(
    holdings: Holdings, brokers: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 5):
        holdings.sell(f"2025-0{number + 1}-01", 1, "20")
    whole = compared(holdings)
    assert [day["difference"] for day in whole["days"]] == ["5.00"] * 4
    monkeypatch.setattr(comparing, "SHOWN_EVENTS", 3)
    found = compared(holdings)
    assert (found["days"], found["earlierDifference"]) == (whole["days"][1:], "5.00")
    assert found["difference"] == whole["difference"] == "20.00"


# -- at random


class Step(NamedTuple):
    kind: str
    day: int
    account: int
    to: int
    share: int
    quantity: int
    money: int


HALF = Decimal("0.005")
KINDS = ("buy", "buy", "buy", "sell", "sell", "gift", "gift", "move", "merger", "spin_off", "return", "split")
STEPS = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from(KINDS),
        day=st.integers(0, 60),
        account=st.integers(0, 4),
        to=st.integers(0, 4),
        share=st.integers(0, 1),
        quantity=st.integers(1, 30),
        money=st.integers(0, 30_000),
    ),
    min_size=4,
    max_size=30,
)


class Couple:
    """Two people with two accounts each, one more that may be short, and two shares of which each holds some."""

    def __init__(self, holdings: Holdings) -> None:
        self.holdings = holdings
        self.people = [holdings.person, holdings.entity("individual")]
        theirs = holdings.new_portfolio(self.people[1])
        first = [holdings.account, holdings.new_account(), holdings.new_account(short=True)]
        self.accounts = [*first, holdings.new_account(theirs), holdings.new_account(theirs)]
        self.shares = [holdings.share, holdings.instrument()]
        self.owners = [0, 0, 0, 1, 1]
        for number, account in enumerate(self.accounts):
            for share in self.shares:
                holdings.buy(FIRST.isoformat(), 30, f"{100 + 37 * number}.01", account=account, instrument=share)

    def take(self, step: Step) -> None:
        """Do a step, if it is not refused."""
        try:
            self._take(step)
        except Problem as problem:
            if problem.code not in ("insufficient_quantity", "validation_failed"):
                raise

    def _take(self, step: Step) -> None:
        date = (FIRST + datetime.timedelta(days=step.day)).isoformat()
        pounds = f"{step.money // 100}.{step.money % 100:02}"
        share, other = self.shares[step.share], self.shares[1 - step.share]
        given = {"instrument": share, "account": self.accounts[step.account]}
        if step.kind in ("buy", "sell"):
            self.holdings.enter(step.kind, date, step.quantity, pounds, **given)
        elif step.kind == "return":
            self.holdings.enter("return_of_capital", date, gross=pounds, **given)
        elif step.kind == "split":
            self.holdings.split(date, 3, 2, **given)
        elif step.kind == "merger":
            part = {"from_instrument_id": other, "from_quantity": str(step.quantity)}
            self.holdings.enter("merger", date, step.quantity, **part, **given)
        elif step.kind == "spin_off":
            part = {"from_instrument_id": other, "cost_share": f"0.{step.money % 100:02}"}
            self.holdings.enter("spin_off", date, step.quantity, **part, **given)
        elif step.account != step.to and (step.kind == "gift") == (self.owners[step.account] != self.owners[step.to]):
            receiver, spouse = self.accounts[step.to], step.kind == "gift"
            self.holdings.transfer(
                date, step.quantity, given["account"], receiver, instrument=share, spouse_transfer=spouse
            )

    def exact(self, person: int, share: str) -> int:
        """The accounts' costs less the pool's, in 1e-20 pounds, as holdings are stored."""
        rows = self.holdings.store.connection.execute(COSTS).fetchall()
        cost = {scope: cost_of(str(cost)) for scope, instrument, cost in rows if instrument == share}
        mine = [one for one, owner in zip(self.accounts, self.owners, strict=True) if owner == person]
        return sum(cost.get(one, 0) for one in mine) - cost.get(self.people[person], 0)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_events_add_up_to_the_difference(steps: list[Step], fresh_store: Callable[[], MemoryStore]) -> None:
    store = fresh_store()
    couple = Couple(Holdings(store))
    for step in steps:
        couple.take(step)
    read = couple.holdings.store.read
    assert read(lambda tx: reconciling.faults(tx, "", 10), couple.holdings.org_id) == Faults([], [], None)
    for person in range(2):
        for share in couple.shares:
            asked = {"legalEntityId": couple.people[person], "instrumentId": share}
            for found in couple.holdings.ask("comparePools", **asked)["data"]:
                parts = [Decimal(day["difference"]) for day in found["days"]]
                assert sum(parts, Decimal(found["earlierDifference"])) == Decimal(found["difference"])
                assert abs(Decimal(found["difference"]) - Decimal(couple.exact(person, share)).scaleb(-20)) <= HALF
                assert found["earlierDifference"] == "0.00"
                for day in found["days"]:
                    assert Decimal(day["poolCost"]) - Decimal(day["accountCost"]) == Decimal(day["difference"])
                    assert (day["transactionId"] is None) == (day["kind"] in ("disposal", "adjustment"))
    store.close()


def given_away(holdings: Holdings, date: str, quantity: int, account: str, to: str | None) -> list[str]:
    """A gift to a spouse whose account is kept here, or to one whose is not."""
    if to is not None:
        return holdings.transfer(date, quantity, account, to, spouse_transfer=True)
    return [holdings.enter("transfer_out", date, quantity, account=account, spouse_transfer=True)]
