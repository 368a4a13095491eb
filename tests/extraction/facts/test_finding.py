"""What is easily taken for something else in a document is not."""

import datetime

import pytest

from gatewayd.extraction.facts import find_facts
from gatewayd.extraction.shapes import Facts

TODAY = datetime.date(2026, 6, 30)
BILL = """Alder & Finch Ltd
41 Quay Street, Cardiff CF10 5EA

INVOICE

Bill to:
Thistle Lettings Limited
6 Park Row
Bristol
BS1 5LJ

Invoice number: INV-2204
{dates}

Roof repair                       1,000.00
Subtotal                          1,000.00
VAT @ 20%                           200.00
Total due                        £1,200.00
"""


def found(text: str, name: str = "scan.pdf") -> Facts:
    return find_facts([text], name, TODAY)


def test_the_day_on_which_a_bill_is_due_is_not_its_date() -> None:
    assert found(BILL.format(dates="Due date: 01/05/2026\nInvoice date: 01/04/2026")).date == "2026-04-01"
    assert found(BILL.format(dates="Due date: 01/05/2026")).date is None


def test_a_subtotal_is_not_the_total() -> None:
    facts = found(BILL.format(dates="Invoice date: 1 April 2026"))
    assert (facts.total, facts.currency) == ("1200.00", "GBP")


def test_who_receives_a_bill_did_not_send_it() -> None:
    text = BILL.format(dates="Invoice date: 1 April 2026")
    assert found(text).counterparty == "Alder & Finch Ltd"
    head, rest = text.split("\n\nINVOICE\n\n")
    block, body = rest.split("\n\n", 1)
    assert found(f"INVOICE\n\n{block}\n\nFrom: {head}\n\n{body}").counterparty == "Alder & Finch Ltd"


def test_the_customers_own_vat_number_alone_is_not_money_nor_a_reference() -> None:
    facts = found("INVOICE\nAcme Ltd\nYour VAT number: GB 434 0314 39\nInvoice date: 3 May 2026\nTotal £12.00")
    assert (facts.total, facts.reference) == ("12.00", None)


def test_a_vat_number_with_a_wrong_check_digit_is_none() -> None:
    text = "INVOICE\nAlder & Finch Ltd\nVAT registration number: GB {}\nInvoice date: 3 May 2026\nTotal £12.00"
    assert found(text.format("434 0314 39")).vat_number == "GB434031439"
    assert found(text.format("434 0314 38")).vat_number is None


def test_no_document_comes_from_the_future() -> None:
    assert found(BILL.format(dates="Invoice date: 1 April 2027")).date is None


def test_a_name_tells_the_date_only_where_the_text_has_none() -> None:
    assert found(BILL.format(dates=""), "2026-03-12_roof.pdf").date == "2026-03-12"
    assert found(BILL.format(dates="Invoice date: 1 April 2026"), "2026-03-12_roof.pdf").date == "2026-04-01"


def test_the_more_is_found_the_surer_it_is() -> None:
    whole = BILL.format(dates="Invoice date: 1 April 2026")
    without_date = BILL.format(dates="")
    without_total = without_date.replace("Total due                        £1,200.00", "")
    confidences = [found(text).confidence for text in (without_total, without_date, whole)]
    assert confidences == sorted(confidences)
    assert confidences[0] < confidences[2] <= 1.0
    assert found("Lorem ipsum dolor sit amet").confidence == 0.0


def test_nothing_is_found_in_nothing() -> None:
    for pages in ([], [""], ["\x00\x0c\ufffd"], [" " * 5000]):
        facts = find_facts(pages, "", TODAY)
        assert (facts.kind, facts.date, facts.total, facts.counterparty, facts.reference) == ("other", *[None] * 4)


def test_a_record_that_lists_both_outcomes_has_none() -> None:
    text = """Electrical Installation Condition Report
Report number EICR7781
Installation address: 8 Whiteladies Road, Bristol BS8 1PD
Date of inspection: 4 March 2026
Overall assessment: SATISFACTORY / UNSATISFACTORY (delete as appropriate)
Next inspection due: 3 March 2031
"""
    certificate = found(text).certificate
    assert certificate is not None
    assert (certificate.result, certificate.expiry_date) == (None, "2031-03-03")


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Fire Risk Assessment Report", "fire_risk_assessment"),
        ("LEGIONELLA ASSESSMENT", "legionella_assessment"),
        ("Portable Appliance Testing", "pat"),
        ("PAT Inspection and Test Record", "pat"),
        ("HMO Licence", "hmo_licence"),
        ("Mandatory House in Multiple Occupation Licence", "hmo_licence"),
        ("Licence to operate an HMO", "hmo_licence"),
        ("Additional HMO Licence", "additional_licence"),
        ("Selective Property License", "selective_licence"),
        ("Fire Detection and Fire Alarm System Test Certificate", "fire_alarm"),
        ("Emergency Lighting Annual Test Certificate", "emergency_lighting"),
    ],
)
def test_a_certificate_is_known_by_its_title_alone_in_a_line(title: str, kind: str) -> None:
    body = "Property: 9 Old Road, Hove BN3 1AA\nDate of issue: 1 May 2026\n"
    certificate = found(f"{title}\n{body}").certificate
    assert certificate is not None
    assert (certificate.type, certificate.postcode, certificate.issued_date) == (kind, "BN3 1AA", "2026-05-01")
    assert found(f"The {title} was done, as agreed.\n{body}").certificate is None


def test_pages_between_the_first_and_the_last_are_not_looked_at() -> None:
    filler = ["The parties agree as follows, and nothing else is said on this page at all.\n" * 40] * 60
    head, rest = BILL.format(dates="Invoice date: 1 April 2026").split("Roof repair")
    facts = find_facts([head, *filler, "Total due £9,999.99\n", *filler, f"Roof repair{rest}"], "x.pdf", TODAY)
    assert (facts.date, facts.total) == ("2026-04-01", "1200.00")


