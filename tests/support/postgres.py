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
_REPLICATED = {"wal_level": "replica", "max_wal_senders": "4", "synchronous_commit": "on", "hot_standby": "on"}
_DURABLE = {"listen_addresses": "", "shared_buffers": "256MB", "max_connections": "100", "timezone": "UTC"}


def programs() -> Path | None:
    """Where the newest server of this machine has its programs; None: there is none."""
    on_path = shutil.which("initdb")
    if on_path is not None:
        return Path(on_path).resolve().parent
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda folder: int(folder.parent.name), default=None)


def require_programs() -> Path:
    """The same; a test that asks for it is skipped where there is none."""
    found = programs()
    if found is None:
        pytest.skip("there is no PostgreSQL here (Debian: postgresql)")
    return found


def leave_out(why: str) -> None:
    """Skip a test that is marked as `sqlite_only` or `either_engine`."""
    pytest.skip(why)


class Server:
    """A server, which runs from `begin` to `end`."""

    def __init__(self, bin_folder: Path, folder: Path, settings: Mapping[str, str]) -> None:
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        program = [bin_folder / "postgres", "-D", folder / "data", "-k", folder, *words]
        self._command = [*_as_user(_unprivileged()), *program]
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = folder
        self._numbers = itertools.count(1)

    @property
    def pid(self) -> int:
        assert self._process is not None, "it does not run"
        return self._process.pid

    def begin(self) -> None:
        """Run it; it answers when this returns."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd="/",
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._await_start(self._process)

    def _await_start(self, process: "subprocess.Popen[bytes]") -> None:
        log, deadline = self.folder / "log", time.monotonic() + SECONDS_TO_START
        while True:
            try:
                psycopg.connect(self.address("postgres")).close()
            except psycopg.OperationalError:
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.02)
            else:
                return

    def end(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End it: at once, and nothing of it is kept, or with SIGINT as it is stopped in earnest."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            process.wait(SECONDS_TO_START)

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """It does not run until the end of the block, and is then as it was."""
        self.end(signal.SIGINT)
        try:
            yield
        finally:
            self.begin()

    def address(self, database: str) -> str:
        """How to connect to one of its databases."""
        return f"host={self.folder} user={USER} dbname={database}"

    def url(self, database: str) -> str:
        """The same as settings have it."""
        return f"postgresql://{USER}@/{database}?host={self.folder}"

    def execute(self, sql: str) -> None:
        """Run one statement for all databases, such as one that makes or drops one."""
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(sql.encode())

    def new_database(self, template: str = "template0") -> str:
        """The name of a new database with all that the template has, to which nobody may be connected."""
        name = f"test_{next(self._numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            # By its files, as before PostgreSQL 15: through the log, as by itself now, it takes twice as long.
            how = "STRATEGY FILE_COPY" if connection.info.server_version >= 150_000 else ""
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" {how}'.encode())
        return name

    def kill(self) -> None:
        """End all its processes at once, as a power cut does."""
        self.signal(signal.SIGSTOP)  # so that it starts no others meanwhile
        self.signal(signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Send a signal to all its processes, that which starts the others first."""
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def pids(self) -> Iterator[int]:
        """Its processes, that which starts the others first."""
        yield self.pid
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                if int(path.read_text().rpartition(") ")[2].split()[1]) == self.pid:
                    yield int(path.parent.name)

    @contextlib.contextmanager
    def no_room(self, file_bytes: int) -> Iterator[None]:
        """None of its files grows beyond that until the end of the block, as on a full disk."""
        self._limit_files(str(file_bytes))
        try:
            yield
        finally:
            self._limit_files("unlimited")

    def _limit_files(self, size: str) -> None:
        """Of those that run and of sessions to come, by their own user, as which alone that may be done."""
        for pid in [*self.pids()]:
            try:
                _run(Path("prlimit"), f"--pid={pid}", f"--fsize={size}:")
            except AssertionError:
                if Path(f"/proc/{pid}").exists():  # else it has ended meanwhile
                    raise

    def pin(self, core: int) -> None:
        """Let it run on one core, with what it starts from now on."""
        os.sched_setaffinity(self.pid, {core})

    def drop(self, database: str) -> None:
        self.execute(f'DROP DATABASE "{database}" WITH (FORCE)')


@contextlib.contextmanager
def running(bin_folder: Path, *, durable: bool = False, replicates: bool = False) -> Iterator[Server]:
    """A new server, until the end of the block: of its process and of its files.

    `durable`: with the settings that it has by itself, and on the disk. `replicates`: it may have standbys.
    """
    settings = _DURABLE if durable else _SETTINGS | (_REPLICATED if replicates else {})
    with _folder("/var/tmp" if durable else None) as folder:
        options = [f"--username={USER}", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu"]
        options += ["--icu-locale=en-GB", "--no-sync", "--no-instructions", "--wal-segsize=1"]
        _run(bin_folder / "initdb", *options, f"--pgdata={folder / 'data'}")
        with _serving(bin_folder, folder, settings) as server:
            yield server


@contextlib.contextmanager
def standing_by(bin_folder: Path, primary: Server) -> Iterator[Server]:
    """A standby of a server that replicates: from its first connection on nothing is acknowledged that it has not."""
    with _folder(None) as folder:
        source = [f"--host={primary.folder}", f"--username={USER}", "--write-recovery-conf", "--checkpoint=fast"]
        _run(bin_folder / "pg_basebackup", *source, "--no-sync", f"--pgdata={folder / 'data'}")
        with _serving(bin_folder, folder, _SETTINGS | _REPLICATED) as standby:
            primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            primary.execute("SELECT pg_reload_conf()")
            yield standby


@contextlib.contextmanager
def _folder(root: str | None) -> Iterator[Path]:
    """A new folder of the server's user, which is removed in the end."""
    root = root or os.environ.get("PYTEST_DEBUG_TEMPROOT")
    folder = Path(tempfile.mkdtemp(prefix="gatewayd-pg-", dir=root))
    try:
        user = _unprivileged()
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        yield folder
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


def _run(program: Path, *arguments: str) -> None:
    command = [*_as_user(_unprivileged()), program, *arguments]
    done = subprocess.run(
        command, cwd="/", env=_environment(), capture_output=True, text=True, timeout=SECONDS_TO_START, check=False
    )
    assert done.returncode == 0, done.stderr


def _environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}


@contextlib.contextmanager
def _serving(bin_folder: Path, folder: Path, settings: Mapping[str, str]) -> Iterator[Server]:
    """The server of a folder, which has its data."""
    server = Server(bin_folder, folder, settings)
    try:
        server.begin()
        yield server
    finally:
        server.end()
