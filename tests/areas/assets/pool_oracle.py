"""What Domain C5 says of a whole history, from scratch and in plain fractions: nothing is stored, nothing restarts.

Quantities are restated into shares after the last split, as C5.2 has it. Money is in pounds.
"""

import datetime
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

ZERO = Fraction(0)


class Event(NamedTuple):
    """One thing that happens in an account. `money` is a cost, proceeds, or an adjustment with its sign."""

    kind: str  # acquire, dispose, add, adjust, move
    date: str
    account: str
    quantity: Fraction = ZERO
    money: Fraction = ZERO
    to: str = ""


class Cut(NamedTuple):
    """A split."""

    date: str
    ratio: Fraction


@dataclass
class Result:
    """Gains in pence by date, and what is left."""

    gains: dict[str, int] = field(default_factory=dict)
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


def section_104(events: list[Event], cuts: list[Cut], window: int = 30) -> Result:
    """A pool over all the events; with a window of -1 nothing is matched by days."""
    bought: dict[str, _Heap] = {}
    added: dict[str, _Heap] = {}
    sold: dict[str, Fraction] = {}
    proceeds: dict[str, Fraction] = {}
    adjusted: dict[str, Fraction] = {}
    for event in events:
        quantity = event.quantity * restate(event.date, cuts)
        if event.kind == "acquire":
            _pile(bought, event.date, quantity, event.money)
        elif event.kind == "add":
            _pile(added, event.date, quantity, event.money)
        elif event.kind == "adjust":
            adjusted[event.date] = adjusted.get(event.date, ZERO) + event.money
        elif event.kind == "dispose":
            sold[event.date] = sold.get(event.date, ZERO) + quantity
            proceeds[event.date] = proceeds.get(event.date, ZERO) + event.money
    whole, costs = dict(sold), dict.fromkeys(sold, ZERO)
    for days in [(0, 0), (1, window)] if window >= 0 else []:
        for date in sorted(sold):
            for other in sorted(bought):
                if days[0] <= after(other, date) <= days[1]:
                    quantity = min(sold[date], bought[other].quantity)
                    if quantity:
                        costs[date] += bought[other].draw(quantity)
                        sold[date] -= quantity
    result, pool = Result(), _Heap()
    extra: dict[str, Fraction] = {}
    short: dict[str, Fraction] = {}
    for date in sorted({*bought, *sold, *added, *adjusted}):
        coming = _Heap()
        for heap in (bought.get(date), added.get(date)):
            if heap is not None:
                coming.quantity, coming.money = coming.quantity + heap.quantity, coming.money + heap.money
        for debt in sorted(short):
            quantity = min(short[debt], coming.quantity)
            if quantity:
                costs[debt] += coming.draw(quantity)
                short[debt] -= quantity
        pool.quantity, pool.money = pool.quantity + coming.quantity, pool.money + coming.money
        pool.money += adjusted.get(date, ZERO)
        if pool.money < 0:
            extra[date], pool.money = -pool.money, ZERO
        quantity = min(sold.get(date, ZERO), pool.quantity)
        if quantity:
            costs[date] += pool.draw(quantity)
        if date in sold:
            short[date] = sold[date] - quantity
    for date in sorted({*whole, *extra}):
        gain = pence(extra.get(date, ZERO))
        if date in whole:
            gain += pence(proceeds[date] * (whole[date] - short[date]) / whole[date] - costs[date])
        result.gains[date] = gain
    result.quantity, result.cost = pool.quantity - sum(short.values()), pool.money
    return result


def _pile(heaps: dict[str, _Heap], date: str, quantity: Fraction, money: Fraction) -> None:
    heap = heaps.setdefault(date, _Heap())
    heap.quantity, heap.money = heap.quantity + quantity, heap.money + money


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
