"""What things are worth on a day: the latest price and the latest rate of exchange until then. Reads only."""

from fractions import Fraction
from typing import Final, NamedTuple

from gatewayd.areas.assets.instruments.shapes import AssetClass
from gatewayd.areas.assets.pools.held import ratio_between
from gatewayd.ledger.rounding import half_up
from gatewayd.money import Money, exponent
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
_SELECT_RATE = """
SELECT rate, date FROM exchange_rates
WHERE org_id = :org_id AND currency = :currency AND base_currency = :base_currency AND date <= :date
ORDER BY date DESC LIMIT 1
"""
_SELECT_TRADED_RATE = """
SELECT fx_rate, trade_date FROM asset_transactions
WHERE org_id = :org_id AND currency = :currency AND base_currency = :base_currency AND currency <> base_currency
    AND trade_date <= :date
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


class Rate(NamedTuple):
    """What 1 of a currency is in another, and of which day that is."""

    rate: Fraction
    date: str


class Valuing:
    """Prices and rates of one ISO date. Rates are looked up once for each pair."""

    def __init__(self, tx: ReadTx, date: str) -> None:
        self._tx, self._date = tx, date
        self._rates: dict[tuple[str, str], Rate | None] = {}

    def quoted(self, first: str, last: str) -> dict[str, Quoted]:
        """The instruments that any transaction names, of ids from one to another, both included."""
        rows = self._tx.rows(_SELECT_INSTRUMENTS, date=self._date, first=first, last=last)
        return {row[0]: self._quoted(row) for row in rows}

    def _quoted(self, row: Row) -> Quoted:
        _, name, symbol, isin, own, asset_class, splits, day, price, currency = row
        if day is None:
            return Quoted(name, symbol, isin, own, asset_class, splits, None, None, own)
        each = Fraction(price) / ratio_between(splits, day, self._date)  # in units of the date
        return Quoted(name, symbol, isin, own, asset_class, splits, day, each, currency)

    def rate(self, currency: str, base_currency: str) -> Rate | None:
        """The latest rate until the date: one that was recorded, in either direction, else that of a transaction."""
        if currency == base_currency:
            return Rate(Fraction(1), self._date)
        key = (currency, base_currency)
        if key not in self._rates:
            self._rates[key] = self._find(currency, base_currency)
        return self._rates[key]

    def _find(self, currency: str, base_currency: str) -> Rate | None:
        found = self._row(_SELECT_RATE, currency, base_currency)
        if found is None:
            inverse = self._row(_SELECT_RATE, base_currency, currency)
            if inverse is not None:
                return Rate(1 / inverse.rate, inverse.date)
            found = self._row(_SELECT_TRADED_RATE, currency, base_currency)
        return found

    def _row(self, sql: str, currency: str, base_currency: str) -> Rate | None:
        row = self._tx.row(sql, currency=currency, base_currency=base_currency, date=self._date)
        return None if row is None else Rate(Fraction(row[0]), row[1])


def money_of(numerator: int, denominator: int, currency: str) -> Money:
    """An amount of major units, a quotient, rounded half up to the minor unit."""
    return Money(half_up(numerator * 10 ** exponent(currency), denominator), currency)


def text_of(numerator: int, denominator: int, places: int = PLACES) -> str:
    """A quotient rounded half up to so many places, in its canonical form. The denominator is above zero."""
    digits = half_up(numerator * 10**places, denominator)
    sign, digits = ("-", -digits) if digits < 0 else ("", digits)
    whole, fraction = divmod(digits, 10**places)
    if not fraction:
        return f"{sign}{whole}"
    return f"{sign}{whole}.{fraction:0{places}}".rstrip("0")
