"""Charging for work: what it costs, and paying for it at once or by a hold that is settled afterwards.

Amounts are whole numbers of millionths of a credit. Nothing is written where nothing is metered: the organization has
no plan, or the work costs nothing. A piece of work is charged once, however often these functions are called
with its `operation_id`. All of it happens in the caller's own transaction, so that work and charge are there, or
neither is.

Some work has an amount that is known only when it is done, such as reading a document, which is paid for by the page
and by the megabyte. The most that it can come to is held before it begins, and what it came to is charged after it.
"""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from gatewayd.clock import Instant
from gatewayd.ledger.credits import booking, costs, entries, grants, holds, plans
from gatewayd.ledger.credits.entries import NewEntry
from gatewayd.ledger.credits.grants import Change, Draw
from gatewayd.ledger.credits.holds import Hold
from gatewayd.ledger.credits.shapes import Subject, Unit
from gatewayd.store import ReadTx, WriteTx

NOT_METERED = ""
"""The hold of what is not metered."""


class Charge(msgspec.Struct, frozen=True, kw_only=True):
    """Work that is paid for.

    `amount` is in millionths; `operation_id` is what the work is charged once under, in its organization.
    """

    operation: str
    amount: int
    operation_id: str
    subject_type: str | None = None
    subject_id: str | None = None
    description: str | None = None

    @property
    def subject(self) -> Subject | None:
        if self.subject_type is None or self.subject_id is None:
            return None
        return Subject(type=self.subject_type, id=self.subject_id)


def is_metered(tx: ReadTx) -> bool:
    """Whether the organization has a plan, so that what it uses is counted."""
    return plans.soft_limit(tx) is not None


def price_of(tx: ReadTx, operation: str, unit: str = "call") -> int:
    """What one unit (`call`, `page`, `mb`) of this work costs today, in millionths; 0: it is free."""
    return costs.price(tx, operation, unit)


def charge(tx: WriteTx, charge: Charge) -> None:
    """Charge for work, unless it was charged before, costs nothing or is not metered.

    Raises `Problem` `insufficient_credits` (402), before it has taken anything, where the plan has no soft limit.
    """
    soft = plans.soft_limit(tx)
    if charge.amount <= 0 or soft is None or entries.is_charged(tx, charge.operation_id):
        return
    charge_anew(tx, charge, beyond=soft)


def charge_anew(tx: WriteTx, charge: Charge, beyond: bool) -> None:
    """The same for work that is known to be metered, to cost something and not to be charged yet.

    `beyond`: the plan has a soft limit."""
    entry = NewEntry(
        type="usage",
        amount=-charge.amount,
        operation=charge.operation,
        operation_id=charge.operation_id,
        subject=charge.subject,
        description=charge.description,
    )
    booking.take(tx, entry, beyond=beyond)


def hold(tx: WriteTx, operation: str, most: int, operation_id: str, expires_at: Instant) -> str:
    """Hold at most so many millionths for work that is to be paid afterwards; answers the id for `settle`.

    `NOT_METERED` where there is nothing to hold. The same `operation_id` answers its hold again, and one that was
    released or is over is opened anew. `expires_at` is at most a day away, and later ones are taken for that.

    Raises `Problem` `insufficient_credits` (402), before it has held anything, where the plan has no soft limit.
    """
    soft = plans.soft_limit(tx)
    if most <= 0 or soft is None:
        return NOT_METERED
    booking.book_due(tx)
    known = holds.of_operation(tx, operation_id)
    if known is not None and known.status in ("open", "settled"):
        return known.id
    if entries.is_charged(tx, operation_id):
        return NOT_METERED
    draws: list[Draw] = []
    if not soft:  # where nothing is refused nothing needs holding
        draws, missing = grants.draw(tx, most)
        if missing:
            raise booking.insufficient(most, missing)
    hold_id = tx.new_id("hold") if known is None else known.id
    until = Instant(min(expires_at, tx.now + holds.LONGEST))
    for draw in draws:
        grants.change(tx, draw.grant_id, Change(held=draw.amount))
    holds.put(tx, Hold(hold_id, operation, operation_id, most, "open", until), draws)
    return hold_id


