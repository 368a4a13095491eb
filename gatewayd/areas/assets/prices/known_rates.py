"""What is known of rates of exchange on a day: recorded ones, those of transactions, and HMRC's. Reads only.

A rate is known in either direction. HMRC's are of a whole month, from its first day on, or spot of one day; whoever has
a later month than the program brings it as a recorded one.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from gatewayd.areas.assets.prices.rules import STALE_DAYS
from gatewayd.areas.assets.prices.shapes import FxRateSource
from gatewayd.clock import days_after
from gatewayd.ledger import published_rates
from gatewayd.ledger.published_rates import POUND, PublishedRate
from gatewayd.store import ReadTx

_SELECT_RECORDED = """
SELECT rate, date, source FROM exchange_rates
WHERE org_id = :org_id AND currency = :currency AND base_currency = :base_currency AND date <= :date
ORDER BY date DESC LIMIT 1
"""
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
_SELECT_TRADED = """
SELECT fx_rate, trade_date, 'transaction' FROM asset_transactions
WHERE org_id = :org_id AND currency = :currency AND base_currency = :base_currency AND currency <> base_currency
    AND trade_date <= :date AND type <> 'reversal' AND reversed_by_id IS NULL AND fx_rate_source = 'given'
ORDER BY trade_date DESC LIMIT 1
"""


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
        return published_rates.text_of(self.rate)

    def is_stale(self, day: str) -> bool:
        """Whether it is too old for a day that is not before it: not of its month, or of more than a week before."""
        if self.source == "hmrc" and self.date[:7] == day[:7]:
            return False
        return self.date < days_after(day, -STALE_DAYS)


def latest(tx: ReadTx, pair: Pair, day: str) -> KnownRate | None:
    """The latest rate until an ISO date, in either direction and wherever it is from.

    Of one day a recorded rate goes before that of a transaction, which goes before HMRC's. What was reversed, and what
    a transaction was converted at because it had no rate of its own, tells nothing.
    """
    if pair.currency == pair.base_currency:
        return KnownRate(Fraction(1), day, None)
    found = [*_both_ways(tx, _SELECT_RECORDED, pair, day), *_both_ways(tx, _SELECT_TRADED, pair, day)]
    published = _latest_published(pair, day)
    if published is not None:
        found.append(published)
    return max(found, key=lambda one: one.date, default=None)


def for_transaction(tx: ReadTx, pair: Pair, day: str) -> KnownRate | None:
    """By what something of an ISO date is converted that has no rate of its own; None: nothing is known.

    Chosen: by the latest rate that was recorded for the day or the week before it, else by what HMRC published for the
    month, which it takes for gains and income where one keeps to it (Domain B3).
    """
    recorded = [one for one in _both_ways(tx, _SELECT_OF_DAYS, pair, day) if not one.is_stale(day)]
    if recorded:
        return max(recorded, key=lambda one: one.date)
    brought = next(_both_ways(tx, _SELECT_OF_MONTH, pair, f"{day[:7]}-01"), None)
    return brought or _published_for_month(pair, day)


def _both_ways(tx: ReadTx, sql: str, pair: Pair, day: str) -> Iterator[KnownRate]:
    for way in (pair, pair.turned):
        row = tx.row(sql, currency=way.currency, base_currency=way.base_currency, date=day)
        if row is not None:
            rate, date, told = row
            source: FxRateSource = told if told in ("hmrc", "transaction") else "recorded"
            yield KnownRate(Fraction(rate) if way == pair else 1 / Fraction(rate), date, source)


def _latest_published(pair: Pair, day: str) -> KnownRate | None:
    return _of_pounds(pair, published_rates.latest_rate(_foreign(pair), day))


def _published_for_month(pair: Pair, day: str) -> KnownRate | None:
    return _of_pounds(pair, published_rates.published_rate(_foreign(pair), day))


def _foreign(pair: Pair) -> str:
    """The other currency than the pound."""
    return pair.currency if pair.base_currency == POUND else pair.base_currency


def _of_pounds(pair: Pair, published: PublishedRate | None) -> KnownRate | None:
    """HMRC's rate for the pair; None where neither of them is the pound."""
    if published is None or POUND not in pair:
        return None
    rate = published.in_pounds if pair.base_currency == POUND else 1 / published.in_pounds
    return KnownRate(rate, published.first_day, "hmrc")
