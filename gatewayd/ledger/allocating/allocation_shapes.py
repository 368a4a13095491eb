"""An allocation as it is stored and served, and a part as somebody wants it (Domain B4)."""

from typing import Literal, NamedTuple

from gatewayd.contract.wire import Amount, CanonicalDecimal, DateText, Id, Response, Timestamp
from gatewayd.ledger.allocating.categories import Category, Purpose
from gatewayd.ledger.vat.vat_rates import AllocationVatCode

Direction = Literal["in", "out"]
SourceType = Literal["bank", "invoice", "manual", "import"]
MatchedBy = Literal["rule", "user", "import"]
InterestSource = Literal["statement", "computed"]


class Allocation(Response, frozen=True, kw_only=True):
    """What a part of a bank line, or a manual entry, is for.

    `amount` is gross. `disallowableAmount` is the part of it that tax doesn't allow, and `allowable` is false where
    that is all of it. `vatCode` null: nobody said, and `vatAmount` is all that is known. `counterpartId` is the bank
    transaction at the other end of a transfer, `invoiceId` the invoice that it pays. `importId` is the import that
    brought the bank transaction. `capitalGoods`: bought, or sold, are capital expenditure goods whose VAT is outside a
    flat rate. `interestSource` tells of interest on a mortgage whether somebody said how much it
    is, or it was computed of a payment.
    """

    id: Id
    external_id: str | None
    source_type: SourceType
    source_id: str | None
    import_id: str | None
    legal_entity_id: str | None
    business_id: str | None
    property_id: str | None
    unit_id: str | None
    tenancy_id: str | None
    mortgage_id: str | None
    invoice_id: str | None
    counterpart_id: str | None
    date: DateText
    document_date: DateText | None
    direction: Direction
    amount: Amount
    vat_code: AllocationVatCode | None
    vat_amount: Amount
    capital_goods: bool
    disallowable_amount: Amount
    allowable: bool
    currency: str
    fx_rate: CanonicalDecimal | None
    category: Category
    purpose: Purpose | None
    interest_source: InterestSource | None
    description: str
    matched_by: MatchedBy
    rule_id: str | None
    reason: str | None
    document_ids: list[Id]
    created_at: Timestamp
    updated_at: Timestamp
    version: int

    @property
    def tax_point(self) -> str:
        """The ISO date whose rates of VAT it has: of the bill where it is known, else of the money."""
        return self.document_date or self.date

    @property
    def signed(self) -> int:
        """Minor units, + in and - out."""
        return self.amount.minor if self.direction == "in" else -self.amount.minor


class Part(NamedTuple):
    """A part of a bank line, or a manual entry, as somebody wants it. Amounts are minor units, dates ISO.

    None: `business_id` is the account's where that names one; `direction` is the line's; `amount` is what is left of
    the line; `disallowable_amount` goes by the category, and is all where it is
    `wholly_disallowable`; `vat_amount` is what `vat_code` says, else none; `description` is the line's;
    `legal_entity_id` is the business's, else the account's; `interest_source` of interest on a mortgage is `statement`;
    `reason` is that of who chose, and what it tells goes with that.
    """

    category: Category
    purpose: Purpose | None = None
    business_id: str | None = None
    direction: Direction | None = None
    amount: int | None = None
    vat_code: AllocationVatCode | None = None
    vat_amount: int | None = None
    capital_goods: bool = False
    disallowable_amount: int | None = None
    wholly_disallowable: bool = False
    property_id: str | None = None
    unit_id: str | None = None
    tenancy_id: str | None = None
    mortgage_id: str | None = None
    document_date: str | None = None
    fx_rate: str | None = None
    description: str | None = None
    document_ids: tuple[str, ...] = ()
    invoice_id: str | None = None
    counterpart_id: str | None = None
    legal_entity_id: str | None = None
    external_id: str | None = None
    interest_source: InterestSource | None = None
    reason: str | None = None


class Origin(NamedTuple):
    """Who chose: a person, or a rule for a `reason` that people can read."""

    matched_by: MatchedBy = "user"
    rule_id: str | None = None
    reason: str | None = None


class Entry(NamedTuple):
    """Of money that no bank line shows: its ISO date and currency; None: today, and the business's."""

    date: str | None
    currency: str | None


BY_PERSON = Origin()
