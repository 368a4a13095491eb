"""An invoice in the terms of EN 16931, which both of its syntaxes write: categories, lines and sums (Decision 0042).

    S   a rate above 0     Z   zero     E   exempt     AE  reverse charge    G  export   K  NI goods to the EU
    O   not subject to VAT, of a seller without a VAT number; nothing else may stand beside it (BR-O-11 to 14), so that
        with one what is outside the scope is E, with its reason

What is charged or taken off stands with each line: net amounts are those of the invoice, and so are all sums. A price
with VAT in it is told as the net of the whole quantity. A deduction under the Construction Industry Scheme counts as
paid (BT-113), so that what is due is what comes.
"""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import Final, Literal, NamedTuple

from gatewayd.papers import sentences
from gatewayd.papers.paper import Paper, PaperGroup, PaperLine, is_nil
from gatewayd.papers.xml_text import clean

Category = Literal["S", "Z", "E", "AE", "G", "K", "O"]
MOST_FRACTION_DIGITS: Final = 2  # BR-DEC-01 and the others

_REASONS: Final[dict[str, str]] = {
    "exempt": "Exempt from VAT",
    "outside_scope": "Outside the scope of VAT",
    "reverse_charge_domestic_standard": "Reverse charge",
    "reverse_charge_domestic_reduced": "Reverse charge",
    "reverse_charge_services_overseas": "Reverse charge",
    "export_goods_zero": "Export of goods",
    "ni_eu_goods_zero": "Intra-Community supply",
    "margin_scheme": "Margin scheme",
}
_REASON_CODES: Final[dict[Category, str]] = {
    "AE": "VATEX-EU-AE",
    "G": "VATEX-EU-G",
    "K": "VATEX-EU-IC",
    "O": "VATEX-EU-O",
}
_CATEGORIES: Final[dict[str, Category]] = {
    "standard": "S",
    "reduced": "S",
    "zero": "Z",
    "exempt": "E",
    "outside_scope": "E",
    "reverse_charge_domestic_standard": "AE",
    "reverse_charge_domestic_reduced": "AE",
    "reverse_charge_services_overseas": "AE",
    "export_goods_zero": "G",
    "ni_eu_goods_zero": "K",
    "margin_scheme": "E",
}
_UNITS: Final = {  # UN/ECE Recommendation 20
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "h"), "HUR"),
    **dict.fromkeys(("day", "days", "d"), "DAY"),
    **dict.fromkeys(("week", "weeks"), "WEE"),
    **dict.fromkeys(("month", "months"), "MON"),
    **dict.fromkeys(("year", "years"), "ANN"),
    **dict.fromkeys(("minute", "minutes", "min"), "MIN"),
    **dict.fromkeys(("kg", "kilogram", "kilograms"), "KGM"),
    **dict.fromkeys(("m", "metre", "metres"), "MTR"),
    **dict.fromkeys(("m2", "sqm", "square metre", "square metres"), "MTK"),
    **dict.fromkeys(("km", "kilometre", "kilometres"), "KMT"),
    **dict.fromkeys(("mile", "miles"), "SMI"),
    **dict.fromkeys(("l", "litre", "litres"), "LTR"),
    **dict.fromkeys(("t", "tonne", "tonnes"), "TNE"),
}
_OTHER_UNIT: Final = "C62"  # one
_MOST_OFF: Final = Decimal("0.99")  # less than 1, to which the rule rounds
_NAMELESS: Final = "Item"  # Chosen: an item has a name (BR-25), and what was sold may be told in signs that XML lacks
_NAME_CHARACTERS: Final = 120  # Chosen: of the name of an item; the description has all of it


class Item(NamedTuple):
    """One line. `price` is of `base` units. `off` is taken off it, or where negative charged; in major units."""

    position: str
    name: str
    description: str
    quantity: Decimal
    unit: str
    price: Decimal
    base: Decimal | None
    off: Decimal
    net: str
    category: Category
    rate: str | None


class Tax(NamedTuple):
    """One breakdown of VAT. `rate` is percent; None: none is told. `reason` and its code are of what bears no VAT."""

    category: Category
    rate: str | None
    net: str
    vat: str
    reason: str | None
    reason_code: str | None


class EInvoice(NamedTuple):
    """What both syntaxes write beside the paper. `names_vat`: whether VAT numbers may stand on it (BR-O-02)."""

    items: list[Item]
    taxes: list[Tax]
    names_vat: bool
    note: str | None
    deducted: str | None


def of_paper(paper: Paper) -> EInvoice:
    """The invoice in the terms of the standard. See `lacking` for what cannot be told so."""
    return EInvoice(
        items=[_item(paper, line) for line in paper.lines],
        taxes=_taxes(paper),
        names_vat=paper.seller.vat_number is not None,
        note=_note(paper),
        deducted=None if is_nil(paper.cis_deduction) else paper.cis_deduction,
    )


