"""What Domain C5 says of a whole history, from scratch and in plain fractions: nothing is stored, nothing restarts.

Quantities are restated into shares after the last split, as C5.2 has it. Money is in pounds.
"""

import datetime
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

ZERO = Fraction(0)
EXACT_ROUNDS, FINE = 20, 10**30


class Event(NamedTuple):
    """One thing that happens in an account. `money` is a cost, proceeds, or an adjustment with its sign.

    What leaves at cost names that cost by `ref`, and what comes at it too: see `settled`. A spin-off takes `share` of
    the cost of its `quantity`. What is paid on shares that stay, and beside those that come for what leaves, is
    `money`; they are worth `remaining` after it, and it is `small` or not, where that was told.
    """

    kind: str  # acquire, dispose, pass, leave, spin, paid, add, adjust, move
    date: str
    account: str
    quantity: Fraction = ZERO
    money: Fraction = ZERO
    to: str = ""
    ref: str = ""
    share: Fraction = ZERO
    remaining: Fraction | None = None
    small: bool | None = None


class Cut(NamedTuple):
    """A split."""

    date: str
    ratio: Fraction


@dataclass
class Result:
    """Gains in pence by date, what left at which cost, and what is left."""

    gains: dict[str, int] = field(default_factory=dict)
    carried: dict[str, Fraction] = field(default_factory=dict)
    quantity: Fraction = ZERO
    cost: Fraction = ZERO


@dataclass
class _Heap:
    quantity: Fraction = ZERO
    money: Fraction = ZERO

    def draw(self, quantity: Fraction) -> Fraction:
        """Take a part of it out, and answer what that cost."""
        share = self.money * quantity / self.quantity
        self.quantity -= quantity
        self.money -= share
        return share


def pence(pounds: Fraction) -> int:
    """Rounded half away from zero."""
    whole = math.floor(abs(pounds) * 100 + Fraction(1, 2))
    return whole if pounds >= 0 else -whole


def after(date: str, other: str) -> int:
    """How many days a date is after another."""
    return (datetime.date.fromisoformat(date) - datetime.date.fromisoformat(other)).days


def restate(date: str, cuts: list[Cut]) -> Fraction:
    """Shares after the last split for one of an evening."""
    return math.prod((cut.ratio for cut in cuts if cut.date > date), start=Fraction(1))


@dataclass
class _Evening:
    """What a day brings, restated: `out` is not matched yet, `cost` is of what was, `short` waits for acquisitions."""

    bought: _Heap = field(default_factory=_Heap)
    added: _Heap = field(default_factory=_Heap)
    sold: Fraction = ZERO
    proceeds: Fraction = ZERO
    adjusted: Fraction = ZERO
    passed: dict[str, Fraction] = field(default_factory=dict)
    left: dict[str, tuple[Fraction, Event]] = field(default_factory=dict)
    paid: list[tuple[Fraction, Event]] = field(default_factory=list)
    spun: dict[str, tuple[Fraction, Fraction]] = field(default_factory=dict)
    original: Fraction = ZERO  # what is held in the evening before, and what is added (TCGA 1992 s126)
    out: Fraction = ZERO
    short: Fraction = ZERO
    cost: Fraction = ZERO
    extra: Fraction = ZERO
    parts: Fraction | None = None  # what distributions gave for parts, less what these cost

    def take(self, event: Event, quantity: Fraction) -> None:
        if event.kind in ("acquire", "add"):
            heap = self.bought if event.kind == "acquire" else self.added
            heap.quantity, heap.money = heap.quantity + quantity, heap.money + event.money
        elif event.kind == "adjust":
            self.adjusted += event.money
        elif event.kind == "dispose":
            self.sold, self.proceeds = self.sold + quantity, self.proceeds + event.money
            self.out += quantity
        elif event.kind == "pass":
            self.passed[event.ref] = quantity
            self.out += quantity
        elif event.kind == "leave":
            self.left[event.ref] = quantity, event
        elif event.kind == "paid":
            self.paid.append((quantity, event))
        elif event.kind == "spin":
            self.spun[event.ref] = (quantity, event.share)

    def moved(self) -> Fraction:
        """By how much what is held changes."""
        gone = self.sold + sum(self.passed.values()) + sum(quantity for quantity, _ in self.left.values())
        return self.bought.quantity + self.added.quantity - gone

    def is_small(self, event: Event) -> bool:
        """TCGA 1992 s122(2), CG57835: not above 3,000 pounds, or 5 % of the value before it; or as told."""
        if event.small is not None or event.remaining is None:
            return event.small is not False
        day = [one for _, one in (*self.paid, *self.left.values()) if one.money]
        whole = sum((one.money for one in day), ZERO)
        if whole <= 3000:
            return True
        worth = [one.remaining for one in day if one.remaining is not None]
        return len(worth) == len(day) and whole <= Fraction(5, 100) * (whole + sum(worth, ZERO))

    def distribute(self, event: Event, cost: Fraction, left: Fraction) -> Fraction:
        """What a distribution takes off a cost: all of itself if it is small, else A / (A + B) of the cost (s42)."""
        if not event.money:
            return ZERO
        if self.is_small(event):
            self.extra += max(ZERO, event.money - cost)
            return min(event.money, cost)
        assert event.remaining is not None
        part = min(left, cost * event.money / (event.money + event.remaining))
        self.parts = (self.parts or ZERO) + event.money - part
        return part


