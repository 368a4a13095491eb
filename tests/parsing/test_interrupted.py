"""A process that is ended at any moment of an attempt: the next one reads the document, and no attempt is lost."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, cast

import pytest
import trio

from gatewayd.store import ReadTx, Store, StoreFailure
from tests.parsing.conftest import DEADLINE, ORG, OpenArchive
from tests.parsing.test_engine import Gate
from tests.support.document_reading import FakeReader
from tests.support.watched_store import WatchedStore


class EndingStore(WatchedStore):
    """A store whose user is ended before its n-th write, or behind it: from then on it can do nothing more."""

    def __init__(self, store: Store, writes: int, scope: trio.CancelScope, *, behind: bool) -> None:
        super().__init__(store)
        self._left, self._scope, self._behind = writes, scope, behind
        self._is_over = False

    async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
        self._left -= 1
        if self._is_over:
            raise StoreFailure("ended")
        if self._left > 0:
            return await write()
        self._is_over = True
        if self._behind:
            await write()
        self._scope.cancel()
        await trio.sleep_forever()
        raise AssertionError


def _ending(store: Store, *, scope: trio.CancelScope) -> Store:
    """Ended behind its first write, which is the claim."""
    return cast(Store, OverAfterOne(store, 2, scope, behind=False))


class OverAfterOne(EndingStore):
    """A store that takes the claim, and nothing of what its user does once it is ended."""

    async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
        if self._scope.cancel_called:
            raise StoreFailure("ended")
        return await write()


def _ended_at(store: Store, *, writes: int, scope: trio.CancelScope, behind: bool) -> Store:
    return cast(Store, EndingStore(store, writes, scope, behind=behind))


async def kill(open_archive: OpenArchive, writes: int, text: str, *, behind: bool) -> tuple[str, bool]:
    """A document, and whether the process that read it was ended at that write."""
    scope = trio.CancelScope()
    document_id = ""
    gate = Gate()
    watch = partial(_ended_at, writes=writes, scope=scope, behind=behind)
    with scope:
        async with open_archive(FakeReader(wait=gate), watch=watch) as archive:
            try:
                document_id = await archive.add(text)
                gate.opened.set()
                await archive.ended(document_id)
                await archive.settle()
            finally:
                archive.log.logged.clear()  # that it could not even record its end
    return document_id, scope.cancelled_caught


@pytest.mark.parametrize("text", ["some text", "fails:damaged", "fails:encrypted"])
@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("writes", [1, 2, 3])
async def test_an_attempt_that_is_ended_is_made_again(
    open_archive: OpenArchive, writes: int, behind: bool, text: str
) -> None:
    document_id, was_ended = await kill(open_archive, writes, text, behind=behind)
    assert was_ended == (writes < 3), "one write claims, one stores"
    async with open_archive() as archive:
        shown = await archive.ended(document_id)
        ends = await archive.attempts(document_id)
        stored = await archive.text(document_id)
    expected = {"some text": "succeeded", "fails:damaged": "failed", "fails:encrypted": "skipped"}[text]
    assert shown.parse.status == expected
    assert [number for number, _, _ in ends] == list(range(1, len(ends) + 1)), "none is lost"
    assert ends[-1][1] == expected
    assert [end for _, end, _ in ends[:-1]] == ["interrupted"] * (len(ends) - 1)
    was_running = (writes == 1 and behind) or (writes == 2 and not behind)
    assert len(ends) == (2 if was_running else 1)
    assert stored == (text if expected == "succeeded" else "")


async def test_a_stop_costs_no_retry(open_archive: OpenArchive) -> None:
    gate = Gate()
    async with open_archive(FakeReader(wait=gate)) as archive:
        document_id = await archive.add("text")
        with trio.fail_after(DEADLINE):
            await gate.reached.wait()
    async with open_archive() as archive:
        shown = await archive.ended(document_id, attempt=2)
        assert (shown.parse.status, shown.parse.attempt) == ("succeeded", 2)
        assert await archive.attempts(document_id) == [(1, "interrupted", "interrupted"), (2, "succeeded", None)]
        assert await archive.store.read(lambda tx: retries(tx, document_id), ORG) == 0


async def test_a_document_that_ends_the_program_each_time_fails_in_the_end(open_archive: OpenArchive) -> None:
    document_id = ""
    for _ in range(4):
        scope, gate = trio.CancelScope(), Gate()
        watch = partial(_ending, scope=scope)
        with scope:
            async with open_archive(FakeReader(wait=gate), watch=watch) as archive:
                document_id = document_id or await archive.add("kills")
                with trio.fail_after(DEADLINE):
                    await gate.reached.wait()
                archive.log.logged.clear()
                scope.cancel()
                await trio.lowlevel.checkpoint()
    async with open_archive() as archive:
        shown = await archive.ended(document_id)
        assert (shown.parse.status, shown.parse.error_code) == ("failed", "interrupted")
        assert [end for _, end, _ in await archive.attempts(document_id)] == ["interrupted"] * 3 + ["failed"]
        assert archive.reader.read_names == []
        await archive.reparse(document_id)
        assert (await archive.ended(document_id, attempt=5)).parse.status == "succeeded"


async def test_a_disk_that_is_full_loses_nothing_that_was_read(open_archive: OpenArchive) -> None:
    full = [2, 1]

    class Full(WatchedStore):
        async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
            if archive.reader.read_names and full:
                full.pop()
                raise StoreFailure("the disk is full")
            return await write()

    async with open_archive(watch=lambda store: cast(Store, Full(store))) as archive:
        document_id = await archive.add("text")
        assert (await archive.ended(document_id)).parse.status == "succeeded"
        assert archive.reader.read_names == ["a.txt"]
        archive.log.claim("parse_not_stored")  # once


def retries(tx: ReadTx, document_id: str) -> int:
    return int(tx.value("SELECT retries FROM vault_parses WHERE document_id = :id", id=document_id))
