"""`gatewayd doctor`, of a PostgreSQL: the way to it, how it is set up, and what a commit there waits for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gatewayd.config import is_credential, is_loopback
from gatewayd.doctor.examined import Examined
from gatewayd.doctor.findings import Finding, missing_finding
from gatewayd.doctor.permissions import passed, private

if TYPE_CHECKING:
    from gatewayd.store.postgres.condition import Condition
    from gatewayd.store.postgres.connections import Connection

VERIFIED: Final = "verify-full"
_DEFAULT: Final = "prefer"  # libpq's, where nothing is said: "SSL Mode Descriptions"
_NO_WAIT: Final = ("local", "off")  # values of synchronous_commit with which no commit waits for a standby


def server(examined: Examined) -> Iterator[Finding]:
    """Nothing is written that stays."""
    from gatewayd.store import StoreFailure
    from gatewayd.store.postgres.reaching import connect_of, name_of

    if missing := missing_finding(examined, "store.password_file"):
        yield missing
        return
    yield from _password_file(examined)
    try:
        name, connect = name_of(examined.store_settings), connect_of(examined.store_settings)
        yield from _encryption(examined)
        from gatewayd.store.postgres.condition import condition_of
        from gatewayd.store.postgres.sessions import session

        with session(connect, f"{name} cannot be asked") as connection:
            condition = condition_of(connection)
            yield from _form(connection, name)
            yield from _setup(condition)
            yield _safety(condition)
            yield _sessions(condition)
    except StoreFailure as error:
        yield Finding("database", False, f"{error}.")


def _password_file(examined: Examined) -> Iterator[Finding]:
    """Nothing where none is named."""
    about, settings = "database password", examined.store_settings
    path, directory = settings.password_file, settings.directory
    if path is None:
        return
    if not path.exists():
        yield Finding(about, False, f"{path} is missing.")
    elif is_credential(path, examined.environ, examined.root):
        yield passed(about, path)
    else:
        yield private(about, path, directory.stat().st_uid if directory.exists() else None)


def _encryption(examined: Examined) -> Iterator[Finding]:
    """Nothing where nobody can be in between: by a socket, and on this machine."""
    from gatewayd.store.postgres.addresses import parameters

    words = parameters(examined.store_settings.url)
    hosts = (words.get("hostaddr") or words.get("host") or "").split(",")
    remote = [host for host in hosts if host and not host.startswith(("/", "@")) and not is_loopback(host)]
    mode = words.get("sslmode") or examined.environ.get("PGSSLMODE") or _DEFAULT
    if remote and mode != VERIFIED:
        sentence = (
            f"store.url has sslmode {mode}: who is between this machine and {', '.join(remote)} can pretend to be it,"
            f" and read and change everything. Say sslmode={VERIFIED}, and sslrootcert where its authority is your own."
        )
        yield Finding("database connection", False, sentence)


def _form(connection: "Connection", name: str) -> Iterator[Finding]:
    """Whether it has the tables that this program needs, and takes writes."""
    from gatewayd.store.failures import MigrationError
    from gatewayd.store.postgres import schema
    from gatewayd.store.postgres.condition import try_to_write

    migrations = schema.packaged()
    try:
        waiting = schema.pending(connection, migrations)
    except MigrationError as error:
        yield Finding("database", False, f"{name}: {error}.")
        return
    if len(waiting) == len(migrations):
        yield Finding("database", True, f"{name} is empty; the first start makes its tables.")
    elif waiting:
        sentence = "it waits for migrations: the daemon does them when it starts, and so does gatewayd migrate"
        yield Finding("database", False, f"{name}: {sentence}.")
    else:
        try_to_write(connection)
        yield Finding("database", True, f"{name}: nothing is wrong. Its files are looked at by its own pg_amcheck.")


def _setup(condition: "Condition") -> Iterator[Finding]:
    from gatewayd.store.postgres.condition import MAJOR_MIN

    about, columns = "database server", ", ".join(condition.sorted_otherwise[:3])
    faults = [
        *([f"it is older than {MAJOR_MIN}"] if condition.major < MAJOR_MIN else []),
        *([f"it stores text in {condition.encoding}, not in UTF8"] if condition.encoding != "UTF8" else []),
        *([f'{columns} is not sorted by code point (COLLATE "C"), and lists skip rows'] if columns else []),
        *(["it is a standby, which takes no writes"] if condition.is_standby else []),
        *([] if condition.fsync else ["fsync is off: a power cut may leave nothing of it"]),
        *([] if condition.full_page_writes else ["full_page_writes is off: a power cut may damage it"]),
    ]
    if faults:
        yield Finding(about, False, f"PostgreSQL {condition.version}: {'; '.join(faults)}.")
    else:
        yield Finding(about, True, f"PostgreSQL {condition.version}, text in UTF8 and sorted by code point.")


def _safety(condition: "Condition") -> Finding:
    """What a commit waits for: whether what was acknowledged is there when the machine is lost."""
    about, commit, names = "durability", condition.synchronous_commit, condition.synchronous_standby_names
    if commit == "off":
        return Finding(about, False, "synchronous_commit is off: what was acknowledged is lost when the server stops.")
    if not names:
        sentence = (
            "A commit waits for the server's own disk: where that is lost, so is what is newest, unless"
            " synchronous_standby_names names a standby."
        )
        return Finding(about, True, sentence)
    if commit in _NO_WAIT:
        sentence = f"synchronous_commit is {commit}: no commit waits for a standby of {names}."
        return Finding(about, False, sentence)
    return Finding(about, True, f"A commit waits for standbys: {names} (synchronous_commit {commit}).")


def _sessions(condition: "Condition") -> Finding:
    """Well is room for a daemon, and for a command or another daemon beside it."""
    from gatewayd.store.postgres.engine import LONG_READERS, SHORT_READERS

    each = SHORT_READERS + LONG_READERS + 2  # one writes, and one listens
    enough = condition.sessions // each
    sentence = f"{condition.sessions} sessions are allowed, and a daemon takes up to {each}: enough for {enough}"
    well = enough > 1
    advice = "" if well else ", and a command takes some beside it: raise max_connections"
    return Finding("database sessions", well, f"{sentence}{advice}.")
