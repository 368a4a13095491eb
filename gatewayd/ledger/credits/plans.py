"""Plans, and which one an organization has.

Owns the tables `credit_plans`, `credit_subscriptions` and `credit_allotments`.

Plans are of the instance. Once made, a plan only ever retires, so that nobody's terms change unnoticed; who has a
retired plan keeps it.
"""

import datetime
import zoneinfo
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.clock import Instant, date_in, midnight, months_later
from gatewayd.errors import Problem, invalid_state, not_found
from gatewayd.identity.people import organizations
from gatewayd.ledger.credits.shapes import PlanLimits, PlanRow
from gatewayd.store import Columns, ReadTx, WriteTx

MOST: Final = 200  # Chosen: plans of one instance, retired ones among them
PLANS: Final = Columns(PlanRow)
_SELECT = f"SELECT {PLANS.sql} FROM credit_plans"
_SELECT_ONE = f"{_SELECT} WHERE id = :id"
_SELECT_BY_CODE = f"{_SELECT} WHERE code = :code"
_SELECT_ALL = f"{_SELECT} ORDER BY id LIMIT :count"
_VALUES = ", ".join(f":{name}" for name in PLANS.names)
_INSERT = f"INSERT INTO credit_plans ({PLANS.sql}) VALUES ({_VALUES})"
_RETIRE = """
UPDATE credit_plans SET status = 'retired', retired_at = :now, updated_at = :updated_at, version = version + 1
WHERE id = :id
"""
_SELECT_SUBSCRIBED = """
SELECT plan_id, anchor_date, months, next_at FROM credit_subscriptions WHERE org_id = :org_id
"""
_SELECT_SOFT_LIMIT = """
SELECT p.soft_limit FROM credit_subscriptions s JOIN credit_plans p ON p.id = s.plan_id WHERE s.org_id = :org_id
"""
_SELECT_INCLUDED = """
SELECT p.id, p.included_credits FROM credit_subscriptions s JOIN credit_plans p ON p.id = s.plan_id
WHERE s.org_id = :org_id
"""
_SELECT_ANY_SUBSCRIBED_ANY_ORG = "SELECT org_id FROM credit_subscriptions LIMIT 1"
_SELECT_WITH_DUE_ANY_ORG = """
SELECT org_id FROM credit_subscriptions WHERE next_at IS NOT NULL AND next_at <= :at ORDER BY next_at, org_id LIMIT 1
"""
_SUBSCRIBE = """
INSERT INTO credit_subscriptions (org_id, plan_id, since_at, anchor_date, months, next_at)
VALUES (:org_id, :plan_id, :now, :anchor_date, :months, :next_at)
ON CONFLICT (org_id) DO UPDATE SET plan_id = excluded.plan_id, since_at = excluded.since_at,
  anchor_date = excluded.anchor_date, months = excluded.months, next_at = excluded.next_at
"""
_SELECT_ALLOTTED = "SELECT anchor_date, month, granted FROM credit_allotments WHERE org_id = :org_id"
_ALLOT = """
INSERT INTO credit_allotments (org_id, anchor_date, month, granted) VALUES (:org_id, :anchor_date, :month, :granted)
ON CONFLICT (org_id) DO UPDATE SET anchor_date = excluded.anchor_date, month = excluded.month,
  granted = excluded.granted
"""
_UNSUBSCRIBE = "DELETE FROM credit_subscriptions WHERE org_id = :org_id"
_ADVANCE = "UPDATE credit_subscriptions SET months = :months, next_at = :next_at WHERE org_id = :org_id"
_LASTING: Final = {"none": 1, "capped": 2}
"""For how many months the included credits of a month are there."""


class Subscription(NamedTuple):
    """Which plan an organization has. `months` of it were granted; `next_at` None: it includes nothing.

    `zone` is the organization's, whose midnights begin months.
    """

    plan_id: str
    anchor_date: str
    months: int
    next_at: Instant | None
    zone: zoneinfo.ZoneInfo

    def start_of(self, month: int) -> Instant:
        """When a month begins, counted from 0: at midnight of the same day of the month (Domain B8).

        The next one begins when that was said, though the organization has moved to another zone since.
        """
        if month == self.months and self.next_at is not None:
            return self.next_at
        return _start_of(self.anchor_date, month, self.zone)

    def end_of(self, month: int, plan: PlanRow) -> Instant | None:
        """When what is granted for a month expires; None: never."""
        lasting = _LASTING.get(plan.rollover)
        return None if lasting is None else self.start_of(month + lasting)

    def lasts(self, month: int, plan: PlanRow, at: Instant) -> bool:
        """Whether what is granted for a month is not over at an instant."""
        end = self.end_of(month, plan)
        return end is None or end > at

    def begun(self, at: Instant) -> int:
        """How many months have begun by an instant."""
        months = self.months
        while self.start_of(months) <= at:
            months += 1
        return months


class Allotment(NamedTuple):
    """What a month has been granted so far, in millionths, whichever plans it had. `month` is counted from 0."""

    anchor_date: str
    month: int
    granted: int

    def end_in(self, zone: zoneinfo.ZoneInfo) -> Instant:
        """When the month is over."""
        return _start_of(self.anchor_date, self.month + 1, zone)


def _start_of(anchor_date: str, month: int, zone: zoneinfo.ZoneInfo) -> Instant:
    return midnight(months_later(datetime.date.fromisoformat(anchor_date), month), zone)


