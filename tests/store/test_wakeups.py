"""Topics: nobody who looked, then waited, ever misses what was committed in between."""

from pathlib import Path

import pytest
import trio
import trio.testing

from gatewayd.store import Store, WriteTx
from gatewayd.store.settings import DATABASE_NAME
from gatewayd.store.sqlite import connections
from tests.store.opening import add, insert, names, opened


def _announced(name: str, topic: str = "notes") -> "_Announcing":
    return _Announcing(name, topic)


class _Announcing:
    def __init__(self, name: str, topic: str) -> None:
        self._name, self._topic = name, topic

    def __call__(self, tx: WriteTx) -> None:
        insert(tx, self._name)
        tx.announce(self._topic)


async def test_a_topic_is_woken_by_its_announcement_and_no_other(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        mine, other = store.topic("notes"), store.topic("other")
        assert store.topic("notes") is mine
        await store.write(_announced("a"))
        with trio.fail_after(60):
            await mine.wait()
        assert not other.is_set()
        assert not store.topic("notes").is_set()  # a new one, for the next announcement


async def test_what_was_rolled_back_wakes_nobody(tmp_path: Path) -> None:
    def announce_and_raise(tx: WriteTx) -> None:
        tx.announce("notes")
        raise LookupError

    async with opened(tmp_path) as store:
        event = store.topic("notes")
        with pytest.raises(LookupError):
            await store.write(announce_and_raise)
        await add(store, "a")  # answered after it
        assert not event.is_set()


async def test_no_wake_up_is_lost_between_the_look_and_the_wait(tmp_path: Path) -> None:
    total, seen = 300, 0

    async def follow(store: Store) -> None:
        nonlocal seen
        while seen < total:
            event = store.topic("notes")
            seen = len(store.read_now(names, None))
            if seen < total:
                await event.wait()

    async def write(store: Store, task: int) -> None:
        for number in range(total // 3):
            await store.write(_announced(f"{task}-{number}"))

    async with opened(tmp_path) as store:
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(follow, store)
                for task in range(3):
                    nursery.start_soon(write, store, task)
    assert seen == total


async def test_a_commit_of_another_process_wakes_every_topic(tmp_path: Path) -> None:
    async with opened(tmp_path) as store, trio.open_nursery() as nursery:
        nursery.start_soon(store.watch_other_processes)
        other = connections.open_writer(tmp_path / DATABASE_NAME, 1)
        with trio.fail_after(120):
            await store.topic("notes").wait()  # the first look wakes all
            events = [store.topic("notes"), store.topic("other")]
            other.execute("INSERT INTO notes VALUES ('a', '')")
            for event in events:
                await event.wait()
        other.close()
        nursery.cancel_scope.cancel()


async def test_a_commit_before_the_watch_began_is_noticed(tmp_path: Path) -> None:
    async with opened(tmp_path) as store, trio.open_nursery() as nursery:
        event = store.topic("notes")
        assert store.read_now(names, None) == []
        other = connections.open_writer(tmp_path / DATABASE_NAME, 1)
        other.execute("INSERT INTO notes VALUES ('a', '')")
        other.close()
        nursery.start_soon(store.watch_other_processes)
        with trio.fail_after(120):
            await event.wait()
        nursery.cancel_scope.cancel()


async def test_a_quiet_database_wakes_nobody(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    async with opened(tmp_path) as store, trio.open_nursery() as nursery:
        nursery.start_soon(store.watch_other_processes)
        await store.topic("notes").wait()
        event = store.topic("notes")
        with trio.move_on_after(60):
            await event.wait()
        assert not event.is_set()
        nursery.cancel_scope.cancel()
