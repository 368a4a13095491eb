"""Rates of exchange that HMRC publishes, as a dated table: of a month, and spot on 31 March and 31 December (Domain H).

`hmrc_rates.tsv` has the figures, a line for each month or day. A rate that is not there is not known: none is taken
from another month, and none is computed by way of a third currency. Pure.
"""

import functools
import importlib.resources
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from gatewayd.money import canonical, half_up

POUND: Final = "GBP"
_PLACES: Final = 12  # of a rate on the wire
_FILE: Final = "hmrc_rates.tsv"


class PublishedRate(NamedTuple):
    """What HMRC published for a currency. `period` is the month, `2026-11`, or the day, `2026-03-31`.

    `units` of the currency are 1 pound.
    """

    currency: str
    period: str
    units: Decimal

    @property
    def in_pounds(self) -> Fraction:
        """What 1 of the currency is in pounds, exactly."""
        return 1 / Fraction(self.units)

    @property
    def fx_rate(self) -> str:
        """What 1 of the currency is in pounds, as a decimal of the wire."""
        return text_of(self.in_pounds)

    @property
    def first_day(self) -> str:
        """The ISO date from which on it holds."""
        return _first_day(self.period)


class Coverage(NamedTuple):
    """The first and the last month of the table."""

    first: str
    last: str


class _Table(NamedTuple):
    """`lines` by period; `columns` says where a currency stands in each; `periods` are in order of their first days."""

    columns: Mapping[str, int]
    lines: Mapping[str, str]
    periods: Sequence[str]


def published_rate(currency: str, day: str) -> PublishedRate | None:
    """HMRC's rate for the month of an ISO date; None: the table has none, or the currency is the pound itself."""
    return _rate(currency, day[:7])


def latest_rate(currency: str, day: str) -> PublishedRate | None:
    """HMRC's latest rate until an ISO date: spot of that day, or of the latest month or day before it that has one."""
    table = _table()
    begun = (period for period in reversed(table.periods) if _first_day(period) <= day)
    return next((rate for period in begun if (rate := _rate(currency, period)) is not None), None)


def text_of(rate: Fraction) -> str:
    """A rate as a decimal of the wire: rounded half up to 12 places."""
    numerator, denominator = rate.as_integer_ratio()
    return canonical(f"{Decimal(half_up(numerator * 10**_PLACES, denominator)).scaleb(-_PLACES):f}")


def coverage() -> Coverage:
    """Which months the table has. Within them some currencies lack some."""
    months = [period for period in _table().periods if len(period) == len("yyyy-mm")]
    return Coverage(months[0], months[-1])


def _first_day(period: str) -> str:
    return f"{period}-01" if len(period) == len("yyyy-mm") else period


def _rate(currency: str, period: str) -> PublishedRate | None:
    table = _table()
    at, line = table.columns.get(currency), table.lines.get(period)
    if at is None or line is None:
        return None
    units = line.split("\t")[at]
    return PublishedRate(currency, period, Decimal(units)) if units else None


@functools.cache  # of the program's own file
def _table() -> _Table:
    text = importlib.resources.files("gatewayd.ledger.exchange").joinpath(_FILE).read_text(encoding="ascii")
    heading, *lines = [line for line in text.splitlines() if not line.startswith("#")]
    columns = {name: at for at, name in enumerate(heading.split("\t")) if at}
    by_period = {line.partition("\t")[0]: line for line in lines}
    return _Table(columns, by_period, sorted(by_period, key=_first_day))
