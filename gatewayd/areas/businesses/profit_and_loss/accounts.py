"""What a report is asked about: which days, on which basis, by which standing towards VAT."""

import datetime

from gatewayd.areas.businesses.profit_and_loss.shapes import GetBusinessPnl, GetWhatIf
from gatewayd.areas.businesses.shapes import BusinessRow
from gatewayd.errors import invalid_field
from gatewayd.ledger import tax_calendar, vat_standing
from gatewayd.ledger.allocated_money import Account, Basis
from gatewayd.ledger.date_ranges import DateRange, is_longer
from gatewayd.ledger.periods import PERIODS
from gatewayd.store import ReadTx

MAX_MONTHS = 24  # Domain A2
EARLIEST, LATEST = datetime.date(1900, 1, 1), datetime.date(2199, 12, 31)  # Chosen: what lies beyond is a slip


def account_of(tx: ReadTx, row: BusinessRow, basis: Basis | None) -> Account:
    """The business's account on a basis; None: on its own."""
    standing = vat_standing.of_entity(tx, row.legal_entity_id)
    return Account(row.id, row.type, row.currency, basis or row.accounting_basis, standing)


def range_of(tx: ReadTx, row: BusinessRow, request: GetBusinessPnl | GetWhatIf) -> DateRange:
    """The days that a request about a business names. Raises `Problem` `validation_failed`."""
    dated = request.from_date is not None or request.to_date is not None
    if [request.tax_year is not None, request.period_id is not None, dated].count(True) > 1:
        path = "taxYear" if request.tax_year is not None else "periodId"
        raise invalid_field(path, "conflict", "Give taxYear, periodId, or fromDate with toDate.")
    if request.tax_year is not None:
        if not tax_calendar.is_tax_year(request.tax_year):
            raise invalid_field("taxYear", "invalid_format", "A tax year is written 2026-27.")
        return _checked(DateRange(*tax_calendar.bounds(request.tax_year)), "taxYear", "taxYear")
    if request.period_id is not None:
        return _checked(_of_period(tx, row, request.period_id), "periodId", "periodId")
    if request.from_date is None:
        raise invalid_field("fromDate", "required", "Which days? Give taxYear, periodId, or fromDate with toDate.")
    if request.to_date is None:
        raise invalid_field("toDate", "required", "Up to which day?")
    return _checked(DateRange(request.from_date.isoformat(), request.to_date.isoformat()), "fromDate", "toDate")


def _of_period(tx: ReadTx, row: BusinessRow, period_id: str) -> DateRange:
    """The days of a period of the business, or of its legal entity."""
    period = PERIODS.find(tx, period_id)
    if period is None:
        raise invalid_field("periodId", "unknown_reference", "There is no such period.")
    if period.legal_entity_id != row.legal_entity_id or period.business_id not in (None, row.id):
        raise invalid_field("periodId", "conflict", "It is a period of another business.")
    return DateRange(period.start_date, period.end_date)


def _checked(whole: DateRange, first_path: str, last_path: str) -> DateRange:
    for path, date in ((first_path, whole.first), (last_path, whole.last)):
        if not EARLIEST.isoformat() <= date <= LATEST.isoformat():
            raise invalid_field(path, "out_of_range", f"Expected a date from {EARLIEST} to {LATEST}.")
    if whole.last < whole.first:
        raise invalid_field(last_path, "date_order", "It is before fromDate.")
    if is_longer(whole, MAX_MONTHS):
        raise invalid_field(last_path, "range_too_long", f"A report covers {MAX_MONTHS} months at most.")
    return whole
