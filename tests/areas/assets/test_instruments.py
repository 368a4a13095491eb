"""Instruments: what is listed, found and put right, and what is refused."""

from typing import Any
from urllib.parse import quote

import pytest

from gatewayd.areas.assets.instruments import finding
from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.assets import records
from tests.areas.assets.shelves import Shelves
from tests.support.store import MemoryStore

VODAFONE = {"isin": "GB00BH4HKS39", "sedol": "BH4HKS3", "figi": "BBG000C6K6G9"}


def found(shelves: Shelves, q: str, more: str = "") -> list[tuple[str, str, int]]:
    """Name, field and score of what a search answers."""
    answer = shelves.one("searchInstruments", f"q={quote(q)}{more}")
    return [(row["name"], row["match"]["field"], row["match"]["score"]) for row in answer["data"]]


@pytest.fixture
def stocked(shelves: Shelves) -> Shelves:
    shelves.instrument(name="Vodafone Group plc", symbol="VOD", exchange_mic="XLON", **VODAFONE)
    shelves.instrument(name="Vodafone ADR", symbol="VOD", exchange_mic="XNAS", currency="USD", cusip="92857W308")
    shelves.instrument(name="Vanguard FTSE All-World", symbol="VWRL", asset_class="fund", isin="IE00B3RBWM25")
    shelves.instrument(name="Nestlé S.A.", symbol="NESN")
    return shelves


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("GB00BH4HKS39", ("Vodafone Group plc", "isin", 100)),
        ("gb00 bh4h ks39", ("Vodafone Group plc", "isin", 100)),
        ("bh4hks3", ("Vodafone Group plc", "sedol", 100)),
        ("BBG000C6K6G9", ("Vodafone Group plc", "figi", 100)),
        ("92857W308", ("Vodafone ADR", "cusip", 100)),
        ("XNAS:VOD", ("Vodafone ADR", "symbol", 100)),
        ("vod.xlon", ("Vodafone Group plc", "symbol", 100)),
        ("vwrl", ("Vanguard FTSE All-World", "symbol", 90)),
        ("VWR", ("Vanguard FTSE All-World", "symbol", 80)),
        ("vodafone gr", ("Vodafone Group plc", "name", 70)),
        ("IE00B3", ("Vanguard FTSE All-World", "isin", 60)),
        ("all world", ("Vanguard FTSE All-World", "name", 50)),
        ("world vang", ("Vanguard FTSE All-World", "name", 50)),
        ("nestle", ("Nestlé S.A.", "name", 70)),
    ],
)
def test_the_best_match_comes_first(stocked: Shelves, q: str, expected: tuple[str, str, int]) -> None:
    assert found(stocked, q)[0] == expected


def test_what_is_found_is_found_once_and_in_order(stocked: Shelves) -> None:
    assert found(stocked, "VOD") == [("Vodafone Group plc", "symbol", 90), ("Vodafone ADR", "symbol", 90)]
    names = [name for name, _, _ in found(stocked, "vo")]
    assert sorted(names) == ["Vodafone ADR", "Vodafone Group plc"]
    assert len(found(stocked, "vo", "&limit=1")) == 1
    assert found(stocked, "vo", "&assetClass=fund") == []
    assert found(stocked, "va", "&assetClass=fund")[0][0] == "Vanguard FTSE All-World"
    assert found(stocked, "100%") == []
    assert found(stocked, "--") == []


def test_a_search_is_for_two_characters(stocked: Shelves) -> None:
    with pytest.raises(Problem) as caught:
        stocked.one("searchInstruments", "q=v%20")
    assert fields_of(caught.value) == [("q", "out_of_range")]


def test_a_search_finds_nothing_of_another_organization(stocked: Shelves, store: MemoryStore) -> None:
    for q in ("vodafone", "GB00BH4HKS39", "XLON:VOD", "VOD", "group"):
        assert found(Shelves(store), q) == []


def test_the_list_is_filtered(stocked: Shelves, store: MemoryStore) -> None:
    assert [row["name"] for row in stocked.get("listInstruments", "currency=USD")[0]] == ["Vodafone ADR"]
    assert [row["symbol"] for row in stocked.get("listInstruments", "assetClass=fund")[0]] == ["VWRL"]
    assert len(stocked.walk("listInstruments", "limit=1")) == 4
    assert stocked.get("listInstruments", "held=true")[0] == []
    fund = stocked.get("listInstruments", "assetClass=fund")[0][0]["id"]
    account = stocked.account(stocked.portfolio()["id"])["id"]
    store.write(lambda tx: records.transaction(tx, account, instrument_id=fund, quantity="1"), stocked.org_id)
    assert [row["id"] for row in stocked.get("listInstruments", "held=true")[0]] == [fund]
    assert stocked.get("listInstruments", "updatedSince=2026-11-21T00:00:00Z")[0] == []


