"""Companies: financial years, accounts, corporation tax, confirmation statements (domain model C6). Pure.

Private companies and limited liability partnerships, whose accounts are due alike (SI 2008/1911). Corporation tax is
that of a company that pays at once: large ones pay by instalments.
"""

import datetime
from collections.abc import Iterator
from typing import NamedTuple

from gatewayd.clock import months_later
from gatewayd.ledger.dates.months import DAY, DuePeriod, following, month_end, months_after

ACCOUNTS_MONTHS = 9  # Companies Act 2006 s442(2)
FIRST_ACCOUNTS_MIN_MONTHS = 3  # Companies Act 2006 s442(3)(b)
FIRST_YEAR_MORE_THAN_MONTHS = 6  # Companies Act 2006 s391(5): more than 6 and not more than 18
RETURN_MONTHS = 12  # Finance Act 1998 Sch 18 para 14(1)
PAYMENT_MONTHS = 9  # TMA 1970 s59D: the day after, see CTM01800
TAX_PERIOD_MONTHS = 12  # CTA 2009 s10(1)(a)
REVIEW_MONTHS = 12  # Companies Act 2006 s853A
STATEMENT_DAYS = 14  # Companies Act 2006 s853A(1)


class YearEnd(NamedTuple):
    """The last day of financial years; 29 February is the 28th in most."""

    month: int
    day: int

    def of(self, year: int) -> datetime.date:
        """The one in a calendar year."""
        return min(datetime.date(year, self.month, 1) + (self.day - 1) * DAY, month_end(year, self.month))


class FinancialYear(NamedTuple):
    """What accounts are made up for, both days inclusive. `incorporated` is given in the first alone."""

    start: datetime.date
    end: datetime.date
    incorporated: datetime.date | None = None


class TaxPeriod(NamedTuple):
    """An accounting period of corporation tax, with what is due on it."""

    start: datetime.date
    end: datetime.date
    return_due: datetime.date
    payment_due: datetime.date


def financial_years(
    year_end: YearEnd, incorporated: datetime.date | None, first_end: datetime.date, last_start: datetime.date
) -> Iterator[FinancialYear]:
    """The years that end on or after one day and begin on or before another; with an incorporation, none before it."""
    if incorporated is not None and incorporated > last_start:
        return
    if incorporated is None:
        start, end = _year_of(year_end, first_end)
    else:
        start, end = incorporated, _first_end(year_end, incorporated)
    while start <= last_start:
        if end >= first_end:
            yield FinancialYear(start, end, incorporated if start == incorporated else None)
        start, end = _year_of(year_end, end + DAY)


def accounts_due(year: FinancialYear) -> datetime.date:
    """When the accounts of a year are due: 9 months after its end.

    First accounts for more than 12 months are due 9 months from the first anniversary of the incorporation, or 3 months
    after the end where that is later (Companies Act 2006 s442(3)).
    """
    if year.incorporated is not None:
        anniversary = following(year.incorporated, 12)
        if year.end >= anniversary:
            return max(months_after(anniversary, ACCOUNTS_MONTHS), months_after(year.end, FIRST_ACCOUNTS_MIN_MONTHS))
    return months_after(year.end, ACCOUNTS_MONTHS)


def tax_periods(year: FinancialYear, begun: datetime.date | None) -> Iterator[TaxPeriod]:
    """The accounting periods of corporation tax in a financial year: two, where that is longer than 12 months.

    `begun` is when the company began to trade, None as soon as it could: there is no period before (CTA 2009 s9). Both
    returns of a long year are due 12 months after its end (Finance Act 1998 Sch 18 para 14(1)(b)).
    """
    start = year.start if begun is None else max(year.start, begun)
    while start <= year.end:
        end = min(following(start, TAX_PERIOD_MONTHS) - DAY, year.end)
        yield TaxPeriod(start, end, months_after(year.end, RETURN_MONTHS), months_after(end, PAYMENT_MONTHS) + DAY)
        start = end + DAY


def review_periods(
    incorporated: datetime.date, first_end: datetime.date, last_start: datetime.date
) -> Iterator[DuePeriod]:
    """The review periods that end on or after one day and begin on or before another.

    As they are while each statement is made up to the last day of its period; an earlier one begins a new period.
    """
    start = incorporated
    while start <= last_start:
        end = following(start, REVIEW_MONTHS) - DAY
        if end >= first_end:
            yield DuePeriod(start, end, end + STATEMENT_DAYS * DAY)
        start = end + DAY


def _first_end(year_end: YearEnd, incorporated: datetime.date) -> datetime.date:
    """The end of the first financial year: the first year end after more than six months."""
    _, end = _year_of(year_end, months_later(incorporated, FIRST_YEAR_MORE_THAN_MONTHS))
    return end


def _year_of(year_end: YearEnd, day: datetime.date) -> tuple[datetime.date, datetime.date]:
    """First and last day of the financial year that a day lies in."""
    year = day.year if day <= year_end.of(day.year) else day.year + 1
    return year_end.of(year - 1) + DAY, year_end.of(year)
