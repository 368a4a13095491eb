"""Prices and rates that are entered by hand, and the lists of both (Domain B3): extensions."""

import datetime

from gatewayd.areas.assets.books.instruments import INSTRUMENTS, Instrument
from gatewayd.areas.assets.prices import rows
from gatewayd.areas.assets.prices.rows import PRICES, RATES
from gatewayd.areas.assets.prices.shapes import (
    AssetPrice,
    ExchangeRate,
    ImportPrices,
    ListExchangeRates,
    ListPrices,
    PriceImport,
    RecordExchangeRate,
    RecordPrice,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import Listing, Page, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, gathered, invalid, invalid_field
from gatewayd.ledger.references import unknown_reference
from gatewayd.money import canonical
from gatewayd.store import ReadTx, WriteTx

FIRST_DAY = "0000-00-00"
LAST_DAY = "9999-99-99"

_SELECT_PAGE = f"""
SELECT {PRICES.sql} FROM asset_prices
WHERE org_id = :org_id AND instrument_id = :instrument_id AND date >= :from_date AND date <= :to_date AND date < :before
ORDER BY date DESC LIMIT :count
"""


_SELECT_RATES = f"""
SELECT {RATES.sql} FROM exchange_rates
WHERE org_id = :org_id AND date >= :from_date AND date <= :to_date
    AND date <= :before AND (date < :before OR (currency, base_currency) > (:currency_before, :base_before))
"""
_NEXT_RATES = " ORDER BY date DESC, currency, base_currency LIMIT :count"


def list_prices(tx: ReadTx, caller: Caller, request: ListPrices) -> Listing[AssetPrice]:
    """List the prices of an instrument, latest first."""
    _instrument(tx, request.instrument_id)
    from_date, to_date = _requested_days(request)
    key = cursor_key(request, str)
    stored = tx.rows(
        _SELECT_PAGE,
        instrument_id=request.instrument_id,
        from_date=from_date,
        to_date=to_date,
        before=LAST_DAY if key is None else key[0],
        count=request.limit + 1,
    )
    prices = [PRICES.load(row) for row in stored]
    page, more = fill(prices, request.limit, lambda price: len(encode(price)))
    return Listing.of(map(encode, page), next_cursor(request, (page[-1].date,)) if more else None)


def list_exchange_rates(tx: ReadTx, caller: Caller, request: ListExchangeRates) -> Listing[ExchangeRate]:
    """List rates of exchange that were recorded or imported, latest first, and of a day by currency.

    Rates of transactions are not among them. A currency that is `baseCurrency` of a rate is found there alone.
    """
    from_date, to_date = _requested_days(request)
    day, currency, base_currency = cursor_key(request, str, str, str) or (LAST_DAY, "", "")
    values: dict[str, object] = {"before": day, "currency_before": currency, "base_before": base_currency}
    sql = _SELECT_RATES
    for name in ("currency", "base_currency"):
        wanted = getattr(request, name)
        if wanted is not None:
            sql += f" AND {name} = :{name}"
            values[name] = wanted
    stored = tx.rows(sql + _NEXT_RATES, from_date=from_date, to_date=to_date, count=request.limit + 1, **values)
    rates = [RATES.load(row) for row in stored]
    page, more = fill(rates, request.limit, lambda rate: len(encode(rate)))
    cursor = next_cursor(request, (page[-1].date, page[-1].currency, page[-1].base_currency)) if more else None
    return Listing.of(map(encode, page), cursor)


def record_price(tx: WriteTx, caller: Caller, request: RecordPrice) -> AssetPrice:
    """Record the price of an instrument on a day, in the place of the one that there is.

    Pence (`GBX`) become pounds.
    """
    errors: list[FieldError] = []
    instrument = gathered(errors, _instrument, tx, request.instrument_id)
    quoted_in = request.currency or ("GBP" if instrument is None else instrument.currency)
    quote = rows.quote(request.price, quoted_in)
    if quote is None:
        message = "There is no such currency: expected one such as GBP, or GBX for pence."
        errors.append(FieldError("currency", "invalid_enum", message))
    elif quote.price.startswith("-"):
        errors.append(FieldError("price", "out_of_range", "Expected 0 or more."))
    day = gathered(errors, _past_day, tx, request.date)
    if errors or instrument is None or quote is None or day is None:
        raise invalid(*errors)
    price = AssetPrice(
        instrument_id=instrument.id, date=day, price=quote.price, currency=quote.currency, source="manual"
    )
    rows.put_price(tx, price)
    return price


def record_exchange_rate(tx: WriteTx, caller: Caller, request: RecordExchangeRate) -> ExchangeRate:
    """Record what 1 of a currency is in another on a day, in the place of the rate that there is."""
    rate = canonical(request.rate)
    errors: list[FieldError] = []
    if rate == "0" or rate.startswith("-"):
        errors.append(FieldError("rate", "out_of_range", "Expected a rate above 0."))
    if request.currency == request.base_currency:
        errors.append(FieldError("baseCurrency", "conflict", f"Expected another currency than {request.currency}."))
    day = gathered(errors, _past_day, tx, request.date)
    if errors or day is None:
        raise invalid(*errors)
    recorded = ExchangeRate(
        currency=request.currency, base_currency=request.base_currency, date=day, rate=rate, source="manual"
    )
    rows.put_rate(tx, recorded)
    return recorded


def _requested_days(request: ListPrices | ListExchangeRates) -> tuple[str, str]:
    """The first and the last day that are asked for. Raises `Problem` `validation_failed`."""
    if request.from_date is not None and request.to_date is not None and request.to_date < request.from_date:
        raise invalid_field("toDate", "date_order", "It is before fromDate: expected that day or a later one.")
    first = FIRST_DAY if request.from_date is None else request.from_date.isoformat()
    return first, LAST_DAY if request.to_date is None else request.to_date.isoformat()


def _instrument(tx: ReadTx, instrument_id: str) -> Instrument:
    instrument = INSTRUMENTS.find(tx, instrument_id)
    if instrument is None:
        raise invalid(unknown_reference("instrumentId", "instrument"))
    return instrument


def _past_day(tx: ReadTx, requested: datetime.date | None) -> str:
    """The ISO date, today by default. Raises `Problem` `validation_failed` for one that is to come."""
    day = tx.today if requested is None else requested.isoformat()
    if day > tx.today:
        raise invalid(FieldError("date", "out_of_range", "The day is still to come: expected today or an earlier one."))
    return day


OPERATIONS = (
    Operation(
        id="assets.listPrices",
        kind="read",
        method="GET",
        path="/assets/listPrices",
        scopes=("accounting:read",),
        request=ListPrices,
        response=Page[AssetPrice],
        handler=list_prices,
        extension=True,
        example={"instrumentId": "ins_01k0000000000000000000000a", "limit": 100},
    ),
    Operation(
        id="assets.recordPrice",
        kind="write",
        method="POST",
        path="/assets/recordPrice",
        scopes=("accounting:write",),
        request=RecordPrice,
        response=AssetPrice,
        handler=record_price,
        extension=True,
        example={"instrumentId": "ins_01k0000000000000000000000a", "price": "482.50", "currency": "GBX"},
    ),
    Operation(
        id="assets.recordExchangeRate",
        kind="write",
        method="POST",
        path="/assets/recordExchangeRate",
        scopes=("accounting:write",),
        request=RecordExchangeRate,
        response=ExchangeRate,
        handler=record_exchange_rate,
        extension=True,
        example={"currency": "USD", "baseCurrency": "GBP", "rate": "0.7614"},
    ),
    Operation(
        id="assets.listExchangeRates",
        kind="read",
        method="GET",
        path="/assets/listExchangeRates",
        scopes=("accounting:read",),
        request=ListExchangeRates,
        response=Page[ExchangeRate],
        handler=list_exchange_rates,
        extension=True,
        example={"currency": "USD", "baseCurrency": "GBP", "fromDate": "2026-04-06", "limit": 100},
    ),
)

BY_ENGINE = (
    Operation(
        id="assets.importPrices",
        kind="call",
        method="POST",
        path="/assets/importPrices",
        scopes=("accounting:write",),
        request=ImportPrices,
        response=PriceImport,
        handler=AT_CATALOGUE,
        errors=("unreadable_file",),
        takes_file=True,
        extension=True,
        example={"fileName": "prices.csv"},
    ),
)
"""What takes a file: its handler is `importing`'s."""
