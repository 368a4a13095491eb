"""The boxes of a VAT return (Domain C4), and what fills them."""

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger import vat_figures
from gatewayd.ledger.date_ranges import DateRange
from gatewayd.ledger.vat_return import VatBoxes, VatFigures, boxes
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.support.store import MemoryStore

QUARTER = DateRange("2026-07-01", "2026-09-30")


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def test_the_tax_authoritys_own_examples() -> None:
    found = boxes(VatFigures(output_vat=105_50, acquisition_vat=-100_45, input_vat=105_15))
    assert (found.total_vat_due, found.net_vat_due) == (5_05, 100_10)
    found = boxes(VatFigures(output_vat=100_00, acquisition_vat=100_00, input_vat=100_00))
    assert (found.total_vat_due, found.vat_reclaimed, found.net_vat_due) == (200_00, 100_00, 100_00)


def test_values_are_whole_pounds_without_their_pence() -> None:
    found = boxes(VatFigures(sales=1_99, purchases=-1_99, goods_supplied=100_00, acquisitions=99))
    assert found[5:] == (1_00, -1_00, 100_00, 0)


def return_of(books: LedgerBooks, entity_id: str, whole: DateRange = QUARTER) -> VatBoxes:
    return boxes(books.store.read(lambda tx: vat_figures.of_period(tx, entity_id, whole), books.org_id))


def filled(books: LedgerBooks, **vat: object) -> str:
    """An entity with sales and purchases of the quarter, and some beside it.

    Sales: 1,000.00 at 20 %, 50.99 zero-rated, 30.00 exempt, 10.00 outside the scope; of it 100.00 credited in October.
    Purchases: 120.00 with 20.00 of VAT, 600.00 of wages, and a van of 12,000.00 with 2,000.00 of VAT.
    """
    owner = books.entity(vat={"status": "registered", "effectiveDate": "2000-01-01", **vat})
    trade = books.trade(owner)
    each = [
        {"description": "Work", "unitPrice": "1000.00"},
        {"description": "Books", "unitPrice": "50.99", "vatCode": "zero"},
        {"description": "Lessons", "unitPrice": "30.00", "vatCode": "exempt"},
        {"description": "A fine", "unitPrice": "10.00", "vatCode": "outside_scope"},
    ]
    sold = books.invoice(legalEntityId=owner, issueDate="2026-09-30", supplyDate="2026-09-30", lines=each)["id"]
    books.post("recordPayment", invoiceId=sold, amount="645.50", date="2026-09-30")  # half of 1,290.99, up
    books.credit(sold, issueDate="2026-10-01", lines=[{"description": "Back", "unitPrice": "100.00"}])
    books.enter(trade, "adminCosts", 120_00, "2026-10-02", vat_amount=20_00, document_date="2026-09-30")
    books.enter(trade, "wagesAndStaffCosts", 600_00, "2026-09-01")
    books.enter(trade, "not_pnl", 12_000_00, "2026-09-01", purpose="other", vat_amount=2_000_00)
    books.enter(trade, "not_pnl", 500_00, "2026-09-01", purpose="drawings")
    books.enter(trade, "turnover", 240_00, "2026-09-01", vat_amount=40_00)
    books.enter(trade, "other", 7_00, "2026-09-01", direction="in")
    return owner


def test_the_standard_scheme_goes_by_supplies_and_bills(books: LedgerBooks) -> None:
    """Output 200.00 + 40.00; input 20.00 + 2,000.00; sales 1,080.99 + 200.00; purchases 100.00 + 10,000.00."""
    owner = filled(books)
    assert return_of(books, owner) == (240_00, 0, 240_00, 2_020_00, 1_780_00, 1_280_00, 10_100_00, 0, 0)
    october = return_of(books, owner, DateRange("2026-10-01", "2026-12-31"))
    assert october == (-20_00, 0, -20_00, 0, 20_00, -100_00, 0, 0, 0)


def test_tax_that_was_deducted_is_neither_sold_nor_bought(books: LedgerBooks) -> None:
    owner = books.entity(vat={"status": "registered", "effectiveDate": "2000-01-01"})
    let = books.trade(owner, type="uk_property", name="Lets")
    books.enter(let, "taxDeducted", 20_00, "2026-09-01", direction="in")
    assert return_of(books, owner) == (0, 0, 0, 0, 0, 0, 0, 0, 0)


def test_the_cash_scheme_goes_by_money(books: LedgerBooks) -> None:
    """Half of the sales is paid: output 100.00 + 40.00, sales 540.50 + 200.00; the bill of September is not paid."""
    owner = filled(books, scheme="cash")
    assert return_of(books, owner) == (140_00, 0, 140_00, 2_000_00, 1_860_00, 740_00, 10_000_00, 0, 0)


def test_the_flat_rate_is_of_gross_turnover(books: LedgerBooks) -> None:
    """12 % of 1,280.99 and 240.00 gross, rounded once, by supplies where a business keeps accruals."""
    owner = filled(books, scheme="flat_rate", flatRatePercent="12")
    books.trade(owner, name="Carving", accountingBasis="accruals")
    assert return_of(books, owner) == (182_52, 0, 182_52, 0, 182_52, 1_520_00, 0, 0, 0)


