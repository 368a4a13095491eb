"""Bad debts in accounts and VAT returns (Domain C1, C4), by HMRC's own figures where there are any."""

import pytest

from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import vat_figures
from gatewayd.ledger.vat.vat_return import VatFigures
from tests.areas.accounting.books import Json, lines
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.areas.businesses.ledger_books import lines as lines_of
from tests.support.store import MemoryStore

STANDARD = {"status": "registered", "effectiveDate": "2000-01-01"}
YEAR = DateRange("2026-01-01", "2026-12-31")


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def vat(books: LedgerBooks, entity_id: str, first: str, last: str) -> VatFigures:
    whole = DateRange(first, last)
    return books.store.read(lambda tx: vat_figures.of_period(tx, entity_id, whole), books.org_id)


def firm(books: LedgerBooks, basis: str = "accruals", **terms: object) -> tuple[str, str]:
    owner = books.entity(vat={**STANDARD, **terms})
    return owner, books.trade(owner, accountingBasis=basis)


def sold(books: LedgerBooks, owner: str, trade: str, *prices: str, **fields: object) -> Json:
    """An invoice of January 2026, due on the 31st."""
    body: Json = {"legalEntityId": owner, "businessId": trade, "issueDate": "2026-01-10", "dueDate": "2026-01-31"}
    return books.invoice(**{**body, "lines": lines(*({"unitPrice": price} for price in prices)), **fields})


def written_off(books: LedgerBooks, made: Json, date: str, **fields: object) -> Json:
    return books.post("writeOffInvoice", invoiceId=made["id"], date=date, reason="Insolvent", **fields)


def test_vat_is_claimed_in_box_4_alone(books: LedgerBooks) -> None:
    """1,200.00 due on 31 January and written off in April is claimed on 31 July, with nothing in box 7."""
    owner, trade = firm(books)
    made = sold(books, owner, trade, "1000.00")
    off = written_off(books, made, "2026-04-10")["writeOff"]
    assert (off["vatRelief"], off["vatReliefDate"]) == ("claimed", "2026-07-31")
    assert vat(books, owner, "2026-01-01", "2026-03-31") == VatFigures(output_vat=200_00, sales=1000_00)
    assert vat(books, owner, "2026-04-01", "2026-07-30") == VatFigures()
    assert vat(books, owner, "2026-07-31", "2026-07-31") == VatFigures(input_vat=200_00)


def test_on_accruals_it_is_an_expense_of_its_day_and_on_cash_basis_nothing(books: LedgerBooks) -> None:
    owner, trade = firm(books)
    written_off(books, sold(books, owner, trade, "1000.00"), "2026-04-10")
    whole = ("2026-01-01", "2026-12-31")
    assert lines_of(books.pnl(trade, *whole)) == {"turnover": "1000.00", "irrecoverableDebts": "1000.00"}
    assert lines_of(books.pnl(trade, "2026-04-11", "2026-12-31")) == {}
    assert lines_of(books.pnl(trade, *whole, basis="cash")) == {}
    (row,) = books.pnl(trade, *whole, explain=True, category="irrecoverableDebts")["explanation"]["data"]
    assert (row["source"], row["date"], row["amount"]) == ("write_off", "2026-04-10", "1000.00")


def test_what_was_paid_in_part_is_claimed_of_the_rest(books: LedgerBooks) -> None:
    """VBDR2300: relief is the VAT fraction of what is outstanding. 400.00 of 1,200.00 paid: 800.00 x 1/6 = 133.33."""
    owner, trade = firm(books)
    made = sold(books, owner, trade, "1000.00")
    books.post("recordPayment", invoiceId=made["id"], amount="400.00", date="2026-03-01")
    off = written_off(books, made, "2026-10-01")
    assert (off["writeOff"]["amount"], off["balanceDue"], off["status"]) == ("800.00", "0.00", "part_paid")
    assert vat(books, owner, "2026-10-01", "2026-12-31").input_vat == 133_33
    assert lines_of(books.pnl(trade, *YEAR))["irrecoverableDebts"] == "666.67"


