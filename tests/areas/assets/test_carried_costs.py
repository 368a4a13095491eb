"""Gifts, spin-offs and mergers at random, between spouses who have sold and bought: costs arrive as they left (C5)."""

import datetime
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from gatewayd.areas.assets.pools.exact import cost_of, quantity_of
from gatewayd.errors import Problem
from gatewayd.money import Money
from tests.areas.assets.holdings import Holdings
from tests.areas.assets.pool_oracle import Cut, Event, Key, Result, restate, settled
from tests.support.store import MemoryStore

FIRST = datetime.date(2025, 1, 1)
NEAR = Fraction(1, 10**12)
WHOLE = Fraction(0)
NO_CASH = Event("leave", "", "")


class Step(NamedTuple):
    """What one step does; `back` reverses an earlier step instead."""

    kind: str
    day: int
    account: int
    share: int
    quantity: int
    money: int
    back: bool


KINDS = ("buy", "buy", "buy", "buy", "sell", "sell", "give", "give_away", "spouse", "spouse", "abroad", "spin", "spin")
STEPS = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from((*KINDS, "merge", "merge", "merge", "pay", "pay", "move", "split")),
        day=st.integers(0, 60),
        account=st.integers(0, 2),
        share=st.integers(0, 2),
        quantity=st.integers(1, 40),
        money=st.integers(0, 50_000),
        back=st.integers(0, 6).map(lambda n: n == 0),
    ),
    min_size=2,
    max_size=24,
)


class Flow(NamedTuple):
    """An event of one instrument, for the account that it names, for its owner, or for both."""

    share: str
    event: Event
    account: bool = True
    pool: bool = True


class Entered(NamedTuple):
    ids: list[str]
    flows: list[Flow]
    cut: tuple[str, Cut] | None = None


