"""Rates of Capital Gains Tax on what is no residential property, and the annual exempt amount: dated tables. Pure.

Minor units of GBP.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from gatewayd.areas.assets.gains.return_shapes import RateAdjustment, RatePeriod
from gatewayd.clock import days_after
from gatewayd.ledger.dates.tax_calendar import bounds, tax_year
from gatewayd.money import Money, half_up

POUND: Final = "GBP"


class Rates(NamedTuple):
    """The rates from a day on, in percent, and their source."""

    first_day: str
    basic: int
    higher: int
    source: str


_TABLE: Final = (
    Rates("2016-04-06", 10, 20, "Finance Act 2016 s83"),
    Rates("2024-10-30", 18, 24, "Finance Act 2025 s7"),
)


class Gain(NamedTuple):
    """The gain of a disposal, in pence; a loss is below 0."""

    date: str
    minor: int


def periods(year: str, gains: Sequence[Gain], deductions: int) -> list[RatePeriod]:
    """The periods of a tax year, oldest first; none where its rates are not in the table.

    `deductions`, in pence, are losses and the exempt amount. They come off the latest gains first, whose rates are the
    highest: a person may have them where they save most (TCGA 1992 s1E, s1K; CG14561).
    """
    first, last = bounds(year)
    if first < _TABLE[0].first_day:
        return []
    rate_periods: list[RatePeriod] = []
    until = last
    for row in reversed(_TABLE):
        if until < first or row.first_day > until:
            continue
        since = max(row.first_day, first)
        of_days = [gain.minor for gain in gains if since <= gain.date <= until]
        gained = sum(minor for minor in of_days if minor > 0)
        deducted = min(gained, deductions)
        deductions -= deducted
        rate_periods.append(
            RatePeriod(
                first_day=since,
                last_day=until,
                gains=Money(gained, POUND),
                losses=Money(-sum(minor for minor in of_days if minor < 0), POUND),
                deducted=Money(deducted, POUND),
                taxable=Money(gained - deducted, POUND),
                basic_rate=row.basic,
                higher_rate=row.higher,
                currency=POUND,
                source=row.source,
            )
        )
        until = days_after(since, -1)
    return rate_periods[::-1]


def adjustment(rate_periods: Sequence[RatePeriod]) -> RateAdjustment | None:
    """What the return of a year with two rates leaves out; None: it has one, or nothing is taxed at the later one."""
    if len(rate_periods) < 2 or not rate_periods[-1].taxable.minor:
        return None
    before, late = rate_periods
    basic, higher = late.basic_rate - before.basic_rate, late.higher_rate - before.higher_rate
    return RateAdjustment(
        box="51",
        at_basic_rate=Money(half_up(late.taxable.minor * basic, 100), POUND),
        at_higher_rate=Money(half_up(late.taxable.minor * higher, 100), POUND),
        currency=POUND,
        source="SA108 2024-25, Adjustments to Capital Gains Tax",
    )


LAST_KNOWN: Final = "2026-27"  # Finance Act 2023 s8(5): for 2024-25 and subsequent tax years, until a later Act


class ExemptAmount(NamedTuple):
    """The annual exempt amount from a tax year on, in pence, and its source."""

    first: str
    amount: int
    source: str


_EXEMPT_AMOUNTS: Final = (
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


def exempt_amount(year: str) -> ExemptAmount | None:
    """What an individual may gain in a tax year without tax; None where the table does not say."""
    if int(year[:4]) > int(LAST_KNOWN[:4]):
        return None
    return next((row for row in reversed(_EXEMPT_AMOUNTS) if int(row.first[:4]) <= int(year[:4])), None)


def exempt_years() -> list[str]:
    """Every tax year of the table, oldest first."""
    return [tax_year(first) for first in range(int(_EXEMPT_AMOUNTS[0].first[:4]), int(LAST_KNOWN[:4]) + 1)]
