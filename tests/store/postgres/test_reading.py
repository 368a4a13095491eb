"""A read sees one state and tells which; nothing in it can write."""

import threading
from collections.abc import Iterator

import psycopg
import pytest

from gatewayd.clock import SettableClock
from gatewayd.store import OverBudget, ReadTx, StoreFailure, WriteTx
from gatewayd.store.postgres.connections import STREAMED_ROWS, Connection, open_connection
from gatewayd.store.postgres.reading import Reader
from gatewayd.store.postgres.write_connection import PostgresWrites
from gatewayd.store.sealer import Sealer
from gatewayd.store.transactions import Bindings
from gatewayd.store.waiting_jobs import Job
from gatewayd.store.writer import Writer, WriterParts
from tests.support.postgres import Server
from tests.support.store import START

_INSERT = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"
_BOUND = Bindings("org", START)
_SEALER = Sealer(bytes(32))


class Refused(Exception):
    """What a read raises of its own."""


class Place:
    """A database with one that reads and one that writes."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.sessions: list[Connection] = []
        self.reader = Reader(self.connect, _SEALER, 60)
        parts = WriterParts(PostgresWrites(self.connect), SettableClock(START), _SEALER, lambda prefix: prefix)
        self.writer = Writer(parts, lambda batch: None, 10)

    def connect(self) -> Connection:
        self.sessions.append(open_connection(self.address, 5))
        return self.sessions[-1]

    def add(self, name: str) -> None:
        def insert(tx: WriteTx) -> None:
            tx.run(_INSERT, id=name)

        job = Job(insert, None, lambda job: None)
        self.writer.write([job])
        assert job.error is None


@pytest.fixture
def place(migrated_address: str) -> Iterator[Place]:
    place = Place(migrated_address)
    yield place
    for session in place.sessions:
        session.close()


def _names(tx: ReadTx) -> list[str]:
    return [name for (name,) in tx.rows("SELECT id FROM organizations ORDER BY id")]


def _versioned(tx: ReadTx) -> tuple[list[str], int | None]:
    return _names(tx), tx.version


def test_a_read_sees_one_state_and_its_version(place: Place) -> None:
    assert place.reader.read(_versioned, _BOUND) == ([], 0)
    place.add("a")

    def twice(tx: ReadTx) -> list[tuple[list[str], int | None]]:
        before = _versioned(tx)
        place.add("b")
        return [before, _versioned(tx)]

    assert place.reader.read(twice, _BOUND) == [(["a"], 1), (["a"], 1)]
    assert place.reader.read(_versioned, _BOUND) == (["a", "b"], 2)
    assert len(place.sessions) == 2  # of the one that reads and the one that writes


def test_nothing_in_a_read_can_write(place: Place) -> None:
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        place.reader.read(lambda tx: tx.rows(_INSERT, id="a"), _BOUND)
    assert place.reader.read(_names, _BOUND) == []


def test_what_a_read_raises_comes_out_and_the_session_is_kept(place: Place) -> None:
    def refuse(tx: ReadTx) -> None:
        _names(tx)
        raise Refused

    for _ in range(2):
        with pytest.raises(Refused):
            place.reader.read(refuse, _BOUND)
    place.add("a")
    assert place.reader.read(_versioned, _BOUND) == (["a"], 1)
    assert len(place.sessions) == 2


def test_a_session_that_is_gone_is_made_anew_and_one_that_goes_fails_the_read(place: Place) -> None:
    def own(tx: ReadTx) -> int:
        return int(tx.value("SELECT pg_backend_pid()"))

    killer = place.connect()

    def kill(pid: int) -> None:
        killer.execute("SELECT pg_terminate_backend(CAST(:pid AS INTEGER), 60000)", {"pid": pid})

    first = place.reader.read(own, _BOUND)
    kill(first)
    second = place.reader.read(own, _BOUND)
    assert second != first
    with pytest.raises(StoreFailure, match="cannot be read"):
        place.reader.read(lambda tx: (kill(own(tx)), _names(tx)), _BOUND)
    assert place.reader.read(_names, _BOUND) == []


def test_a_statement_that_takes_too_long_is_given_up_and_the_session_is_kept(place: Place) -> None:
    reader = Reader(lambda: open_connection(place.address, 0.1), _SEALER, 60)
    with pytest.raises(OverBudget):
        reader.read(lambda tx: tx.rows("SELECT pg_sleep(30)"), _BOUND)
    assert reader.read(_names, _BOUND) == []
    reader.close()


def test_a_read_that_takes_too_long_begins_no_further_statement(place: Place) -> None:
    reader = Reader(place.connect, _SEALER, 0)
    with pytest.raises(OverBudget):
        reader.read(_names, _BOUND)
    reader.close()


def test_a_read_can_be_ended_from_another_thread(place: Place) -> None:
    reader, begun = Reader(place.connect, _SEALER, 60), threading.Event()

    def sleep(tx: ReadTx) -> None:
        begun.set()
        tx.rows("SELECT pg_sleep(60)")

    def end() -> None:
        begun.wait()
        while not ended.is_set():  # the statement may not have begun yet
            reader.interrupt()
            ended.wait(0.05)

    ended = threading.Event()
    ending = threading.Thread(target=end)
    ending.start()
    with pytest.raises(OverBudget):
        reader.read(sleep, _BOUND)
    ended.set()
    ending.join()
    reader.resume()
    assert reader.read(_names, _BOUND) == []
    reader.close()


def test_rows_that_may_be_many_come_some_at_a_time(place: Place) -> None:
    for number in range(3 * STREAMED_ROWS):
        place.add(f"{number:04}")

    def first(tx: ReadTx) -> tuple[str, list[str]]:
        many = tx.each("SELECT id FROM organizations ORDER BY id")
        return next(many)[0], [row[0] for row in tx.each("SELECT id FROM organizations ORDER BY id LIMIT 2")]

    assert place.reader.read(first, _BOUND) == ("0000", ["0000", "0001"])
    everything = place.reader.read(lambda tx: [row[0] for row in tx.each("SELECT id FROM organizations")], _BOUND)
    assert sorted(everything) == [f"{number:04}" for number in range(3 * STREAMED_ROWS)]


def test_a_server_that_is_not_there_is_a_failure(postgresql: Server) -> None:
    with pytest.raises(StoreFailure, match="cannot be reached"):
        Reader(lambda: open_connection(postgresql.address("nowhere"), 1), _SEALER, 60).read(_names, _BOUND)


def test_rows_that_were_left_trouble_nobody_later(place: Place) -> None:
    for number in range(2 * STREAMED_ROWS):
        place.add(f"{number:04}")
    left: list[object] = []

    def begin(tx: ReadTx) -> str:
        rows = tx.each("SELECT id FROM organizations ORDER BY id")
        left.append(rows)
        return str(next(rows)[0])

    def end(tx: ReadTx) -> int:
        left.clear()
        return len(_names(tx))

    assert (place.reader.read(begin, _BOUND), place.reader.read(end, _BOUND)) == ("0000", 2 * STREAMED_ROWS)
