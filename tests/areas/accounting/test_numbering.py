"""Patterns of numbers, and the operations that show and set them."""

import pytest

from gatewayd.areas.accounting.invoices import numbers
from gatewayd.clock import Instant, from_wire
from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.areas.accounting.books import Books, Json, fields_of
from tests.support.store import MemoryStore


@pytest.mark.parametrize(
    ("pattern", "year", "count", "number"),
    [
        ("INV-{000001}", "2026", 1, "INV-000001"),
        ("INV-{000001}", "2026", 999_999, "INV-999999"),
        ("INV-{000001}", "2026", 1_000_000, "INV-1000000"),
        ("INV-{yyyy}-{000001}", "2026", 457, "INV-2026-000457"),
        ("{1}/{yyyy}", "2027", 12, "12/2027"),
        ("{yyyy}{0001}", "2026", 10_000, "202610000"),
        ("No. {01} (A)", "2026", 7, "No. 07 (A)"),
        ("x" * 37 + "{1}", "2026", 5, "x" * 37 + "5"),
        ("{1}", "2026", 999_999_999_999, "999999999999"),
    ],
)
def test_numbers_as_written(pattern: str, year: str, count: int, number: str) -> None:
    series = numbers.series(pattern, year)
    assert numbers.is_pattern(pattern)
    assert (series.written(count), series.count_of(number)) == (number, count)


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "",
            "INV-",
            "{yyyy}",
            "INV-{}",
            "INV-{0}",
            "INV-{2}",
            "INV-{000002}",
            "{1}-{1}",
            "{yyyy}{yyyy}{1}",
            "{yyyy}{1}{yyyy}",
        ),
        *("{yy}-{1}", "{YYYY}-{1}", " {1}", "{1} ", "{{1}}", "{1}}", "INV\n{1}", "№{1}", "{0000000000001}"),
        "x" * 38 + "{1}",
    ],
)
def test_what_is_no_pattern(pattern: str) -> None:
    assert not numbers.is_pattern(pattern)


@pytest.mark.parametrize(
    "number", ["INV-2026-457", "INV-2025-000457", "INV-2026-", "INV-2026-000000", "INV-2026-00045x", "INV-2026-00²457"]
)
def test_what_is_no_number_of_a_series(number: str) -> None:
    assert numbers.series("INV-{yyyy}-{000001}", "2026").count_of(number) is None


def set_numbering(books: Books, **body: object) -> Json:
    return books.post("setNumbering", **body)


def test_what_holds_before_anything_is_set(books: Books) -> None:
    assert books.one("getNumbering", "") == {
        "legalEntityId": None,
        "kind": "invoice",
        "pattern": "INV-{000001}",
        "nextCount": 1,
        "nextNumber": "INV-000001",
    }
    books.credit(books.invoice()["id"])
    assert books.one("getNumbering", "")["nextNumber"] == "INV-000002"
    assert books.one("getNumbering", "kind=credit_note")["nextNumber"] == "CN-000002"


def test_a_pattern_and_the_next_number_are_set_for_a_seller_and_kind(registered: Books) -> None:
    entity = registered.invoice()["legalEntityId"]
    other = registered.unregistered_entity(name="Elm")
    answer = set_numbering(registered, legalEntityId=entity, pattern="OAK-{yyyy}-{0001}", nextCount=457)
    assert (answer["legalEntityId"], answer["nextCount"], answer["nextNumber"]) == (entity, 457, "OAK-2026-0457")
    invoice = registered.invoice(legalEntityId=entity)
    assert (invoice["number"], registered.credit(invoice["id"])["number"]) == ("OAK-2026-0457", "CN-000001")
    assert registered.invoice(legalEntityId=other)["number"] == "INV-000001"
    assert registered.invoice(legalEntityId=entity)["number"] == "OAK-2026-0458"
    assert registered.one("getNumbering", f"legalEntityId={entity}")["nextCount"] == 459


def test_several_sellers_have_to_be_named(registered: Books) -> None:
    registered.unregistered_entity(name="Elm")
    for ask in (lambda: registered.one("getNumbering", ""), lambda: set_numbering(registered, nextCount=2)):
        with pytest.raises(Problem) as caught:
            ask()
        assert fields_of(caught.value) == [("legalEntityId", "required")]


def test_with_the_year_each_year_begins_with_1(books: Books) -> None:
    set_numbering(books, pattern="INV-{yyyy}-{000001}")
    client = books.client()

    def number(date: str) -> str:
        return str(books.invoice(clientId=client, issueDate=date)["number"])

    assert [number("2026-11-20"), number("2026-12-31")] == ["INV-2026-000001", "INV-2026-000002"]
    assert [number("2027-01-01"), number("2027-01-02")] == ["INV-2027-000001", "INV-2027-000002"]
    assert [number("2025-12-31"), number("2026-11-20")] == ["INV-2025-000001", "INV-2026-000003"]
    books.store.clock.advance(Instant(from_wire("2027-01-01T00:00:00Z") - books.store.now()))
    assert books.one("getNumbering", "")["nextNumber"] == "INV-2027-000003"


