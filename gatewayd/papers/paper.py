"""What an invoice, a credit note or a quote says, as plain facts. All figures are stored with it: none is reckoned.

Amounts are decimal text of `currency` with its fraction digits, `vat_total_base` of `base_currency`; dates are ISO.
"""

from typing import Literal

from msgspec import Struct

Kind = Literal["invoice", "credit_note", "quote"]
LogoKind = Literal["png", "jpg"]


class PaperAddress(Struct, frozen=True, kw_only=True):
    """Lines of an address without its country, which is an ISO code."""

    line1: str
    line2: str | None
    town: str | None
    county: str | None
    postcode: str | None
    country_code: str


class Party(Struct, frozen=True, kw_only=True):
    """The seller or the client. `vat_number` begins with the letters of its country. `key` is its id here."""

    key: str
    name: str
    contact_name: str | None
    address: PaperAddress | None
    country_code: str
    vat_number: str | None
    company_number: str | None
    email: str | None


class PaperLine(Struct, frozen=True, kw_only=True):
    """One line. `unit_price` is net, or gross as `amounts_are` of the paper says; `rate` and `discount` are percent."""

    position: int
    description: str
    quantity: str
    unit: str | None
    unit_price: str
    discount: str
    vat_code: str
    rate: str
    net: str
    vat: str
    gross: str
    cis_labour: bool


class PaperGroup(Struct, frozen=True, kw_only=True):
    """The lines of one VAT code and rate. Under a reverse charge `vat` is the client's to account for."""

    vat_code: str
    rate: str
    net: str
    vat: str
    reverse_charge: bool


class BankDetails(Struct, frozen=True, kw_only=True):
    """The account to pay into; each None where it is not known."""

    name: str | None
    sort_code: str | None
    account_number: str | None
    iban: str | None
    bic: str | None


class Credited(Struct, frozen=True, kw_only=True):
    """The invoice that a credit note credits."""

    number: str
    issue_date: str


class Look(Struct, frozen=True, kw_only=True):
    """How the seller's papers look, and what they say beside the invoice. `accent` is #rrggbb. None: not said."""

    accent: str | None = None
    logo: bytes = b""
    logo_kind: LogoKind | None = None
    trading_name: str | None = None
    owners: str | None = None
    register: str | None = None
    registered_office: PaperAddress | None = None
    footer: str | None = None
    website: str | None = None


class Paper(Struct, frozen=True, kw_only=True, tag="paper"):
    """All that stands on it.

    `mark` is written across what is no valid document: DRAFT, VOID. `number` None: a draft. `payable` is `gross_total`
    less `cis_deduction`. `due_date` of a quote is the last day on which it holds. `fx_rate` is units of `base_currency`
    for one of `currency`.
    """

    kind: Kind
    mark: Literal["", "DRAFT", "VOID"]
    number: str | None
    issue_date: str
    supply_date: str
    due_date: str
    currency: str
    base_currency: str
    exponent: int
    fx_rate: str | None
    amounts_are: Literal["exclusive", "inclusive", "no_vat"]
    seller: Party
    client: Party
    lines: list[PaperLine]
    groups: list[PaperGroup]
    net_total: str
    vat_total: str
    gross_total: str
    discount_total: str
    reverse_charge_vat: str
    vat_total_base: str | None
    cis_deduction: str
    cis_rate: int | None
    payable: str
    reference: str | None
    po_number: str | None
    notes: str | None
    terms: str | None
    bank: BankDetails | None
    credited: Credited | None
    look: Look

    @property
    def is_vat_invoice(self) -> bool:
        """Whether its seller is registered for VAT, and some of it is within the scope of VAT."""
        without = ("exempt", "outside_scope")
        return self.seller.vat_number is not None and any(group.vat_code not in without for group in self.groups)


def is_nil(amount: str) -> bool:
    """Whether a decimal text is zero."""
    return not amount.strip("-0.")
