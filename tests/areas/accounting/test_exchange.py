"""Invoices in another currency than their seller's books, and their payments (Domain B5, C1).

HMRC's rates are 1.3554 USD for a pound in September 2026, and 1.3456 in October: 1,000.00 USD are 737.79 and 743.16.
"""

from typing import Any

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import vat_figures
from gatewayd.ledger.vat.vat_return import VatFigures
from tests.areas.accounting.books import fields_of
from tests.areas.businesses.ledger_books import LedgerBooks, lines
from tests.support.store import MemoryStore

SEPTEMBER, OCTOBER = "2026-09-10", "2026-10-05"
QUARTER = DateRange("2026-07-01", "2026-09-30")
ABROAD = [{"description": "Advice", "unitPrice": "1000.00", "vatCode": "outside_scope"}]


class Exporter(LedgerBooks):
    """A trade that is registered for VAT and sells in dollars."""

    def __init__(self, store: MemoryStore, basis: str = "cash") -> None:
        super().__init__(store)
        self.owner = self.entity(vat={"status": "registered", "effectiveDate": "2000-01-01", "staggerGroup": 1})
        self.trade_id = self.trade(self.owner, accountingBasis=basis)

    def sold(self, **fields: object) -> dict[str, Any]:
        body: dict[str, object] = {"currency": "USD", "lines": ABROAD, "issueDate": SEPTEMBER, **fields}
        return self.invoice(legalEntityId=self.owner, businessId=self.trade_id, **body)

    def without_rate(self, **fields: object) -> dict[str, Any]:
        """As earlier programs issued it."""
        sold = self.sold(**fields)
        sql = "UPDATE invoices SET fx_rate = NULL, fx_rate_source = NULL, fx_rate_date = NULL"
        self.write(lambda tx: tx.run(f"{sql} WHERE org_id = :org_id AND id = :id", id=sold["id"]))
        return sold

    def income(self) -> dict[str, str]:
        return lines(self.pnl(self.trade_id), "income")

    def figures(self) -> VatFigures:
        return self.store.read(lambda tx: vat_figures.of_period(tx, self.owner, QUARTER), self.org_id)


@pytest.fixture
def exporter(store: MemoryStore) -> Exporter:
    return Exporter(store, "accruals")


