"""Closed periods: ranges of days in which books stay as they are. Owns the table `period_locks`.

Code that enters a figure into the books checks this first; a closed day is refused with `period_closed`.

A range is of a legal entity, or of one of its businesses (decision 0019): the first closes what any of them enters, the
second what is entered for that business.
"""

from gatewayd.errors import Problem
from gatewayd.store import ReadTx, WriteTx

_SELECT_CLOSED = """
SELECT 1 FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND start_date <= :date AND end_date >= :date
    AND (business_id IS NULL OR business_id = :business_id)
LIMIT 1
"""
_SELECT_CLOSED_FOR = """
SELECT business_id FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND start_date <= :date AND end_date >= :date
"""
_SELECT_ANY = """
SELECT 1 FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id LIMIT 1
"""
_SELECT_ANY_OF_BUSINESS = """
SELECT 1 FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND (business_id IS NULL OR business_id = :business_id)
LIMIT 1
"""
_SELECT_RANGE = """
SELECT 1 FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND coalesce(business_id, '') = :of
    AND start_date = :start_date AND end_date = :end_date
"""
_SELECT_RANGES = """
SELECT start_date, end_date FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND business_id IS NULL ORDER BY start_date, end_date
"""
_INSERT = """
INSERT INTO period_locks (org_id, legal_entity_id, business_id, start_date, end_date, closed_at)
VALUES (:org_id, :legal_entity_id, :business_id, :start_date, :end_date, :now)
"""
_DELETE = """
DELETE FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND coalesce(business_id, '') = :of
    AND start_date = :start_date AND end_date = :end_date
"""


def is_closed(tx: ReadTx, legal_entity_id: str | None, date: str, business_id: str | None = None) -> bool:
    """True where the ISO date lies in a closed range of the entity, or of the business that a figure is of.

    Nothing is closed for None, the organization itself.
    """
    if legal_entity_id is None:
        return False
    return tx.row(_SELECT_CLOSED, legal_entity_id=legal_entity_id, date=date, business_id=business_id) is not None


def closed_for(tx: ReadTx, legal_entity_id: str | None, date: str) -> list[str | None]:
    """The businesses of an entity that have closed an ISO date; None among them: all of the entity."""
    if legal_entity_id is None:
        return []
    return [row[0] for row in tx.rows(_SELECT_CLOSED_FOR, legal_entity_id=legal_entity_id, date=date)]


def closed(date: str) -> Problem:
    """409: an ISO date lies in a closed range."""
    return Problem("period_closed", f"The period that holds {date} is closed.", extra={"date": date})


def closed_ranges(tx: ReadTx, legal_entity_id: str | None) -> list[tuple[str, str]]:
    """The ranges in which all of a legal entity is closed, first and last day: for whoever looks at many dates.

    None has none. Chosen: what a business alone has closed is asked where a bank line becomes a figure of it.
    """
    if legal_entity_id is None:
        return []
    return [(row[0], row[1]) for row in tx.rows(_SELECT_RANGES, legal_entity_id=legal_entity_id)]


def any_closed(tx: ReadTx, legal_entity_id: str, business_id: str | None = None) -> bool:
    """True where the legal entity has a closed range at all; with a business, where it or the entity has one."""
    if business_id is None:
        return tx.row(_SELECT_ANY, legal_entity_id=legal_entity_id) is not None
    return tx.row(_SELECT_ANY_OF_BUSINESS, legal_entity_id=legal_entity_id, business_id=business_id) is not None


def refuse_closed(tx: ReadTx, legal_entity_id: str | None, *dates: str, business_id: str | None = None) -> None:
    """Raises `Problem` `period_closed` where one of the ISO dates lies in a closed range."""
    for date in dict.fromkeys(dates):
        if is_closed(tx, legal_entity_id, date, business_id):
            raise closed(date)


def close(tx: WriteTx, legal_entity_id: str, start_date: str, end_date: str, business_id: str | None = None) -> bool:
    """Close a range of ISO dates, both inclusive; False where this very range is closed already.

    Raises `ValueError` for a range that ends before it starts.
    """
    if end_date < start_date:
        raise ValueError("the range ends before it starts")
    days = {"legal_entity_id": legal_entity_id, "start_date": start_date, "end_date": end_date}
    if tx.row(_SELECT_RANGE, of=business_id or "", **days) is not None:
        return False
    return tx.run(_INSERT, business_id=business_id, **days) == 1


def reopen(tx: WriteTx, legal_entity_id: str, start_date: str, end_date: str, business_id: str | None = None) -> bool:
    """Open exactly this range again; False where no such range is closed. Others that overlap it stay closed."""
    days = {"legal_entity_id": legal_entity_id, "start_date": start_date, "end_date": end_date}
    return tx.run(_DELETE, of=business_id or "", **days) == 1
