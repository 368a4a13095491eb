"""What follows from a change of a row: in its transaction, and told once for each row of an operation."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from gatewayd.clock import SECOND, Instant
from gatewayd.store import WriteTx
from gatewayd.store.reactions import Change, Reactions
from gatewayd.store.rows import removals
from gatewayd.store.rows.tables import RemovableTable
from gatewayd.store.sqlite.write_connection import SqliteWrites
from gatewayd.store.waiting_jobs import Job
from gatewayd.store.writer import Writer, WriterParts
from tests.support.store import MemoryStore

SCHEMA = """
CREATE TABLE boats (
    id TEXT PRIMARY KEY, org_id TEXT NOT NULL, name TEXT NOT NULL, length INTEGER NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, version INTEGER NOT NULL
) STRICT;
CREATE TABLE lengths (org_id TEXT NOT NULL, id TEXT NOT NULL, length INTEGER NOT NULL) STRICT;
"""


class Boat(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    length: int
    created_at: Instant
    updated_at: Instant
    version: int


BOATS = RemovableTable("boats", Boat, kind="boat", prefix="boat")


class TooLong(Exception):
    """A boat for which there is no room."""


class Harbour:
    """A store of boats, what follows from their changes, and what was told of them."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.told: list[Change] = []
        self.followed: list[str] = []
        self.listening = True
        store.connection.execute(SCHEMA)
        writes = SqliteWrites(store.connection)
        parts = WriterParts(writes, store.clock, store.sealer, store.ids.new, reactions=self._reactions)
        self._writer = Writer(parts, lambda batch: None, 1)
        self.org_id = store.org()

    def _reactions(self) -> Reactions:
        return Reactions(
            {"boats": (self._keep_length, self._note)},
            frozenset({"boats"}),
            lambda tx: frozenset({"boat.*"}) if self.listening else frozenset(),
            self._tell,
        )

    def _keep_length(self, tx: WriteTx, before: Boat | None, after: Boat | None) -> None:
        if after is not None:
            if after.length > 100:
                raise TooLong(after.name)
            tx.run("INSERT INTO lengths VALUES (:org_id, :id, :length)", id=after.id, length=after.length)

    def _note(self, tx: WriteTx, before: Boat | None, after: Boat | None) -> None:
        names = [None if row is None else row.name for row in (before, after)]
        self.followed.append(f"{names[0]} > {names[1]}")

    def _tell(self, tx: WriteTx, changes: Sequence[Change]) -> None:
        assert tx.org_id == self.org_id
        self.told += changes

    def write(self, work: Any, org_id: str | None = None) -> Any:
        job = Job(work, org_id or self.org_id, lambda done: None)
        self._writer.write([job])
        if job.error is not None:
            raise job.error
        return job.result

    def make(self, tx: WriteTx, name: str, length: int = 7) -> Boat:
        return BOATS.insert(tx, BOATS.new(tx, None, name=name, length=length))

    def count(self, table: str) -> int:
        return int(self.store.read(lambda tx: tx.value(f"SELECT count(*) FROM {table}")))

    @property
    def removed(self) -> list[str]:
        rows = self.store.read(lambda tx: removals.behind(tx, "boats", (0, ""), 100), self.org_id)
        return [row[1] for row in rows]


@pytest.fixture
def harbour(store: MemoryStore) -> Harbour:
    return Harbour(store)


def test_what_follows_is_done_with_the_change_in_its_order(harbour: Harbour) -> None:
    boat = harbour.write(lambda tx: harbour.make(tx, "Elsie"))
    harbour.write(lambda tx: BOATS.update(tx, replace(boat, name="Rose", length=8)))
    harbour.write(lambda tx: BOATS.delete(tx, boat.id))
    assert harbour.followed == ["None > Elsie", "Elsie > Rose", "Rose > None"]
    assert harbour.count("lengths") == 2
    assert harbour.removed == [boat.id]


def test_a_follow_up_that_raises_rolls_the_change_back_and_nothing_is_told(harbour: Harbour) -> None:
    boat = harbour.write(lambda tx: harbour.make(tx, "Elsie"))
    harbour.told.clear()

    def work(tx: WriteTx) -> None:
        harbour.make(tx, "Short")
        BOATS.update(tx, replace(boat, name="Ark", length=134))

    with pytest.raises(TooLong):
        harbour.write(work)
    assert (harbour.count("boats"), harbour.count("lengths"), harbour.told) == (1, 1, [])
    stored = harbour.store.read(lambda tx: BOATS.get(tx, boat.id), harbour.org_id)
    assert (stored.name, stored.version) == ("Elsie", 1)


