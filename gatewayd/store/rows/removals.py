"""What was deleted of the resources, so that a copy of a list can follow. Owns `removals` and `removals_forgotten`.

A removal bears an instant in the order of `updated_at`, and so stands among the changes of its list. It is kept 90
days. Whoever read the list last before one that is forgotten, or in a time that a restore from a backup took back, is
told to begin anew.
"""

from collections.abc import Sequence
from typing import Final

from gatewayd.clock import DAY, SECOND, Instant
from gatewayd.store.transactions import ReadTx, Row, WriteTx

KEPT: Final = 90 * DAY
MILLISECOND: Final = SECOND // 1_000
FORGOTTEN_AT_ONCE: Final = 1_000  # Chosen: rows of one transaction

_KEEP = """
INSERT INTO removals (org_id, resource, removed_at, id) VALUES (:org_id, :resource, :removed_at, :id)
"""
_SELECT_BEHIND = """
SELECT removed_at, id FROM removals
WHERE org_id = :org_id AND resource = :resource AND (removed_at, id) > (:after_at, :after_id)
ORDER BY removed_at, id LIMIT :count
"""
_SELECT_LOST = """
SELECT 1 FROM removals_forgotten WHERE org_id = :org_id AND resource = :resource AND latest > :since
UNION ALL SELECT 1 FROM restores WHERE restored_at >= :since AND backup_made_at <= :read_to
LIMIT 1
"""
_SELECT_CREATED = "SELECT created_at FROM organizations WHERE id = :org_id"
_SELECT_OLD_ANY_ORG = """
SELECT org_id, resource, removed_at, id FROM removals WHERE removed_at < :before ORDER BY removed_at LIMIT :count
"""
_FORGET = """
DELETE FROM removals
WHERE org_id = :org_id AND resource = :resource AND removed_at = :removed_at AND id = :id
"""
_NOTE_FORGOTTEN = """
INSERT INTO removals_forgotten (org_id, resource, latest) VALUES (:org_id, :resource, :removed_at)
ON CONFLICT (org_id, resource) DO UPDATE SET latest = excluded.latest
"""
_INSERT_RESTORE = """
INSERT INTO restores (restored_at, backup_made_at) VALUES (:restored_at, :backup_made_at)
ON CONFLICT (restored_at) DO NOTHING
"""


def keep(tx: WriteTx, resource: str, id_: str) -> None:
    """Keep that a row of a table was deleted now."""
    tx.run(_KEEP, resource=resource, removed_at=tx.updated_at, id=id_)


def keep_all(tx: WriteTx, resource: str, ids: Sequence[str]) -> None:
    """Keep that rows of a table were deleted now."""
    tx.run_each(_KEEP, [(tx.org_id, resource, tx.updated_at, id_) for id_ in ids])


def behind(tx: ReadTx, resource: str, key: tuple[int, str], count: int) -> list[Row]:
    """When and what was removed behind an instant and an id, in this order, at most `count`."""
    return tx.rows(_SELECT_BEHIND, resource=resource, after_at=key[0], after_id=key[1], count=count)


def is_lost(tx: ReadTx, resource: str, since: Instant, read_to: Instant, began: Instant | None) -> bool:
    """Whether something may have become of a list that nobody can tell any more.

    It is asked for since an instant, and was read up to another, on pages of which the first was answered when it
    `began`; None: that is not known, or there was none yet. Nothing is lost to who begins before the organization was
    made, as a first copy does: what was deleted before it began was on none of its pages.
    """
    created: int = tx.value(_SELECT_CREATED)
    told_to = _told_to(read_to)
    if told_to < created:
        return False
    if began is not None and _told_to(since) < created:
        told_to = max(told_to, began)
    return tx.row(_SELECT_LOST, resource=resource, since=told_to, read_to=read_to) is not None


def _told_to(instant: Instant) -> int:
    """Up to when everything was told to whoever names an instant: answers round down to the millisecond."""
    return instant if instant % MILLISECOND else instant + MILLISECOND - 1


def forget_some(tx: WriteTx, before: Instant) -> int:
    """Forget some removals of before an instant, of all organizations, and keep that there were. Answers how many."""
    old = tx.rows(_SELECT_OLD_ANY_ORG, before=before, count=FORGOTTEN_AT_ONCE)
    for org_id, resource, removed_at, id_ in old:
        tx.bind(org_id)
        tx.run(_NOTE_FORGOTTEN, resource=resource, removed_at=removed_at)
        tx.run(_FORGET, resource=resource, removed_at=removed_at, id=id_)
    return len(old)


def note_restore(tx: WriteTx, backup_made_at: Instant, restored_at: Instant) -> None:
    """Keep that what changed between two instants was taken back."""
    tx.run(_INSERT_RESTORE, restored_at=restored_at, backup_made_at=backup_made_at)
