"""E-invoices of the European standard EN 16931: UN/CEFACT CII and UBL 2.1, as files or attached to PDF (Factur-X).

What such an invoice says of itself is read exactly. Elements are found by their names in whichever namespace: those of
ZUGFeRD 1 and of Factur-X differ. The terms of the standard (BT-…) are beside each. Nothing of a stranger's file is
expanded: a document type is refused, and size, depth and number of elements are bounded.
"""

import io
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Final
from xml.etree.ElementTree import Element

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, iterparse
from msgspec import Struct
from msgspec.structs import replace

from gatewayd.extraction.shapes import Confidences, Facts, VatPart

BYTES_MAX: Final = 8 * 1024 * 1024  # Chosen: thousands of lines
_DEPTH_MAX, _ELEMENTS_MAX = 48, 200_000
_TEXT_MAX: Final = 200
_RATES_MAX: Final = 20
_ROOT = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,4000}-->\s*)*"
    rb"<(?:[\w.-]{1,40}:)?(?:CrossIndustry(?:Invoice|Document)|Invoice|CreditNote)[\s>]"
)
_SPACES: Final = (b"urn:un:unece:uncefact", b"urn:ferd:CrossIndustryDocument", b"urn:oasis:names:specification:ubl")
_CREDIT_NOTES: Final = frozenset({"381", "396", "261", "262", "83", "81", "308"})
"""UNTDID 1001, of those that EN 16931 allows: what takes back rather than asks."""
_DAY = re.compile(r"(?P<year>\d{4})-?(?P<month>\d{2})-?(?P<day>\d{2})")


class EInvoice(Struct, frozen=True, kw_only=True):
    """What an invoice says of itself. Amounts are decimals, days ISO 8601; None: it does not say."""

    is_credit_note: bool
    number: str | None  # BT-1
    date: str | None  # BT-2
    due_date: str | None  # BT-9
    currency: str | None  # BT-5
    seller: str | None  # BT-27
    vat_number: str | None  # BT-31
    account: str | None  # BT-84
    net: str | None  # BT-109
    vat: str | None  # BT-110
    total: str | None  # BT-112
    amount_due: str | None  # BT-115
    parts: list[VatPart]  # BG-23
    text: str


def is_einvoice(head: bytes) -> bool:
    """Whether a file that begins so is one."""
    return bool(_ROOT.match(head.removeprefix(b"\xef\xbb\xbf"))) and any(space in head for space in _SPACES)


def read_einvoice(content: bytes) -> EInvoice | None:
    """The invoice; None: it is none, is broken, or larger than any is."""
    if len(content) > BYTES_MAX or not is_einvoice(content[:4096]):
        return None
    try:
        root = _tree(content)
    except (DefusedXmlException, ParseError, ValueError):
        return None
    match _name(root):
        case "CrossIndustryInvoice" | "CrossIndustryDocument":
            return _of_cii(root)
        case "Invoice" | "CreditNote":
            return _of_ubl(root)
        case _:
            return None


def _tree(content: bytes) -> Element:
    """The elements. Raises `ValueError` where there are too many, or too deep."""
    depth = count = 0
    root: Element | None = None
    for event, element in iterparse(io.BytesIO(content), events=("start", "end"), forbid_dtd=True):
        root = element if root is None else root
        depth, count = depth + (1 if event == "start" else -1), count + 1
        if depth > _DEPTH_MAX or count > 2 * _ELEMENTS_MAX:
            raise ValueError
    if root is None:
        raise ValueError
    return root


# -- CII