def test_what_comes_after_all_is_repaid_in_box_1(books: LedgerBooks) -> None:
    """VBDR4100: relief x payment / outstanding, added to output tax (VBDR4200). 133.33 x 200.00 / 800.00 = 33.33."""
    owner, trade = firm(books)
    made = sold(books, owner, trade, "1000.00")
    books.post("recordPayment", invoiceId=made["id"], amount="400.00", date="2026-03-01")
    written_off(books, made, "2026-08-01")
    shown = books.post("recordPayment", invoiceId=made["id"], amount="200.00", date="2026-11-01")
    assert (shown["balanceDue"], shown["writeOff"]["unpaid"]) == ("0.00", "600.00")
    quarter = ("2026-10-01", "2026-12-31")
    assert vat(books, owner, *quarter) == VatFigures(output_vat=33_33)
    assert lines_of(books.pnl(trade, *quarter)) == {"irrecoverableDebts": "-166.67"}
    books.post("recordPayment", invoiceId=made["id"], amount="600.00", date="2026-11-02")
    assert vat(books, owner, *quarter) == VatFigures(output_vat=133_33)
    paid = books.one("getInvoice", f"invoiceId={made['id']}")
    assert (paid["status"], paid["balanceDue"], paid["writeOff"]["unpaid"]) == ("paid", "0.00", "0.00")
    assert lines_of(books.pnl(trade, *YEAR)) == {"turnover": "1000.00", "irrecoverableDebts": "0.00"}


def test_lines_of_several_rates_are_lost_alike(books: LedgerBooks) -> None:
    """Zero-rated supplies have no relief (VBDR2300): 600.00 at 20 % and 400.00 at 0 %, half unpaid: 50.00 of VAT."""
    owner, trade = firm(books)
    each = lines({"unitPrice": "500.00"}, {"unitPrice": "400.00", "vatCode": "zero"})
    made = sold(books, owner, trade, lines=each)
    books.post("recordPayment", invoiceId=made["id"], amount="500.00", date="2026-03-01")
    written_off(books, made, "2026-08-01")
    assert vat(books, owner, "2026-08-01", "2026-08-31") == VatFigures(input_vat=50_00)


def test_a_payment_before_the_claim_lowers_it(books: LedgerBooks) -> None:
    owner, trade = firm(books)
    made = sold(books, owner, trade, "1000.00")
    written_off(books, made, "2026-04-10")
    books.post("recordPayment", invoiceId=made["id"], amount="600.00", date="2026-05-01")
    assert vat(books, owner, "2026-04-01", "2026-06-30") == VatFigures()
    assert vat(books, owner, "2026-07-01", "2026-09-30") == VatFigures(input_vat=100_00)


def test_a_credit_note_after_the_claim_repays_it(books: LedgerBooks) -> None:
    owner, trade = firm(books)
    made = sold(books, owner, trade, "1000.00")
    written_off(books, made, "2026-08-01")
    books.credit(made["id"], issueDate="2026-10-05")
    assert vat(books, owner, "2026-10-01", "2026-12-31") == VatFigures(output_vat=0, sales=-1000_00)
    assert lines_of(books.pnl(trade, *YEAR)) == {"turnover": "0.00", "irrecoverableDebts": "0.00"}


def test_under_cash_accounting_there_is_nothing_to_claim(books: LedgerBooks) -> None:
    owner, trade = firm(books, scheme="cash")
    off = written_off(books, sold(books, owner, trade, "1000.00"), "2026-09-01")
    assert off["writeOff"]["vatRelief"] == "cash_accounting"
    assert "warnings" not in off
    assert vat(books, owner, *YEAR) == VatFigures()
    assert lines_of(books.pnl(trade, *YEAR)) == {"turnover": "1000.00", "irrecoverableDebts": "1000.00"}


def test_under_the_flat_rate_it_is_told_and_not_counted(books: LedgerBooks) -> None:
    """Notice 733 section 14: an allowance of its own. What counted as income, 1,200.00 less 12 %, is lost."""
    owner, trade = firm(books, scheme="flat_rate", flatRatePercent="12")
    off = written_off(books, sold(books, owner, trade, "1000.00"), "2026-09-01")
    assert off["writeOff"]["vatRelief"] == "flat_rate"
    assert [warning["code"] for warning in off["warnings"]] == ["vat_relief_elsewhere"]
    assert vat(books, owner, "2026-07-01", "2026-12-31") == VatFigures()
    assert lines_of(books.pnl(trade, *YEAR)) == {"turnover": "1056.00", "irrecoverableDebts": "1056.00"}


