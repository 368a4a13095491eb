"""Histories at random, entered in any order: what is stored is what Domain C5 says of the whole."""

import datetime
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.areas.assets.books.instruments import Ratio
from gatewayd.areas.assets.books.transactions import TRANSACTIONS
from gatewayd.areas.assets.pools import recording
from gatewayd.areas.assets.pools.exact import cost_of, quantity_of
from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.areas.assets.holdings import Holdings
from tests.areas.assets.pool_oracle import Cut, Event, books, restate, section_104
from tests.support.store import MemoryStore

FreshStore = Callable[[], MemoryStore]
FIRST = datetime.date(2025, 1, 1)
NEAR = Fraction(1, 10**12)  # costs are cut at 20 places, once for each part


class Step(NamedTuple):
    """What one step of a history does; `back` reverses an earlier step instead."""

    kind: str
    day: int
    account: int
    to: int
    quantity: int
    money: int
    back: bool


STEPS = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from(
            ["buy", "buy", "buy", "sell", "sell", "sell", "split", "rights", "raise", "lower", "move", "move"]
        ),
        day=st.integers(0, 75),
        account=st.integers(0, 3),
        to=st.integers(0, 3),
        quantity=st.integers(1, 40),
        money=st.integers(0, 50_000),
        back=st.integers(0, 5).map(lambda n: n == 0),
    ),
    min_size=1,
    max_size=24,
)
RATIOS = (Ratio(numerator=2, denominator=1), Ratio(numerator=3, denominator=2), Ratio(numerator=1, denominator=2))


class History:
    """One instrument in two accounts without a wrapper, one with, and one that may be short; and what was entered."""

    def __init__(self, holdings: Holdings) -> None:
        self.holdings = holdings
        self.accounts = [
            holdings.account,
            holdings.new_account(),
            holdings.new_account(wrapper="isa"),
            holdings.new_account(short=True),
        ]
        self.entered: list[tuple[list[str], list[Event], list[Cut]]] = []

    def take(self, step: Step) -> None:
        """Do a step, if it is not refused."""
        before = list(self.entered)
        try:
            if step.back and self.entered:
                ids, _, _ = self.entered.pop(step.quantity % len(self.entered))
                self.holdings.reverse(*ids)
            else:
                self.entered.append(self._enter(step))
        except Problem as problem:
            if problem.code not in ("insufficient_quantity", "validation_failed"):
                raise
            self.entered = before

    def _enter(self, step: Step) -> tuple[list[str], list[Event], list[Cut]]:
        date, account = (FIRST + datetime.timedelta(days=step.day)).isoformat(), self.accounts[step.account]
        quantity, money = Fraction(step.quantity), Fraction(step.money, 100)
        pounds = f"{step.money // 100}.{step.money % 100:02}"
        given: dict[str, Any] = {"account": account}
        if step.kind == "split":
            ratio = RATIOS[step.quantity % len(RATIOS)]
            id_ = self.holdings.split(date, ratio.numerator, ratio.denominator, **given)
            return [id_], [], [Cut(date, Fraction(ratio.numerator, ratio.denominator))]
        if step.kind == "move":
            return self._move(date, step, pounds)
        types = {
            "buy": ("buy", "acquire", money, quantity),
            "sell": ("sell", "dispose", money, quantity),
            "rights": ("rights_issue", "add", money, quantity),
            "raise": ("notional_distribution", "adjust", money, Fraction(0)),
            "lower": ("return_of_capital", "adjust", -money, Fraction(0)),
        }
        type_, kind, amount, units = types[step.kind]
        if step.account == 3 and kind == "adjust":
            type_, kind, amount, units = types["buy"]
        id_ = self.holdings.enter(type_, date, step.quantity if units else None, pounds, **given)
        return [id_], [Event(kind, date, account, units, amount)], []

    def _move(self, date: str, step: Step, pounds: str) -> tuple[list[str], list[Event], list[Cut]]:
        """Between accounts without a wrapper at cost; into one and out of one at market value."""
        sender, receiver = self.accounts[step.account % 3], self.accounts[step.to % 3]
        if sender == receiver:
            sender, receiver = self.accounts[0], self.accounts[1]
        ids = self.holdings.transfer(date, step.quantity, sender, receiver, gross=pounds)
        quantity, money = Fraction(step.quantity), Fraction(step.money, 100)
        if self.accounts[2] in (sender, receiver):
            events = [
                Event("dispose", date, sender, quantity, money),
                Event("acquire", date, receiver, quantity, money),
            ]
            return ids, events, []
        return ids, [Event("move", date, sender, quantity, to=receiver)], []

    # -- what was entered

    def events(self) -> list[Event]:
        return [event for _, events, _ in self.entered for event in events]

    def cuts(self) -> list[Cut]:
        """The splits, told by the first of those that may be the same."""
        told = sorted((ids[0], cut) for ids, _, cuts in self.entered for cut in cuts)
        facts: list[Cut] = []
        for _, cut in told:
            if not any(cut.ratio == one.ratio and abs(_days(cut.date, one.date)) <= 7 for one in facts):
                facts.append(cut)
        return facts

    def check(self) -> None:
        events, cuts = self.events(), self.cuts()
        pooled = [event for event in events if event.account != self.accounts[2] and event.kind != "move"]
        expected = section_104(pooled, cuts)
        assert self.holdings.gains() == expected.gains
        quantity, cost = self.holdings.pool()
        assert quantity == expected.quantity
        assert abs(cost - expected.cost) < NEAR
        never_short = [event for event in events if event.account != self.accounts[3]]
        for account, book in books(never_short, cuts).items():
            self._check_account(account, book, cuts)
        shorts = section_104([event for event in events if event.account == self.accounts[3]], cuts, window=-1)
        assert self.holdings.gains(scope=self.accounts[3]) == shorts.gains
        assert self.holdings.pool(scope=self.accounts[3])[0] == shorts.quantity

    def _check_account(self, account: str, book: Any, cuts: list[Cut]) -> None:
        held = self.holdings.holding("quantity, cost, fifo_cost", scope=account)
        quantity, cost, lot_cost = held or ("0", "0", "0")
        assert quantity_of(quantity) == book.heap.quantity * restate("9999-12-31", cuts)
        assert abs(Fraction(cost_of(cost), 10**20) - book.heap.money) < NEAR
        assert abs(Fraction(cost_of(lot_cost), 10**20) - book.lot_cost()) < NEAR
        assert self.holdings.gains(scope=account) == book.gains
        assert self.holdings.gains(scope=account, column="fifo_gain") == book.lot_gains

    def at_once(self) -> None:
        """Take everything back, and enter it anew in one go."""
        ids = [id_ for group, _, _ in self.entered for id_ in group]

        def again(tx: WriteTx) -> None:
            rows = [TRANSACTIONS.get(tx, id_) for id_ in ids]
            recording.take_back(tx, rows)
            assert tx.rows("SELECT 1 FROM asset_days UNION ALL SELECT 1 FROM asset_holdings") == []
            recording.record(tx, rows)

        self.holdings.write(again)