def _of_cii(root: Element) -> EInvoice:
    trade = _first(root, "SupplyChainTradeTransaction", "SpecifiedSupplyChainTradeTransaction")
    document = _first(root, "ExchangedDocument", "HeaderExchangedDocument")
    agreement = _first(trade, "ApplicableHeaderTradeAgreement", "ApplicableSupplyChainTradeAgreement")
    settlement = _first(trade, "ApplicableHeaderTradeSettlement", "ApplicableSupplyChainTradeSettlement")
    names = ("SpecifiedTradeSettlementHeaderMonetarySummation", "SpecifiedTradeSettlementMonetarySummation")
    sums, currency = _first(settlement, *names), _text(settlement, "InvoiceCurrencyCode")
    account = "SpecifiedTradeSettlementPaymentMeans/PayeePartyCreditorFinancialAccount"
    return EInvoice(
        is_credit_note=_text(document, "TypeCode") in _CREDIT_NOTES,
        number=_text(document, "ID"),
        date=_day(_text(document, "IssueDateTime/DateTimeString")),
        due_date=_day(_text(settlement, "SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString")),
        currency=currency,
        seller=_text(agreement, "SellerTradeParty/Name"),
        vat_number=_scheme(agreement, "SellerTradeParty/SpecifiedTaxRegistration/ID", "VA"),
        account=_text(settlement, f"{account}/IBANID") or _text(settlement, f"{account}/ProprietaryID"),
        net=_amount(_text(sums, "TaxBasisTotalAmount")),
        vat=_amount(_in_currency(sums, "TaxTotalAmount", currency)),
        total=_amount(_text(sums, "GrandTotalAmount")),
        amount_due=_amount(_text(sums, "DuePayableAmount")),
        parts=_parts(settlement, "ApplicableTradeTax", ("RateApplicablePercent", "BasisAmount", "CalculatedAmount")),
        text=_shown(root),
    )


def _scheme(parent: Element | None, path: str, scheme: str) -> str | None:
    found = (element for element in _all(parent, path) if element.get("schemeID") == scheme)
    return next((_clean(element.text) for element in found), None)


# -- UBL


def _of_ubl(root: Element) -> EInvoice:
    party = _first(root, "AccountingSupplierParty/Party")
    sums, currency = _first(root, "LegalMonetaryTotal"), _text(root, "DocumentCurrencyCode")
    schemes = (each for each in _all(party, "PartyTaxScheme") if _text(each, "TaxScheme/ID") == "VAT")
    totals = [each for each in _all(root, "TaxTotal") if _all(each, "TaxSubtotal")] or _all(root, "TaxTotal")
    tax = totals[0] if totals else None
    code = _text(root, "InvoiceTypeCode") or _text(root, "CreditNoteTypeCode")
    return EInvoice(
        is_credit_note=_name(root) == "CreditNote" or code in _CREDIT_NOTES,
        number=_text(root, "ID"),
        date=_day(_text(root, "IssueDate")),
        due_date=_day(_text(root, "DueDate") or _text(root, "PaymentMeans/PaymentDueDate")),
        currency=currency,
        seller=_text(party, "PartyLegalEntity/RegistrationName") or _text(party, "PartyName/Name"),
        vat_number=next((_text(each, "CompanyID") for each in schemes), None),
        account=_text(root, "PaymentMeans/PayeeFinancialAccount/ID"),
        net=_amount(_text(sums, "TaxExclusiveAmount")),
        vat=_amount(_in_currency(tax, "TaxAmount", currency)),
        total=_amount(_text(sums, "TaxInclusiveAmount")),
        amount_due=_amount(_text(sums, "PayableAmount")),
        parts=_parts(tax, "TaxSubtotal", ("TaxCategory/Percent", "TaxableAmount", "TaxAmount")),
        text=_shown(root),
    )


# -- what both have


def _parts(parent: Element | None, path: str, names: tuple[str, str, str]) -> list[VatPart]:
    found: list[VatPart] = []
    for element in _all(parent, path)[:_RATES_MAX]:
        rate, net, vat = (_text(element, name) for name in names)
        if (net := _amount(net)) is not None and (vat := _amount(vat)) is not None:
            found.append(VatPart(rate=_rate(rate), net=net, vat=vat))
    return found


