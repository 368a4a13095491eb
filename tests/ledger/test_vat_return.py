"""The boxes of a VAT return (Domain C4), and what fills them."""

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import vat_figures
from gatewayd.ledger.vat.vat_return import VatBoxes, VatFigures, boxes
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


def test_what_is_not_said_is_nothing() -> None:
    assert VatFigures() == (0,) * 7


def figures_of(books: LedgerBooks, entity_id: str, whole: DateRange = QUARTER) -> VatFigures:
    """To the penny: the boxes drop what is below a pound."""
    return books.store.read(lambda tx: vat_figures.of_period(tx, entity_id, whole), books.org_id)


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
    assert figures_of(books, owner) == (240_00, 0, 2_020_00, 1_280_99, 10_100_00, 0, 0)
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


CASH = {"status": "registered", "effectiveDate": "2000-01-01", "scheme": "cash"}
JULY, OCTOBER = "2026-07-01", DateRange("2026-10-01", "2026-12-31")


def paid(books: LedgerBooks, amount: str, date: str = JULY, **invoice: object) -> str:
    """The id of an invoice of June, paid on a day."""
    sold: str = books.invoice(issueDate="2026-06-30", supplyDate="2026-06-30", **invoice)["id"]
    books.post("recordPayment", invoiceId=sold, amount=amount, date=date)
    return sold


def test_what_is_credited_after_it_was_paid_is_taken_back_when_it_is_credited(books: LedgerBooks) -> None:
    """Sold 1,000.00 and paid 1,200.00 in July; 100.00 of it is credited in October, when nothing else moves."""
    owner = books.entity(vat=CASH)
    work = [{"description": "Work", "unitPrice": "1000.00"}]
    sold = paid(books, "1200.00", legalEntityId=owner, lines=work)
    books.credit(sold, issueDate="2026-10-01", lines=[{"description": "Back", "unitPrice": "100.00"}])
    assert figures_of(books, owner) == (200_00, 0, 0, 1_000_00, 0, 0, 0)
    assert figures_of(books, owner, OCTOBER) == (-20_00, 0, 0, -100_00, 0, 0, 0)


def test_what_a_contractor_withholds_counts_as_paid(books: LedgerBooks) -> None:
    """Of 1,200.00 for labour 200.00 is withheld: 500.00 is half of it, and its VAT is due on the full value."""
    owner = books.entity(vat=CASH, cis={"subcontractor": True, "verifiedRate": 20})
    client = books.client(cisContractor=True)
    labour = [{"description": "Work", "unitPrice": "1000.00", "vatCode": "standard", "cisLabour": True}]
    sold = paid(books, "500.00", legalEntityId=owner, clientId=client, lines=labour)
    assert figures_of(books, owner) == (100_00, 0, 0, 500_00, 0, 0, 0)
    books.post("recordPayment", invoiceId=sold, amount="500.00", date="2026-09-30")
    back = [{"description": "Back", "unitPrice": "100.00", "vatCode": "standard", "cisLabour": True}]
    books.credit(sold, issueDate="2026-10-01", lines=back)
    assert figures_of(books, owner) == (200_00, 0, 0, 1_000_00, 0, 0, 0)
    assert figures_of(books, owner, OCTOBER) == (-20_00, 0, 0, -100_00, 0, 0, 0)


@pytest.mark.parametrize(("labour", "notes", "half"), [(False, 2, "600.00"), (True, 1, "500.00")])
def test_what_is_credited_of_the_unpaid_half_takes_back_nothing(
    books: LedgerBooks, labour: bool, notes: int, half: str
) -> None:
    """Half is paid, of labour beside what is withheld: after a credit as much has come in as before."""
    owner = books.entity(vat=CASH, cis={"subcontractor": True, "verifiedRate": 20})
    client = books.client(cisContractor=labour)
    line = {"description": "Work", "vatCode": "standard", "cisLabour": labour}
    sold = paid(books, half, legalEntityId=owner, clientId=client, lines=[{**line, "unitPrice": "1000.00"}])
    for _ in range(notes):
        books.credit(sold, issueDate="2026-10-01", lines=[{**line, "unitPrice": "100.00"}])
    assert figures_of(books, owner) == (100_00, 0, 0, 500_00, 0, 0, 0)
    assert figures_of(books, owner, OCTOBER) == (0,) * 7


@pytest.mark.parametrize("scheme", ["standard", "cash"])
def test_each_foreign_sale_counts_at_its_own_rate(books: LedgerBooks, scheme: str) -> None:
    """100.00 at 0.85 and 100.00 at 0.80, of one line each, paid on one day; of each 10.00 is credited in October."""
    owner = books.entity(vat={**CASH, "scheme": scheme})
    more = {"legalEntityId": owner, "currency": "EUR", "lines": [{"description": "Work", "unitPrice": "100.00"}]}
    sold = [paid(books, "120.00", fxRate=rate, **more) for rate in ("0.85", "0.80")]
    june = DateRange("2026-06-01", "2026-06-30")
    assert figures_of(books, owner, QUARTER if scheme == "cash" else june) == (33_00, 0, 0, 165_00, 0, 0, 0)
    for invoice_id in sold:
        books.credit(invoice_id, issueDate="2026-10-01", lines=[{"description": "Back", "unitPrice": "10.00"}])
    assert figures_of(books, owner, OCTOBER) == (-3_30, 0, 0, -16_50, 0, 0, 0)


def test_what_is_paid_before_the_first_day_and_after_the_last_is_of_other_returns(books: LedgerBooks) -> None:
    owner = books.entity(vat=CASH)
    for date in ("2026-06-30", JULY, "2026-09-30", "2026-10-01"):
        paid(books, "120.00", date, legalEntityId=owner, lines=[{"description": "Work", "unitPrice": "100.00"}])
    assert figures_of(books, owner) == (40_00, 0, 0, 200_00, 0, 0, 0)


