"""Recurring invoices as they are stored. Owns the tables `recurring_invoices` and `recurring_days`.

A day of a rhythm is written in the transaction that makes its invoice, and its key lets nobody write it again.
"""

import datetime
from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.accounting.recurring import rhythm
from gatewayd.areas.accounting.recurring.rhythm import Rhythm
from gatewayd.areas.accounting.recurring.shapes import StoredRecurring
from gatewayd.store import ReadTx, Table, WriteTx


def _skipped_dates(tx: ReadTx, row: StoredRecurring) -> list[str]:
    return [str(date) for (date,) in tx.rows(_SELECT_SKIPPED, id=row.id)]


RECURRING: Final = Table(
    "recurring_invoices",
    StoredRecurring,
    kind="recurring invoice",
    prefix="rec",
    derived={"skipped_dates": _skipped_dates},
)
_SELECT_SKIPPED = """
SELECT date FROM recurring_days
WHERE org_id = :org_id AND recurring_id = :id AND invoice_id IS NULL ORDER BY date
"""
_INSERT_DAY = """
INSERT INTO recurring_days (org_id, recurring_id, date, invoice_id, created_at)
VALUES (:org_id, :recurring_id, :date, :invoice_id, :now)
"""
_SELECT_DUE_ANY_ORG = """
SELECT org_id, id, next_date FROM (
    SELECT r.org_id, r.id, next_date, row_number() OVER (PARTITION BY r.org_id ORDER BY next_date, r.id) AS turn
    FROM recurring_invoices r JOIN organizations o ON o.id = r.org_id
    WHERE status = 'active' AND next_date <= :today AND suspended_at IS NULL AND deleting_since IS NULL
) AS due ORDER BY turn IS NULL, turn, id IS NULL, id LIMIT :count
"""


class Due(NamedTuple):
    """A recurring invoice whose next day, an ISO date, has come."""

    org_id: str
    id: str
    date: str


def due(tx: ReadTx, count: int) -> list[Due]:
    """Some of what is due in all organizations that somebody acts for: of each the oldest first, in turns."""
    return [Due(*row) for row in tx.rows(_SELECT_DUE_ANY_ORG, today=tx.today, count=count)]


def rhythm_of(row: StoredRecurring) -> Rhythm:
    """The rhythm that a row has."""
    end = None if row.end_date is None else datetime.date.fromisoformat(row.end_date)
    start = datetime.date.fromisoformat(row.start_date)
    return Rhythm(row.every, row.unit, start, row.day_of_month, end, row.times)


def made(tx: WriteTx, row: StoredRecurring, invoice_id: str, charged: list[str]) -> StoredRecurring:
    """Store that the invoice of `next_date` is made; what it bore is `charged`.

    Chosen: that is no change that a caller's `expectedVersion` could run into.
    """
    tx.run(_INSERT_DAY, recurring_id=row.id, date=row.next_date, invoice_id=invoice_id)
    after = replace(row, next_index=row.next_index + 1, made_count=row.made_count + 1, charged=charged)
    return RECURRING.save(tx, moved_on(after))


def skip(tx: WriteTx, row: StoredRecurring, dates: Iterable[str]) -> StoredRecurring:
    """Leave out the days that come next, for good. Answers the row as it is to be stored."""
    values = [(tx.org_id, row.id, date, None, tx.now) for date in dates]
    tx.run_each(_INSERT_DAY, values)
    return moved_on(replace(row, next_index=row.next_index + len(values)))


def moved_on(row: StoredRecurring) -> StoredRecurring:
    """The row with the day that its rhythm has next; without one it has ended."""
    date = rhythm.day(rhythm_of(row), row.next_index)
    return ended(row) if date is None else replace(row, next_date=date)


def ended(row: StoredRecurring) -> StoredRecurring:
    """The row without any further day."""
    return replace(unhalted(row), status="ended", next_date=None)


def unhalted(row: StoredRecurring) -> StoredRecurring:
    """The row without what halted it."""
    return replace(row, halted_code=None, halted_reason=None, halted_at=None)
