"""What the lines of invoices look like (domain model B5): of requests, of responses, and as they are stored."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.wire import Amount, AmountText, DecimalText, Id, Request, Response
from gatewayd.ledger.vat.vat_rates import VatCode

Description = Annotated[str, Meta(min_length=1, max_length=2000)]
Unit = Annotated[str, Meta(min_length=1, max_length=32, examples=["hours"])]
_CATEGORY = "Income line of the business: by default turnover, and of property rent (`periodAmount`)."
Category = Annotated[
    str, Meta(max_length=64, pattern="^[a-z][A-Za-z0-9_]*$", description=_CATEGORY, examples=["turnover"])
]


class LineRequest(Request, frozen=True, kw_only=True):
    """One line, with `description`, `unitPrice` and a `quantity`, by default 1.

    `unitPrice` has at most 4 fraction digits, is net or gross as `amountsAre` says, and may be negative. Without
    `vatCode` it is the client's default treatment, else standard; a seller who is not registered for VAT on the supply
    date sells outside its scope.

    A line of a credit note may name the `position` of the line that it takes back, in `creditsLine`: price, code and
    rate are those of the invoice, and `quantity` by default what is left of it.

    `capitalGoods`: what is sold are capital expenditure goods on which VAT was claimed, so that no flat rate of VAT is
    taken of them.
    """

    description: Description | None = None
    unit_price: AmountText | None = None
    quantity: DecimalText | None = None
    credits_line: Annotated[int, Meta(ge=1, le=200)] | None = None
    unit: Unit | None = None
    discount_percent: DecimalText = "0"
    vat_code: VatCode | None = None
    category: Category | None = None
    property_id: Id | None = None
    cis_labour: bool = False
    capital_goods: bool = False


Lines = Annotated[list[LineRequest], Meta(min_length=1, max_length=200)]


class VatSummary(Response, frozen=True, kw_only=True):
    """One VAT code and rate. With `reverseCharge` the VAT is the customer's to account for."""

    vat_code: VatCode
    rate_percent: DecimalText
    net: AmountText
    vat: AmountText
    reverse_charge: bool


class InvoiceLine(Response, frozen=True, kw_only=True):
    """One line with its totals. `creditsLine`, where it is there, is the position of the line that it takes back.

    `capitalGoods` is there, and true, where the VAT of what was sold is due outside a flat rate.
    """

    position: int
    description: str
    quantity: DecimalText
    unit: str | None
    unit_price: DecimalText
    discount_percent: DecimalText
    vat_code: VatCode
    vat_rate_percent: DecimalText
    category: str | None
    net: Amount
    vat: Amount
    gross: Amount
    property_id: str | None
    cis_labour: bool
    credits_line: int | UnsetType | None = UNSET
    capital_goods: bool | UnsetType = UNSET


class LineRow(InvoiceLine, frozen=True, kw_only=True):
    """A line as it is stored: its `unit_price` is canonical, and not yet padded to the currency.

    `vat_code_defaulted`: no code was asked for, so that it follows the facts until the invoice is issued.
    """

    reverse_charge_vat: Amount
    vat_code_defaulted: bool
