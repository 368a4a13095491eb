"""E-invoices in files are read exactly, and what strangers put in them does nothing.

The figures are those of the examples that ZUGFeRD 2 ("EN16931_Einfach") and Peppol BIS Billing 3 ("base-example")
publish, as far as they are read; the files are written anew.
"""

import io

import pikepdf
import pytest

from gatewayd.extraction.einvoices import BYTES_MAX, is_einvoice, read_einvoice
from gatewayd.extraction.shapes import Facts, VatPart
from gatewayd.papers import cii, ubl
from gatewayd.papers.orders import Order, Set
from gatewayd.papers.typesetting import Typesetter
from tests.extraction import files
from tests.extraction.conftest import Read
from tests.papers.samples import CASES

_CII = """<?xml version="1.0" encoding="UTF-8"?>
<rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"
 xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"
 xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100">
<rsm:ExchangedDocument><ram:ID>471102</ram:ID><ram:TypeCode>{code}</ram:TypeCode><ram:IssueDateTime>
<udt:DateTimeString format="102">20180305</udt:DateTimeString></ram:IssueDateTime></rsm:ExchangedDocument>
<rsm:SupplyChainTradeTransaction><ram:ApplicableHeaderTradeAgreement>
<ram:SellerTradeParty><ram:Name>Lieferant GmbH</ram:Name>
<ram:SpecifiedTaxRegistration><ram:ID schemeID="FC">201/113/40209</ram:ID></ram:SpecifiedTaxRegistration>
<ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">DE123456789</ram:ID></ram:SpecifiedTaxRegistration>
</ram:SellerTradeParty><ram:BuyerTradeParty><ram:Name>Kunden AG Mitte</ram:Name></ram:BuyerTradeParty>
</ram:ApplicableHeaderTradeAgreement><ram:ApplicableHeaderTradeSettlement>
<ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode>
<ram:SpecifiedTradeSettlementPaymentMeans><ram:TypeCode>58</ram:TypeCode><ram:PayeePartyCreditorFinancialAccount>
<ram:IBANID>DE02120300000000202051</ram:IBANID></ram:PayeePartyCreditorFinancialAccount>
</ram:SpecifiedTradeSettlementPaymentMeans>
<ram:ApplicableTradeTax><ram:CalculatedAmount>19.25</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode>
<ram:BasisAmount>275.00</ram:BasisAmount><ram:RateApplicablePercent>7.00</ram:RateApplicablePercent>
</ram:ApplicableTradeTax><ram:ApplicableTradeTax><ram:CalculatedAmount>37.62</ram:CalculatedAmount>
<ram:TypeCode>VAT</ram:TypeCode><ram:BasisAmount>198.00</ram:BasisAmount>
<ram:RateApplicablePercent>19.00</ram:RateApplicablePercent></ram:ApplicableTradeTax>
<ram:SpecifiedTradePaymentTerms><ram:DueDateDateTime><udt:DateTimeString format="102">20180404</udt:DateTimeString>
</ram:DueDateDateTime></ram:SpecifiedTradePaymentTerms>
<ram:SpecifiedTradeSettlementHeaderMonetarySummation><ram:LineTotalAmount>473.00</ram:LineTotalAmount>
<ram:TaxBasisTotalAmount>473.00</ram:TaxBasisTotalAmount>
<ram:TaxTotalAmount currencyID="GBP">50.00</ram:TaxTotalAmount>
<ram:TaxTotalAmount currencyID="EUR">56.87</ram:TaxTotalAmount>
<ram:GrandTotalAmount>{total}</ram:GrandTotalAmount><ram:TotalPrepaidAmount>29.87</ram:TotalPrepaidAmount>
<ram:DuePayableAmount>500.00</ram:DuePayableAmount></ram:SpecifiedTradeSettlementHeaderMonetarySummation>
</ram:ApplicableHeaderTradeSettlement></rsm:SupplyChainTradeTransaction></rsm:CrossIndustryInvoice>"""
CII = _CII.format(code="380", total="529.87").encode()
_UBL = """<?xml version="1.0" encoding="UTF-8"?>
<!-- as a supplier sends it -->
<{root} xmlns="urn:oasis:names:specification:ubl:schema:xsd:{root}-2"
 xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
 xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
<cbc:ID>Snippet1</cbc:ID><cbc:IssueDate>2017-11-13</cbc:IssueDate><cbc:DueDate>2017-12-01</cbc:DueDate>
<cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
<cac:AccountingSupplierParty><cac:Party><cac:PartyName><cbc:Name>SupplierTradingName Ltd.</cbc:Name></cac:PartyName>
<cac:PartyTaxScheme><cbc:CompanyID>GB1232434</cbc:CompanyID><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme>
</cac:PartyTaxScheme><cac:PartyLegalEntity><cbc:RegistrationName>SupplierOfficialName Ltd</cbc:RegistrationName>
</cac:PartyLegalEntity></cac:Party></cac:AccountingSupplierParty>
<cac:PaymentMeans><cac:PayeeFinancialAccount><cbc:ID>IBAN32423940</cbc:ID></cac:PayeeFinancialAccount></cac:PaymentMeans>
<cac:TaxTotal><cbc:TaxAmount currencyID="EUR">331.25</cbc:TaxAmount><cac:TaxSubtotal>
<cbc:TaxableAmount currencyID="EUR">1325</cbc:TaxableAmount><cbc:TaxAmount currencyID="EUR">331.25</cbc:TaxAmount>
<cac:TaxCategory><cbc:ID>S</cbc:ID><cbc:Percent>25.0</cbc:Percent></cac:TaxCategory></cac:TaxSubtotal></cac:TaxTotal>
<cac:LegalMonetaryTotal><cbc:LineExtensionAmount currencyID="EUR">1300</cbc:LineExtensionAmount>
<cbc:TaxExclusiveAmount currencyID="EUR">1325</cbc:TaxExclusiveAmount>
<cbc:TaxInclusiveAmount currencyID="EUR">1656.25</cbc:TaxInclusiveAmount>
<cbc:PayableAmount currencyID="EUR">1656.25</cbc:PayableAmount></cac:LegalMonetaryTotal></{root}>"""
UBL = _UBL.format(root="Invoice").encode()


