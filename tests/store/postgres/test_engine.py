"""A store on a PostgreSQL: what one of two stores writes the other reads, hears of, and survives."""

import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest
import trio
import trio.testing

from gatewayd.clock import SystemClock
from gatewayd.store import OverBudget, ReadTx, Store, StoreFailure, WriteTx
from gatewayd.store.database import LARGE_BYTES, open_existing, open_store
from gatewayd.store.failures import MigrationError
from gatewayd.store.postgres import connections, deadlines, engine, schema
from gatewayd.store.settings import StoreSettings
from tests.support import postgres
from tests.support.postgres import Server

SECONDS = 60.0
_INSERT = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"
Open = Callable[[], AbstractAsyncContextManager[Store]]


def add(id_: str) -> Callable[[WriteTx], int]:
    return lambda tx: tx.run(_INSERT, id=id_)


def names(tx: ReadTx) -> list[str]:
    return [name for (name,) in tx.rows("SELECT id FROM organizations ORDER BY id")]


@pytest.fixture
def settings(postgresql: Server, tmp_path: Path) -> StoreSettings:
    return StoreSettings(directory=tmp_path / "data", url=postgresql.url(postgresql.new_database()))


@pytest.fixture
def open_(settings: StoreSettings) -> Open:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Store]:
        with trio.fail_after(SECONDS):
            async with open_store(settings, SystemClock()) as store:
                yield store

    return opened


async def test_two_stores_have_the_same_rows(open_: Open) -> None:
    async with open_() as one, open_() as other:
        assert one.is_shared
        for number in range(5):
            await one.write(add(f"{number}-one"))
            await other.write(add(f"{number}-other"))
            expected = sorted(f"{n}-{who}" for n in range(number + 1) for who in ("one", "other"))
            assert await one.read(names) == await other.read(names) == await one.read_later(names, None) == expected


async def test_writes_of_two_stores_at_once_are_all_there(open_: Open) -> None:
    async def write(store: Store, id_: str) -> None:
        await store.write(add(id_))
        assert id_ in await store.read(names)

    async with open_() as one, open_() as other:
        async with trio.open_nursery() as nursery:
            for number in range(40):
                nursery.start_soon(write, (one, other)[number % 2], f"{number:02}")
        assert await one.read(names) == [f"{number:02}" for number in range(40)]
        assert one.commits + other.commits < 40  # some had a commit together


async def test_the_version_moves_with_every_commit_and_with_nothing_else(open_: Open) -> None:
    async with open_() as one, open_() as other:
        seen = [await one.read(lambda tx: tx.version)]
        for store in (one, other, one):
            await store.write(add(f"{len(seen)}"))
            seen += [await one.read(lambda tx: tx.version), await other.read(lambda tx: tx.version)]
        await one.write(lambda tx: None)
        assert len(set(seen)) == 4
        assert await other.read(lambda tx: tx.version) == seen[-1]


async def test_nothing_is_read_on_the_loop(open_: Open) -> None:
    async with open_() as store:
        with pytest.raises(OverBudget):
            store.read_now(names, None)
        loop = threading.get_ident()
        assert await store.read(lambda tx: threading.get_ident() != loop)


async def test_a_topic_is_told_of_another_stores_commit(open_: Open) -> None:
    async with open_() as one, open_() as other, trio.open_nursery() as nursery:
        nursery.start_soon(other.watch_other_processes)
        first = other.topic("any")
        await first.wait()  # who begins to listen is told once, for what was before
        for number in range(3):
            event = other.topic("any")
            await one.write(add(str(number)))
            await event.wait()
        nursery.cancel_scope.cancel()


async def test_a_read_that_is_not_short_is_run_again_where_it_may_be_long(
    open_: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SHORT_READ_SECONDS", 0.1)
    times = 0

    def slow(tx: ReadTx) -> list[str]:
        nonlocal times
        times += 1
        tx.rows("SELECT pg_sleep(0.5)")
        return names(tx)

    async with open_() as store:
        assert await store.read(slow, "org_a") == []
        assert (times, store.long_reads) == (2, 1)


async def test_a_long_read_that_is_cancelled_ends_at_the_server(open_: Open, settings: StoreSettings) -> None:
    async with open_() as store:
        begun = threading.Event()

        def sleep(tx: ReadTx) -> None:
            begun.set()
            tx.rows("SELECT pg_sleep(100)")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.read_later, sleep, None)
            while not begun.is_set() or not _sleeping(settings):
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
        assert not _sleeping(settings)
        assert await store.read_later(names, None) == []


def _sleeping(settings: StoreSettings) -> bool:
    sql = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(100)%' AND state = 'active'"
    with psycopg.connect(settings.url) as session:
        return session.execute(f"{sql} AND pid <> pg_backend_pid()".encode()).fetchone() != (0,)


