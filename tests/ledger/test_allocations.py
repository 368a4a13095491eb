"""Allocations of bank lines: what fits them, whose they are, and what a line has when they come and go."""

from typing import Any

import pytest
from msgspec.structs import replace

from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Entry, Part
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import fields_of
from tests.ledger.bank_books import BankBooks
from tests.support.store import MemoryStore


@pytest.fixture
def books(store: MemoryStore) -> BankBooks:
    return BankBooks(store)


@pytest.fixture
def trade(books: BankBooks) -> tuple[str, str]:
    """A business, and an account that names it."""
    entity = books.entity()
    business = books.business(entity)
    return business, books.account(entity, business)


def refused(books: BankBooks, line: str, *parts: Part) -> Problem:
    with pytest.raises(Problem) as caught:
        books.allocate(line, *parts)
    return caught.value


def test_a_line_is_allocated_whole_to_the_business_that_its_account_names(
    books: BankBooks, trade: tuple[str, str]
) -> None:
    business, account = trade
    line = books.line(account, -4520)
    (row,) = books.allocate(line, Part("adminCosts"))
    assert (row.direction, row.amount.minor, row.business_id) == ("out", 4520, business)
    assert (row.source_type, row.source_id, row.import_id, row.date) == ("bank", line, "imp_1", "2026-11-02")
    assert (row.vat_amount.minor, row.disallowable_amount.minor, row.allowable) == (0, 0, True)
    assert row.description == "CARD PAYMENT TESCO STORES 3017"
    assert (row.matched_by, row.rule_id, row.reason) == ("user", None, None)
    assert books.line_of(line).allocated == -4520
    assert books.of_line(line) == [row]


def test_a_payout_is_more_turnover_in_and_charges_out(books: BankBooks, trade: tuple[str, str]) -> None:
    line = books.line(trade[1], 9500)
    books.allocate(line, Part("turnover", amount=10000), Part("financeCharges", direction="out", amount=500))
    assert books.line_of(line).unallocated == 0


def test_the_order_of_parts_does_not_matter(books: BankBooks, trade: tuple[str, str]) -> None:
    line = books.line(trade[1], 9500)
    books.allocate(line, Part("financeCharges", direction="out", amount=500), Part("turnover"))
    assert [row.amount.minor for row in books.of_line(line)] == [500, 10000]


@pytest.mark.parametrize(
    "parts", [(Part("turnover", amount=9501),), (Part("financeCharges", direction="out", amount=1),)]
)
def test_never_more_than_the_line_nor_the_other_way(
    books: BankBooks, trade: tuple[str, str], parts: tuple[Part, ...]
) -> None:
    line = books.line(trade[1], 9500)
    assert fields_of(refused(books, line, *parts)) == [("parts", "out_of_range")]
    assert books.of_line(line) == []
    assert books.line_of(line).allocated == 0


def test_what_was_taken_before_counts(books: BankBooks, trade: tuple[str, str]) -> None:
    line = books.line(trade[1], -1000)
    books.allocate(line, Part("adminCosts", amount=600))
    assert fields_of(refused(books, line, Part("adminCosts", amount=401))) == [("parts", "out_of_range")]
    books.allocate(line, Part("advertisingCosts"))
    assert [row.amount.minor for row in books.of_line(line)] == [600, 400]
    assert fields_of(refused(books, line, Part("adminCosts"))) == [("parts[0].amount", "out_of_range")]


def test_a_refund_of_an_expense_is_money_in(books: BankBooks, trade: tuple[str, str]) -> None:
    (row,) = books.allocate(books.line(trade[1], 1250), Part("adminCosts"))
    assert (row.direction, row.category) == ("in", "adminCosts")


def test_entertainment_is_disallowable_unless_said_otherwise(books: BankBooks, trade: tuple[str, str]) -> None:
    line = books.line(trade[1], -3000)
    whole, part = books.allocate(
        line,
        Part("businessEntertainmentCosts", amount=1000),
        Part("businessEntertainmentCosts", disallowable_amount=500),
    )
    assert (whole.disallowable_amount.minor, whole.allowable) == (1000, False)
    assert (part.disallowable_amount.minor, part.allowable) == (500, True)


