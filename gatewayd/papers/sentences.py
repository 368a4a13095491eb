"""What a paper says of the VAT of its lines, by their codes (Domain C4.7).

domestic reverse charge   that it applies, the rate or the VAT, and that the customer accounts for it (VATREVCON37100)
services overseas         `Reverse charge` (Directive 2006/112/EC Article 226(11a), Notice 741A)
goods from NI to the EU   that the supply is zero-rated between member states (Notice 725)
margin schemes            which one it is (VAT Regulations 1995 reg. 14(1)(n)), where the seller did not write it
"""

from collections.abc import Iterator
from typing import Final

from gatewayd.papers.paper import Paper

LABELS: Final = {
    "standard": "Standard rate",
    "reduced": "Reduced rate",
    "zero": "Zero-rated",
    "exempt": "Exempt",
    "outside_scope": "Outside the scope of VAT",
    "reverse_charge_domestic_standard": "Reverse charge",
    "reverse_charge_domestic_reduced": "Reverse charge",
    "reverse_charge_services_overseas": "Reverse charge",
    "export_goods_zero": "Export, zero-rated",
    "ni_eu_goods_zero": "NI to EU, zero-rated",
    "margin_scheme": "Margin scheme",
}
_DOMESTIC: Final = ("reverse_charge_domestic_standard", "reverse_charge_domestic_reduced")
OVERSEAS: Final = "Reverse charge: the customer accounts for any VAT in their own country."
EXPORT: Final = "Goods exported: zero-rated."
NI_TO_EU: Final = (
    "Intra-Community supply of goods from Northern Ireland: zero-rated; the customer accounts for acquisition VAT."
)
MARGIN: Final = "Margin scheme. This invoice shows no VAT, and none can be claimed on it."
_MARGIN_REFERENCE: Final = "margin scheme:"  # of works of art, second-hand goods and so on: only the seller knows


def of_paper(paper: Paper) -> list[str]:
    """The sentences, each once, in the order of the VAT summary."""
    return list(dict.fromkeys(_each(paper)))


def _each(paper: Paper) -> Iterator[str]:
    for group in paper.groups:
        if group.vat_code in _DOMESTIC:
            yield (
                f"Reverse charge: VAT Act 1994 section 55A applies. Customer to account to HMRC for VAT of"
                f" {paper.currency} {group.vat} at {group.rate}%."
            )
        elif group.vat_code == "reverse_charge_services_overseas":
            yield OVERSEAS
        elif group.vat_code == "export_goods_zero":
            yield EXPORT
        elif group.vat_code == "ni_eu_goods_zero":
            yield NI_TO_EU
        elif group.vat_code == "margin_scheme" and not _names_margin_scheme(paper):
            yield MARGIN


def _names_margin_scheme(paper: Paper) -> bool:
    texts = (paper.notes or "", *(line.description for line in paper.lines))
    return any(_MARGIN_REFERENCE in text.casefold() for text in texts)