def lacking(paper: Paper) -> str | None:
    """Why an invoice cannot be told in the terms of the standard, as a sentence; None: it can."""
    if paper.mark or paper.number is None:
        return "It is not an invoice: only one that is issued and not void has an electronic form."
    if paper.exponent > MOST_FRACTION_DIGITS:
        return f"Amounts of an electronic invoice have two fraction digits, and those of {paper.currency} have three."
    if any(_is_far(tax) for tax in _taxes(paper)):
        return (
            "Its VAT was rounded on each line, and is further from the rate of their sum than EN 16931 allows"
            " (BR-CO-17): `vatRounding` total would not be."
        )
    return None


def _is_far(tax: Tax) -> bool:
    """Whether the VAT is a whole unit or more from what the rate makes of the sum: yen, on many lines."""
    exact = Decimal(tax.net) * Decimal(tax.rate or 0) / 100
    return tax.category == "S" and abs(Decimal(tax.vat) - exact) >= _MOST_OFF


def category_of(paper: Paper, code: str) -> Category:
    """The category of a VAT code, as far as who buys is known well enough for it (BR-AE-02, BR-IC-02)."""
    if paper.seller.vat_number is None:
        return "O"
    category = _CATEGORIES[code]
    client = paper.client
    if category == "AE" and client.vat_number is None and client.company_number is None:
        return "E"
    if category == "K" and client.vat_number is None:
        return "Z"
    return category


def _taxes(paper: Paper) -> list[Tax]:
    """One for each category and rate: what has none of either is told together."""
    grouped: dict[tuple[Category, str | None], list[PaperGroup]] = {}
    for group in paper.groups:
        category = category_of(paper, group.vat_code)
        grouped.setdefault((category, _rate(category, group.rate)), []).append(group)
    taxes = []
    for (category, rate), groups in grouped.items():
        reasons = dict.fromkeys(_REASONS[group.vat_code] for group in groups if group.vat_code in _REASONS)
        if category == "O":
            reasons = {"Not subject to VAT": None}
        bears = category in ("S", "Z")
        taxes.append(
            Tax(
                category=category,
                rate=rate,
                net=_sum(paper, [group.net for group in groups]),
                vat=_sum(paper, [group.vat for group in groups] if category == "S" else []),
                reason=None if bears else "; ".join(reasons),
                reason_code=_REASON_CODES.get(category),
            )
        )
    return taxes


def _rate(category: Category, rate: str) -> str | None:
    if category == "S":
        return rate
    return None if category == "O" else "0"


def _sum(paper: Paper, amounts: list[str]) -> str:
    return str(sum(map(Decimal, amounts), Decimal(0).scaleb(-paper.exponent)))


def _item(paper: Paper, line: PaperLine) -> Item:
    category = category_of(paper, line.vat_code)
    quantity, price, base, off = _priced(paper, line)
    name, _, _ = clean(line.description).partition("\n")
    return Item(
        position=str(line.position),
        name=name[:_NAME_CHARACTERS].strip() or _NAMELESS,
        description=line.description,
        quantity=quantity,
        unit=_UNITS.get((line.unit or "").strip().lower(), _OTHER_UNIT),
        price=price,
        base=base,
        off=off,
        net=line.net,
        category=category,
        rate=_rate(category, line.rate),
    )


def _priced(paper: Paper, line: PaperLine) -> tuple[Decimal, Decimal, Decimal | None, Decimal]:
    """Quantity, price, the quantity it is of, and what is off. No price is below 0 (BR-27): the quantity is instead."""
    quantity, net, nothing = Decimal(line.quantity), Decimal(line.net), Decimal(0)
    if paper.amounts_are == "inclusive" and not is_nil(line.quantity):
        return quantity.copy_sign(net) if net else abs(quantity), abs(net), abs(quantity), nothing
    price = Decimal(line.unit_price)
    full = (quantity * price).quantize(Decimal(1).scaleb(-paper.exponent), ROUND_HALF_UP)
    if price < 0:
        quantity, price = -quantity, -price
    return quantity, price, None, full - net


def _note(paper: Paper) -> str | None:
    return "\n".join(_notes(paper)) or None


def _notes(paper: Paper) -> Iterator[str]:
    yield from sentences.of_paper(paper)
    if not is_nil(paper.cis_deduction):
        yield (
            f"Construction Industry Scheme: {paper.currency} {paper.cis_deduction} ({paper.cis_rate}% of labour) is"
            " deducted; it is told as paid."
        )
    if paper.notes:
        yield paper.notes