def section_104(events: list[Event], cuts: list[Cut], window: int = 30) -> Result:
    """A pool over all the events; with a window of -1 nothing is matched by days."""
    days: dict[str, _Evening] = {}
    for event in events:
        if event.kind != "move":
            day = days.setdefault(event.date, _Evening())
            day.take(event, event.quantity * restate(event.date, cuts))
    days = dict(sorted(days.items()))
    held, at_start = ZERO, {}
    for date, day in days.items():
        day.original = max(held, ZERO) + day.added.quantity
        at_start[date] = held + day.bought.quantity + day.added.quantity
        held += day.moved()
    for least, most in [(0, 0), (1, window)] if window >= 0 else []:
        for date, day in days.items():
            for other, coming in days.items():
                quantity = min(day.out, coming.bought.quantity)
                if quantity and least <= after(other, date) <= most:
                    day.cost += coming.bought.draw(quantity)
                    day.out -= quantity
    result, pool = Result(), _Heap()
    for date, day in days.items():
        _enter(pool, day, list(days.values()))
        _leave(pool, day, at_start[date], result.carried)
    for date, day in days.items():
        _share(day, result.carried)
        if day.sold or day.extra or day.parts is not None:
            proceeds = day.proceeds * (day.sold - day.short) / day.sold if day.sold else ZERO
            result.gains[date] = pence(day.extra) + pence(day.parts or ZERO) + pence(proceeds - day.cost)
    result.quantity, result.cost = pool.quantity - sum(day.short for day in days.values()), pool.money
    return result


def _enter(pool: _Heap, day: _Evening, days: list[_Evening]) -> None:
    """Cover what is short, oldest first, then join the pool and adjust its cost."""
    quantity = day.bought.quantity + day.added.quantity
    coming = _Heap(quantity, day.bought.money + day.added.money)
    for earlier in days:
        covered = min(earlier.short, coming.quantity)
        if covered:
            earlier.cost += coming.draw(covered)
            earlier.short -= covered
    off = sum((event.money for _, event in day.paid if day.is_small(event)), ZERO)
    pool.quantity, pool.money = pool.quantity + coming.quantity, pool.money + coming.money
    day.bought.money = min(day.bought.money, coming.money) / (pool.money or 1)
    pool.money += day.adjusted - off
    if pool.money < 0:
        day.extra, pool.money = -pool.money, ZERO
    day.bought.money *= pool.money


def _leave(pool: _Heap, day: _Evening, whole: Fraction, carried: dict[str, Fraction]) -> None:
    """Spin-offs, and then distributions, each of the cost before any of its kind; what goes elsewhere at the average,
    less what was paid for it; what is disposed of."""
    cost, among = pool.money, whole
    if day.spun and sum(quantity for quantity, _ in day.spun.values()) <= day.original:
        cost, among = cost - day.bought.money, day.original
    kept = pool.money - cost
    for ref, (quantity, share) in day.spun.items():
        part = cost * share * min(Fraction(1), quantity / among if among > 0 else ZERO)
        carried[ref] = min(pool.money - kept, part)
        pool.money -= carried[ref]
    cost = pool.money
    for quantity, event in day.paid:
        if not day.is_small(event):
            pool.money -= day.distribute(
                event, cost * min(Fraction(1), quantity / whole if whole else ZERO), pool.money
            )
    for ref, (quantity, event) in day.left.items():
        carried[ref] = pool.draw(quantity)
        carried[ref] -= day.distribute(event, carried[ref], carried[ref])
    drawn = min(day.out, pool.quantity)
    if drawn:
        day.cost += pool.draw(drawn)
    day.short = day.out - drawn


def _share(day: _Evening, carried: dict[str, Fraction]) -> None:
    """What was passed to the spouse shares the cost of the day's disposals, by quantity."""
    whole = day.cost / (day.sold + sum(day.passed.values())) if day.passed else ZERO
    for ref, quantity in day.passed.items():
        carried[ref] = whole * quantity
        day.cost -= carried[ref]


Key = tuple[str, str]