async def test_sessions_that_are_ended_are_made_anew(open_: Open, settings: StoreSettings) -> None:
    async with open_() as store, trio.open_nursery() as nursery:
        nursery.start_soon(store.watch_other_processes)
        await store.write(add("a"))
        assert await store.read(names) == await store.read_later(names, None) == ["a"]
        with psycopg.connect(settings.url) as session:
            session.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert await store.read(names) == await store.read_later(names, None) == ["a"]
        await store.write(add("b"))
        assert (await store.read(names), store.fault) == (["a", "b"], None)
        event = store.topic("any")
        async with open_() as other:
            await other.write(add("c"))
            await event.wait()
        nursery.cancel_scope.cancel()


async def test_a_server_that_takes_no_writes_is_told(open_: Open, settings: StoreSettings, postgresql: Server) -> None:
    async with open_() as store:
        await store.write(add("a"))
        name = settings.url.partition("@/")[2].partition("?")[0]
        postgresql.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        postgresql.execute(f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}'")
        with pytest.raises(StoreFailure):
            await store.write(add("b"))
        assert store.fault is not None
        assert store.refuses_writes
        postgresql.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
        await store.write(add("c"))
        assert (await store.read(names), store.fault) == (["a", "c"], None)


async def test_a_look_whether_there_is_room_takes_it(open_: Open, settings: StoreSettings) -> None:
    """Zeros would be compressed to a small row, for which a disk that is nearly full has room."""
    async with open_() as store:
        await store.check_writer(LARGE_BYTES)
    with psycopg.connect(settings.url) as session:
        ((taken,),) = session.execute("SELECT pg_total_relation_size('write_check')").fetchall()
    assert taken >= LARGE_BYTES


async def test_an_older_database_is_migrated_by_a_start_that_may_and_beside_nobody(
    open_: Open, settings: StoreSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = schema.packaged()
    monkeypatch.setattr(schema, "packaged", lambda: packaged[:-1])
    async with open_() as old:
        assert old.upgraded is not None
        assert old.upgraded.before == 0
        monkeypatch.setattr(schema, "packaged", lambda: packaged)
        await old.read(names)
        with pytest.raises(MigrationError, match="stop every daemon"):
            async with open_():
                pass
        with pytest.raises(MigrationError, match="gatewayd migrate"):
            async with open_existing(settings, SystemClock(), lambda: settings.directory / "instance.key"):
                pass
    async with open_() as new:
        assert new.upgraded is not None
        assert new.upgraded.before == packaged[-2].number


async def test_a_closed_store_says_so(open_: Open) -> None:
    async with open_() as store:
        await store.read(names)
    for read in (store.read(names), store.read_later(names, None), store.write(add("a"))):
        with pytest.raises(StoreFailure):
            await read


async def test_a_url_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    settings = StoreSettings(directory=tmp_path, url="postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(StoreFailure, match="cannot be reached"):
        async with open_store(settings, SystemClock()):
            pass


async def test_a_server_that_stalls_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "GRACE_SECONDS", 0.1)
    monkeypatch.setattr(deadlines, "LOOK_SECONDS", 0.1)
    for name in ("SHORT_READ_SECONDS", "LONG_READ_SECONDS", "WRITE_SECONDS"):
        monkeypatch.setattr(engine, name, 0.5)
    with postgres.running(postgres.require_programs()) as server:
        settings = StoreSettings(directory=tmp_path, url=server.url(server.new_database()))
        with trio.fail_after(SECONDS):
            async with open_store(settings, SystemClock()) as store:
                await store.write(add("a"))
                await store.read(names)
                await store.read_later(names, None)
                server.signal(signal.SIGSTOP)
                monkeypatch.setattr(connections, "_PATIENCE", connections._PATIENCE | {"connect_timeout": 1})
                for ask in (partial(store.read, names), partial(store.read_later, names, None)):
                    with pytest.raises(StoreFailure):
                        await ask()
                with pytest.raises(StoreFailure):
                    await store.write(add("b"))
                server.signal(signal.SIGCONT)
                await store.write(add("c"))
                assert await store.read(names) == ["a", "c"]


async def test_no_organization_has_all_threads_of_short_reads(open_: Open) -> None:
    async with open_() as store:
        going = threading.Event()

        def wait(tx: ReadTx) -> None:
            going.wait(SECONDS)

        async with trio.open_nursery() as nursery:
            for _ in range(2 * engine.SHORT_READERS):
                nursery.start_soon(store.read_soon, wait, None, "org_a")
            await trio.testing.wait_all_tasks_blocked(0.1)
            assert await store.read(names, "org_b") == []
            going.set()
