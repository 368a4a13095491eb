"""Instruments that a transaction or a file names: found by what is known of them, else made."""

from typing import Any

import pytest

from gatewayd.areas.assets.books.instruments import INSTRUMENTS, Instrument
from gatewayd.areas.assets.instruments.shapes import InlineInstrument
from gatewayd.areas.assets.instruments.upserting import find_or_create
from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.support.store import MemoryStore

APPLE = {"isin": "US0378331005", "sedol": "2046251", "figi": "BBG000B9XRY4", "cusip": "037833100", "symbol": "AAPL"}
VODAFONE = {"isin": "GB00BH4HKS39", "sedol": "BH4HKS3", "figi": "BBG000C6K6G9", "symbol": "VOD"}


class Shelf:
    """An organization's instruments."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.org_id = store.org()

    def put(self, currency: str = "GBP", path: str = "instrument", **given: Any) -> Instrument:
        request = InlineInstrument(**given)
        return self.store.write(lambda tx: find_or_create(tx, request, path, currency), self.org_id)

    def count(self) -> int:
        return int(self.store.read(lambda tx: tx.value("SELECT count(1) FROM instruments"), self.org_id))


@pytest.fixture
def shelf(store: MemoryStore) -> Shelf:
    return Shelf(store)


@pytest.mark.parametrize("name", ["isin", "sedol", "figi", "cusip"])
def test_each_identifier_finds_it(shelf: Shelf, name: str) -> None:
    made = shelf.put(name="Apple", **APPLE)
    assert shelf.put(**{name: APPLE[name]}) == made
    assert shelf.count() == 1


def test_a_ticker_finds_it_at_its_exchange_and_alone(shelf: Shelf) -> None:
    london = shelf.put(symbol="VOD", exchange_mic="XLON", name="Vodafone")
    assert shelf.put(symbol="vod", exchange_mic="XLON").id == london.id
    assert shelf.put(symbol="VOD").id == london.id
    elsewhere = shelf.put(symbol="VOD", exchange_mic="XNAS", name="Vodafone ADR", currency="USD")
    assert elsewhere.id != london.id
    with pytest.raises(Problem) as caught:
        shelf.put(symbol="VOD")
    assert fields_of(caught.value) == [("instrument.symbol", "conflict")]


def test_a_name_finds_it_in_any_letter_case(shelf: Shelf) -> None:
    made = shelf.put(name="Nestlé  S.A.")
    assert shelf.put(name="NESTLE S.A.").id == made.id
    assert shelf.put(name="Nestle").id != made.id


def test_what_differs_is_not_found_by_ticker_or_name(shelf: Shelf) -> None:
    """A ticker moves on to another company, and two classes of share have one name."""
    made = shelf.put(name="Example plc", symbol="EXA", isin=VODAFONE["isin"])
    assert shelf.put(name="Example plc", symbol="EXA", isin=APPLE["isin"]).id != made.id


def test_what_was_unknown_is_filled_in_and_what_was_known_stays(shelf: Shelf) -> None:
    made = shelf.put(symbol="VOD", exchange_mic="XLON")
    assert (made.name, made.isin, made.domicile_country, made.version) == ("VOD", None, None, 1)
    filled = shelf.put(**VODAFONE, exchange_mic="XLON", name="Vodafone Group plc", asset_class="fund")
    assert (filled.id, filled.name, filled.isin, filled.sedol) == (
        *(made.id, "Vodafone Group plc"),
        *(VODAFONE["isin"], VODAFONE["sedol"]),
    )
    assert (filled.domicile_country, filled.asset_class, filled.version) == ("GB", "equity", 2)
    again = shelf.put(isin=VODAFONE["isin"], name="Another name", sedol="2046251")
    assert again == filled


def test_a_new_one_has_what_its_identifiers_say_and_no_more(shelf: Shelf) -> None:
    made = shelf.put(currency="USD", isin=APPLE["isin"])
    assert (made.name, made.currency, made.domicile_country) == (APPLE["isin"], "USD", "US")
    assert (made.sedol, made.cusip, made.splits, made.is_active) == (None, None, [], True)
    assert shelf.put(isin=VODAFONE["isin"]).sedol is None
    token = shelf.put(isin="XTV15WLZJMF0", name="Bitcoin", asset_sub_class="crypto_token")
    assert (token.domicile_country, token.asset_class) == (None, "crypto")
    assert shelf.put(name="4 1/4% Treasury 2032", asset_sub_class="gilt").cgt_exempt
    assert not shelf.put(name="4 1/4% Treasury 2036", asset_sub_class="gilt", cgt_exempt=False).cgt_exempt


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"isin": "GB00BH4HKS38"}, "isin"),
        ({"sedol": "BH4HKS4"}, "sedol"),
        ({"figi": "BBG000C6K6G8"}, "figi"),
        ({"cusip": "037833101"}, "cusip"),
    ],
)
def test_check_digits_are_checked(shelf: Shelf, given: dict[str, Any], field: str) -> None:
    with pytest.raises(Problem) as caught:
        shelf.put(name="Wrong", **given)
    assert fields_of(caught.value) == [(f"instrument.{field}", "invalid_format")]
    assert shelf.count() == 0


def test_nothing_that_names_it_is_refused(shelf: Shelf) -> None:
    with pytest.raises(Problem) as caught:
        shelf.put(asset_class="fund", exchange_mic="XLON")
    assert fields_of(caught.value) == [("instrument", "required")]


def test_identifiers_of_two_instruments_are_refused(shelf: Shelf) -> None:
    shelf.put(isin=APPLE["isin"], name="Apple")
    shelf.put(sedol=VODAFONE["sedol"], name="Vodafone")
    for given, field in (
        ({"isin": APPLE["isin"], "sedol": VODAFONE["sedol"]}, "sedol"),
        ({"isin": VODAFONE["isin"], "figi": APPLE["figi"], "sedol": VODAFONE["sedol"]}, None),
    ):
        if field is None:
            assert shelf.put(**given).isin == VODAFONE["isin"]
            continue
        with pytest.raises(Problem) as caught:
            shelf.put(path="", **given)
        assert fields_of(caught.value) == [(field, "conflict")]


def test_an_identifier_that_leads_to_another_isin_is_refused(shelf: Shelf) -> None:
    made = shelf.put(symbol="VOD", exchange_mic="XLON", isin=VODAFONE["isin"], name="Vodafone")
    with pytest.raises(Problem) as caught:
        shelf.put(symbol="VOD", exchange_mic="XLON", isin=APPLE["isin"])
    assert fields_of(caught.value) == [("instrument.isin", "conflict")]
    assert made.id in caught.value.message


def test_another_organizations_instruments_are_not_found(shelf: Shelf, store: MemoryStore) -> None:
    made = shelf.put(name="Apple", **APPLE)
    other = Shelf(store)
    theirs = other.put(name="Apple", **APPLE)
    assert theirs.id != made.id
    assert store.read(lambda tx: INSTRUMENTS.find(tx, made.id), other.org_id) is None
