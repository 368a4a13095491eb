"""What waits is committed together, by one daemon at a time; what is acknowledged is stored, whatever is lost."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from gatewayd.clock import DAY, SECOND, SettableClock
from gatewayd.store import StoreFailure, WriteTx
from gatewayd.store.failures import Doubtful
from gatewayd.store.postgres import write_connection
from gatewayd.store.postgres.connections import Connection, Rows, open_connection
from gatewayd.store.postgres.write_connection import PostgresWrites
from gatewayd.store.reactions import Reactions
from gatewayd.store.sealer import Sealer
from gatewayd.store.waiting_jobs import Job
from gatewayd.store.writer import Writer, WriterParts
from tests.support.store import START

_INSERT = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :name, :at)"
_NAMES = "SELECT id FROM organizations ORDER BY id"


class Refused(Exception):
    """What a job raises of its own."""


class Firm:
    """A database, and what writes to it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.refusals: list[BaseException] = []
        self.committed: list[int] = []
        self.looks = 0
        self.writers: list[Writer] = []

    def connect(self, seconds: float = 60) -> Connection:
        return open_connection(self.address, seconds)

    def writer(self, clock: SettableClock | None = None, connect: Callable[[], Connection] | None = None) -> Writer:
        parts = WriterParts(
            PostgresWrites(connect or self.connect, self.committed.append, refused=self.refusals.append),
            clock or SettableClock(START),
            Sealer(bytes(32)),
            lambda prefix: prefix,
            reactions=lambda: Reactions({}, frozenset({"organizations"}), self._listened),
        )
        writer = Writer(parts, lambda batch: None, 10)
        self.writers.append(writer)
        return writer

    def _listened(self, tx: WriteTx) -> frozenset[str]:
        self.looks += 1
        return frozenset()

    def names(self) -> list[str]:
        connection = self.connect()
        found = [name for (name,) in connection.execute(_NAMES)]
        connection.close()
        return found

    def kill(self, pid: int) -> None:
        """End a session, from another; it is over when this answers."""
        connection = self.connect()
        connection.execute("SELECT pg_terminate_backend(CAST(:pid AS INTEGER), 60000)", {"pid": pid})
        connection.close()


@pytest.fixture
def firm(migrated_address: str) -> Iterator[Firm]:
    firm = Firm(migrated_address)
    yield firm
    for writer in firm.writers:
        writer.close()


def adding(name: str) -> Job:
    def add(tx: WriteTx) -> int:
        tx.run(_INSERT, id=name, name=name, at=tx.updated_at)
        tx.announce(name)
        return tx.updated_at

    return Job(add, None, lambda job: None)


def failing(name: str, work: Callable[[WriteTx], object]) -> Job:
    def add(tx: WriteTx) -> object:
        tx.run(_INSERT, id=name, name=name, at=tx.updated_at)
        return work(tx)

    return Job(add, None, lambda job: None)


def refuse(tx: WriteTx) -> None:
    raise Refused


def test_a_batch_is_one_commit_and_who_fails_fails_alone(firm: Firm) -> None:
    writer = firm.writer()
    batch = [
        adding("a"),
        failing("b", refuse),
        adding("c"),
        failing("d", lambda tx: tx.run(_INSERT, id="a", name="again", at=0)),
        adding("e"),
    ]
    writer.write(batch)
    assert firm.names() == ["a", "c", "e"]
    assert [type(job.error) for job in batch] == [
        type(None),
        Refused,
        type(None),
        psycopg.errors.UniqueViolation,
        type(None),
    ]
    assert [job.topics for job in batch] == [{"a"}, set(), {"c"}, set(), {"e"}]
    assert all(job.decided for job in batch)
    assert (writer.changes, firm.committed, firm.refusals) == (1, [1], [])


def test_one_that_fails_alone_leaves_nothing(firm: Firm) -> None:
    writer = firm.writer()
    for work in (refuse, lambda tx: tx.run("SELECT nothing FROM nowhere")):
        job = failing("a", work)
        writer.write([job])
        assert isinstance(job.error, Refused | psycopg.ProgrammingError)
    writer.write([adding("b")])
    assert (firm.names(), writer.changes, firm.committed) == (["b"], 1, [1])


def test_what_changes_nothing_is_not_committed(firm: Firm) -> None:
    writer = firm.writer()
    jobs = [Job(lambda tx: tx.rows(_NAMES), None, lambda job: None) for _ in range(2)]
    writer.write(jobs)
    assert [job.result for job in jobs] == [[], []]
    writer.write([adding("a")])
    assert (writer.changes, firm.committed) == (1, [1])


