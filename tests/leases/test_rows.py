"""A lease is one holder's at a time, until it ends; and what was its work is not written once it is another's."""

import pytest

from gatewayd.clock import HOUR, SECOND
from gatewayd.leases import rows
from gatewayd.leases.rows import LeaseLost
from tests.support.store import MemoryStore

SUBJECT = "import:bac_1"
SECONDS = 30.0


@pytest.fixture
def org_id(store: MemoryStore) -> str:
    return store.org()


def take(store: MemoryStore, org_id: str, holder: str, subject: str = SUBJECT) -> bool:
    return store.write(lambda tx: rows.take(tx, subject, holder, SECONDS), org_id)


def holder_of(store: MemoryStore, org_id: str, subject: str = SUBJECT) -> str | None:
    row = store.read(lambda tx: rows.find(tx, subject), org_id)
    return None if row is None else row.holder


def test_of_two_one_wins(store: MemoryStore, org_id: str) -> None:
    assert take(store, org_id, "a:1")
    assert not take(store, org_id, "b:1")
    assert holder_of(store, org_id) == "a:1"


def test_subjects_and_organizations_have_leases_of_their_own(store: MemoryStore, org_id: str) -> None:
    other = store.org()
    assert take(store, org_id, "a:1")
    assert take(store, org_id, "b:1", "import:bac_2")
    assert take(store, other, "c:1")
    assert [holder_of(store, org_id), holder_of(store, other)] == ["a:1", "c:1"]


def test_who_has_it_takes_it_again_and_others_after_its_end(store: MemoryStore, org_id: str) -> None:
    assert take(store, org_id, "a:1")
    store.clock.advance(20 * SECOND)
    assert take(store, org_id, "a:1")
    store.clock.advance(30 * SECOND - 1)
    assert not take(store, org_id, "b:1")
    store.clock.advance(1)
    assert take(store, org_id, "b:1")


def test_what_is_renewed_does_not_end_and_what_was_taken_stays_the_others(store: MemoryStore, org_id: str) -> None:
    take(store, org_id, "a:1", "one")
    take(store, org_id, "a:1", "two")
    store.clock.advance(30 * SECOND)
    assert take(store, org_id, "b:1", "two")
    store.write(lambda tx: rows.renew(tx, "a:1", SECONDS))
    store.clock.advance(29 * SECOND)
    assert not take(store, org_id, "c:1", "one")
    assert holder_of(store, org_id, "two") == "b:1"


def test_what_rests_on_a_lease_is_written_while_it_is_ours(store: MemoryStore, org_id: str) -> None:
    take(store, org_id, "a:1")
    store.clock.advance(60 * SECOND)
    store.write(lambda tx: rows.require(tx, SUBJECT, "a:1"), org_id)  # ended, and nobody else's
    take(store, org_id, "b:1")
    with pytest.raises(LeaseLost):
        store.write(lambda tx: rows.require(tx, SUBJECT, "a:1"), org_id)
    store.write(lambda tx: rows.release(tx, SUBJECT, "a:1"), org_id)  # whose it is not
    assert holder_of(store, org_id) == "b:1"
    store.write(lambda tx: rows.release(tx, SUBJECT, "b:1"), org_id)
    with pytest.raises(LeaseLost):
        store.write(lambda tx: rows.require(tx, SUBJECT, "a:1"), org_id)


def test_all_of_one_holder_are_released(store: MemoryStore, org_id: str) -> None:
    other = store.org()
    for subject in ("one", "two"):
        take(store, org_id, "a:1", subject)
    take(store, other, "a:1")
    take(store, other, "a:2", "two")
    store.write(lambda tx: rows.release_all_of(tx, "a:1"))
    assert store.write(lambda tx: tx.rows("SELECT holder FROM leases")) == [("a:2",)]


def test_a_daemon_ends_what_those_before_it_had_and_nobody_else(store: MemoryStore, org_id: str) -> None:
    holders = ("daemon-aa:1", "daemon-aa:2", "daemon-ab:1", "daemon-a:1", "daemon-aab:1", "command:1")
    for holder in holders:
        take(store, org_id, holder, holder)
    store.write(lambda tx: rows.drop_former(tx, "daemon-aa", "daemon-aa:2"))
    left = store.write(lambda tx: {row[0] for row in tx.rows("SELECT holder FROM leases")})
    assert left == set(holders) - {"daemon-aa:1"}
    store.clock.advance(30 * SECOND)
    store.write(lambda tx: rows.drop_former(tx, "daemon-aa", "daemon-aa:3"))
    assert store.write(lambda tx: tx.rows("SELECT holder FROM leases")) == []


def test_a_clock_that_is_set_back_freezes_nothing_for_so_long(store: MemoryStore, org_id: str) -> None:
    """Whoever lives goes on; who is dead has one lease more."""
    take(store, org_id, "dead:1", "one")
    take(store, org_id, "alive:1", "two")
    assert not store.read(lambda tx: rows.is_any_too_long(tx, SECONDS))
    store.clock.advance(-HOUR)
    assert store.read(lambda tx: rows.is_any_too_long(tx, SECONDS))
    assert not take(store, org_id, "b:1", "one")
    store.write(lambda tx: rows.shorten(tx, SECONDS))
    assert not store.read(lambda tx: rows.is_any_too_long(tx, SECONDS))
    assert not take(store, org_id, "b:1", "one")
    store.clock.advance(29 * SECOND)
    store.write(lambda tx: rows.renew(tx, "alive:1", SECONDS))
    store.clock.advance(1 * SECOND)
    assert take(store, org_id, "b:1", "one")
    assert not take(store, org_id, "b:1", "two")
