"""Rents due and rent that is recorded. Today is 20 November 2026."""

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from gatewayd.areas.landlord.rents import pages
from gatewayd.areas.landlord.rents.shapes import ListRentsDue
from gatewayd.contract.pages import next_cursor
from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from gatewayd.store import ReadTx
from tests.areas.accounting.books import fields_of
from tests.areas.landlord.lets import AT, step
from tests.areas.landlord.rent_books import RentBooks
from tests.support.store import MemoryStore


@pytest.fixture
def lets(store: MemoryStore) -> RentBooks:
    return RentBooks(store)


def refused(act: Callable[..., Any], *arguments: Any, **fields: Any) -> Problem:
    with pytest.raises(Problem) as caught:
        act(*arguments, **fields)
    return caught.value


# -- listRentsDue


def test_a_rent_is_told_with_what_came_for_it(lets: RentBooks) -> None:
    unit = lets.unit()
    let = lets.let(step("2026-11-09", "950.00"), unit_id=unit)
    first = lets.paid(let, "300.00", date="2026-11-09")
    second = lets.paid(let, "200.00", date="2026-11-12")
    (rent, _), cursor = lets.get("listRentsDue", f"tenancyId={let}")
    assert cursor is None
    assert rent == {
        "tenancyId": let,
        "propertyId": lets.house,
        "unitId": unit,
        "dueDate": "2026-11-09",
        "periodStartDate": "2026-11-09",
        "periodEndDate": "2026-11-30",
        "amount": "696.67",  # 22 of 30 days
        "writtenOff": "0.00",
        "received": "500.00",
        "outstanding": "196.67",
        "currency": "GBP",
        "status": "part_paid",
        "daysLate": 11,
        "allocationIds": [first["id"], second["id"]],
    }


def test_what_becomes_of_rents(lets: RentBooks) -> None:
    """A rent is due each Friday: today is one. 300.00 came for the first, and 100.00 for the second."""
    let = lets.let(step("2026-11-06", "300.00"), rent_frequency="weekly", rent_due_day=5)
    lets.paid(let, "400.00", date="2026-11-06")
    assert lets.ladder(f"tenancyId={let}&toDate=2026-11-27") == [
        ("2026-11-06", "300.00", "0.00", "paid", 0),
        ("2026-11-13", "300.00", "200.00", "part_paid", 7),
        ("2026-11-20", "300.00", "300.00", "due", 0),
        ("2026-11-27", "300.00", "300.00", "upcoming", 0),
    ]
    lets.store.clock.advance(86_400_000_000)
    assert lets.ladder(f"tenancyId={let}&fromDate=2026-11-20&toDate=2026-11-20") == [
        ("2026-11-20", "300.00", "300.00", "late", 1)
    ]


def test_what_is_paid_ahead_pays_what_is_to_come(lets: RentBooks) -> None:
    let = lets.let(step("2026-11-01", "950.00"))
    paid = lets.paid(let, "1000.00")
    november, december = lets.walk("listRentsDue", f"tenancyId={let}")
    assert (december["dueDate"], december["status"], december["received"]) == ("2026-12-01", "upcoming", "50.00")
    assert november["allocationIds"] == december["allocationIds"] == [paid["id"]]
    lets.paid(let, "900.00")
    assert [rent["status"] for rent in lets.walk("listRentsDue", f"tenancyId={let}")] == ["paid", "paid"]


def test_dates_leave_out_rents_and_not_what_they_took(lets: RentBooks) -> None:
    let = lets.let()
    lets.paid(let, "2000.00", date="2026-01-01")
    assert lets.ladder(f"tenancyId={let}&fromDate=2026-02-02&toDate=2026-04-01") == [
        ("2026-03-01", "950.00", "850.00", "part_paid", 264),
        ("2026-04-01", "950.00", "950.00", "late", 233),
    ]


def test_without_dates_it_goes_from_the_start_to_31_days_ahead(lets: RentBooks) -> None:
    let = lets.let(step("2026-09-21", "100.00"), rent_due_day=21)
    assert [due for due, *_ in lets.ladder(f"tenancyId={let}")] == [
        "2026-09-21",
        "2026-10-21",
        "2026-11-21",
        "2026-12-21",
    ]