def _days(date: str, other: str) -> int:
    return (datetime.date.fromisoformat(date) - datetime.date.fromisoformat(other)).days


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_what_is_stored_is_what_the_whole_history_gives(steps: list[Step], fresh_store: FreshStore) -> None:
    store = fresh_store()
    history = History(Holdings(store))
    for step in steps:
        history.take(step)
        history.check()
    store.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_one_by_one_gives_what_all_at_once_gives(steps: list[Step], fresh_store: FreshStore) -> None:
    store = fresh_store()
    history = History(Holdings(store))
    for step in steps:
        history.take(step)
    one_by_one = history.holdings.everything()
    history.at_once()
    assert history.holdings.everything() == one_by_one
    store.close()


def test_a_lot_that_was_taken_back_costs_nothing_any_more(holdings: Holdings) -> None:
    """Its day is deleted after the days behind it are computed anew: none of them may take from it."""
    holdings.buy("2025-06-01", 5, "100")
    taken_back = holdings.buy("2025-06-02", 5, "1000")
    holdings.buy("2025-06-03", 5, "300")
    holdings.sell("2025-06-05", 7, "700")
    holdings.reverse(taken_back)
    assert holdings.gains(scope=holdings.account, column="fifo_gain") == {"2025-06-05": 480_00}  # 700 - 100 - 2/5 x 300
    assert holdings.holding("fifo_cost", scope=holdings.account) == ("180",)


def test_the_first_lot_left_is_never_one_that_was_taken_back(holdings: Holdings) -> None:
    holdings.buy("2025-06-01", 7, "70")
    holdings.buy("2025-06-03", 1, "30")
    holdings.sell("2025-06-03", 7, "210")
    before = holdings.everything()
    first, second = holdings.buy("2025-06-01", 5, "50"), holdings.buy("2025-06-02", 1, "20")
    holdings.reverse(first)
    holdings.reverse(second)
    assert holdings.everything() == before