def told(facts: Facts) -> tuple[str | None, ...]:
    days = facts.date, facts.due_date
    return (
        facts.reference,
        *days,
        facts.counterparty,
        facts.vat_number,
        facts.net,
        facts.vat,
        facts.total,
        facts.currency,
    )


OF_CII = ("471102", "2018-03-05", "2018-04-04", "Lieferant GmbH", "DE123456789", "473.00", "56.87", "529.87", "EUR")
OF_UBL = (
    *("Snippet1", "2017-11-13", "2017-12-01", "SupplierOfficialName Ltd", "GB1232434"),
    *("1325.00", "331.25", "1656.25", "EUR"),
)


def with_attachment(pdf: bytes, **attached: bytes) -> bytes:
    with pikepdf.open(io.BytesIO(pdf)) as document:
        for name, content in attached.items():
            document.attachments[name.replace("_", ".")] = pikepdf.AttachedFileSpec(document, content)
        body = io.BytesIO()
        document.save(body)
    return body.getvalue()


@pytest.mark.parametrize(("content", "facts"), [(CII, OF_CII), (UBL, OF_UBL)])
async def test_an_invoice_for_programs_is_read_exactly(read: Read, content: bytes, facts: tuple[str, ...]) -> None:
    found = await read(content, "invoice.xml", "application/xml")
    assert told(found.facts) == facts
    assert (found.engine, found.facts.kind, found.facts.source) == ("e-invoice", "invoice", "embedded")
    assert (found.facts.confidence, found.facts.confidences.total, found.facts.confidences.net) == (1.0, 1.0, 1.0)
    assert "<" not in found.pages[0].text
    assert facts[3] in found.pages[0].text


async def test_rates_and_what_is_still_to_be_paid_are_told(read: Read) -> None:
    facts = (await read(CII, "a")).facts
    assert facts.vat_parts == [
        VatPart(rate="7", net="275.00", vat="19.25"),
        VatPart(rate="19", net="198.00", vat="37.62"),
    ]
    assert (facts.amount_due, facts.bank_accounts) == ("500.00", ["DE02120300000000202051"])


