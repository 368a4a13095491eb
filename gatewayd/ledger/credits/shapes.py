"""What credits look like (Domain B8): the responses, and the rows where they differ."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import Amount, CreditAmount, DateText, Flat, Id, Part, Response, Timestamp
from gatewayd.money import Credits

EntryType = Literal["grant", "purchase", "usage", "expiry", "void", "refund", "adjustment"]
Category = Literal["promotional", "paid"]
Source = Literal["grant", "purchase", "plan", "refund", "adjustment"]
GrantStatus = Literal["active", "used", "expired", "voided"]
Rollover = Literal["none", "full", "capped"]
PlanStatus = Literal["active", "retired"]
Unit = Literal["call", "page", "mb"]
OperationName = Annotated[
    str,
    Meta(
        max_length=80,
        pattern=r"^[a-z][A-Za-z0-9]*(\.[A-Za-z0-9]+)+$",
        description="What is charged for: the id of an operation, or the name of work that has a price of its own.",
        examples=["vault.parse"],
    ),
]


class Subject(Part, frozen=True, kw_only=True):
    """What the work was about."""

    type: Annotated[str, Meta(min_length=1, max_length=64, examples=["document"])]
    id: Annotated[str, Meta(min_length=1, max_length=128)]


class LedgerEntry(Response, frozen=True, kw_only=True):
    """One entry of the ledger. It never changes: what corrects it is another one, with `reversalOf`."""

    id: Id
    sequence: Annotated[int, Meta(description="From 1, without gaps in the organization.")]
    type: EntryType
    amount: Annotated[CreditAmount, Meta(description="Signed: what was used, expired or taken back is negative.")]
    balance_after: Annotated[CreditAmount, Meta(description="Below 0 under a plan with a soft limit alone.")]
    grant_id: Annotated[str | None, Meta(description="The grant that it made or drew from.")]
    operation: str | None
    subject: Flat[Subject] | None
    description: str | None
    occurred_at: Annotated[Timestamp, Meta(description="Of a refund: when what it gives back was used.")]
    booked_at: Timestamp
    reversal_of: str | None
    import_id: str | None
    external_id: str | None


class EntryRow(LedgerEntry, frozen=True, kw_only=True):
    """An entry as it is stored. Lifetime sums run up to it; `part` counts the entries of one charge from 1."""

    operation_id: str | None
    part: int
    lifetime_granted: CreditAmount
    lifetime_used: CreditAmount


class GrantRow(Response, frozen=True, kw_only=True):
    """Credits that were given at once, and what became of them: `amount` - used - expired - voided = remaining."""

    id: Id
    source: Source
    category: Category
    priority: Annotated[int, Meta(description="The lower is drawn from first.")]
    amount: CreditAmount
    used: CreditAmount
    expired: CreditAmount
    voided: CreditAmount
    remaining: CreditAmount
    held: Annotated[CreditAmount, Meta(description="Of what remains, for work that is under way.")]
    description: str | None
    expires_at: Timestamp | None
    voided_at: Timestamp | None
    created_at: Timestamp


class CreditGrant(GrantRow, frozen=True, kw_only=True):
    """A grant, and how it stands today."""

    status: GrantStatus


class ExpiringCredits(Response, frozen=True, kw_only=True):
    """What expires at one instant."""

    amount: CreditAmount
    expires_at: Timestamp


class CreditBalance(Response, frozen=True, kw_only=True):
    """What an organization may use at an instant."""

    balance: Annotated[CreditAmount, Meta(description="Below 0 it is what is owed, under a plan with a soft limit.")]
    available: Annotated[CreditAmount, Meta(description="The balance without what is held.")]
    held: Annotated[CreditAmount, Meta(description="For work that is under way.")]
    expiring_soon: Annotated[list[ExpiringCredits], Meta(description="Within 30 days, the earliest first.")]
    lifetime_granted: CreditAmount
    lifetime_used: Annotated[CreditAmount, Meta(description="Without what was refunded.")]
    unit: Literal["credit"]
    as_of: Timestamp
    plan_id: Annotated[str | None, Meta(description="Null: nothing is metered.")]
    low_balance: Annotated[
        bool, Meta(description="Whether, under a plan, less is available than a tenth of what it includes each month.")
    ]


class UsedCredits(Response, frozen=True, kw_only=True):
    """What some operations used."""

    credits: CreditAmount
    count: Annotated[int, Meta(description="How many operations.")]


class UsageDay(Response, frozen=True, kw_only=True):
    """What was used on one day of the time zone, without what was refunded of it."""

    date: DateText
    credits: CreditAmount
    operations: int
    by_operation: dict[str, UsedCredits]


class UsageTotals(Response, frozen=True, kw_only=True):
    """What was used on all days together."""

    credits: CreditAmount
    operations: int
    by_operation: dict[str, UsedCredits]


class UsageSummary(Response, frozen=True, kw_only=True):
    """Usage by day. Grouped by `operation` the days are left out, and the totals tell it."""

    data: list[UsageDay]
    totals: UsageTotals
    from_date: DateText
    to_date: DateText
    timezone: str


class PlanLimits(Part, frozen=True, kw_only=True):
    """What a plan allows at most. Null: any number. What was there before stays, and nothing is added to it."""

    documents: Annotated[int, Meta(ge=0, description="With those in the trash.")] | None = None
    storage_bytes: Annotated[int, Meta(ge=0, description="Of documents, with those in the trash.")] | None = None
    connections: Annotated[int, Meta(ge=0, description="Told alone: nothing is refused by it.")] | None = None


class PlanRow(Response, frozen=True, kw_only=True):
    """What an organization can subscribe to, as it is stored."""

    id: Id
    code: str
    name: str
    description: str | None
    currency: str
    price_monthly: Amount | None
    price_yearly: Amount | None
    included_credits: Annotated[CreditAmount, Meta(description="Granted at the start of each month.")]
    rollover: Annotated[
        Rollover,
        Meta(
            description="What becomes of included credits at the end of their month. none: they expire; "
            "capped: they last for one more month; full: they stay."
        ),
    ]
    soft_limit: Annotated[bool, Meta(description="Whether work is done, and counted, where there are no credits left.")]
    features: dict[str, bool]
    limits: PlanLimits
    status: PlanStatus
    retired_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class Plan(PlanRow, frozen=True, kw_only=True):
    """What an organization can subscribe to. Plans are of the instance."""

    current: Annotated[bool, Meta(description="Whether the organization has it.")]


class CostRow(Response, frozen=True, kw_only=True):
    """What one unit of work costs in some days, as it is stored."""

    operation: str
    unit: Unit
    credits: CreditAmount
    effective_from: DateText
    effective_to: Annotated[DateText | None, Meta(description="The last day; null: until further notice.")]
    description: str | None


class OperationCost(CostRow, frozen=True, kw_only=True):
    """What one unit of work costs in some days. Costs are of the instance; what has none is free."""

    known: Annotated[
        bool,
        Meta(description="Whether anything is charged under this name by this unit; a cost of 0 takes out what isn't."),
    ]


ZERO = Credits(0)
