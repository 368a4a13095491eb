"""Reminders of invoices (an extension): the schedule of an organization, and what was done of an invoice."""

from collections.abc import Iterator
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import InvoiceRow
from gatewayd.areas.accounting.reminders import rows, rules, writing
from gatewayd.areas.accounting.reminders.rows import SCHEDULES, Noted
from gatewayd.areas.accounting.reminders.shapes import (
    GetInvoiceReminders,
    GetReminderSchedule,
    InvoiceReminders,
    Reminder,
    ReminderMail,
    ReminderRung,
    ReminderSchedule,
    ReminderWarning,
    ScheduleRow,
    SetReminderSchedule,
    UpdateInvoiceReminders,
)
from gatewayd.clock import Instant, london_date
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.wire import project
from gatewayd.errors import FieldError, invalid, version_conflict
from gatewayd.mail import outbox
from gatewayd.store import ReadTx, WriteTx

PROPOSED_DAYS: Final = (7, 14, 30)  # Chosen: after the due date, where nobody has set any


def get_reminder_schedule(
    tx: ReadTx, caller: Caller, request: GetReminderSchedule, *, sends_mail: bool
) -> ReminderSchedule:
    """Get when clients are reminded of invoices that they were sent, or what is proposed where nothing was set."""
    return _shown(rows.schedule_of(tx) or _proposed(tx), sends_mail)


def set_reminder_schedule(
    tx: WriteTx, caller: Caller, request: SetReminderSchedule, *, sends_mail: bool
) -> ReminderSchedule:
    """Set when clients are reminded of invoices that they were sent, and in which words.

    A reminder holds from the day on which it is set or all are switched on: nobody is reminded of what was due long
    before. Switched off, what was not sent so far is taken back.
    """
    before = rows.schedule_of(tx)
    row = before or _proposed(tx)
    if request.expected_version is not None and request.expected_version != row.version:
        raise version_conflict(request.expected_version, row.version)
    if errors := [*_mistakes(request)]:
        raise invalid(*errors)
    after = _amended(row, request, tx.today)
    if before is None:
        return _shown(SCHEDULES.insert(tx, replace(after, id=tx.new_id("rsc"), version=1)), sends_mail)
    if not after.enabled:
        writing.withdraw(tx, rows.on_way(tx), "switched_off")
    return _shown(SCHEDULES.update(tx, after), sends_mail)


def get_invoice_reminders(tx: ReadTx, caller: Caller, request: GetInvoiceReminders) -> InvoiceReminders:
    """Get the reminders of an invoice: what was written and left out so far, and on which day the next one comes."""
    return _of_invoice(tx, INVOICES.get(tx, request.invoice_id))


def update_invoice_reminders(tx: WriteTx, caller: Caller, request: UpdateInvoiceReminders) -> InvoiceReminders:
    """Set whether an invoice may be reminded of, such as not while it is disputed.

    What was not sent so far is taken back. A reminder whose day comes meanwhile is left out for good.
    """
    row = INVOICES.get(tx, request.invoice_id)
    if request.enabled:
        rows.resume(tx, row.id)
    else:
        rows.stop(tx, row.id)
        writing.withdraw(tx, rows.on_way_of_invoice(tx, row.id), "stopped")
    return _of_invoice(tx, row)


def _proposed(tx: ReadTx) -> ScheduleRow:
    """What is shown where nobody has set anything."""
    rungs = [ReminderRung(days=days, subject=None, text=None, since=tx.today) for days in PROPOSED_DAYS]
    at = Instant(tx.now)
    return ScheduleRow(id="", enabled=False, rungs=rungs, created_at=at, updated_at=at, version=0)


def _mistakes(request: SetReminderSchedule) -> Iterator[FieldError]:
    seen: set[int] = set()
    for index, rung in enumerate([] if request.rungs is UNSET else request.rungs):
        if rung.days in seen:
            message = f"There are two of {rung.days} days: expected each once."
            yield FieldError(f"rungs[{index}].days", "conflict", message)
        seen.add(rung.days)
        for name, text in (("subject", rung.subject), ("text", rung.text)):
            unknown = rules.unknown_placeholders(text or "")
            if unknown:
                allowed = ", ".join(f"{{{known}}}" for known in rules.PLACEHOLDERS)
                message = f"{unknown[0]} is no placeholder: expected any of {allowed}, and no other braces."
                yield FieldError(f"rungs[{index}].{name}", "invalid_format", message)


