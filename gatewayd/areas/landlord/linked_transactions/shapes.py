"""What lists of linked transactions ask and answer (Domain A4, B4)."""

from typing import Annotated

from msgspec import Meta, field

from gatewayd.contract.pages import Page, SyncRequest
from gatewayd.contract.wire import Amount, Date, Id, Response
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Direction
from gatewayd.ledger.allocating.categories import Category
from gatewayd.ledger.calendar.report_ranges import TaxYear

Categories = Annotated[list[Category], Meta(min_length=1, max_length=40)]


class ListLinkedTransactions(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. Dates are those of the money, and inclusive; `taxYear` is short for both.

    Without `propertyId`, `unitId`, `tenancyId` or `businessId` it is the money of all properties.
    """

    property_id: Id | None = None
    unit_id: Id | None = None
    tenancy_id: Id | None = None
    business_id: Id | None = None
    category: Categories | None = None
    direction: Direction | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    tax_year: TaxYear | None = None


class CurrencySums(Response, frozen=True, kw_only=True):
    """What came in and went out in one currency, and the difference."""

    currency: str
    count: int
    money_in: Amount = field(name="in")
    money_out: Amount = field(name="out")
    net: Amount


class LinkedTotals(CurrencySums, frozen=True, kw_only=True):
    """The same in the currency of what is asked for, of all pages; `otherCurrencies` are those that are there too."""

    other_currencies: list[CurrencySums]


class LinkedPage(Page[Allocation], frozen=True, kw_only=True):
    """A page of linked transactions. `totals` are of all pages: null after the first, and with `updatedSince`."""

    totals: LinkedTotals | None