class Couple:
    """Two persons with three accounts and three instruments, and what was entered."""

    def __init__(self, holdings: Holdings) -> None:
        self.holdings = holdings
        spouse = holdings.entity("individual", name="Elm Brown")
        theirs = holdings.new_account(holdings.new_portfolio(spouse))
        self.accounts = [holdings.account, holdings.new_account(), theirs]
        self.owner = dict(zip(self.accounts, [holdings.person, holdings.person, spouse], strict=True))
        self.shares = [holdings.share, holdings.instrument(), holdings.instrument()]
        self.entered: list[Entered] = []
        self.names = (f"cost {number}" for number in itertools.count())
        for account, share in itertools.product(range(3), range(3)):
            self.take(Step("buy", 0, account, share, 40, 1000 * account + 3000 * share + 700, back=False))

    def take(self, step: Step) -> None:
        """Do a step, if it is not refused."""
        before = list(self.entered)
        try:
            if step.back and self.entered:
                self.holdings.reverse(*self.entered.pop(step.quantity % len(self.entered)).ids)
            else:
                self.entered.append(getattr(self, f"_{step.kind}")(step))
                event(step.kind)
        except Problem as problem:
            if problem.code not in ("insufficient_quantity", "validation_failed"):
                raise
            self.entered = before

    # -- what is entered, and what it is

    def _buy(self, step: Step) -> Entered:
        return self._trade(step, "buy", "acquire")

    def _sell(self, step: Step) -> Entered:
        return self._trade(step, "sell", "dispose")

    def _give(self, step: Step) -> Entered:
        """Got from somebody else, at its market value."""
        return self._trade(step, "transfer_in", "acquire")

    def _give_away(self, step: Step) -> Entered:
        """To somebody else: at its market value, as if it were sold (TCGA 1992 s17)."""
        return self._trade(step, "transfer_out", "dispose")

    def _trade(self, step: Step, type_: str, kind: str) -> Entered:
        date, account, share = self._of(step)
        id_ = self.holdings.enter(type_, date, step.quantity, _text(step.money), account=account, instrument=share)
        what = Event(kind, date, account, Fraction(step.quantity), Fraction(step.money, 100))
        return Entered([id_], [Flow(share, what)])

    def _abroad(self, step: Step) -> Entered:
        """To the spouse's account that is not in these books."""
        date, account, share = self._of(step)
        gone = {"account": account, "instrument": share, "spouse_transfer": True}
        id_ = self.holdings.enter("transfer_out", date, step.quantity, "0", **gone)
        what = Event("pass", date, account, Fraction(step.quantity), ref=next(self.names))
        return Entered([id_], [Flow(share, what, pool=False), Flow(share, _renamed(what, self.names), account=False)])

    def _spouse(self, step: Step) -> Entered:
        _, giver, share = self._of(step)
        taker = self.accounts[2] if step.account < 2 else self.accounts[step.quantity % 2]
        return self._carried(step, "pass", "acquire", (giver, share), (taker, share), spouse_transfer=True)

    def _move(self, step: Step) -> Entered:
        """Between accounts of one's own: no pool knows of it."""
        _, _, share = self._of(step)
        giver, taker = self.accounts[:2] if step.account % 2 else self.accounts[1::-1]
        return self._carried(step, "leave", "add", (giver, share), (taker, share), pooled=False)

    def _carried(
        self, step: Step, leaves: str, joins: str, giver: Key, taker: Key, pooled: bool = True, **more: object
    ) -> Entered:
        date, quantity = _date(step), Fraction(step.quantity)
        ids = self.holdings.transfer(date, step.quantity, giver[0], taker[0], instrument=giver[1], **more)
        flows = []
        for scopes in ({"pool": False}, {"account": False})[: 1 + pooled]:
            ref = next(self.names)
            flows.append(Flow(giver[1], Event(leaves, date, giver[0], quantity, ref=ref), **scopes))
            flows.append(Flow(taker[1], Event(joins, date, taker[0], quantity, ref=ref), **scopes))
        return Entered(ids, flows)

    def _spin(self, step: Step) -> Entered:
        """A part of the cost goes to shares of the next instrument, at one for two."""
        share = Fraction(1 + step.money % 9, 10)
        return self._reorganised(step, "spin", {"cost_share": f"0.{share * 10}"}, share)

    def _merge(self, step: Step) -> Entered:
        """Shares and cash for those of another instrument."""
        told, cash = self._distribution(step)
        return self._reorganised(step, "leave", told, cash=cash)

    def _pay(self, step: Step) -> Entered:
        """Capital comes back."""
        date, account, share = self._of(step)
        told, cash = self._distribution(step)
        gross = told.pop("gross")
        given = {"account": account, "instrument": share, **told}
        id_ = self.holdings.enter("return_of_capital", date, step.quantity, gross, **given)
        what = cash._replace(kind="paid", date=date, account=account, quantity=Fraction(step.quantity))
        return Entered([id_], [Flow(share, what)])

    def _distribution(self, step: Step) -> tuple[dict[str, Any], Event]:
        """A little of which nothing is told, what is called small or not, or much beside what remains."""
        cash, how = step.money % 1000, step.money // 1000 % 5
        cash += 300_000 if how >= 3 else 0
        remaining = None if how == 0 else step.money * (how * how * how)
        small = {1: False, 2: True}.get(how)
        told: dict[str, Any] = {"gross": _text(cash), "small_distribution": small}
        if remaining is not None:
            told["remaining_value"] = Money(remaining, "GBP")
        worth = None if remaining is None else Fraction(remaining, 100)
        return told, Event("leave", "", "", money=Fraction(cash, 100), remaining=worth, small=small)

    def _reorganised(
        self, step: Step, leaves: str, told: dict[str, Any], share: Fraction = WHOLE, cash: Event = NO_CASH
    ) -> Entered:
        date, account = _date(step), self.accounts[step.account]
        old = self.shares[step.share % 2]
        new = self.shares[step.share % 2 + 1]
        quantity, came = Fraction(step.quantity), Fraction(step.quantity, 2)
        given = {"account": account, "instrument": new, "from_instrument_id": old, "from_quantity": str(step.quantity)}
        type_ = "spin_off" if leaves == "spin" else "merger"
        id_ = self.holdings.enter(type_, date, float(came), told.pop("gross", None), **given, **told)
        flows = []
        for scopes in ({"pool": False}, {"account": False}):
            ref = next(self.names)
            gone = cash._replace(kind=leaves, date=date, account=account, quantity=quantity, ref=ref, share=share)
            flows.append(Flow(old, gone, **scopes))
            flows.append(Flow(new, Event("add", date, account, came, ref=ref), **scopes))
        return Entered([id_], flows)

    def _split(self, step: Step) -> Entered:
        date, account, share = self._of(step)
        id_ = self.holdings.split(date, 2, account=account, instrument=share)
        return Entered([id_], [], (share, Cut(date, Fraction(2))))

    def _of(self, step: Step) -> tuple[str, str, str]:
        return _date(step), self.accounts[step.account], self.shares[step.share]

    # -- what has to come of it

    def check(self) -> None:
        books: dict[Key, list[Event]] = defaultdict(list)
        for one in self.entered:
            for flow in one.flows:
                if flow.account:
                    books[flow.event.account, flow.share].append(flow.event)
                if flow.pool:
                    books[self.owner[flow.event.account], flow.share].append(flow.event)
        cuts = {share: self._cuts(share) for share in self.shares}
        windows = {**dict.fromkeys(self.accounts, -1), **dict.fromkeys(self.owner.values(), 30)}
        for (scope, share), expected in settled(books, cuts, windows).items():
            self._check(scope, share, expected, restate("9999-12-31", cuts[share]))

    def _check(self, scope: str, share: str, expected: Result, factor: Fraction) -> None:
        found = self.holdings.holding("quantity, cost", share, scope)
        quantity, cost = found or ("0", "0")
        assert quantity_of(quantity) == expected.quantity * factor
        assert abs(Fraction(cost_of(cost), 10**20) - expected.cost) < NEAR
        assert self.holdings.gains(share, scope) == expected.gains

    def _cuts(self, share: str) -> list[Cut]:
        """The splits of an instrument, told by the first of those that may be the same."""
        told = sorted((one.ids[0], one.cut[1]) for one in self.entered if one.cut and one.cut[0] == share)
        facts: list[Cut] = []
        for _, cut in told:
            day = datetime.date.fromisoformat(cut.date)
            if not any(abs((day - datetime.date.fromisoformat(one.date)).days) <= 7 for one in facts):
                facts.append(cut)
        return facts


def _date(step: Step) -> str:
    return (FIRST + datetime.timedelta(days=step.day)).isoformat()


def _text(pence: int) -> str:
    return f"{pence // 100}.{pence % 100:02}"


def _renamed(what: Event, names: Iterator[str]) -> Event:
    return what._replace(ref=next(names))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
@example(steps=[Step("spouse", 0, 1, 2, 1, 0, back=False), Step("spouse", 0, 2, 2, 1, 0, back=False)])  # to and fro
def test_what_arrives_costs_what_it_cost_where_it_left(
    steps: list[Step], fresh_store: Callable[[], MemoryStore]
) -> None:
    store = fresh_store()
    couple = Couple(Holdings(store))
    for step in steps:
        couple.take(step)
        couple.check()
    store.close()
