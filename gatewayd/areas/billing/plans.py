"""Plans (Spec §4, Domain B8): what an organization can subscribe to, and what it has. Making them is an extension."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from gatewayd.areas.billing.administration import not_negative, record, record_for_all
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, LongLimit, Page, PageRequest, listing_of
from gatewayd.contract.wire import AmountText, CreditsText, Currency, Request, project
from gatewayd.errors import invalid_field, invalid_state, not_found
from gatewayd.identity.people.users import require_administrator
from gatewayd.ledger.credits import booking, plans
from gatewayd.ledger.credits.shapes import Plan, PlanLimits, PlanRow, Rollover
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

NO_PLAN: Final = "none"
Code = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$",
        extra={"form": "1 to 64 small letters, digits, dashes or underscores"},
        examples=["studio"],
    ),
]
Feature = Annotated[
    str,
    Meta(
        pattern=r"^[a-z][A-Za-z0-9_]{0,63}$",
        extra={"form": "1 to 64 letters, digits or underscores, the first a small letter"},
    ),
]


class GetPlans(PageRequest, frozen=True, kw_only=True):
    """Which plans."""

    limit: LongLimit = 500
    include_retired: bool = False
    """Whether plans that are not offered any more are listed too."""


class CreatePlan(Request, frozen=True, kw_only=True):
    """A new plan. It never changes afterwards."""

    code: Code
    name: Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S")]
    description: Annotated[str, Meta(min_length=1, max_length=2000)] | None = None
    currency: Currency = "GBP"
    price_monthly: AmountText | None = None
    price_yearly: AmountText | None = None
    included_credits: CreditsText = "0"
    rollover: Rollover = "none"
    soft_limit: bool = False
    features: Annotated[list[Feature], Meta(max_length=100)] = msgspec.field(default_factory=list)
    """The features that it has, by names of your own: told to applications that ask, and of no effect here."""
    limits: PlanLimits = PlanLimits()


class RetirePlan(Request, frozen=True, kw_only=True):
    """Which plan, by its code."""

    code: Code


class SetPlan(Request, frozen=True, kw_only=True):
    """Which plan the organization has."""

    code: Code
    """The code of the plan. `none`: it has no plan, and nothing is metered."""


def get_plans(tx: ReadTx, caller: Caller, request: GetPlans) -> Listing[Plan]:
    """List the plans of the instance; `current` is the organization's own.

    That one is listed even where it is retired.
    """
    current = _current(tx)
    listed = [
        plan for plan in plans.every(tx) if request.include_retired or plan.status == "active" or plan.id == current
    ]
    return listing_of(request, [_shown_plan(plan, current) for plan in listed], lambda plan: plan.id)


def create_plan(tx: WriteTx, caller: Caller, request: CreatePlan) -> Plan:
    """Create a plan, which organizations then can have. An administrator of the instance does."""
    require_administrator(tx, caller)
    if request.code == NO_PLAN:
        raise invalid_field("code", "conflict", "It says that an organization has no plan: expected another code.")
    row = PlanRow(
        id=tx.new_id("plan"),
        code=request.code,
        name=request.name,
        description=request.description,
        currency=request.currency,
        price_monthly=_price("priceMonthly", request.price_monthly, request.currency),
        price_yearly=_price("priceYearly", request.price_yearly, request.currency),
        included_credits=not_negative("includedCredits", request.included_credits),
        rollover=request.rollover,
        soft_limit=request.soft_limit,
        features=dict.fromkeys(request.features, True),
        limits=request.limits,
        status="active",
        retired_at=None,
        created_at=tx.now,
        updated_at=tx.updated_at,
        version=1,
    )
    plans.create(tx, row)
    record_for_all(tx, caller, "plan.created", row.id)
    return _shown_plan(row, None)


def retire_plan(tx: WriteTx, caller: Caller, request: RetirePlan) -> Plan:
    """Offer a plan no more. Whoever has it keeps it. An administrator of the instance does."""
    require_administrator(tx, caller)
    plan = plans.with_code(tx, request.code)
    if plan is None:
        raise not_found("plan")
    retired = plans.retire(tx, plan)
    record_for_all(tx, caller, "plan.retired", plan.id)
    return _shown_plan(retired, _current(tx))


def set_plan(tx: WriteTx, caller: Caller, request: SetPlan) -> Listing[Plan]:
    """Give the organization a plan, from now on, or none. An administrator of the instance does.

    The first month begins today, with its included credits. What the plan before has granted stays until it expires. A
    month is granted once: in one that was granted already another plan adds what it includes more, and from the next
    one on it grants all that it includes. To set the plan that it has already changes nothing.

    The answer is the list of plans.
    """
    require_administrator(tx, caller)
    plan = plans.with_code(tx, request.code)
    if plan is None and request.code != NO_PLAN:
        message = "There is no such plan: `billing.getPlans` lists those there are."
        raise invalid_field("code", "unknown_reference", message)
    current = _current(tx)
    if (None if plan is None else plan.id) != current:
        if plan is not None and plan.status == "retired":
            message = "The plan is retired: choose one that is active, of those that `billing.getPlans` lists."
            raise invalid_state(message, "retired", ("active",))
        booking.change_plan(tx, plan)
        record(tx, caller, "plan.set", "none" if plan is None else plan.id)
    return get_plans(tx, caller, GetPlans())


def _current(tx: ReadTx) -> str | None:
    subscription = plans.current(tx)
    return None if subscription is None else subscription.plan_id


def _shown_plan(plan: PlanRow, current: str | None) -> Plan:
    return project(plan, Plan, current=plan.id == current)


def _price(path: str, text: str | None, currency: str) -> Money | None:
    if text is None:
        return None
    try:
        price = Money.of(text, currency)
    except ValueError as error:
        raise invalid_field(path, "invalid_decimal", f"{error}.") from None
    if price.minor < 0:
        raise invalid_field(path, "out_of_range", "Expected 0 or more.")
    return price


OPERATIONS = (
    Operation(
        id="billing.getPlans",
        kind="read",
        method="GET",
        path="/billing/plans",
        scopes=("billing:read",),
        request=GetPlans,
        response=Page[Plan],
        handler=get_plans,
        example={"includeRetired": True},
    ),
    Operation(
        id="billing.createPlan",
        kind="write",
        method="POST",
        path="/billing/plans",
        scopes=("billing:write",),
        request=CreatePlan,
        response=Plan,
        handler=create_plan,
        errors=("already_exists", "conflict", "forbidden", "invalid_decimal", "limit_reached", "out_of_range"),
        extension=True,
        example={
            "code": "studio",
            "name": "Studio",
            "priceMonthly": "12.00",
            "includedCredits": "1000",
            "rollover": "capped",
            "features": ["vectorSearch"],
            "limits": {"documents": 5000},
        },
    ),
    Operation(
        id="billing.retirePlan",
        kind="write",
        method="POST",
        path="/billing/plans/retire",
        scopes=("billing:write",),
        request=RetirePlan,
        response=Plan,
        handler=retire_plan,
        errors=("forbidden", "invalid_state"),
        extension=True,
        example={"code": "shared-box"},
    ),
    Operation(
        id="billing.setPlan",
        kind="write",
        method="POST",
        path="/billing/plans/current",
        scopes=("billing:write",),
        request=SetPlan,
        response=Page[Plan],
        handler=set_plan,
        errors=("forbidden", "invalid_state", "unknown_reference"),
        extension=True,
        example={"code": "shared-box"},
    ),
)