def test_the_flat_rate_is_of_what_was_paid_where_all_keep_cash_basis(books: LedgerBooks) -> None:
    """12 % of 600.00, 25.50 and 15.00, the halves rounded up, and of 240.00."""
    owner = filled(books, scheme="flat_rate", flatRatePercent="12")
    assert return_of(books, owner) == (105_66, 0, 105_66, 0, 105_66, 880_00, 0, 0, 0)


def test_the_first_year_is_a_point_cheaper_up_to_its_end(books: LedgerBooks) -> None:
    """Registered on 15 August 2025: 11 % of 100.00 and 12 % of 100.00."""
    vat = {"status": "registered", "effectiveDate": "2025-08-15", "scheme": "flat_rate", "flatRatePercent": "12"}
    owner = books.entity(vat=vat)
    trade = books.trade(owner)
    for date in ("2026-08-14", "2026-08-15"):
        books.enter(trade, "turnover", 100_00, date)
    assert return_of(books, owner).vat_due_sales == 23_00


def test_days_without_registration_count_for_nothing(books: LedgerBooks) -> None:
    owner = books.entity(vat={"status": "registered", "effectiveDate": "2026-09-01"})
    trade = books.trade(owner)
    for date in ("2026-08-31", "2026-09-01"):
        books.enter(trade, "turnover", 120_00, date, vat_amount=20_00)
    books.invoice(legalEntityId=owner, issueDate="2026-08-31")
    assert return_of(books, owner) == (20_00, 0, 20_00, 0, 20_00, 100_00, 0, 0, 0)


def test_goods_for_the_union_stand_in_box_8_too(books: LedgerBooks) -> None:
    owner = books.entity()
    client = books.client(countryCode="IE", vatNumber="IE6388047V")
    goods = [{"description": "Chairs", "unitPrice": "80.00", "vatCode": "ni_eu_goods_zero"}]
    books.invoice(legalEntityId=owner, clientId=client, issueDate="2026-09-30", lines=goods)
    found = return_of(books, owner)
    assert (found.total_value_sales, found.total_value_goods_supplied) == (80_00, 80_00)


def test_reverse_charged_sales_bear_no_vat_and_are_sales(books: LedgerBooks) -> None:
    owner = books.entity()
    client = books.client(vatNumber="GB434031494")
    work = [{"description": "Roof", "unitPrice": "80.00", "vatCode": "reverse_charge_domestic_standard"}]
    books.invoice(legalEntityId=owner, clientId=client, issueDate="2026-09-30", lines=work)
    assert return_of(books, owner) == (0, 0, 0, 0, 0, 80_00, 0, 0, 0)


def test_reverse_charged_sales_bear_no_flat_rate(books: LedgerBooks) -> None:
    owner = books.entity(
        vat={"status": "registered", "effectiveDate": "2000-01-01", "scheme": "flat_rate", "flatRatePercent": "12"}
    )
    books.trade(owner, accountingBasis="accruals")
    client = books.client(vatNumber="GB434031494")
    work = [{"description": "Roof", "unitPrice": "80.00", "vatCode": "reverse_charge_domestic_standard"}]
    books.invoice(legalEntityId=owner, clientId=client, issueDate="2026-09-30", lines=work)
    assert return_of(books, owner) == (0, 0, 0, 0, 0, 80_00, 0, 0, 0)


def test_equipment_that_is_sold_bears_its_vat(books: LedgerBooks) -> None:
    owner = books.entity()
    trade = books.trade(owner)
    books.enter(trade, "not_pnl", 600_00, "2026-09-01", purpose="other", vat_amount=100_00, direction="in")
    assert return_of(books, owner) == (100_00, 0, 100_00, 0, 100_00, 500_00, 0, 0, 0)


def test_foreign_sales_and_purchases_count_at_their_rates(books: LedgerBooks) -> None:
    owner = books.entity()
    trade = books.trade(owner)
    books.invoice(legalEntityId=owner, currency="EUR", fxRate="0.85", issueDate="2026-09-30")
    books.enter(trade, "adminCosts", 60_00, "2026-09-01", vat_amount=10_00, currency="EUR", fx_rate="0.8")
    assert return_of(books, owner) == (17_00, 0, 17_00, 8_00, 9_00, 85_00, 40_00, 0, 0)


def test_a_foreign_sale_without_a_rate_is_refused(books: LedgerBooks) -> None:
    owner = books.entity()
    zero = [{"description": "Books", "unitPrice": "1.00", "vatCode": "zero"}]
    books.invoice(legalEntityId=owner, currency="EUR", issueDate="2026-09-30", lines=zero)
    with pytest.raises(Problem, match="currency_mismatch"):
        return_of(books, owner)


def test_money_whose_business_counts_in_another_currency_is_refused(books: LedgerBooks) -> None:
    owner = books.entity()
    trade = books.trade(owner, currency="EUR")
    books.enter(trade, "adminCosts", 60_00, "2026-09-01", currency="USD", fx_rate="0.8")
    with pytest.raises(Problem, match="currency_mismatch"):
        return_of(books, owner)
