"""What is known of rates of exchange on a day: recorded ones, and HMRC's. Reads only.

A rate is known in either direction. HMRC's are of a whole month, from its first day on, or spot of one day; whoever has
a later month than the program brings it as a recorded one.

HMRC's are a dated table: of a month, and spot on 31 March and 31 December (Domain H). `hmrc_rates.tsv` has the figures,
a line for each month or day. A rate that is not there is not known: none is taken from another month, and none is
computed by way of a third currency.
"""

import functools
import importlib.resources
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from gatewayd.clock import days_after
from gatewayd.money import canonical, half_up
from gatewayd.store import ReadTx

FxRateSource = Literal["given", "recorded", "transaction", "hmrc"]
"""Where the rate is from at which something was converted: it came with it, was recorded, is that of another
transaction, or was published by HMRC."""

STALE_DAYS: Final = 7  # Domain B3: a price or rate of more days before is told to be old

_SELECT_OF_DAYS = """
SELECT rate, date, source FROM exchange_rates
WHERE org_id = :org_id AND currency = :currency AND base_currency = :base_currency AND date <= :date
    AND source <> 'hmrc'
ORDER BY date DESC LIMIT 1
"""
_SELECT_OF_MONTH = """
SELECT rate, date, source FROM exchange_rates
WHERE org_id = :org_id AND currency = :currency AND base_currency = :base_currency AND date = :date
    AND source = 'hmrc'
"""
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


class Pair(NamedTuple):
    """Two currencies: what is asked for is what 1 of the first is in the second."""

    currency: str
    base_currency: str

    @property
    def turned(self) -> "Pair":
        """The other way round."""
        return Pair(self.base_currency, self.currency)


class KnownRate(NamedTuple):
    """What 1 of a currency is in another, of which day, and where from. `date` of a month's rate is its first day.

    `source` None: the two currencies are one.
    """

    rate: Fraction
    date: str
    source: FxRateSource | None

    @property
    def text(self) -> str:
        """The rate as a decimal of the wire."""
        return text_of(self.rate)

    def is_stale(self, day: str) -> bool:
        """Whether it is too old for a day that is not before it: not of its month, or of more than a week before."""
        if self.source == "hmrc" and self.date[:7] == day[:7]:
            return False
        return self.date < days_after(day, -STALE_DAYS)


def for_day(tx: ReadTx, pair: Pair, day: str) -> KnownRate | None:
    """By what something of an ISO date is converted that has no rate of its own; None: nothing is known.

    Chosen: by the latest rate that was recorded for the day or the week before it, else by what HMRC published for the
    month, which it takes for gains and income where one keeps to it (Domain B3).
    """
    recorded = [rate for rate in both_ways(tx, _SELECT_OF_DAYS, pair, day) if not rate.is_stale(day)]
    if recorded:
        return max(recorded, key=lambda rate: rate.date)
    brought = next(both_ways(tx, _SELECT_OF_MONTH, pair, f"{day[:7]}-01"), None)
    return brought or of_pounds(pair, published_rate(foreign(pair), day))


def unknown(what: str, pair: Pair) -> str:
    """What to tell people of something for which no rate is known."""
    currency, base_currency = pair
    question = f"{what}: what is 1 {currency} in {base_currency}?"
    if POUND not in pair:
        return f"{question} No rate is recorded for the day or the week before."
    first, last = coverage()
    known = f"HMRC's rates are known here from {first} to {last}, and not of every currency and month"
    return f"{question} No rate is recorded for the day or the week before; {known}."


def both_ways(tx: ReadTx, sql: str, pair: Pair, day: str) -> Iterator[KnownRate]:
    """What a statement tells of a pair until an ISO date, and of it turned round."""
    for way in (pair, pair.turned):
        row = tx.row(sql, currency=way.currency, base_currency=way.base_currency, date=day)
        if row is not None:
            rate, date, told = row
            source: FxRateSource = told if told in ("hmrc", "transaction") else "recorded"
            yield KnownRate(Fraction(rate) if way == pair else 1 / Fraction(rate), date, source)


def foreign(pair: Pair) -> str:
    """The other currency than the pound."""
    return pair.currency if pair.base_currency == POUND else pair.base_currency


def of_pounds(pair: Pair, published: PublishedRate | None) -> KnownRate | None:
    """HMRC's rate for the pair; None where neither of them is the pound."""
    if published is None or POUND not in pair:
        return None
    rate = published.in_pounds if pair.base_currency == POUND else 1 / published.in_pounds
    return KnownRate(rate, published.first_day, "hmrc")


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
