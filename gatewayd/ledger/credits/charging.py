"""Charging for work: what it costs, and paying for it at once or by a hold that is settled afterwards.

Amounts are whole numbers of millionths of a credit. Nothing is written where nothing is metered: the organization has
no plan, or the work costs nothing. A piece of work is charged once, whatever is called how often with its
`operation_id`; all of it happens in the caller's own transaction, so that work and charge are there or neither is.
"""

import msgspec

from gatewayd.clock import Instant
from gatewayd.ledger.credits import booking, costs, entries, grants, holds, plans
from gatewayd.ledger.credits.entries import NewEntry
from gatewayd.ledger.credits.grants import Change, Draw
from gatewayd.ledger.credits.holds import Hold
from gatewayd.ledger.credits.shapes import Subject
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
    """The same for work of a plan, that costs something and was not charged before; `beyond`: the limit is soft."""
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
    found = holds.find(tx, hold_id)
    if found is None or found.status in ("settled", "released"):
        return
    if entries.is_charged(tx, found.operation_id):
        release(tx, hold_id)
        return
    entry = NewEntry(
        type="usage",
        amount=-min(actual, found.most),
        operation=found.operation,
        operation_id=found.operation_id,
        subject=subject,
    )
    draws = holds.draws_of(tx, hold_id) if found.status == "open" else []
    holds.close(tx, hold_id, "settled")
    _pay(tx, entry, draws)


def release(tx: WriteTx, hold_id: str) -> None:
    """Give back all of a hold, whose work has failed. One that has ended stays as it is."""
    if not hold_id:
        return
    booking.book_due(tx)
    found = holds.find(tx, hold_id)
    if found is None or found.status != "open":
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