def test_vat_that_nobody_claims_is_a_cost(books: LedgerBooks) -> None:
    owner, trade = firm(books)
    off = written_off(books, sold(books, owner, trade, "1000.00"), "2026-09-01", claimVatRelief=False)
    assert (off["writeOff"]["vatRelief"], off["writeOff"]["vatReliefDate"]) == ("not_claimed", None)
    assert vat(books, owner, "2026-07-01", "2026-12-31") == VatFigures()
    assert lines_of(books.pnl(trade, *YEAR))["irrecoverableDebts"] == "1200.00"


def test_the_days_of_a_claim_are_those_of_hmrcs_example(books: LedgerBooks) -> None:
    """VR7420: supplied on 25 January 2010 and due on 14 February: from 14 August 2010 until 14 August 2014."""
    owner, trade = firm(books)

    def off(date: str, **fields: object) -> Json:
        made = sold(books, owner, trade, "100.00", issueDate="2010-01-25", dueDate="2010-02-14")
        return written_off(books, made, date, **fields)

    assert off("2010-03-01")["writeOff"]["vatReliefDate"] == "2010-08-14"
    assert off("2014-08-14")["writeOff"]["vatReliefDate"] == "2014-08-14"
    late = off("2014-08-15")
    assert late["writeOff"]["vatRelief"] == "too_late"
    assert [warning["code"] for warning in late["warnings"]] == ["vat_relief_too_late"]
    assert "2014-08-14" in late["warnings"][0]["message"]


def test_after_the_registration_it_is_claimed_elsewhere(books: LedgerBooks) -> None:
    """VBDR3100: form VAT427."""
    owner, trade = firm(books, deregistrationDate="2026-06-01")
    off = written_off(books, sold(books, owner, trade, "1000.00"), "2026-09-01")
    assert off["writeOff"]["vatRelief"] == "deregistered"
    assert [warning["code"] for warning in off["warnings"]] == ["vat_relief_elsewhere"]
    assert lines_of(books.pnl(trade, *YEAR))["irrecoverableDebts"] == "1200.00"


def test_what_a_contractor_would_withhold_is_not_withheld(books: LedgerBooks) -> None:
    owner = books.unregistered_entity(cis={"subcontractor": True, "verifiedRate": 20})
    trade = books.trade(owner, accountingBasis="accruals")
    labour = lines({"unitPrice": "1000.00", "cisLabour": True})
    made = sold(books, owner, trade, clientId=books.client(cisContractor=True), lines=labour)
    off = written_off(books, made, "2026-09-01")
    assert (off["writeOff"]["amount"], off["writeOff"]["vatRelief"]) == ("800.00", "no_vat")
    account = books.pnl(trade, *YEAR)
    assert lines_of(account) == {"turnover": "1000.00", "irrecoverableDebts": "1000.00"}
    assert lines_of(account, "memoranda") == {"taxTakenOffTradingIncome": "0.00"}


def test_a_debt_in_another_currency_is_lost_at_the_rate_of_its_supply(books: LedgerBooks) -> None:
    owner, trade = firm(books)
    made = sold(books, owner, trade, "1000.00", currency="USD", fxRate="0.75")
    written_off(books, made, "2026-09-01")
    assert vat(books, owner, "2026-09-01", "2026-09-30") == VatFigures(input_vat=150_00)
    assert lines_of(books.pnl(trade, *YEAR)) == {"turnover": "750.00", "irrecoverableDebts": "750.00"}


def test_property_has_no_line_for_it(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    let = books.trade(owner, type="uk_property", name="Lets", accountingBasis="accruals")
    written_off(books, sold(books, owner, let, "100.00"), "2026-09-01")
    assert lines_of(books.pnl(let, *YEAR)) == {"periodAmount": "100.00", "other": "100.00"}
