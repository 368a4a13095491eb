"""The electronic forms against the rules that others publish, and read back: hand-made cases and 200 by chance."""

import random
from collections.abc import Iterator
from decimal import Decimal

import pytest
from lxml import etree
from msgspec.structs import replace

from gatewayd.papers import cii, contents, semantics, ubl
from gatewayd.papers.paper import Paper
from tests.areas.accounting.books import Books
from tests.papers import en16931
from tests.papers.samples import CASES, CLIENT, CREDIT_NOTE, SELLER, UNDER_CIS, free_of_vat, group, line, paper

CHANCES = 200
_CII = {
    "ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
}
_UBL = {
    "cac": "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2",
    "cbc": "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2",
}


def both(told: Paper) -> tuple[bytes, bytes]:
    return cii.write(told), ubl.write(told)


def text(document: bytes, path: str) -> str | None:
    """The text of the first element at a path, in either form."""
    names = _UBL if "cac:" in path or "cbc:" in path else _CII
    return etree.fromstring(document).findtext(f".//{path}", namespaces=names)


@pytest.mark.parametrize("case", CASES)
def test_both_forms_keep_the_rules(case: str) -> None:
    assert [en16931.faults(document) for document in both(CASES[case])] == [[], []]


def test_the_rules_see_what_is_wrong() -> None:
    """Else they would prove nothing."""
    wrong = paper(net_total="637.49")
    found = [en16931.faults(document) for document in both(wrong)]
    assert all(any("BR-CO-10" in fault for fault in faults) for faults in found), found
    assert en16931.faults(cii.write(paper()).replace(b"<ram:TypeCode>380</ram:TypeCode>", b""))


@pytest.mark.parametrize(
    ("code", "category"),
    [
        ("zero", "Z"),
        ("exempt", "E"),
        ("outside_scope", "E"),
        ("margin_scheme", "E"),
        ("reverse_charge_services_overseas", "AE"),
        ("reverse_charge_domestic_reduced", "AE"),
        ("export_goods_zero", "G"),
        ("ni_eu_goods_zero", "K"),
    ],
)
def test_categories_of_codes(code: str, category: str) -> None:
    told = free_of_vat(code)
    path = "ram:ApplicableHeaderTradeSettlement/ram:ApplicableTradeTax/ram:CategoryCode"
    assert text(cii.write(told), path) == category
    assert text(ubl.write(told), "cac:TaxSubtotal/cac:TaxCategory/cbc:ID") == category


def test_who_is_not_registered_names_no_vat_number() -> None:
    told = CASES["not registered"]
    for document in both(told):
        assert b"GB980780684" not in etree.fromstring(document).xpath("string()").encode() or document.startswith(b"<?")
        assert b'schemeID="VA"' not in document
        assert b"PartyTaxScheme" not in document
    assert text(cii.write(told), "ram:ApplicableTradeTax/ram:ExemptionReasonCode") == "VATEX-EU-O"


def test_codes_of_one_category_are_one_breakdown() -> None:
    """What is exempt and what is outside the scope have the same rate: the standard knows one sum of them."""
    told = paper(
        lines=[
            line(1, vat_code="exempt", rate="0", vat="0.00", gross="637.50"),
            line(2, vat_code="outside_scope", rate="0", vat="0.00", gross="637.50"),
        ],
        groups=[group("exempt", "0", "637.50", "0.00"), group("outside_scope", "0", "637.50", "0.00")],
        net_total="1275.00",
        vat_total="0.00",
        gross_total="1275.00",
        payable="1275.00",
    )
    (tax,) = semantics.of_paper(told).taxes
    assert (tax.category, tax.net, tax.reason) == ("E", "1275.00", "Exempt from VAT; Outside the scope of VAT")
    assert [en16931.faults(document) for document in both(told)] == [[], []]


def test_what_a_contractor_withholds_is_told_as_paid() -> None:
    for document, paid, due in (
        (cii.write(paper(**UNDER_CIS)), "ram:TotalPrepaidAmount", "ram:DuePayableAmount"),
        (ubl.write(paper(**UNDER_CIS)), "cbc:PrepaidAmount", "cbc:PayableAmount"),
    ):
        assert (text(document, paid), text(document, due)) == ("127.50", "637.50")
        assert b"Construction Industry Scheme" in document


def test_a_credit_note_names_its_invoice() -> None:
    told = paper(**CREDIT_NOTE)
    assert text(cii.write(told), "ram:InvoiceReferencedDocument/ram:IssuerAssignedID") == "INV-000041"
    assert text(ubl.write(told), "cac:BillingReference/cac:InvoiceDocumentReference/cbc:ID") == "INV-000041"
    assert b"<ram:TypeCode>381</ram:TypeCode>" in cii.write(told)
    assert b"<cbc:CreditNoteTypeCode>381</cbc:CreditNoteTypeCode>" in ubl.write(told)


def test_what_peppol_asks_beyond_the_standard() -> None:
    """PEPPOL-EN16931-R001, R002, R003, R010 and R020, whose rules no package brings."""
    bare = ubl.write(paper(reference=None, po_number=None, notes="One.\nTwo.", **UNDER_CIS))
    tree = etree.fromstring(bare)
    assert text(bare, "cbc:BuyerReference") == "N/A"
    assert len(tree.findall("cbc:Note", _UBL)) == 1
    ends = tree.findall(".//cbc:EndpointID", _UBL)
    assert [(end.get("schemeID"), end.text) for end in ends] == [("9932", "GB577215622"), ("9932", "GB980780684")]
    assert ubl.endpoint(replace(CLIENT, vat_number=None)) == ("EM", "ap@canal.example")
    assert ubl.endpoint(replace(CLIENT, vat_number=None, email=None)) is None
    assert ubl.endpoint(replace(SELLER, vat_number="US123", email=None)) is None