def _amended(row: ScheduleRow, request: SetReminderSchedule, today: str) -> ScheduleRow:
    """The row as it is asked for. What was there and goes on keeps the day from which it holds."""
    enabled = row.enabled if request.enabled is UNSET else request.enabled
    goes_on = row.enabled and enabled
    kept = {rung.days: rung.since for rung in row.rungs} if goes_on else {}
    wanted = row.rungs
    if request.rungs is not UNSET:
        wanted = [ReminderRung(days=of.days, subject=of.subject, text=of.text, since=today) for of in request.rungs]
    rungs = [replace(rung, since=kept.get(rung.days, today)) for rung in sorted(wanted, key=lambda rung: rung.days)]
    return replace(row, enabled=enabled, rungs=rungs)


def _shown(row: ScheduleRow, sends_mail: bool) -> ReminderSchedule:
    warnings = []
    if not sends_mail:
        message = "This server sends no mail, so that nobody is reminded: whoever runs it names a server in `[mail]`."
        warnings.append(ReminderWarning(path="enabled", code="mail_not_set", message=message))
    return project(row, ReminderSchedule, warnings=warnings)


def _of_invoice(tx: ReadTx, row: InvoiceRow) -> InvoiceReminders:
    done = rows.noted(tx, row.id)
    enabled = not rows.is_stopped(tx, row.id)
    return InvoiceReminders(
        invoice_id=row.id,
        enabled=enabled,
        next_date=_next_date(tx, row, done) if enabled else None,
        reminders=[_reminder(tx, each) for each in done],
    )


def _next_date(tx: ReadTx, row: InvoiceRow, done: list[Noted]) -> str | None:
    schedule, client = rows.schedule_of(tx), CLIENTS.get(tx, row.client_id)
    if schedule is None or not schedule.enabled or not client.reminders or not client.email:
        return None
    if row.sent_at is None or not writing.is_remindable(row):
        return None
    noted = {each.days for each in done}
    return rules.next_day(rows.rungs_of(schedule), row.due_date, london_date(row.sent_at), noted, tx.today)


def _reminder(tx: ReadTx, each: Noted) -> Reminder:
    mails = []
    for mail in each.mails:
        found = outbox.find(tx, mail.id)
        mails.append(ReminderMail(recipient=mail.recipient, status=None if found is None else found.status))
    return Reminder(days=each.days, status=each.status, reason=each.reason, date=each.date, mails=mails)


OPERATIONS = (
    Operation(
        id="accounting.getReminderSchedule",
        kind="read",
        method="GET",
        path="/invoices/reminder-schedule",
        scopes=("accounting:read",),
        request=GetReminderSchedule,
        response=ReminderSchedule,
        handler=AT_CATALOGUE,
        extension=True,
        example={},
    ),
    Operation(
        id="accounting.setReminderSchedule",
        kind="write",
        method="PATCH",
        path="/invoices/reminder-schedule",
        scopes=("accounting:write",),
        request=SetReminderSchedule,
        response=ReminderSchedule,
        handler=AT_CATALOGUE,
        errors=("version_conflict",),
        extension=True,
        example={
            "enabled": True,
            "rungs": [
                {"days": -3},
                {"days": 7, "subject": "Invoice {number}", "text": "Dear {client},\n{balance} is still due: {link}"},
            ],
        },
    ),
    Operation(
        id="accounting.getInvoiceReminders",
        kind="read",
        method="GET",
        path="/invoices/:invoiceId/reminders",
        scopes=("accounting:read",),
        request=GetInvoiceReminders,
        response=InvoiceReminders,
        handler=get_invoice_reminders,
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000a"},
    ),
    Operation(
        id="accounting.updateInvoiceReminders",
        kind="write",
        method="PATCH",
        path="/invoices/:invoiceId/reminders",
        scopes=("accounting:write",),
        request=UpdateInvoiceReminders,
        response=InvoiceReminders,
        handler=update_invoice_reminders,
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000a", "enabled": False},
    ),
)
