"""Requests and responses of rents (Domain B4, C3, F.7)."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Amount, AmountText, Date, DateText, DecimalText, ExternalId, Id, Request, Response
from gatewayd.ledger.allocating.allocation_shapes import Allocation

RentStatus = Literal["paid", "part_paid", "due", "late", "upcoming", "written_off"]
RentMethod = Literal["cash", "cheque", "card", "bank_transfer", "other"]

RentDescription = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]
RentFxRate = Annotated[DecimalText, Meta(description="Units of the business's currency for one of the tenancy's.")]
RentStatuses = Annotated[list[RentStatus], Meta(max_length=6)]


class ListRentsDue(PageRequest, frozen=True, kw_only=True):
    """Whose rents: of a tenancy, of a property, of a business or of a legal entity, one of the four."""

    tenancy_id: Id | None = None
    """The tenancy whose rents are listed."""
    property_id: Id | None = None
    """The property whose rents are listed."""
    business_id: Id | None = None
    """The business of whose properties the rents are listed."""
    legal_entity_id: Id | None = None
    """The legal entity of whose businesses' properties the rents are listed."""
    from_date: Date | None = None
    """The first due date, inclusive. Left out: from the start of each tenancy."""
    to_date: Date | None = None
    """The last due date, inclusive. Left out: 31 days from today."""
    status: RentStatuses | None = None
    """Only rents in one of these states."""


class RentDue(Response, frozen=True, kw_only=True):
    """A rent of a tenancy, and what has come for it."""

    tenancy_id: Id
    """The tenancy that owes it."""
    property_id: Id
    """The property that is let."""
    unit_id: str | None
    """The unit that is let. Null: the whole property."""
    due_date: DateText
    """The day on which it is due: rent is due in advance, on the first day of its period."""
    period_start_date: DateText
    """The first day that it pays for."""
    period_end_date: DateText
    """The last day that it pays for."""
    amount: Amount
    """The rent of the period, or of the part of one at the start or the end, VAT included where it is charged."""
    received: Amount
    """What has come for it: money that is allocated to the tenancy as rent pays its oldest rents first."""
    written_off: Amount
    """What of it was written off, and will not come."""
    outstanding: Amount
    """What is still to come: `amount` less `received` and `writtenOff`."""
    currency: str
    """The tenancy's currency."""
    status: RentStatus
    """`paid`: nothing is outstanding; `written_off`: so it is since the rest was written off; else `upcoming` before
    its day, `part_paid` where a part came, `due` on its day, `late` after it."""
    days_late: int
    """How many days ago it fell due, while anything is outstanding; else 0."""
    allocation_ids: list[Id]
    """The allocations that paid it or wrote it off."""


class RecordRent(Request, frozen=True, kw_only=True):
    """Rent that no bank transaction shows."""

    tenancy_id: Id
    """The tenancy whose rent it is."""
    date: Date | None = None
    """The day on which it came. Left out: today."""
    amount: AmountText
    """What came, above 0, in the tenancy's currency, VAT included where it is charged."""
    method: RentMethod = "cash"
    """How it came: the allocation is described by it where there is no `description`."""
    description: RentDescription | None = None
    """What the allocation says. Left out: `Rent in cash` and the like, by `method`."""
    fx_rate: RentFxRate | None = None
    external_id: ExternalId | None = None


class RecordedRent(Response, frozen=True, kw_only=True):
    """The allocation that was made, and where the tenancy stands after it."""

    allocation: Allocation
    """The allocation that was made; `banking.removeAllocation` takes it back."""
    arrears: Amount
    """Rent that the tenancy owes today."""
    credit: Amount
    """Rent that the tenancy has paid ahead, as of today."""
    currency: str
    """The tenancy's currency."""


class WriteOffRent(Request, frozen=True, kw_only=True):
    """Rent that will not come."""

    tenancy_id: Id
    """The tenancy that owes it."""
    amount: AmountText | None = None
    """How much is written off, above 0, up to what is owed. Left out: all that is owed on `date`, and still today."""
    date: Date | None = None
    """The day on which it is written off: on accruals it is an expense of that day. Left out: today."""
    reason: RentDescription
    """Why it will not come: the allocation is described by it."""
    external_id: ExternalId | None = None


class WrittenOffRent(Response, frozen=True, kw_only=True):
    """The allocation that was made, and what the tenancy owes after it."""

    allocation: Allocation
    """The allocation that was made; `banking.removeAllocation` takes it back."""
    arrears: Amount
    """Rent that the tenancy owes today."""
    currency: str
    """The tenancy's currency."""
