"""What the lines of invoices look like (domain model B5): of requests, of responses, and as they are stored."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.wire import Amount, AmountText, DecimalText, Id, Part, Request, Response
from gatewayd.ledger.vat.vat_rates import VatCode

Description = Annotated[str, Meta(min_length=1, max_length=2000)]
Unit = Annotated[str, Meta(min_length=1, max_length=32, examples=["hours"])]
_CATEGORY = "Income line of the business: by default turnover, and of property rent (`periodAmount`)."
Category = Annotated[
    str,
    Meta(
        max_length=64,
        pattern="^[a-z][A-Za-z0-9_]*$",
        extra={"form": "a category's name of letters, digits or underscores, the first a small letter"},
        description=_CATEGORY,
        examples=["turnover"],
    ),
]


class LineRequest(Request, frozen=True, kw_only=True):
    """One line of a new invoice or credit note.

    A line of a credit note may name the line that it takes back, in `creditsLine`: then every line of it does, and
    price, code and rate are those of the invoice.
    """

    description: Description | None = None
    """What was sold, as it is printed. Needed, but for a line with `creditsLine`, where it is by default that of the
    line taken back."""
    unit_price: AmountText | None = None
    """The price of one, before discounts: net or gross as `amountsAre` says, with at most 4 fraction digits. Below 0
    takes off. Needed, but for a line with `creditsLine`."""
    quantity: DecimalText | None = None
    """How many units. By default 1, and with `creditsLine` what is left of that line."""
    credits_line: Annotated[int, Meta(ge=1, le=200)] | None = None
    """Of a credit note, the `position` of the invoice's line that it takes back."""
    unit: Unit | None = None
    """What `quantity` counts, such as hours."""
    discount_percent: DecimalText = "0"
    """Percent off the line, from 0 to 100, before the discount of the whole invoice."""
    vat_code: VatCode | None = None
    """How VAT is charged. By default as the client's `defaultVatTreatment` says, else `standard`; by a seller who is
    not registered for VAT on the supply date, and with `no_vat`, always `outside_scope`."""
    category: Category | None = None
    property_id: Id | None = None
    """The property that it is income of. By default that of the invoice."""
    cis_labour: bool = False
    """Whether it is labour, of whose net a contractor withholds Construction Industry Scheme tax."""
    capital_goods: bool = False
    """Whether capital expenditure goods on which VAT was claimed are sold: no flat rate of VAT is taken of them."""


Lines = Annotated[list[LineRequest], Meta(min_length=1, max_length=200)]


class SoldLine(Part, frozen=True, kw_only=True):
    """A line of what will be invoiced: of a recurring invoice or a quote."""

    description: Description
    """What is sold, as it is printed."""
    unit_price: AmountText
    """The price of one, before discounts: net or gross as `amountsAre` says, with at most 4 fraction digits. Below 0
    takes off."""
    quantity: DecimalText = "1"
    """How many units."""
    unit: Unit | None = None
    """What `quantity` counts, such as hours. Null: nobody said."""
    discount_percent: DecimalText = "0"
    """Percent off the line, from 0 to 100, before the discount of the whole."""
    vat_code: VatCode | None = None
    """How VAT is charged. Null: as the client's `defaultVatTreatment` says, else `standard`; by a seller who is not
    registered for VAT on the day, and with `no_vat`, always `outside_scope`."""
    category: Category | None = None
    """Income line of the business. Null: turnover, and of property rent (`periodAmount`)."""
    property_id: Id | None = None
    """The property that it is income of. Null: that of the whole, where it names one."""
    cis_labour: bool = False
    """Whether it is labour, of whose net a contractor withholds Construction Industry Scheme tax."""
    capital_goods: bool = False
    """Whether capital expenditure goods on which VAT was claimed are sold: no flat rate of VAT is taken of them."""


SoldLines = Annotated[list[SoldLine], Meta(min_length=1, max_length=200)]


def requested(line: SoldLine) -> LineRequest:
    """The line of an invoice that is made of it."""
    return LineRequest(**{name: getattr(line, name) for name in SoldLine.__struct_fields__})


class VatSummary(Response, frozen=True, kw_only=True):
    """The lines of one VAT code and rate, summed up."""

    vat_code: VatCode
    """The VAT code of the lines."""
    rate_percent: DecimalText
    """Percent of VAT under the code on the supply date."""
    net: AmountText
    """What the lines come to after discounts without VAT, in the invoice's currency."""
    vat: AmountText
    """The VAT on them. With `reverseCharge` the client accounts for it, and it is in no total."""
    reverse_charge: bool
    """Whether the client accounts for the VAT, and does not pay it to the seller."""


class InvoiceLine(Response, frozen=True, kw_only=True):
    """One line with its totals."""

    position: int
    """Place of the line on the invoice, from 1."""
    description: str
    """What was sold, as it is printed."""
    quantity: DecimalText
    """How many units."""
    unit: str | None
    """What `quantity` counts, such as hours. Null: nobody said."""
    unit_price: DecimalText
    """The price of one before discounts, in the invoice's currency: net or gross as `amountsAre` says."""
    discount_percent: DecimalText
    """Percent off the line, before the discount of the whole invoice."""
    vat_code: VatCode
    """How VAT is charged: at a rate, at 0, not at all, or by a reverse charge, where the client accounts for it."""
    vat_rate_percent: DecimalText
    """Percent of VAT under `vatCode` on the supply date; of a reverse charge, what the client accounts for."""
    category: str | None
    """Income line of the business. Null: turnover, and of property rent (`periodAmount`)."""
    net: Amount
    """What the line comes to after all discounts, without VAT."""
    vat: Amount
    """The VAT that is charged on the line; 0 under a reverse charge."""
    gross: Amount
    """What is to be paid for the line: `net` and `vat`."""
    property_id: str | None
    """The property that it is income of. Null: that of the invoice, where it names one."""
    cis_labour: bool
    """Whether it is labour, of whose net a contractor withholds Construction Industry Scheme tax."""
    credits_line: int | UnsetType | None = UNSET
    """Of a credit note, the `position` of the invoice's line that it takes back. Absent: it names none."""
    capital_goods: bool | UnsetType = UNSET
    """True where capital expenditure goods were sold whose VAT is due outside a flat rate; else absent."""


class LineRow(InvoiceLine, frozen=True, kw_only=True):
    """A line as it is stored: its `unit_price` is canonical, and not yet padded to the currency.

    `vat_code_defaulted`: no code was asked for, so that it follows the facts until the invoice is issued.
    """

    reverse_charge_vat: Amount
    vat_code_defaulted: bool
