"""A reader that a document has misled: it hangs, crashes, takes all memory, talks without end, tries everything."""

import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from gatewayd.clock import SystemClock
from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.reader import DocumentReader, ReaderSettings
from gatewayd.extraction.shapes import ExtractionFailed
from gatewayd.isolation.forking import Forking
from tests.extraction import misbehaving
from tests.extraction.processes import below, resident_bytes

SETTINGS = ReaderSettings(
    deadline_seconds=1_200, cpu_seconds=20, memory_bytes=500 << 20, bounds=Bounds(characters=100_000)
)
Ours = Callable[[], set[int]]
PATIENCE = 60.0  # seconds; the machine may have much else to do


@contextlib.asynccontextmanager
async def misled(settings: ReaderSettings = SETTINGS, idle_seconds: float = 300) -> AsyncIterator[DocumentReader]:
    forking = Forking(misbehaving.ENTRY, [str(idle_seconds)])
    try:
        yield DocumentReader(settings, forking, SystemClock())
    finally:
        await forking.aclose()


async def told(reader: DocumentReader, path: Path, deed: str) -> str:
    path.write_text(deed)
    return (await reader.read(path, "a", "")).pages[0].text


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(PATIENCE):
        while not condition():
            await trio.sleep(0.02)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "document"


@pytest.fixture
def ours() -> Ours:
    """The processes below this one that the test has started: others were there before."""
    before = below(os.getpid())
    return lambda: below(os.getpid()) - before


async def test_whatever_a_reader_does_it_ends_with_a_code_and_the_next_is_read(path: Path, ours: Ours) -> None:
    async with misled() as reader:
        assert await told(reader, path, "say before") == "before"
        template = ours()
        before = resident_bytes()
        for deed, code in (
            ("crash", "crashed"),
            ("leave", "crashed"),
            ("cut", "crashed"),
            ("garble", "crashed"),
            ("talk", "crashed"),
            ("allocate", "out_of_memory"),
            ("allocate-in-C", "out_of_memory"),
        ):
            with pytest.raises(ExtractionFailed) as caught:
                await told(reader, path, deed)
            assert (deed, caught.value.code) == (deed, code)
            assert await told(reader, path, "say after") == "after"
        assert ours() == template, "the same template, and nothing below it"
        assert resident_bytes() - before < 8 << 20


async def test_one_that_hangs_is_killed_with_what_it_started(path: Path, ours: Ours, leaping_clock: MockClock) -> None:
    async with misled() as reader:
        assert await told(reader, path, "say before") == "before"
        template = ours()
        async with trio.open_nursery() as nursery:

            async def hang() -> None:
                with pytest.raises(ExtractionFailed) as caught:
                    await told(reader, path, "%PDF-hang")
                assert caught.value.code == "too_slow"

            nursery.start_soon(hang)
            await until(lambda: len(ours()) == len(template) + 2)  # the child and its companion
            leaping_clock.jump(SETTINGS.deadline_seconds)
        await until(lambda: ours() == template)


async def test_one_that_is_not_wanted_any_more_is_gone(path: Path, ours: Ours) -> None:
    async with misled() as reader:
        assert await told(reader, path, "say before") == "before"
        template = ours()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(told, reader, path, "%PDF-hang")
            await until(lambda: len(ours()) > len(template))
            nursery.cancel_scope.cancel()
        await until(lambda: ours() == template)
        assert await told(reader, path, "say after") == "after"


async def test_a_template_that_is_killed_is_started_anew(path: Path, ours: Ours) -> None:
    async with misled() as reader:
        assert await told(reader, path, "say before") == "before"
        template = ours()
        for pid in template:
            os.kill(pid, signal.SIGKILL)
        assert await told(reader, path, "say after") == "after"
        assert not ours() & template


async def test_what_a_killed_template_was_reading_is_read_again(path: Path, tmp_path: Path, ours: Ours) -> None:
    """Its child dies with it; the second attempt's hangs too, and is killed with the second template."""
    async with misled() as reader:
        assert await told(reader, path, "say before") == "before"
        async with trio.open_nursery() as nursery:

            async def hang() -> None:
                with pytest.raises(ExtractionFailed) as caught:
                    await told(reader, path, "hang")
                assert caught.value.code == "crashed"

            nursery.start_soon(hang)
            seen: set[int] = set()
            for _ in range(2):
                await until(lambda seen=frozenset(seen): len(ours() - seen) == 2)  # type: ignore[misc]
                seen |= ours()
                os.kill(min(ours()), signal.SIGKILL)
        assert await told(reader, tmp_path / "next", "say after") == "after"
        await until(lambda: len(ours()) == 1)


async def test_an_idle_template_ends(path: Path, ours: Ours) -> None:
    async with misled(idle_seconds=0.05) as reader:
        for number in range(4):
            assert await told(reader, path, f"say {number}") == str(number)
            await until(lambda: not ours())


async def test_a_template_that_ends_takes_no_request_with_it(path: Path) -> None:
    """Whatever the instant at which it goes, the document is read: also by one that is idle for no time at all."""
    for idle_seconds in (0.0, 0.01):
        async with misled(idle_seconds=idle_seconds) as reader:
            for number in range(3):
                assert await told(reader, path, f"say {number}") == str(number)
                await trio.sleep(0.004 * number)


async def test_a_reader_can_do_nothing_but_read(path: Path, tmp_path: Path) -> None:
    database = tmp_path / "gatewayd.db"
    database.write_bytes(b"SQLite format 3\0")
    paths = f"/etc/passwd /etc/hostname /proc/self/environ {database} {path} {tmp_path} /dev/null"
    async with misled() as reader:
        assert await told(reader, path, f"probe {paths}") == "tried"
        assert path.read_text().startswith("probe")