def _rate(text: str | None) -> str:
    """A rate without noughts behind its decimals; none is told where no VAT is charged."""
    try:
        rate = Decimal(text or "0").normalize()
    except InvalidOperation:
        return "0"
    return f"{rate:f}" if rate.is_finite() else "0"


def _in_currency(parent: Element | None, path: str, currency: str | None) -> str | None:
    """The amount of that currency: VAT may stand there once more, in that of the accounts (BT-111)."""
    found = _all(parent, path)
    of_it = [element for element in found if element.get("currencyID") in (currency, None)]
    return _clean(of_it[0].text) if of_it else None


def _amount(text: str | None) -> str | None:
    """An amount with two decimals at least; None: it is none."""
    if text is None or not re.fullmatch(r"-?\d{1,15}(?:\.\d{1,4})?", text):
        return None
    amount = Decimal(text)
    return str(amount.quantize(Decimal("0.01"))) if amount == round(amount, 2) else str(amount)


def _day(text: str | None) -> str | None:
    """A day as ISO 8601, of either form; whether there is such a day is asked where it is stored."""
    match = _DAY.match(text or "")
    return None if match is None else f"{match['year']}-{match['month']}-{match['day']}"


def _path(path: str) -> str:
    return "/".join(f"{{*}}{name}" for name in path.split("/"))


def _first(parent: Element | None, *paths: str) -> Element | None:
    if parent is None:
        return None
    found = (parent.find(_path(path)) for path in paths)
    return next((element for element in found if element is not None), None)


def _all(parent: Element | None, path: str) -> list[Element]:
    return [] if parent is None else parent.findall(_path(path))


def _text(parent: Element | None, path: str) -> str | None:
    element = _first(parent, path)
    return None if element is None else _clean(element.text)


def _clean(text: str | None) -> str | None:
    return " ".join((text or "").split())[:_TEXT_MAX] or None


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _shown(root: Element) -> str:
    """The words of an invoice, a line for each element that has any: what search finds, and a person can read."""
    return "\n".join(f"{_name(element)}: {text}" for element in root.iter() if (text := _clean(element.text)))


# -- facts


def facts_of(read: Facts, told: EInvoice) -> Facts:
    """What is known of a document whose text says what was read, and which has an e-invoice.

    Chosen: the e-invoice counts, as programs are meant to read it; where its total is another than the one that is
    printed, its confidence is a half, for one of them is wrong.
    """
    agrees = told.total is not None and _sum(told) in (None, Decimal(told.total))
    net, vat = (told.net, told.vat or "0.00") if agrees and told.net is not None else (None, None)
    facts = replace(
        read,
        kind="other" if told.is_credit_note else "invoice",
        date=told.date,
        due_date=told.due_date,
        total=told.total,
        net=net,
        vat=vat,
        vat_parts=told.parts if agrees else [],
        amount_due=told.amount_due,
        currency=told.currency,
        counterparty=told.seller,
        vat_number=told.vat_number,
        reference=told.number,
        source="embedded",
        confidence=1.0,
        certificate=None,
        senders=[told.seller] if told.seller else [],
        vat_numbers=[told.vat_number] if told.vat_number else [],
        bank_accounts=[told.account.replace(" ", "")] if told.account else [],
    )
    sure = {name: 1.0 for name in Confidences.__struct_fields__ if getattr(facts, name) is not None}
    if read.net is not None and read.total is not None and told.total is not None and read.total != told.total:
        sure["total"] = 0.5
    return replace(facts, confidences=Confidences(**sure))


def _sum(told: EInvoice) -> Decimal | None:
    """Net and VAT together (BR-CO-15); None: no net is told."""
    return None if told.net is None else Decimal(told.net) + Decimal(told.vat or "0")


def attached(files: Iterator[tuple[str, bytes]]) -> EInvoice | None:
    """The first e-invoice among the files that a PDF has, by their names and bytes."""
    invoices = (read_einvoice(content) for name, content in files if name.lower().endswith(".xml"))
    return next((invoice for invoice in invoices if invoice is not None), None)
