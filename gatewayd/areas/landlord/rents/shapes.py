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
    """Whose rents: of a tenancy, of a property or of a business, one of the three.

    Dates are those on which rent falls due, and inclusive: from the start of each tenancy to 31 days ahead by default.
    """

    tenancy_id: Id | None = None
    property_id: Id | None = None
    business_id: Id | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    status: RentStatuses | None = None


class RentDue(Response, frozen=True, kw_only=True):
    """A rent of a tenancy, which is due on the first day of its period, and what has come for it.

    Whatever is allocated to the tenancy as rent pays its oldest rents first, and `allocationIds` is what paid this one,
    or wrote it off. `status`: `paid`; `written_off` where the rest of it was; else `upcoming` before its day;
    `part_paid` where a part of it came; `due` on its day, and `late` after it. `daysLate` is 0 for what is paid.
    """

    tenancy_id: Id
    property_id: Id
    unit_id: str | None
    due_date: DateText
    period_start_date: DateText
    period_end_date: DateText
    amount: Amount
    received: Amount
    written_off: Amount
    outstanding: Amount
    currency: str
    status: RentStatus
    days_late: int
    allocation_ids: list[Id]


class RecordRent(Request, frozen=True, kw_only=True):
    """Rent that no bank transaction shows, in the tenancy's currency. `date` is today by default.

    `method` says how it came where `description` does not. `fxRate` is for a tenancy in another currency than the
    business's.
    """

    tenancy_id: Id
    date: Date | None = None
    amount: AmountText
    method: RentMethod = "cash"
    description: RentDescription | None = None
    fx_rate: RentFxRate | None = None
    external_id: ExternalId | None = None


class RecordedRent(Response, frozen=True, kw_only=True):
    """The allocation that was made, and where the tenancy stands today: rent that is owed, or was paid ahead."""

    allocation: Allocation
    arrears: Amount
    credit: Amount
    currency: str


class WriteOffRent(Request, frozen=True, kw_only=True):
    """Rent that will not come. `amount` is by default all that is owed on `date`, which is today by default."""

    tenancy_id: Id
    amount: AmountText | None = None
    date: Date | None = None
    reason: RentDescription
    external_id: ExternalId | None = None


class WrittenOffRent(Response, frozen=True, kw_only=True):
    """The entry that was made, and what the tenancy owes today after it."""

    allocation: Allocation
    arrears: Amount
    currency: str
