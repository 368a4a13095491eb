"""Capital goods under the flat rate of VAT (Domain C4): outside the scheme when they are bought, and when sold."""

from typing import Any

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import vat_figures
from gatewayd.ledger.vat.vat_return import VatFigures
from tests.areas.accounting.books import fields_of
from tests.areas.businesses.ledger_books import LedgerBooks, lines
from tests.support.store import MemoryStore

QUARTER = DateRange("2026-07-01", "2026-09-30")
FLAT = {"status": "registered", "effectiveDate": "2000-01-01", "scheme": "flat_rate", "flatRatePercent": "12"}
AUGUST = "2026-08-01"
VAN = {"description": "Van", "unitPrice": "1000.00"}


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def figures_of(books: LedgerBooks, entity_id: str) -> VatFigures:
    return books.store.read(lambda tx: vat_figures.of_period(tx, entity_id, QUARTER), books.org_id)


def in_doubt(books: LedgerBooks, entity_id: str) -> dict[Any, int]:
    return books.store.read(lambda tx: vat_figures.capital_goods_in_doubt(tx, entity_id, QUARTER), books.org_id)


def bought(books: LedgerBooks, trade: str, amount: int, category: Any = "adminCosts", **more: Any) -> None:
    if category == "not_pnl":
        more = {"purpose": "other", **more}
    books.enter(trade, category, amount, AUGUST, **{"vat_code": "standard", "direction": "out", **more})


@pytest.mark.parametrize("category", ["adminCosts", "not_pnl"])
def test_their_vat_is_reclaimed(books: LedgerBooks, category: str) -> None:
    """A computer of 2,200.00: 366.67 in box 4 and 1,833.33 in box 7, beside 12 % of a turnover of 1,200.00."""
    owner = books.entity(vat=FLAT)
    trade = books.trade(owner)
    books.enter(trade, "turnover", 1_200_00, AUGUST, vat_code="standard")
    bought(books, trade, 2_200_00, category, capital_goods=True)
    bought(books, trade, 120_00)
    assert figures_of(books, owner) == VatFigures(144_00, 0, 366_67, 1_200_00, 1_833_33, 0, 0)
    assert in_doubt(books, owner) == {}


def test_what_is_not_marked_is_in_doubt_from_2_000_on(books: LedgerBooks) -> None:
    owner = books.entity(vat=FLAT)
    trade = books.trade(owner)
    bought(books, trade, 1_999_99)
    bought(books, trade, 5_000_00, vat_code="exempt")
    bought(books, trade, 5_000_00, "costOfGoods")
    bought(books, trade, 5_000_00, "not_pnl", purpose="drawings", vat_code=None)
    assert in_doubt(books, owner) == {}
    bought(books, trade, 2_000_00)
    bought(books, trade, 2_000_00, "not_pnl", vat_code=None)
    assert in_doubt(books, owner) == {"unmarked": 2}
    assert figures_of(books, owner) == VatFigures()


def test_a_marked_purchase_of_less_counts_and_is_told(books: LedgerBooks) -> None:
    """It may be a part of a larger one: nobody here knows."""
    owner = books.entity(vat=FLAT)
    bought(books, books.trade(owner), 1_200_00, capital_goods=True)
    assert in_doubt(books, owner) == {"small": 1}
    assert figures_of(books, owner) == VatFigures(input_vat=200_00, purchases=1_000_00)


def test_the_sale_of_a_van_bears_its_own_vat(books: LedgerBooks) -> None:
    """1,000.00 and 200.00 of VAT: 200.00 in box 1 and 1,000.00 in box 6, and nothing at the flat rate."""
    owner = books.entity(vat=FLAT)
    trade = books.trade(owner)
    bought(books, trade, 1_200_00, "not_pnl", direction="in", capital_goods=True)
    assert figures_of(books, owner) == VatFigures(output_vat=200_00, sales=1_000_00)