def test_the_tenancies_of_a_property_and_of_a_business(lets: RentBooks) -> None:
    """By property, and there by the start of the tenancies; one that was called off has no rents."""
    other = lets.property()
    later = lets.let(step("2026-11-01", "900.00"))
    sooner = lets.let(step("2026-10-01", "800.00"), end_date="2026-10-31")
    there = lets.let(step("2026-11-01", "700.00"), property_id=other)
    lets.let(step("2026-11-01", "600.00"), cancelled_at=AT)
    elsewhere = lets.property(lets.business_of("foreign_property"))
    lets.let(step("2026-11-01", "500.00"), property_id=elsewhere)

    def found(query: str) -> list[tuple[str, str]]:
        return [
            (rent["tenancyId"], rent["dueDate"]) for rent in lets.walk("listRentsDue", f"{query}&toDate=2026-11-20")
        ]

    of_house = [(sooner, "2026-10-01"), (later, "2026-11-01")]
    assert found(f"propertyId={lets.house}") == of_house
    assert found(f"businessId={lets.lets}") == [*of_house, (there, "2026-11-01")]
    assert found(f"businessId={lets.lets}&fromDate=2026-11-01") == [(later, "2026-11-01"), (there, "2026-11-01")]
    assert found(f"propertyId={elsewhere}&fromDate=2026-11-02") == []


def test_pages_have_each_rent_once(lets: RentBooks) -> None:
    other = lets.property()
    for start in ("2026-07-15", "2026-09-01"):
        for place in (lets.house, other):
            let = lets.let(step(start, "950.00"), property_id=place)
            lets.paid(let, "2000.00")
    whole = lets.walk("listRentsDue", f"businessId={lets.lets}&limit=100")
    assert len(whole) == 2 * (6 + 4)
    assert lets.walk("listRentsDue", f"businessId={lets.lets}&limit=1") == whole
    assert lets.walk("listRentsDue", f"businessId={lets.lets}&limit=3") == whole


def test_a_status_leaves_out_the_others(lets: RentBooks) -> None:
    one, two = lets.let(step("2026-09-01", "950.00")), lets.let(step("2026-10-01", "500.00"))
    lets.paid(one, "1000.00")
    query = f"propertyId={lets.house}"
    assert [due[3] for due in lets.ladder(f"{query}&status=late")] == ["late"] * 3
    found = lets.walk("listRentsDue", f"{query}&status=part_paid,paid&limit=1")
    assert [(rent["tenancyId"], rent["status"]) for rent in found] == [(one, "paid"), (one, "part_paid")]
    assert {rent["tenancyId"] for rent in lets.walk("listRentsDue", f"{query}&status=upcoming")} == {one, two}


def test_who_owes_nothing_is_left_out_however_it_was_paid(lets: RentBooks) -> None:
    """What is owed alone is asked for in one way, and with what is paid in another: both find the same."""
    query = f"propertyId={lets.house}"
    for start, paid in (
        ("2026-09-01", "2850.00"),
        ("2026-10-01", "1899.99"),
        ("2026-11-20", "0.01"),
        ("2026-11-21", "1"),
    ):
        lets.paid(lets.let(step(start, "950.00")), paid)
    owed = lets.walk("listRentsDue", f"{query}&status=late&status=due&status=part_paid")
    with_paid = lets.walk("listRentsDue", f"{query}&status=late&status=due&status=part_paid&status=paid")
    assert owed == [rent for rent in with_paid if rent["status"] != "paid"]
    assert [rent["outstanding"] for rent in owed] == ["0.01", "348.32"]  # 11 of 30 days are 348.33


def test_a_page_looks_at_so_many_tenancies(lets: RentBooks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "LOOKED_AT", 2)
    for _ in range(5):
        lets.paid(lets.let(step("2026-11-01", "950.00")), "950.00")
    last = lets.let(step("2026-11-02", "800.00"))
    query = f"propertyId={lets.house}&status=late&toDate=2026-11-20"
    assert lets.get("listRentsDue", query)[0] == []
    rents, cursor = [], None
    for _ in range(3):
        found, cursor = lets.get("listRentsDue", query if cursor is None else f"{query}&cursor={cursor}")
        rents += found
    assert cursor is None
    assert [rent["tenancyId"] for rent in rents] == [last]


