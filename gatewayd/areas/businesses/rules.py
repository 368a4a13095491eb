"""The rules that the fields of a business follow, and its states as a table (domain model B2). Pure.

    pending --its commencement date--> active <--setStatus--> dormant
    active, dormant --setStatus, effectiveDate--> ceased --setStatus, in the same tax year--> active
    any --archive--> archived --setStatus--> the one before

Stored are active, dormant and ceased. `pending` is active with a commencement date to come, so that no job moves it
on; `archived` hides the state before and leaves it as it is.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from gatewayd.areas.businesses.shapes import BusinessRow, LiveStatus, Status, StoredStatus
from gatewayd.errors import FieldError
from gatewayd.ledger.dates.tax_calendar import is_tax_year, tax_year_of

MOVES: Mapping[LiveStatus, tuple[LiveStatus, ...]] = {
    "pending": (),
    "active": ("dormant", "ceased"),
    "dormant": ("active", "ceased"),
    "ceased": ("active",),
}
"""For each state, where `setStatus` leads from it."""


def unarchived(stored: StoredStatus, commencement_date: str | None, today: str) -> LiveStatus:
    """The state on a day, archived or not. Dates are ISO."""
    if stored == "active" and commencement_date is not None and commencement_date > today:
        return "pending"
    return stored


def unarchived_status(row: BusinessRow, today: str) -> LiveStatus:
    """The state of a business on a day, as if it were not archived."""
    return unarchived(row.status, row.commencement_date, today)


def shown_status(row: BusinessRow, today: str) -> Status:
    """The state of a business on a day."""
    return "archived" if row.archived_at is not None else unarchived_status(row, today)


def reachable(current: LiveStatus, cessation_date: str | None, today: str) -> tuple[LiveStatus, ...]:
    """Where `setStatus` leads today. A business that ceased comes back within the tax year of its cessation only."""
    if current == "ceased" and cessation_date is not None and tax_year_of(cessation_date) != tax_year_of(today):
        return ()
    return MOVES[current]


def share_mistakes(percent: str) -> Iterator[FieldError]:
    """What is wrong with `ownerSharePercent`, a decimal."""
    if not 0 < Decimal(percent) <= 100:
        yield FieldError("ownerSharePercent", "out_of_range", "Expected a percentage above 0, at most 100.")


def choice_mistakes(kind: str | None, year: str | None, today: str) -> Iterator[FieldError]:
    """What is wrong with the tax year in which a type of quarters was chosen. `kind` None: none was."""
    path = "quarterlyPeriodTaxYear"
    if year is None:
        return
    if kind is None:
        yield FieldError(path, "conflict", "Which type was chosen in it? Give quarterlyPeriodType.")
    if not is_tax_year(year):
        yield FieldError(path, "invalid_format", "Expected a tax year, such as 2026-27.")
    elif year > tax_year_of(today):  # Chosen: what is to come is chosen when it comes
        yield FieldError(path, "out_of_range", "The tax year is still to come: expected one that has begun.")


def new_choice_mistakes(before: BusinessRow, after: BusinessRow, today: str) -> Iterator[FieldError]:
    """What is wrong with the choice of quarters that an update makes. One that stays as it was is not checked."""
    year, last = after.quarterly_period_tax_year, before.quarterly_period_tax_year
    if year == last and after.quarterly_period_type == before.quarterly_period_type:
        return
    mistakes = [*choice_mistakes(after.quarterly_period_type, year, today)]
    yield from mistakes
    changed = after.quarterly_period_type != before.quarterly_period_type
    if not mistakes and changed and year is not None and last is not None and year < last:
        message = f"{before.quarterly_period_type} was chosen in {last}: another type is chosen then, or later."
        yield FieldError("quarterlyPeriodTaxYear", "date_order", message)


def date_mistakes(before: BusinessRow, after: BusinessRow, today: str) -> Iterator[FieldError]:
    """What is wrong with the dates that an update changes. `today` is ISO.

    Dates that stay as they were are not checked: the tax authority may have said them.
    """
    ceasing = after.cessation_date != before.cessation_date
    beginning = after.commencement_date != before.commencement_date
    if ceasing:
        yield from _cessation_mistakes(after, today)
    if beginning and after.status != "active" and (after.commencement_date or "") > today:
        message = f"A business that is {after.status} has begun: expected a day that has come."
        yield FieldError("commencementDate", "out_of_range", message)
    if (ceasing or beginning) and ends_before_it_begins(after.commencement_date, after.cessation_date):
        path = "cessationDate" if ceasing else "commencementDate"
        message = "The business would cease before it begins: expected a later day than `commencementDate`."
        yield FieldError(path, "date_order", message)


def ends_before_it_begins(commencement_date: str | None, cessation_date: str | None) -> bool:
    """True where both dates are known and in the wrong order."""
    return commencement_date is not None and cessation_date is not None and cessation_date < commencement_date


def _cessation_mistakes(after: BusinessRow, today: str) -> Iterator[FieldError]:
    """Chosen: an update corrects the date of a cessation; to cease, and to begin again, is for setStatus."""
    if after.status != "ceased":
        yield FieldError("cessationDate", "conflict", "The business has not ceased: setStatus says that it does.")
    elif after.cessation_date is None:
        yield FieldError("cessationDate", "required", "The business has ceased, and on a day: which one?")
    elif after.cessation_date > today:
        yield FieldError("cessationDate", "out_of_range", "The day is still to come: expected today or an earlier one.")
