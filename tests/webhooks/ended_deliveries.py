"""Deliveries that have ended, without attempts being made."""

from collections.abc import Sequence
from datetime import datetime

from gatewayd.clock import to_wire
from tests.support.store import MemoryStore

_SELECT_WAITING = """
SELECT id FROM deliveries WHERE org_id = :org_id AND due_at IS NOT NULL ORDER BY id LIMIT :count
"""
_FINISH = """
UPDATE deliveries SET status = :status, due_at = NULL, in_flight = 0, completed_at = :now
WHERE org_id = :org_id AND id = :id
"""


def finish(store: MemoryStore, org_id: str, *statuses: str) -> list[str]:
    """End the oldest deliveries that wait, each in its way; returns their ids."""
    return [_finish_oldest(store, org_id, status) for status in statuses]


def request_time(store: MemoryStore) -> datetime:
    """The present instant, as a request names it."""
    return datetime.fromisoformat(to_wire(store.clock.now()))


def ids_in_order(store: MemoryStore, org_id: str) -> Sequence[str]:
    """The ids of all deliveries, oldest first."""
    sql = "SELECT id FROM deliveries WHERE org_id = :org_id ORDER BY id"
    return [row[0] for row in store.read(lambda tx: tx.rows(sql), org_id)]


def end(store: MemoryStore, org_id: str, delivery_id: str, status: str) -> None:
    """End one delivery."""
    assert store.write(lambda tx: tx.run(_FINISH, id=delivery_id, status=status), org_id) == 1


def _finish_oldest(store: MemoryStore, org_id: str, status: str) -> str:
    delivery_id = str(store.read(lambda tx: tx.value(_SELECT_WAITING, count=1), org_id))
    end(store, org_id, delivery_id, status)
    return delivery_id
