"""Writes the reminder of an invoice, and takes back what has become untrue before it was sent.

Reminder, mails and what was left out are one transaction: a kill neither loses one nor sends it twice.
"""

from collections.abc import Iterable
from typing import Final

from gatewayd.areas.accounting import paper_links, sending
from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.clients.shapes import StoredClient
from gatewayd.areas.accounting.invoices import rows as invoices
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import InvoiceRow
from gatewayd.areas.accounting.reminders import rows, rules
from gatewayd.areas.accounting.reminders.rows import OnWay, QueuedMail
from gatewayd.areas.accounting.reminders.rules import Reason
from gatewayd.areas.accounting.reminders.shapes import ReminderRung
from gatewayd.clock import DAY, Instant, london_date
from gatewayd.mail import outbox
from gatewayd.mail.letters import Action, Letter
from gatewayd.mail.outbox import NewMail
from gatewayd.store import ReadTx, WriteTx

KIND: Final = "invoice_reminder"
VALID: Final = DAY  # Chosen: what it says of a day is old after it, where the server has taken nothing so long
_BEFORE: Final = (
    "Invoice {number} is due on {dueDate}",
    "This is a reminder that invoice {number} is due on {dueDate}: {balance} is to be paid by then.",
)
_ON: Final = (
    "Invoice {number} is due today",
    "This is a reminder that invoice {number} is due today, {dueDate}: {balance} is to be paid.",
)
_AFTER: Final = (
    "Invoice {number} is overdue",
    "Invoice {number} was due on {dueDate}, and {balance} is still to be paid. If you have paid it meanwhile,"
    " thank you: there is nothing to do.",
)


def is_remindable(row: InvoiceRow) -> bool:
    """Whether anybody may be reminded of it: an invoice that was sent, with money still due."""
    owed = row.kind == "invoice" and row.status in ("sent", "part_paid") and row.sent_at is not None
    return owed and invoices.open_due_date(row) is not None


def remind(tx: WriteTx, issuer: str, invoice_id: str) -> bool:
    """Write the reminder of an invoice that is due, if there is one; whether it was.

    `issuer` is the public URL, to which its link leads.
    """
    schedule, row = rows.schedule_of(tx), INVOICES.find(tx, invoice_id)
    if schedule is None or not schedule.enabled or row is None or row.sent_at is None or not is_remindable(row):
        return False  # it was paid, or switched off, since it was picked
    done = rows.noted(tx, invoice_id)
    if any(each.status != "skipped" and each.date >= tx.today for each in done):
        return False  # Chosen: one a day
    sent_on, noted = london_date(row.sent_at), {each.days for each in done}
    plan = rules.plan(rows.rungs_of(schedule), row.due_date, sent_on, noted, tx.today)
    rows.note_skipped(tx, invoice_id, plan.skipped)
    if plan.written is None:
        return False
    client = CLIENTS.get(tx, row.client_id)
    hindered = _hindered(tx, row, client)
    if hindered is not None:
        rows.note_skipped(tx, invoice_id, [(plan.written, hindered)])
        return False
    (rung,) = (rung for rung in schedule.rungs if rung.days == plan.written)
    letter = _letter(tx, issuer, row, client, rung)
    rows.note_written(tx, invoice_id, rung.days, _queue(tx, row, letter))
    return True


def withdraw(tx: WriteTx, written: Iterable[OnWay], reason: Reason) -> None:
    """Take back what was not sent so far. An attempt under way goes on, and is not repeated."""
    for one in written:
        if outbox.withdraw(tx, KIND, tx.org_id, about=one.invoice_id):
            rows.note_withdrawn(tx, one, reason)


def _hindered(tx: ReadTx, row: InvoiceRow, client: StoredClient) -> Reason | None:
    """Why nobody is reminded; None: nothing stands against it."""
    if rows.is_stopped(tx, row.id):
        return "stopped"
    if not client.reminders:
        return "client_stopped"
    return None if client.email else "no_address"


def _queue(tx: WriteTx, row: InvoiceRow, letter: Letter) -> list[QueuedMail]:
    """One mail to each address that the letter names."""
    addresses = {address.strip().lower(): address for address in reversed((*letter.to, *letter.cc))}
    expires_at = Instant(tx.now + VALID)
    found = []
    for address in reversed(addresses.values()):
        mail = NewMail(KIND, tx.org_id, address, letter, expires_at=expires_at, about=row.id)
        found.append(QueuedMail(outbox.queue(tx, mail), address))
    return found


def _letter(tx: WriteTx, issuer: str, row: InvoiceRow, client: StoredClient, rung: ReminderRung) -> Letter:
    link = paper_links.link_of(tx, issuer, row.id)
    balance, due, number = sending.money(row.balance_due), sending.day(row.due_date), row.number or ""
    values = {"number": number, "client": client.name, "balance": balance, "dueDate": due, "link": link}
    subject, text = _BEFORE if rung.days < 0 else _AFTER if rung.days > 0 else _ON
    lines = rules.filled(rung.text or text, values).splitlines()
    seller, reply_to = sending.sender_of(tx, row, None)
    return Letter(
        subject=rules.filled(rung.subject or subject, values),
        paragraphs=tuple(line for line in lines if line.strip()),
        facts=(("Number", number), ("To pay", balance), ("Pay by", due)),
        action=Action("See the invoice", link),
        reason=f"You get this because {seller} made invoice {number} out to {client.name}.",
        from_name=seller,
        reply_to=reply_to,
        to=(client.email or "",),
        cc=tuple(client.cc_emails),
        paper=row.id,
    )
