"""What things are worth on a day: the latest price and the latest rate of exchange until then. Reads only."""

from fractions import Fraction
from typing import Final, NamedTuple

from gatewayd.areas.assets.books.instruments import AssetClass
from gatewayd.areas.assets.pools.held import ratio_between
from gatewayd.ledger.exchange import exchange_rates
from gatewayd.ledger.exchange.exchange_rates import KnownRate, Pair, both_ways, foreign, of_pounds
from gatewayd.money import Money, exponent, half_up
from gatewayd.store import ReadTx, Row

PLACES: Final = 12  # what a decimal of the wire has

_SELECT_INSTRUMENTS = """
SELECT i.id, i.name, i.symbol, i.isin, i.currency, i.asset_class, i.splits, p.date, p.price, p.currency
FROM instruments AS i
LEFT JOIN asset_prices AS p ON p.org_id = :org_id AND p.instrument_id = i.id AND p.date = (
    SELECT max(q.date) FROM asset_prices AS q
    WHERE q.org_id = :org_id AND q.instrument_id = i.id AND q.date <= :date
)
WHERE i.org_id = :org_id AND i.id >= :first AND i.id <= :last
    AND EXISTS (SELECT 1 FROM asset_transactions AS t WHERE t.org_id = :org_id AND t.instrument_id = i.id)
"""
_SELECT_RECORDED = """
SELECT rate, date, source FROM exchange_rates
WHERE org_id = :org_id AND currency = :currency AND base_currency = :base_currency AND date <= :date
ORDER BY date DESC LIMIT 1
"""
_SELECT_TRADED = """
SELECT fx_rate, trade_date, 'transaction' FROM asset_transactions
WHERE org_id = :org_id AND currency = :currency AND base_currency = :base_currency AND currency <> base_currency
    AND trade_date <= :date AND type <> 'reversal' AND reversed_by_id IS NULL AND fx_rate_source = 'given'
ORDER BY trade_date DESC LIMIT 1
"""


class Quoted(NamedTuple):
    """An instrument with its latest price until a day; `price` None: there is none."""

    name: str
    symbol: str | None
    isin: str | None
    own_currency: str
    asset_class: AssetClass
    splits: str
    price_date: str | None
    price: Fraction | None
    currency: str


class Valuing:
    """Prices and rates of one ISO date. Rates are looked up once for each pair."""

    def __init__(self, tx: ReadTx, date: str) -> None:
        self._tx, self._date = tx, date
        self._rates: dict[Pair, KnownRate | None] = {}

    def quoted(self, first: str, last: str) -> dict[str, Quoted]:
        """The instruments that any transaction names, whose ids are from `first` to `last`, both included."""
        rows = self._tx.rows(_SELECT_INSTRUMENTS, date=self._date, first=first, last=last)
        return {row[0]: self._quoted(row) for row in rows}

    def _quoted(self, row: Row) -> Quoted:
        _, name, symbol, isin, own, asset_class, splits, day, price, currency = row
        if day is None:
            return Quoted(name, symbol, isin, own, asset_class, splits, None, None, own)
        each = Fraction(price) / ratio_between(splits, day, self._date)  # in units of the date
        return Quoted(name, symbol, isin, own, asset_class, splits, day, each, currency)

    def rate(self, currency: str, base_currency: str) -> KnownRate | None:
        """The latest rate until the date, in either direction and from any source; None: none is known."""
        pair = Pair(currency, base_currency)
        if pair not in self._rates:
            self._rates[pair] = _latest_rate(self._tx, pair, self._date)
        return self._rates[pair]


def money_of(numerator: int, denominator: int, currency: str) -> Money:
    """A quotient of major units as an amount, rounded half up to the minor unit."""
    return Money(half_up(numerator * 10 ** exponent(currency), denominator), currency)


def text_of(numerator: int, denominator: int, places: int = PLACES) -> str:
    """A quotient rounded half up to so many places, in its canonical form. The denominator is above zero."""
    digits = half_up(numerator * 10**places, denominator)
    sign, digits = ("-", -digits) if digits < 0 else ("", digits)
    integer, fraction = divmod(digits, 10**places)
    if not fraction:
        return f"{sign}{integer}"
    return f"{sign}{integer}.{fraction:0{places}}".rstrip("0")


def _latest_rate(tx: ReadTx, pair: Pair, day: str) -> KnownRate | None:
    """The latest rate until an ISO date, in either direction and wherever it is from.

    Of one day a recorded rate goes before that of a transaction, which goes before HMRC's. What was reversed, and what
    a transaction was converted at because it had no rate of its own, tells nothing.
    """
    if pair.currency == pair.base_currency:
        return KnownRate(Fraction(1), day, None)
    rates = [*both_ways(tx, _SELECT_RECORDED, pair, day), *both_ways(tx, _SELECT_TRADED, pair, day)]
    published = of_pounds(pair, exchange_rates.latest_rate(foreign(pair), day))
    if published is not None:
        rates.append(published)
    return max(rates, key=lambda rate: rate.date, default=None)
