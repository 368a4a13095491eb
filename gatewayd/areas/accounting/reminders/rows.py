"""Reminders as they are stored. Owns the tables `reminder_schedules`, `invoice_reminders` and `reminder_stops`.

A reminder is written in the transaction that queues its mails, and its key lets nobody write it again.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from gatewayd.areas.accounting.reminders.rules import Reason, Rung
from gatewayd.areas.accounting.reminders.shapes import ReminderStatus, ScheduleRow
from gatewayd.clock import days_after
from gatewayd.store import ReadTx, Table, WriteTx

SCHEDULES: Final = Table("reminder_schedules", ScheduleRow, kind="reminder schedule", prefix="rsc")
ON_ITS_WAY_DAYS: Final = 3
"""How long after it was written a mail can be on its way still: it is given up after one."""

_SELECT_OWN = "SELECT id FROM reminder_schedules WHERE org_id = :org_id"
_SELECT_ENABLED_ANY_ORG = """
SELECT s.org_id FROM reminder_schedules s JOIN organizations o ON o.id = s.org_id
WHERE s.enabled = 1 AND o.suspended_at IS NULL AND o.deleting_since IS NULL ORDER BY s.org_id
"""
_SELECT_DUE = """
SELECT i.id FROM invoices AS i
WHERE i.org_id = :org_id AND i.open_due_date >= :first AND i.open_due_date <= :last AND i.kind = 'invoice'
    AND i.sent_at IS NOT NULL AND (i.status = 'sent' OR i.status = 'part_paid')
    AND NOT EXISTS (
        SELECT 1 FROM invoice_reminders AS r
        WHERE r.org_id = i.org_id AND r.invoice_id = i.id
            AND (r.days = :days OR (r.status <> 'skipped' AND r.date >= :today))
    )
ORDER BY i.open_due_date, i.id LIMIT :count
"""
_SELECT_NOTED = """
SELECT days, status, reason, date, mails FROM invoice_reminders
WHERE org_id = :org_id AND invoice_id = :invoice_id ORDER BY days
"""
_INSERT = """
INSERT INTO invoice_reminders (org_id, invoice_id, days, status, reason, date, mails, created_at)
VALUES (:org_id, :invoice_id, :days, :status, :reason, :date, :mails, :now)
"""
_ON_WAY = """
SELECT invoice_id, days FROM invoice_reminders WHERE org_id = :org_id AND status = 'written' AND date >= :since
"""
_SELECT_ON_WAY = f"{_ON_WAY} ORDER BY date DESC, days DESC"
_SELECT_ON_WAY_OF_INVOICE = f"{_ON_WAY} AND invoice_id = :about ORDER BY date DESC, days DESC"
_SELECT_ON_WAY_TO_CLIENT = f"""
{_ON_WAY} AND invoice_id IN (SELECT id FROM invoices WHERE org_id = :org_id AND client_id = :about)
ORDER BY date DESC, days DESC
"""
_WITHDRAW = """
UPDATE invoice_reminders SET status = 'withdrawn', reason = :reason
WHERE org_id = :org_id AND invoice_id = :invoice_id AND days = :days
"""
_SELECT_STOPPED = "SELECT 1 FROM reminder_stops WHERE org_id = :org_id AND invoice_id = :invoice_id"
_STOP = """
INSERT INTO reminder_stops (org_id, invoice_id, created_at) VALUES (:org_id, :invoice_id, :now)
ON CONFLICT (org_id, invoice_id) DO NOTHING
"""
_RESUME = "DELETE FROM reminder_stops WHERE org_id = :org_id AND invoice_id = :invoice_id"


class QueuedMail(NamedTuple):
    """A mail of a reminder, and the address that it goes to."""

    id: str
    recipient: str


class Noted(NamedTuple):
    """A reminder that is done, in one way or another. `date` is ISO."""

    days: int
    status: ReminderStatus
    reason: Reason | None
    date: str
    mails: list[QueuedMail]


class OnWay(NamedTuple):
    """A reminder that was written lately."""

    invoice_id: str
    days: int


def schedule_of(tx: ReadTx) -> ScheduleRow | None:
    """The schedule of the transaction's organization; None: none was set."""
    id_: str | None = tx.value(_SELECT_OWN)
    return None if id_ is None else SCHEDULES.get(tx, id_)


