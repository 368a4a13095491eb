"""Several hosts have one instance key: the first makes it, any other is refused, and it is rotated all or nothing."""

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from gatewayd.store import StoreFailure
from gatewayd.store.failures import MigrationError
from gatewayd.store.postgres.addresses import described
from gatewayd.store.postgres.catalogue import read_catalogue
from gatewayd.store.postgres.connections import Connection, open_connection
from gatewayd.store.postgres.sealed_rows import PostgresRows
from gatewayd.store.postgres.sessions import refuse_beside_others, session
from gatewayd.store.sealer import KEY_BYTES, Sealer
from gatewayd.store.sealing.instance_key import closed_values, open_key, proven_key, rotate
from gatewayd.store.sealing.sealed_columns import SEALED_COLUMNS
from tests.support.postgres import Server
from tests.support.sealing import seal_everything
from tests.support.store import SEALING_KEY, START, DatabaseImage

COUNT = len(SEALED_COLUMNS)
APART = {"migrations", "pulse", "pulse_writers", "write_check"}
"""Tables whose rows are the engine's own."""


@pytest.fixture
def connect(migrated_address: str) -> Callable[[], Connection]:
    return lambda: open_connection(migrated_address, 60)


@pytest.fixture
def rows(connect: Callable[[], Connection], migrated_address: str) -> PostgresRows:
    return PostgresRows(connect, described(migrated_address))


@pytest.fixture
def sealed(rows: PostgresRows, connect: Callable[[], Connection], database_image: DatabaseImage) -> PostgresRows:
    """With one secret of every kind, and what they belong to."""
    source = seal_everything(database_image).store.connection
    connection = connect()
    connection.execute("SET session_replication_role = replica")  # no foreign key is checked
    for table in {column.table for column in read_catalogue(connection).columns} - APART:
        cursor = source.execute(f"SELECT * FROM {table}")
        for row in cursor:
            values = {name: value for (name, _), value in zip(cursor.get_description(), row, strict=True)}
            names = ", ".join(f":{name}" for name in values)
            connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({names})", values)
    connection.close()
    return rows


def host(folder: Path, name: str, key: bytes | None = None) -> Path:
    """Where a host has its key; with one that it has already."""
    (folder / name).mkdir()
    path = folder / name / "instance.key"
    if key is not None:
        path.write_bytes(key)
    return path


def test_the_first_host_makes_the_key_and_another_needs_the_same(rows: PostgresRows, tmp_path: Path) -> None:
    one, two = host(tmp_path, "one"), host(tmp_path, "two")
    sealed = Sealer(rows.begin_key(one)).seal(b"x", "c")
    with pytest.raises(StoreFailure) as refused:
        rows.begin_key(two)
    assert str(refused.value) == (
        f"the instance key {two} is missing, and {rows.name} has secrets that it sealed: every host has the same: copy"
        " it from one that serves this database, or from where a copy is kept, or give up what it sealed: gatewayd"
        " instance-key abandon"
    )
    assert not two.exists()
    two.write_bytes(bytes(KEY_BYTES))
    ways: list[Callable[[Path], object]] = [rows.begin_key, partial(open_key, rows), partial(proven_key, rows)]
    for opens in ways:
        with pytest.raises(StoreFailure, match=r"two/instance\.key is not the one that sealed the secrets in"):
            opens(two)
    two.write_bytes(one.read_bytes())
    assert Sealer(rows.begin_key(two)).unseal(sealed, "c") == b"x"