def test_a_page_ends_where_it_holds_so_many_bytes(lets: RentBooks, monkeypatch: pytest.MonkeyPatch) -> None:
    let = lets.let()
    monkeypatch.setattr(pages, "PAGE_BYTES", 1000)
    rents, cursor = lets.get("listRentsDue", f"tenancyId={let}")
    assert 1 <= len(rents) < 12
    assert cursor is not None
    assert len(lets.walk("listRentsDue", f"tenancyId={let}")) == 12


@pytest.mark.parametrize(
    ("query", "path", "code"),
    [
        ("", "tenancyId", "required"),
        ("tenancyId=tcy_1&propertyId=prop_1", "tenancyId", "required"),
        ("tenancyId=tcy_1", "tenancyId", "unknown_reference"),
        ("propertyId=prop_1", "propertyId", "unknown_reference"),
        ("businessId=biz_1", "businessId", "unknown_reference"),
    ],
)
def test_whose_rents(lets: RentBooks, query: str, path: str, code: str) -> None:
    assert fields_of(refused(lets.get, "listRentsDue", query)) == [(path, code)]


def test_dates_the_wrong_way_round(lets: RentBooks) -> None:
    query = f"businessId={lets.lets}&fromDate=2026-02-01&toDate=2026-01-31"
    assert fields_of(refused(lets.get, "listRentsDue", query)) == [("toDate", "date_order")]


def test_a_cursor_without_a_date(lets: RentBooks) -> None:
    let = lets.let()
    cursor = next_cursor(ListRentsDue(tenancy_id=let), ("prop_1", "2026-01-01", let, "yesterday"))
    assert refused(lets.get, "listRentsDue", f"tenancyId={let}&cursor={cursor}").code == "invalid_cursor"


def test_the_rents_of_the_whole_calendar(lets: RentBooks) -> None:
    let = lets.let(step("2026-01-01", "1.00"), rent_frequency="annually", type="company_let")
    whole = lets.ladder(f"tenancyId={let}&fromDate=0001-01-01&toDate=9999-12-31&limit=100")
    assert (len(whole), whole[-1][0]) == (9999 - 2026 + 1, "9999-01-01")


def test_another_organizations_tenancy_is_unknown(lets: RentBooks, store: MemoryStore) -> None:
    let = lets.let()
    other = RentBooks(store, "Other Ltd")
    assert fields_of(refused(other.get, "listRentsDue", f"tenancyId={let}")) == [("tenancyId", "unknown_reference")]
    problem = refused(other.post, "recordRent", tenancyId=let, amount="1.00")
    assert fields_of(problem) == [("tenancyId", "unknown_reference")]


