"""The days of a recurring invoice reckoned in a plain way: every day of the calendar is looked at."""

import datetime

ONE = datetime.timedelta(days=1)


def reckoned(start: datetime.date, unit: str, every: int, wanted: int, last: datetime.date) -> list[str]:
    """The days from `start` to `last`: of every so many weeks or months; `wanted` is the day that months have."""
    found, date, months = [], start, 0
    while date <= last:
        if unit == "week":
            hit = (date - start).days % (7 * every) == 0
        else:
            is_last = (date + ONE).day == 1
            hit = months % every == 0 and (date.day == wanted or (is_last and date.day < wanted))
        if hit:
            found.append(date.isoformat())
        date += ONE
        months += date.day == 1
    return found