def test_each_instant_is_later_than_those_before_whosever_clock_is_behind(firm: Firm) -> None:
    ahead, behind = SettableClock(START), SettableClock(START)
    behind.advance(-5 * SECOND)
    one, other = firm.writer(ahead), firm.writer(behind)
    found = []
    for number, writer in enumerate((one, other, one, other)):
        job = adding(str(number))
        writer.write([job])
        found.append(job.result)
    assert found == sorted(set(found))
    assert START <= found[0] <= found[3] < START + SECOND
    ahead.advance(SECOND)
    behind.advance(7 * SECOND)
    for number, writer in enumerate((one, other)):
        job = adding(f"later {number}")
        writer.write([job])
        found.append(job.result)
    assert START + SECOND <= found[4] < START + 2 * SECOND <= found[5]


def test_several_that_write_at_once_count_each_commit_once(firm: Firm) -> None:
    writers = [firm.writer() for _ in range(4)]

    def write(number: int) -> None:
        for batch in range(15):
            jobs = [adding(f"{number} {batch} {job}") for job in range(3)]
            writers[number].write(jobs)
            assert [job.error for job in jobs] == [None] * 3

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(firm.committed) == list(range(1, 61))
    assert len(firm.names()) == 180


def test_what_is_remembered_is_looked_at_anew_once_another_has_written(firm: Firm) -> None:
    one, other = firm.writer(), firm.writer()

    def listen(writer: Writer, name: str) -> int:
        def add(tx: WriteTx) -> None:
            tx.bind("org")
            tx.run(_INSERT, id=name, name=name, at=0)
            assert tx.listened == frozenset()

        writer.write([Job(add, None, lambda job: None)])
        return firm.looks

    assert [listen(one, "a"), listen(one, "b")] == [1, 1]
    assert [listen(other, "c"), listen(other, "d")] == [2, 2]
    assert [listen(one, "e"), listen(one, "f")] == [3, 3]


def _pid(writer: Writer) -> int:
    jobs = [Job(lambda tx: tx.value("SELECT pg_backend_pid()"), None, lambda job: None)]
    writer.write(jobs)
    assert isinstance(jobs[0].result, int)
    return jobs[0].result


def test_a_session_that_is_gone_is_made_anew(firm: Firm) -> None:
    writer = firm.writer()
    firm.kill(_pid(writer))
    job = adding("a")
    writer.write([job])
    assert (job.error, firm.names(), firm.refusals) == (None, ["a"], [])


def test_a_session_that_goes_in_the_middle_takes_all_with_it(firm: Firm) -> None:
    writer = firm.writer()

    def kill(tx: WriteTx) -> None:
        firm.kill(tx.value("SELECT pg_backend_pid()"))

    batch = [adding("a"), failing("b", refuse), failing("c", lambda tx: (kill(tx), tx.rows(_NAMES))), adding("d")]
    writer.write(batch)
    assert [type(job.error) for job in batch] == [StoreFailure] * 4
    assert (firm.names(), len(firm.refusals)) == ([], 1)
    writer.write([adding("e")])
    assert firm.names() == ["e"]


def test_a_statement_that_takes_too_long_fails_alone(firm: Firm) -> None:
    writer = firm.writer(connect=lambda: firm.connect(0.2))
    batch = [adding("a"), failing("b", lambda tx: tx.rows("SELECT pg_sleep(30)")), adding("c")]
    writer.write(batch)
    assert [type(job.error) for job in batch] == [type(None), StoreFailure, type(None)]
    assert (firm.names(), len(firm.refusals)) == (["a", "c"], 1)


def test_who_sleeps_past_its_time_has_written_nothing(firm: Firm) -> None:
    """And keeps nobody waiting: the pulse is another's by then."""
    sleeper = firm.writer(connect=lambda: open_connection(firm.address, 60, 0.1))
    other = firm.writer()

    def sleep(tx: WriteTx) -> None:
        job = adding("other")
        other.write([job])  # waits for the pulse
        assert job.error is None

    slept = failing("sleeper", sleep)
    sleeper.write([slept])
    assert isinstance(slept.error, StoreFailure)
    assert firm.names() == ["other"]
    sleeper.write([adding("awake")])
    assert firm.names() == ["awake", "other"]


