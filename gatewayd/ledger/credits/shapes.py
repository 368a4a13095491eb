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
        extra={"form": "the id of an operation"},
        description="What is charged for: the id of an operation, or the name of work that has a price of its own.",
        examples=["vault.parse"],
    ),
]


class Subject(Part, frozen=True, kw_only=True):
    """What the work was about."""

    type: Annotated[str, Meta(min_length=1, max_length=64, examples=["document"])]
    """The kind of thing, such as `document` or the kind of a credential."""
    id: Annotated[str, Meta(min_length=1, max_length=128)]


class LedgerEntry(Response, frozen=True, kw_only=True):
    """One entry of the ledger. It never changes: what corrects it is another one, with `reversalOf`."""

    id: Id
    sequence: int
    """Number of the entry in the organization's ledger, from 1, without gaps."""
    type: EntryType
    """`grant`, `purchase`: credits were given. `usage`: work was done. `expiry`, `void`: what was left of a grant went.
    `refund`: usage was given back. `adjustment`: somebody put it right."""
    amount: CreditAmount
    """How many credits: what was given is positive, what was used, expired or taken back is negative."""
    balance_after: CreditAmount
    """The balance once it was booked; below 0 under a plan with a soft limit alone."""
    grant_id: str | None
    """The grant that it made or drew from. Null: none, as where there was nothing left under a soft limit."""
    operation: str | None
    """What was charged for: an operation, or work with a price of its own. Null: it is no usage, and no refund of
    any."""
    subject: Flat[Subject] | None
    """What the work was about. Null: nothing that is told apart."""
    description: str | None
    """What whoever made the entry said of it. Null: nothing."""
    occurred_at: Timestamp
    """When it occurred. Of a refund: when what it gives back was used."""
    booked_at: Timestamp
    """When it was entered here, by which `sequence` goes."""
    reversal_of: str | None
    """The entry of usage that a refund gives back. Null: it is no refund."""
    import_id: str | None
    """The import from another ledger that brought it. Null: none did."""
    external_id: str | None
    """The entry's own identifier in the ledger that it was imported from. Null: none."""


class EntryRow(LedgerEntry, frozen=True, kw_only=True):
    """An entry as it is stored. Lifetime sums run up to it; `part` counts the entries of one charge from 1."""

    operation_id: str | None
    part: int
    lifetime_granted: CreditAmount
    lifetime_used: CreditAmount


class GrantRow(Response, frozen=True, kw_only=True):
    """Credits that were given at once, and what became of them."""

    id: Id
    source: Source
    """Where the credits are from: given (`grant`), paid for (`purchase`), included in the `plan`, a `refund` whose
    grant was gone, or an `adjustment`."""
    category: Category
    """Whether they were given (`promotional`) or `paid` for; at the same priority and expiry promotional ones are drawn
    from first."""
    priority: int
    """Grants with a lower number are drawn from first."""
    amount: CreditAmount
    """How many credits were given; `used`, `expired`, `voided` and `remaining` add up to it."""
    used: CreditAmount
    """How many were used, less what was refunded."""
    expired: CreditAmount
    """How many expired unused."""
    voided: CreditAmount
    """How many were taken back unused."""
    remaining: CreditAmount
    """How many are left."""
    held: CreditAmount
    """How many of `remaining` are held for work that is under way."""
    description: str | None
    """What whoever gave them said of it. Null: nothing."""
    expires_at: Timestamp | None
    """When what is left expires. Null: never."""
    voided_at: Timestamp | None
    """When it was taken back. Null: it was not."""
    created_at: Timestamp


class CreditGrant(GrantRow, frozen=True, kw_only=True):
    """A grant, and how it stands today."""

    status: GrantStatus
    """`active`: there are credits left. `used`: none are. `expired`, `voided`: what was left is gone."""


class ExpiringCredits(Response, frozen=True, kw_only=True):
    """What expires at one instant."""

    amount: CreditAmount
    """How many credits expire, if they are not used before."""
    expires_at: Timestamp
    """The instant at which they expire."""


class CreditBalance(Response, frozen=True, kw_only=True):
    """What an organization may use at an instant."""

    balance: CreditAmount
    """How many credits there are; below 0, under a plan with a soft limit, how many are owed."""
    available: CreditAmount
    """`balance` without `held`: what can be used now."""
    held: CreditAmount
    """What is held for work that is under way."""
    expiring_soon: list[ExpiringCredits]
    """What expires within 30 days, the earliest first; empty where `asOf` is past."""
    lifetime_granted: CreditAmount
    """All that was ever given, with what has expired since."""
    lifetime_used: CreditAmount
    """All that was ever used, without what was refunded."""
    unit: Literal["credit"]
    """What all its amounts are in."""
    as_of: Timestamp
    """The instant of which it tells."""
    plan_id: str | None
    """The organization's plan today. Null: it has none, and nothing is metered."""
    low_balance: bool
    """Whether, under a plan, nothing is available, or less than a tenth of what it includes each month."""