def test_nothing_is_told_or_removed_where_the_operation_fails_after_its_change(harbour: Harbour) -> None:
    boat = harbour.write(lambda tx: harbour.make(tx, "Elsie"))
    harbour.told.clear()

    def work(tx: WriteTx) -> None:
        BOATS.delete(tx, boat.id)
        raise LookupError("later")

    with pytest.raises(LookupError):
        harbour.write(work)
    assert (harbour.count("boats"), harbour.removed, harbour.told) == (1, [], [])


def test_a_row_is_told_of_once_for_an_operation_from_what_it_was_to_what_it_is(harbour: Harbour) -> None:
    boat = harbour.write(lambda tx: harbour.make(tx, "Elsie"))
    harbour.told.clear()

    def work(tx: WriteTx) -> str:
        after = BOATS.update(tx, replace(boat, name="Rose"))
        BOATS.update(tx, replace(after, length=9))
        return harbour.make(tx, "Jolly").id

    made = harbour.write(work)
    first, second = harbour.told
    assert (first.before.name, first.before.length, first.after.name, first.after.length) == ("Elsie", 7, "Rose", 9)
    assert (second.before, second.after.id) == (None, made)


def test_a_row_that_an_operation_makes_and_deletes_again_has_neither_before_nor_after(harbour: Harbour) -> None:
    def work(tx: WriteTx) -> None:
        BOATS.delete(tx, harbour.make(tx, "Elsie").id)

    harbour.write(work)
    assert [(change.before, change.after) for change in harbour.told] == [(None, None)]


def test_of_several_operations_in_one_commit_each_tells_of_its_own(harbour: Harbour) -> None:
    first = harbour.write(lambda tx: harbour.make(tx, "Elsie"))
    second = harbour.write(lambda tx: BOATS.update(tx, replace(first, name="Rose")))
    harbour.write(lambda tx: BOATS.update(tx, replace(second, name="Iris")))
    assert [change.after.name for change in harbour.told] == ["Elsie", "Rose", "Iris"]


def test_nobody_is_told_where_nobody_listens_and_what_follows_is_done(harbour: Harbour) -> None:
    harbour.listening = False
    boat = harbour.write(lambda tx: harbour.make(tx, "Elsie"))
    harbour.write(lambda tx: BOATS.delete(tx, boat.id))
    assert harbour.told == []
    assert harbour.followed == ["None > Elsie", "Elsie > None"]
    assert harbour.removed == [boat.id]


def test_who_begins_to_listen_is_told_from_the_next_operation_on(harbour: Harbour) -> None:
    harbour.listening = False
    boat = harbour.write(lambda tx: harbour.make(tx, "Elsie"))
    harbour.listening = True
    harbour.write(lambda tx: tx.forget_listened())
    harbour.write(lambda tx: BOATS.update(tx, replace(boat, name="Rose")))
    assert [change.after.name for change in harbour.told] == ["Rose"]


# -- removals


def test_removals_are_kept_in_the_order_of_changes_for_ninety_days(harbour: Harbour) -> None:
    first, second = (harbour.write(lambda tx, name=name: harbour.make(tx, name).id) for name in ("Elsie", "Rose"))
    harbour.write(lambda tx: BOATS.delete(tx, second))
    harbour.store.clock.advance(-5 * SECOND)  # a clock that is set back
    harbour.write(lambda tx: BOATS.delete(tx, first))
    assert harbour.removed == [second, first]
    harbour.store.clock.advance(removals.KEPT)
    now = harbour.store.clock.now()
    assert harbour.store.write(lambda tx: removals.forget_some(tx, Instant(now - removals.KEPT))) == 0
    assert harbour.store.write(lambda tx: removals.forget_some(tx, Instant(now))) == 2
    assert harbour.removed == []


def test_removals_of_others_are_neither_seen_nor_missed(harbour: Harbour) -> None:
    other = harbour.store.org("Other Ltd")
    since = harbour.store.clock.now()
    harbour.store.clock.advance(SECOND)
    harbour.store.write(lambda tx: removals.keep_all(tx, "boats", ["boat_1", "boat_2"]), other)
    harbour.store.clock.advance(SECOND)
    assert harbour.removed == []
    now = harbour.store.clock.now()
    assert harbour.store.write(lambda tx: removals.forget_some(tx, Instant(now))) == 2

    def lost(org_id: str, resource: str = "boats") -> bool:
        return harbour.store.read(lambda tx: removals.is_lost(tx, resource, since, since, None), org_id)

    assert lost(other)
    assert not lost(other, "quays")
    assert not lost(harbour.org_id)
