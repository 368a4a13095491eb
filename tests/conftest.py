"""Fixtures of every test: a migrated store in memory, callers; a look at the SQL that runs, and at what is answered."""

import gc
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import hypothesis
import pytest
import trustme
from trio.testing import MockClock

from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.store.settings import Bucket
from tests.support import objects, postgres, whole_run
from tests.support.portable_sql import SEARCH, Tables, faults
from tests.support.statements import Statements
from tests.support.store import ALL_ON_POSTGRESQL, ON_POSTGRESQL, MemoryStore, columns_of, make_caller, migrated_image

if TYPE_CHECKING:
    from tests.support.postgres_directories import Directories

gc.disable()  # until all tests are loaded: what is imported stays
hypothesis.settings.register_profile("without deadlines", deadline=None)  # what is slow is the machine
hypothesis.settings.load_profile("without deadlines")


def pytest_configure(config: pytest.Config) -> None:
    """A shell's background job ignores SIGINT, and so would every process that a test starts and interrupts."""
    config.addinivalue_line("markers", "sqlite_only(reason): not run where the rows are on a PostgreSQL")
    config.addinivalue_line("markers", "either_engine(reason): not run there again, where nothing else would be seen")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for name, told in (("sqlite_only", "SQLite's own"), ("either_engine", "of either engine")):
        marker = item.get_closest_marker(name)
        if marker is not None and ON_POSTGRESQL:
            postgres.leave_out(f"{told}: {marker.args[0]}")


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is loaded is not looked through again: it would be at each full collection of garbage."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def one_authority() -> Iterator[None]:
    """What TLS trusts by itself is one authority nobody has: each context would read all of the system's, for 25 ms."""
    with tempfile.NamedTemporaryFile(suffix=".pem") as file, pytest.MonkeyPatch.context() as patch:
        trustme.CA().cert_pem.write_to_path(file.name)
        patch.setenv("SSL_CERT_FILE", file.name)
        yield


@pytest.fixture(scope="session")
def object_server() -> Iterator[objects.ObjectServer]:
    """An S3-compatible store of this process alone, which is started for the first test that asks for it."""
    with objects.running() as server:
        yield server


@pytest.fixture
def bucket(object_server: objects.ObjectServer, tmp_path: Path) -> Bucket:
    """A bucket of this test's own."""
    return object_server.bucket(tmp_path)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[postgres.Server]:
    """A PostgreSQL of this process alone, which is started for the first test that asks for it."""
    with postgres.running(postgres.require_programs()) as server:
        yield server


@pytest.fixture(scope="session")
def migrated_database(postgresql: postgres.Server) -> str:
    """The name of an empty database after all migrations, to be the template of others: nobody is connected to it."""
    from gatewayd.store.postgres import schema
    from gatewayd.store.postgres.connections import open_connection

    name = postgresql.new_database()
    connection = open_connection(postgresql.address(name), 60)
    schema.migrate(connection, schema.packaged(), Instant(0))
    connection.close()
    return name


@pytest.fixture
def migrated_address(postgresql: postgres.Server, migrated_database: str) -> Iterator[str]:
    """How to connect to a database of this test's own, after all migrations."""
    name = postgresql.new_database(migrated_database)
    yield postgresql.address(name)
    postgresql.drop(name)


@pytest.fixture(scope="session", autouse=ON_POSTGRESQL)
def stores_on_postgresql(postgresql: postgres.Server) -> Iterator["Directories"]:
    """Where the tests are asked to, `MemoryStore` is a PostgreSQL's, and daemons have their rows there."""
    from tests.daemon import instance
    from tests.support.postgres_directories import Directories
    from tests.support.postgres_store import Databases, PostgresStore

    databases = PostgresStore.databases = Databases(postgresql)
    directories = Directories(postgresql, lambda: databases.template)
    instance.database_of = directories.url_of
    yield directories
    instance.database_of = instance.no_server
    directories.close()
    PostgresStore.databases.close()
    PostgresStore.databases = None


@pytest.fixture(scope="module", autouse=ON_POSTGRESQL)
def databases_of_a_file(stores_on_postgresql: "Directories") -> Iterator[None]:
    """What the tests of one file share keeps its database until their end."""
    with stores_on_postgresql.lent():
        yield


@pytest.fixture(autouse=ON_POSTGRESQL)
def databases_of_a_test(stores_on_postgresql: "Directories", databases_of_a_file: None) -> Iterator[None]:
    """What one test opens keeps it until its end."""
    with stores_on_postgresql.lent():
        yield


@pytest.fixture(autouse=ALL_ON_POSTGRESQL)
def directories_on_postgresql(stores_on_postgresql: "Directories", databases_of_a_test: None) -> Iterator[None]:
    """Where the tests are asked to, a store that is opened in a directory has its rows on a PostgreSQL."""
    from tests.support.postgres_directories import stores_of

    with stores_of(stores_on_postgresql):
        yield


@pytest.fixture(scope="session")
def database_image() -> bytes:
    """The bytes of an empty database after all migrations, made once."""
    return migrated_image()


@pytest.fixture(scope="session")
def tables(database_image: bytes) -> Tables:
    """Of each column of each table: whether it may be NULL."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", database_image)
    found = columns_of(connection)
    connection.close()
    return found


@pytest.fixture(scope="session")
def statements() -> Iterator[Statements]:
    """What the program asks of its transactions, on every connection of this process."""
    seen = Statements()
    apsw.connection_hooks.append(seen.watch)
    yield seen
    apsw.connection_hooks.remove(seen.watch)


@pytest.fixture(autouse=True)
def portable_statements(statements: Statements, tables: Tables) -> Iterator[None]:
    """A test fails that makes the program run a statement first which would not run on PostgreSQL as well."""
    yield
    asked = [(sql, where) for sql, where in statements.take().items() if not where.startswith(SEARCH)]
    found = [f"{where}: {fault} in\n{sql}" for sql, where in asked for fault in faults(sql, tables)]
    assert found == [], "\n".join(found)


@pytest.fixture
def store(database_image: bytes) -> Iterator[MemoryStore]:
    """An empty migrated store of this test alone."""
    memory_store = MemoryStore(database_image)
    yield memory_store
    memory_store.close()


@pytest.fixture(name="make_caller")
def caller_factory() -> Callable[..., Caller]:
    """`make_caller(org_id, *, role="owner", scopes=FULL_ACCESS)`."""
    return make_caller


@pytest.fixture
def idle_clock() -> MockClock:
    """A clock that goes on, to the next deadline, only where all in this process wait: no work meets one by being slow.

    What is sent over loopback is there at once, but for what the kernel does behind that: it has 20 ms for it. Not for
    what waits for threads or processes.
    """
    return MockClock(autojump_threshold=0.02)


@pytest.fixture
def leaping_clock() -> MockClock:
    """A clock that goes as the wall's does, and that a test puts forward: `leaping_clock.jump(seconds)`."""
    return MockClock(rate=1.0)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A whole run fails where it did not come to see an outcome that a row declares, or to give a field."""
    if hasattr(session.config, "workeroutput"):  # of pytest-xdist: this process has run a part
        whole_run.hand_over(session.config)
    elif whole_run.faults(session.config, exitstatus):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of pytest-xdist has ended."""
    whole_run.take_over(node)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    for line in whole_run.told(terminalreporter.config, exitstatus):
        terminalreporter.write_line(line, red=line != whole_run.NOT_LOOKED_AT)
