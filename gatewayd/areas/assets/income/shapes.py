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
    """What an account earned, or will have by its pay date."""

    id: Id
    transaction_id: Id
    """The transaction that it follows from."""
    account_id: Id
    """The account that earned it."""
    portfolio_id: Id
    """The portfolio of the account."""
    legal_entity_id: Id
    """The legal entity whose account it is."""
    instrument_id: Id | None
    """The instrument that paid it. Null: it is of none, such as interest on cash."""
    kind: IncomeKind
    """What it is called; a stock dividend is a `dividend`. A `notional_distribution` is income that a fund keeps,
    `excess_reportable_income` what an offshore fund reports and does not pay."""
    ex_date: DateText | None
    """The first day on which a buyer no longer got it. Null: not known."""
    pay_date: DateText
    """The day on which it counts as income; of excess reportable income, 6 months after the end of the fund's
    period."""
    status: IncomeStatus
    """`expected` before its pay date, `received` from that day on, `cancelled` where its transaction was reversed."""
    quantity: CanonicalDecimal | None
    """Of how many units: as given, else what the account held before the ex-date, or without one on the trade date.
    Null: of none, or none were held."""
    per_unit: CanonicalDecimal | None
    """What each unit got in `currency`: as given, else gross divided by quantity. Null: not known, or a stock
    dividend."""
    gross: Amount
    """The income in `currency` before tax was withheld."""
    withheld_tax: Amount
    """The tax that was withheld from it, in `currency`."""
    net: Amount
    """Gross less the tax withheld, in `currency`."""
    currency: str
    """The currency in which it was paid."""
    fx_rate: CanonicalDecimal
    """What 1 of `currency` is in `baseCurrency`, as of its transaction."""
    base_currency: str
    """The base currency of the portfolio."""
    gross_base: Annotated[Amount, OfBase]
    """The gross income in `baseCurrency`."""
    tax_year: str
    """The tax year of the pay date, such as `2026-27`."""
    uk_category: UkCategory
    """As what a person in the United Kingdom is taxed on it. `exempt_wrapper`: earned in an ISA, pension or another
    wrapper but EIS and SEIS. `not_income`: a return of capital, or a stock dividend that counts as a bonus issue."""


class IncomeTotal(Response, frozen=True, kw_only=True):
    """What all events of the filter come to, of one category in one currency."""

    currency: str
    """The currency in which these events were paid."""
    base_currency: str
    """The base currency of their portfolios."""
    uk_category: UkCategory
    """As what a person in the United Kingdom is taxed on them."""
    count: int
    """How many events they are."""
    gross: Amount
    """Their gross income in `currency`, before tax was withheld."""
    withheld_tax: Amount
    """The tax that was withheld from them, in `currency`."""
    net: Amount
    """Gross less the tax withheld, in `currency`."""
    gross_base: Annotated[Amount, OfBase]
    """Their gross income in `baseCurrency`."""


class IncomeEventPage(Page[IncomeEvent], frozen=True, kw_only=True):
    """A page of income."""

    totals: list[IncomeTotal]
    """What everything that the filter finds comes to, whatever the page: by currency, base currency and category."""


class ListIncomeEvents(PageRequest, frozen=True, kw_only=True):
    """Filters of the list: latest pay date first."""

    portfolio_id: Id | None = None
    """Only income of this portfolio."""
    account_id: Id | None = None
    """Only income of this account."""
    legal_entity_id: Id | None = None
    """Only income of this legal entity."""
    instrument_id: Id | None = None
    """Only income of this instrument."""
    kind: list[IncomeKind] | None = None
    """Only these kinds; may be given again."""
    tax_year: TaxYear | None = None
    from_date: Date | None = None
    """Only income whose pay date is this day or later; not with `taxYear`."""
    to_date: Date | None = None
    """Only income whose pay date is this day or earlier; not with `taxYear`."""
    status: IncomeStatus | None = None
    """Only income of this state. Left out: what is expected or received."""
    limit: LongLimit = 50
