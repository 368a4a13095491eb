"""Tells of deadlines through the outbox: once that a due date comes near, and once that it has passed.

What was told stands in the obligation's row, written in the transaction of the event: a kill neither loses an event nor
sends it twice. Another due date is told of anew.
"""

import datetime
from typing import Final

from gatewayd import events
from gatewayd.clock import Instant, days_after, london_date
from gatewayd.ledger.obligations import obligations
from gatewayd.ledger.obligations.obligations import OBLIGATIONS, ObligationRow
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import ReadTx, WriteTx

TOLD_AT_ONCE: Final = 50  # Chosen: obligations in one transaction, some milliseconds

_SELECT_TO_COME_ANY_ORG = """
SELECT org_id, id FROM obligations
WHERE status = 'open' AND undecided = 0 AND (due_soon_for IS NULL OR due_soon_for <> due_date)
    AND due_date >= :today AND due_date <= :until
ORDER BY due_date, id LIMIT :count
"""
_SELECT_PASSED_ANY_ORG = """
SELECT org_id, id FROM obligations
WHERE status = 'open' AND undecided = 0 AND (overdue_for IS NULL OR overdue_for <> due_date) AND due_date < :today
ORDER BY due_date, id LIMIT :count
"""
_SELECT_CHANGED = """
SELECT max(at) FROM obligation_events
WHERE org_id = :org_id AND obligation_id = :id AND type = 'due_date_changed'
"""


def is_silent(tx: ReadTx, days: int) -> bool:
    """Whether there is nothing to tell; `days` is how long before it a due date is near."""
    return (
        tx.row(_SELECT_PASSED_ANY_ORG, today=tx.today, count=1) is None
        and tx.row(_SELECT_TO_COME_ANY_ORG, today=tx.today, until=days_after(tx.today, days), count=1) is None
    )


def tell_some(tx: WriteTx, days: int) -> None:
    """Tell of some of what there is to tell of, in all organizations."""
    for org_id, id_ in tx.rows(_SELECT_PASSED_ANY_ORG, today=tx.today, count=TOLD_AT_ONCE):
        tx.bind(org_id)
        row = OBLIGATIONS.get(tx, id_)
        if _was_known(tx, row):
            _tell(tx, "obligation.overdue", row)
        obligations.mark_overdue(tx, id_)
    for org_id, id_ in tx.rows(
        _SELECT_TO_COME_ANY_ORG, today=tx.today, until=days_after(tx.today, days), count=TOLD_AT_ONCE
    ):
        tx.bind(org_id)
        _tell(tx, "obligation.due_soon", OBLIGATIONS.get(tx, id_))
        obligations.mark_due_soon(tx, id_)


def _was_known(tx: ReadTx, row: ObligationRow) -> bool:
    """Whether the due date stood in the books on that day.

    Chosen: what was due before its entity came into the books, and a date that is put right once it has passed, are no
    news, or the first start would tell of a whole year.
    """
    changed = tx.value(_SELECT_CHANGED, id=row.id)
    return london_date(Instant(max(row.created_at, changed or 0))) <= row.due_date


def _tell(tx: WriteTx, kind: str, row: ObligationRow) -> None:
    """Record the event, unless the entity is archived: nobody waits for it."""
    owner = owners.find(tx, row.legal_entity_id)
    if owner is None or owner.archived:
        return
    left = datetime.date.fromisoformat(row.due_date) - datetime.date.fromisoformat(tx.today)
    data = {
        "obligation_id": row.id,
        "kind": row.kind,
        "legal_entity_id": row.legal_entity_id,
        "business_id": row.business_id,
        "period_start_date": row.period_start_date,
        "period_end_date": row.period_end_date,
        "due_date": row.due_date,
        "days_until_due": left.days,
        "confidence": row.confidence,
    }
    events.append(tx, kind, data)