@pytest.mark.parametrize("basis", ["cash", "accruals"])
def test_so_does_the_invoice_of_its_sale(books: LedgerBooks, basis: str) -> None:
    """Beside work of 1,200.00 with VAT, of which 144.00 is flat-rate VAT; 1,056.00 and 1,000.00 are turnover."""
    owner = books.entity(vat=FLAT)
    trade = books.trade(owner, accountingBasis=basis)
    each = [{**VAN, "capitalGoods": True}, {"description": "Work", "unitPrice": "1000.00"}]
    sold = books.invoice(
        legalEntityId=owner, businessId=trade, issueDate=AUGUST, supplyDate=AUGUST, lines=each, status="issued"
    )
    assert [line.get("capitalGoods") for line in sold["lines"]] == [True, None]
    books.post("recordPayment", invoiceId=sold["id"], amount="2400.00", date="2026-08-02")
    assert figures_of(books, owner) == VatFigures(output_vat=344_00, sales=2_200_00)
    assert lines(books.pnl(trade), "income") == {"turnover": "2056.00"}
    books.credit(sold["id"], issueDate="2026-09-01", lines=[{"creditsLine": 1}])
    assert figures_of(books, owner) == VatFigures(output_vat=144_00, sales=1_200_00)


def test_equipment_on_which_no_vat_was_claimed_is_turnover_when_it_is_sold(books: LedgerBooks) -> None:
    owner = books.entity(vat=FLAT)
    bought(books, books.trade(owner), 1_200_00, "not_pnl", direction="in")
    assert figures_of(books, owner) == VatFigures(output_vat=144_00, sales=1_200_00)


def test_they_cost_what_they_cost_without_vat(books: LedgerBooks) -> None:
    """The VAT of other expenses under the flat rate stays inside them, and each row says what it counts for."""
    owner = books.entity(vat=FLAT)
    trade = books.trade(owner)
    bought(books, trade, 2_400_00, capital_goods=True)
    bought(books, trade, 120_00)
    account = books.pnl(trade, explain=True)
    assert lines(account, "expenses") == {"adminCosts": "2120.00"}
    assert sorted(row["amount"] for row in account["explanation"]["data"]) == ["120.00", "2000.00"]


def test_a_mark_changes_nothing_off_the_flat_rate(books: LedgerBooks) -> None:
    owner = books.entity(vat={**FLAT, "scheme": "standard", "flatRatePercent": None})
    trade = books.trade(owner)
    bought(books, trade, 2_400_00, capital_goods=True)
    bought(books, trade, 2_400_00)
    assert figures_of(books, owner) == VatFigures(input_vat=800_00, purchases=4_000_00)
    assert (in_doubt(books, owner), lines(books.pnl(trade))) == ({}, {"adminCosts": "4000.00"})


def test_import_vat_that_is_postponed_is_due_and_reclaimed(books: LedgerBooks) -> None:
    owner = books.entity(vat=FLAT)
    bought(books, books.trade(owner), 3_000_00, capital_goods=True, vat_code="postponed_import_standard")
    assert figures_of(books, owner) == VatFigures(output_vat=600_00, input_vat=600_00, purchases=3_000_00)
    assert not books.store.read(lambda tx: vat_figures.leaves_purchases_out(tx, owner, QUARTER), books.org_id)


@pytest.mark.parametrize(
    "part",
    [
        {"category": "costOfGoods"},
        {"vat_code": "reverse_charge_services_overseas"},
        {"category": "not_pnl", "purpose": "drawings", "vat_code": None},
    ],
)
def test_what_is_no_capital_good_is_refused(books: LedgerBooks, part: dict[str, Any]) -> None:
    trade = books.trade(books.entity(vat=FLAT))
    with pytest.raises(Problem) as caught:
        bought(books, trade, 2_400_00, capital_goods=True, **part)
    assert ("parts[0].capitalGoods", "conflict") in fields_of(caught.value)