def test_what_was_unknown_or_wrong_is_put_right(shelves: Shelves) -> None:
    made = shelves.instrument(symbol="VOD", exchange_mic="XLON")
    changed = shelves.post(
        "updateInstrument",
        id=made.id,
        expectedVersion=1,
        name="Vodafone",
        reportingFund=False,
        cgtExempt=True,
        **VODAFONE,
    )
    assert (changed["name"], changed["isin"], changed["domicileCountry"]) == ("Vodafone", VODAFONE["isin"], "GB")
    assert (changed["reportingFund"], changed["cgtExempt"], changed["version"]) == (False, True, 2)
    assert found(shelves, "vodafone") == [("Vodafone", "name", 70)]
    again = shelves.post("updateInstrument", id=made.id, name="Telephones", symbol="tel", sedol=None)
    assert (again["symbol"], again["sedol"]) == ("TEL", None)
    assert found(shelves, "vodafone") == []
    assert found(shelves, "telephones") == [("Telephones", "name", 70)]
    assert shelves.one("getInstrument", f"id={made.id}") == again


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"isin": "GB00BH4HKS38"}, "isin", "invalid_format"),
        ({"cusip": "92857W307"}, "cusip", "invalid_format"),
        ({"symbol": None}, "symbol", "required"),
    ],
)
def test_what_an_instrument_may_not_become(shelves: Shelves, fields: dict[str, Any], path: str, code: str) -> None:
    made = shelves.instrument(symbol="VOD", exchange_mic="XLON")
    with pytest.raises(Problem) as caught:
        shelves.post("updateInstrument", id=made.id, **fields)
    assert fields_of(caught.value) == [(path, code)]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"isin": VODAFONE["isin"]}, "isin"),
        ({"sedol": VODAFONE["sedol"]}, "sedol"),
        ({"figi": VODAFONE["figi"]}, "figi"),
        ({"symbol": "vod", "exchangeMic": "XLON"}, "symbol"),
    ],
)
def test_an_identifier_is_one_instruments(stocked: Shelves, fields: dict[str, Any], field: str) -> None:
    other = stocked.instrument(name="Another")
    with pytest.raises(Problem) as caught:
        stocked.post("updateInstrument", id=other.id, **fields)
    assert (caught.value.code, caught.value.extra["field"]) == ("already_exists", field)


def test_a_version_that_is_old_is_refused(shelves: Shelves) -> None:
    made = shelves.instrument(name="Oak")
    with pytest.raises(Problem) as caught:
        shelves.post("updateInstrument", id=made.id, expectedVersion=2)
    assert caught.value.code == "version_conflict"


def test_another_organizations_instrument_is_not_found(shelves: Shelves, store: MemoryStore) -> None:
    made = Shelves(store).instrument(name="Oak")
    with pytest.raises(Problem) as caught:
        shelves.post("updateInstrument", id=made.id, name="Mine")
    assert caught.value.code == "not_found"
    with pytest.raises(Problem) as caught:
        shelves.one("getInstrument", f"id={made.id}")
    assert caught.value.code == "not_found"


@pytest.mark.parametrize("words", [1, 3])
def test_a_search_scans_no_table(shelves: Shelves, words: int) -> None:
    """However many instruments there are."""
    statements = [
        *(finding._BY_SYMBOL, finding._BY_NAME, finding._BY_ISIN, finding._BY_SEDOL),
        *(finding._BY_FIGI, finding._BY_CUSIP, finding.words_sql(words)),
    ]
    for sql in statements:
        names = ("low", "high", *(f"{end}_{n}" for n in range(words) for end in ("low", "high")))
        values = {**dict.fromkeys(names, "a"), "asset_class": None, "count": 1, "most": 9, "org_id": "org"}
        plan = shelves.store.connection.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()
        steps = [row[3] for row in plan if row[3].startswith(("SCAN", "SEARCH"))]
        assert steps != []
        assert [step for step in steps if step.startswith("SCAN") or step.endswith("(org_id=?)")] == []
