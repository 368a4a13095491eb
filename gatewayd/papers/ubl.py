"""An invoice as UBL 2.1 in the customization of Peppol BIS Billing 3. Pure.

Beyond EN 16931 it names an electronic address of both parties (PEPPOL-EN16931-R010, R020), a reference of the buyer
(R003), and has one note at most (R002). An address is the VAT number in the scheme of its country, else the address of
mail.
"""

from typing import Final
from xml.etree.ElementTree import Element

from gatewayd.papers import semantics
from gatewayd.papers.cii import TYPES, domestic_number
from gatewayd.papers.paper import BankDetails, Paper, PaperAddress, Party
from gatewayd.papers.semantics import EInvoice, Item, Tax
from gatewayd.papers.xml_text import add, add_known, root, written

CUSTOMIZATION: Final = "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"
PROFILE: Final = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
_COMMON: Final = "urn:oasis:names:specification:ubl:schema:xsd:Common"
_DOCUMENT: Final = "urn:oasis:names:specification:ubl:schema:xsd:"
_DISCOUNT: Final = "95"  # UNTDID 5189
_NO_REFERENCE: Final = "N/A"  # Chosen: where nobody gave one, which the customization asks for
SCHEMES: Final = {  # Electronic Address Scheme: VAT numbers by their first letters
    "AT": "9914",
    "BE": "9925",
    "BG": "9926",
    "CH": "9927",
    "CY": "9928",
    "CZ": "9929",
    "DE": "9930",
    "EE": "9931",
    "EL": "9933",
    "ES": "9920",
    "FR": "9957",
    "GB": "9932",
    "HR": "9934",
    "HU": "9910",
    "IE": "9935",
    "IT": "0211",
    "LT": "9937",
    "LU": "9938",
    "LV": "9939",
    "MT": "9943",
    "NL": "9944",
    "PL": "9945",
    "PT": "9946",
    "RO": "9947",
    "SI": "9949",
    "SK": "9950",
    "XI": "9932",
}


def endpoint(party: Party) -> tuple[str, str] | None:
    """Scheme and electronic address of a party; None: nothing is known that is one."""
    if party.vat_number is not None and (scheme := SCHEMES.get(party.vat_number[:2])) is not None:
        return scheme, party.vat_number
    return None if not party.email else ("EM", party.email)


def write(paper: Paper) -> bytes:
    """The XML of an invoice that `semantics.lacking` has nothing to say of, and whose parties have an `endpoint`."""
    assert paper.number is not None, "issued"
    told, is_credit = semantics.of_paper(paper), paper.kind == "credit_note"
    name = "CreditNote" if is_credit else "Invoice"
    namespaces = {
        "": f"{_DOCUMENT}{name}-2",
        "cac": f"{_COMMON}AggregateComponents-2",
        "cbc": f"{_COMMON}BasicComponents-2",
    }
    document = root(name, namespaces)
    _add_head(document, paper, told)
    _add_party(add(document, "cac:AccountingSupplierParty/cac:Party"), paper.seller, told, paper.look.trading_name)
    _add_party(add(document, "cac:AccountingCustomerParty/cac:Party"), paper.client, told, None)
    delivery = add(document, "cac:Delivery")
    add(delivery, "cbc:ActualDeliveryDate", paper.supply_date)
    add(delivery, "cac:DeliveryLocation/cac:Address/cac:Country/cbc:IdentificationCode", paper.client.country_code)
    if paper.bank is not None:
        _add_means(document, paper, paper.bank)
    terms = paper.terms or (f"Due on {paper.due_date}" if is_credit else None)
    add_known(document, "cac:PaymentTerms/cbc:Note", terms)
    _add_taxes(document, paper, told)
    _add_sums(document, paper, told)
    for item in told.items:
        _add_item(document, paper, item)
    return written(document)


def _add_head(document: Element, paper: Paper, told: EInvoice) -> None:
    is_credit = paper.kind == "credit_note"
    add(document, "cbc:CustomizationID", CUSTOMIZATION)
    add(document, "cbc:ProfileID", PROFILE)
    add(document, "cbc:ID", paper.number)
    add(document, "cbc:IssueDate", paper.issue_date)
    if not is_credit:
        add(document, "cbc:DueDate", paper.due_date)
    add(document, "cbc:CreditNoteTypeCode" if is_credit else "cbc:InvoiceTypeCode", TYPES[paper.kind])
    add_known(document, "cbc:Note", told.note)
    add(document, "cbc:DocumentCurrencyCode", paper.currency)
    if paper.vat_total_base is not None:
        add(document, "cbc:TaxCurrencyCode", paper.base_currency)
    if paper.reference or not paper.po_number:
        add(document, "cbc:BuyerReference", paper.reference or _NO_REFERENCE)
    add_known(document, "cac:OrderReference/cbc:ID", paper.po_number)
    if paper.credited is not None:
        credited = add(document, "cac:BillingReference/cac:InvoiceDocumentReference")
        add(credited, "cbc:ID", paper.credited.number)
        add(credited, "cbc:IssueDate", paper.credited.issue_date)