def refused(books: Exporter, operation: str, **body: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.post(operation, **body)
    return caught.value


def test_what_has_no_rate_takes_hmrcs_of_its_month_and_tells(exporter: Exporter) -> None:
    sold = exporter.sold()
    assert (sold["fxRate"], sold["fxRateSource"], sold["fxRateDate"]) == ("0.737789582411", "hmrc", "2026-09-01")
    assert [(warning["code"], warning["message"]) for warning in sold["warnings"]] == [
        (
            "fx_rate_taken",
            "No `fxRate` was given: 1 USD is 0.737789582411 GBP, HMRC's of the month from 2026-09-01.",
        )
    ]
    assert exporter.income() == {"turnover": "737.79"}


def test_a_recorded_rate_of_the_day_goes_before_hmrcs(exporter: Exporter) -> None:
    sql = """
    INSERT INTO exchange_rates (org_id, currency, base_currency, date, rate, source)
    VALUES (:org_id, 'USD', 'GBP', '2026-09-08', '0.74', 'manual')
    """
    exporter.write(lambda tx: tx.run(sql))
    sold = exporter.sold()
    assert (sold["fxRate"], sold["fxRateSource"], sold["fxRateDate"]) == ("0.74", "recorded", "2026-09-08")
    (warning,) = sold["warnings"]
    assert warning["message"] == "No `fxRate` was given: 1 USD is 0.74 GBP, recorded on 2026-09-08."


def test_the_rate_that_is_given_is_taken_without_a_word(exporter: Exporter) -> None:
    sold = exporter.sold(fxRate="0.75")
    assert (sold["fxRate"], "fxRateSource" in sold, "warnings" in sold) == ("0.75", False, False)


@pytest.mark.parametrize("more", [{"currency": "BTN", "issueDate": "2013-09-10"}, {"issueDate": "2013-09-10"}])
def test_where_none_is_known_it_is_asked_for(exporter: Exporter, more: dict[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        exporter.sold(**more)
    assert fields_of(caught.value) == [("fxRate", "required")]
    draft = exporter.sold(status="draft", **more)
    assert draft["fxRate"] is None
    assert fields_of(refused(exporter, "issueInvoice", invoiceId=draft["id"])) == [("fxRate", "required")]


@pytest.mark.parametrize(("basis", "turnover"), [("cash", "737.79"), ("accruals", "737.79")])
def test_what_a_payment_brings_more_is_a_difference_of_exchange(store: MemoryStore, basis: str, turnover: str) -> None:
    books = Exporter(store, basis)
    sold = books.sold()
    paid = books.post("recordPayment", invoiceId=sold["id"], amount="1000.00", date=OCTOBER)
    (payment,) = paid["payments"]
    assert (payment["fxRate"], payment["fxRateSource"]) == ("0.743162901308", "hmrc")
    assert books.income() == {"turnover": turnover, "exchangeDifferences": "5.37"}
    rows = books.pnl(books.trade_id, explain=True)["explanation"]["data"]
    assert sum(float(row["amount"]) for row in rows) == pytest.approx(743.16)


def test_a_payment_in_parts_adds_up_and_what_is_too_much_is_none(exporter: Exporter) -> None:
    """At 0.70: 400.00 USD at 0.75 bring 20.00 more, 600.00 at 0.65 bring 30.00 less, and 100.00 more are owed back."""
    sold = exporter.sold(fxRate="0.70")
    exporter.post("recordPayment", invoiceId=sold["id"], amount="400.00", date=OCTOBER, fxRate="0.75")
    exporter.post("recordPayment", invoiceId=sold["id"], amount="700.00", date=OCTOBER, fxRate="0.65")
    assert exporter.income() == {"turnover": "700.00", "exchangeDifferences": "-10.00"}


def test_vat_stays_what_it_was_on_the_day_of_supply(store: MemoryStore) -> None:
    """1,000.00 and 200.00 USD at 0.80: 160.00 of VAT and 800.00, whatever the payment brings."""
    books = Exporter(store)
    work = [{"description": "Work", "unitPrice": "1000.00", "vatCode": "standard"}]
    sold = books.sold(fxRate="0.80", lines=work)
    books.post("recordPayment", invoiceId=sold["id"], amount="1200.00", date=SEPTEMBER, fxRate="0.90")
    assert books.figures() == VatFigures(output_vat=160_00, sales=800_00)
    assert books.income() == {"turnover": "800.00", "exchangeDifferences": "120.00"}


def test_money_in_pounds_pays_an_invoice_in_dollars(exporter: Exporter) -> None:
    """740.00 GBP came for 1,000.00 USD: 2.21 more than they were worth."""
    sold = exporter.sold()
    line = exporter.line(exporter.account(exporter.owner, exporter.trade_id), 740_00, date=OCTOBER)
    body = {"invoiceId": sold["id"], "bankTransactionId": line}
    assert fields_of(refused(exporter, "recordPayment", **body)) == [("amount", "required")]
    paid = exporter.post("recordPayment", **body, amount="1000.00")
    assert (paid["status"], paid["payments"][0]["fxRate"]) == ("paid", "0.74")
    assert exporter.line_of(line).unallocated == 0
    assert exporter.income() == {"turnover": "737.79", "exchangeDifferences": "2.21"}
    exporter.post("removePayment", invoiceId=sold["id"], position=1)
    assert exporter.line_of(line).unallocated == 740_00


def test_money_of_which_nothing_is_left_pays_no_invoice(exporter: Exporter) -> None:
    line = exporter.line(exporter.account(exporter.owner, exporter.trade_id), 740_00, date=OCTOBER)
    exporter.post("recordPayment", invoiceId=exporter.sold()["id"], bankTransactionId=line, amount="1000.00")
    another = {"invoiceId": exporter.sold()["id"], "bankTransactionId": line, "amount": "1000.00"}
    problem = refused(exporter, "recordPayment", **another)
    assert fields_of(problem) == [("amount", "out_of_range")]
    assert problem.errors[0].message == "Nothing of the bank transaction is left."


def test_money_in_pounds_pays_an_invoice_in_yen_that_have_no_fraction(exporter: Exporter) -> None:
    """500.00 GBP came for 100,000 JPY: 0.005 GBP for one."""
    yen = [{"description": "Advice", "unitPrice": "100000", "vatCode": "outside_scope"}]
    sold = exporter.sold(currency="JPY", lines=yen, fxRate="0.0052")
    line = exporter.line(exporter.account(exporter.owner, exporter.trade_id), 500_00, date=OCTOBER)
    paid = exporter.post("recordPayment", invoiceId=sold["id"], bankTransactionId=line, amount="100000")
    assert (paid["status"], paid["payments"][0]["fxRate"]) == ("paid", "0.005")


def test_a_part_of_the_money_pays_at_the_rate_that_is_given(exporter: Exporter) -> None:
    sold = exporter.sold()
    line = exporter.line(exporter.account(exporter.owner, exporter.trade_id), 1_000_00, date=OCTOBER)
    body = {"invoiceId": sold["id"], "bankTransactionId": line, "amount": "1000.00"}
    assert fields_of(refused(exporter, "recordPayment", **body, charges="1.00")) == [("charges", "conflict")]
    exporter.post("recordPayment", **body, fxRate="0.75")
    assert exporter.line_of(line).unallocated == 250_00


def test_a_rate_is_given_afterwards(exporter: Exporter) -> None:
    """Profit and loss of the year and the quarter's return wait for it."""
    sold = exporter.without_rate()
    with pytest.raises(Problem) as caught:
        exporter.income()
    assert (caught.value.code, "/exchangeRate" in caught.value.message) == ("currency_mismatch", True)
    rated = exporter.post("setInvoiceRate", invoiceId=sold["id"], fxRate="0.75")
    assert (rated["fxRate"], "warnings" in rated) == ("0.75", False)
    assert (exporter.income(), exporter.figures()) == ({"turnover": "750.00"}, VatFigures())
    rated = exporter.post("setInvoiceRate", invoiceId=sold["id"])
    assert (rated["fxRateSource"], [one["code"] for one in rated["warnings"]]) == ("hmrc", ["fx_rate_taken"])
    assert exporter.income() == {"turnover": "737.79"}


def test_the_credit_notes_of_an_invoice_get_its_rate(exporter: Exporter) -> None:
    sold = exporter.without_rate()
    note = exporter.credit(sold["id"], lines=[{**ABROAD[0], "unitPrice": "100.00"}], issueDate="2026-11-01")
    exporter.post("setInvoiceRate", invoiceId=sold["id"], fxRate="0.75")
    sql = "SELECT fx_rate FROM invoices WHERE org_id = :org_id AND id = :id"
    assert exporter.store.read(lambda tx: tx.value(sql, id=note["id"]), exporter.org_id) == "0.75"
    assert exporter.income() == {"turnover": "675.00"}


def test_a_credit_note_with_a_rate_of_its_own_keeps_it(exporter: Exporter) -> None:
    sold = exporter.sold(fxRate="0.75")
    back = [{**ABROAD[0], "unitPrice": "100.00"}]
    note = exporter.credit(sold["id"], lines=back, issueDate="2026-11-01", fxRate="0.70")
    exporter.post("setInvoiceRate", invoiceId=sold["id"], fxRate="0.80")
    assert exporter.one("getInvoice", f"invoiceId={note['id']}")["fxRate"] == "0.7"
    assert exporter.income() == {"turnover": "730.00"}  # 800.00 less 70.00


def test_a_rate_that_was_printed_stays(exporter: Exporter) -> None:
    work = [{"description": "Work", "unitPrice": "1000.00", "vatCode": "standard"}]
    sold = exporter.sold(fxRate="0.80", lines=work)
    assert fields_of(refused(exporter, "setInvoiceRate", invoiceId=sold["id"], fxRate="0.75")) == [
        ("fxRate", "conflict")
    ]
    home = exporter.sold(currency="GBP")
    assert fields_of(refused(exporter, "setInvoiceRate", invoiceId=home["id"])) == [("fxRate", "conflict")]
    draft = exporter.sold(status="draft")
    assert refused(exporter, "setInvoiceRate", invoiceId=draft["id"]).code == "invalid_state"


def test_no_closed_period_gets_another_rate(exporter: Exporter) -> None:
    sold = exporter.without_rate()
    exporter.write(lambda tx: period_locks.close(tx, exporter.owner, "2026-09-01", "2026-09-30"))
    assert refused(exporter, "setInvoiceRate", invoiceId=sold["id"], fxRate="0.75").code == "period_closed"


def test_nor_does_a_credit_note_of_a_closed_period(exporter: Exporter) -> None:
    sold = exporter.without_rate()
    back = [{**ABROAD[0], "unitPrice": "100.00"}]
    exporter.credit(sold["id"], lines=back, issueDate="2026-11-01", supplyDate="2026-11-01")
    exporter.write(lambda tx: period_locks.close(tx, exporter.owner, "2026-11-01", "2026-11-30"))
    assert refused(exporter, "setInvoiceRate", invoiceId=sold["id"], fxRate="0.75").code == "period_closed"
    assert exporter.one("getInvoice", f"invoiceId={sold['id']}").get("fxRate") is None


def test_a_rate_is_given_to_the_version_that_was_read(exporter: Exporter) -> None:
    sold = exporter.without_rate()
    body = {"invoiceId": sold["id"], "fxRate": "0.75", "expectedVersion": 9}
    assert refused(exporter, "setInvoiceRate", **body).code == "version_conflict"