def test_of_two_that_start_at_once_one_makes_the_key(rows: PostgresRows, tmp_path: Path) -> None:
    for round_ in range(5):
        with session(rows.connect, "x") as connection:
            connection.execute("UPDATE pulse SET key_check = NULL")
        hosts = [host(tmp_path, f"{round_}-{number}") for number in range(3)]
        refused: list[StoreFailure] = []
        begin = threading.Barrier(len(hosts))

        def start(path: Path, begin: threading.Barrier = begin, refused: list[StoreFailure] = refused) -> None:
            begin.wait()
            try:
                rows.begin_key(path)
            except StoreFailure as error:
                refused.append(error)

        threads = [threading.Thread(target=start, args=(path,)) for path in hosts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [path.exists() for path in hosts].count(True) == 1
        assert len(refused) == len(hosts) - 1


def test_a_key_that_was_made_and_not_noted_is_taken_by_the_next_start(rows: PostgresRows, tmp_path: Path) -> None:
    """A kill came in between."""
    one, two = host(tmp_path, "one", b"1" * KEY_BYTES), host(tmp_path, "two", b"2" * KEY_BYTES)
    rows.begin_key(two)
    with pytest.raises(StoreFailure, match="is not the one"):
        rows.begin_key(one)


def test_rows_that_were_brought_here_have_to_open_before_a_key_is_noted(sealed: PostgresRows, tmp_path: Path) -> None:
    wrong, right = host(tmp_path, "wrong", bytes(KEY_BYTES)), host(tmp_path, "right", SEALING_KEY)
    for path in (wrong, tmp_path / "missing.key"):
        with pytest.raises(StoreFailure, match="instance-key abandon"):
            sealed.begin_key(path)
    assert not (tmp_path / "missing.key").exists()
    sealed.begin_key(right)
    assert closed_values(sealed, Sealer(SEALING_KEY)) == ([], COUNT)
    assert len(closed_values(sealed, Sealer(bytes(KEY_BYTES)))[0]) == COUNT


def test_a_rotation_seals_everything_anew_and_the_other_hosts_are_refused(sealed: PostgresRows, tmp_path: Path) -> None:
    one, two = host(tmp_path, "one", SEALING_KEY), host(tmp_path, "two", SEALING_KEY)
    sealed.begin_key(one)
    done = rotate(sealed, one, START)
    assert (done.secrets, done.kept.read_bytes()) == (COUNT, SEALING_KEY)
    assert closed_values(sealed, Sealer(one.read_bytes())) == ([], COUNT)
    sealed.begin_key(one)
    with pytest.raises(StoreFailure, match="is not the one"):
        sealed.begin_key(two)


class Killed(BaseException):
    """The process ended here."""


@pytest.mark.parametrize("committed", [False, True])
def test_a_rotation_that_is_cut_short_loses_nothing(
    sealed: PostgresRows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, committed: bool
) -> None:
    one = host(tmp_path, "one", SEALING_KEY)
    sealed.begin_key(one)
    real = PostgresRows.seal_anew

    def dying(rows: PostgresRows, old: Sealer, new: Sealer) -> int:
        if committed:
            real(rows, old, new)
        raise Killed

    monkeypatch.setattr(PostgresRows, "seal_anew", dying)
    with pytest.raises(Killed):
        rotate(sealed, one, START)
    monkeypatch.undo()
    assert one.read_bytes() == SEALING_KEY
    assert one.with_name("instance.key.new").exists()
    assert closed_values(sealed, Sealer(sealed.begin_key(one))) == ([], COUNT)
    assert (one.read_bytes() == SEALING_KEY) is not committed


def test_nothing_is_sealed_anew_beside_what_does_not_open(sealed: PostgresRows, tmp_path: Path) -> None:
    one = host(tmp_path, "one", SEALING_KEY)
    sealed.begin_key(one)
    with session(sealed.connect, "x") as connection:
        connection.execute("UPDATE totp_secrets SET secret_sealed = :lost", {"lost": bytes(60)})
    with pytest.raises(StoreFailure, match=r"\(totp_secrets.secret:usr_"):
        rotate(sealed, one, START)
    assert one.read_bytes() == SEALING_KEY
    assert len(closed_values(sealed, Sealer(sealed.begin_key(one)))[0]) == 1


def test_a_database_of_a_newer_program_is_left_alone(sealed: PostgresRows, tmp_path: Path) -> None:
    one = host(tmp_path, "one", SEALING_KEY)
    with session(sealed.connect, "x") as connection:
        connection.execute("INSERT INTO migrations VALUES (9999, '9999_later.sql', 'x', 0)")
    with pytest.raises(MigrationError, match="newer gatewayd"):
        rotate(sealed, one, START)
    assert closed_values(sealed, open_key(sealed, one)) == ([], COUNT)


def test_another_key_holds_once_what_the_one_before_sealed_was_given_up(rows: PostgresRows, tmp_path: Path) -> None:
    one, two = host(tmp_path, "one"), host(tmp_path, "two", bytes(KEY_BYTES))
    rows.begin_key(one)
    rows.note_key(Sealer(bytes(KEY_BYTES)))
    rows.begin_key(two)
    with pytest.raises(StoreFailure, match="is not the one"):
        rows.begin_key(one)


def test_a_database_without_tables_has_no_secrets(postgresql: Server, tmp_path: Path) -> None:
    name = postgresql.new_database()
    rows = PostgresRows(lambda: open_connection(postgresql.address(name), 60), name)
    assert (rows.sample(), rows.every()) == (None, [])
    with pytest.raises(StoreFailure, match="the instance key cannot be noted: "):
        rows.begin_key(tmp_path / "instance.key")
    postgresql.drop(name)


def test_who_else_is_connected_is_told(connect: Callable[[], Connection]) -> None:
    one = connect()
    refuse_beside_others(one, "gatewayd migrate")
    other = connect()
    with pytest.raises(StoreFailure) as refused:
        refuse_beside_others(one, "gatewayd migrate")
    assert str(refused.value) == (
        "gatewayd migrate works beside no daemon, and from its own machine gatewayd is connected to the database: stop"
        " the daemons of all hosts first"
    )
    other.close()
    one.close()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgresql://gatewayd:secret@db.example:6432/books", "the PostgreSQL database books at db.example"),
        ("postgresql:///books", "the PostgreSQL database books at the usual socket"),
        ("host=/run/postgresql user=gatewayd", "the PostgreSQL database gatewayd at /run/postgresql"),
        ("postgresql://u@a.example,b.example/books", "the PostgreSQL database books at a.example,b.example"),
    ],
)
def test_which_database_it_is_is_told_without_its_password(address: str, told: str) -> None:
    assert described(address) == told


def test_what_is_no_address_is_refused_without_repeating_it() -> None:
    with pytest.raises(StoreFailure) as refused:
        described("password=secret nonsense")
    assert str(refused.value) == "store.url is no address of a PostgreSQL, such as postgresql://user@host/database"
