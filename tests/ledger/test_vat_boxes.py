"""Boxes 1 to 9 of purchases and sales under each VAT code (Domain C4), against a reckoning of its own in fractions."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.ledger.allocating.categories import Category
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import vat_figures
from gatewayd.ledger.vat.vat_return import VatBoxes, boxes
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.support.store import MemoryStore

QUARTER = DateRange("2026-07-01", "2026-09-30")
INSIDE, OUTSIDE = ("2026-07-01", "2026-08-15", "2026-09-30"), ("2026-06-30", "2026-10-01")


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def return_of(books: LedgerBooks, entity_id: str, whole: DateRange = QUARTER) -> VatBoxes:
    return boxes(books.store.read(lambda tx: vat_figures.of_period(tx, entity_id, whole), books.org_id))


# -- published examples, and one row for each code


def test_services_from_abroad_as_published(books: LedgerBooks) -> None:
    """100.00 of services from outside the United Kingdom [services from abroad]."""
    owner = books.entity()
    code = "reverse_charge_services_overseas"
    books.enter(books.trade(owner), "professionalFees", 100_00, "2026-08-01", vat_code=code)
    assert return_of(books, owner) == (20_00, 0, 20_00, 20_00, 0, 100_00, 100_00, 0, 0)


def test_postponed_import_vat_as_published(books: LedgerBooks) -> None:
    """100,000 of goods from France [postponed import VAT]."""
    owner = books.entity()
    books.enter(books.trade(owner), "costOfGoods", 100_000_00, "2026-08-01", vat_code="postponed_import_standard")
    assert return_of(books, owner) == (20_000_00, 0, 20_000_00, 20_000_00, 0, 0, 100_000_00, 0, 0)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("standard", (0, 0, 0, 20_00, 20_00, 0, 100_00, 0, 0)),
        ("reduced", (0, 0, 0, 5_71, 5_71, 0, 114_00, 0, 0)),
        ("zero", (0, 0, 0, 0, 0, 0, 120_00, 0, 0)),
        ("exempt", (0, 0, 0, 0, 0, 0, 120_00, 0, 0)),
        ("outside_scope", (0, 0, 0, 0, 0, 0, 0, 0, 0)),
        ("reverse_charge_domestic_standard", (24_00, 0, 24_00, 24_00, 0, 0, 120_00, 0, 0)),
        ("reverse_charge_domestic_reduced", (6_00, 0, 6_00, 6_00, 0, 0, 120_00, 0, 0)),
        ("postponed_import_reduced", (6_00, 0, 6_00, 6_00, 0, 0, 120_00, 0, 0)),
        ("ni_eu_acquisition_standard", (0, 24_00, 24_00, 24_00, 0, 0, 120_00, 0, 120_00)),
        ("ni_eu_acquisition_reduced", (0, 6_00, 6_00, 6_00, 0, 0, 120_00, 0, 120_00)),
        ("ni_eu_acquisition_zero", (0, 0, 0, 0, 0, 0, 120_00, 0, 120_00)),
    ],
)
def test_a_purchase_under_each_code(books: LedgerBooks, code: Any, found: tuple[int, ...]) -> None:
    owner = books.entity()
    books.enter(books.trade(owner), "wagesAndStaffCosts", 120_00, "2026-08-01", vat_code=code)
    assert return_of(books, owner) == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("standard", (20_00, 0, 20_00, 0, 20_00, 100_00, 0, 0, 0)),
        ("exempt", (0, 0, 0, 0, 0, 120_00, 0, 0, 0)),
        ("outside_scope", (0, 0, 0, 0, 0, 0, 0, 0, 0)),
        ("reverse_charge_domestic_standard", (0, 0, 0, 0, 0, 120_00, 0, 0, 0)),
        ("reverse_charge_services_overseas", (0, 0, 0, 0, 0, 120_00, 0, 0, 0)),
        ("export_goods_zero", (0, 0, 0, 0, 0, 120_00, 0, 0, 0)),
        ("ni_eu_goods_zero", (0, 0, 0, 0, 0, 120_00, 0, 120_00, 0)),
    ],
)
def test_a_sale_under_each_code(books: LedgerBooks, code: Any, found: tuple[int, ...]) -> None:
    owner = books.entity()
    books.enter(books.trade(owner), "other", 120_00, "2026-08-01", direction="in", vat_code=code)
    assert return_of(books, owner) == found


def test_what_a_supplier_here_reverse_charges_is_no_sale(books: LedgerBooks) -> None:
    """Not by a penny: box 6 holds services from abroad alone, and drops what is below a pound."""
    owner = books.entity()
    code = "reverse_charge_domestic_standard"
    books.enter(books.trade(owner), "costOfGoods", 120_00, "2026-08-01", vat_code=code)
    found = books.store.read(lambda tx: vat_figures.of_period(tx, owner, QUARTER), books.org_id)
    assert (found.output_vat, found.input_vat, found.sales, found.purchases) == (24_00, 24_00, 0, 120_00)


def test_money_back_takes_the_boxes_back(books: LedgerBooks) -> None:
    owner = books.entity()
    trade = books.trade(owner)
    code = "ni_eu_acquisition_standard"
    books.enter(trade, "costOfGoods", 120_00, "2026-08-01", vat_code=code)
    books.enter(trade, "costOfGoods", 20_00, "2026-08-02", vat_code=code, direction="in")
    assert return_of(books, owner) == (0, 20_00, 20_00, 20_00, 0, 0, 100_00, 0, 100_00)


def test_equipment_is_bought_and_sold_under_a_code(books: LedgerBooks) -> None:
    owner = books.entity()
    trade = books.trade(owner)
    code = "reverse_charge_domestic_standard"
    books.enter(trade, "not_pnl", 500_00, "2026-08-01", purpose="other", vat_code=code)
    books.enter(trade, "not_pnl", 60_00, "2026-08-01", purpose="other", vat_code="standard", direction="in")
    assert return_of(books, owner) == (110_00, 0, 110_00, 100_00, 10_00, 50_00, 500_00, 0, 0)


def test_foreign_purchases_bear_vat_on_what_they_cost_here(books: LedgerBooks) -> None:
    owner = books.entity()
    code = "reverse_charge_services_overseas"
    euros: dict[str, Any] = {"currency": "EUR", "fx_rate": "0.85", "vat_code": code}
    books.enter(books.trade(owner), "adminCosts", 100_00, "2026-08-01", **euros)
    assert return_of(books, owner) == (17_00, 0, 17_00, 17_00, 0, 85_00, 85_00, 0, 0)


def test_the_bills_day_decides_under_the_standard_scheme(books: LedgerBooks) -> None:
    owner = books.entity()
    trade = books.trade(owner)
    bill = {"vat_code": "postponed_import_standard", "document_date": "2026-09-30"}
    books.enter(trade, "costOfGoods", 100_00, "2026-10-05", **bill)
    assert return_of(books, owner).total_vat_due == 20_00
    books.write(lambda tx: tx.run("UPDATE legal_entities SET vat_scheme = 'cash' WHERE org_id = :org_id"))
    assert return_of(books, owner).total_vat_due == 0


# -- under the flat rate


def flat(books: LedgerBooks) -> tuple[str, str]:
    vat = {"status": "registered", "effectiveDate": "2000-01-01", "scheme": "flat_rate", "flatRatePercent": "10"}
    owner = books.entity(vat=vat)
    return owner, books.trade(owner)


def test_the_flat_rate_is_not_of_what_a_code_puts_outside_of_it(books: LedgerBooks) -> None:
    """10 % of 100.00 and of what goes to the EU; what customers account for is a sale, and no turnover."""
    owner, trade = flat(books)
    codes = ("standard", "ni_eu_goods_zero", "reverse_charge_domestic_standard", "outside_scope")
    for code in codes:
        books.enter(trade, "turnover", 100_00, "2026-08-01", vat_code=code)
    assert return_of(books, owner) == (20_00, 0, 20_00, 0, 20_00, 300_00, 0, 100_00, 0)
    account = books.pnl(trade)
    assert account["totals"]["income"] == "380.00"
    assert [row["amount"] for row in books.pnl(trade, explain=True)["explanation"]["data"]] == [
        "90.00",
        "90.00",
        "100.00",
        "100.00",
    ]


def test_the_flat_rate_makes_no_adjustment_for_services_from_abroad(books: LedgerBooks) -> None:
    """Notice 733 §6.4 [services from abroad]."""
    owner, trade = flat(books)
    books.enter(trade, "adminCosts", 100_00, "2026-08-01", vat_code="reverse_charge_services_overseas")
    assert return_of(books, owner) == (0,) * 9


# -- an independent reckoning


class Row(NamedTuple):
    category: Category
    direction: str
    code: str | None
    vat: int
    amount: int
    date: str
    bill: str | None


SALES: tuple[Category, ...] = ("turnover", "other")
PURCHASES: tuple[Category, ...] = ("costOfGoods", "wagesAndStaffCosts")
_EXACT = {
    "standard": Fraction(20, 100),
    "reduced": Fraction(5, 100),
}
BOTH = ("standard", "reduced", "zero", "exempt", "outside_scope")
SELLING = (
    *BOTH,
    "reverse_charge_domestic_standard",
    "reverse_charge_domestic_reduced",
    "reverse_charge_services_overseas",
    "export_goods_zero",
    "ni_eu_goods_zero",
)
BUYING = (
    *BOTH,
    "reverse_charge_domestic_standard",
    "reverse_charge_domestic_reduced",
    "reverse_charge_services_overseas",
    "postponed_import_standard",
    "postponed_import_reduced",
    "ni_eu_acquisition_standard",
    "ni_eu_acquisition_reduced",
    "ni_eu_acquisition_zero",
)


def _penny(amount: Fraction) -> int:
    """To the nearest, halves up."""
    return int(amount + Fraction(1, 2))


def _rate(code: str) -> Fraction:
    if code == "reverse_charge_services_overseas":
        return Fraction(20, 100)
    return next((rate for name, rate in _EXACT.items() if code.endswith(name)), Fraction(0))


def _filled(row: Row) -> dict[int, int]:
    """What a row adds to each box, but for its sign."""
    sale = row.category in SALES
    if row.code is None:
        counts = row.vat or row.category not in {"other", "wagesAndStaffCosts"}
        net = row.amount - row.vat if counts else 0
        return {1: row.vat, 6: net} if sale else {4: row.vat, 7: net}
    if row.code == "outside_scope":
        return {}
    if row.code in _EXACT:
        held = _penny(Fraction(row.amount) - Fraction(row.amount) / (1 + _rate(row.code)))
        return {1: held, 6: row.amount - held} if sale else {4: held, 7: row.amount - held}
    if sale:
        return {6: row.amount, 8: row.amount if row.code == "ni_eu_goods_zero" else 0}
    due = _penny(row.amount * _rate(row.code))
    filled = {4: due, 7: row.amount, 2 if row.code.startswith("ni_") else 1: due}
    if row.code == "reverse_charge_services_overseas":
        filled[6] = row.amount
    if row.code.startswith("ni_"):
        filled[9] = row.amount
    return filled


def reckoned(rows: list[Row], day: Callable[[Row], str]) -> tuple[int, ...]:
    """Boxes 1 to 9 in pence, of what counts on a day of the quarter."""
    box = dict.fromkeys(range(1, 10), 0)
    for row in rows:
        if QUARTER.first <= day(row) <= QUARTER.last:
            raises = (row.direction == "in") == (row.category in SALES)
            for number, amount in _filled(row).items():
                box[number] += amount if raises else -amount
    box[3] = box[1] + box[2]
    box[5] = abs(box[3] - box[4])
    for number in (6, 7, 8, 9):
        box[number] = int(Fraction(box[number], 100)) * 100
    return tuple(box[number] for number in range(1, 10))


def _row(category: Category, direction: str, code: str | None, *rest: Any) -> Row:
    amount, holds, date, bill = rest
    vat = amount // 6 if code is None and holds else 0
    return Row(category, direction, code, vat, amount, date, bill)


_days = st.sampled_from(INSIDE + OUTSIDE)
_rest = (st.integers(1, 2_000_000), st.booleans(), _days, st.none() | _days)
_ways = st.sampled_from(["in", "out"])
_sold = st.builds(_row, st.sampled_from(SALES), _ways, st.none() | st.sampled_from(SELLING), *_rest)
_bought = st.builds(_row, st.sampled_from(PURCHASES), _ways, st.none() | st.sampled_from(BUYING), *_rest)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(_sold | _bought, max_size=8), cash=st.booleans())
def test_boxes_are_those_of_the_reckoning(database_image: bytes, rows: list[Row], cash: bool) -> None:
    store = MemoryStore(database_image)
    try:
        assert return_of(*entered(LedgerBooks(store), rows, "cash" if cash else "standard")) == reckoned(
            rows, (lambda row: row.date) if cash else (lambda row: row.bill or row.date)
        )
    finally:
        store.close()


def entered(books: LedgerBooks, rows: list[Row], scheme: str) -> tuple[LedgerBooks, str]:
    """The rows in the books of somebody registered for VAT; answers both."""
    owner = books.entity(vat={"status": "registered", "effectiveDate": "2000-01-01", "scheme": scheme})
    trade = books.trade(owner)
    for row in rows:
        more: dict[str, Any] = {"vat_amount": row.vat} if row.code is None else {"vat_code": row.code}
        more |= {"direction": row.direction, "document_date": row.bill}
        books.enter(trade, row.category, row.amount, row.date, **more)
    return books, owner


def test_rates_are_those_of_the_day(books: LedgerBooks) -> None:
    """17.5 % up to 3 January 2011, 20 % from the 4th on."""
    vat = {"status": "registered", "effectiveDate": "2000-01-01"}
    owner = books.entity(vat=vat)
    trade = books.trade(owner)
    for date in ("2011-01-03", "2011-01-04"):
        books.enter(trade, "adminCosts", 100_00, date, vat_code="reverse_charge_services_overseas")
    found = return_of(books, owner, DateRange("2011-01-01", "2011-03-31"))
    assert Decimal(found.vat_due_sales) == 17_50 + 20_00
