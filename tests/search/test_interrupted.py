"""A process that is ended between any two writes of the index: the next one completes it."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, cast

import pytest
import trio

from gatewayd.store import Store, StoreFailure
from tests.search.conftest import DEADLINE, FakeEmbedder, OpenShelf
from tests.support.watched_store import WatchedStore

LONG = "\f".join([f"page {n} of the boiler and heating, " + "some words " * 1_500 for n in range(24)])


class EndingStore(WatchedStore):
    """A store that can do nothing more from its n-th write on; `over` is set then."""

    def __init__(self, store: Store, writes: int, over: trio.Event) -> None:
        super().__init__(store)
        self._left, self._over = writes, over

    async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
        self._left -= 1
        if self._left < 0:
            self._over.set()
            await trio.sleep_forever()
        return await write()


def _ending(store: Store, *, writes: int, over: trio.Event) -> Store:
    return cast(Store, EndingStore(store, writes, over))


@pytest.mark.parametrize("writes", range(6))
async def test_an_index_that_was_ended_half_way_is_completed(open_shelf: OpenShelf, writes: int) -> None:
    over = trio.Event()
    async with open_shelf(watch=partial(_ending, writes=writes, over=over)) as shelf:
        id_ = await shelf.add(LONG)
        with trio.fail_after(DEADLINE):
            await over.wait()
    async with open_shelf() as shelf:
        for query in ("page 0", "page 23", "letter"):
            assert await shelf.ids(query) == [id_], query
        (found,) = (await shelf.search('"page 23"', mode="text")).data
        assert [one.page for one in found.snippets][:1] == [24]
        assert await shelf.ids("radiator", mode="vector") == [id_]


class FullOnce(WatchedStore):
    """A store whose disk is full once."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.failed = 0

    async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
        if not self.failed:
            self.failed += 1
            raise StoreFailure("the disk is full")
        return await write()


async def test_a_full_disk_is_waited_for(open_shelf: OpenShelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatewayd.search.engine._PAUSE_SECONDS", 0.0)
    full: list[FullOnce] = []

    def watch(store: Store) -> Store:
        full.append(FullOnce(store))
        return cast(Store, full[0])

    async with open_shelf(watch=watch) as shelf:
        id_ = await shelf.add("The boiler.")
        assert await shelf.ids("boiler") == [id_]
        shelf.log.claim("index_not_stored")
    assert full[0].failed == 1


async def test_passages_wait_for_an_embedder_that_is_down(
    open_shelf: OpenShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewayd.search.engine._PAUSE_SECONDS", 0.0)
    embedder = FakeEmbedder(is_down=True)
    async with open_shelf(embedder) as shelf:
        id_ = await shelf.add("The boiler.")
        assert await shelf.ids("boiler") == [id_]
        embedder.is_down = False
        assert await shelf.ids("heating", mode="vector") == [id_]
