"""The instance key: never made beside what is sealed, proven when a store is opened, rotated whole or not at all."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from gatewayd.store import StoreFailure
from gatewayd.store.failures import MigrationError
from gatewayd.store.sealer import KEY_BYTES, Sealer
from gatewayd.store.sealing import instance_key
from gatewayd.store.sealing.instance_key import closed_values, open_key, rotate
from gatewayd.store.sealing.sealed_columns import SEALED_COLUMNS, opens
from gatewayd.store.sqlite.sealed_rows import SqliteRows, sealed_values
from tests.support.sealing import Sealed, seal_everything
from tests.support.store import SEALING_KEY, START, MemoryStore

KEPT = "instance.key.until-2026-11-20T093000Z"
COUNT = len(SEALED_COLUMNS)


@pytest.fixture
def sealed(database_image: bytes) -> Sealed:
    return seal_everything(database_image)


@pytest.fixture
def place(sealed: Sealed, tmp_path: Path) -> tuple[Path, Path]:
    """The database and its key as files."""
    return sealed.write_to(tmp_path)


def opened(sealed: Sealed, database: Path, key: Path) -> None:
    """Let the owners of every secret open theirs, with the key of the file."""
    connection = apsw.Connection(str(database))
    connection.pragma("journal_mode", "delete")  # all of it in the one file
    connection.close()
    store = MemoryStore(database.read_bytes(), key=key.read_bytes())
    sealed.check(store)
    store.close()


def test_every_sealed_column_is_listed_with_what_it_is_sealed_under(sealed: Sealed) -> None:
    values = list(sealed_values(sealed.store.connection))
    assert {value.column for value in values} == set(SEALED_COLUMNS)
    assert [value for value in values if not opens(sealed.store.sealer, value)] == []
    sealed.check(sealed.store)


def test_a_key_is_made_where_nothing_is_sealed(tmp_path: Path, database_image: bytes) -> None:
    open_key(SqliteRows(tmp_path / "gatewayd.db"), tmp_path / "one.key")
    assert (tmp_path / "one.key").stat().st_size == KEY_BYTES
    (tmp_path / "gatewayd.db").write_bytes(database_image)
    open_key(SqliteRows(tmp_path / "gatewayd.db"), tmp_path / "two.key")
    assert (tmp_path / "two.key").stat().st_size == KEY_BYTES


def test_a_key_that_is_missing_beside_sealed_secrets_is_not_made(place: tuple[Path, Path]) -> None:
    database, key = place
    key.unlink()
    with pytest.raises(StoreFailure) as refused:
        open_key(SqliteRows(database), key)
    assert str(refused.value) == (
        f"the instance key {key} is missing, and {database} has secrets that it sealed: put it there from where a copy"
        " is kept, or give up what it sealed: gatewayd instance-key abandon"
    )
    assert not key.exists()


def test_a_key_that_opens_nothing_is_refused(place: tuple[Path, Path]) -> None:
    database, key = place
    key.write_bytes(bytes(KEY_BYTES))
    with pytest.raises(
        StoreFailure, match=r"instance.key is not the one that sealed the secrets in .*gatewayd.db: put"
    ):
        open_key(SqliteRows(database), key)
    lost, count = closed_values(SqliteRows(database), Sealer(bytes(KEY_BYTES)))
    assert (len(lost), count) == (COUNT, COUNT)


def test_a_rotation_seals_everything_under_another_key(sealed: Sealed, place: tuple[Path, Path]) -> None:
    database, key = place
    done = rotate(SqliteRows(database), key, START)
    assert (done.secrets, done.kept) == (COUNT, key.with_name(KEPT))
    assert done.kept.read_bytes() == SEALING_KEY != key.read_bytes()
    assert {path.name for path in key.parent.iterdir()} >= {"gatewayd.db", "instance.key", KEPT}
    assert not key.with_name("instance.key.new").exists()
    assert [path.stat().st_mode & 0o777 for path in (key, done.kept)] == [0o600, 0o600]
    assert closed_values(SqliteRows(database), Sealer(key.read_bytes())) == ([], COUNT)
    assert len(closed_values(SqliteRows(database), Sealer(SEALING_KEY))[0]) == COUNT
    opened(sealed, database, key)


class Killed(BaseException):
    """The process ended here."""


POINTS = ("create_file", "create_file 2", "seal_anew", "after seal_anew", "replace", "after replace")


@pytest.mark.parametrize("point", POINTS)
def test_a_rotation_that_is_cut_short_loses_nothing(
    sealed: Sealed, place: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    database, key = place
    calls = 0

    def dying(real: Callable[..., object], *, before: bool, at: int = 1) -> Callable[..., object]:
        def work(*arguments: object) -> object:
            nonlocal calls
            calls += 1
            if before and calls == at:
                raise Killed
            done = real(*arguments)
            if calls == at:
                raise Killed
            return done

        return work

    before = not point.startswith("after")
    if "replace" in point:
        monkeypatch.setattr(Path, "replace", dying(Path.replace, before=before))
    else:
        name, _, at = point.removeprefix("after ").partition(" ")
        owner = SqliteRows if name == "seal_anew" else instance_key
        monkeypatch.setattr(owner, name, dying(getattr(owner, name), before=before, at=int(at or 1)))
    with pytest.raises(Killed):
        rotate(SqliteRows(database), key, START)
    monkeypatch.undo()
    sealer = open_key(SqliteRows(database), key)
    assert closed_values(SqliteRows(database), sealer) == ([], COUNT)
    assert Sealer(key.read_bytes()).unseal(sealer.seal(b"x", "c"), "c") == b"x"  # and it is the one of the file
    assert (key.read_bytes() == SEALING_KEY) is (point in ("create_file", "create_file 2", "seal_anew"))
    assert rotate(SqliteRows(database), key, START + 1_000_000).secrets == COUNT
    assert closed_values(SqliteRows(database), Sealer(key.read_bytes())) == ([], COUNT)
    opened(sealed, database, key)


def test_half_a_next_key_is_in_nobody_s_way(place: tuple[Path, Path]) -> None:
    database, key = place
    key.with_name("instance.key.new").write_bytes(b"half")
    open_key(SqliteRows(database), key)
    key.unlink()
    with pytest.raises(StoreFailure, match="is missing"):
        open_key(SqliteRows(database), key)
    key.write_bytes(SEALING_KEY)
    assert rotate(SqliteRows(database), key, START).secrets == COUNT


def test_what_a_command_sealed_with_the_old_key_meanwhile_is_sealed_anew(
    place: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    database, key = place
    real = Path.replace

    def replace(path: Path, target: Path) -> Path:
        connection = apsw.Connection(str(database))
        late = Sealer(SEALING_KEY).seal(b"late", "signing_keys.private_sealed:late")
        connection.execute("INSERT INTO signing_keys VALUES ('late', 'ES256', ?, '{}', 1, NULL, NULL, 1)", (late,))
        connection.close()
        return real(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    assert rotate(SqliteRows(database), key, START).secrets == COUNT + 1
    assert closed_values(SqliteRows(database), Sealer(key.read_bytes())) == ([], COUNT + 1)


def test_nothing_is_sealed_anew_beside_what_does_not_open(place: tuple[Path, Path]) -> None:
    database, key = place
    connection = apsw.Connection(str(database))
    connection.execute("UPDATE totp_secrets SET secret_sealed = zeroblob(60)")
    connection.close()
    with pytest.raises(StoreFailure, match=r"\(totp_secrets.secret:usr_"):
        rotate(SqliteRows(database), key, START)
    assert key.read_bytes() == SEALING_KEY
    assert len(closed_values(SqliteRows(database), open_key(SqliteRows(database), key))[0]) == 1


def test_a_database_of_a_newer_program_is_left_alone(place: tuple[Path, Path]) -> None:
    """It may hold secrets in columns that this program knows nothing of."""
    database, key = place
    connection = apsw.Connection(str(database))
    connection.execute("INSERT INTO migrations VALUES (9999, '9999_later.sql', 'x', 0)")
    connection.close()
    with pytest.raises(MigrationError, match="newer gatewayd"):
        rotate(SqliteRows(database), key, START)
    assert closed_values(SqliteRows(database), open_key(SqliteRows(database), key)) == ([], COUNT)


def test_an_older_database_is_opened_and_sealed_anew(place: tuple[Path, Path]) -> None:
    """What it does not have yet holds no secret."""
    database, key = place
    connection = apsw.Connection(str(database))
    connection.execute("DROP TABLE tax_connections")
    connection.close()
    open_key(SqliteRows(database), key)
    assert rotate(SqliteRows(database), key, START).secrets == COUNT - 4


def test_a_key_that_cannot_be_replaced_is_left_alone(place: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the service manager passes it, in a folder that takes no files."""
    database, key = place

    def refuse(path: Path, content: bytes, owned_like: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(instance_key, "create_file", refuse)
    with pytest.raises(StoreFailure, match=r"instance.key cannot be replaced: Read-only file system"):
        rotate(SqliteRows(database), key, START)
    assert closed_values(SqliteRows(database), open_key(SqliteRows(database), key)) == ([], COUNT)
