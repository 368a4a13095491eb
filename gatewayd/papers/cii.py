"""An invoice as UN/CEFACT Cross Industry Invoice D22B: Factur-X 1.0 in the profile EN 16931. Pure."""

from typing import Final
from xml.etree.ElementTree import Element

from gatewayd.papers import semantics
from gatewayd.papers.paper import BankDetails, Paper, PaperAddress, Party, is_nil
from gatewayd.papers.semantics import EInvoice, Item, Tax
from gatewayd.papers.xml_text import add, add_known, root, written

FILE_NAME: Final = "factur-x.xml"
PROFILE: Final = "urn:cen.eu:en16931:2017"
_NAMESPACES: Final = {
    "rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "qdt": "urn:un:unece:uncefact:data:standard:QualifiedDataType:100",
    "udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
}
TYPES: Final = {"invoice": "380", "credit_note": "381"}  # UNTDID 1001
_DISCOUNT: Final = "95"  # UNTDID 5189
_DAY: Final = "102"  # a date as YYYYMMDD


def write(paper: Paper) -> bytes:
    """The XML of an invoice that `semantics.lacking` has nothing to say of."""
    assert paper.number is not None, "issued"
    told = semantics.of_paper(paper)
    document = root("rsm:CrossIndustryInvoice", _NAMESPACES)
    add(document, "rsm:ExchangedDocumentContext/ram:GuidelineSpecifiedDocumentContextParameter/ram:ID", PROFILE)
    head = add(document, "rsm:ExchangedDocument")
    add(head, "ram:ID", paper.number)
    add(head, "ram:TypeCode", TYPES[paper.kind])
    _add_day(head, "ram:IssueDateTime/udt:DateTimeString", paper.issue_date)
    add_known(head, "ram:IncludedNote/ram:Content", told.note)
    transaction = add(document, "rsm:SupplyChainTradeTransaction")
    for item in told.items:
        _add_item(transaction, item)
    _add_agreement(transaction, paper, told)
    _add_delivery(transaction, paper)
    _add_settlement(transaction, paper, told)
    return written(document)


def _add_day(parent: Element, path: str, day: str) -> None:
    add(parent, path, day.replace("-", ""), format=_DAY)


def _add_item(parent: Element, item: Item) -> None:
    line = add(parent, "ram:IncludedSupplyChainTradeLineItem")
    add(line, "ram:AssociatedDocumentLineDocument/ram:LineID", item.position)
    product = add(line, "ram:SpecifiedTradeProduct")
    add(product, "ram:Name", item.name)
    if item.description != item.name:
        add_known(product, "ram:Description", item.description)
    price = add(line, "ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice")
    add(price, "ram:ChargeAmount", f"{item.price:f}")
    if item.base is not None:
        add(price, "ram:BasisQuantity", f"{item.base:f}", unitCode=item.unit)
    add(line, "ram:SpecifiedLineTradeDelivery/ram:BilledQuantity", f"{item.quantity:f}", unitCode=item.unit)
    settlement = add(line, "ram:SpecifiedLineTradeSettlement")
    tax = add(settlement, "ram:ApplicableTradeTax")
    add(tax, "ram:TypeCode", "VAT")
    add(tax, "ram:CategoryCode", item.category)
    add_known(tax, "ram:RateApplicablePercent", item.rate)
    if item.off:
        allowance = add(settlement, "ram:SpecifiedTradeAllowanceCharge")
        add(allowance, "ram:ChargeIndicator/udt:Indicator", "false" if item.off > 0 else "true")
        add(allowance, "ram:ActualAmount", f"{abs(item.off):f}")
        if item.off > 0:
            add(allowance, "ram:ReasonCode", _DISCOUNT)
        add(allowance, "ram:Reason", "Discount")
    add(settlement, "ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount", item.net)


def _add_agreement(parent: Element, paper: Paper, told: EInvoice) -> None:
    agreement = add(parent, "ram:ApplicableHeaderTradeAgreement")
    add_known(agreement, "ram:BuyerReference", paper.reference)
    _add_party(add(agreement, "ram:SellerTradeParty"), paper.seller, told, paper.look.trading_name)
    _add_party(add(agreement, "ram:BuyerTradeParty"), paper.client, told, None)
    add_known(agreement, "ram:BuyerOrderReferencedDocument/ram:IssuerAssignedID", paper.po_number)


def _add_party(element: Element, party: Party, told: EInvoice, trading_name: str | None) -> None:
    if party.vat_number is None and party.company_number is None:
        add(element, "ram:ID", party.key)  # BR-CO-26: something names the seller
    add(element, "ram:Name", party.name)
    if party.company_number or trading_name:
        organization = add(element, "ram:SpecifiedLegalOrganization")
        add_known(organization, "ram:ID", party.company_number)
        add_known(organization, "ram:TradingBusinessName", trading_name)
    add_known(element, "ram:DefinedTradeContact/ram:PersonName", party.contact_name)
    _add_address(add(element, "ram:PostalTradeAddress"), party.address, party.country_code)
    add_known(element, "ram:URIUniversalCommunication/ram:URIID", party.email, schemeID="EM")
    if told.names_vat:
        add_known(element, "ram:SpecifiedTaxRegistration/ram:ID", party.vat_number, schemeID="VA")


