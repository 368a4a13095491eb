"""The rules that the fields of a business keep with one another. Pure."""

from collections.abc import Iterator
from decimal import Decimal

from gatewayd.areas.businesses.rows import BusinessRow
from gatewayd.errors import FieldError


def share_mistakes(percent: str) -> Iterator[FieldError]:
    """What is wrong with `ownerSharePercent`, a decimal."""
    if not 0 < Decimal(percent) <= 100:
        yield FieldError("ownerSharePercent", "out_of_range", "Expected a percentage above 0, at most 100.")


def date_mistakes(before: BusinessRow, after: BusinessRow, today: str) -> Iterator[FieldError]:
    """What is wrong with the dates that an update changes. `today` is ISO.

    What is as it was is not held against the caller: the tax authority may have said it.
    """
    ceasing = after.cessation_date != before.cessation_date
    beginning = after.commencement_date != before.commencement_date
    if ceasing:
        yield from _cessation_mistakes(after, today)
    if beginning and after.status != "active" and (after.commencement_date or "") > today:
        yield FieldError("commencementDate", "out_of_range", f"A business that is {after.status} has begun.")
    if (ceasing or beginning) and ends_before_it_begins(after.commencement_date, after.cessation_date):
        path = "cessationDate" if ceasing else "commencementDate"
        yield FieldError(path, "date_order", "The business would cease before it begins.")


def ends_before_it_begins(commencement_date: str | None, cessation_date: str | None) -> bool:
    """True where both dates are known and in the wrong order."""
    return commencement_date is not None and cessation_date is not None and cessation_date < commencement_date


def _cessation_mistakes(after: BusinessRow, today: str) -> Iterator[FieldError]:
    """Chosen: an update corrects the date of a cessation; to cease, and to begin again, is for setStatus."""
    if after.status != "ceased":
        yield FieldError("cessationDate", "conflict", "The business has not ceased: setStatus says that it does.")
    elif after.cessation_date is None:
        yield FieldError("cessationDate", "required", "The business has ceased: when?")
    elif after.cessation_date > today:
        yield FieldError("cessationDate", "out_of_range", "The day is still to come.")
