"""Linked transactions: what came of what is let, by property, unit, tenancy and business, with sums of all pages."""

from collections.abc import Iterator
from typing import Any

import pytest

from gatewayd.areas.landlord.linked_transactions import list_linked_transactions
from gatewayd.clock import SECOND
from gatewayd.errors import Problem
from gatewayd.ledger.allocating.allocation_shapes import Allocation
from gatewayd.store import ReadTx
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.let_books import LetBooks
from tests.support.store import MemoryStore


@pytest.fixture
def books(store: MemoryStore) -> LetBooks:
    return LetBooks(store)


def linked(books: LetBooks, query: str = "") -> Json:
    return books.one("listLinkedTransactions", query)


def ids(books: LetBooks, query: str = "") -> list[str]:
    return [row["id"] for row in linked(books, query)["data"]]


def enter(books: LetBooks, category: Any, amount: int, date: str = "2026-11-02", **fields: Any) -> Allocation:
    return books.enter(fields.pop("business_id", books.lets), category, amount, date, **fields)


def totals(came: str, went: str, net: str, count: int, currency: str = "GBP") -> Json:
    return {"currency": currency, "count": count, "in": came, "out": went, "net": net}


def test_a_row_is_the_allocation_as_banking_serves_it(books: LetBooks) -> None:
    house = books.property()
    unit = books.unit(house)
    tenancy = books.tenancy(house, unit_id=unit)
    line = books.line(books.account(books.owner), 900_00)
    books.part(line, "periodAmount", tenancyId=tenancy)
    found = linked(books)
    (row,) = found["data"]
    assert row == books.one("getAllocation", f"allocationId={row['id']}")
    assert [row[name] for name in ("sourceType", "sourceId", "direction", "amount")] == ["bank", line, "in", "900.00"]
    names = ("businessId", "propertyId", "unitId", "tenancyId", "mortgageId")
    assert [row[name] for name in names] == [books.lets, house, unit, tenancy, None]
    assert found["nextCursor"] is None


def test_sums_are_of_all_pages_and_come_with_the_first(books: LetBooks) -> None:
    house = books.property()
    enter(books, "periodAmount", 900_00, "2026-10-06", property_id=house)
    enter(books, "periodAmount", 900_00, "2026-11-06", property_id=house)
    enter(books, "repairsAndMaintenance", 250_10, "2026-11-07", property_id=house)
    first = linked(books, f"propertyId={house}&limit=2")
    assert first["totals"] == {**totals("1800.00", "250.10", "1549.90", 3), "otherCurrencies": []}
    assert [row["date"] for row in first["data"]] == ["2026-11-07", "2026-11-06"]
    rest = linked(books, f"propertyId={house}&limit=2&cursor={first['nextCursor']}")
    assert ([row["date"] for row in rest["data"]], rest["nextCursor"], rest["totals"]) == (["2026-10-06"], None, None)


def test_sums_of_another_currency_stand_apart(books: LetBooks) -> None:
    villa = books.property(currency="EUR")
    enter(books, "periodAmount", 100_00, property_id=villa, currency="EUR", fx_rate="0.85")
    enter(books, "other", 30_00, property_id=villa)
    own = {**totals("100.00", "0.00", "100.00", 1, "EUR"), "otherCurrencies": [totals("0.00", "30.00", "-30.00", 1)]}
    assert linked(books, f"propertyId={villa}")["totals"] == own
    assert linked(books, f"businessId={books.lets}")["totals"]["currency"] == "GBP"
    assert linked(books, "propertyId=prop_x")["totals"] == {**totals("0.00", "0.00", "0.00", 0), "otherCurrencies": []}


def test_places_are_filters(books: LetBooks) -> None:
    house, other = books.property(), books.property()
    units = [books.unit(house, name=name) for name in ("A", "B")]
    tenancies = [books.tenancy(house, unit_id=unit) for unit in units]
    rents = [enter(books, "periodAmount", 100_00, tenancy_id=tenancy).id for tenancy in tenancies]
    roof = enter(books, "repairsAndMaintenance", 50_00, property_id=house).id
    elsewhere = enter(books, "periodAmount", 100_00, property_id=other).id
    accountant = enter(books, "professionalFees", 20_00).id
    trade = books.trade(books.owner)
    enter(books, "turnover", 10_00, business_id=trade)
    assert ids(books, f"propertyId={house}") == [roof, *reversed(rents)]
    assert ids(books, f"unitId={units[0]}") == [rents[0]]
    assert ids(books, f"tenancyId={tenancies[1]}") == [rents[1]]
    assert ids(books, f"propertyId={house}&unitId={units[1]}") == [rents[1]]
    assert ids(books) == [elsewhere, roof, *reversed(rents)]
    assert linked(books)["totals"]["count"] == 4
    assert ids(books, f"businessId={books.lets}") == [accountant, elsewhere, roof, *reversed(rents)]