def test_a_year_begins_after_what_was_imported_into_it(books: Books) -> None:
    set_numbering(books, pattern="INV-{yyyy}-{000001}")
    books.invoice(origin="imported", number="INV-2025-000007", issueDate="2025-06-01")
    assert books.invoice(issueDate="2025-06-02")["number"] == "INV-2025-000008"
    books.invoice(origin="imported", number="INV-2026-000031")
    assert books.invoice()["number"] == "INV-2026-000032"


def test_no_number_is_used_again(books: Books) -> None:
    for _ in range(3):
        books.invoice()
    for used in (1, 3):
        with pytest.raises(Problem) as caught:
            set_numbering(books, nextCount=used)
        assert fields_of(caught.value) == [("nextCount", "out_of_range")]
    set_numbering(books, pattern="A-{1}")
    assert books.invoice()["number"] == "A-1"
    assert set_numbering(books, pattern="INV-{0001}")["nextNumber"] == "INV-0001"  # INV-000001 is another number
    assert books.invoice()["number"] == "INV-0001"
    assert set_numbering(books, pattern="INV-{000001}")["nextNumber"] == "INV-000004"
    assert set_numbering(books, nextCount=9)["nextNumber"] == "INV-000009"
    assert set_numbering(books, nextCount=4)["nextNumber"] == "INV-000004"  # nothing was made out in between
    assert books.invoice()["number"] == "INV-000004"


def test_widths_that_grow_into_each_other_meet_no_number_twice(books: Books) -> None:
    set_numbering(books, pattern="{01}", nextCount=99)
    assert [books.invoice()["number"] for _ in range(3)] == ["99", "100", "101"]
    assert set_numbering(books, pattern="{001}")["nextNumber"] == "102"


@pytest.mark.parametrize("pattern", ["INV-{000001}", "INV-{1}", "INV-{yyyy}{1}", "INV-2026{01}"])
def test_invoices_and_credit_notes_never_come_to_the_same_number(books: Books, pattern: str) -> None:
    with pytest.raises(Problem) as caught:
        set_numbering(books, kind="credit_note", pattern=pattern)
    assert fields_of(caught.value) == [("pattern", "conflict")]


@pytest.mark.parametrize("pattern", ["INV", "{yy}{1}", " {1}"])
def test_patterns_that_cannot_be(books: Books, pattern: str) -> None:
    with pytest.raises(Problem) as caught:
        set_numbering(books, pattern=pattern)
    assert fields_of(caught.value) == [("pattern", "invalid_format")]


def test_a_sequence_ends_before_its_numbers_are_not_known_any_more(books: Books) -> None:
    set_numbering(books, nextCount=numbers.MAX_COUNT)
    assert books.invoice()["number"] == "INV-999999999999"
    draft = books.invoice(status="draft")["id"]
    for issue in (books.invoice, lambda: books.post("issueInvoice", invoiceId=draft)):
        with pytest.raises(Problem) as caught:
            issue()
        assert caught.value.code == "invalid_state"
    set_numbering(books, pattern="B-{1}")
    assert books.post("issueInvoice", invoiceId=draft)["number"] == "B-1"


def test_what_is_rolled_back_is_given_back_with_the_year_it_began(books: Books) -> None:
    set_numbering(books, pattern="{yyyy}/{1}")

    def fail(tx: WriteTx) -> None:
        assert numbers.allot(tx, books.org_id, "invoice", "2027-01-01") == "2027/1"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        books.store.write(fail, books.org_id)
    assert books.invoice(issueDate="2027-01-05")["number"] == "2027/1"


# -- after a restore: numbers that were given since the backup are not known


def go_on_after(books: Books, last_number: int) -> None:
    books.store.write(lambda tx: numbers.go_on_after(tx, last_number))


def given_next(books: Books, **seller: object) -> list[str]:
    """The next invoice and the next credit note."""
    invoice = books.invoice(**seller)
    return [invoice["number"], books.credit(invoice["id"])["number"]]


def test_every_sequence_of_every_organization_goes_on_after_it(store: MemoryStore) -> None:
    begun, new = Books(store), Books(store)
    begun.invoice()
    go_on_after(begun, 250)
    assert [given_next(books) for books in (begun, new)] == [["INV-000251", "CN-000251"]] * 2


def test_each_seller_goes_on_after_it(registered: Books) -> None:
    first = registered.invoice()["legalEntityId"]
    second = registered.unregistered_entity(name="Elm")
    go_on_after(registered, 250)
    found = [given_next(registered, legalEntityId=seller) for seller in (first, second)]
    assert found == [["INV-000251", "CN-000251"]] * 2


def test_what_is_further_goes_on_from_where_it_is(books: Books) -> None:
    """An invoice is to have the number 1000, and a credit note of elsewhere had the number 400."""
    set_numbering(books, nextCount=1_000)
    books.credit(books.invoice(origin="imported", number="A-1")["id"], origin="imported", number="CN-000400")
    go_on_after(books, 250)
    assert given_next(books) == ["INV-001000", "CN-000401"]


def test_the_year_that_has_not_begun_goes_on_after_it_by_its_own_pattern(books: Books) -> None:
    set_numbering(books, pattern="INV-{yyyy}-{000001}")
    books.store.clock.advance(Instant(from_wire("2027-01-01T00:00:00Z") - books.store.now()))
    go_on_after(books, 250)
    assert books.invoice(issueDate="2027-01-01")["number"] == "INV-2027-000251"
    assert books.invoice(issueDate="2026-12-31")["number"] == "INV-2026-000251"
