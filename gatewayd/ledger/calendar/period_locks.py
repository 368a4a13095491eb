"""Closed periods: ranges of days in which books stay as they are. Owns the table `period_locks`.

Code that enters a figure into the books checks this first; a closed day is refused with `period_closed`. A day of a
period that is being closed is too, unless the caller overrides that (domain model B9): the transaction knows.

A range is of a legal entity, or of one of its businesses (decision 0019): the first closes what any of them enters, the
second what is entered for that business.
"""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from gatewayd.errors import Problem
from gatewayd.store import ReadTx, WriteTx

CLOSING: Final = "closing"
"""The name of the rule, among what a transaction overrides."""
LockState = Literal["closed", "closing"]

_SELECT_LOCKS = """
SELECT business_id, closing FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND start_date <= :date AND end_date >= :date
"""
_SELECT_ANY = """
SELECT 1 FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND closing = 0 LIMIT 1
"""
_SELECT_ANY_OF_BUSINESS = """
SELECT 1 FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND (business_id IS NULL OR business_id = :business_id)
    AND closing = 0
LIMIT 1
"""
_SELECT_RANGE = """
SELECT 1 FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND coalesce(business_id, '') = :of
    AND start_date = :start_date AND end_date = :end_date AND closing = :closing
"""
_SELECT_RANGES = """
SELECT start_date, end_date FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND business_id IS NULL AND closing <= :closing
ORDER BY start_date, end_date
"""
_SELECT_RANGES_OF_BUSINESS = """
SELECT start_date, end_date, closing FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND (business_id IS NULL OR business_id = :business_id)
ORDER BY start_date, end_date, closing
"""
_SELECT_CLOSED = """
SELECT start_date, end_date FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND closing = 0 ORDER BY start_date, end_date
"""
_INSERT = """
INSERT INTO period_locks (org_id, legal_entity_id, business_id, start_date, end_date, closed_at, closing)
VALUES (:org_id, :legal_entity_id, :business_id, :start_date, :end_date, :now, :closing)
"""
_DELETE = """
DELETE FROM period_locks
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND coalesce(business_id, '') = :of
    AND start_date = :start_date AND end_date = :end_date AND closing = :closing
"""


class _Lock(NamedTuple):
    """A range of a legal entity, or of the business `of`, that is closed or, with 1, being closed."""

    legal_entity_id: str
    of: str
    start_date: str
    end_date: str
    closing: int


def is_closed(tx: ReadTx, legal_entity_id: str | None, date: str, business_id: str | None = None) -> bool:
    """True where the ISO date lies in a closed range of the entity, or of the business that a figure is of.

    Nothing is closed for None, the organization itself.
    """
    if legal_entity_id is None:
        return False
    return strictest(locks_on(tx, legal_entity_id, date), business_id) == "closed"


def locks_on(tx: ReadTx, legal_entity_id: str | None, date: str) -> list[tuple[str | None, LockState]]:
    """The locks on an ISO date: each of a business, or of None, the whole legal entity. None has none."""
    if legal_entity_id is None:
        return []
    rows = tx.rows(_SELECT_LOCKS, legal_entity_id=legal_entity_id, date=date)
    return [(row[0], "closing" if row[1] else "closed") for row in rows]


def strictest(locks: Iterable[tuple[str | None, LockState]], business_id: str | None) -> LockState | None:
    """What holds for figures of a business, or of none; None: nothing does."""
    states = {lock for of, lock in locks if of is None or of == business_id}
    return "closed" if "closed" in states else "closing" if states else None


def closed_ranges(tx: ReadTx, legal_entity_id: str | None, overrides: bool) -> list[tuple[str, str]]:
    """The ranges in which all of a legal entity is closed, first and last day: for whoever looks at many dates.

    Those that are being closed are among them, unless that is overridden. None has none.

    Chosen: what a business alone has closed is asked where a bank line becomes a figure of it.
    """
    if legal_entity_id is None:
        return []
    rows = tx.rows(_SELECT_RANGES, legal_entity_id=legal_entity_id, closing=int(not overrides))
    return [(row[0], row[1]) for row in rows]


def all_closed(tx: ReadTx, legal_entity_id: str) -> list[tuple[str, str]]:
    """The ranges in which a legal entity or any of its businesses is closed, first and last day."""
    return [(row[0], row[1]) for row in tx.rows(_SELECT_CLOSED, legal_entity_id=legal_entity_id)]


