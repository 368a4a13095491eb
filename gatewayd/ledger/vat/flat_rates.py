"""VAT's flat rate scheme: percentages by HMRC's `frsCategory`, a dated table, and what is off in the first year.

The codes and their percentages are those of HMRC's registration service (Domain C1); a business that spends little
on goods has 16.5 % whatever its category (limited cost trader), which is for `flatRatePercent` to say. Pure.
"""

from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from gatewayd.ledger.dates.date_ranges import later

FIRST_YEAR_DISCOUNT = Decimal(1)  # percentage points, GOV.UK: VAT Flat Rate Scheme, how much you pay
FIRST_YEAR_MONTHS = 12  # from the effective date of registration, the same


class DatedPercents(NamedTuple):
    """What holds from a day on: code by percentage."""

    first: str
    codes: dict[str, tuple[str, ...]]


_TABLES = (
    DatedPercents(
        "2022-04-01",  # after the reduced rates of hospitality; hmrc/vat-registration-frontend, frs-business-types.json
        {
            "4": ("042",),
            "5": ("035",),
            "6.5": ("013", "038", "045"),
            "7.5": ("044", "053"),
            "8": ("031", "043", "052"),
            "8.5": ("036", "041", "048", "054"),
            "9": ("028", "030", "033"),
            "9.5": ("017", "019", "025", "029"),
            "10": ("032", "040", "049"),
            "10.5": ("010", "016", "020", "027", "050", "055"),
            "11": ("002", "003", "034", "037", "047", "051"),
            "12": ("004", "006", "007", "012", "021", "023"),
            "12.5": ("008", "011"),
            "13": ("014", "018", "046"),
            "13.5": ("015",),
            "14": ("026", "039"),
            "14.5": ("001", "005", "009", "022", "024"),
        },
    ),
)


def percent_of(category: str, date: str) -> Decimal | None:
    """The percentage of a category on an ISO date; None where the table does not know it."""
    for table in reversed(_TABLES):
        if table.first <= date:
            return next((Decimal(percent) for percent, codes in table.codes.items() if category in codes), None)
    return None


def changes() -> list[str]:
    """The days from which a table holds."""
    return [table.first for table in _TABLES]


def with_discount(percent: Decimal, effective_date: str | None, date: str) -> Fraction:
    """The percentage on an ISO date of who was registered for VAT on the other: one point less in the first year.

    None: nobody knows when, and nothing is taken off.
    """
    if effective_date is not None and effective_date <= date < later(effective_date, FIRST_YEAR_MONTHS):
        percent = max(Decimal(0), percent - FIRST_YEAR_DISCOUNT)
    return Fraction(percent)
