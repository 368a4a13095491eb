"""The in-memory store of the tests has the semantics of the real one."""

import apsw
import pytest

from gatewayd.store import WriteTx
from tests.support.store import START, MemoryStore

_NAMES = "SELECT name FROM organizations ORDER BY id"
_RENAME = "UPDATE organizations SET name = :name WHERE id = :org_id"


def test_binds_the_organization_and_the_instant(store: MemoryStore) -> None:
    org_id = store.org("Acme")
    assert store.read(lambda tx: tx.row("SELECT :org_id, :now"), org_id) == (org_id, START)
    store.clock.advance(5)
    assert store.write(lambda tx: tx.now, org_id) == START + 5


def test_a_write_that_raises_leaves_nothing(store: MemoryStore) -> None:
    org_id = store.org("Acme")

    def rename_and_raise(tx: WriteTx) -> None:
        tx.run(_RENAME, name="Other")
        tx.announce("renamed")
        raise LookupError("after the change")

    with pytest.raises(LookupError, match="after the change"):
        store.write(rename_and_raise, org_id)
    assert store.read(lambda tx: tx.rows(_NAMES)) == [("Acme",)]
    assert store.announced == set()


def test_a_write_announces_its_topics(store: MemoryStore) -> None:
    store.write(lambda tx: tx.announce("renamed"))
    assert store.announced == {"renamed"}


def test_a_read_cannot_write_and_the_store_goes_on(store: MemoryStore) -> None:
    org_id = store.org("Acme")
    with pytest.raises(apsw.ReadOnlyError):
        store.read(lambda tx: tx.rows(_RENAME, name="Other"), org_id)
    assert store.write(lambda tx: tx.run(_RENAME, name="Other"), org_id) == 1


def test_seals_and_unseals(store: MemoryStore) -> None:
    sealed = store.write(lambda tx: tx.seal("secret", "context"))
    assert b"secret" not in sealed
    assert store.read(lambda tx: tx.unseal(sealed, "context")) == "secret"


def test_a_constraint_that_fails_comes_out(store: MemoryStore) -> None:
    with pytest.raises(apsw.ConstraintError):
        store.user("org_missing")
