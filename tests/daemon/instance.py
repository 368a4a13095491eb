"""A daemon as a process of its own on a directory of the test, and the firm that its database holds."""

import functools
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import apsw
import httpx
import psycopg
import pytest

from gatewayd.areas import accounting, assets, banking, businesses, crm, legal_entities
from gatewayd.cli.context import Context
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.clock import Instant, SystemClock
from gatewayd.contract.operation import Area
from gatewayd.identity import audit
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.store import ReadTx, WriteTx
from gatewayd.store.sealer import load_key
from tests.support import given_fields, loaded, outcomes
from tests.support.store import migrated_image

SECONDS = 120.0  # the longest that anything here waits; nothing is measured with it
ROOT = Path(__file__).parents[2]

T = TypeVar("T")
_SERVING = '"event": "serving"'
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
AREAS: Mapping[str, Area] = {
    "legalEntity": legal_entities.AREA,
    "businesses": businesses.AREA,
    "accounting": accounting.AREA,
    "assets": assets.AREA,
    "banking": banking.AREA,
    "crm": crm.AREA,
}
ENTITY = {
    "name": "Oak & Son",
    "type": "limited_company",
    "companyNumber": "09876543",
    "vatNumber": "GB980780684",
    "vat": {"status": "registered", "effectiveDate": "2023-04-01", "scheme": "standard"},
    "address": {"line1": "12 Oak Street", "town": "Leeds", "postcode": "LS1 4DY", "countryCode": "GB"},
}


@dataclass(frozen=True)
class Firm:
    """An organization with an owner, an entity, a client, and a key that opens everything."""

    org_id: str
    user_id: str
    email: str
    key_id: str
    key: str
    client_id: str


def environment(**more: str) -> dict[str, str]:
    """What a child process gets to see."""
    return {"PATH": os.defpath, "HOME": "/nonexistent", "LANG": "C.UTF-8", **more}


@functools.cache
def _empty_store() -> bytes:
    """A database after all migrations, which take a third of a start."""
    return migrated_image()


def no_server(data: Path) -> str:
    """Rows are in a file."""
    return ""


database_of: Callable[[Path], str] = no_server
"""The URL of the database of a data directory, where the tests are run on a PostgreSQL (tests/conftest.py)."""


