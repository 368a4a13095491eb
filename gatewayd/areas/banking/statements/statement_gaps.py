"""Days of statements whose lines came with another import, which was undone since. Owns the table `statement_gaps`.

A line that two files hold comes with the first of them. When that one is undone the line goes, and the statement of the
other no longer holds its day, until its file is imported again.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from gatewayd.areas.banking.imports.duplicates import DAYS_APART
from gatewayd.clock import days_after
from gatewayd.ledger.dates.date_ranges import DateRange, after, before
from gatewayd.ledger.imports.import_runs import VISIBLE, VISIBLE_LINES
from gatewayd.ledger.imports.import_shapes import DUPLICATES_KEPT
from gatewayd.store import ReadTx, WriteTx

_NEXT_DAY = f"""
SELECT min(date) FROM bank_transactions
WHERE org_id = :org_id AND import_id = :import_id AND date > :after AND {VISIBLE}
"""
_LAST_DAY = f"SELECT max(date) FROM bank_transactions WHERE org_id = :org_id AND import_id = :import_id AND {VISIBLE}"
_OVERLAPPING = """
runs.org_id = :org_id AND runs.account_id = :account_id AND runs.id <> :import_id AND runs.status = 'applied'
    AND runs.from_date <= :last AND runs.to_date >= :first
"""
_NOTE_KEPT = f"""
INSERT INTO statement_gaps (org_id, account_id, import_id, date)
SELECT DISTINCT staged.org_id, runs.account_id, staged.import_id, staged.date
FROM import_runs AS runs CROSS JOIN import_rows AS staged CROSS JOIN bank_transactions AS lines
WHERE {_OVERLAPPING} AND runs.duplicates > 0 AND runs.duplicates <= :kept
    AND staged.org_id = :org_id AND staged.import_id = runs.id AND staged.action = 'duplicate'
    AND lines.org_id = :org_id AND lines.id = staged.existing_transaction_id AND lines.import_id = :import_id
    AND {VISIBLE_LINES}
ON CONFLICT (org_id, account_id, import_id, date) DO NOTHING
"""
"""CROSS JOIN keeps the order: SQLite would begin with whatever is staged in the organization, a preview of millions."""
_SELECT_FORGOTTEN = f"SELECT runs.id FROM import_runs AS runs WHERE {_OVERLAPPING} AND runs.duplicates > :kept"
_NOTE_DAY = """
INSERT INTO statement_gaps (org_id, account_id, import_id, date)
VALUES (:org_id, :account_id, :import_id, :date) ON CONFLICT (org_id, account_id, import_id, date) DO NOTHING
"""
_FORGET = "DELETE FROM statement_gaps WHERE org_id = :org_id AND account_id = :account_id AND import_id = :import_id"
_SELECT = """
SELECT import_id, date FROM statement_gaps WHERE org_id = :org_id AND account_id = :account_id
ORDER BY import_id, date
"""
_ALWAYS_BEFORE: Final = "0000-00-00"


def note(tx: WriteTx, account_id: str, import_id: str) -> None:
    """Note which days other imports' statements lose once the lines of this one go; they are still there now.

    Chosen: an import whose duplicates are no longer kept loses each day on which this one has lines.
    """
    first = tx.value(_NEXT_DAY, import_id=import_id, after=_ALWAYS_BEFORE)
    if first is None:
        return
    span = {
        "account_id": account_id,
        "import_id": import_id,
        "first": days_after(first, -DAYS_APART),  # an id pairs lines that are so far apart
        "last": days_after(str(tx.value(_LAST_DAY, import_id=import_id)), DAYS_APART),
    }
    tx.run(_NOTE_KEPT, kept=DUPLICATES_KEPT, **span)
    forgotten = [str(row[0]) for row in tx.rows(_SELECT_FORGOTTEN, kept=DUPLICATES_KEPT, **span)]
    for date in _days(tx, import_id) if forgotten else ():
        for other_id in forgotten:
            tx.run(_NOTE_DAY, account_id=account_id, import_id=other_id, date=date)


def _days(tx: ReadTx, import_id: str) -> Iterator[str]:
    """The days on which an import has lines. Each is one look into the index."""
    date = tx.value(_NEXT_DAY, import_id=import_id, after=_ALWAYS_BEFORE)
    while date is not None:
        yield date
        date = tx.value(_NEXT_DAY, import_id=import_id, after=date)


def forget(tx: WriteTx, account_id: str, import_id: str) -> None:
    """Forget the days that the statements of an import lost: they count no longer."""
    tx.run(_FORGET, account_id=account_id, import_id=import_id)


def of_account(tx: ReadTx, account_id: str) -> dict[str, list[str]]:
    """The days that were lost, by import, oldest first."""
    by_import: dict[str, list[str]] = {}
    for import_id, date in tx.rows(_SELECT, account_id=account_id):
        by_import.setdefault(import_id, []).append(date)
    return by_import


def without(span: DateRange, days: Iterable[str]) -> Iterator[DateRange]:
    """What is left of a range without some days, which are in order."""
    first = span.first
    for day in days:
        if first <= day <= span.last:
            if first < day:
                yield DateRange(first, before(day))
            first = after(day)
    if first <= span.last:
        yield DateRange(first, span.last)
