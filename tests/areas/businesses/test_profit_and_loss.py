"""Profit and loss of a business, as its owner reads it (Domain C1)."""

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.allocating.allocation_shapes import Part
from tests.areas.accounting.books import fields_of
from tests.areas.businesses.ledger_books import LedgerBooks, lines
from tests.support.store import MemoryStore


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def test_the_worked_case_of_the_domain(books: LedgerBooks) -> None:
    trade = books.trade()
    for category, amount, disallowable in (
        ("turnover", 60_000_00, None),
        ("costOfGoods", 12_000_00, None),
        ("carVanTravelExpenses", 3_200_00, 800_00),
        ("businessEntertainmentCosts", 450_00, None),
        ("adminCosts", 1_150_00, None),
    ):
        books.enter(trade, category, amount, disallowable_amount=disallowable)
    books.enter(trade, "other", 500_00, direction="in")
    found = books.pnl(trade)
    assert found["totals"] == {
        "income": "60500.00",
        "expenses": "16800.00",
        "disallowable": "1250.00",
        "netProfit": "43700.00",
        "taxableProfit": "44950.00",
    }
    assert lines(found) == {
        "turnover": "60000.00",
        "other": "500.00",
        "costOfGoods": "12000.00",
        "carVanTravelExpenses": "3200.00",
        "adminCosts": "1150.00",
        "businessEntertainmentCosts": "450.00",
    }
    assert {line["category"]: line["disallowable"] for line in found["expenses"]}["carVanTravelExpenses"] == "800.00"


def test_a_refund_lowers_its_line_and_may_make_it_negative(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "adminCosts", 10_00)
    books.enter(trade, "adminCosts", 25_00, direction="in")
    books.enter(trade, "turnover", 100_00)
    books.enter(trade, "turnover", 30_00, direction="out")
    found = books.pnl(trade)
    assert lines(found) == {"turnover": "70.00", "adminCosts": "-15.00"}
    assert found["totals"]["netProfit"] == "85.00"


# -- VAT


def test_figures_are_net_from_the_day_of_registration(books: LedgerBooks) -> None:
    owner = books.entity(vat={"status": "registered", "effectiveDate": "2026-10-01"})
    trade = books.trade(owner)
    for date in ("2026-09-30", "2026-10-01"):
        books.enter(trade, "turnover", 120_00, date, vat_amount=20_00)
        books.enter(trade, "adminCosts", 60_00, date, vat_amount=10_00)
        books.enter(trade, "businessEntertainmentCosts", 12_00, date, vat_amount=2_00)
    found = books.pnl(trade)
    assert lines(found) == {"turnover": "220.00", "adminCosts": "110.00", "businessEntertainmentCosts": "22.00"}
    assert found["totals"]["disallowable"] == "22.00"


def test_figures_are_gross_again_after_the_registration(books: LedgerBooks) -> None:
    vat = {"status": "deregistered", "effectiveDate": "2020-01-01", "deregistrationDate": "2026-10-01"}
    trade = books.trade(books.entity(vat=vat))
    books.enter(trade, "adminCosts", 60_00, "2026-09-30", vat_amount=10_00)
    books.enter(trade, "adminCosts", 60_00, "2026-10-01", vat_amount=10_00)
    assert lines(books.pnl(trade)) == {"adminCosts": "110.00"}


def test_what_is_disallowable_in_part_loses_its_share_of_the_vat(books: LedgerBooks) -> None:
    trade = books.trade(books.entity())
    books.enter(trade, "carVanTravelExpenses", 120_00, vat_amount=20_00, disallowable_amount=30_00)
    (line,) = books.pnl(trade)["expenses"]
    assert (line["amount"], line["disallowable"]) == ("100.00", "25.00")


FLAT_RATE = {"status": "registered", "effectiveDate": "2025-07-01", "scheme": "flat_rate"}


def test_on_the_flat_rate_income_is_gross_less_flat_rate_vat(books: LedgerBooks) -> None:
    """12 %, and 11 % until the day before the first anniversary; VAT paid stays inside expenses."""
    trade = books.trade(books.entity(vat={**FLAT_RATE, "flatRatePercent": "12"}))
    books.enter(trade, "turnover", 120_00, "2026-06-30", vat_amount=20_00)
    books.enter(trade, "turnover", 120_00, "2026-07-01", vat_amount=20_00)
    books.enter(trade, "adminCosts", 60_00, "2026-07-01", vat_amount=10_00)
    found = books.pnl(trade, groupBy="month")
    assert [lines(bucket) for bucket in found["buckets"][2:4]] == [
        {"turnover": "106.80"},
        {"turnover": "105.60", "adminCosts": "60.00"},
    ]
    assert found["warnings"] == []


