"""What an organization may use at an instant, whether or not what has fallen due is booked."""

from typing import Final, NamedTuple

from gatewayd.clock import DAY, Instant
from gatewayd.ledger.credits import entries, grants, holds, plans
from gatewayd.ledger.credits.shapes import CreditBalance, EntryRow, ExpiringCredits
from gatewayd.money import Credits
from gatewayd.store import ReadTx

SOON: Final = 30 * DAY
MOST_EXPIRING: Final = 100
LOW_PART: Final = 10  # Chosen: low is less than a tenth of what the plan includes each month


class Standing(NamedTuple):
    """In millionths: the balance, what of it is held, and the sums of all time."""

    balance: int
    held: int
    granted: int
    used: int


def balance_at(tx: ReadTx, at: Instant | None) -> CreditBalance:
    """The balance at an instant; None: now. What expires until an instant to come is not in it.

    Chosen: of an instant that is past, `expiringSoon` tells nothing, and `planId` is the plan of today.
    """
    now = tx.now
    as_of = now if at is None else at
    standing = past(tx, as_of) if as_of < now else present(tx, as_of)
    soon = [] if as_of < now else grants.expiring(tx, as_of, Instant(as_of + SOON), MOST_EXPIRING)
    subscription = plans.current(tx)
    available = standing.balance - standing.held
    return CreditBalance(
        balance=Credits(standing.balance),
        available=Credits(available),
        held=Credits(standing.held),
        expiring_soon=[ExpiringCredits(amount=Credits(amount), expires_at=when) for when, amount in soon],
        lifetime_granted=Credits(standing.granted),
        lifetime_used=Credits(standing.used),
        unit="credit",
        as_of=as_of,
        plan_id=None if subscription is None else subscription.plan_id,
        low_balance=subscription is not None and is_low(available, _included(tx, subscription)),
    )


def present(tx: ReadTx, at: Instant) -> Standing:
    """How it stands now, or at an instant to come if nothing else happens until then."""
    balance, granted, used = _booked(entries.last(tx))
    months = _months_begun(tx, tx.now, at)
    gone = grants.expired_by(tx, at) + holds.held_past_due(tx, at)
    return Standing(balance + months - gone, holds.held(tx, at), granted + months, used)


def past(tx: ReadTx, at: Instant) -> Standing:
    """How it stood at an instant: what was booked by then, and what had fallen due and was booked after it."""
    sequence = entries.last_by(tx, at)
    balance, granted, used = _booked(entries.at(tx, sequence))
    while (late := entries.at(tx, sequence + 1)) is not None and _fell_due_by(late, at):
        balance, granted, used = _booked(late)
        sequence += 1
    if late is None:  # nothing was booked since, not even what had fallen due
        months = _months_begun(tx, at, at)
        balance += months - grants.expired_by(tx, at) - holds.held_past_due(tx, at)
        granted += months
    return Standing(balance, holds.held_then(tx, at), granted, used)


def is_low(left: int, included: int) -> bool:
    """Whether so little is left under a plan that includes so much each month that somebody should look after it."""
    return left <= 0 or left * LOW_PART < included


def _included(tx: ReadTx, subscription: plans.Subscription) -> int:
    return plans.get(tx, subscription.plan_id).included_credits


def _booked(row: EntryRow | None) -> tuple[int, int, int]:
    return (0, 0, 0) if row is None else (row.balance_after, row.lifetime_granted, row.lifetime_used)


def _fell_due_by(row: EntryRow, at: Instant) -> bool:
    """Whether it was booked by its date: an expiry, or a month of a plan."""
    return row.type in ("expiry", "grant") and row.import_id is None and row.occurred_at <= at


def _months_begun(tx: ReadTx, by: Instant, at: Instant) -> int:
    """What a plan includes for months that have begun by an instant and are not granted yet, as far as it lasts."""
    subscription = plans.current(tx)
    if subscription is None or subscription.next_at is None or subscription.next_at > by:
        return 0
    plan = plans.get(tx, subscription.plan_id)
    begun = range(subscription.months, subscription.begun(by))
    return sum(int(plan.included_credits) for month in begun if subscription.lasts(month, plan, at))
