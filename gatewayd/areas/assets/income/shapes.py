"""What income looks like (Domain B3): it follows from transactions, and has no table."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.assets.books.transactions import IncomeKind
from gatewayd.contract.pages import LongLimit, Page, PageRequest
from gatewayd.contract.wire import Amount, CanonicalDecimal, Date, DateText, Id, Response

IncomeStatus = Literal["expected", "received", "cancelled"]
UkCategory = Literal[
    "uk_dividend",
    "foreign_dividend",
    "uk_interest",
    "foreign_interest",
    "property_income_distribution",
    "exempt_wrapper",
    "not_income",
]
TaxYear = Annotated[str, Meta(max_length=7, description="Of the pay date.", examples=["2026-27"])]
OfBase = Meta(extra={"currency": "base_currency"})


class IncomeEvent(Response, frozen=True, kw_only=True):
    """What an account earned, or will have by its pay date. `net` is `gross` without what was withheld."""

    id: Id
    transaction_id: Id
    account_id: Id
    portfolio_id: Id
    legal_entity_id: Id
    instrument_id: Id | None
    kind: IncomeKind
    ex_date: DateText | None
    pay_date: DateText
    status: IncomeStatus
    quantity: CanonicalDecimal | None
    per_unit: CanonicalDecimal | None
    gross: Amount
    withheld_tax: Amount
    net: Amount
    currency: str
    fx_rate: CanonicalDecimal
    base_currency: str
    gross_base: Annotated[Amount, OfBase]
    tax_year: str
    uk_category: UkCategory


class IncomeTotal(Response, frozen=True, kw_only=True):
    """What all events of the filter come to, of one category in one currency."""

    currency: str
    base_currency: str
    uk_category: UkCategory
    count: int
    gross: Amount
    withheld_tax: Amount
    net: Amount
    gross_base: Annotated[Amount, OfBase]


class IncomeEventPage(Page[IncomeEvent], frozen=True, kw_only=True):
    """A page of income. `totals` are of everything that the filter finds, whatever the page."""

    totals: list[IncomeTotal]


class ListIncomeEvents(PageRequest, frozen=True, kw_only=True):
    """Filters of the list: latest pay date first. Without `status`, what is expected or received."""

    portfolio_id: Id | None = None
    account_id: Id | None = None
    legal_entity_id: Id | None = None
    instrument_id: Id | None = None
    kind: list[IncomeKind] | None = None
    tax_year: TaxYear | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    status: IncomeStatus | None = None
    limit: LongLimit = 50