def settled(books: dict[Key, list[Event]], cuts: dict[str, list[Cut]], windows: dict[str, int]) -> dict[Key, Result]:
    """Holdings by scope and instrument, of which some have cost from others: anew, until all costs are those that left.

    `cuts` are by instrument, `windows` by scope. Of two who give to each other on one day the costs come nearer to
    their end with each round, and never to it: they are cut where no penny sees it.
    """
    carried: dict[str, Fraction] = {}
    for attempt in range(100):
        results = {
            (scope, share): section_104([_at_cost(one, carried) for one in events], cuts[share], windows[scope])
            for (scope, share), events in books.items()
        }
        found = {ref: cost for result in results.values() for ref, cost in result.carried.items()}
        if attempt >= EXACT_ROUNDS:
            found = {ref: Fraction(math.floor(cost * FINE), FINE) for ref, cost in found.items()}
        if found == carried:
            return results
        carried = found
    raise AssertionError("the costs go in a circle")


def _at_cost(event: Event, carried: dict[str, Fraction]) -> Event:
    comes = event.ref and event.kind in ("acquire", "add")
    return event._replace(money=carried.get(event.ref, ZERO)) if comes else event


@dataclass
class Book:
    """An account: its average, its lots, and what adjusted the cost of nothing: that leaves in equal parts."""

    gains: dict[str, int] = field(default_factory=dict)
    lot_gains: dict[str, int] = field(default_factory=dict)
    heap: _Heap = field(default_factory=_Heap)
    lots: list[_Heap] = field(default_factory=list)
    loose: Fraction = ZERO

    def lot_cost(self) -> Fraction:
        return self.loose + sum((lot.money for lot in self.lots), ZERO)

    def draw(self, quantity: Fraction) -> tuple[Fraction, Fraction]:
        """What leaves costs so much on average, and by lots."""
        by_lots = self.loose * quantity / self.heap.quantity
        self.loose -= by_lots
        average = self.heap.draw(quantity)
        while quantity:
            lot = self.lots[0]
            used = min(quantity, lot.quantity)
            by_lots += lot.draw(used)
            quantity -= used
            if not lot.quantity:
                self.lots.pop(0)
        return average, by_lots


def books(events: list[Event], cuts: list[Cut]) -> dict[str, Book]:
    """Every account that is never short, at its average cost and first in, first out, by date."""
    accounts: dict[str, Book] = {}
    for event in events:
        for name in filter(None, (event.account, event.to)):
            accounts.setdefault(name, Book())
    for date in sorted({event.date for event in events}):
        today = [event for event in events if event.date == date]
        moved: dict[str, list[tuple[Fraction, Fraction, Fraction]]] = {name: [] for name in accounts}
        for name in _senders_first(today, list(accounts)):
            _evening(accounts[name], name, today, moved, restate(date, cuts))
    return accounts


def _senders_first(today: list[Event], names: list[str]) -> list[str]:
    ordered: list[str] = []
    while len(ordered) < len(names):
        waiting = {move.to for move in today if move.kind == "move" and move.account not in ordered}
        ready = [name for name in names if name not in ordered and name not in waiting]
        assert ready, "transfers in a circle"
        ordered += ready
    return ordered


def _evening(
    book: Book,
    name: str,
    today: list[Event],
    moved: dict[str, list[tuple[Fraction, Fraction, Fraction]]],
    factor: Fraction,
) -> None:
    own = [event for event in today if event.account == name]
    coming = [(e.quantity * factor, e.money, e.money) for e in own if e.kind in ("acquire", "add")] + moved[name]
    quantity = sum((one[0] for one in coming), ZERO)
    if quantity:
        book.heap.quantity += quantity
        book.heap.money += sum((one[1] for one in coming), ZERO)
        book.lots.append(_Heap(quantity, sum((one[2] for one in coming), ZERO)))
    extra = _adjust(book, sum((event.money for event in own if event.kind == "adjust"), ZERO))
    for event in own:
        if event.kind == "move":
            moved[event.to].append((event.quantity * factor, *book.draw(event.quantity * factor)))
    sales = [event for event in own if event.kind == "dispose"]
    if sales or extra != (ZERO, ZERO):
        average, by_lots = book.draw(sum((event.quantity for event in sales), ZERO) * factor) if sales else (ZERO, ZERO)
        proceeds = sum((event.money for event in sales), ZERO)
        if sales or extra[0]:
            book.gains[today[0].date] = pence(proceeds - average) + pence(extra[0])
        if sales or extra[1]:
            book.lot_gains[today[0].date] = pence(proceeds - by_lots) + pence(extra[1])


def _adjust(book: Book, money: Fraction) -> tuple[Fraction, Fraction]:
    """Spread over the lots as they cost. Answers what is beyond the cost, on average and by lots."""
    cost = book.lot_cost()
    extra = max(ZERO, -(book.heap.money + money)), max(ZERO, -(cost + money))
    book.heap.money = max(ZERO, book.heap.money + money)
    if not cost:
        book.loose = max(ZERO, money)
        return extra
    factor = max(ZERO, cost + money) / cost
    book.loose *= factor
    for lot in book.lots:
        lot.money *= factor
    return extra
