"""Prices and rates as they are stored: one for a day. Owns the tables `asset_prices` and `exchange_rates`.

Prices in pence and other hundredths become prices in the currency itself.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from gatewayd.areas.assets.books import instruments
from gatewayd.areas.assets.prices.shapes import AssetPrice, ExchangeRate
from gatewayd.money import CURRENCIES, canonical
from gatewayd.store import Columns, WriteTx

PRICES = Columns(AssetPrice)
RATES = Columns(ExchangeRate)

_SELECT_PRICE = f"""
SELECT {PRICES.sql}, import_id FROM asset_prices
WHERE org_id = :org_id AND instrument_id = :instrument_id AND date = :date
"""
_PUT_PRICE = """
INSERT INTO asset_prices (org_id, instrument_id, date, price, currency, source, import_id)
VALUES (:org_id, :instrument_id, :date, :price, :currency, :source, :import_id)
ON CONFLICT (org_id, instrument_id, date) DO UPDATE SET price = excluded.price, currency = excluded.currency,
    source = excluded.source, import_id = excluded.import_id
"""
_SELECT_RATE = f"""
SELECT {RATES.sql}, import_id FROM exchange_rates
WHERE org_id = :org_id AND currency = :currency AND base_currency = :base_currency AND date = :date
"""
_PUT_RATE = """
INSERT INTO exchange_rates (org_id, currency, base_currency, date, rate, source, import_id)
VALUES (:org_id, :currency, :base_currency, :date, :rate, :source, :import_id)
ON CONFLICT (org_id, currency, base_currency, date) DO UPDATE SET rate = excluded.rate, source = excluded.source,
    import_id = excluded.import_id
"""

Outcome = Literal["added", "same", "replaced", "contradicted"]
"""What became of a price or rate. `contradicted`: the same file has another one for the day, which stays."""
HUNDREDTHS: Final[Mapping[str, str]] = {"GBX": "GBP", "GBp": "GBP", "ZAC": "ZAR", "ILA": "ILS"}
"""What exchanges quote in hundredths of a currency: London, Johannesburg, Tel Aviv."""


def put_price(tx: WriteTx, price: AssetPrice, import_id: str | None = None) -> Outcome:
    """Store the price of a day, in the place of the one there is.

    `import_id` is the hash of the file that it is from. The instrument shows its latest price in its own currency.
    """
    row = tx.row(_SELECT_PRICE, instrument_id=price.instrument_id, date=price.date)
    stored = None if row is None else PRICES.load(row[:-1])
    if stored is not None and (stored.price, stored.currency) == (price.price, price.currency):
        return "same"
    if row is not None and import_id is not None and row[-1] == import_id:
        return "contradicted"
    tx.run(_PUT_PRICE, import_id=import_id, **_column_values(PRICES, price))
    instruments.show_price(tx, price.instrument_id, price.date, (price.price, price.currency, price.source))
    return "added" if stored is None else "replaced"


def put_rate(tx: WriteTx, rate: ExchangeRate, import_id: str | None = None) -> Outcome:
    """Store the rate of a day, as `put_price` does a price."""
    row = tx.row(_SELECT_RATE, currency=rate.currency, base_currency=rate.base_currency, date=rate.date)
    stored = None if row is None else RATES.load(row[:-1])
    if stored is not None and stored.rate == rate.rate:
        return "same"
    if row is not None and import_id is not None and row[-1] == import_id:
        return "contradicted"
    tx.run(_PUT_RATE, import_id=import_id, **_column_values(RATES, rate))
    return "added" if stored is None else "replaced"


def _column_values(
    columns: Columns[AssetPrice] | Columns[ExchangeRate], row: AssetPrice | ExchangeRate
) -> dict[str, object]:
    return {name: getattr(row, name) for name in columns.names}


class Quote(NamedTuple):
    """A price in major units of a currency of ISO 4217."""

    price: str
    currency: str


def quote(price: str, currency: str) -> Quote | None:
    """What a decimal in a currency is in major units; None: there is no such currency."""
    major = HUNDREDTHS.get(currency)
    if major is not None:
        return Quote(canonical(f"{Decimal(price).scaleb(-2):f}"), major)
    return Quote(canonical(price), currency) if currency in CURRENCIES else None
