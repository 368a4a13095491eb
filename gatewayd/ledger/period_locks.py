"""Closed periods: ranges of days in which a legal entity's books stay as they are. Owns the table `period_locks`.

Code that enters a figure into the books checks this first; a closed day is refused with `period_closed`.
"""

from gatewayd.errors import Problem
from gatewayd.store import ReadTx, WriteTx

_SELECT_CLOSED = """
SELECT 1 FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND start_date <= :date AND end_date >= :date
LIMIT 1
"""
_SELECT_ANY = """
SELECT 1 FROM period_locks WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id LIMIT 1
"""
_INSERT = """
INSERT INTO period_locks (org_id, legal_entity_id, start_date, end_date, closed_at)
VALUES (:org_id, :legal_entity_id, :start_date, :end_date, :now)
ON CONFLICT (org_id, legal_entity_id, start_date, end_date) DO NOTHING
"""
_DELETE = """
DELETE FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND start_date = :start_date AND end_date = :end_date
"""


def is_closed(tx: ReadTx, legal_entity_id: str | None, date: str) -> bool:
    """True where the ISO date lies in a closed range. Nothing is closed for None, the organization itself."""
    if legal_entity_id is None:
        return False
    return tx.row(_SELECT_CLOSED, legal_entity_id=legal_entity_id, date=date) is not None


def any_closed(tx: ReadTx, legal_entity_id: str) -> bool:
    """True where the legal entity has a closed range at all."""
    return tx.row(_SELECT_ANY, legal_entity_id=legal_entity_id) is not None


def refuse_closed(tx: ReadTx, legal_entity_id: str | None, *dates: str) -> None:
    """Raises `Problem` `period_closed` where one of the ISO dates lies in a closed range."""
    for date in dict.fromkeys(dates):
        if is_closed(tx, legal_entity_id, date):
            raise Problem("period_closed", f"The period that holds {date} is closed.", extra={"date": date})


def close(tx: WriteTx, legal_entity_id: str, start_date: str, end_date: str) -> bool:
    """Close a range of ISO dates, both inclusive; False where this very range is closed already.

    Raises `ValueError` for a range that ends before it starts.
    """
    if end_date < start_date:
        raise ValueError("the range ends before it starts")
    return tx.run(_INSERT, legal_entity_id=legal_entity_id, start_date=start_date, end_date=end_date) == 1


def reopen(tx: WriteTx, legal_entity_id: str, start_date: str, end_date: str) -> bool:
    """Open exactly this range again; False where no such range is closed. Others that overlap it stay closed."""
    return tx.run(_DELETE, legal_entity_id=legal_entity_id, start_date=start_date, end_date=end_date) == 1
