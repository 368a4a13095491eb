"""What may be charged at all, whether it can be paid for, and work whose amount is known only when it is done.

Reading a document is such work: it is paid for by the page and by the megabyte. The most that it can come to is held
before it begins, and what it came to is charged after it; see charging.py.
"""

from collections.abc import Mapping
from typing import NamedTuple

from gatewayd.clock import Instant
from gatewayd.ledger.credits import booking, charging, costs, grants, plans
from gatewayd.ledger.credits.shapes import Subject, Unit
from gatewayd.store import ReadTx, WriteTx


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
    """Hold the most that work may come to until then, or what is left of it where that covers the least.

    Chosen: so a document of two pages is read for whoever can pay for two, though it might have had a thousand; one
    whose pages come to more than was left costs what was left. Raises `Problem` `insufficient_credits` (402).
    """
    prices = {unit: charging.price_of(tx, work.operation, unit) for unit in work.most}
    least, most = _total(prices, work.least), _total(prices, work.most)
    if most and plans.soft_limit(tx) is False:
        booking.book_due(tx)
        _, missing = grants.draw(tx, most)
        most = max(least, most - missing)
    return HeldWork(charging.hold(tx, work.operation, most, work.operation_id, expires_at), prices)


def finish(tx: WriteTx, held: HeldWork, done: Mapping[Unit, int], subject: Subject | None = None) -> None:
    """Charge what it came to, at most what was held. In the transaction that keeps what was done, it is so once."""
    charging.settle(tx, held.hold_id, _total(held.prices, done), subject)


def give_up(tx: WriteTx, held: HeldWork) -> None:
    """It has failed, and costs nothing."""
    charging.release(tx, held.hold_id)


def _total(prices: Mapping[Unit, int], units: Mapping[Unit, int]) -> int:
    return sum(prices.get(unit, 0) * count for unit, count in units.items())
