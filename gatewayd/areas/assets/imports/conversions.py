"""By which rates rows of a broker's file are converted that have none of their own: told by currency."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from gatewayd.areas.assets.books.transactions import AssetTransaction
from gatewayd.ledger.exchange.exchange_rates import FxRateSource
from gatewayd.ledger.imports.import_shapes import SupposedReading
from gatewayd.store import ReadTx

_SELECT_CONVERTED: Final = """
SELECT currency, base_currency, fx_rate_source, min(fx_rate_date), max(fx_rate_date), count(id)
FROM asset_transactions
WHERE org_id = :org_id AND import_id = :import_id AND fx_rate_source <> 'given'
GROUP BY currency, base_currency, fx_rate_source ORDER BY currency, base_currency, fx_rate_source
"""


class Conversion(NamedTuple):
    """The rate by which one row is converted: its source and its ISO date."""

    currency: str
    base_currency: str
    source: FxRateSource
    date: str


class Converted(NamedTuple):
    """Rows of one currency that were converted by rates of one source, between these ISO dates."""

    currency: str
    base_currency: str
    source: FxRateSource
    first: str
    last: str
    rows: int


def of_import(tx: ReadTx, import_id: str) -> list[SupposedReading]:
    """What of an import was converted."""
    return _supposed_readings(Converted(*row) for row in tx.rows(_SELECT_CONVERTED, import_id=import_id))


def conversion_of(made: AssetTransaction) -> Conversion | None:
    """The rate by which a transaction was converted; None: it had one of its own, or needs none."""
    source, date = made.fx_rate_source, made.fx_rate_date
    if source is None or source == "given" or date is None:
        return None
    return Conversion(made.currency, made.base_currency, source, date)


def of_rows(conversions: Iterable[Conversion]) -> list[SupposedReading]:
    """What of a preview would be converted."""
    converted: dict[tuple[str, str, FxRateSource], Converted] = {}
    for currency, base_currency, source, date in conversions:
        key = (currency, base_currency, source)
        before = converted.get(key, Converted(*key, date, date, 0))
        converted[key] = Converted(*key, min(before.first, date), max(before.last, date), before.rows + 1)
    return _supposed_readings(converted[key] for key in sorted(converted))


def _supposed_readings(converted: Iterable[Converted]) -> list[SupposedReading]:
    return [
        SupposedReading(field="fxRate", value=f"{group.currency}/{group.base_currency}", reason=_reason(group))
        for group in converted
    ]


def _reason(converted: Converted) -> str:
    rows = "1 row has" if converted.rows == 1 else f"{converted.rows} rows have"
    pair = f"from {converted.currency} to {converted.base_currency}"
    if converted.source == "hmrc":
        span = _span(converted.first[:7], converted.last[:7])
        return f"{rows} no rate {pair}: HMRC's of the month is taken, {span}."
    span = _span(converted.first, converted.last)
    return f"{rows} no rate {pair}: the recorded one is taken, {span}."


def _span(first: str, last: str) -> str:
    return f"of {first}" if first == last else f"of {first} to {last}"