def create(tx: WriteTx, plan: PlanRow) -> PlanRow:
    """Store a new plan. Raises `Problem`: `already_exists` where its code is taken, `limit_reached`."""
    taken = tx.row(_SELECT_BY_CODE, code=plan.code)
    if taken is not None:
        raise Problem("already_exists", "A plan with this code exists.", extra={"field": "code"})
    if len(every(tx)) == MOST:
        raise Problem("limit_reached", f"There are {MOST} plans already.")
    tx.run(_INSERT, **dict(zip(PLANS.names, PLANS.dump(plan), strict=True)))
    return plan


def get(tx: ReadTx, id_: str) -> PlanRow:
    """One plan. Raises `Problem` `not_found`."""
    values = tx.row(_SELECT_ONE, id=id_)
    if values is None:
        raise not_found("plan")
    return PLANS.load(values)


def with_code(tx: ReadTx, code: str) -> PlanRow | None:
    """The plan of a code."""
    values = tx.row(_SELECT_BY_CODE, code=code)
    return None if values is None else PLANS.load(values)


def every(tx: ReadTx) -> list[PlanRow]:
    """All plans, the oldest first."""
    return [PLANS.load(values) for values in tx.rows(_SELECT_ALL, count=MOST)]


def retire(tx: WriteTx, plan: PlanRow) -> PlanRow:
    """Offer a plan no more. Raises `Problem` `invalid_state`."""
    if plan.status == "retired":
        raise invalid_state(
            "The plan is retired already: only one that is active can be retired.", "retired", ("active",)
        )
    tx.run(_RETIRE, id=plan.id, updated_at=tx.updated_at)
    return replace(plan, status="retired", retired_at=tx.now, updated_at=tx.updated_at, version=plan.version + 1)


def current(tx: ReadTx) -> Subscription | None:
    """The subscription of the organization; None: it has no plan, and nothing is metered."""
    values = tx.row(_SELECT_SUBSCRIBED)
    if values is None:
        return None
    plan_id, anchor_date, months, next_at = values
    at = None if next_at is None else Instant(next_at)
    return Subscription(plan_id, anchor_date, months, at, organizations.time_zone_of(tx))


def soft_limit(tx: ReadTx) -> bool | None:
    """Whether the plan of the organization refuses nothing; None: it has no plan."""
    value: int | None = tx.value(_SELECT_SOFT_LIMIT)
    return None if value is None else bool(value)


def included(tx: ReadTx) -> tuple[str, int] | None:
    """The id of the organization's plan, and what it includes each month, in millionths; None: it has no plan."""
    plan: tuple[str, int] | None = tx.row(_SELECT_INCLUDED)
    return plan


def limits(tx: ReadTx) -> PlanLimits:
    """What the plan of the organization allows at most; without a plan, anything."""
    subscription = current(tx)
    return PlanLimits() if subscription is None else get(tx, subscription.plan_id).limits


def is_any_subscribed(tx: ReadTx) -> bool:
    """Whether any organization of the instance has a plan."""
    return tx.row(_SELECT_ANY_SUBSCRIBED_ANY_ORG) is not None


def organization_with_due(tx: ReadTx, at: Instant) -> str | None:
    """An organization whose next month has begun and is not granted; None: there is none."""
    org_id: str | None = tx.value(_SELECT_WITH_DUE_ANY_ORG, at=at)
    return org_id


def subscribe(tx: WriteTx, plan: PlanRow, within: Allotment | None) -> Subscription:
    """Give the organization a plan, whose first month begins today, or go on `within` a month that was granted."""
    zone = organizations.time_zone_of(tx)
    if within is None:
        made = Subscription(plan.id, date_in(tx.now, zone), 0, tx.now, zone)
    else:
        month = within.month + 1
        made = Subscription(plan.id, within.anchor_date, month, _end_of(tx, within), zone)
    if not plan.included_credits:
        made = made._replace(next_at=None)
    values = made._asdict()
    del values["zone"]
    tx.run(_SUBSCRIBE, **values)
    return made


def allotted(tx: ReadTx) -> Allotment | None:
    """What the present month has been granted, by whichever plans; None: nothing."""
    values = tx.row(_SELECT_ALLOTTED)
    allotment = None if values is None else Allotment(*values)
    return allotment if allotment is not None and tx.now < _end_of(tx, allotment) else None


def _end_of(tx: ReadTx, allotment: Allotment) -> Instant:
    """When a month that was granted is over: by the zone that the subscription has kept, else by the organization's."""
    subscription = current(tx)
    if subscription is not None and subscription.anchor_date == allotment.anchor_date:
        return subscription.start_of(allotment.month + 1)
    return allotment.end_in(organizations.time_zone_of(tx))


def allot(tx: WriteTx, subscription: Subscription, month: int, granted: int) -> None:
    """Note what a month of a subscription has been granted in all, in millionths."""
    tx.run(_ALLOT, anchor_date=subscription.anchor_date, month=month, granted=granted)


def unsubscribe(tx: WriteTx) -> None:
    """Let the organization have no plan."""
    tx.run(_UNSUBSCRIBE)


def advance(tx: WriteTx, subscription: Subscription, months: int) -> None:
    """Note that so many months are granted, or were over before they could be."""
    tx.run(_ADVANCE, months=months, next_at=_start_of(subscription.anchor_date, months, subscription.zone))
