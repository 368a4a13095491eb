"""What handlers hold."""

from collections.abc import Callable

import apsw
import pytest

from gatewayd.store import ReadTx, StoreFailure, WriteTx
from tests.support.store import START, MemoryStore

_NOTES = "CREATE TABLE notes (id INTEGER PRIMARY KEY, org_id TEXT, text TEXT) STRICT"


@pytest.fixture
def notes(store: MemoryStore) -> MemoryStore:
    store.write(lambda tx: tx.run(_NOTES))
    return store


def test_run_answers_how_many_rows_changed(notes: MemoryStore) -> None:
    def work(tx: WriteTx) -> list[int]:
        return [
            tx.run("INSERT INTO notes (org_id, text) VALUES (:org_id, :text)", text="a"),
            tx.run("INSERT INTO notes (org_id, text) SELECT org_id, 'b' FROM notes"),
            tx.run("UPDATE notes SET text = 'c'"),
            tx.run("UPDATE notes SET text = 'c' WHERE text = 'nothing'"),
            tx.run("DELETE FROM notes"),
        ]

    assert notes.write(work, "org_1") == [1, 1, 2, 0, 2]


def test_rows_row_and_value(notes: MemoryStore) -> None:
    notes.write(lambda tx: tx.run_each("INSERT INTO notes (text) VALUES (:text)", [("a",), ("b",)]))
    assert notes.read(lambda tx: tx.rows("SELECT text FROM notes ORDER BY id")) == [("a",), ("b",)]
    assert notes.read(lambda tx: tx.row("SELECT id, text FROM notes ORDER BY id")) == (1, "a")
    assert notes.read(lambda tx: tx.row("SELECT id FROM notes WHERE text = 'c'")) is None
    assert notes.read(lambda tx: tx.value("SELECT text FROM notes WHERE id = :id", id=2)) == "b"
    assert notes.read(lambda tx: tx.value("SELECT text FROM notes WHERE id = :id", id=3)) is None


def test_returning_rows_are_written(notes: MemoryStore) -> None:
    insert = "INSERT INTO notes (text) VALUES ('a'), ('b') RETURNING id"
    assert notes.write(lambda tx: tx.row(insert)) == (1,)  # both rows, though one was asked for
    assert notes.read(lambda tx: tx.value("SELECT count(*) FROM notes")) == 2


def test_the_organization_is_bound_when_the_caller_is_known(store: MemoryStore) -> None:
    def work(tx: WriteTx) -> tuple[str, object]:
        with pytest.raises(KeyError):
            _ = tx.org_id
        tx.bind("org_1")
        return tx.org_id, tx.value("SELECT :org_id")

    assert store.write(work) == ("org_1", "org_1")


def test_a_transaction_overrides_nothing_unless_it_is_told_to(store: MemoryStore) -> None:
    assert store.read(lambda tx: tx.overrides) == store.write(lambda tx: tx.overrides) == frozenset()


def test_today_is_londons(store: MemoryStore) -> None:
    assert store.read(lambda tx: (tx.now, tx.today)) == (START, "2026-11-20")


def test_what_a_read_asked_the_clock_is_told(store: MemoryStore) -> None:
    def asked(work: Callable[[ReadTx], object]) -> tuple[bool, bool]:
        def read(tx: ReadTx) -> tuple[bool, bool]:
            work(tx)
            return tx.used_now, tx.used_today

        return store.read(read)

    assert asked(lambda tx: tx.value("SELECT 1")) == (False, False)
    assert asked(lambda tx: tx.now) == (True, False)
    assert asked(lambda tx: tx.today) == (False, True)


def test_what_is_announced_is_told_once_it_is_written(store: MemoryStore) -> None:
    def raises(tx: WriteTx) -> None:
        tx.announce("never")
        raise LookupError

    store.write(lambda tx: [tx.announce("a"), tx.announce("b"), tx.announce("a")])
    with pytest.raises(LookupError):
        store.write(raises)
    assert store.announced == {"a", "b"}


def test_a_number_too_large_for_the_database_is_an_error(notes: MemoryStore) -> None:
    with pytest.raises(OverflowError):
        notes.write(lambda tx: tx.run("INSERT INTO notes (id) VALUES (:id)", id=1 << 63))


def test_text_in_double_quotes_is_a_name(store: MemoryStore) -> None:
    with pytest.raises(apsw.SQLError):
        store.read(lambda tx: tx.value('SELECT "nothing of that name"'))


def test_what_is_sealed_under_another_context_does_not_open(store: MemoryStore) -> None:
    sealed = store.write(lambda tx: tx.seal("secret", "one"))
    with pytest.raises(StoreFailure):
        store.read(lambda tx: tx.unseal(sealed, "two"))


def test_ids_are_made_with_their_prefix(store: MemoryStore) -> None:
    assert store.write(lambda tx: tx.new_id("inv")).startswith("inv_")
