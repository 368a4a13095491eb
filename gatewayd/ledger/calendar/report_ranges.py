"""The days that a report is asked about: a tax year, a period, or from one day to another. Reads only."""

import datetime
from typing import Annotated, Protocol

from msgspec import Meta

from gatewayd.errors import invalid_field
from gatewayd.ledger.calendar.periods import PERIODS
from gatewayd.ledger.dates import tax_calendar
from gatewayd.ledger.dates.date_ranges import DateRange, is_longer
from gatewayd.store import ReadTx

MAX_MONTHS = 24  # Domain A2
EARLIEST, LATEST = datetime.date(1900, 1, 1), datetime.date(2199, 12, 31)  # Chosen: what lies beyond is a slip

TaxYear = Annotated[str, Meta(pattern=r"^[12][0-9]{3}-[0-9]{2}$", extra={"form": "a tax year"}, examples=["2026-27"])]


class ReportRequest(Protocol):
    """A request for a report."""

    @property
    def tax_year(self) -> str | None: ...
    @property
    def period_id(self) -> str | None: ...
    @property
    def from_date(self) -> datetime.date | None: ...
    @property
    def to_date(self) -> datetime.date | None: ...


class Reported(Protocol):
    """A business that a report is about."""

    @property
    def id(self) -> str: ...
    @property
    def legal_entity_id(self) -> str: ...


def range_of(tx: ReadTx, request: ReportRequest, *businesses: Reported) -> DateRange:
    """The days that a request about businesses names. Raises `Problem` `validation_failed`."""
    dated = request.from_date is not None or request.to_date is not None
    if [request.tax_year is not None, request.period_id is not None, dated].count(True) > 1:
        path = "taxYear" if request.tax_year is not None else "periodId"
        raise invalid_field(path, "conflict", "Give one of taxYear, periodId, and fromDate with toDate.")
    if request.tax_year is not None:
        return _checked(of_tax_year(request.tax_year), "taxYear", "taxYear")
    if request.period_id is not None:
        return _checked(_of_period(tx, request.period_id, businesses), "periodId", "periodId")
    if request.from_date is None:
        message = "Which days? Give one of taxYear, periodId, and fromDate with toDate."
        raise invalid_field("fromDate", "required", message)
    if request.to_date is None:
        raise invalid_field("toDate", "required", "This parameter is required with fromDate: up to which day?")
    return _checked(DateRange(request.from_date.isoformat(), request.to_date.isoformat()), "fromDate", "toDate")


def of_tax_year(year: str) -> DateRange:
    """The days of a tax year that a request names. Raises `Problem` `validation_failed`."""
    if not tax_calendar.is_tax_year(year):
        raise invalid_field("taxYear", "invalid_format", "Expected a tax year, such as 2026-27.")
    return DateRange(*tax_calendar.bounds(year))


def _of_period(tx: ReadTx, period_id: str, businesses: tuple[Reported, ...]) -> DateRange:
    """The days of a period of the businesses, or of their legal entity."""
    period = PERIODS.find(tx, period_id)
    if period is None:
        message = "There is no such period: `periods.list` lists those there are."
        raise invalid_field("periodId", "unknown_reference", message)
    for business in businesses:
        if period.legal_entity_id != business.legal_entity_id or period.business_id not in (None, business.id):
            raise invalid_field("periodId", "conflict", "It is a period of another business: expected one of this.")
    return DateRange(period.start_date, period.end_date)


def check_date(date: str, path: str) -> None:
    """Raises `Problem` `validation_failed` for a date that no report can be about."""
    if not EARLIEST.isoformat() <= date <= LATEST.isoformat():
        raise invalid_field(path, "out_of_range", f"Expected a date from {EARLIEST} to {LATEST}.")


def _checked(date_range: DateRange, first_path: str, last_path: str) -> DateRange:
    check_date(date_range.first, first_path)
    check_date(date_range.last, last_path)
    if date_range.last < date_range.first:
        raise invalid_field(last_path, "date_order", "It is before fromDate: expected that day or a later one.")
    if is_longer(date_range, MAX_MONTHS):
        raise invalid_field(last_path, "range_too_long", f"A report covers {MAX_MONTHS} months at most.")
    return date_range
