"""Two processes with one index: who slept writes nothing of what a document was, nor among what another writes."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
import trio

from gatewayd.store import Store
from tests.search.conftest import DEADLINE, ORG, OpenShelf, Shelf
from tests.search.test_interrupted import LONG
from tests.support.store import ON_POSTGRESQL
from tests.support.watched_store import WatchedStore

PARTS = "SELECT first_page, last_page FROM vault_index_parts ORDER BY number"
WORDS = "SELECT name, body, exact FROM vault_words ORDER BY rowid"
WORDS_ON_POSTGRESQL = "SELECT name, body, CAST(words AS text) FROM vault_part_words ORDER BY number"


class SleepingStore(WatchedStore):
    """A store whose user is stopped before its n-th write, until somebody wakes it."""

    def __init__(self, store: Store, writes: int) -> None:
        super().__init__(store)
        self._left = writes
        self.asleep, self.awake, self.writes = trio.Event(), trio.Event(), 0

    async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
        self._left -= 1
        if self._left == 0:
            self.asleep.set()
            await self.awake.wait()
        result = await write()
        self.writes += 1
        return result


async def index_of(shelf: Shelf) -> tuple[list[Any], list[Any]]:
    """All that stands in it."""
    words = WORDS_ON_POSTGRESQL if ON_POSTGRESQL else WORDS
    return await shelf.store.read_later(lambda tx: (tx.rows(PARTS), tx.rows(words)), ORG)


@pytest.mark.parametrize(("text", "writes"), [("The boiler.", 1), (LONG, 1), (LONG, 2), (LONG, 3)])
async def test_who_sleeps_writes_nothing_of_what_a_document_was(open_shelf: OpenShelf, text: str, writes: int) -> None:
    stores: list[SleepingStore] = []

    def watch(store: Store) -> Store:
        stores.append(SleepingStore(store, writes))
        return cast(Store, stores[0])

    async with open_shelf(watch=watch) as shelf:
        id_ = await shelf.add(text)
        with trio.fail_after(DEADLINE):
            await stores[0].asleep.wait()
        async with open_shelf() as other:
            assert await other.ids("boiler") == [id_]
            await other.read_anew(id_, "The radiator.")
            assert await other.ids("radiator") == [id_]
            done, before = await index_of(other), stores[0].writes
            stores[0].awake.set()
            with trio.fail_after(DEADLINE):
                while stores[0].writes == before:
                    await trio.sleep(0.01)
            assert await index_of(other) == done
            assert await other.ids("boiler", mode="text") == []
