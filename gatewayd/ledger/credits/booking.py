"""What makes entries: giving, taking, and what falls due by date. Each keeps the invariants of Domain C8.

Whatever books, books first what has fallen due: holds that are over, grants that have expired, months of a plan that
have begun. So nothing depends on a job: the daemon books what has fallen due in any organization, and whatever reads
counts it, booked or not.

Tells when credits run low under a plan: `credits.low`, with the entries that made it so.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from gatewayd import events
from gatewayd.errors import Problem
from gatewayd.ledger.credits import balances, entries, grants, holds, plans
from gatewayd.ledger.credits.entries import NewEntry
from gatewayd.ledger.credits.grants import Change, Draw, NewGrant
from gatewayd.ledger.credits.shapes import EntryRow, GrantRow, PlanRow
from gatewayd.money import credits_text
from gatewayd.store import ReadTx, WriteTx


class BookedGrant(NamedTuple):
    """A grant, and the entry that made it."""

    grant: GrantRow
    entry: EntryRow


def give(tx: WriteTx, grant: NewGrant, entry: NewEntry) -> BookedGrant:
    """Give credits, which first pay what is owed."""
    book_due(tx)
    return _give(tx, grant, entry)


def take(tx: WriteTx, entry: NewEntry, beyond: bool) -> list[EntryRow]:
    """Take credits of grants in their order, with an entry for each. With `beyond`, what is missing is owed.

    Raises `Problem` `insufficient_credits`, before it has taken anything.
    """
    book_due(tx)
    draws, missing = grants.draw(tx, -entry.amount)
    if missing and not beyond:
        raise insufficient(-entry.amount, missing)
    return draw_from(tx, entry, draws, missing)


def draw_from(tx: WriteTx, entry: NewEntry, draws: list[Draw], owed: int) -> list[EntryRow]:
    """Enter what is drawn of each grant, and what is drawn of none."""
    for draw in draws:
        grants.change(tx, draw.grant_id, Change(used=draw.amount))
    return enter(tx, entry, draws, owed)


def enter(tx: WriteTx, entry: NewEntry, draws: list[Draw], owed: int = 0) -> list[EntryRow]:
    """The entries of one piece of work, in parts."""
    parts: list[tuple[str | None, int]] = [*draws, *([(None, owed)] if owed else [])]
    booked = [
        entries.append(tx, replace(entry, amount=-amount, grant_id=grant_id, part=part))
        for part, (grant_id, amount) in enumerate(parts, entry.part)
    ]
    tell_of_low(tx, booked)
    return booked


def insufficient(needed: int, missing: int) -> Problem:
    """402: so much is needed, of which some is missing."""
    texts = {"required": credits_text(needed), "available": credits_text(needed - missing)}
    message = f"This costs {texts['required']} credits; {texts['available']} are available."
    return Problem("insufficient_credits", message, extra=texts)


def owed(tx: ReadTx) -> int:
    """What was used beyond the last credit and is not paid."""
    return max(0, -entries.balance(tx))


def book_due(tx: WriteTx) -> None:
    """Book what has fallen due in the organization, however long ago."""
    while book_some(tx):
        pass
    _grant_months(tx)


def book_some(tx: WriteTx) -> bool:
    """Book some of the holds that are over and of the grants that have expired; whether there were any."""
    over = holds.due(tx, tx.now)
    for hold in over:
        let_go(tx, hold.id)
        holds.close(tx, hold.id, "expired")
    expired = grants.due(tx, tx.now)
    tell_of_low(tx, [_expire(tx, due) for due in expired])
    return bool(over or expired)


def _expire(tx: WriteTx, due: grants.Due) -> EntryRow:
    grants.change(tx, due.grant_id, Change(expired=due.amount))
    entry = NewEntry(type="expiry", amount=-due.amount, grant_id=due.grant_id, occurred_at=due.expired_at)
    return entries.append(tx, entry)


def let_go(tx: WriteTx, hold_id: str) -> None:
    """Return what a hold holds to its grants, where it expires if they are over by now."""
    for draw in holds.draws_of(tx, hold_id):
        grants.change(tx, draw.grant_id, Change(held=-draw.amount))


def let_go_all(tx: WriteTx) -> None:
    """Return what all open holds hold, since another plan decides now what is refused. They can still be settled."""
    for hold in holds.every_open(tx):
        let_go(tx, hold.id)
        holds.put(tx, hold, ())


def _give(tx: WriteTx, grant: NewGrant, entry: NewEntry) -> BookedGrant:
    made = grants.create(tx, replace(grant, used=min(owed(tx), grant.amount)))
    return BookedGrant(made, entries.append(tx, replace(entry, amount=grant.amount, grant_id=made.id)))


def _grant_months(tx: WriteTx) -> None:
    """Grant the months of the plan that have begun, but for those whose credits would be over already."""
    subscription = plans.current(tx)
    if subscription is None or subscription.next_at is None or subscription.next_at > tx.now:
        return
    plan = plans.get(tx, subscription.plan_id)
    begun = subscription.begun(tx.now)
    for month in range(subscription.months, begun):
        if subscription.lasts(month, plan, tx.now):
            _grant_month(tx, plan, subscription, month, plan.included_credits)
        plans.allot(tx, subscription, month, plan.included_credits)
    plans.advance(tx, subscription, begun)


def _grant_month(tx: WriteTx, plan: PlanRow, subscription: plans.Subscription, month: int, amount: int) -> None:
    description = f"{plan.name}: included credits"
    grant = NewGrant(
        source="plan",
        amount=amount,
        description=description,
        expires_at=subscription.end_of(month, plan),
    )
    goes_on = month < subscription.months  # it was granted before, and is granted more
    occurred_at = None if goes_on or not month else subscription.start_of(month)  # the first begins in a day's midst
    _give(tx, grant, NewEntry(type="grant", amount=grant.amount, description=description, occurred_at=occurred_at))


def change_plan(tx: WriteTx, plan: PlanRow | None) -> None:
    """Give the organization another plan, or none. What the one before has granted stays until it expires.

    A month is granted once: in one that was granted already, another plan grants what it includes more, and a smaller
    one nothing before the next month. So no month is granted more than the largest of its plans includes, however often
    they change.
    """
    book_due(tx)
    let_go_all(tx)
    if plan is None:
        plans.unsubscribe(tx)
        return
    within = plans.allotted(tx)
    subscription = plans.subscribe(tx, plan, within)
    if within is None:
        _grant_months(tx)
    elif plan.included_credits > within.granted:
        _grant_month(tx, plan, subscription, within.month, plan.included_credits - within.granted)
        plans.allot(tx, subscription, within.month, plan.included_credits)


def tell_of_low(tx: WriteTx, booked: Sequence[EntryRow]) -> None:
    """Fire `credits.low` where what was entered just now took the balance below what is low for the plan.

    So it is told once for each time. Chosen: by the balance and not by what is available, or each piece of work under
    way would tell it; what has fallen due counts, so that a month that ends tells nothing where the next one begins;
    and entries of another ledger tell nothing, as they are of the past.
    """
    if not booked or booked[0].import_id is not None or (plan := plans.included(tx)) is None:
        return
    plan_id, included = plan
    before, after = booked[0].balance_after - booked[0].amount, booked[-1].balance_after
    if balances.is_low(before, included) or not balances.is_low(after, included):
        return
    left = balances.present(tx, tx.now).balance
    if balances.is_low(left, included):
        data = {"balance": credits_text(left), "included_credits": credits_text(included)}
        events.append(tx, "credits.low", {"plan_id": plan_id, **data})


def organization_with_due(tx: ReadTx) -> str | None:
    """An organization in which something has fallen due; None: nothing has."""
    at = tx.now
    return (
        holds.organization_with_due(tx, at)
        or grants.organization_with_due(tx, at)
        or plans.organization_with_due(tx, at)
    )


def book_what_is_due(tx: WriteTx) -> None:
    """Book what has fallen due in the organization of the transaction, as much as doesn't hold up others."""
    if not book_some(tx):
        book_due(tx)