class UsedCredits(Response, frozen=True, kw_only=True):
    """What some operations used."""

    credits: CreditAmount
    """How many credits they used."""
    count: int
    """How many times it was charged."""


class UsageDay(Response, frozen=True, kw_only=True):
    """What was used on one day of the time zone, without what was refunded of it."""

    date: DateText
    """The day, in the `timezone` of the answer."""
    credits: CreditAmount
    """How many credits were used, 0 or more."""
    operations: int
    """How many times something was charged."""
    by_operation: dict[str, UsedCredits]
    """The same by what was charged for, under the names of `billing.getOperationCosts`."""


class UsageTotals(Response, frozen=True, kw_only=True):
    """What was used on all days together."""

    credits: CreditAmount
    """How many credits were used, 0 or more."""
    operations: int
    """How many times something was charged."""
    by_operation: dict[str, UsedCredits]
    """The same by what was charged for, under the names of `billing.getOperationCosts`."""


class UsageSummary(Response, frozen=True, kw_only=True):
    """Usage by day."""

    data: list[UsageDay]
    """Every day of the range, those without usage too. Empty: grouped by `operation`, which the totals tell."""
    totals: UsageTotals
    """What was used on all days together."""
    from_date: DateText
    """The first day."""
    to_date: DateText
    """The last day, inclusive."""
    timezone: str
    """The IANA name of the time zone by which days begin."""


class PlanLimits(Part, frozen=True, kw_only=True):
    """What a plan allows at most. What was there before stays, and nothing is added to it."""

    documents: Annotated[int, Meta(ge=0)] | None = None
    """How many documents, with those in the trash. Null: any number."""
    storage_bytes: Annotated[int, Meta(ge=0)] | None = None
    """How many bytes of documents, with those in the trash. Null: any number."""
    connections: Annotated[int, Meta(ge=0)] | None = None
    """How many connections; told alone, and nothing is refused by it. Null: any number."""


class PlanRow(Response, frozen=True, kw_only=True):
    """What an organization can subscribe to, as it is stored."""

    id: Id
    code: str
    """A short name, unique in the instance, by which the plan is set."""
    name: str
    """What the plan is called."""
    description: str | None
    """What it offers, in words. Null: nobody said."""
    currency: str
    """The currency of its prices."""
    price_monthly: Amount | None
    """Its price for a month; it is told alone, as nothing is collected here. Null: it has none."""
    price_yearly: Amount | None
    """Its price for a year; it is told alone, as nothing is collected here. Null: it has none."""
    included_credits: CreditAmount
    """How many credits are granted at the start of each month."""
    rollover: Rollover
    """What becomes of included credits at the end of their month. `none`: they expire; `capped`: they last for one more
    month; `full`: they stay."""
    soft_limit: bool
    """Whether work is done, and counted, where there are no credits left; otherwise it is refused."""
    features: dict[str, bool]
    """Which features it has, by names of your own. They are told to applications that ask, and change nothing here."""
    limits: PlanLimits
    """What it allows at most."""
    status: PlanStatus
    """Whether it can be set. Who has one that is `retired` keeps it."""
    retired_at: Timestamp | None
    """When it was retired. Null: it was not."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class Plan(PlanRow, frozen=True, kw_only=True):
    """What an organization can subscribe to. Plans are of the instance."""

    current: bool
    """Whether the organization has it."""


class CostRow(Response, frozen=True, kw_only=True):
    """What one unit of work costs in some days, as it is stored."""

    operation: str
    """What is charged for: the id of an operation, or the name of work with a price of its own."""
    unit: Unit
    """What one price is for: a `call`, a `page` of a document, or an `mb` of it."""
    credits: CreditAmount
    """The price of one unit. 0: free from this day on."""
    effective_from: DateText
    """The first day, in London."""
    effective_to: DateText | None
    """The last day, in London. Null: until further notice."""
    description: str | None
    """What whoever set it said of it. Null: nothing."""


class OperationCost(CostRow, frozen=True, kw_only=True):
    """What one unit of work costs in some days. Costs are of the instance; what has none is free."""

    known: bool
    """Whether this version charges anything under this name by this unit; else a cost of 0 takes it out."""


ZERO = Credits(0)
