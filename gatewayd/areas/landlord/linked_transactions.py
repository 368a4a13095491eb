"""Linked transactions: what came of what is let, and what it cost (Spec §4, Domain A4 and B4)."""

from typing import Annotated

from msgspec import Meta, field

from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage, SyncRequest
from gatewayd.contract.wire import Amount, Date, ExternalId, Id, Response, encode
from gatewayd.errors import invalid_field
from gatewayd.ledger.allocating import allocation_pages, lets
from gatewayd.ledger.allocating.allocation_pages import CurrencyTotal, Filters
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Direction
from gatewayd.ledger.allocating.categories import Category
from gatewayd.ledger.allocating.lets import Names
from gatewayd.ledger.calendar import report_ranges
from gatewayd.ledger.calendar.report_ranges import TaxYear
from gatewayd.ledger.taxpayers import businesses
from gatewayd.money import Money
from gatewayd.store import ReadTx

Categories = Annotated[list[Category], Meta(min_length=1, max_length=40)]


class ListLinkedTransactions(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. Without `propertyId`, `unitId`, `tenancyId`, `mortgageId` or `businessId` it is the money of
    all properties."""

    property_id: Id | None = None
    """Only what names this property."""
    unit_id: Id | None = None
    """Only what names this unit."""
    tenancy_id: Id | None = None
    """Only what names this tenancy."""
    mortgage_id: Id | None = None
    """Only payments of this mortgage."""
    external_id: ExternalId | None = None
    business_id: Id | None = None
    """Only what is of this business, also what names no property."""
    category: Categories | None = None
    """Only what is of one of these categories."""
    direction: Direction | None = None
    """Only money that came `in`, or only money that went `out`."""
    from_date: Date | None = None
    """The first day of the money, inclusive."""
    to_date: Date | None = None
    """The last day of the money, inclusive."""
    tax_year: TaxYear | None = None
    """The days of this tax year, in the place of `fromDate` and `toDate`."""


class CurrencySums(Response, frozen=True, kw_only=True):
    """What came in and went out in one currency, and the difference."""

    currency: str
    """The currency of these sums."""
    count: int
    """How many transactions there are in it; rent that was written off is counted, and is no money."""
    money_in: Amount = field(name="in")
    """What came in, VAT included."""
    money_out: Amount = field(name="out")
    """What went out, VAT included; above zero."""
    net: Amount
    """`in` less `out`."""


class LinkedTotals(CurrencySums, frozen=True, kw_only=True):
    """The same in the currency of the property or business that is asked for, else in GBP, of all pages."""

    other_currencies: list[CurrencySums]
    """The same in each other currency that there is."""


class LinkedPage(SyncPage[Allocation], frozen=True, kw_only=True):
    """A page of linked transactions."""

    totals: LinkedTotals | None
    """The sums of all pages. Null: it is not the first page, or `updatedSince` was given."""


def list_linked_transactions(tx: ReadTx, caller: Caller, request: ListLinkedTransactions) -> Listing[Allocation]:
    """List what money of properties was for, latest first, or in the order of change with `updatedSince`.

    They are allocations of bank transactions, and entries of money that no bank shows. With `businessId` they are all
    of a business, those among them that name no property. The first page has the `totals` of all pages, unless
    `updatedSince` is given.
    """
    filters = _filters(request)
    page = allocation_pages.page(tx, request, filters)
    # Chosen: the sums of many take longer than a page, and are the same on the next; changes have none of their own
    is_first = request.cursor is None and request.updated_since is None
    totals = _totals(tx, request, filters) if is_first else None
    return page._replace(extra=b',"totals":%b%b' % (encode(totals), page.extra))


def _filters(request: ListLinkedTransactions) -> dict[str, object]:
    first, last = request.from_date, request.to_date
    named = {
        "property_id": request.property_id,
        "unit_id": request.unit_id,
        "tenancy_id": request.tenancy_id,
        "mortgage_id": request.mortgage_id,
        "business_id": request.business_id,
    }
    filters = allocation_pages.filters_of(
        **named,
        of_lets=True if all(id_ is None for id_ in named.values()) else None,
        external_id=request.external_id,
        direction=request.direction,
        from_date=first,
        to_date=last,
    )
    if request.tax_year is not None:
        if first is not None or last is not None:
            raise invalid_field("taxYear", "conflict", "Give taxYear, or fromDate and toDate.")
        filters["from_date"], filters["to_date"] = report_ranges.of_tax_year(request.tax_year)
    elif first is not None and last is not None and last < first:
        raise invalid_field("toDate", "date_order", "It is before fromDate: expected that day or a later one.")
    return filters | allocation_pages.of_categories(list(dict.fromkeys(request.category or ())))


def _totals(tx: ReadTx, request: ListLinkedTransactions, filters: Filters) -> LinkedTotals:
    by_currency = {total.currency: total for total in allocation_pages.totals(tx, filters)}
    currency = _currency(tx, request)
    own = _currency_sums(by_currency.pop(currency, CurrencyTotal(currency, 0, 0, 0)))
    return LinkedTotals(
        currency=currency,
        count=own.count,
        money_in=own.money_in,
        money_out=own.money_out,
        net=own.net,
        other_currencies=[_currency_sums(total) for total in by_currency.values()],
    )


def _currency(tx: ReadTx, request: ListLinkedTransactions) -> str:
    """The currency of the property, else of the business.

    Chosen: pounds where several are asked for, or one that does not exist.
    """
    named = Names(property_id=request.property_id, unit_id=request.unit_id, tenancy_id=request.tenancy_id)
    let = lets.place_of(tx, named).property
    if let is not None:
        return let.currency
    business = None if request.business_id is None else businesses.find(tx, request.business_id)
    return "GBP" if business is None else business.currency


def _currency_sums(total: CurrencyTotal) -> CurrencySums:
    return CurrencySums(
        currency=total.currency,
        count=total.number,
        money_in=Money(total.money_in, total.currency),
        money_out=Money(total.money_out, total.currency),
        net=Money(total.money_in - total.money_out, total.currency),
    )


OPERATIONS = (
    Operation(
        id="landlord.listLinkedTransactions",
        kind="read",
        method="GET",
        path="/landlord/listLinkedTransactions",
        scopes=("accounting:read",),
        request=ListLinkedTransactions,
        response=LinkedPage,
        handler=list_linked_transactions,
        held=HeldBy(
            leads={
                "property_id": "property",
                "unit_id": "unit",
                "tenancy_id": "tenancy",
                "mortgage_id": "mortgage",
                "business_id": "business",
            },
            days=Days(tax_year="tax_year"),
        ),
        errors=("date_order",),
        example={"taxYear": "2026-27", "category": ["periodAmount"], "limit": 20},
    ),
)