@pytest.mark.parametrize(
    "label",
    [
        "Invoice total (inc VAT): £120.00",
        "Grand total (including VAT)   120.00",
        "Amount due (incl. VAT)  £120.00",
        "Total inc. 20% VAT £120.00",
        "Total charges including VAT  £120.00",
        "Your bill is £120.00",
    ],
)
def test_a_total_with_vat_is_one_however_it_is_called(label: str) -> None:
    facts = found(f"INVOICE\nAlder & Finch Ltd\nInvoice number: A-1\nNet total 100.00\nV.A.T. 20.00\n{label}\n")
    assert (facts.total, facts.net, facts.vat) == ("120.00", "100.00", "20.00")


@pytest.mark.parametrize("label", ["Total (excluding VAT)", "Total excl. VAT", "Total before VAT", "Subtotal ex VAT"])
def test_a_total_without_vat_is_net(label: str) -> None:
    facts = found(f"INVOICE\nAlder & Finch Ltd\nInvoice number: A-1\n{label} £100.00\nVAT £20.00\nTotal £120.00\n")
    assert (facts.total, facts.net, facts.vat) == ("120.00", "100.00", "20.00")


def test_what_net_and_vat_come_to_goes_before_every_label() -> None:
    lines = "Timber 1,240.00\nNet 1,240.00\nVAT @ 20% 248.00\n1,488.00\nPlease pay by 31/05/2026 1,240.00\n"
    facts = found(f"INVOICE\nAlder & Finch Ltd\nInvoice number: A-1\nInvoice date: 3 May 2026\n{lines}")
    assert (facts.total, facts.net, facts.vat, facts.due_date) == ("1488.00", "1240.00", "248.00", "2026-05-31")


def test_a_total_that_net_and_vat_contradict_is_none() -> None:
    head = "INVOICE\nAlder & Finch Ltd\nInvoice number: A-1\n"
    facts = found(f"{head}Net 100.00\nVAT 20.00\nTotal 130.00\n")
    assert (facts.total, facts.net, facts.vat, facts.currency) == (None, None, None, None)
    facts = found(f"{head}Net 100.00\nVAT 20.00\nAmount due 130.00\n")
    assert (facts.total, facts.net, facts.vat) == ("130.00", None, None)


def test_fees_of_others_stand_between_net_and_total() -> None:
    facts = found("INVOICE\nInvoice number: A-1\nFees 1,080.00\nVAT 216.00\nSearches 138.00\nTotal payable 1,434.00\n")
    assert (facts.total, facts.net, facts.vat) == ("1434.00", "1218.00", "216.00")


def test_vat_at_several_rates_is_added() -> None:
    lines = "Net 300.00\nVAT 20% on 200.00: 40.00\nVAT 5% on 100.00: 5.00\nTotal 345.00\n"
    facts = found(f"INVOICE\nInvoice number: A-1\n{lines}")
    assert (facts.total, facts.net, facts.vat) == ("345.00", "300.00", "45.00")


def test_what_is_still_to_be_paid_is_told_beside_the_total() -> None:
    lines = "Net 2,000.00\nVAT 400.00\nGrand total 2,400.00\nDeposit paid 600.00\nBalance due 1,800.00\n"
    facts = found(f"INVOICE\nInvoice number: A-1\n{lines}")
    assert (facts.total, facts.amount_due) == ("2400.00", "1800.00")


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("Inv. No.: MFP 7731", "MFP 7731"),
        ("Invoice No. 7", "7"),
        ("Invoice 14488", "14488"),
        ("Debit Note No: D/4", "D/4"),
    ],
)
def test_a_number_is_read_with_its_letters_and_with_one_digit(label: str, number: str) -> None:
    assert found(f"INVOICE\nAlder & Finch Ltd\n{label}\nInvoice date: 3 May 2026\nTotal £12.00").reference == number


def test_headings_and_cells_of_a_csv_are_no_senders() -> None:
    assert found("From\nTo\nTitle\nbadger,1\n").counterparty is None
    text = "INVOICE\nFrom\nStackharbor LLC\n\nFor\nThistle Lettings Limited\n\nInvoice number: A-1\nTotal $12.00"
    assert found(text).counterparty == "Stackharbor LLC"


def test_dates_of_a_csv_are_dates() -> None:
    assert found("Receipt\nReceipt no: A-12\n2026-01-01,5.00\n").date == "2026-01-01"
    assert found("Receipt\nReceipt no: A-12\n01/02/2026,5.00\n").date == "2026-02-01"


def test_each_fact_says_how_sure_it_is() -> None:
    facts = found(BILL.format(dates="Invoice date: 1 April 2026\nDue date: 01/05/2026"))
    sure = facts.confidences
    assert sure.due_date is not None
    assert sure.reference is not None
    assert (sure.total, sure.net, sure.vat) == (0.95, 0.95, 0.95)
    none = found("").confidences
    assert all(getattr(none, name) is None for name in none.__struct_fields__)


def test_bank_details_and_vat_numbers_are_kept_for_choosing_the_sender() -> None:
    text = "INVOICE\nSort code: 20-45-45 Account number: 33120087\nIBAN GB29 NWBK 6016 1331 9268 19\nVAT No 434 0314 39"
    facts = found(text)
    assert facts.bank_accounts == ["204545 33120087", "GB29NWBK60161331926819"]
    assert facts.vat_numbers == ["GB434031439"]
    assert found("IBAN GB28 NWBK 6016 1331 9268 19").bank_accounts == []