def test_the_percentage_is_that_of_the_category_where_none_is_given(books: LedgerBooks) -> None:
    trade = books.trade(books.entity(vat={**FLAT_RATE, "flatRateCategory": "001"}))
    books.enter(trade, "turnover", 100_00, "2026-07-01")
    assert lines(books.pnl(trade)) == {"turnover": "85.50"}  # 14.5 %, accountancy


def test_a_flat_rate_that_nobody_knows_is_told(books: LedgerBooks) -> None:
    trade = books.trade(books.entity(vat=FLAT_RATE))
    books.enter(trade, "turnover", 100_00)
    found = books.pnl(trade)
    assert lines(found) == {"turnover": "100.00"}
    assert [warning["code"] for warning in found["warnings"]] == ["flat_rate_percent_unknown"]


def test_before_its_start_date_the_flat_rate_is_no_scheme(books: LedgerBooks) -> None:
    vat = {**FLAT_RATE, "flatRatePercent": "12", "flatRateStartDate": "2026-10-01"}
    trade = books.trade(books.entity(vat=vat))
    books.enter(trade, "turnover", 120_00, "2026-09-30", vat_amount=20_00)
    assert lines(books.pnl(trade)) == {"turnover": "100.00"}
    books.enter(trade, "turnover", 120_00, "2026-10-01", vat_amount=20_00)
    assert lines(books.pnl(trade)) == {"turnover": "205.60"}


def test_interest_is_no_supply_that_a_flat_rate_is_taken_of(books: LedgerBooks) -> None:
    trade = books.trade(books.entity(vat={**FLAT_RATE, "flatRatePercent": "12"}))
    books.enter(trade, "other", 10_00, direction="in")
    assert lines(books.pnl(trade)) == {"other": "10.00"}


# -- invoices


def invoice(books: LedgerBooks, business: str, *prices: str, **fields: object) -> str:
    """The id of one that was issued on 1 October, a line for each price."""
    each = [{"description": "Work", "unitPrice": price} for price in prices]
    dated = {"issueDate": "2026-10-01", "supplyDate": "2026-10-01"}
    return str(books.invoice(businessId=business, **{**dated, "lines": each, **fields})["id"])


def pay(books: LedgerBooks, invoice_id: str, amount: str, date: str) -> None:
    books.post("recordPayment", invoiceId=invoice_id, amount=amount, date=date)


def months(books: LedgerBooks, business: str, **query: object) -> dict[str, dict[str, str]]:
    """The lines of each month in which there are any."""
    found = books.pnl(business, groupBy="month", **query)["buckets"]
    return {bucket["fromDate"][:7]: lines(bucket) for bucket in found if lines(bucket)}


def test_on_cash_basis_an_invoice_counts_as_it_is_paid(books: LedgerBooks) -> None:
    """Three payments of an invoice of 100.00 net and 20.00 VAT: thirds, which add up to the net."""
    trade = books.trade(books.entity())
    sold = invoice(books, trade, "100.00")
    pay(books, sold, "40.00", "2026-10-02")
    pay(books, sold, "40.00", "2026-10-31")
    pay(books, sold, "40.00", "2026-11-01")
    assert months(books, trade) == {"2026-10": {"turnover": "66.67"}, "2026-11": {"turnover": "33.33"}}
    assert months(books, trade, basis="accruals") == {"2026-10": {"turnover": "100.00"}}


def test_an_unpaid_invoice_a_draft_and_a_void_one_are_no_income(books: LedgerBooks) -> None:
    trade = books.trade(books.entity())
    invoice(books, trade, "100.00", status="draft")
    voided = invoice(books, trade, "100.00")
    books.post("voidInvoice", invoiceId=voided, reason="By mistake")
    assert lines(books.pnl(trade, basis="accruals")) == {}
    invoice(books, trade, "7.00")
    assert lines(books.pnl(trade)) == {}
    assert lines(books.pnl(trade, basis="accruals")) == {"turnover": "7.00"}


