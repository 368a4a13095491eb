"""A PostgreSQL for tests: one server for each process of the suite, in memory where there is room, on a socket alone.

It sorts as people in Britain do, unlike SQLite, so that a column which should say `COLLATE "C"` and does not is found.
"""

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest

SECONDS_TO_START = 60
USER = "gatewayd"
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "min_wal_size": "4MB",
    "max_wal_size": "64MB",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "autovacuum": "off",
    "jit": "off",
    "timezone": "UTC",
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
}
"""Of a test nothing has to outlive its machine, which may have to run several of these."""
_DURABLE = {"listen_addresses": "", "shared_buffers": "256MB", "max_connections": "100", "timezone": "UTC"}


def programs() -> Path | None:
    """Where the newest server of this machine has its programs; None: there is none."""
    on_path = shutil.which("initdb")
    if on_path is not None:
        return Path(on_path).parent
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda folder: int(folder.parent.name), default=None)


def require_programs() -> Path:
    """The same; a test that asks for it is skipped where there is none."""
    found = programs()
    if found is None:
        pytest.skip("there is no PostgreSQL here (Debian: postgresql)")
    return found


class Server:
    """A server that runs."""

    def __init__(self, folder: Path, pid: int) -> None:
        self._folder = folder
        self.pid = pid
        self._numbers = itertools.count(1)

    def address(self, database: str) -> str:
        """How to connect to one of its databases."""
        return f"host={self._folder} user={USER} dbname={database}"

    def url(self, database: str) -> str:
        """The same as settings have it."""
        return f"postgresql://{USER}@/{database}?host={self._folder}"

    def execute(self, sql: str) -> None:
        """Run one statement for all databases, such as one that makes or drops one."""
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(sql.encode())

    def new_database(self, template: str = "template0") -> str:
        """The name of a new database with all that the template has, to which nobody may be connected."""
        name = f"test_{next(self._numbers)}"
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return name

    def pin(self, core: int) -> None:
        """Let it run on one core, with what it starts from now on."""
        os.sched_setaffinity(self.pid, {core})

    def drop(self, database: str) -> None:
        self.execute(f'DROP DATABASE "{database}" WITH (FORCE)')


@contextlib.contextmanager
def running(bin_folder: Path, *, durable: bool = False) -> Iterator[Server]:
    """A new server, until the end of the block: of its process and of its files.

    `durable`: with the settings that it has by itself, and on the disk.
    """
    root = "/var/tmp" if durable else os.environ.get("PYTEST_DEBUG_TEMPROOT")
    folder = Path(tempfile.mkdtemp(prefix="gatewayd-pg-", dir=root))
    try:
        user = _unprivileged()
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        settings = _DURABLE if durable else _SETTINGS
        with _process(bin_folder, folder, _as_user(user), settings) as process:
            server = Server(folder, process.pid)
            _await_start(process, server, folder / "log")
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> pwd.struct_passwd | None:
    """Who runs the server, which refuses root; None: whoever runs the tests."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise LookupError("root runs the tests, and there is no user for PostgreSQL")


def _as_user(user: pwd.struct_passwd | None) -> list[str]:
    """What begins a command that ends with this process."""
    command = ["setpriv", "--pdeathsig", "INT"]
    if user is not None:
        command += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return command


@contextlib.contextmanager
def _process(
    bin_folder: Path, folder: Path, prefix: list[str], settings: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    data, environment = folder / "data", {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}
    options = [f"--username={USER}", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu"]
    options += ["--icu-locale=en-GB", "--no-sync", "--no-instructions", "--wal-segsize=1", f"--pgdata={data}"]
    made = subprocess.run(
        [*prefix, bin_folder / "initdb", *options],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS_TO_START,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*prefix, bin_folder / "postgres", "-D", data, "-k", folder, *words],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
        process.wait(SECONDS_TO_START)


def _await_start(process: subprocess.Popen[bytes], server: Server, log: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            psycopg.connect(server.address("postgres")).close()
        except psycopg.OperationalError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
        else:
            return