def _add_party(element: Element, party: Party, told: EInvoice, trading_name: str | None) -> None:
    reached = endpoint(party)
    assert reached is not None, "asked before"
    add(element, "cbc:EndpointID", reached[1], schemeID=reached[0])
    if party.vat_number is None and party.company_number is None:
        add(element, "cac:PartyIdentification/cbc:ID", party.key)
    add_known(element, "cac:PartyName/cbc:Name", trading_name)
    _add_address(add(element, "cac:PostalAddress"), party.address, party.country_code)
    if told.names_vat and party.vat_number is not None:
        tax = add(element, "cac:PartyTaxScheme")
        add(tax, "cbc:CompanyID", party.vat_number)
        add(tax, "cac:TaxScheme/cbc:ID", "VAT")
    legal = add(element, "cac:PartyLegalEntity")
    add(legal, "cbc:RegistrationName", party.name)
    add_known(legal, "cbc:CompanyID", party.company_number)
    add_known(element, "cac:Contact/cbc:Name", party.contact_name)


def _add_address(element: Element, address: PaperAddress | None, country_code: str) -> None:
    if address is not None:
        add_known(element, "cbc:StreetName", address.line1)
        add_known(element, "cbc:AdditionalStreetName", address.line2)
        add_known(element, "cbc:CityName", address.town)
        add_known(element, "cbc:PostalZone", address.postcode)
        add_known(element, "cbc:CountrySubentity", address.county)
    code = country_code if address is None else address.country_code
    add(element, "cac:Country/cbc:IdentificationCode", code)


def _add_means(document: Element, paper: Paper, bank: BankDetails) -> None:
    means = add(document, "cac:PaymentMeans")
    add(means, "cbc:PaymentMeansCode", "58" if bank.iban and paper.currency == "EUR" else "30")
    add_known(means, "cbc:PaymentID", paper.number)
    account = add(means, "cac:PayeeFinancialAccount")
    add(account, "cbc:ID", bank.iban or domestic_number(bank))
    add_known(account, "cbc:Name", bank.name)
    add_known(account, "cac:FinancialInstitutionBranch/cbc:ID", bank.bic)


def _add_taxes(document: Element, paper: Paper, told: EInvoice) -> None:
    total = add(document, "cac:TaxTotal")
    add(total, "cbc:TaxAmount", paper.vat_total, currencyID=paper.currency)
    for tax in told.taxes:
        part = add(total, "cac:TaxSubtotal")
        add(part, "cbc:TaxableAmount", tax.net, currencyID=paper.currency)
        add(part, "cbc:TaxAmount", tax.vat, currencyID=paper.currency)
        _add_category(add(part, "cac:TaxCategory"), tax)
    if paper.vat_total_base is not None:
        add(document, "cac:TaxTotal/cbc:TaxAmount", paper.vat_total_base, currencyID=paper.base_currency)


def _add_category(element: Element, tax: Tax | Item) -> None:
    add(element, "cbc:ID", tax.category)
    add_known(element, "cbc:Percent", tax.rate)
    if isinstance(tax, Tax):
        add_known(element, "cbc:TaxExemptionReasonCode", tax.reason_code)
        add_known(element, "cbc:TaxExemptionReason", tax.reason)
    add(element, "cac:TaxScheme/cbc:ID", "VAT")


def _add_sums(document: Element, paper: Paper, told: EInvoice) -> None:
    sums, currency = add(document, "cac:LegalMonetaryTotal"), paper.currency
    add(sums, "cbc:LineExtensionAmount", paper.net_total, currencyID=currency)
    add(sums, "cbc:TaxExclusiveAmount", paper.net_total, currencyID=currency)
    add(sums, "cbc:TaxInclusiveAmount", paper.gross_total, currencyID=currency)
    add_known(sums, "cbc:PrepaidAmount", told.deducted, currencyID=currency)
    add(sums, "cbc:PayableAmount", paper.payable, currencyID=currency)


def _add_item(document: Element, paper: Paper, item: Item) -> None:
    is_credit, currency = paper.kind == "credit_note", paper.currency
    line = add(document, "cac:CreditNoteLine" if is_credit else "cac:InvoiceLine")
    add(line, "cbc:ID", item.position)
    name = "cbc:CreditedQuantity" if is_credit else "cbc:InvoicedQuantity"
    add(line, name, f"{item.quantity:f}", unitCode=item.unit)
    add(line, "cbc:LineExtensionAmount", item.net, currencyID=currency)
    if item.off:
        allowance = add(line, "cac:AllowanceCharge")
        add(allowance, "cbc:ChargeIndicator", "false" if item.off > 0 else "true")
        if item.off > 0:
            add(allowance, "cbc:AllowanceChargeReasonCode", _DISCOUNT)
        add(allowance, "cbc:AllowanceChargeReason", "Discount")
        add(allowance, "cbc:Amount", f"{abs(item.off):f}", currencyID=currency)
    product = add(line, "cac:Item")
    if item.description != item.name:
        add_known(product, "cbc:Description", item.description)
    add(product, "cbc:Name", item.name)
    _add_category(add(product, "cac:ClassifiedTaxCategory"), item)
    price = add(line, "cac:Price")
    add(price, "cbc:PriceAmount", f"{item.price:f}", currencyID=currency)
    if item.base is not None:
        add(price, "cbc:BaseQuantity", f"{item.base:f}", unitCode=item.unit)