def test_the_bank_line_of_an_invoices_payment_counts_once(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    sold = invoice(books, trade, "100.00", legalEntityId=owner)
    pay(books, sold, "100.00", "2026-11-02")
    line = books.line(books.account(owner, trade), 100_00)
    (half,) = books.allocate(line, Part(category="not_pnl", purpose="other", business_id=trade))
    books.set(half.id, purpose="invoice_payment", invoice_id=sold)
    for basis in ("cash", "accruals"):
        assert lines(books.pnl(trade, basis=basis)) == {"turnover": "100.00"}


def test_what_a_client_paid_too_much_is_no_income(books: LedgerBooks) -> None:
    trade = books.trade(books.entity())
    sold = invoice(books, trade, "100.00")
    pay(books, sold, "60.00", "2026-10-02")
    pay(books, sold, "75.00", "2026-10-03")
    assert lines(books.pnl(trade)) == {"turnover": "100.00"}


def test_a_credit_note_takes_back_what_was_paid_too_much_by_it(books: LedgerBooks) -> None:
    trade = books.trade(books.entity())
    sold = invoice(books, trade, "100.00")
    pay(books, sold, "120.00", "2026-10-02")
    books.credit(sold, issueDate="2026-11-05", lines=[{"description": "Work", "unitPrice": "30.00"}])
    assert months(books, trade) == {"2026-10": {"turnover": "100.00"}, "2026-11": {"turnover": "-30.00"}}
    # by the supply date, which is the invoice's
    assert months(books, trade, basis="accruals") == {"2026-10": {"turnover": "70.00"}}


def test_a_credit_note_before_any_payment_lowers_what_is_to_come(books: LedgerBooks) -> None:
    trade = books.trade(books.entity())
    sold = invoice(books, trade, "100.00")
    books.credit(sold, issueDate="2026-10-05", lines=[{"description": "Work", "unitPrice": "30.00"}])
    assert lines(books.pnl(trade)) == {}
    pay(books, sold, "84.00", "2026-10-06")
    assert lines(books.pnl(trade)) == {"turnover": "70.00"}


def test_turnover_is_whole_where_a_contractor_withholds(books: LedgerBooks) -> None:
    """1,000.00 of labour at 20 %: 800.00 comes, and 200.00 is told beside as tax taken off."""
    owner = books.unregistered_entity(cis={"subcontractor": True, "verifiedRate": 20})
    trade = books.trade(owner)
    client = books.client(cisContractor=True)
    labour = [{"description": "Work", "unitPrice": "1000.00", "cisLabour": True}]
    sold = invoice(books, trade, legalEntityId=owner, clientId=client, lines=labour)
    pay(books, sold, "400.00", "2026-10-02")
    found = books.pnl(trade)
    assert lines(found) == {"turnover": "500.00"}
    assert lines(found, "memoranda") == {"taxTakenOffTradingIncome": "100.00"}
    pay(books, sold, "400.00", "2026-10-03")
    for basis in ("cash", "accruals"):
        found = books.pnl(trade, basis=basis)
        assert (lines(found), lines(found, "memoranda")) == (
            {"turnover": "1000.00"},
            {"taxTakenOffTradingIncome": "200.00"},
        )


def test_payments_share_over_the_categories_of_the_lines(books: LedgerBooks) -> None:
    trade = books.trade(books.unregistered_entity())
    sold = invoice(
        books,
        trade,
        lines=[
            {"description": "Work", "unitPrice": "90.00", "category": "turnover"},
            {"description": "A grant", "unitPrice": "10.00", "category": "other"},
        ],
    )
    pay(books, sold, "50.00", "2026-10-02")
    assert lines(books.pnl(trade)) == {"turnover": "45.00", "other": "5.00"}


def test_on_the_flat_rate_an_invoice_is_gross_less_flat_rate_vat(books: LedgerBooks) -> None:
    """120.00 less 12 % of it; an export counts too, and what is outside the scope bears nothing."""
    trade = books.trade(books.entity(vat={**FLAT_RATE, "flatRatePercent": "12"}))
    each = [
        {"description": "Work", "unitPrice": "100.00"},
        {"description": "Freight", "unitPrice": "50.00", "vatCode": "zero"},
        {"description": "Fee", "unitPrice": "10.00", "vatCode": "outside_scope"},
    ]
    sold = invoice(books, trade, lines=each)
    assert lines(books.pnl(trade, basis="accruals")) == {"turnover": "159.60"}  # 180.00 - 20.40
    pay(books, sold, "180.00", "2026-10-02")
    assert lines(books.pnl(trade)) == {"turnover": "159.60"}


def test_an_invoice_without_a_business_is_told_of(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    books.trade(owner, name="Carving")
    books.invoice(legalEntityId=owner)
    (warning,) = books.pnl(trade)["warnings"]
    assert (warning["code"], " 1 name no business" in warning["message"]) == ("invoices_without_business", True)


# -- days


def test_a_bill_counts_on_its_own_day_on_accruals(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "adminCosts", 10_00, "2026-10-02", document_date="2026-09-30")
    books.enter(trade, "adminCosts", 5_00, "2026-10-03")
    assert months(books, trade) == {"2026-10": {"adminCosts": "15.00"}}
    assert months(books, trade, basis="accruals") == {
        "2026-09": {"adminCosts": "10.00"},
        "2026-10": {"adminCosts": "5.00"},
    }


def test_a_tax_year_is_the_sixth_to_the_fifth(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "turnover", 1_00, "2026-04-05")
    books.enter(trade, "turnover", 2_00, "2026-04-06")
    found = books.ask("businessPnl", id=trade, taxYear="2026-27")
    assert (found["fromDate"], found["toDate"]) == ("2026-04-06", "2027-04-05")
    assert lines(found) == {"turnover": "2.00"}
    assert (found["buckets"], found["previous"], found["explanation"]) == ([], None, None)


def test_a_period_is_of_the_business_or_of_its_owner(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade, other = books.trade(owner), books.trade(owner, name="Carving")
    for business, found in ((trade, "2026-04-06"), (None, "2026-04-06"), (other, "conflict")):
        period = period_of(books, owner, business)
        try:
            shown = books.ask("businessPnl", id=trade, periodId=period)["fromDate"]
        except Problem as problem:
            shown = problem.errors[0].code
        assert shown == found


def period_of(books: LedgerBooks, owner: str, business: str | None) -> str:
    """The first period of the books that begins on 6 April 2026, of this business or of nobody's in particular."""
    sql = """
        SELECT id FROM periods WHERE org_id = :org_id AND legal_entity_id = :owner
            AND business_id IS NOT DISTINCT FROM :business AND start_date = '2026-04-06'
    """
    return str(books.store.read(lambda tx: tx.value(sql, owner=owner, business=business), books.org_id))


@pytest.mark.parametrize(
    ("kind", "firsts"),
    [
        ("standard", ["2026-04-06", "2026-07-06", "2026-10-06", "2027-01-06"]),
        ("calendar", ["2026-04-06", "2026-07-01", "2026-10-01", "2027-01-01", "2027-04-01"]),
    ],
)
def test_quarters_are_those_of_the_business(books: LedgerBooks, kind: str, firsts: list[str]) -> None:
    trade = books.trade(quarterlyPeriodType=kind)
    found = books.ask("businessPnl", id=trade, taxYear="2026-27", groupBy="quarter")["buckets"]
    assert [bucket["fromDate"] for bucket in found] == firsts
    assert found[-1]["toDate"] == "2027-04-05"


def test_the_period_and_the_year_before_are_compared(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "turnover", 1_00, "2026-07-05")
    books.enter(trade, "turnover", 2_00, "2025-10-05")
    quarter = {"first": "2026-07-06", "last": "2026-10-05"}
    before = books.pnl(trade, **quarter, compare="previous_period")["previous"]
    assert (before["fromDate"], before["toDate"], lines(before)) == ("2026-04-06", "2026-07-05", {"turnover": "1.00"})
    before = books.pnl(trade, **quarter, compare="previous_year")["previous"]
    assert (before["fromDate"], before["toDate"], lines(before)) == ("2025-07-06", "2025-10-05", {"turnover": "2.00"})


def test_another_basis_than_the_one_kept_is_told(books: LedgerBooks) -> None:
    trade = books.trade()
    assert books.pnl(trade)["warnings"] == []
    found = books.pnl(trade, basis="accruals")
    assert (found["basis"], [warning["code"] for warning in found["warnings"]]) == ("accruals", ["other_basis"])


# -- foreign money


def test_foreign_money_counts_at_its_rate(books: LedgerBooks) -> None:
    """The payment of October came at HMRC's 1.3456 USD for a pound: 74.32, and the invoice was worth 75.00."""
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    books.enter(trade, "adminCosts", 10_01, currency="USD", fx_rate="0.755")
    sold = invoice(books, trade, "200.00", currency="USD", fxRate="0.75", legalEntityId=owner)
    pay(books, sold, "100.00", "2026-10-02")
    assert lines(books.pnl(trade)) == {"turnover": "75.00", "exchangeDifferences": "-0.68", "adminCosts": "7.56"}


def test_foreign_money_without_a_rate_is_refused(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    sold = invoice(books, trade, "200.00", currency="USD", fxRate="0.75", legalEntityId=owner)
    sql = "UPDATE invoices SET fx_rate = NULL WHERE org_id = :org_id AND id = :id"
    books.write(lambda tx: tx.run(sql, id=sold))  # as earlier programs issued it
    assert lines(books.pnl(trade)) == {}
    with pytest.raises(Problem) as refused:
        books.pnl(trade, basis="accruals")
    problem = refused.value
    assert (problem.code, problem.status, problem.extra) == (
        "currency_mismatch",
        409,
        {"id": sold, "currency": "USD"},
    )


def test_money_of_before_the_currency_of_the_business_changed_is_refused(books: LedgerBooks) -> None:
    trade = books.trade()
    entry = books.enter(trade, "adminCosts", 10_00)
    books.change("update", id=trade, currency="EUR")
    with pytest.raises(Problem) as refused:
        books.pnl(trade)
    assert (refused.value.code, refused.value.extra) == ("currency_mismatch", {"id": entry.id, "currency": "GBP"})


# -- property


def test_residential_finance_costs_are_told_apart_and_not_deducted(books: LedgerBooks) -> None:
    lets = books.trade(type="uk_property", name="Lets", ownerSharePercent="33.3")
    books.enter(lets, "periodAmount", 1_000_00)
    books.enter(lets, "financialCosts", 100_00)
    books.enter(lets, "residentialFinancialCost", 200_00)
    books.enter(lets, "other", 50_00)
    found = books.pnl(lets)
    assert lines(found, "income") == {"periodAmount": "1000.00"}
    assert lines(found, "expenses") == {"financialCosts": "100.00", "other": "50.00"}
    assert lines(found, "memoranda") == {"residentialFinancialCost": "200.00"}
    assert found["totals"]["netProfit"] == "850.00"
    share = found["ownerShare"]
    assert (share["percent"], share["totals"]["income"], share["totals"]["expenses"]) == ("33.3", "333.00", "49.95")
    assert lines(share, "expenses") == {"financialCosts": "33.30", "other": "16.65"}


def test_finance_costs_that_tax_does_not_allow_are_not_told(books: LedgerBooks) -> None:
    """What was borrowed for other ends is relieved no more than it would be deducted."""
    lets = books.trade(type="uk_property", name="Lets")
    books.enter(lets, "residentialFinancialCost", 1_000_00, disallowable_amount=200_00)
    books.enter(lets, "residentialFinancialCost", 60_00, vat_amount=10_00, disallowable_amount=60_00)
    found = books.pnl(lets, explain=True)
    assert lines(found, "memoranda") == {"residentialFinancialCost": "800.00"}
    rows = [(row["amount"], row["disallowable"]) for row in found["explanation"]["data"]]
    assert rows == [("800.00", "0.00"), ("0.00", "0.00")]


def test_an_invoice_of_property_is_rent_but_for_what_its_lines_say(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    lets = books.trade(owner, type="uk_property", name="Lets")
    each = [
        {"description": "October", "unitPrice": "900.00"},
        {"description": "Parking", "unitPrice": "50.00", "category": "otherIncome"},
        {"description": "Work", "unitPrice": "5.00", "category": "turnover"},
    ]
    invoice(books, lets, legalEntityId=owner, lines=each)
    assert lines(books.pnl(lets, basis="accruals")) == {"periodAmount": "905.00", "otherIncome": "50.00"}


def test_a_trade_has_no_owners_share(books: LedgerBooks) -> None:
    assert books.pnl(books.trade())["ownerShare"] is None


# -- one figure for all expenses


def test_expenses_are_one_figure_where_the_business_uses_that(books: LedgerBooks) -> None:
    trade = books.trade(usesConsolidatedExpenses=True)
    books.enter(trade, "turnover", 89_999_99)
    books.enter(trade, "adminCosts", 10_00, disallowable_amount=4_00)
    books.enter(trade, "costOfGoods", 20_00)
    found = books.pnl(trade)
    assert found["expenses"] == [{"category": "consolidatedExpenses", "amount": "26.00", "disallowable": "0.00"}]
    assert found["totals"]["taxableProfit"] == "89973.99"
    assert found["warnings"] == []


def test_from_a_turnover_of_90000_on_they_are_not_and_that_is_told(books: LedgerBooks) -> None:
    trade = books.trade(usesConsolidatedExpenses=True)
    books.enter(trade, "turnover", 90_000_00)
    books.enter(trade, "adminCosts", 10_00)
    found = books.pnl(trade)
    assert lines(found, "expenses") == {"adminCosts": "10.00"}
    assert [warning["code"] for warning in found["warnings"]] == ["consolidated_expenses_not_allowed"]


def test_the_limit_is_one_of_pounds(books: LedgerBooks) -> None:
    trade = books.trade(usesConsolidatedExpenses=True, currency="EUR")
    books.enter(trade, "turnover", 90_000_00, currency="EUR")
    assert books.pnl(trade)["warnings"] == []


def test_each_tax_year_of_the_range_is_looked_at_by_itself(books: LedgerBooks) -> None:
    trade = books.trade(usesConsolidatedExpenses=True)
    books.enter(trade, "turnover", 60_000_00, "2026-04-05")
    books.enter(trade, "turnover", 60_000_00, "2026-04-06")
    assert books.pnl(trade, "2025-04-06", "2027-04-05")["warnings"] == []


# -- what is not known


def test_what_is_left_to_allocate_is_told(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    account = books.account(owner, trade)
    books.line(account, 50_00)
    part = books.line(account, -80_00)
    books.allocate(part, Part(category="adminCosts", amount=30_00, direction="out"))
    whole = books.line(account, -5_00)
    books.allocate(whole, Part(category="adminCosts"))
    books.line(account, 1_00, status="pending")
    books.line(account, 1_00, date="2026-04-05")
    books.line(books.account(owner, trade, currency="EUR"), 7_00, currency="EUR")
    books.line(books.account(owner), 9_00)  # of all businesses of the owner
    books.line(books.account(owner, books.trade(owner, name="Carving")), 100_00)
    books.line(books.account(books.unregistered_entity(name="Elm")), 1_000_00)
    assert books.pnl(trade)["unallocated"] == {
        "count": 3,
        "amount": "9.00",
        "otherCurrencies": [{"currency": "EUR", "count": 1, "amount": "7.00"}],
    }


def test_an_account_that_the_business_names_is_its_own(books: LedgerBooks) -> None:
    trade, account = books.trade(), books.account()
    books.line(account, 5_00)
    assert books.pnl(trade)["unallocated"]["count"] == 0
    sql = "UPDATE businesses SET bank_account_ids = :ids WHERE org_id = :org_id AND id = :id"
    books.write(lambda tx: tx.run(sql, id=trade, ids=f'["{account}"]'))
    assert books.pnl(trade)["unallocated"]["count"] == 1


def test_an_account_that_another_business_names_is_not(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade, other = books.trade(owner), books.trade(owner, name="Carving")
    account = books.account(owner)
    books.line(account, 5_00)
    assert books.pnl(trade)["unallocated"]["count"] == 1
    sql = "UPDATE businesses SET bank_account_ids = :ids WHERE org_id = :org_id AND id = :id"
    books.write(lambda tx: tx.run(sql, id=other, ids=f'["{account}"]'))
    assert [books.pnl(one)["unallocated"]["count"] for one in (trade, other)] == [0, 1]


def test_how_far_expenses_are_documented(books: LedgerBooks) -> None:
    trade = books.trade(books.entity())
    assert books.pnl(trade)["evidence"]["percent"] is None
    evident = books.enter(trade, "adminCosts", 120_00, vat_amount=20_00)
    books.set(evident.id, document_ids='["doc_1"]')
    books.enter(trade, "adminCosts", 20_00)
    books.enter(trade, "carVanTravelExpenses", 36_00, vat_amount=6_00, disallowable_amount=1_00)
    books.enter(trade, "turnover", 1_000_00)
    books.enter(trade, "adminCosts", 5_00, direction="in")
    assert books.pnl(trade)["evidence"] == {
        "expenses": "150.00",
        "documented": "100.00",
        "percent": "66.6",
        "missing": 2,
    }


# -- refusals


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ("fromDate", "required")),
        ({"fromDate": "2026-04-06"}, ("toDate", "required")),
        ({"toDate": "2026-04-06"}, ("fromDate", "required")),
        ({"taxYear": "2026-27", "toDate": "2026-04-06"}, ("taxYear", "conflict")),
        ({"taxYear": "2026-27", "periodId": "per_1"}, ("taxYear", "conflict")),
        ({"fromDate": "2026-04-06", "periodId": "per_1"}, ("periodId", "conflict")),
        ({"periodId": "per_1"}, ("periodId", "unknown_reference")),
        ({"taxYear": "2026-28"}, ("taxYear", "invalid_format")),
        ({"taxYear": "1000-01"}, ("taxYear", "out_of_range")),
        ({"fromDate": "2026-04-06", "toDate": "2026-04-05"}, ("toDate", "date_order")),
        ({"fromDate": "1899-12-31", "toDate": "1900-04-05"}, ("fromDate", "out_of_range")),
        ({"fromDate": "2026-01-01", "toDate": "2200-01-01"}, ("toDate", "out_of_range")),
        ({"fromDate": "2024-11-20", "toDate": "2026-11-20"}, ("toDate", "range_too_long")),
    ],
)
def test_days_that_make_no_range_are_refused(books: LedgerBooks, query: dict[str, str], found: tuple[str, str]) -> None:
    trade = books.trade()
    with pytest.raises(Problem) as refused:
        books.ask("businessPnl", id=trade, **query)
    assert fields_of(refused.value) == [found]


def test_24_months_are_a_range(books: LedgerBooks) -> None:
    assert books.pnl(books.trade(), "2024-11-20", "2026-11-19")["fromDate"] == "2024-11-20"


def test_another_organizations_business_is_not_found(books: LedgerBooks) -> None:
    trade = LedgerBooks(books.store, "Elm Ltd").trade()
    with pytest.raises(Problem, match="not_found"):
        books.pnl(trade)


@pytest.mark.parametrize("basis", ["cash", "accruals"])
def test_another_business_of_the_same_owner_counts_for_itself(books: LedgerBooks, basis: str) -> None:
    owner = books.unregistered_entity()
    trades = [books.trade(owner), books.trade(owner, name="Carving")]
    for trade, price, back in zip(trades, ("100.00", "50.00"), ("30.00", "20.00"), strict=True):
        sold = invoice(books, trade, price, legalEntityId=owner)
        pay(books, sold, price, "2026-10-02")
        books.credit(sold, issueDate="2026-11-05", lines=[{"description": "Work", "unitPrice": back}])
        books.enter(trade, "adminCosts", 1_00 if trade == trades[0] else 2_00, document_date="2026-10-01")
    assert [lines(books.pnl(trade, basis=basis)) for trade in trades] == [
        {"turnover": "70.00", "adminCosts": "1.00"},
        {"turnover": "30.00", "adminCosts": "2.00"},
    ]


def test_an_invoice_of_before_the_flat_rate_stays_net(books: LedgerBooks) -> None:
    vat = {**FLAT_RATE, "flatRatePercent": "12", "flatRateStartDate": "2026-10-02"}
    trade = books.trade(books.entity(vat=vat))
    pay(books, invoice(books, trade, "100.00"), "120.00", "2026-10-02")
    assert lines(books.pnl(trade)) == {"turnover": "100.00"}


def test_yen_have_no_pence(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "adminCosts", 1_000, currency="JPY", fx_rate="0.0052")
    assert lines(books.pnl(trade)) == {"adminCosts": "5.20"}


def test_foreign_income_is_no_expense_that_needs_a_document(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "turnover", 10_00, currency="USD", fx_rate="0.8")
    books.enter(trade, "adminCosts", 20_00, currency="USD", fx_rate="0.8")
    found = books.pnl(trade)["evidence"]
    assert (found["expenses"], found["missing"]) == ("16.00", 1)


def test_a_rate_to_another_currency_than_the_businesss_is_none(books: LedgerBooks) -> None:
    """The invoice's is to pounds, its seller's currency, and the business counts in euros."""
    owner = books.unregistered_entity()
    trade = books.trade(owner, currency="EUR")
    invoice(books, trade, "200.00", currency="USD", fxRate="0.75", legalEntityId=owner)
    with pytest.raises(Problem, match="currency_mismatch"):
        books.pnl(trade, basis="accruals")
