"""What aged debtors, aged creditors and statements of account look like: requests and responses."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import Amount, Currency, Date, DateText, Id, Name, Request, Response

StatementKind = Literal["activity", "outstanding"]
StatementLineKind = Literal["invoice", "credit_note", "payment", "refund", "write_off"]

BANDS_MAX = 6
DEFAULT_BAND_ENDS = (30, 60, 90)
LINES_MAX = 2000  # Chosen: fifty pages of paper
BandEnds = Annotated[list[Annotated[int, Meta(ge=1, le=3650)]], Meta(min_length=1, max_length=BANDS_MAX)]


class GetAgedDebtors(Request, frozen=True, kw_only=True):
    """Of which day, and which invoices."""

    as_of_date: Date | None = None
    """The day at whose end it is asked what is owed. By default today."""
    legal_entity_id: Id | None = None
    """Only what is owed to this seller."""
    client_id: Id | None = None
    """Only what this client owes."""
    currency: Currency | None = None
    """Only what is owed in this currency."""
    band_ends: BandEnds | None = None
    """The last day past the due date of each band but the last, ascending. By default 30, 60 and 90."""


class AgeBand(Response, frozen=True, kw_only=True):
    """A band of days past the due date."""

    from_days: int | None
    """The first day past the due date. Null: what is not due yet, or due on the day itself."""
    to_days: int | None
    """The last day past the due date. Null: it has no end, or is what is not due yet."""


class AgedAmounts(Response, frozen=True, kw_only=True):
    """What is owed in one currency, by age."""

    currency: str
    """What the amounts are in; currencies are never added."""
    amounts: list[Amount]
    """What is owed in each of `bands`, in their order: with VAT, less CIS deductions, credit notes and payments."""
    owed: Amount
    """The sum of `amounts`."""
    overdue: Amount
    """The part of `owed` that is past its due date."""
    credit: Amount
    """What was paid or credited beyond what was charged, or is on account, so that it is owed the other way. It is in
    no band."""
    balance: Amount
    """`owed` less `credit`; negative where more is owed the other way."""


class ClientAges(AgedAmounts, frozen=True, kw_only=True):
    """What a client owes in one currency, by age."""

    client_id: str
    """Who owes it."""
    client_name: str
    """Its name, as it is today."""


class AgedDebtors(Response, frozen=True, kw_only=True):
    """Who owed what at the end of a day."""

    as_of_date: DateText
    """The day."""
    bands: list[AgeBand]
    """The bands by which `amounts` are told: first what is not due yet, then what is past due, the oldest last."""
    totals: list[AgedAmounts]
    """All clients together, one for each currency, by its code."""
    clients: list[ClientAges]
    """One for each client and currency in which it owes anything or has credit, by name."""


class GetAgedCreditors(Request, frozen=True, kw_only=True):
    """Of which day, and which bills."""

    as_of_date: Date | None = None
    """The day at whose end it is asked what is owed. By default today."""
    legal_entity_id: Id | None = None
    """Only what this legal entity owes."""
    supplier_id: Id | None = None
    """Only what this supplier is owed; what claims that name it come to is the claimants'."""
    claimant: Name | None = None
    """Only what this claimant is owed, by the name that expense claims have."""
    currency: Currency | None = None
    """Only what is owed in this currency."""
    band_ends: BandEnds | None = None
    """The last day past the due date of each band but the last, ascending. By default 30, 60 and 90."""


class CreditorAges(AgedAmounts, frozen=True, kw_only=True):
    """What a supplier or a claimant is owed in one currency, by age."""

    supplier_id: str | None
    """The supplier who is owed it. Null: a claimant is."""
    name: str
    """The supplier's name, as it is today, or the claimant's, as expense claims have it."""


class AgedCreditors(Response, frozen=True, kw_only=True):
    """Who was owed what at the end of a day."""

    as_of_date: DateText
    """The day."""
    bands: list[AgeBand]
    """The bands by which `amounts` are told: first what is not due yet, then what is past due, the oldest last."""
    totals: list[AgedAmounts]
    """All suppliers and claimants together, one for each currency, by its code."""
    creditors: list[CreditorAges]
    """One for each supplier or claimant and currency in which anything is owed or to be paid back, by name."""


class GetStatement(Request, frozen=True, kw_only=True):
    """Whose statement, and of which days."""

    client_id: Id
    """The client whose account it is."""
    kind: StatementKind = "activity"
    """`activity`: what was there, whatever came in the days, and what is there. `outstanding`: the invoices that are
    open at the end of `toDate`."""
    from_date: Date | None = None
    """The first day, of `activity`. By default the first of the month before that of `toDate`."""
    to_date: Date | None = None
    """The last day. By default today."""
    currency: Currency | None = None
    """Only the account in this currency. By default every currency in which there is anything to tell."""
    legal_entity_id: Id | None = None
    """Only the account with this seller. By default all of the organization's."""


class StatementLine(Response, frozen=True, kw_only=True):
    """What changed the account, or an invoice that is open."""

    date: DateText
    """The issue date of an invoice or credit note, or the day on which money came, went back or was given up."""
    kind: StatementLineKind
    """What it is. A `write_off` that raises what is owed follows a payment that came after all: it lessens what was
    given up. Of `outstanding` a `payment` is what is on account, or came before its invoice."""
    invoice_id: str | None
    """The invoice or credit note; of a payment, refund or write-off, the invoice that it was for. Null: it was for
    several, or for none yet."""
    number: str | None
    """The number of that invoice or credit note. Null: none is named."""
    client_payment_id: str | None
    """The payment or refund that is of the client and not of one invoice. Null: it is none of these."""
    reference: str | None
    """The reference of the invoice or credit note, or what identifies the payment. Null: there is none."""
    due_date: DateText | None
    """By when an invoice was to be paid. Null: it is no invoice."""
    total: Amount
    """What the invoice or credit note came to with VAT, less its CIS deduction, or the money; never negative."""
    amount: Amount
    """By how much the client owes more, or less where it is negative; of `outstanding`, what is open of the invoice."""
    balance: Amount
    """What the client owes after it; negative is credit that it has in hand."""


class StatementOfCurrency(AgedAmounts, frozen=True, kw_only=True):
    """The account in one currency, with its age at the end of the last day."""

    opening_balance: Amount
    """What the client owed before the first day; negative is credit. Of `outstanding` 0."""
    lines: list[StatementLine]
    """In the order of their days, and of one day invoices first, then credit notes, payments, refunds and
    write-offs."""


class Statement(Response, frozen=True, kw_only=True):
    """A client's account."""

    client_id: str
    """Whose account it is."""
    client_name: str
    """Its name, as it is today."""
    kind: StatementKind
    """Whatever happened in the days, or what is open at the end."""
    from_date: DateText | None
    """The first day. Null: a statement of what is outstanding has none."""
    to_date: DateText
    """The last day, at whose end the balance is struck."""
    bands: list[AgeBand]
    """The bands by which `amounts` are told: first what is not due yet, then what is past due, the oldest last."""
    currencies: list[StatementOfCurrency]
    """The account in each currency, by its code: one of its own for each, since they are never added. Empty: there is
    nothing to tell."""