@dataclass
class Instance:
    """A directory with a configuration, and its store as another process sees it.

    `url` is of the PostgreSQL that has its rows; empty: SQLite in the directory, or what the tests are run on.
    `key_file` and `files`: where several share them.
    """

    directory: Path
    settings: str = ""
    bind: str = '["127.0.0.1:0"]'
    extra_server: str = ""
    url: str = ""
    key_file: str = ""
    files: str = ""
    config: Path = field(init=False)
    _session: "tuple[str, psycopg.Connection[tuple[Any, ...]] | None]" = field(
        default=("", None), init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        self.config = self.directory / "gatewayd.toml"
        self.url = self.url or database_of(self.data)
        self.config.write_text(
            f"[server]\nbind = {self.bind}\n{self.extra_server}\n"
            f'[store]\ndirectory = "data"\nurl = "{self.url}"\nkey_file = "{self.key_file}"\nfiles = "{self.files}"\n'
            f'[log]\nformat = "json"\n{self.settings}\n'
        )

    @property
    def context(self) -> Context:
        return Context(str(self.config), {}, SystemClock())

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def database(self) -> Path:
        """SQLite's file; who looks at it is skipped where there is none."""
        if self.url:
            pytest.skip("this test looks at SQLite's file")
        return self.data / "gatewayd.db"

    def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        """Run a write, in a store that need not be there yet."""
        if self.url and not self.context.key_file.exists():  # of a migrated database, which no command begins anew
            self.data.mkdir(mode=0o700, exist_ok=True)
            load_key(self.context.key_file)
        return self.context.write(work, org_id, makes_store=True)

    def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
        return self.context.read(work, org_id)

    def seen(self, sql: str) -> list[tuple[Any, ...]]:
        """What the database holds, seen by a connection of its own: at less cost than `read`."""
        if self.url:
            return self._asked().execute(sql.encode()).fetchall()
        connection = apsw.Connection(str(self.database))
        try:
            connection.set_busy_timeout(int(SECONDS * 1000))
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def _asked(self) -> "psycopg.Connection[tuple[Any, ...]]":
        """A session that is kept: who looks again and again would keep the server busy with making them."""
        url, session = self._session
        if session is None or session.closed or url != self.url:
            session = psycopg.connect(self.url, autocommit=True)
            weakref.finalize(self, session.close)
            self._session = self.url, session
        return session

    def change(self, sql: str) -> None:
        """Run a statement beside the program, whatever engine it is for."""
        if self.url:
            with psycopg.connect(self.url) as session:
                session.execute(sql.encode())
            return
        connection = apsw.Connection(str(self.database))
        try:
            connection.set_busy_timeout(int(SECONDS * 1000))
            connection.execute(sql)
        finally:
            connection.close()

    def stored(self) -> bytes:
        """All that the database holds, as bytes in which something may be looked for."""
        if not self.url:
            return b"".join(path.read_bytes() for path in self.data.glob("gatewayd.db*"))
        rows = [row for (name,) in self.seen(_TABLES) for row in self.seen(f'SELECT * FROM "{name}"')]
        return b"\0".join(value if isinstance(value, bytes) else str(value).encode() for row in rows for value in row)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Have the one lock of those that write, as another process has it that is about to."""
        if self.url:
            with psycopg.connect(self.url) as session:
                session.execute("SELECT version FROM pulse WHERE id = 1 FOR UPDATE")
                yield
            return
        connection = apsw.Connection(str(self.database))
        connection.set_busy_timeout(int(SECONDS * 1000))  # a daemon may be writing
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")
            connection.close()

    def do(self, org_id: str, operation_id: str, **values: object) -> dict[str, Any]:
        """Run an operation as the operator; answers its JSON."""
        operation = operation_of(AREAS[operation_id.split(".")[0]], operation_id)
        return run_operation(self.context, operation, org_id, values)

    def firm(self, name: str = "Oak & Son") -> Firm:
        """Make an organization that can issue invoices, in a store that need not be there yet."""
        self.data.mkdir(mode=0o700, exist_ok=True)
        if not self.url and not self.database.exists():
            self.database.write_bytes(_empty_store())
            load_key(self.context.key_file)
        email = f"owner-{secrets.token_hex(4)}@example.com"

        def work(tx: WriteTx) -> tuple[str, str]:
            org = organizations.create(tx, name, audit.OPERATOR)
            tx.bind(org.id)
            user = users.create(tx, users.NewUser(email=email, name="Ann Oak"), audit.OPERATOR)
            memberships.add(tx, user.id, "owner", audit.OPERATOR)
            return org.id, user.id

        org_id, user_id = self.write(work)
        self.do(org_id, "legalEntity.createLegalEntity", **ENTITY)
        client = self.do(org_id, "accounting.createClient", name="Birch Ltd")
        made = self.key(org_id, user_id)
        return Firm(org_id, user_id, email, made.id, made.key, client["id"])

    def key(
        self, org_id: str, user_id: str, scopes: Sequence[str] = (), expires_at: int | None = None
    ) -> api_keys.CreatedKey:
        """One more key; without scopes it opens everything."""
        at = None if expires_at is None else Instant(expires_at)
        new = api_keys.NewKey(name="Shop", user_id=user_id, scopes=scopes, expires_at=at)
        return self.write(
            lambda tx: api_keys.create(tx, new, secrets.token_bytes(RANDOM_BYTES), audit.OPERATOR), org_id
        )

    def run(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command of gatewayd to its end, as a process of its own."""
        command = ["-m", "gatewayd", *arguments, "--config", str(self.config)]
        return loaded.run(command, env=environment(), timeout=SECONDS, given=given)


class Supervisor:
    """The service manager's end of the notification socket: messages in the order they came."""

    def __init__(self) -> None:
        self.name = f"@gatewayd-{secrets.token_hex(8)}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + self.name[1:])

    def close(self) -> None:
        self._socket.close()

    def next(self, seconds: float = SECONDS) -> dict[str, str]:
        """The next message. Raises `TimeoutError`."""
        self._socket.settimeout(seconds)
        text = self._socket.recv(4096).decode()
        return dict(line.split("=", 1) for line in text.splitlines())

    def until(self, name: str, seconds: float = SECONDS) -> dict[str, str]:
        """The next message that sets `name`; those before it are dropped."""
        while name not in (message := self.next(seconds)):
            pass
        return message

    def quiet(self, seconds: float) -> bool:
        """Whether nothing is said for so long, after what was said already."""
        self._socket.settimeout(0)
        try:
            while True:
                self._socket.recv(4096)
        except BlockingIOError:
            pass
        try:
            self.next(seconds)
        except TimeoutError:
            return True
        return False


class Running:
    """A daemon that serves, as its test sees it."""

    def __init__(self, process: "loaded.Program | subprocess.Popen[bytes]", manager: Supervisor, log: Path) -> None:
        self.process = process
        self.supervisor = manager
        self.log = log
        self.claimed: set[str] = set()
        self.addresses: list[str] = []
        self._client: httpx.Client | None = None

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def url(self) -> str:
        return self.addresses[0]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def wait_ready(self) -> None:
        """Wait until it says so. Raises `AssertionError` with its log when it ends first."""
        try:
            status = self.supervisor.until("READY")["STATUS"]
        except TimeoutError:
            raise AssertionError(self.log.read_text()) from None
        self.addresses = status.removeprefix("serving on ").split(", ")

    @property
    def client(self) -> httpx.Client:
        """Keeps its connections; closed with the daemon."""
        if self._client is None:
            self._client = plain_client(self.url)
        return self._client

    def call(
        self, key: str, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """One request with a key."""
        fields = {"Authorization": f"Bearer {key}", **(headers or {})}
        if body is None:
            return self.client.request(method, path, headers=fields)
        return self.client.request(method, path, headers=fields, json=body)

    def connect(self) -> socket.socket:
        """A raw connection to the first address."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)

    def lines(self) -> list[dict[str, Any]]:
        """The log so far, without a line that is just being written."""
        whole = self.log.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]

    def terminate(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def end(self) -> int:
        """Ask it to end and wait for that; answers its exit code."""
        if self._client is not None:
            self._client.close()
            self._client = None
        if self.process.poll() is None:
            self.terminate()
        return self.process.wait(SECONDS)

    def memory_kb(self, name: str = "VmRSS") -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        match = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
        assert match is not None
        return int(match[1])


def plain_client(url: str) -> httpx.Client:
    """An HTTP/1.1 client that believes nothing of its environment."""
    hooks = {"request": [given_fields.note_sent], "response": [outcomes.note_response]}
    return httpx.Client(base_url=url, timeout=SECONDS, trust_env=False, verify=False, event_hooks=hooks)


@contextmanager
def serving(
    instance: Instance,
    *,
    descriptors: Sequence[int] = (),
    anew: bool = False,
    module: str = "gatewayd",
    **environ: str,
) -> Iterator[Running]:
    """Run the daemon for the length of the block. At its end it must not have logged an error nobody claimed.

    `anew`: with an interpreter that begins with nothing loaded, where that is what is looked at. `module`: what is run.
    """
    manager = Supervisor()
    log = instance.directory / "log"
    told = log.read_text().count(_SERVING) if log.exists() else 0
    with log.open("ab") as stream:
        start = loaded.start_anew if anew else loaded.start
        process = start(
            ["-m", module, "serve", "--config", str(instance.config)],
            env=environment(NOTIFY_SOCKET=manager.name, **environ),
            stdout=stream,
            stderr=stream,
            pass_fds=descriptors,
        )
    running = Running(process, manager, log)
    try:
        running.wait_ready()
        until(lambda: running.log.read_text().count(_SERVING) > told)  # the log comes a moment later
        yield running
        running.end()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(SECONDS)
        if running._client is not None:
            running._client.close()
        manager.close()
    errors = [line for line in running.lines() if line["level"] == "error" and line["event"] not in running.claimed]
    assert errors == [], errors


def kill_when(running: Running, condition: Callable[[], object]) -> None:
    """Kill a daemon in the midst of what a condition tells of: it stands still while that is made sure of."""

    def look() -> bool:
        if not condition():
            return False
        os.kill(running.pid, signal.SIGSTOP)
        until(lambda: _state(running.pid) == "T")
        if condition():
            running.process.kill()
            return True
        os.kill(running.pid, signal.SIGCONT)
        return False

    until(look)


def _state(pid: int) -> str:
    """The letter that the kernel has for what a process is at."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


def until(condition: Callable[[], T | None], seconds: float = SECONDS) -> T:
    """Poll another process until it shows something true; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come about"
        threading.Event().wait(0.01)
    return found
