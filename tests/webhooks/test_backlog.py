"""What waits in the queues, counted within bounds and read every few seconds at most."""

from pathlib import Path

import pytest
import trio.testing

from gatewayd.clock import MINUTE, SettableClock
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from gatewayd.webhooks.dispatch import backlog as counting
from gatewayd.webhooks.dispatch.backlog import BACKLOG_SECONDS, Backlog, BacklogReader, Bounds, Queue, read_backlog
from tests.support.store import START, MemoryStore
from tests.support.subscribing import add_queues


def test_what_waits_is_counted_with_the_age_of_what_is_due(store: MemoryStore) -> None:
    one, two = add_queues(store, 3, 1)
    store.write(lambda tx: tx.run("UPDATE deliveries SET due_at = :now + 60000000 WHERE subscription_id = :id", id=two))
    store.clock.advance(MINUTE // 2)
    backlog = store.read(read_backlog)
    assert backlog.queues == {one: Queue(3, 30.0), two: Queue(1, 0.0)}
    assert backlog.complete
    store.clock.advance(MINUTE)
    assert store.read(read_backlog).queues == {one: Queue(3, 90.0), two: Queue(1, 30.0)}


def test_what_has_ended_does_not_wait(store: MemoryStore) -> None:
    add_queues(store, 3)
    store.write(lambda tx: tx.run("UPDATE deliveries SET status = 'exhausted', due_at = NULL, completed_at = :now"))
    assert store.read(read_backlog).queues == {}


def test_what_is_held_waits_and_is_not_due(store: MemoryStore) -> None:
    (held,) = add_queues(store, 2)
    disable = """
        UPDATE webhook_subscriptions
        SET enabled = 0, disabled_reason = 'failing', disabled_at = :now, failing_since = :now
    """
    store.write(lambda tx: tx.run(disable))
    add_queues(store, 0, 0, enabled=False)
    add_queues(store, 0)
    store.clock.advance(MINUTE)
    backlog = store.read(read_backlog)
    assert backlog.queues == {held: Queue(2, None)}
    assert backlog.disabled == {"caller": 2, "receiver_gone": 0, "failing": 1, "maker_left": 0, "restored": 0}
    assert backlog.complete


@pytest.mark.parametrize(
    ("bounds", "counted", "complete"),
    [
        (Bounds(3, 4, 9), [4, 1, 3], True),
        (Bounds(3, 3, 100), [3, 1, 3], False),
        (Bounds(2, 4, 100), [4, 1], False),
        (Bounds(3, 4, 7), [4, 1, 2], False),
        (Bounds(3, 4, 4), [4], False),
    ],
)
def test_the_counting_is_bounded_and_says_so(
    store: MemoryStore, bounds: Bounds, counted: list[int], complete: bool
) -> None:
    subscriptions = add_queues(store, 4, 1, 3)
    backlog = store.read(lambda tx: read_backlog(tx, bounds))
    assert {name: queue.pending for name, queue in backlog.queues.items()} == dict(
        zip(subscriptions, counted, strict=False)
    )
    assert backlog.complete is complete


@pytest.mark.parametrize("name", ["_NEXT_QUEUE_ANY_ORG", "_COUNT_QUEUE_ANY_ORG", "_SELECT_ENABLED_ANY_ORG"])
def test_no_table_is_scanned(store: MemoryStore, name: str) -> None:
    values = dict.fromkeys(("after", "subscription_id", "count"), "")
    plan = [row[3] for row in store.connection.execute(f"EXPLAIN QUERY PLAN {getattr(counting, name)}", values)]
    assert any("SEARCH" in line and "INDEX" in line for line in plan)
    assert [line for line in plan if line.startswith("SCAN") and line != "SCAN waiting"] == []


async def test_the_store_is_asked_every_few_seconds_however_often_somebody_asks(
    database_image: bytes, tmp_path: Path, mock_clock: trio.testing.MockClock
) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(database_image)
    async with open_store(StoreSettings(directory=tmp_path), SettableClock(START)) as store:
        reader = BacklogReader(store)
        first = [await reader.latest() for _ in range(20)]
        assert store.long_reads == 1
        mock_clock.jump(BACKLOG_SECONDS + 0.1)
        assert await reader.latest() == first[0] == Backlog({}, dict.fromkeys(first[0].disabled, 0), complete=True)
        assert store.long_reads == 2