def test_the_flat_rate_is_of_gross_turnover(books: LedgerBooks) -> None:
    """12 % of 1,280.99 and 240.00 gross, rounded once, by supplies where a business keeps accruals."""
    owner = filled(books, scheme="flat_rate", flatRatePercent="12")
    books.trade(owner, name="Carving", accountingBasis="accruals")
    assert return_of(books, owner) == (182_52, 0, 182_52, 0, 182_52, 1_520_00, 0, 0, 0)
    assert figures_of(books, owner) == (182_52, 0, 0, 1_520_99, 0, 0, 0)


def test_the_flat_rate_is_of_what_was_paid_where_all_keep_cash_basis(books: LedgerBooks) -> None:
    """12 % of 600.00, 25.50 and 15.00, the halves rounded up, and of 240.00."""
    owner = filled(books, scheme="flat_rate", flatRatePercent="12")
    assert return_of(books, owner) == (105_66, 0, 105_66, 0, 105_66, 880_00, 0, 0, 0)


def test_a_business_that_begins_later_leaves_a_return_its_basis(books: LedgerBooks) -> None:
    """Of what was paid, as above, with accruals from the day after it; by supplies with accruals on its last day."""
    owner = filled(books, scheme="flat_rate", flatRatePercent="12")
    books.trade(owner, name="Carving", accountingBasis="accruals", commencementDate="2026-10-01")
    assert return_of(books, owner)[0] == 105_66
    books.trade(owner, name="Turning", accountingBasis="accruals", commencementDate="2026-09-30")
    assert return_of(books, owner)[0] == 182_52


def test_a_business_that_ceased_before_leaves_a_return_its_basis(books: LedgerBooks) -> None:
    """As above: with accruals to the day before it, and to its first day."""
    owner = filled(books, scheme="flat_rate", flatRatePercent="12")
    for date, due in (("2026-06-30", 105_66), ("2026-07-01", 182_52)):
        ended = books.trade(owner, name=f"Until {date}", accountingBasis="accruals")
        books.change("setStatus", id=ended, status="ceased", effectiveDate=date)
        assert return_of(books, owner)[0] == due


FLAT = {"status": "registered", "effectiveDate": "2000-01-01", "scheme": "flat_rate"}


def test_a_flat_rate_of_ones_own_goes_before_that_of_the_category(books: LedgerBooks) -> None:
    """16.5 % of a limited cost trader, and not the 4 % of a shop that sells food."""
    owner = books.entity(vat={**FLAT, "flatRateCategory": "042", "flatRatePercent": "16.5"})
    books.enter(books.trade(owner), "turnover", 100_00, "2026-09-01")
    assert figures_of(books, owner).output_vat == 16_50


def test_a_flat_rate_that_nobody_knows_is_taken_of_nothing(books: LedgerBooks) -> None:
    owner = books.entity(vat=FLAT)
    books.enter(books.trade(owner), "turnover", 100_00, "2026-09-01")
    assert figures_of(books, owner) == (0, 0, 0, 100_00, 0, 0, 0)


def test_the_percentages_of_categories_hold_from_a_day(books: LedgerBooks) -> None:
    """4 % of the second 100.00: nobody knows what held on the day before."""
    shop = books.entity(vat={**FLAT, "flatRateCategory": "042"})
    trade = books.trade(shop)
    for date in ("2022-03-31", "2022-04-01"):
        books.enter(trade, "turnover", 100_00, date)
    assert figures_of(books, shop, DateRange("2022-03-01", "2022-05-31")) == (4_00, 0, 0, 200_00, 0, 0, 0)


def test_what_comes_back_of_a_purchase_is_taken_off(books: LedgerBooks) -> None:
    owner = books.entity(vat=CASH)
    trade = books.trade(owner)
    books.enter(trade, "adminCosts", 120_00, "2026-09-01", vat_amount=20_00, direction="in")
    books.enter(trade, "turnover", 60_00, "2026-09-01", vat_amount=10_00, direction="out")
    assert figures_of(books, owner) == (-10_00, 0, -20_00, -50_00, -100_00, 0, 0)


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


ZERO = [{"description": "Books", "unitPrice": "1000.00", "vatCode": "zero"}]


def test_a_foreign_sale_of_which_nobody_told_the_rate_counts_at_hmrcs(books: LedgerBooks) -> None:
    """1.1681 euros were a pound in HMRC's table of September 2026: 1,000.00 are 856.09, in whole pounds 856."""
    owner = books.entity()
    books.invoice(legalEntityId=owner, currency="EUR", issueDate="2026-09-30", lines=ZERO)
    assert return_of(books, owner) == (0, 0, 0, 0, 0, 856_00, 0, 0, 0)


def test_a_foreign_sale_of_before_that_has_no_rate_is_refused(books: LedgerBooks) -> None:
    owner = books.entity()
    invoice = books.invoice(legalEntityId=owner, currency="EUR", issueDate="2026-09-30", lines=ZERO)
    forget = "UPDATE invoices SET fx_rate = NULL, fx_rate_source = NULL, fx_rate_date = NULL WHERE id = :id"
    books.store.write(lambda tx: tx.run(forget, id=invoice["id"]), books.org_id)
    with pytest.raises(Problem, match="currency_mismatch"):
        return_of(books, owner)


def test_money_whose_business_counts_in_another_currency_is_refused(books: LedgerBooks) -> None:
    owner = books.entity()
    trade = books.trade(owner, currency="EUR")
    books.enter(trade, "adminCosts", 60_00, "2026-09-01", currency="USD", fx_rate="0.8")
    with pytest.raises(Problem, match="currency_mismatch"):
        return_of(books, owner)
