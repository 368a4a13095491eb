"""What reminders look like: the schedule of an organization, and what was done of an invoice."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.accounting.reminders.rules import Reason
from gatewayd.contract.wire import DateText, Id, Request, Response, Timestamp, Version

Days = Annotated[int, Meta(ge=-30, le=120)]
Subject = Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S")]
Text = Annotated[str, Meta(min_length=1, max_length=4000, pattern=r"\S")]
ReminderStatus = Literal["written", "withdrawn", "skipped"]
ReminderReason = Reason


class SetRung(Request, frozen=True, kw_only=True):
    """One reminder of the schedule."""

    days: Days
    """How many days after the due date it is written; negative: before it; 0: on the day itself."""
    subject: Subject | None = None
    """The subject of the mail, with placeholders as in `text`. By default words of ours."""
    text: Text | None = None
    """What it says, each line a paragraph. `{number}`, `{client}`, `{balance}`, `{dueDate}` and `{link}` are filled in;
    anything else in braces is refused. By default words of ours."""


Rungs = Annotated[list[SetRung], Meta(min_length=1, max_length=5)]


class GetReminderSchedule(Request, frozen=True, kw_only=True):
    """The reminders of the organization."""


class SetReminderSchedule(Request, frozen=True, kw_only=True):
    """What to change of the schedule. An absent field stays; a list replaces the one before."""

    expected_version: Version | None = None
    enabled: bool | UnsetType = UNSET
    rungs: Rungs | UnsetType = UNSET


class ReminderRung(Response, frozen=True, kw_only=True):
    """One reminder of the schedule."""

    days: int
    """How many days after the due date it is written; negative: before it; 0: on the day itself."""
    subject: str | None
    """The subject of the mail. Null: words of ours."""
    text: str | None
    """What it says. Null: words of ours."""
    since: DateText
    """The day from which it holds: invoices for which its day was before that are not reminded by it."""


class StoredSchedule(Response, frozen=True, kw_only=True):
    """The part that is stored."""

    enabled: bool
    """Whether clients are reminded at all. From false to true every reminder holds from that day on."""
    rungs: list[ReminderRung]
    """The reminders, by `days`. Each goes out once at the most for an invoice, also where it is taken out and set
    again."""
    version: int
    """The number of changes, for `expectedVersion`. 0: nothing was set so far, and what is shown is a proposal."""


class ReminderWarning(Response, frozen=True, kw_only=True):
    """What keeps reminders from going out."""

    path: str
    """The field that it is about, of this answer."""
    code: Literal["mail_not_set"]
    """`mail_not_set`: this server sends no mail: whoever runs it has named none in `[mail]`."""
    message: str
    """The same in words."""


class ReminderSchedule(StoredSchedule, frozen=True, kw_only=True):
    """When clients are reminded of invoices that they were sent."""

    warnings: list[ReminderWarning]
    """What keeps them from going out. Empty: nothing."""


class ScheduleRow(StoredSchedule, frozen=True, kw_only=True):
    """The row."""

    id: Id
    created_at: Timestamp
    updated_at: Timestamp


class GetInvoiceReminders(Request, frozen=True, kw_only=True):
    """Which invoice."""

    invoice_id: Id
    """The `id` of the invoice."""


class UpdateInvoiceReminders(Request, frozen=True, kw_only=True):
    """Whether to remind of an invoice."""

    invoice_id: Id
    """The `id` of the invoice."""
    enabled: bool


class ReminderMail(Response, frozen=True, kw_only=True):
    """A mail of a reminder."""

    recipient: str
    """The address that it goes to."""
    status: Literal["queued", "sent", "failed", "bounced"] | None
    """What became of it: it waits (`queued`), the server has taken it (`sent`) or refused it (`bounced`), or it was
    given up (`failed`). Null: it was so long ago that nobody knows any more."""


class Reminder(Response, frozen=True, kw_only=True):
    """What was done of one reminder of the schedule."""

    days: int
    """How many days after the due date it was to be written; negative: before it."""
    status: ReminderStatus
    """`written`: it was handed to the mail. `withdrawn`: it was written, and taken back before it was sent. `skipped`:
    it was left out, for good."""
    reason: ReminderReason | None
    """Why it was left out or taken back. `before_sending`: its day had come when the invoice was sent. `past_due`: it
    was to go out before the due date, and that had passed. `overtaken`: a later one was due as well. `no_address`: the
    client has no `email`. `stopped`: the invoice is not to be reminded of. `client_stopped`: the client is not to be
    reminded. `settled`: the invoice was paid, credited, written off or voided. `switched_off`: reminders were. Null: it
    was written."""
    date: DateText
    """The day on which that was done."""
    mails: list[ReminderMail]
    """The mails: to the client's `email`, and to each of `ccEmails`. Empty: it was left out."""


class InvoiceReminders(Response, frozen=True, kw_only=True):
    """The reminders of an invoice."""

    invoice_id: Id
    """The invoice."""
    enabled: bool
    """Whether this invoice may be reminded of; what holds for its client and for all stands apart from it."""
    next_date: DateText | None
    """The day on which the next is to be written, as things are. Null: none is to come: it is paid, was never sent, or
    reminders are switched off for it, for the client or for all."""
    reminders: list[Reminder]
    """What was done so far, by `days`."""
