"""Unique Taxpayer References of before they were sealed: an upgrade seals them, with the key at hand."""

from pathlib import Path

import apsw
import pytest

from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES
from gatewayd.clock import Instant, SettableClock
from gatewayd.following import reactions
from gatewayd.store.database import open_store
from gatewayd.store.failures import MigrationError, StoreFailure
from gatewayd.store.files.manifests import KEY_NAME
from gatewayd.store.sealer import KEY_BYTES
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from gatewayd.store.sqlite import connections, schema
from tests.areas.legal_entities.entities import NINO, PERSON, UTR, Firm
from tests.support.store import SEALING_KEY, START

pytestmark = pytest.mark.sqlite_only("a database of before 0082, and PostgreSQL began with 0101")

BEFORE = next(each.number for each in schema.packaged() if each.name.endswith("seal_tax_references.sql")) - 1


def database_of_before(directory: Path, firm: Firm, utr: str | None = UTR) -> Path:
    """A database whose entities were stored with their references as they are."""
    directory.chmod(0o700)
    path = directory / DATABASE_NAME
    old = connections.open_writer(path, 1)
    schema.migrate(old, schema.packaged()[:BEFORE], START)
    old.execute("INSERT INTO organizations (id, name, created_at) VALUES (?, 'Oak', 0)", (firm.org_id,))
    columns = [row[1] for row in old.execute("PRAGMA table_info(legal_entities)")]
    named = ", ".join("utr_hint" if column == "utr" else column for column in columns)
    for row in firm.store.connection.execute(f"SELECT {named} FROM legal_entities"):
        values = [utr if column == "utr" else value for column, value in zip(columns, row, strict=True)]
        old.execute(f"INSERT INTO legal_entities VALUES ({', '.join('?' * len(columns))})", values)
    old.close()
    return path


async def test_an_upgrade_seals_them(firm: Firm, tmp_path: Path) -> None:
    made = firm.create(**PERSON, nino=NINO, utr=UTR)
    path = database_of_before(tmp_path, firm)
    assert UTR.encode() in path.read_bytes()
    (tmp_path / KEY_NAME).write_bytes(SEALING_KEY)
    (tmp_path / KEY_NAME).chmod(0o600)
    async with open_store(StoreSettings(directory=tmp_path), SettableClock(START), reactions=reactions) as store:
        assert store.upgraded is not None
        row = await store.read(lambda tx: LEGAL_ENTITIES.get(tx, made["id"]), firm.org_id)
        assert (row.utr, row.utr_hint, row.nino) == (UTR, UTR[-3:], NINO)
        assert await store.read(lambda tx: LEGAL_ENTITIES.stale(tx, "", 500), firm.org_id) == [(made["id"], False)]
    left = path.read_bytes()  # the log was copied into it, and what was overwritten is zeros
    assert UTR.encode() not in left


async def test_with_another_key_nothing_is_upgraded(firm: Firm, tmp_path: Path) -> None:
    firm.create(**PERSON, nino=NINO, utr=UTR)
    path = database_of_before(tmp_path, firm)
    (tmp_path / KEY_NAME).write_bytes(bytes(KEY_BYTES))
    (tmp_path / KEY_NAME).chmod(0o600)
    with pytest.raises(StoreFailure, match="is not the one that sealed"):
        async with open_store(StoreSettings(directory=tmp_path), SettableClock(START)):
            pass
    assert UTR.encode() in path.read_bytes()


def test_without_a_key_nothing_is_migrated(firm: Firm, tmp_path: Path) -> None:
    firm.create(**PERSON, utr=UTR)
    path = database_of_before(tmp_path, firm)
    connection = apsw.Connection(str(path))
    with pytest.raises(MigrationError, match="no instance key"):
        schema.migrate(connection, schema.packaged(), Instant(START))
    assert connection.execute("SELECT utr FROM legal_entities").fetchall() == [(UTR,)]
    connection.close()


async def test_who_has_none_has_none_afterwards(firm: Firm, tmp_path: Path) -> None:
    made = firm.create(**PERSON)
    database_of_before(tmp_path, firm, None)
    async with open_store(StoreSettings(directory=tmp_path), SettableClock(START), reactions=reactions) as store:
        row = await store.read(lambda tx: LEGAL_ENTITIES.get(tx, made["id"]), firm.org_id)
        assert (row.utr, row.utr_sealed, row.utr_hint) == (None, None, None)
