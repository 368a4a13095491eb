"""What readiness, log and numbers say of a store whose disk is full, that is damaged, or that was exchanged."""

import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from gatewayd.clock import DAY, HOUR, MINUTE, SECOND, Instant, SettableClock
from gatewayd.daemon.clock_watch import ClockWatch
from gatewayd.daemon.health import IDLE_SECONDS, Health
from gatewayd.logs import make_logger
from gatewayd.service_manager import Notifier
from gatewayd.store import Store, StoreFailure
from gatewayd.store.database import open_store
from gatewayd.store.latest_change import LatestChange
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.store.faulty_files import FAILING, FULL, Call, FaultyFiles
from tests.store.opening import add, names, opened
from tests.support.store import START

PAGE = 8192
DISK = pytest.mark.sqlite_only("its files are made to fail; of a server test_server_failures.py has it")
FILE = pytest.mark.sqlite_only("damage and exchange of its file, which a server looks after itself")
_INSERT = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"


class Trial:
    """A store, what watches it, and the log."""

    def __init__(self, store: Store) -> None:
        self._stream = io.StringIO()
        self.store = store
        self.health = Health(store, Notifier(), make_logger("json", "info", self._stream))

    async def state(self) -> str:
        """What the next look finds."""
        await self.health.look()
        return self.health.store

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._stream.getvalue().splitlines()]

    def events(self) -> list[str]:
        return [f"{line['level']} {line['event']}" for line in self.lines()]


@asynccontextmanager
async def watched(directory: Path, mock_clock: MockClock) -> AsyncIterator[Trial]:
    async with opened(directory, clock=SettableClock(START, mock_clock.current_time)) as store:
        yield Trial(store)


async def files_of(store: Store) -> FaultyFiles:
    return await store.write(lambda tx: FaultyFiles(tx._connection))


@DISK
@pytest.mark.parametrize("faults", [FULL, {"xWrite": FAILING["xWrite"]}], ids=["full", "failing"])
async def test_a_disk_that_refuses_a_write_is_told_until_it_takes_one(
    tmp_path: Path, mock_clock: MockClock, faults: dict[Call, int]
) -> None:
    async with watched(tmp_path, mock_clock) as told:
        files = await files_of(told.store)
        assert (await told.state(), told.store.writable) == ("ok", True)
        files.fail_at(1, faults, once=False)
        with pytest.raises(StoreFailure):
            await add(told.store, "lost")
        for _ in range(3):
            assert (await told.state()).startswith("takes no writes: ")
            assert (told.health.store_answers, told.store.writable) == (True, False)
        assert told.store.read_now(names, None) == []
        files.repair()
        assert (await told.state(), told.store.writable) == ("ok", True)
        assert await add(told.store, "kept") == "kept"  # by the same process
        assert told.events() == ["error store_is_unwell", "info store_is_well_again"]


@DISK
async def test_a_store_that_nobody_writes_to_finds_out_by_itself(tmp_path: Path, mock_clock: MockClock) -> None:
    async with watched(tmp_path, mock_clock) as told:
        files = await files_of(told.store)
        assert await told.state() == "ok"
        files.fail_at(1, FULL, once=False)
        mock_clock.jump(IDLE_SECONDS + 1)
        assert (await told.state()).startswith("takes no writes: ")
        files.repair()


async def test_looking_wears_no_disk_out(tmp_path: Path, mock_clock: MockClock) -> None:
    async with watched_as_it_is(tmp_path, SettableClock(START, mock_clock.current_time)) as told:
        before = told.store.changes
        for _ in range(100):
            mock_clock.jump(1.0)
            await told.health.look()
        assert 3 <= told.store.changes - before <= 4  # one in half a minute
        for number in range(100):
            mock_clock.jump(1.0)
            await told.store.write(lambda tx, id_=str(number): tx.run(_INSERT, id=id_))
            before = told.store.changes
            await told.health.look()
            assert told.store.changes == before  # what others write says enough


