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
