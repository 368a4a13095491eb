"""Prices and rates that are entered by hand: one for a day, in pounds, and shown by their instrument."""

from typing import Any

import pytest

from gatewayd.clock import DAY
from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.assets.shelves import Shelves
from tests.support.store import MemoryStore


def prices(shelves: Shelves, instrument_id: str, more: str = "") -> list[tuple[str, str, str]]:
    rows = shelves.walk("listPrices", f"instrumentId={instrument_id}{more}")
    return [(row["date"], row["price"], row["currency"]) for row in rows]


def test_a_price_is_of_today_and_in_the_instruments_currency(shelves: Shelves, store: MemoryStore) -> None:
    made = shelves.instrument(name="Oak plc")
    recorded = shelves.post("recordPrice", instrumentId=made.id, price="81.2200")
    assert recorded == {
        "instrumentId": made.id,
        "date": "2026-11-20",
        "price": "81.22",
        "currency": "GBP",
        "source": "manual",
    }
    store.clock.advance(DAY)
    assert shelves.post("recordPrice", instrumentId=made.id, price="82")["date"] == "2026-11-21"
    assert prices(shelves, made.id) == [("2026-11-21", "82", "GBP"), ("2026-11-20", "81.22", "GBP")]


@pytest.mark.parametrize(("currency", "kept"), [("GBX", "GBP"), ("GBp", "GBP"), ("ZAC", "ZAR"), ("ILA", "ILS")])
def test_hundredths_never_leave(shelves: Shelves, currency: str, kept: str) -> None:
    made = shelves.instrument(name="Oak plc", currency=kept)
    recorded = shelves.post("recordPrice", instrumentId=made.id, price="6814.5", currency=currency)
    assert (recorded["price"], recorded["currency"]) == ("68.145", kept)
    assert shelves.one("getInstrument", f"id={made.id}")["lastPrice"] == "68.145"


def test_a_day_has_one_price(shelves: Shelves) -> None:
    made = shelves.instrument(name="Oak plc")
    for price in ("5", "6"):
        shelves.post("recordPrice", instrumentId=made.id, price=price, date="2026-10-01")
    assert prices(shelves, made.id) == [("2026-10-01", "6", "GBP")]


def test_an_instrument_shows_its_latest_price_in_its_currency(shelves: Shelves, store: MemoryStore) -> None:
    made = shelves.instrument(name="Oak plc")
    for date, price, currency in (("2026-11-01", "5", "GBP"), ("2026-10-01", "4", "GBP"), ("2026-11-02", "7", "USD")):
        shelves.post("recordPrice", instrumentId=made.id, price=price, date=date, currency=currency)
    shown = shelves.one("getInstrument", f"id={made.id}")
    assert (shown["lastPrice"], shown["lastPriceDate"], shown["priceSource"]) == ("5", "2026-11-01", "manual")
    assert shown["version"] == 1


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"price": "-1"}, "price", "out_of_range"),
        ({"price": "1", "date": "2026-11-21"}, "date", "out_of_range"),
        ({"price": "1", "currency": "XYZ"}, "currency", "invalid_enum"),
        ({"price": "1", "instrumentId": "ins_1"}, "instrumentId", "unknown_reference"),
    ],
)
def test_what_no_price_is(shelves: Shelves, fields: dict[str, Any], path: str, code: str) -> None:
    made = shelves.instrument(name="Oak plc")
    with pytest.raises(Problem) as caught:
        shelves.post("recordPrice", **{"instrumentId": made.id, **fields})
    assert fields_of(caught.value) == [(path, code)]


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"rate": "0.00"}, "rate", "out_of_range"),
        ({"rate": "-1"}, "rate", "out_of_range"),
        ({"currency": "GBP", "rate": "1"}, "baseCurrency", "conflict"),
        ({"rate": "1", "date": "2026-11-21"}, "date", "out_of_range"),
    ],
)
def test_what_no_rate_is(shelves: Shelves, fields: dict[str, Any], path: str, code: str) -> None:
    with pytest.raises(Problem) as caught:
        shelves.post("recordExchangeRate", **{"currency": "USD", **fields})
    assert fields_of(caught.value) == [(path, code)]


def test_a_rate_is_of_a_day(shelves: Shelves) -> None:
    recorded = shelves.post("recordExchangeRate", currency="USD", rate="0.76140")
    assert recorded == {
        "currency": "USD",
        "baseCurrency": "GBP",
        "date": "2026-11-20",
        "rate": "0.7614",
        "source": "manual",
    }