class Losing(Connection):
    """A session whose COMMIT is not answered: it is lost on the way there, or on the way back."""

    def __init__(self, session: Any, arrives: bool) -> None:
        super().__init__(session)
        self._arrives = arrives

    def execute(self, sql: str, values: Any = None) -> Rows:
        if sql != "COMMIT":
            return super().execute(sql, values)
        if self._arrives:
            super().execute(sql)
        self.session.close()
        raise psycopg.OperationalError("the connection was lost")


@pytest.mark.parametrize("arrives", [True, False])
def test_a_commit_whose_answer_is_lost_is_asked_for(firm: Firm, arrives: bool) -> None:
    sessions: list[Connection] = []

    def connect() -> Connection:
        opened = firm.connect()
        sessions.append(Losing(opened.session, arrives) if not sessions else opened)
        return sessions[-1]

    writer = firm.writer(connect=connect)
    batch = [adding("a"), failing("b", refuse)]
    writer.write(batch)
    assert firm.names() == (["a"] if arrives else [])
    assert [type(job.error) for job in batch] == ([type(None), Refused] if arrives else [StoreFailure] * 2)
    assert firm.committed == ([1] if arrives else [])
    writer.write([adding("c")])
    assert firm.names() == (["a", "c"] if arrives else ["c"])


def test_another_that_wrote_meanwhile_does_not_hide_it(firm: Firm) -> None:
    """The pulse has gone on, by one that was counted as ours or by one behind it: only our own row tells."""
    for arrives, name in ((True, "a"), (False, "b")):
        sessions: list[Connection] = []

        def connect(arrives: bool = arrives, name: str = name, sessions: list[Connection] = sessions) -> Connection:
            if sessions:
                other = firm.writer()
                other.write([adding(f"other {name}")])
            opened = firm.connect()
            sessions.append(Losing(opened.session, arrives) if not sessions else opened)
            return sessions[-1]

        job = adding(name)
        firm.writer(connect=connect).write([job])
        assert (job.error is None) == arrives
    assert firm.names() == ["a", "other a", "other b"]


def test_where_nobody_can_be_asked_it_is_not_known(firm: Firm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_connection, "DOUBT_SECONDS", 0)
    sessions: list[Connection] = []

    def connect() -> Connection:
        if sessions:
            raise StoreFailure("the PostgreSQL cannot be reached")
        sessions.append(Losing(firm.connect().session, True))
        return sessions[-1]

    job = adding("a")
    firm.writer(connect=connect).write([job])
    assert isinstance(job.error, Doubtful)


def test_a_writer_that_ends_leaves_no_row(firm: Firm) -> None:
    writer = firm.writer()
    writer.write([adding("a")])
    connection = firm.connect()
    assert connection.execute("SELECT version FROM pulse_writers").fetchall() == [(1,)]
    writer.close()
    assert connection.execute("SELECT count(*) FROM pulse_writers").get == 0
    connection.close()


@pytest.mark.parametrize(
    ("age", "behind", "stays"),
    [(DAY + 1, 200_001, False), (DAY, 200_001, True), (DAY + 1, 200_000, True), (SECOND, 1, True)],
)
def test_the_row_of_a_writer_that_was_killed_is_swept_when_nobody_can_ask_for_it(
    firm: Firm, age: int, behind: int, stays: bool
) -> None:
    """Old by the clock of the pulse, and far behind: a clock that leaps takes no row of a COMMIT that is in doubt."""
    connection = firm.connect()
    connection.execute("UPDATE pulse SET version = 300000, now = :now", {"now": START})
    connection.execute(
        "INSERT INTO pulse_writers (writer, version, beat_at) VALUES ('killed', :version, :at)",
        {"version": 300_000 - behind, "at": START - age},
    )
    writer = firm.writer()
    writer.write([adding("a")])
    found = connection.execute("SELECT count(*) FROM pulse_writers WHERE writer = 'killed'").get
    assert (found, firm.names()) == (int(stays), ["a"])
    connection.execute("UPDATE pulse_writers SET version = 0, beat_at = 0 WHERE writer = 'killed'")
    writer.write([adding("b")])  # not again for a day
    assert connection.execute("SELECT count(*) FROM pulse_writers").get == 1 + stays
    connection.close()


def test_a_writer_whose_row_was_swept_makes_another(firm: Firm) -> None:
    writer = firm.writer()
    writer.write([adding("a")])
    connection = firm.connect()
    connection.execute("DELETE FROM pulse_writers")
    writer.write([adding("b")])
    assert connection.execute("SELECT version FROM pulse_writers").get == 2
    connection.close()