def test_a_page_reads_one_property_after_the_other(lets: RentBooks) -> None:
    """Sorted are the tenancies of one property alone."""
    values = dict.fromkeys(("id", "first", "last", "after_property", "after_start", "after_tenancy"), "")

    def plan(sql: str) -> list[str]:
        def ask(tx: ReadTx) -> list[str]:
            return [row[3] for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", count=1, **values)]

        return lets.store.read(ask, lets.org_id)

    for sql in (pages._OF_BUSINESS, pages._OF_PROPERTY, pages._OF_TENANCY):
        steps = plan(sql)
        assert not [one for one in steps if one.startswith("SCAN") or one == "USE TEMP B-TREE FOR ORDER BY"], steps
        assert not [one for one in steps if "(org_id=?)" in one], steps


# -- recordRent


def test_rent_in_cash_is_an_allocation_of_the_propertys_business(lets: RentBooks) -> None:
    unit = lets.unit()
    let = lets.let(step("2026-10-01", "950.00"), unit_id=unit)
    answer = lets.post("recordRent", tenancyId=let, amount="950", date="2026-10-02", externalId="r-1")
    row = answer.pop("allocation")
    assert answer == {"arrears": "950.00", "credit": "0.00", "currency": "GBP"}
    expected = {
        "sourceType": "manual",
        "legalEntityId": lets.owner,
        "businessId": lets.lets,
        "propertyId": lets.house,
        "unitId": unit,
        "tenancyId": let,
        "date": "2026-10-02",
        "direction": "in",
        "amount": "950.00",
        "currency": "GBP",
        "category": "periodAmount",
        "description": "Rent in cash",
        "matchedBy": "user",
        "externalId": "r-1",
    }
    assert {name: row[name] for name in expected} == expected


def test_the_day_is_today_and_the_words_are_the_methods_by_default(lets: RentBooks) -> None:
    let = lets.let(step("2026-11-01", "950.00"))
    row = lets.paid(let, "1000.00", method="cheque")
    assert (row["date"], row["description"]) == ("2026-11-20", "Rent by cheque")
    assert lets.paid(let, "1.00", description="From his mother")["description"] == "From his mother"
    answer = lets.post("recordRent", tenancyId=let, amount="9.00")
    assert (answer["arrears"], answer["credit"]) == ("0.00", "60.00")


def test_the_line_of_the_rent_is_that_of_the_business_and_use(lets: RentBooks) -> None:
    own_home = lets.property(use="rent_a_room")
    company = lets.property(lets.business_of("company_trade"), use="commercial_let")
    found = [lets.paid(lets.let(property_id=place), "1.00")["category"] for place in (own_home, company)]
    assert found == ["rentARoomRentsReceived", "turnover"]
    assert [owing.arrears for owing in lets.owing()] == [10449_00, 10449_00]  # both count as rent


def test_it_is_taken_back_as_any_allocation_is(lets: RentBooks) -> None:
    let = lets.let(step("2026-11-01", "950.00"))
    row = lets.paid(let, "950.00")
    lets.post("removeAllocation", allocationId=row["id"])
    assert lets.owed(let).arrears == 950_00


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"amount": "0.00"}, [("amount", "out_of_range")]),
        ({"amount": "-1.00"}, [("amount", "out_of_range")]),
        ({"amount": "1.005"}, [("amount", "invalid_decimal")]),
        ({"date": "2026-11-21"}, [("date", "out_of_range")]),
        ({"date": "1899-12-31"}, [("date", "out_of_range")]),
        ({"fxRate": "1.1"}, [("fxRate", "currency_mismatch")]),
    ],
)
def test_what_is_not_taken(lets: RentBooks, fields: dict[str, str], wrong: list[tuple[str, str]]) -> None:
    let = lets.let()
    assert fields_of(refused(lets.post, "recordRent", **{"tenancyId": let, "amount": "1.00", **fields})) == wrong
    assert lets.owed(let).received == 0


def test_a_tenancy_in_another_currency_needs_a_rate(lets: RentBooks) -> None:
    let = lets.let(step("2026-11-01", "950.00"), currency="EUR")
    assert fields_of(refused(lets.paid, let, "950.00")) == [("fxRate", "required")]
    row = lets.paid(let, "950.00", fxRate="0.850")
    assert (row["currency"], row["fxRate"]) == ("EUR", "0.85")
    assert lets.owed(let).arrears == 0


def test_what_is_archived_takes_no_rent(lets: RentBooks) -> None:
    let = lets.let()
    archive = "UPDATE properties SET status = 'archived', archived_at = :now WHERE org_id = :org_id AND id = :id"
    lets.write(lambda tx: tx.run(archive, id=lets.house))
    assert fields_of(refused(lets.paid, let, "1.00")) == [("tenancyId", "conflict")]


def test_a_tenancy_that_was_called_off_takes_no_rent(lets: RentBooks) -> None:
    problem = refused(lets.paid, lets.let(cancelled_at=AT), "1.00")
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "cancelled")


def test_rent_in_a_closed_period(lets: RentBooks) -> None:
    let = lets.let()
    lets.write(lambda tx: period_locks.close(tx, lets.owner, "2026-10-06", "2026-11-05"))
    assert refused(lets.paid, let, "1.00", date="2026-11-05").code == "period_closed"
    assert lets.paid(let, "1.00", date="2026-11-06")


def test_an_external_id_is_taken_once(lets: RentBooks) -> None:
    let = lets.let()
    lets.paid(let, "1.00", externalId="r-1")
    assert refused(lets.paid, let, "1.00", externalId="r-1").code == "already_exists"


def test_days_late_count_from_the_due_date(lets: RentBooks) -> None:
    let = lets.let()
    ((due, _, _, _, late),) = lets.ladder(f"tenancyId={let}&fromDate=2026-11-01&toDate=2026-11-30")
    assert datetime.date.fromisoformat(due) + datetime.timedelta(days=late) == datetime.date(2026, 11, 20)
