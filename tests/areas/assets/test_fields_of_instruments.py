"""Each field of an instrument that comes to be with a transaction, and of one that is put right."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import Json, fields_of
from tests.areas.assets.shelves import Shelves
from tests.areas.changes import expect_change

WHOLE: Json = {
    "name": "Vodafone",
    "symbol": "VOD",
    "exchangeMic": "XLON",
    "isin": "GB00BH4HKS39",
    "sedol": "BH4HKS3",
    "figi": "BBG000C6K6G9",
    "cusip": "92857W308",
    "currency": "USD",
    "assetClass": "alternative",
    "assetSubClass": "private_equity",
    "domicileCountry": "JE",
    "reportingFund": True,
    "cgtExempt": True,
    "listed": True,
}
CHANGES: dict[str, object] = {
    "assetClass": "commodity",
    "assetSubClass": "precious_metal",
    "domicileCountry": "IE",
    "isActive": False,
    "listed": False,
}


def bought(shelves: Shelves, account: str, instrument: Json, **fields: object) -> Json:
    values = {"quantity": "1", "unitPrice": "1.00", "currency": "GBP", "instrument": instrument, **fields}
    return shelves.enter(account, "buy", "2026-05-01", **values)


@pytest.fixture
def account(shelves: Shelves) -> str:
    return str(shelves.account(shelves.portfolio()["id"])["id"])


def test_a_transaction_makes_its_instrument_of_every_field(shelves: Shelves, account: str) -> None:
    made = bought(shelves, account, WHOLE)
    instrument = shelves.one("getInstrument", f"id={made['instrumentId']}")
    assert {name: instrument[name] for name in WHOLE} == WHOLE


@pytest.mark.parametrize("name", ["isin", "sedol", "figi", "cusip"])
def test_each_identifier_finds_the_instrument(shelves: Shelves, account: str, name: str) -> None:
    first = bought(shelves, account, WHOLE)
    assert bought(shelves, account, {name: WHOLE[name]})["instrumentId"] == first["instrumentId"]


def test_a_symbol_is_of_an_exchange(shelves: Shelves, account: str) -> None:
    london = bought(shelves, account, {"symbol": "VOD", "exchangeMic": "XLON"})["instrumentId"]
    york = bought(shelves, account, {"symbol": "VOD", "exchangeMic": "XNAS"})["instrumentId"]
    assert london != york
    assert bought(shelves, account, {"symbol": "vod", "exchangeMic": "XLON"})["instrumentId"] == london


@pytest.mark.parametrize("name", CHANGES)
def test_a_field_changes_alone(shelves: Shelves, account: str, name: str) -> None:
    before = shelves.one("getInstrument", f"id={bought(shelves, account, WHOLE)['instrumentId']}")
    after = shelves.post("updateInstrument", id=before["id"], **{name: CHANGES[name]})
    expect_change(before, after, **{name: CHANGES[name]})


def test_the_time_of_a_trade_is_for_people(shelves: Shelves, account: str) -> None:
    made = bought(shelves, account, WHOLE, tradeTime="14:05:30")
    assert made["tradeTime"] == "14:05:30"
    (listed,) = shelves.get("listTransactions", f"accountId={account}")[0]
    assert listed["tradeTime"] == "14:05:30"
    assert bought(shelves, account, WHOLE)["tradeTime"] is None
    with pytest.raises(Problem) as caught:
        bought(shelves, account, WHOLE, tradeTime="24:00")
    assert fields_of(caught.value) == [("tradeTime", "invalid_format")]