def test_text_that_no_xml_may_hold_is_left_out() -> None:
    told = paper(lines=[line(description="Oak\x0b & <pine>\x00\ud800")])
    document = cii.write(told)
    assert text(document, "ram:SpecifiedTradeProduct/ram:Name") == "Oak  & <pine>"
    assert en16931.faults(document) == []


def test_vat_of_many_lines_may_be_too_far_from_the_sum() -> None:
    """Ten lines of 3 yen bear 10 x round(0.6) = 10; 20% of 30 is 6."""
    told = paper(
        lines=[line(at, quantity="1", unit_price="3", net="3", vat="1", gross="4") for at in range(1, 11)],
        groups=[group("standard", "20", "30", "10")],
        currency="JPY",
        exponent=0,
        vat_total_base="0.05",
        net_total="30",
        vat_total="10",
        gross_total="40",
        payable="40",
    )
    assert "BR-CO-17" in (semantics.lacking(told) or "")
    assert [any("BR-CO-17" in fault for fault in en16931.faults(form)) for form in both(told)] == [True, True]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"mark": "DRAFT", "number": None}, "not an invoice"),
        ({"mark": "VOID"}, "not an invoice"),
        ({"currency": "KWD", "exponent": 3}, "two fraction digits"),
    ],
)
def test_what_has_no_electronic_form(fields: dict[str, object], said: str) -> None:
    assert said in (semantics.lacking(paper(**fields)) or "")
    assert semantics.lacking(paper()) is None


# -- by chance, through the operations that make invoices

_CODES = ("standard", "reduced", "zero", "exempt", "outside_scope", "export_goods_zero", "margin_scheme")
_DOMESTIC = ("reverse_charge_domestic_standard", "reverse_charge_domestic_reduced")


def _some_line(chance: random.Random) -> dict[str, object]:
    price = Decimal(chance.randint(10_000, 2_000_000)).scaleb(-chance.choice((0, 2, 2, 4)))
    return {
        "description": chance.choice(("Joinery", "Oak & <pine>", "A long\ntext of two lines", "Été, 日本")),
        "unitPrice": f"{price:f}",
        "quantity": f"{Decimal(chance.randint(1_000, 50_000)).scaleb(-chance.choice((0, 0, 2, 3))):f}",
        "discountPercent": chance.choice(("0", "0", "10", "33.333", "100")),
        "vatCode": chance.choice(_CODES + _DOMESTIC),
        "unit": chance.choice(("hours", "pieces", None)),
        "cisLabour": chance.random() < 0.3,
    }


def _some_invoice(chance: random.Random) -> Iterator[tuple[str, object]]:
    lines = [_some_line(chance) for _ in range(chance.choice((1, 2, 5, 20)))]
    if chance.random() < 0.3:  # what is taken off by a line, and is less than the others come to
        lines[0]["discountPercent"] = "0"
        lines.append({**lines[0], "quantity": "0.25", "unitPrice": "-0.37"})
    yield "lines", lines
    yield "amountsAre", chance.choice(("exclusive", "exclusive", "inclusive"))
    yield "vatRounding", chance.choice(("line", "total", "total_down"))
    yield "reference", chance.choice((None, "Flat 5"))
    yield "poNumber", chance.choice((None, "PO-1"))
    if any(each["discountPercent"] != "100" for each in lines):
        yield "discountAmount", chance.choice((None, None, "0.07"))
    currency = chance.choice(("GBP", "GBP", "EUR", "JPY"))
    if currency != "GBP":
        yield "currency", currency
        yield "fxRate", "0.8412"
    if currency == "JPY":
        yield "lines", [{**each, "unitPrice": str(int(Decimal(str(each["unitPrice"]))))} for each in lines]
        yield "discountAmount", None


def test_200_by_chance_keep_the_rules_and_read_back_the_same(registered: Books) -> None:
    chance = random.Random(30)
    client = registered.client(vatNumber="434031494", email="ap@harbour.example", cisContractor=True)
    wrong: dict[str, object] = {}
    lacking = 0
    for _ in range(CHANCES):
        made = registered.invoice(clientId=client, **dict(_some_invoice(chance)))
        if chance.random() < 0.2:
            made = registered.credit(made["id"])
        known = registered.store.read(lambda tx, id_=made["id"]: contents.of_invoice(tx, id_).paper, registered.org_id)
        if semantics.lacking(known):
            assert made["currency"] == "JPY", "rounded on many lines to whole yen"
            lacking += 1
            continue
        sums = [made["netTotal"], made["vatTotal"], made["grossTotal"], due(made)]
        for document, paths in zip(both(known), _TOTALS, strict=True):
            read = [text(document, path) for path in paths]
            if (faults := en16931.faults(document)) or read != sums:
                wrong[f"{made['number']} {document[60:120]!r}"] = (faults, read, sums)
    assert not wrong, (len(wrong), next(iter(wrong.items())))
    assert lacking <= CHANCES // 20


def due(made: dict[str, object]) -> str:
    return str(Decimal(str(made["grossTotal"])) - Decimal(str(made["cisDeduction"])))


_TOTALS = (
    ("ram:TaxBasisTotalAmount", "ram:TaxTotalAmount", "ram:GrandTotalAmount", "ram:DuePayableAmount"),
    ("cbc:TaxExclusiveAmount", "cac:TaxTotal/cbc:TaxAmount", "cbc:TaxInclusiveAmount", "cbc:PayableAmount"),
)
