"""A migrated store in memory for handler tests: the real transactions and the real writer, no thread and no trio."""

import os
import random
from collections.abc import Callable
from typing import TypeVar

import apsw

from gatewayd.clock import Instant, SettableClock, from_wire
from gatewayd.contract.caller import Caller, CallerKind, Role
from gatewayd.contract.scopes import FULL_ACCESS
from gatewayd.errors import Problem
from gatewayd.following import reactions
from gatewayd.ids import IdSource
from gatewayd.store import ReadTx, WriteTx
from gatewayd.store.sealer import KEY_BYTES, Sealer
from gatewayd.store.sqlite import connections, schema
from gatewayd.store.sqlite.write_connection import SqliteWrites
from gatewayd.store.transactions import Bindings
from gatewayd.store.waiting_jobs import Job
from gatewayd.store.writer import Writer, WriterParts
from tests.support import given_fields, outcomes

T = TypeVar("T")

ON_POSTGRESQL = os.environ.get("GATEWAYD_TEST_STORE") in ("postgresql", "both")
ALL_ON_POSTGRESQL = os.environ.get("GATEWAYD_TEST_STORE") == "postgresql"
"""Also stores that are opened in a directory."""

START: Instant = from_wire("2026-11-20T09:30:00Z")
SEALING_KEY = bytes(range(KEY_BYTES))

_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :name, :now)"
_ADD_USER = """
INSERT INTO users (id, email, email_folded, name, instance_admin, created_at, updated_at)
VALUES (:id, :email, :email, :name, 0, :now, :now)
"""
_ADD_MEMBERSHIP = """
INSERT INTO memberships (org_id, user_id, role, created_at) VALUES (:member_of, :user_id, :role, :now)
"""
_COLUMNS = 'SELECT name, "notnull", pk FROM pragma_table_info(:table)'


class MemoryStore:
    """One empty database after all migrations.

    `image` is what `migrated_image` answers. Reads cannot write; each write is decided by the store's own writer, in
    a savepoint that is rolled back when `work` raises. Time stands still at `START` until `clock.advance(...)`.

    `GATEWAYD_TEST_STORE=postgresql`, or `both`: it is one of tests/support/postgres_store.py.
    """

    def __new__(cls, *_: object, **__: object) -> "MemoryStore":
        if cls is MemoryStore and ON_POSTGRESQL:
            from tests.support.postgres_store import PostgresStore

            return super().__new__(PostgresStore)
        return super().__new__(cls)

    def __init__(self, image: bytes, clock: SettableClock | None = None, key: bytes = SEALING_KEY) -> None:
        self.clock = clock or SettableClock(START)
        self.sealer = Sealer(key)
        self.ids = IdSource(self.clock, random.Random(0).randbytes)
        self.connection = connections.open_writer(connections.MEMORY, 0)
        self.connection.deserialize("main", image)
        self.announced: set[str] = set()
        writes = SqliteWrites(self.connection)
        parts = WriterParts(writes, self.clock, self.sealer, self.ids.new, reactions=reactions)
        self._writer = Writer(parts, lambda batch: None, 1)

    def now(self) -> Instant:
        return self.clock.now()

    def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
        """Run a read in a snapshot of its own. Writing in it raises `apsw.ReadOnlyError`."""
        self.connection.execute("PRAGMA query_only = 1; BEGIN")
        try:
            with given_fields.watched():
                return work(ReadTx(self.connection, Bindings(org_id, self.clock.now()), self.sealer))
        except Problem as problem:
            outcomes.note_raised(problem)
            raise
        finally:
            self.connection.execute("ROLLBACK; PRAGMA query_only = 0")

    def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        """Run one write. What `work` raises comes out here, rolled back. Topics are added to `announced`."""
        job = Job(work, org_id, lambda done: None)
        with given_fields.watched():
            self._writer.write([job])
        if isinstance(job.error, Problem):
            outcomes.note_raised(job.error)
        if job.error is not None:
            raise job.error
        self.announced |= job.topics
        result: T = job.result
        return result

    def changed_rows(self) -> int:
        """How many rows were changed since it was opened, also by what was rolled back."""
        return self.connection.total_changes()

    def stored(self) -> bytes:
        """All that is in the database, for looking for what must not be."""
        return self.connection.serialize("main")

    def org(self, name: str = "Example Ltd") -> str:
        """Make an organization and return its id."""
        org_id = self.ids.new("org")
        self.write(lambda tx: tx.run(_ADD_ORG, id=org_id, name=name))
        return org_id

    def user(self, org_id: str, role: Role = "owner", email: str | None = None) -> str:
        """Make a user who is a member of `org_id` and return the user's id."""
        user_id = self.ids.new("usr")
        email = email or f"{user_id}@example.com"

        def add(tx: WriteTx) -> None:
            tx.run(_ADD_USER, id=user_id, email=email, name=email.partition("@")[0])
            tx.run(_ADD_MEMBERSHIP, member_of=org_id, user_id=user_id, role=role)

        self.write(add)
        return user_id

    def close(self) -> None:
        self.connection.close()


class DatabaseImage(bytes):
    """The bytes of a database. Short to look at, for hypothesis shows an example with all its arguments or fails."""

    def __repr__(self) -> str:
        return f"<a database of {len(self)} bytes>"


def migrated_image() -> bytes:
    """A database after all migrations, as the bytes of its file."""
    connection = connections.open_writer(connections.MEMORY, 0)
    try:
        schema.migrate(connection, schema.packaged(), START)
        return DatabaseImage(connection.serialize("main"))
    finally:
        connection.close()


def columns_of(connection: apsw.Connection) -> dict[str, dict[str, bool]]:
    """Of each column of each table: whether it may be NULL."""
    names = [str(row[0]) for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {
        name: {
            str(column): not (not_null or key)
            for column, not_null, key in connection.execute(_COLUMNS, {"table": name})
        }
        for name in names
    }


def make_caller(
    org_id: str,
    *,
    role: Role = "owner",
    scopes: frozenset[str] = FULL_ACCESS,
    user_id: str | None = "usr_00000000000000000000000000",
    kind: CallerKind = "api_key",
) -> Caller:
    """A caller of `org_id`; the user need not exist unless a row refers to it."""
    return Caller(
        kind=kind,
        credential_id="key_00000000000000000000000000",
        org_id=org_id,
        user_id=user_id,
        role=role,
        scopes=scopes,
    )


def at_version(tx: ReadTx, version: int | None) -> ReadTx:
    """The transaction, which then says that it sees this version of the database."""
    tx.version = version
    return tx