def test_the_list_goes_on_and_is_bounded_by_days(shelves: Shelves) -> None:
    made = shelves.instrument(name="Oak plc")
    for day in range(1, 8):
        shelves.post("recordPrice", instrumentId=made.id, price=str(day), date=f"2026-10-0{day}")
    whole = prices(shelves, made.id)
    assert [price for _, price, _ in whole] == ["7", "6", "5", "4", "3", "2", "1"]
    assert prices(shelves, made.id, "&limit=2") == whole
    assert prices(shelves, made.id, "&fromDate=2026-10-03&toDate=2026-10-04") == whole[3:5]
    with pytest.raises(Problem) as caught:
        prices(shelves, made.id, "&fromDate=2026-10-03&toDate=2026-10-02")
    assert fields_of(caught.value) == [("toDate", "date_order")]


def test_another_organizations_instrument_is_unknown(shelves: Shelves, store: MemoryStore) -> None:
    theirs = Shelves(store).instrument(name="Oak plc")
    with pytest.raises(Problem) as caught:
        shelves.post("recordPrice", instrumentId=theirs.id, price="1")
    assert fields_of(caught.value) == [("instrumentId", "unknown_reference")]
    with pytest.raises(Problem) as caught:
        prices(shelves, theirs.id)
    assert fields_of(caught.value) == [("instrumentId", "unknown_reference")]


def rates(shelves: Shelves, query: str = "") -> list[str]:
    """Each as `USD/GBP 2026-10-01`."""
    rows = shelves.walk("listExchangeRates", query)
    return [f"{row['currency']}/{row['baseCurrency']} {row['date']}" for row in rows]


def test_rates_are_listed_latest_first_and_by_currency(shelves: Shelves, store: MemoryStore) -> None:
    Shelves(store).post("recordExchangeRate", currency="CHF", rate="0.9")  # another organization's
    for date in ("2026-10-01", "2026-10-02", "2026-10-03"):
        for currency, base in (("USD", "GBP"), ("EUR", "GBP"), ("EUR", "USD")):
            shelves.post("recordExchangeRate", currency=currency, baseCurrency=base, rate="0.8", date=date)
    shelves.post("recordExchangeRate", currency="USD", rate="0.7614", date="2026-10-02")
    of_a_day = ("EUR/GBP", "EUR/USD", "USD/GBP")
    whole = [f"{pair} 2026-10-{day}" for day in ("03", "02", "01") for pair in of_a_day]
    assert rates(shelves) == whole
    for limit in range(1, 5):
        assert rates(shelves, f"limit={limit}") == whole
    assert rates(shelves, "currency=USD&limit=1") == [one for one in whole if one.startswith("USD")]
    assert rates(shelves, "baseCurrency=USD") == [one for one in whole if "/USD" in one]
    assert rates(shelves, "currency=GBP") == []
    assert rates(shelves, "fromDate=2026-10-02&toDate=2026-10-02") == whole[3:6]
    (one,) = shelves.walk("listExchangeRates", "currency=USD&baseCurrency=GBP&fromDate=2026-10-02&toDate=2026-10-02")
    assert one == {
        "currency": "USD",
        "baseCurrency": "GBP",
        "date": "2026-10-02",
        "rate": "0.7614",
        "source": "manual",
    }
    with pytest.raises(Problem) as caught:
        rates(shelves, "fromDate=2026-10-03&toDate=2026-10-02")
    assert fields_of(caught.value) == [("toDate", "date_order")]


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "exchange_rates_by_date (org_id=? AND date>? AND date<?)"),
        ("currency=USD&baseCurrency=GBP", "sqlite_autoindex_exchange_rates_1 (org_id=? AND currency=?"),
    ],
)
def test_a_page_of_rates_is_read_in_its_order(shelves: Shelves, query: str, index: str) -> None:
    asked: list[tuple[str, Any]] = []

    def note(cursor: object, sql: str, values: Any) -> bool:
        asked.append((sql, values))
        return True

    shelves.store.connection.exec_trace = note
    rates(shelves, query)
    shelves.store.connection.exec_trace = None
    ((sql, values),) = [one for one in asked if "exchange_rates" in one[0]]
    plan = [row[3] for row in shelves.store.connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert [index in step for step in plan] == [True], plan
