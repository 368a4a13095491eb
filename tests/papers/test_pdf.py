"""What stands on papers, and what kind of file they are."""

import io

import pikepdf
import pytest
from facturx import get_facturx_level, get_facturx_xml_from_pdf
from lxml import etree
from msgspec.structs import replace
from PIL import Image

from gatewayd.papers import cii, factur_x, layout, semantics
from gatewayd.papers.orders import Order, Set, Unset
from gatewayd.papers.paper import Look, Paper
from gatewayd.papers.typesetting import Typesetter
from tests.papers.conftest import opened, words_of
from tests.papers.samples import (
    ACCOUNT,
    CASES,
    CLIENT,
    CREDIT_NOTE,
    EURO_ACCOUNT,
    EUROS,
    LEEDS,
    SELLER,
    UNDER_CIS,
    UNREGISTERED,
    free_of_vat,
    line,
    paper,
)


def set_by(typesetter: Typesetter, told: Paper) -> bytes:
    """The paper with its XML, if it has any, which has to be PDF/A."""
    xml = b"" if semantics.lacking(told) else cii.write(told)
    answer = typesetter.answer(Order(paper=told, xml=xml))
    assert isinstance(answer, Set), answer
    assert answer.is_archival
    return answer.pdf


# -- the file


@pytest.mark.parametrize("case", CASES)
def test_every_paper_is_pdf_a_3_with_its_invoice_attached(typesetter: Typesetter, case: str) -> None:
    """What can be looked at without a validator of PDF/A: what typst refuses to break, and what Factur-X adds to it."""
    pdf = set_by(typesetter, CASES[case])
    document = opened(pdf)
    (attached,) = document.Root.AF
    assert (str(attached.AFRelationship), str(attached.F)) == ("/Alternative", "factur-x.xml")
    name, xml = get_facturx_xml_from_pdf(pdf, check_xsd=True, check_schematron=False)
    assert (name, xml) == ("factur-x.xml", cii.write(CASES[case]))
    assert get_facturx_level(etree.fromstring(xml)) == "en16931"
    with document.open_metadata() as said:
        assert (said["pdfaid:part"], said["pdfaid:conformance"]) == ("3", "B")
        assert {
            name: said[f"{{urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#}}{name}"] for name in _SAID
        } == _SAID
    assert document.Root.OutputIntents[0].S == "/GTS_PDFA1"
    assert not document.is_encrypted
    embedded = [{"/FontFile2", "/FontFile3"} & set(font.FontDescriptor.keys()) for font in _fonts(document)]
    assert all(embedded), "each font is in the file"


_SAID = {
    "DocumentType": "INVOICE",
    "DocumentFileName": "factur-x.xml",
    "Version": "1.0",
    "ConformanceLevel": "EN 16931",
}


