"""What an issued document lacks of what its VAT codes ask for, and is issued all the same: the program cannot know it.

ni_eu_goods_zero                     the customer's VAT number of a member state (Notice 725)
reverse_charge_services_overseas,
export_goods_zero                    a customer elsewhere than in the United Kingdom
margin_scheme                        which scheme it is, in one of four references (VAT Regulations 1995 reg.
                                     14(1)(n)): of works of art, antiques or collectors' items, second-hand goods
                                     or tour operators

Beside them, letters that its PDF cannot print.
"""

from collections.abc import Iterable, Iterator

from gatewayd.areas.accounting.invoices.printable import unprintable
from gatewayd.areas.accounting.invoices.shapes import InvoiceRow, InvoiceWarning
from gatewayd.contract.countries import EUROPEAN_UNION
from gatewayd.contract.wire import Address

_MARGIN_REFERENCE = "margin scheme:"
"""How each of the four begins, in any letter case."""
_LETTERS_TOLD = 5  # Chosen: who reads it knows the text
_GREECE = "EL"  # of VAT numbers
_ABROAD = ("reverse_charge_services_overseas", "export_goods_zero")


def warnings(row: InvoiceRow, descriptions: Iterable[str]) -> Iterator[InvoiceWarning]:
    """What to tell of an invoice that was issued; nothing of a draft. `descriptions` are of its lines."""
    client = row.client_snapshot
    if client is None:
        return
    codes = {group.vat_code for group in row.vat_summary}
    if "ni_eu_goods_zero" in codes and (client.vat_number or "")[:2] not in EUROPEAN_UNION | {_GREECE}:
        message = "Goods from Northern Ireland are zero-rated to a client with an EU VAT number: it has no such one."
        yield InvoiceWarning(path="clientSnapshot.vatNumber", code="client_vat_number_missing", message=message)
    if client.country_code == "GB" and not codes.isdisjoint(_ABROAD):
        message = "A line is charged as to a client elsewhere, and the client is in the United Kingdom."
        yield InvoiceWarning(path="clientSnapshot.countryCode", code="client_in_united_kingdom", message=message)
    if "margin_scheme" in codes and not _names_margin_scheme(row.notes, descriptions):
        message = (
            "An invoice under a margin scheme says which: put `Margin scheme: second-hand goods`, or works of art,"
            " antiques or collectors' items, or tour operators, into `notes` or a description."
        )
        yield InvoiceWarning(path="notes", code="margin_scheme_unnamed", message=message)


def print_warnings(row: InvoiceRow, descriptions: Iterable[str]) -> Iterator[InvoiceWarning]:
    """What to tell of letters that the PDF of an invoice that was issued cannot print; nothing of a draft."""
    client, seller = row.client_snapshot, row.seller_snapshot
    if client is None or seller is None:
        return
    texts: dict[str, list[str | None]] = {
        "clientSnapshot": [client.name, client.contact_name, *_lines(client.billing_address)],
        "sellerSnapshot": [seller.name, *_lines(seller.address)],
        "lines": list(descriptions),
        "notes": [row.notes],
        "terms": [row.terms],
        "reference": [row.reference, row.po_number],
    }
    for path, each in texts.items():
        if letters := unprintable(each):
            message = (
                f"The PDF has no glyphs for {', '.join(letters[:_LETTERS_TOLD])}: it prints boxes there, and has no"
                " electronic invoice attached. `accounting.getInvoiceXml` gives that."
            )
            yield InvoiceWarning(path=path, code="letters_unprintable", message=message)


def _lines(address: Address | None) -> list[str | None]:
    return [] if address is None else [address.line1, address.line2, address.town, address.county, address.postcode]


def _names_margin_scheme(notes: str | None, descriptions: Iterable[str]) -> bool:
    """Whether the seller wrote which margin scheme it is."""
    return any(_MARGIN_REFERENCE in text.casefold() for text in (notes or "", *descriptions))
