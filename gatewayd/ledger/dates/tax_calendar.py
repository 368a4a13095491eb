"""The United Kingdom's tax year of persons (domain model C6). Pure."""

YEAR_STARTS = "04-06"  # 6 April, ITA 2007 s4


def tax_year(first: int) -> str:
    """The tax year that starts in the calendar year `first`: `2026-27`."""
    return f"{first:04}-{(first + 1) % 100:02}"


def tax_year_of(date: str) -> str:
    """The tax year that holds an ISO date: `2026-04-05` is in `2025-26`, `1999-12-31` in `1999-00`."""
    return tax_year(first_year_of(date))


def first_year_of(date: str) -> int:
    """The calendar year in which the tax year of an ISO date starts: 2025 for `2026-04-05`."""
    return int(date[:4]) - (date[5:] < YEAR_STARTS)


def bounds(year: str) -> tuple[str, str]:
    """First and last day of a tax year, ISO."""
    first = int(year[:4])
    return f"{first:04}-04-06", f"{first + 1:04}-04-05"


def is_tax_year(text: str) -> bool:
    """Whether it is a tax year as this API writes it: `2026-27`, and not `2026-28`."""
    return len(text) == 7 and text.isascii() and text[:4].isdecimal() and text == tax_year(int(text[:4]))