def _fonts(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    """What each font of each page descends from."""
    of_pages = [page.Resources.Font for page in document.pages]
    found = [font.DescendantFonts[0] for fonts in of_pages for font in fonts.values()]
    assert found, "a paper has text"
    return found


def test_the_same_paper_gives_the_same_bytes(typesetter: Typesetter) -> None:
    assert set_by(typesetter, paper(40)) == set_by(Typesetter(), paper(40))
    assert set_by(typesetter, paper()) != set_by(typesetter, paper(number="INV-000043"))


def test_only_what_the_compiler_writes_is_updated() -> None:
    for pdf in (b"", b"%PDF-1.7\n", b"%PDF-1.7\ntrailer\n<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n"):
        with pytest.raises(factur_x.UnknownForm):
            factur_x.declared(pdf)


# -- what it says


@pytest.mark.parametrize("case", CASES)
def test_every_figure_stands_on_it(typesetter: Typesetter, case: str) -> None:
    told = CASES[case]
    words = words_of(set_by(typesetter, told))
    assert told.number is not None
    figures = [
        told.number,
        layout.money(told, told.payable),
        *(layout.money(told, each.net)[1:] for each in told.lines),
    ]
    if told.seller.vat_number:
        figures += [layout.money(told, told.net_total), layout.money(told, told.vat_total), told.seller.vat_number]
    assert [figure for figure in figures if figure not in words] == []
    for party in (told.seller, told.client):
        assert party.name in words
    assert "20 November 2026" in words
    assert "18 November 2026" in words


def test_what_a_vat_invoice_has_to_say(typesetter: Typesetter) -> None:
    """VAT Regulations 1995 reg. 14(1), of one invoice, letter by letter."""
    words = " ".join(words_of(set_by(typesetter, paper())).split())
    particulars = {
        "(a) number": "INV-000042",
        "(b) time of supply": "Date of supply 18 November 2026",
        "(c) date of issue": "Date of issue 20 November 2026",
        "(d) supplier": "Oak & Son Kitchens Ltd",
        "(d) its address": "12a Oak Street",
        "(d) its number": "VAT registration number GB577215622",
        "(e) customer": "Canal Wharf Management Ltd",
        "(e) its address": "Canal Wharf Unit 5 Manchester M1 2AB",
        "(g) description": "Joinery of oak boards, part 1",
        "(h) quantity": "7.5 hours",
        "(h) rate": "20%",
        "(h) amount without VAT": "637.50",
        "(i) gross without VAT": "Total without VAT",
        "(l) VAT": "£127.50",
        "(m) unit price": "85.00",
    }
    assert {name: text for name, text in particulars.items() if text not in words} == {}


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (
            free_of_vat("reverse_charge_domestic_standard", "20", "127.50"),
            "Reverse charge: VAT Act 1994 section 55A applies. Customer to account to HMRC for VAT of GBP 127.50 at"
            " 20%.",
        ),
        (
            free_of_vat("reverse_charge_services_overseas"),
            "Reverse charge: the customer accounts for any VAT in their own country.",
        ),
        (free_of_vat("export_goods_zero"), "Goods exported: zero-rated."),
        (free_of_vat("ni_eu_goods_zero"), "Intra-Community supply of goods from Northern Ireland: zero-rated"),
        (free_of_vat("margin_scheme"), "Margin scheme. This invoice shows no VAT"),
    ],
)
def test_sentences_where_no_vat_is_charged(typesetter: Typesetter, told: Paper, sentence: str) -> None:
    words = " ".join(words_of(set_by(typesetter, told)).split())
    assert sentence in words
    assert "Total to pay £637.50" in words


def test_a_margin_scheme_is_named_by_its_seller(typesetter: Typesetter) -> None:
    told = free_of_vat("margin_scheme", notes="Margin scheme: second-hand goods")
    words = words_of(set_by(typesetter, told))
    assert "Margin scheme: second-hand goods" in words
    assert "Margin scheme. This" not in words


def test_who_is_not_registered_shows_no_vat(typesetter: Typesetter) -> None:
    words = words_of(set_by(typesetter, free_of_vat("outside_scope", seller=UNREGISTERED)))
    assert "VAT invoice" not in words
    assert "VAT registration" not in words
    assert "Total without VAT" not in words


def test_a_deduction_is_told_and_taken_off(typesetter: Typesetter) -> None:
    words = " ".join(words_of(set_by(typesetter, paper(**UNDER_CIS))).split())
    assert "CIS deduction, 20% of labour −£127.50" in words
    assert "Total to pay £637.50" in words


def test_a_foreign_invoice_tells_its_vat_in_sterling(typesetter: Typesetter) -> None:
    words = " ".join(words_of(set_by(typesetter, paper(**EUROS))).split())
    assert "VAT in GBP at 0.8636 £110.11" in words
    assert "GB33 BUKB 2020 1555 5555 55" in words
    assert "Scan to pay by SEPA" in words


def test_a_code_for_a_transfer_is_of_euros_to_an_iban_alone() -> None:
    euros = paper(**EUROS)
    assert layout.transfer_code(euros).startswith("<svg")
    without = [
        paper(),
        paper(bank=EURO_ACCOUNT),
        replace(euros, bank=ACCOUNT),
        replace(euros, bank=None),
        replace(euros, payable="0.00"),
        replace(euros, payable="1000000000.00"),
        replace(euros, mark="DRAFT", number=None),
        replace(euros, **CREDIT_NOTE),
    ]
    assert [layout.transfer_code(told) for told in without] == [""] * len(without)


def test_a_credit_note_names_its_invoice_and_no_account(typesetter: Typesetter) -> None:
    words = words_of(set_by(typesetter, paper(**CREDIT_NOTE)))
    assert "Credit note" in words
    assert "INV-000041 of 1 November 2026" in words
    assert "Total credit" in words
    assert "31926819" not in words


