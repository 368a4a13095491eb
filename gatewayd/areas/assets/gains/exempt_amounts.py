"""The annual exempt amount of Capital Gains Tax, a dated table. Pure; minor units of GBP."""

from typing import Final, NamedTuple

from gatewayd.ledger.dates.tax_calendar import tax_year

LAST_KNOWN: Final = "2026-27"  # Finance Act 2023 s8(5): for 2024-25 and subsequent tax years, until a later Act


class ExemptAmount(NamedTuple):
    """What holds from a tax year on, and where that stands."""

    first: str
    amount: int
    source: str


_TABLE: Final = (
    ExemptAmount("2008-09", 9_600_00, "rossmartin.co.uk, capital gains tax rates"),
    ExemptAmount("2009-10", 10_100_00, "rossmartin.co.uk, capital gains tax rates"),
    ExemptAmount("2011-12", 10_600_00, "rossmartin.co.uk, capital gains tax rates"),
    ExemptAmount("2013-14", 10_900_00, "rossmartin.co.uk, capital gains tax rates"),
    ExemptAmount("2014-15", 11_000_00, "rossmartin.co.uk, capital gains tax rates"),
    ExemptAmount("2015-16", 11_100_00, "rossmartin.co.uk, capital gains tax rates"),
    ExemptAmount("2017-18", 11_300_00, "rossmartin.co.uk, capital gains tax rates"),
    ExemptAmount("2018-19", 11_700_00, "rossmartin.co.uk, capital gains tax rates"),
    ExemptAmount("2019-20", 12_000_00, "rossmartin.co.uk, capital gains tax rates"),
    ExemptAmount("2020-21", 12_300_00, "Finance Act 2021 s40, which keeps it in 2021-22 and 2022-23"),
    ExemptAmount("2023-24", 6_000_00, "Finance Act 2023 s8(3)"),
    ExemptAmount("2024-25", 3_000_00, "Finance Act 2023 s8(5)"),
)


def of_individuals(year: str) -> ExemptAmount | None:
    """What an individual may gain in a tax year without tax; None where the table does not say."""
    if int(year[:4]) > int(LAST_KNOWN[:4]):
        return None
    return next((row for row in reversed(_TABLE) if int(row.first[:4]) <= int(year[:4])), None)


def years() -> list[str]:
    """Every tax year of the table, oldest first."""
    return [tax_year(first) for first in range(int(_TABLE[0].first[:4]), int(LAST_KNOWN[:4]) + 1)]