@pytest.mark.parametrize(
    ("part", "path", "code"),
    [
        (Part("periodAmount"), "category", "conflict"),  # rent, of a trade
        (Part("not_pnl"), "purpose", "required"),
        (Part("not_pnl", "invoice_payment"), "purpose", "conflict"),
        (Part("adminCosts", "drawings"), "purpose", "conflict"),
        (Part("adminCosts", vat_amount=170), "vatAmount", "out_of_range"),  # 1.67 at 20 %, and 0.02 of rounding
        (Part("not_pnl", "drawings", vat_amount=1), "vatAmount", "conflict"),
        (Part("turnover", disallowable_amount=1), "disallowableAmount", "conflict"),
        (Part("adminCosts", disallowable_amount=1001), "disallowableAmount", "out_of_range"),
        (Part("adminCosts", business_id="biz_x"), "businessId", "unknown_reference"),
        (Part("adminCosts", property_id="prop_x"), "propertyId", "unknown_reference"),
        (Part("adminCosts", unit_id="unit_x"), "unitId", "unknown_reference"),
        (Part("adminCosts", tenancy_id="tcy_x"), "tenancyId", "unknown_reference"),
        (Part("adminCosts", mortgage_id="mtg_x"), "mortgageId", "unknown_reference"),
        (Part("adminCosts", document_ids=("doc_x",)), "documentIds[0]", "unknown_reference"),
        (Part("adminCosts", fx_rate="1.1"), "fxRate", "currency_mismatch"),
        (Part("adminCosts", amount=0), "amount", "out_of_range"),
    ],
)
def test_a_part_that_does_not_fit_is_refused(
    books: BankBooks, trade: tuple[str, str], part: Part, path: str, code: str
) -> None:
    line = books.line(trade[1], -1000)
    assert (f"parts[0].{path}", code) in fields_of(refused(books, line, part))


@pytest.mark.parametrize("vat", [167, 169])
def test_the_vat_of_a_gross_amount_is_taken(books: BankBooks, trade: tuple[str, str], vat: int) -> None:
    """10.00 holds 1.67 at 20 %. Who rounds each line of a bill up prints more (VAT Notice 700 paragraph 17.5)."""
    (row,) = books.allocate(books.line(trade[1], -1000), Part("adminCosts", vat_amount=vat))
    assert row.vat_amount.minor == vat


def test_income_and_expenses_are_of_a_business(books: BankBooks) -> None:
    line = books.line(books.account(), -1000)
    assert fields_of(refused(books, line, Part("adminCosts"))) == [("parts[0].businessId", "required")]
    (row,) = books.allocate(line, Part("not_pnl", "drawings"))
    assert (row.business_id, row.legal_entity_id) == (None, None)


def test_what_is_neither_is_of_the_accounts_owner(books: BankBooks) -> None:
    entity = books.entity()
    (row,) = books.allocate(books.line(books.account(entity), -1000), Part("not_pnl", "tax_payment"))
    assert row.legal_entity_id == entity


def test_another_legal_entitys_business_is_refused(books: BankBooks) -> None:
    entity, other = books.entity(), books.unregistered_entity(name="Elm")
    line = books.line(books.account(entity), -1000)
    elm = books.business(other)
    assert fields_of(refused(books, line, Part("adminCosts", business_id=elm))) == [("parts[0].businessId", "conflict")]


def test_a_foreign_amount_needs_a_rate(books: BankBooks) -> None:
    entity = books.entity()
    business = books.business(entity)
    line = books.line(books.account(entity, business, currency="EUR"), -1000, currency="EUR")
    assert fields_of(refused(books, line, Part("adminCosts"))) == [("parts[0].fxRate", "required")]
    assert fields_of(refused(books, line, Part("adminCosts", fx_rate="0"))) == [("parts[0].fxRate", "out_of_range")]
    (row,) = books.allocate(line, Part("adminCosts", fx_rate="0.84"))
    assert (row.currency, row.fx_rate) == ("EUR", "0.84")


@pytest.mark.parametrize("status", ["pending", "rejected", "information"])
def test_only_what_is_booked_is_allocated(books: BankBooks, trade: tuple[str, str], status: str) -> None:
    problem = refused(books, books.line(trade[1], -1000, status=status), Part("adminCosts"))
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", status)


@pytest.mark.parametrize("of_business", [False, True])
def test_a_closed_period_keeps_its_allocations(books: BankBooks, of_business: bool) -> None:
    entity = books.entity()
    business = books.business(entity)
    line = books.line(books.account(entity, business), -1000)
    (row,) = books.allocate(line, Part("adminCosts", amount=300))
    whose = business if of_business else None
    books.write(lambda tx: period_locks.close(tx, entity, "2026-11-01", "2026-11-30", whose))
    assert refused(books, line, Part("adminCosts")).code == "period_closed"
    with pytest.raises(Problem) as kept:
        books.remove(row)
    assert kept.value.code == "period_closed"
    assert books.of_line(line) == [row]


