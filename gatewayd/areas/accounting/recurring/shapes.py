"""What recurring invoices look like (domain model B5): requests, the answer, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.accounting.invoices.line_shapes import SoldLine, SoldLines
from gatewayd.areas.accounting.invoices.shapes import LongText, Reference, TermsDays
from gatewayd.areas.accounting.invoices.totals import AmountsAre, VatRounding
from gatewayd.areas.accounting.recurring.rhythm import RhythmUnit
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    Amount,
    AmountText,
    Currency,
    Date,
    DateText,
    ExternalId,
    Id,
    Request,
    Response,
    Timestamp,
    Version,
)

RecurringStatus = Literal["active", "paused", "halted", "ended"]
Makes = Literal["draft", "issued", "sent"]
Missed = Literal["make", "skip"]

Every = Annotated[int, Meta(ge=1, le=120)]
DayOfMonth = Annotated[int, Meta(ge=1, le=31)]
Times = Annotated[int, Meta(ge=1, le=10_000)]


class CreateRecurring(Request, frozen=True, kw_only=True):
    """What is invoiced again and again, and on which days."""

    client_id: Id
    lines: SoldLines
    start_date: Date
    """The first day on which an invoice is made: today, or a later one."""
    unit: RhythmUnit
    every: Every = 1
    day_of_month: DayOfMonth | None = None
    """The day that months have, or their last where they are shorter: of 31 an invoice of the 28th of February is
    followed by one of the 31st of March. By default that of `startDate`, which has to be this day."""
    end_date: Date | None = None
    times: Times | None = None
    makes: Makes = "draft"
    """What is made: a `draft`, which somebody looks at, an invoice that is `issued` at once, or one that is `sent` to
    the client by mail as well, as accounting.sendInvoice does."""
    legal_entity_id: Id | None = None
    """Who sells. By default the only legal entity, or the organization where it has none."""
    business_id: Id | None = None
    payment_terms_days: TermsDays | None = None
    currency: Currency | None = None
    """The currency of its amounts. By default the client's."""
    amounts_are: AmountsAre | None = None
    """What unit prices are: without VAT (`exclusive`, by default), with it (`inclusive`), or free of any (`no_vat`)."""
    vat_rounding: VatRounding | None = None
    """VAT is rounded on each `line` (by default), or for each code and rate: `total` half up, `total_down` down."""
    discount_amount: AmountText | None = None
    reference: Reference | None = None
    po_number: Reference | None = None
    notes: LongText | None = None
    terms: LongText | None = None
    bank_account_id: Id | None = None
    property_id: Id | None = None
    external_id: ExternalId | None = None


class ListRecurring(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    status: RecurringStatus | None = None
    """The state to list."""
    client_id: Id | None = None
    """To whom the invoices are made out."""
    external_id: ExternalId | None = None


class GetRecurring(Request, frozen=True, kw_only=True):
    """Which recurring invoice."""

    recurring_id: Id
    """The `id` of the recurring invoice."""


class ChangeRecurring(GetRecurring, frozen=True, kw_only=True):
    """Which recurring invoice to change."""

    expected_version: Version | None = None


class ResumeRecurring(ChangeRecurring, frozen=True, kw_only=True):
    """Which recurring invoice goes on."""

    missed: Missed | None = None
    """What becomes of days that have passed meanwhile: `make` makes their invoices, each of its own day, `skip` leaves
    them out for good. Needed where it was paused and there are any; of one that was halted by default `make`."""


class Recurring(Response, frozen=True, kw_only=True):
    """What is invoiced again and again. Each day of its rhythm is made once."""

    id: Id
    external_id: str | None
    status: RecurringStatus
    """`active`: invoices are made on their days. `paused`: somebody stopped it. `halted`: an invoice could not be made,
    as `haltedReason` says; nothing is made until it is resumed. `ended`: no day is left."""
    client_id: Id
    """To whom the invoices are made out."""
    legal_entity_id: str | None
    """Who sells. Null: the organization, in its own name."""
    business_id: str | None
    """The business whose income it is. Null: as of an invoice that names none."""
    every: int
    """How many weeks or months lie between two invoices."""
    unit: RhythmUnit
    """What `every` counts."""
    start_date: DateText
    """The first day of the rhythm."""
    day_of_month: int | None
    """The day that months have, or their last where they are shorter. Null: that of `startDate`, or it goes by
    weeks."""
    end_date: DateText | None
    """The last day on which an invoice may be made. Null: it does not end by a day."""
    times: int | None
    """How many days the rhythm has, those that were left out among them. Null: it does not end by their number."""
    makes: Makes
    """What is made: a `draft`, an invoice that is `issued` at once, or one that is `sent` by mail as well."""
    next_date: DateText | None
    """The next day on which an invoice is due. Null: it has ended."""
    made_count: int
    """How many invoices were made."""
    skipped_dates: list[DateText]
    """The days that somebody chose to leave out, in order."""
    payment_terms_days: int | None
    """Days from the issue date to the due date. Null: those that the client has then."""
    currency: str
    """The currency of its amounts."""
    amounts_are: AmountsAre
    """What unit prices are: without VAT (`exclusive`), with it (`inclusive`), or free of any (`no_vat`)."""
    vat_rounding: VatRounding
    """VAT is rounded on each `line`, or for each code and rate: `total` half up, `total_down` down."""
    discount_amount: Amount
    """What is taken off all lines together, net or gross as `amountsAre` says; 0 where nothing is."""
    reference: str | None
    """Your reference, such as a project. Null: none."""
    po_number: str | None
    """Number of the client's purchase order. Null: none."""
    notes: str | None
    """A text to the client. Null: none."""
    terms: str | None
    """Terms of payment, as a text to the client. Null: none."""
    bank_account_id: str | None
    """The bank account to pay into. Null: none is named."""
    property_id: str | None
    """The property that lines which name none are income of. Null: none."""
    lines: list[SoldLine]
    """What is sold each time."""
    halted_code: str | None
    """The code of the problem that halted it, as `accounting.createInvoice` answers it. Null: it is not halted."""
    halted_reason: str | None
    """Why the invoice of `nextDate` could not be made, in words. Null: it is not halted."""
    halted_at: Timestamp | None
    """When it was halted. Null: it is not."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


@updates(CreateRecurring, of=Recurring)
class UpdateRecurring(Request, frozen=True, kw_only=True):
    """The fields to change, of what is made from now on. An absent field stays; null is what leaving it out is for a
    new one.

    `lines` take the place of all lines. The rhythm (`startDate`, `unit`, `every`, `dayOfMonth`) stays once an invoice
    was made: end it, and create another.
    """

    recurring_id: Id
    """The `id` of the recurring invoice."""
    expected_version: Version | None = None


class StoredRecurring(Recurring, frozen=True, kw_only=True):
    """A recurring invoice as it is stored.

    `next_index` counts the days of the rhythm that are behind it. `charged` is the VAT code and rate that each line
    bore last, None: what holds next time is right.
    """

    next_index: int
    charged: list[str] | None