def settle(tx: WriteTx, hold_id: str, actual: int, subject: Subject | None = None) -> None:
    """Charge what the work came to, at most what was held, and give back the rest.

    A hold that is settled or was released stays so. One that is over is charged as far as there are credits, since the
    work is done; nothing is ever refused here.
    """
    if not hold_id:
        return
    booking.book_due(tx)
    hold = holds.find(tx, hold_id)
    if hold is None or hold.status in ("settled", "released"):
        return
    if entries.is_charged(tx, hold.operation_id):
        release(tx, hold_id)
        return
    entry = NewEntry(
        type="usage",
        amount=-min(actual, hold.most),
        operation=hold.operation,
        operation_id=hold.operation_id,
        subject=subject,
    )
    draws = holds.draws_of(tx, hold_id) if hold.status == "open" else []
    holds.close(tx, hold_id, "settled")
    _pay(tx, entry, draws)


def release(tx: WriteTx, hold_id: str) -> None:
    """Give back all of a hold, whose work has failed. One that has ended stays as it is."""
    if not hold_id:
        return
    booking.book_due(tx)
    hold = holds.find(tx, hold_id)
    if hold is None or hold.status != "open":
        return
    booking.let_go(tx, hold_id)
    holds.close(tx, hold_id, "released")


def _pay(tx: WriteTx, entry: NewEntry, draws: list[Draw]) -> None:
    """Pay of what was held, and of other grants as far as they reach."""
    left, used = -entry.amount, []
    for draw in draws:
        paid = min(draw.amount, left)
        left -= paid
        grants.change(tx, draw.grant_id, Change(used=paid, held=-draw.amount))
        used += [Draw(draw.grant_id, paid)] if paid else []
    booking.enter(tx, entry, used)
    if left:
        draws, missing = grants.draw(tx, left)
        booking.draw_from(tx, entry, draws, missing if plans.soft_limit(tx) else 0)


class Work(NamedTuple):
    """One piece of work: its name, what it is charged once under, and how many units it may come to.

    At least so many are to be there before it begins, and no more than the most is ever charged.
    """

    operation: str
    operation_id: str
    least: Mapping[Unit, int]
    most: Mapping[Unit, int]


class HeldWork(NamedTuple):
    """Work that has begun: what is held for it, and the prices that it began under, millionths for each unit."""

    hold_id: str
    prices: Mapping[Unit, int]


def priced_by_call(tx: ReadTx) -> frozenset[str]:
    """The names of work that some organization may be charged for by the call, today or on another day."""
    return costs.priced_by_call(tx) if plans.is_any_subscribed(tx) else frozenset()


def is_covered(tx: ReadTx, amount: int) -> bool:
    """Whether so many millionths are left for sure. Where not, `require` knows: it books what has fallen due."""
    if plans.soft_limit(tx) is not False:
        return True
    _, missing = grants.draw(tx, amount)
    return missing == 0


def require(tx: WriteTx, amount: int) -> None:
    """Raises `Problem` `insufficient_credits` (402) where so many millionths are not left, and charges nothing."""
    booking.book_due(tx)
    if plans.soft_limit(tx) is False:
        _, missing = grants.draw(tx, amount)
        if missing:
            raise booking.insufficient(amount, missing)


def begin(tx: WriteTx, work: Work, expires_at: Instant) -> HeldWork:
    """Hold the most that work may come to, or what is left, where that covers the least that it comes to.

    Chosen: so a document of two pages is read for whoever can pay for two, though it might have had a thousand; one
    whose pages come to more than was left costs what was left. Raises `Problem` `insufficient_credits` (402).
    """
    prices = {unit: price_of(tx, work.operation, unit) for unit in work.most}
    least, most = _total(prices, work.least), _total(prices, work.most)
    if most and plans.soft_limit(tx) is False:
        booking.book_due(tx)
        _, missing = grants.draw(tx, most)
        most = max(least, most - missing)
    return HeldWork(hold(tx, work.operation, most, work.operation_id, expires_at), prices)


def finish(tx: WriteTx, held: HeldWork, done: Mapping[Unit, int], subject: Subject | None = None) -> None:
    """Charge what work came to, at most what was held. In the transaction that keeps its result it happens once."""
    settle(tx, held.hold_id, _total(held.prices, done), subject)


def give_up(tx: WriteTx, held: HeldWork) -> None:
    """Release what is held for work that has failed, and costs nothing."""
    release(tx, held.hold_id)


def _total(prices: Mapping[Unit, int], units: Mapping[Unit, int]) -> int:
    return sum(prices.get(unit, 0) * count for unit, count in units.items())