@DISK
async def test_room_for_a_small_row_is_no_room(tmp_path: Path, mock_clock: MockClock) -> None:
    """On a disk that is nearly full the small row would do, while every invoice is refused."""
    async with watched(tmp_path, mock_clock) as told:
        await told.store.write(lambda tx: tx.run("PRAGMA max_page_count = 1"))  # that is: none more than there are
        with pytest.raises(StoreFailure):
            await add(told.store, "large", "x" * 4 * PAGE)
        for _ in range(3):
            assert (await told.state()).startswith("takes no writes: ")
            await told.store.write(lambda tx: tx.run("UPDATE write_check SET checked_at = 1"))  # fits
            assert told.store.fault is None
        await told.store.write(lambda tx: tx.run("PRAGMA max_page_count = 1000000"))
        assert await told.state() == "ok"


@FILE
async def test_a_malformed_database_is_told(tmp_path: Path, mock_clock: MockClock) -> None:
    async with watched(tmp_path, mock_clock) as told:
        for number in range(200):
            await add(told.store, str(number), "x" * 1_000)
    spoil(tmp_path / DATABASE_NAME)
    async with watched_as_it_is(tmp_path) as told:
        assert await told.state() == "ok"  # nobody has met it
        with pytest.raises(StoreFailure):
            await told.store.read(lambda tx: tx.rows("SELECT text FROM notes"))
        for _ in range(3):
            assert await told.state() == "is damaged: database disk image is malformed"
        assert told.health.store_answers
        assert told.events() == ["error store_is_unwell"]


@FILE
async def test_damage_is_looked_for_and_told(tmp_path: Path, mock_clock: MockClock) -> None:
    async with watched(tmp_path, mock_clock) as told:
        for number in range(200):
            await add(told.store, str(number), "x" * 1_000)
        assert await told.store.find_damage() == []
        assert await told.state() == "ok"
    spoil(tmp_path / DATABASE_NAME)
    async with watched_as_it_is(tmp_path) as told:
        assert await told.store.find_damage()
        assert (await told.state()).startswith("is damaged: ")


@FILE
async def test_looking_for_damage_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        with trio.fail_after(120), trio.CancelScope() as scope:
            scope.cancel()
            await store.find_damage()
        assert scope.cancelled_caught


@FILE
async def test_an_exchanged_database_takes_no_writes_and_both_are_named(tmp_path: Path, mock_clock: MockClock) -> None:
    directory, aside = tmp_path / "data", tmp_path / "aside"
    async with opened(directory) as store:
        await add(store, "restored")
    before = (directory / DATABASE_NAME).stat()
    async with watched(directory, mock_clock) as told:
        await told.health.look()
        directory.rename(aside)
        with pytest.raises(StoreFailure, match="is gone"):
            await add(told.store, "lost")
        async with opened(directory) as store:
            await add(store, "other")
        after = (directory / DATABASE_NAME).stat()
        with pytest.raises(StoreFailure, match="was exchanged"):
            await add(told.store, "lost")
        with pytest.raises(StoreFailure, match="was exchanged"):
            await told.store.read_later(names, None)  # or answers of both would be mixed
        state = await told.state()
        assert f"inode {before.st_ino} of device" in state
        assert f"inode {after.st_ino} of device" in state
        assert (told.store.writable, told.events()) == (False, ["error store_is_unwell"])
        (directory / DATABASE_NAME).unlink()
        (aside / DATABASE_NAME).rename(directory / DATABASE_NAME)
        mock_clock.jump(1.0)
        assert await told.state() == "ok"  # it is the same file again


@FILE
async def test_an_exchange_is_noticed_where_nobody_writes(tmp_path: Path, mock_clock: MockClock) -> None:
    async with watched(tmp_path / "data", mock_clock) as told:
        await told.health.look()
        (tmp_path / "data").rename(tmp_path / "aside")
        assert "is gone" in await told.state()