def ranges_of(tx: ReadTx, legal_entity_id: str, business_id: str) -> list[tuple[str, str, LockState]]:
    """The ranges in which figures of a business are locked, first and last day: its own, and its legal entity's."""
    rows = tx.rows(_SELECT_RANGES_OF_BUSINESS, legal_entity_id=legal_entity_id, business_id=business_id)
    return [(start, end, "closing" if closing else "closed") for start, end, closing in rows]


def last_closed(tx: ReadTx, legal_entity_id: str, business_id: str | None = None) -> str | None:
    """The last closed day of a legal entity, of any of its businesses or of this one alone; None: it has none."""
    if business_id is None:
        return max((end for _, end in all_closed(tx, legal_entity_id)), default=None)
    locks = ranges_of(tx, legal_entity_id, business_id)
    return max((end for _, end, lock in locks if lock == "closed"), default=None)


def any_closed(tx: ReadTx, legal_entity_id: str, business_id: str | None = None) -> bool:
    """True where the legal entity has a closed range at all; with a business, where it or the entity has one."""
    if business_id is None:
        return tx.row(_SELECT_ANY, legal_entity_id=legal_entity_id) is not None
    return tx.row(_SELECT_ANY_OF_BUSINESS, legal_entity_id=legal_entity_id, business_id=business_id) is not None


def refuse_closed(tx: ReadTx, legal_entity_id: str | None, *dates: str, business_id: str | None = None) -> None:
    """Raises `Problem` `period_closed` where one of the ISO dates lies in a closed range.

    So it does in one that is being closed, unless the transaction overrides that.
    """
    if legal_entity_id is None:
        return
    for date in dict.fromkeys(dates):
        locks = locks_on(tx, legal_entity_id, date)
        refuse_lock(tx, date, strictest(locks, business_id))


def refuse_lock(tx: ReadTx, date: str, lock: LockState | None) -> None:
    """Raises `Problem` `period_closed` for a lock on an ISO date that the transaction does not override."""
    if lock == "closed" or (lock == "closing" and CLOSING not in tx.overrides):
        raise refusal(date, lock)


def refusal(date: str, lock: LockState) -> Problem:
    """409 for a date that is locked, with what helps."""
    message = f"The period that holds {date} is closed: `periods.reopen` opens it, to change what lies in it."
    if lock == "closing":
        message = f"The period that holds {date} is being closed: Period-Override: {CLOSING} writes in it all the same."
    return Problem("period_closed", message, extra={"date": date, "state": lock})


def close(tx: WriteTx, legal_entity_id: str, start_date: str, end_date: str, business_id: str | None = None) -> bool:
    """Close a range of ISO dates, both inclusive; False where this very range is closed already.

    Raises `ValueError` for a range that ends before it starts.
    """
    return _lock(tx, _Lock(legal_entity_id, business_id or "", start_date, end_date, 0))


def reopen(tx: WriteTx, legal_entity_id: str, start_date: str, end_date: str, business_id: str | None = None) -> bool:
    """Open exactly this range again; False where no such range is closed. Others that overlap it stay closed."""
    return _unlock(tx, _Lock(legal_entity_id, business_id or "", start_date, end_date, 0))


def begin_closing(
    tx: WriteTx, legal_entity_id: str, start_date: str, end_date: str, business_id: str | None = None
) -> bool:
    """Begin to close a range; False where this very range is being closed already. Raises as `close` does."""
    return _lock(tx, _Lock(legal_entity_id, business_id or "", start_date, end_date, 1))


def end_closing(
    tx: WriteTx, legal_entity_id: str, start_date: str, end_date: str, business_id: str | None = None
) -> bool:
    """This range is no longer being closed: it is closed now, or stays open. False where it was not."""
    return _unlock(tx, _Lock(legal_entity_id, business_id or "", start_date, end_date, 1))


def _lock(tx: WriteTx, lock: _Lock) -> bool:
    if lock.end_date < lock.start_date:
        raise ValueError("the range ends before it starts")
    if tx.row(_SELECT_RANGE, **lock._asdict()) is not None:
        return False
    return tx.run(_INSERT, business_id=lock.of or None, **lock._asdict()) == 1


def _unlock(tx: WriteTx, lock: _Lock) -> bool:
    return tx.run(_DELETE, **lock._asdict()) == 1