def rungs_of(row: ScheduleRow) -> list[Rung]:
    """Its rungs as the rules know them."""
    return [Rung(rung.days, rung.since) for rung in row.rungs]


def organizations(tx: ReadTx) -> list[str]:
    """Those that remind, and that somebody acts for."""
    return [org_id for (org_id,) in tx.rows(_SELECT_ENABLED_ANY_ORG)]


def due(tx: ReadTx, count: int) -> list[str]:
    """Some of the organization's invoices of which a rung has come, the earliest due date first."""
    row = schedule_of(tx)
    if row is None or not row.enabled:
        return []
    found: dict[str, None] = {}
    for rung in rungs_of(row):
        first, last = days_after(rung.since, -rung.days), days_after(tx.today, -rung.days)
        ids = tx.rows(_SELECT_DUE, first=first, last=last, days=rung.days, today=tx.today, count=count)
        found.update((id_, None) for (id_,) in ids)
    return list(found)[:count]


def noted(tx: ReadTx, invoice_id: str) -> list[Noted]:
    """What was done of an invoice, by rung."""
    rows = tx.rows(_SELECT_NOTED, invoice_id=invoice_id)
    return [Noted(days, status, reason, date, _mails(mails)) for days, status, reason, date, mails in rows]


def note_skipped(tx: WriteTx, invoice_id: str, skipped: Iterable[tuple[int, Reason]]) -> None:
    """Leave out rungs of an invoice for good."""
    for days, reason in skipped:
        _note(tx, invoice_id, days, "skipped", reason, [])


def note_written(tx: WriteTx, invoice_id: str, days: int, mails: list[QueuedMail]) -> None:
    """Note that a rung was written."""
    _note(tx, invoice_id, days, "written", None, mails)


def on_way(tx: ReadTx) -> list[OnWay]:
    """What the organization's mails may be on their way of, the latest first."""
    return _on_way(tx, _SELECT_ON_WAY)


def on_way_of_invoice(tx: ReadTx, invoice_id: str) -> list[OnWay]:
    """The same of one invoice."""
    return _on_way(tx, _SELECT_ON_WAY_OF_INVOICE, about=invoice_id)


def on_way_to_client(tx: ReadTx, client_id: str) -> list[OnWay]:
    """The same of all invoices of a client."""
    return _on_way(tx, _SELECT_ON_WAY_TO_CLIENT, about=client_id)


def note_withdrawn(tx: WriteTx, one: OnWay, reason: Reason) -> None:
    """Note that a reminder was taken back before it was sent."""
    tx.run(_WITHDRAW, invoice_id=one.invoice_id, days=one.days, reason=reason)


def is_stopped(tx: ReadTx, invoice_id: str) -> bool:
    """Whether somebody has stopped the reminders of an invoice."""
    return tx.row(_SELECT_STOPPED, invoice_id=invoice_id) is not None


def stop(tx: WriteTx, invoice_id: str) -> None:
    """Remind of an invoice no more."""
    tx.run(_STOP, invoice_id=invoice_id)


def resume(tx: WriteTx, invoice_id: str) -> None:
    """Remind of an invoice again."""
    tx.run(_RESUME, invoice_id=invoice_id)


def _note(
    tx: WriteTx, invoice_id: str, days: int, status: ReminderStatus, reason: Reason | None, mails: list[QueuedMail]
) -> None:
    values = {"days": days, "status": status, "reason": reason, "mails": msgspec.json.encode(mails).decode()}
    tx.run(_INSERT, invoice_id=invoice_id, date=tx.today, **values)


def _on_way(tx: ReadTx, sql: str, **values: str) -> list[OnWay]:
    rows = tx.rows(sql, since=days_after(tx.today, -ON_ITS_WAY_DAYS), **values)
    return [OnWay(*row) for row in rows]


def _mails(text: str) -> list[QueuedMail]:
    return msgspec.json.decode(text, type=list[QueuedMail])