@asynccontextmanager
async def watched_as_it_is(directory: Path, clock: SettableClock | None = None) -> AsyncIterator[Trial]:
    """The same where no table is made, which would meet the damage."""
    async with open_store(StoreSettings(directory=directory), clock or SettableClock(START)) as store:
        yield Trial(store)


def spoil(database: Path) -> None:
    """Write over the pages at the end: those of the notes."""
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(size - 10 * PAGE)
        file.write(b"\xa5" * 10 * PAGE)


# -- the clock


class Clocked:
    """A watch over a clock, with trio's at hand."""

    def __init__(self, mock_clock: MockClock) -> None:
        self._stream = io.StringIO()
        self._trio = mock_clock
        self.clock = SettableClock(START, trio.current_time)
        self.watch = ClockWatch(make_logger("json", "info", self._stream))

    def look(self, latest: int = 0, accepted: tuple[int, int] = (0, 0)) -> str:
        self.watch.look(self.clock.now(), LatestChange(*map(Instant, (latest, *accepted))))
        return self.watch.state

    def events(self) -> list[str]:
        return [json.loads(line)["event"] for line in self._stream.getvalue().splitlines()]


async def test_a_clock_behind_the_latest_change_is_told_once_and_until_it_has_caught_up(mock_clock: MockClock) -> None:
    clocked = Clocked(mock_clock)
    latest = START + 5 * DAY
    assert clocked.look(START + 2 * SECOND) == "ok"
    assert [clocked.look(latest), clocked.look(latest)] == ["is 432000 s behind the latest change"] * 2
    mock_clock.jump(5 * 86_400 - 3)
    assert clocked.look(latest) == "is 3 s behind the latest change"
    mock_clock.jump(1)
    assert clocked.look(latest) == "ok"
    assert clocked.events() == ["clock_behind", "clock_caught_up"]


async def test_a_clock_that_was_accepted_is_well_until_something_is_further_ahead(mock_clock: MockClock) -> None:
    clocked = Clocked(mock_clock)
    latest, accepted = START + 5 * DAY, (START + 5 * DAY, START)
    assert clocked.look(latest) != "ok"
    assert clocked.look(latest, accepted) == "ok"
    assert clocked.look(latest + 10_000_000, accepted) == "ok"  # each change adds a microsecond
    assert clocked.events() == ["clock_behind", "clock_accepted"]
    assert clocked.look(latest + 2 * MINUTE, accepted) == "is 432120 s behind the latest change"  # another leap
    assert clocked.look(latest, accepted) == "ok"
    clocked.clock.advance(-HOUR)  # to before it was accepted
    assert clocked.look(latest, accepted) == "is 435600 s behind the latest change"


async def test_a_leap_is_told_and_a_long_one_forward_holds_what_deletes(mock_clock: MockClock) -> None:
    clocked = Clocked(mock_clock)
    clocked.look()
    mock_clock.jump(1.0)
    clocked.clock.advance(SECOND)  # a correction
    clocked.look()
    assert (clocked.events(), clocked.watch.deletes) == ([], True)
    clocked.clock.advance(HOUR // 2)
    clocked.look()
    assert (clocked.events(), clocked.watch.deletes) == (["clock_moved"], True)
    clocked.clock.advance(5 * DAY)
    clocked.look()
    assert (clocked.events(), clocked.watch.deletes) == (["clock_moved"] * 2, False)
    mock_clock.jump(3_599)
    clocked.look()
    assert not clocked.watch.deletes
    mock_clock.jump(1)
    assert clocked.watch.deletes  # nobody put it back
    clocked.clock.advance(5 * DAY)
    clocked.look()
    clocked.clock.advance(-5 * DAY)
    clocked.look()
    assert clocked.watch.deletes  # somebody did
    assert clocked.events() == ["clock_moved"] * 4