@pytest.mark.parametrize("mark", ["DRAFT", "VOID"])
def test_what_is_no_invoice_says_so_on_each_page(typesetter: Typesetter, mark: str) -> None:
    pdf = set_by(typesetter, paper(60, mark=mark, number=None))
    assert words_of(pdf).count(mark) == len(opened(pdf).pages) > 1


def test_pages_repeat_their_head_and_are_numbered(typesetter: Typesetter) -> None:
    words = words_of(set_by(typesetter, paper(200)))
    assert words.count("Unit price") == 5  # the sixth has the totals alone
    assert [f"Page {number} of 6" in words for number in range(1, 7)] == [True] * 6
    assert words.count("Invoice INV-000042") == 5
    assert "Joinery of oak boards, part 200" in words


def test_a_firm_says_of_itself_what_the_law_asks(typesetter: Typesetter) -> None:
    look = Look(
        trading_name="Oak & Son",
        owners="J. Oak, 1 Mill Lane, Leeds LS2 1AA",
        register="Scotland",
        registered_office=LEEDS,
        footer="Two\nlines",
        accent="#7a3b12",
        website="oakandson.example",
    )
    words = words_of(set_by(typesetter, paper(look=look)))
    for text in (
        "Oak & Son\nOak & Son Kitchens Ltd",
        "Registered in Scotland, company number 13579246.",
        "Registered office: 12a Oak Street, Leeds LS1 4DY.",
        "Owners: J. Oak, 1 Mill Lane, Leeds LS2 1AA",
        "Two\nlines",
        "oakandson.example",
    ):
        assert text in words


def test_a_country_is_named_where_it_is_another(typesetter: Typesetter) -> None:
    abroad = replace(CLIENT, address=replace(LEEDS, country_code="DE", town="Hamburg"))
    assert "Germany" in words_of(set_by(typesetter, paper(client=abroad)))
    at_home = words_of(set_by(typesetter, paper(seller=replace(SELLER, address=LEEDS))))
    assert "United Kingdom" not in at_home


def test_long_and_wild_texts_stay_text(typesetter: Typesetter) -> None:
    """What a person types is printed, and never read as markup or as code."""
    wild = '#panic("x") *bold* $x^2$ @ref <label> `raw` \\ "quoted" [content] // comment'
    name = "The Honourable Company of " + "Very " * 40 + "Long Names"
    told = paper(
        lines=[line(description=wild + "\n" + "word " * 360 + "x" * 100)], client=replace(CLIENT, name=name[:255])
    )
    words = " ".join(words_of(set_by(typesetter, told)).split())
    assert '#panic("x") *bold* $x^2$ @ref <label> `raw` \\ "quoted" [content] // comment' in words
    assert "Very Very Very" in words


def test_signs_that_no_font_has_leave_a_paper_that_is_no_archive(typesetter: Typesetter) -> None:
    """PDF/A asks for every sign: such a paper is a plain PDF, without the attachment that needs PDF/A-3."""
    told = paper(lines=[line(description="日本語の机")])
    answer = typesetter.answer(Order(paper=told, xml=cii.write(told)))
    assert isinstance(answer, Set)
    assert not answer.is_archival
    assert "£765.00" in words_of(answer.pdf)


# -- logos


def _picture(kind: str, size: tuple[int, int] = (600, 200)) -> bytes:
    drawn = io.BytesIO()
    Image.new("RGB", size, "#7a3b12").save(drawn, kind)
    return drawn.getvalue()


@pytest.mark.parametrize(("kind", "name"), [("png", "png"), ("jpeg", "jpg")])
def test_a_logo_is_drawn(typesetter: Typesetter, kind: str, name: str) -> None:
    told = paper(look=Look(logo=_picture(kind), logo_kind=name))
    pictures = [image for page in opened(set_by(typesetter, told)).pages for image in page.get_images()]
    assert len(pictures) == 1


def test_a_logo_that_is_none_is_told(typesetter: Typesetter) -> None:
    answer = typesetter.answer(Order(paper=paper(look=Look(logo=b"\x89PNG\r\n\x1a\nxx", logo_kind="png"))))
    assert isinstance(answer, Unset)
    assert answer.reason == "logo"