async def test_the_invoice_in_a_pdf_goes_before_its_words(read: Read) -> None:
    pdf = with_attachment(files.pdf("Invoice number: B-7 Total due: 500.00 GBP"), note_txt=b"x", factur_x_xml=CII)
    found = await read(pdf, "bill.pdf")
    assert told(found.facts) == OF_CII
    assert found.pages[0].text.startswith("Invoice number"), "the words stay what is searched"
    by_mail = await read(files.mail("See attached", **{"bill.pdf": pdf}), "a.eml")
    assert told(by_mail.facts) == OF_CII


async def test_a_total_that_the_words_contradict_is_doubted(read: Read) -> None:
    words = "INVOICE Invoice number: 471102 Net 100.00 VAT 20.00 Total 120.00"
    facts = (await read(with_attachment(files.pdf(words), factur_x_xml=CII), "a.pdf")).facts
    assert (facts.total, facts.confidences.total, facts.confidences.reference) == ("529.87", 0.5, 1.0)


async def test_net_and_vat_that_do_not_come_to_the_total_are_not_told(read: Read) -> None:
    facts = (await read(_CII.format(code="380", total="530.00").encode(), "a.xml")).facts
    assert (facts.total, facts.net, facts.vat, facts.vat_parts) == ("530.00", None, None, [])


@pytest.mark.parametrize("content", [_CII.format(code="381", total="529.87"), _UBL.format(root="CreditNote")])
async def test_a_credit_note_asks_for_nothing(read: Read, content: str) -> None:
    facts = (await read(content.encode(), "a.xml")).facts
    assert (facts.kind, facts.source) == ("other", "embedded")


async def test_papers_made_here_are_read_back(read: Read) -> None:
    paper = CASES[next(iter(CASES))]
    answer = Typesetter().answer(Order(paper=paper, xml=cii.write(paper)))
    assert isinstance(answer, Set)
    of_pdf, of_ubl = (await read(answer.pdf, "a.pdf")).facts, (await read(ubl.write(paper), "a.xml")).facts
    assert (of_pdf.source, of_pdf.total, of_pdf.reference) == ("embedded", str(paper.gross_total), paper.number)
    assert told(of_ubl) == told(of_pdf)


# -- what strangers put in them

_BOMB = b"""<?xml version="1.0"?><!DOCTYPE Invoice [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID>&b;</ID></Invoice>"""
_FILE = _BOMB.replace(b'<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">', b'<!ENTITY b SYSTEM "file:///etc/hostname">')


def nested(depth: int) -> bytes:
    return UBL.replace(b"<cbc:ID>Snippet1</cbc:ID>", b"<x>" * depth + b"</x>" * depth)


@pytest.mark.parametrize(
    "content",
    [
        CII.replace(b"<rsm:CrossIndustryInvoice", b'<!DOCTYPE x [<!ENTITY e "x">]><rsm:CrossIndustryInvoice'),
        nested(60),
        nested(50_000),
        UBL.replace(b"<cbc:ID>Snippet1</cbc:ID>", b"<x/>" * 300_000),
        UBL.replace(b"<cbc:ID>Snippet1</cbc:ID>", b"<!-- " + b" " * BYTES_MAX + b"-->"),
        UBL[:-20],
        b"<Invoice>a shop's own</Invoice>",
    ],
)
async def test_what_no_invoice_is_like_is_read_as_text_at_most(read: Read, content: bytes) -> None:
    assert read_einvoice(content) is None
    assert (await read(content, "a.xml")).facts.source == "text"


@pytest.mark.parametrize("content", [_BOMB, _FILE])
def test_entities_are_never_expanded(content: bytes) -> None:
    assert read_einvoice(content) is None
    assert not is_einvoice(content)


@pytest.mark.parametrize(
    ("was", "is_", "total"),
    [
        ("529.87", "NaN", None),
        ("529.87", "1E9", None),
        ("529.87", "-529.87", "-529.87"),
        ("529.87", "5" * 30, None),
        ("529.87", " 529.87 ", "529.87"),
    ],
)
def test_an_amount_is_one_or_none(was: str, is_: str, total: str | None) -> None:
    found = read_einvoice(CII.replace(was.encode(), is_.encode()))
    assert found is not None
    assert found.total == total