def test_a_bill_of_a_closed_period_is_refused_too(books: BankBooks) -> None:
    entity = books.entity()
    business = books.business(entity)
    line = books.line(books.account(entity, business), -1000)
    books.write(lambda tx: period_locks.close(tx, entity, "2026-10-01", "2026-10-31"))
    assert refused(books, line, Part("adminCosts", document_date="2026-10-31")).code == "period_closed"
    books.allocate(line, Part("adminCosts"))


@pytest.mark.parametrize(("billed", "moved"), [("2026-10-31", None), (None, "2026-10-31")])
def test_nothing_is_changed_out_of_a_closed_period_or_into_it(
    books: BankBooks, billed: str | None, moved: str | None
) -> None:
    entity = books.entity()
    business = books.business(entity)
    line = books.line(books.account(entity, business), -1000)
    (row,) = books.allocate(line, Part("adminCosts", document_date=billed))
    books.write(lambda tx: period_locks.close(tx, entity, "2026-10-01", "2026-10-31"))
    with pytest.raises(Problem) as kept:
        books.write(lambda tx: allocations.change(tx, row, replace(row, document_date=moved)))
    assert kept.value.code == "period_closed"
    assert books.of_line(line) == [row]


def test_half_of_a_split_does_not_go_alone(books: BankBooks, trade: tuple[str, str]) -> None:
    line = books.line(trade[1], 9500)
    rows = books.allocate(line, Part("turnover", amount=10000), Part("financeCharges", direction="out", amount=500))
    for row in rows:
        with pytest.raises(Problem) as refusal:
            books.remove(row)
        assert refusal.value.code == "invalid_state"
    books.remove(*rows)
    assert (books.of_line(line), books.line_of(line).allocated) == ([], 0)


def test_syncing_clients_see_the_line_change(books: BankBooks, trade: tuple[str, str]) -> None:
    line = books.line(trade[1], -1000)
    seen: Any = "SELECT updated_at, version FROM bank_transactions WHERE org_id = :org_id AND id = :id"
    before = books.store.read(lambda tx: tx.row(seen, id=line), books.org_id)
    books.store.clock.advance(1)
    rows = books.allocate(line, Part("adminCosts"))
    after = books.store.read(lambda tx: tx.row(seen, id=line), books.org_id)
    assert before is not None
    assert after is not None
    assert (after[0] > before[0], after[1]) == (True, before[1] + 1)
    books.remove(*rows)
    assert books.store.read(lambda tx: tx.value(seen, id=line), books.org_id) >= after[0]


def test_a_line_has_so_many_allocations_at_most(books: BankBooks, trade: tuple[str, str]) -> None:
    line = books.line(trade[1], -allocations.MAX_PER_LINE - 1)
    books.allocate(line, *[Part("adminCosts", amount=1)] * allocations.MAX_PER_LINE)
    assert refused(books, line, Part("adminCosts")).code == "limit_reached"


def test_money_without_a_bank_line_is_entered_by_hand(books: BankBooks, trade: tuple[str, str]) -> None:
    part = Part("carVanTravelExpenses", business_id=trade[0], direction="out", amount=450, description="10 miles")
    (row,) = books.write(lambda tx: allocations.enter(tx, [part], Entry(None, "GBP")))
    assert (row.source_type, row.source_id, row.date, row.currency) == ("manual", None, "2026-11-20", "GBP")
    assert row.legal_entity_id is not None


def test_another_organizations_line_is_not_there(store: MemoryStore, books: BankBooks, trade: tuple[str, str]) -> None:
    line = books.line(trade[1], -1000)
    problem = refused(BankBooks(store, "Other Ltd"), line, Part("adminCosts"))
    assert problem.code == "not_found"


def test_there_was_no_vat_before_1973() -> None:
    assert [allocations.most_vat(120_00, date) for date in ("1950-01-01", "2026-01-01")] == [0, 20_00]


def test_an_entry_may_be_as_old_as_1900(books: BankBooks, trade: tuple[str, str]) -> None:
    part = Part("adminCosts", business_id=trade[0], direction="out", amount=100, description="Stamps")
    (row,) = books.write(lambda tx: allocations.enter(tx, [part], Entry("1900-01-01", "GBP")))
    assert row.date == "1900-01-01"
    with pytest.raises(Problem) as caught:
        books.write(lambda tx: allocations.enter(tx, [part], Entry("1899-12-31", "GBP")))
    assert [(error.path, error.code) for error in caught.value.errors] == [("date", "out_of_range")]
