"""What a plan needs of the database: the rows of some days, and what the account has of them. Reads only."""

from collections.abc import Iterable
from typing import Final

from gatewayd.areas.banking.imports.duplicates import DAYS_APART, Candidate, Known, Stored
from gatewayd.areas.banking.transactions.texts import normalised
from gatewayd.clock import days_after
from gatewayd.store import ReadTx, Row

PENDING_MAX: Final = 5_000  # Chosen: pending lines of one account that are looked at

_SELECT_DAYS = """
SELECT date, count(position) FROM import_rows WHERE org_id = :org_id AND import_id = :import_id
GROUP BY date ORDER BY date
"""
_SELECT_CANDIDATES = """
SELECT position, statement, date, amount, status, description, match_key, fit_id, bank_reference,
    fingerprint
FROM import_rows
WHERE org_id = :org_id AND import_id = :import_id AND date >= :first AND date <= :last ORDER BY date, position
"""
_STORED = """
stored.id, stored.date, stored.amount, stored.status, stored.description, stored.match_key, stored.fit_id,
    stored.bank_reference, stored.fingerprint, runs.format
FROM bank_transactions AS stored
LEFT JOIN import_runs AS runs ON runs.org_id = :org_id AND runs.id = stored.import_id
"""
_SELECT_STORED = f"""
SELECT {_STORED}
WHERE stored.org_id = :org_id AND stored.account_id = :account_id AND stored.date >= :first AND stored.date <= :last
    AND stored.status <> 'pending'
ORDER BY stored.date, stored.id
"""
_SELECT_PENDING = f"""
SELECT {_STORED}
WHERE stored.org_id = :org_id AND stored.account_id = :account_id AND stored.status = 'pending'
ORDER BY stored.date, stored.id LIMIT :count
"""
_SELECT_BY_ID = f"""
SELECT {_STORED}
WHERE stored.org_id = :org_id AND stored.account_id = :account_id AND stored.fit_id IN (
    SELECT fit_id FROM import_rows
    WHERE org_id = :org_id AND import_id = :import_id AND date >= :first AND date <= :last AND fit_id IS NOT NULL
)
AND stored.date >= :from_date AND stored.date <= :to_date
ORDER BY stored.date, stored.id
"""


def days(tx: ReadTx, import_id: str) -> list[tuple[str, int]]:
    """The days of a file, with how many rows each has."""
    return [(row[0], row[1]) for row in tx.rows(_SELECT_DAYS, import_id=import_id)]


def candidates(tx: ReadTx, import_id: str, first: str, last: str) -> dict[str, list[Candidate]]:
    """The rows of some days, by day, in the order of the file."""
    found: dict[str, list[Candidate]] = {}
    for row in tx.rows(_SELECT_CANDIDATES, import_id=import_id, first=first, last=last):
        position, statement, date, amount, status, description, *rest = row
        one = Candidate(position, statement, date, amount, status, normalised(description), *rest)
        found.setdefault(one.date, []).append(one)
    return found


def pending(tx: ReadTx, account_id: str) -> dict[int, list[Stored]]:
    """The account's pending lines, by amount."""
    return _by_amount(_stored(tx.rows(_SELECT_PENDING, account_id=account_id, count=PENDING_MAX)))


def known(
    tx: ReadTx, account_id: str, import_id: str, of_days: dict[str, list[Candidate]], waiting: dict[int, list[Stored]]
) -> dict[str, Known]:
    """What the account has that the rows of some days may be, by day. `waiting` is what `pending` answered."""
    first, last = min(of_days), max(of_days)
    before, after = days_after(first, -DAYS_APART), days_after(last, DAYS_APART)
    has_pending = any(one.status == "pending" for rows in of_days.values() for one in rows)
    span = {"first": before, "last": after} if has_pending else {"first": first, "last": last}
    booked = _stored(tx.rows(_SELECT_STORED, account_id=account_id, **span))
    by_id: dict[str, list[Stored]] = {}
    if any(one.fit_id is not None for rows in of_days.values() for one in rows):
        rows = {"import_id": import_id, "first": first, "last": last}
        for one in _stored(tx.rows(_SELECT_BY_ID, account_id=account_id, from_date=before, to_date=after, **rows)):
            by_id.setdefault(one.fit_id or "", []).append(one)
    around = _by_amount(booked) if has_pending else {}
    of_day: dict[str, list[Stored]] = {}
    for one in booked:
        of_day.setdefault(one.date, []).append(one)
    return {day: Known(of_day.get(day, []), by_id, waiting, around) for day in of_days}


def _stored(rows: Iterable[Row]) -> list[Stored]:
    return [
        Stored(id_, date, amount, status, normalised(description), *rest)
        for id_, date, amount, status, description, *rest in rows
    ]


def _by_amount(stored: Iterable[Stored]) -> dict[int, list[Stored]]:
    found: dict[int, list[Stored]] = {}
    for one in stored:
        found.setdefault(one.amount, []).append(one)
    return found
