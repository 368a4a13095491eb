"""An allocation as it is stored and served, and a part as somebody wants it (Domain B4)."""

from typing import Literal, NamedTuple

from gatewayd.contract.wire import Amount, CanonicalDecimal, DateText, Id, Response, Timestamp
from gatewayd.ledger.allocating.categories import Category, Purpose
from gatewayd.ledger.vat.vat_rates import AllocationVatCode

Direction = Literal["in", "out"]
SourceType = Literal["bank", "manual"]
MatchedBy = Literal["rule", "user", "import"]
InterestSource = Literal["statement", "computed"]


class Allocation(Response, frozen=True, kw_only=True):
    """What a part of a bank transaction, or a manual entry, is for."""

    id: Id
    external_id: str | None
    source_type: SourceType
    """`bank`: a part of a bank transaction; `manual`: money that no bank transaction shows, or rent that is written
    off."""
    source_id: str | None
    """The bank transaction that it is a part of. Null: a manual entry."""
    import_id: str | None
    """The import that brought the bank transaction. Null: a manual entry."""
    legal_entity_id: str | None
    """In whose books it counts: the business's legal entity, else that of the bank account. Null: neither is known."""
    business_id: str | None
    """The business whose income or expense it is. Null: it is `not_pnl`, and nobody said of which business."""
    property_id: str | None
    """The property that it is for, as said or as it follows from the unit, tenancy or mortgage. Null: none."""
    unit_id: str | None
    """The unit of the property, as said or as it follows from the tenancy. Null: the whole property, or none."""
    tenancy_id: str | None
    """The tenancy that it is for, such as the one whose rent it pays. Null: none."""
    mortgage_id: str | None
    """The mortgage whose interest or capital it is. Null: none."""
    invoice_id: str | None
    """The invoice that it pays; it is taken back there alone. Null: it pays none."""
    bill_id: str | None
    """The bill that it pays; it is taken back there alone. Null: it pays none."""
    counterpart_id: str | None
    """The bank transaction at the other end of a transfer. Null: it is no half of a transfer that was matched."""
    date: DateText
    """The day of the money: that of the bank transaction, or as it was entered."""
    document_date: DateText | None
    """The day of the bill or receipt: VAT has the rate of that day, and accruals go by it. Null: that of the money."""
    direction: Direction
    """Which way the money went. An expense that is `in` is money back."""
    amount: Amount
    """Gross, VAT included, of `currency`; always above zero."""
    vat_code: AllocationVatCode | None
    """What VAT is in `amount`, and where it stands in a VAT return. Null: nobody said, and `vatAmount` is all that is
    known."""
    vat_amount: Amount
    """The VAT in `amount`; 0.00 under codes whose VAT the customer accounts for."""
    capital_goods: bool
    """True: goods to be used for years, bought or sold, whose VAT is outside a flat rate."""
    disallowable_amount: Amount
    """The part of `amount` that tax does not allow as an expense."""
    allowable: bool
    """False where tax allows nothing of `amount`."""
    currency: str
    """The currency of the bank account, or as it was entered."""
    fx_rate: CanonicalDecimal | None
    """Units of the business's currency for one of `currency`. Null: it is the same currency, or none was needed."""
    category: Category
    """A line of the business's profit and loss account; `not_pnl`: neither income nor an expense."""
    purpose: Purpose | None
    """What `not_pnl` money is. `rent_written_off` is no money, and says of rent that it will not come. Null: income or
    an expense."""
    interest_source: InterestSource | None
    """Of interest on a mortgage: `statement` where somebody said how much it is, `computed` where a payment was split.
    Null: it is no such interest."""
    description: str
    """What it was, for people; where nobody said, as the bank transaction has it."""
    matched_by: MatchedBy
    """Who chose what it is for: `user`, a person or their program, or `rule`, a rule by itself. `import` does not
    occur."""
    rule_id: str | None
    """The rule that chose, which may be deleted since. Null: no rule did."""
    reason: str | None
    """Why a rule chose it, and what a payment of a mortgage leaves open, for people. Null: there is nothing to tell."""
    document_ids: list[Id]
    """The documents of the vault that prove it, those of its bank transaction among them."""
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
    `reason` is that of who chose, and what it tells goes with that. `on_account`: a client paid or got it, for no
    invoice.
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
    bill_id: str | None = None
    counterpart_id: str | None = None
    legal_entity_id: str | None = None
    external_id: str | None = None
    interest_source: InterestSource | None = None
    reason: str | None = None
    on_account: bool = False


class Origin(NamedTuple):
    """Who chose: a person, or a rule for a `reason` that people can read."""

    matched_by: MatchedBy = "user"
    rule_id: str | None = None
    reason: str | None = None


class Entry(NamedTuple):
    """Of money that no bank line shows: its ISO date, where None is today, and its currency."""

    date: str | None
    currency: str


BY_PERSON = Origin()