def _add_address(element: Element, address: PaperAddress | None, country_code: str) -> None:
    if address is not None:
        add_known(element, "ram:PostcodeCode", address.postcode)
        add_known(element, "ram:LineOne", address.line1)
        add_known(element, "ram:LineTwo", address.line2)
        add_known(element, "ram:CityName", address.town)
    add(element, "ram:CountryID", country_code if address is None else address.country_code)
    if address is not None:
        add_known(element, "ram:CountrySubDivisionName", address.county)


def _add_delivery(parent: Element, paper: Paper) -> None:
    delivery = add(parent, "ram:ApplicableHeaderTradeDelivery")
    _add_address(add(delivery, "ram:ShipToTradeParty/ram:PostalTradeAddress"), None, paper.client.country_code)
    _add_day(
        delivery, "ram:ActualDeliverySupplyChainEvent/ram:OccurrenceDateTime/udt:DateTimeString", paper.supply_date
    )


def _add_settlement(parent: Element, paper: Paper, told: EInvoice) -> None:
    settlement = add(parent, "ram:ApplicableHeaderTradeSettlement")
    add_known(settlement, "ram:PaymentReference", paper.number)
    if paper.vat_total_base is not None:
        add(settlement, "ram:TaxCurrencyCode", paper.base_currency)
    add(settlement, "ram:InvoiceCurrencyCode", paper.currency)
    if paper.bank is not None:
        _add_means(settlement, paper.bank, paper.currency)
    for tax in told.taxes:
        _add_tax(settlement, tax)
    terms = add(settlement, "ram:SpecifiedTradePaymentTerms")
    add_known(terms, "ram:Description", paper.terms)
    _add_day(terms, "ram:DueDateDateTime/udt:DateTimeString", paper.due_date)
    _add_sums(settlement, paper, told)
    if paper.credited is not None:
        credited = add(settlement, "ram:InvoiceReferencedDocument")
        add(credited, "ram:IssuerAssignedID", paper.credited.number)
        _add_day(credited, "ram:FormattedIssueDateTime/qdt:DateTimeString", paper.credited.issue_date)


def _add_means(parent: Element, bank: BankDetails, currency: str) -> None:
    """A credit transfer, by SEPA where it is of euros to an IBAN (UNTDID 4461)."""
    means = add(parent, "ram:SpecifiedTradeSettlementPaymentMeans")
    add(means, "ram:TypeCode", "58" if bank.iban and currency == "EUR" else "30")
    account = add(means, "ram:PayeePartyCreditorFinancialAccount")
    add_known(account, "ram:IBANID", bank.iban)
    add_known(account, "ram:AccountName", bank.name)
    if bank.iban is None:
        add(account, "ram:ProprietaryID", domestic_number(bank))
    add_known(means, "ram:PayeeSpecifiedCreditorFinancialInstitution/ram:BICID", bank.bic)


def domestic_number(bank: BankDetails) -> str:
    """Sort code and account number in one, as no element of the standard has a sort code."""
    return f"{bank.sort_code or ''}{bank.account_number or ''}"


def _add_tax(parent: Element, tax: Tax) -> None:
    element = add(parent, "ram:ApplicableTradeTax")
    add(element, "ram:CalculatedAmount", tax.vat)
    add(element, "ram:TypeCode", "VAT")
    add_known(element, "ram:ExemptionReason", tax.reason)
    add(element, "ram:BasisAmount", tax.net)
    add(element, "ram:CategoryCode", tax.category)
    add_known(element, "ram:ExemptionReasonCode", tax.reason_code)
    add_known(element, "ram:RateApplicablePercent", tax.rate)


def _add_sums(parent: Element, paper: Paper, told: EInvoice) -> None:
    sums = add(parent, "ram:SpecifiedTradeSettlementHeaderMonetarySummation")
    add(sums, "ram:LineTotalAmount", paper.net_total)
    add(sums, "ram:TaxBasisTotalAmount", paper.net_total)
    add(sums, "ram:TaxTotalAmount", paper.vat_total, currencyID=paper.currency)
    if paper.vat_total_base is not None:
        add(sums, "ram:TaxTotalAmount", paper.vat_total_base, currencyID=paper.base_currency)
    add(sums, "ram:GrandTotalAmount", paper.gross_total)
    if told.deducted is not None and not is_nil(told.deducted):
        add(sums, "ram:TotalPrepaidAmount", told.deducted)
    add(sums, "ram:DuePayableAmount", paper.payable)