def test_categories_directions_and_days_are_filters(books: LetBooks) -> None:
    house = books.property()
    rent = enter(books, "periodAmount", 900_00, "2026-04-06", property_id=house).id
    back = enter(books, "periodAmount", 10_00, "2026-05-01", property_id=house, direction="out").id
    fee = enter(books, "professionalFees", 90_00, "2026-04-05", property_id=house).id
    other = enter(books, "other", 5_00, "2026-06-30", property_id=house).id
    assert ids(books, "category=periodAmount") == [back, rent]
    assert ids(books, "category=professionalFees&category=other") == [other, fee]
    assert ids(books, "category=other&category=other") == [other]
    assert linked(books, "category=professionalFees&category=other")["totals"]["out"] == "95.00"
    assert ids(books, "direction=in") == [rent]
    assert ids(books, "direction=out&category=periodAmount") == [back]
    assert ids(books, "fromDate=2026-04-06&toDate=2026-05-01") == [back, rent]
    assert ids(books, "taxYear=2025-26") == [fee]
    assert ids(books, "taxYear=2026-27&direction=out") == [other, back]
    assert linked(books, "taxYear=2026-27")["totals"]["net"] == "885.00"
    one_by_one = []
    cursor = ""
    while True:
        page = linked(books, f"category=periodAmount&category=other&limit=1{cursor}")
        one_by_one += [row["id"] for row in page["data"]]
        if page["nextCursor"] is None:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert one_by_one == [other, back, rent]


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("taxYear=2026-27&toDate=2026-05-01", ("taxYear", "conflict")),
        ("taxYear=2026-28", ("taxYear", "invalid_format")),
        ("fromDate=2026-05-02&toDate=2026-05-01", ("toDate", "date_order")),
    ],
)
def test_what_does_not_go_together(books: LetBooks, query: str, error: tuple[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        linked(books, query)
    assert fields_of(caught.value) == [error]


def test_a_cursor_is_of_its_filters(books: LetBooks) -> None:
    house = books.property()
    for _ in range(2):
        enter(books, "other", 5_00, property_id=house)
    cursor = linked(books, "limit=1")["nextCursor"]
    with pytest.raises(Problem) as caught:
        linked(books, f"propertyId={house}&limit=1&cursor={cursor}")
    assert caught.value.code == "invalid_cursor"


def test_changes_are_followed(books: LetBooks) -> None:
    house = books.property()
    first, second = (enter(books, "other", 5_00, property_id=house).id for _ in range(2))
    books.store.clock.advance(SECOND)
    books.post("updateAllocation", allocationId=first, description="Paint")
    assert ids(books, "updatedSince=2026-11-20T09:30:00.500Z") == [first]
    every = linked(books, f"propertyId={house}&updatedSince=2026-11-20T00:00:00Z")
    assert ([row["id"] for row in every["data"]], every["totals"]) == ([second, first], None)


def test_another_organization_has_none_of_it(books: LetBooks, store: MemoryStore) -> None:
    house = books.property()
    enter(books, "other", 5_00, property_id=house)
    others = LetBooks(store, "Other Ltd")
    for query in ("", f"propertyId={house}", f"businessId={books.lets}"):
        found = linked(others, query)
        assert (found["data"], found["totals"]["count"], found["totals"]["currency"]) == ([], 0, "GBP")


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "allocations_of_lets"),
        ("taxYear=2026-27", "allocations_of_lets"),
        ("category=other&category=periodAmount", "allocations_of_lets"),
        ("category=other", "allocations_by_category"),
        ("propertyId=x", "allocations_by_property"),
        ("propertyId=x&taxYear=2026-27&category=other&category=periodAmount", "allocations_by_property"),
        ("propertyId=x&direction=out&category=other", "allocations_by_property"),
        ("propertyId=x&unitId=x&direction=out", "allocations_by_unit"),
        ("unitId=x", "allocations_by_unit"),
        ("mortgageId=x", "allocations_by_mortgage"),
        ("externalId=x&direction=in", "allocations_by_external_id"),
        ("unitId=x&category=other&direction=out&fromDate=2026-01-01", "allocations_by_unit"),
        ("tenancyId=x", "allocations_by_tenancy"),
        ("tenancyId=x&category=periodAmount&direction=in", "allocations_by_tenancy"),
        ("businessId=x", "allocations_by_business"),
        ("businessId=x&category=other", "allocations_by_category"),
        ("propertyId=x&updatedSince=2026-01-01T00:00:00Z", "allocations_by_change"),
    ],
)
def test_no_page_sorts_or_scans(books: LetBooks, query: str, index: str) -> None:
    plans: list[tuple[bool, str]] = []

    class Explaining(ReadTx):
        def each(self, sql: str, /, **values: object) -> Iterator[tuple[object, ...]]:
            plans.extend((True, row[3]) for row in super().rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().each(sql, **values)

        def rows(self, sql: str, /, **values: object) -> list[tuple[object, ...]]:
            plans.extend((False, row[3]) for row in super().rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().rows(sql, **values)

    def explain(tx: ReadTx) -> None:
        explaining = object.__new__(Explaining)
        explaining.__dict__.update(tx.__dict__)
        list_linked_transactions(explaining, books.caller, books.decoders["listLinkedTransactions"].query(query))

    books.store.read(explain, books.org_id)
    pages = [step for of_page, step in plans if of_page]
    sums = [step for of_page, step in plans if not of_page and "allocations" in step]
    assert f"USING INDEX {index} (" in pages[0], pages
    assert not [step for step in pages if "TEMP B-TREE" in step or "SCAN" in step], pages
    if "updatedSince" in query:
        assert sums == []
    elif query == "taxYear=2026-27":
        assert "allocations_of_lets (org_id=? AND date>? AND date<?)" in sums[0], sums
    elif query.startswith("category"):
        assert "allocations_by_category (org_id=? AND category=?" in sums[0], sums
    elif "&" not in query:
        assert "USING COVERING INDEX" in sums[0], sums
    else:
        assert "SCAN" not in sums[0], sums
