"""Links that work once, for one purpose, for a while."""

import pytest

from gatewayd.clock import MINUTE
from gatewayd.identity.sign_in import one_time_links
from tests.support.store import MemoryStore


@pytest.fixture
def user(store: MemoryStore) -> str:
    return store.user(store.org())


def made(store: MemoryStore, user: str) -> str:
    return store.write(lambda tx: one_time_links.make(tx, user, "sign_in"))


def used(store: MemoryStore, token: str, purpose: one_time_links.Purpose = "sign_in") -> str | None:
    return store.write(lambda tx: one_time_links.use(tx, token, purpose))


def test_it_works_once(store: MemoryStore, user: str) -> None:
    token = made(store, user)
    assert store.read(lambda tx: one_time_links.find(tx, token, "sign_in")) == user
    assert used(store, token) == user
    assert used(store, token) is None
    assert store.read(lambda tx: one_time_links.find(tx, token, "sign_in")) is None


def test_it_works_for_its_purpose_alone(store: MemoryStore, user: str) -> None:
    token = made(store, user)
    assert used(store, token, "reset_password") is None
    assert used(store, token) == user


def test_it_ends_by_itself(store: MemoryStore, user: str) -> None:
    token = made(store, user)
    store.clock.advance(30 * MINUTE)
    assert used(store, token) is None


def test_it_is_not_in_the_database(store: MemoryStore, user: str) -> None:
    assert made(store, user).encode() not in store.stored()


def test_voiding_is_for_one_user(store: MemoryStore, user: str) -> None:
    other = store.user(store.org())
    mine, theirs = made(store, user), made(store, other)
    store.write(lambda tx: one_time_links.void(tx, user))
    assert (used(store, mine), used(store, theirs)) == (None, other)


def test_old_ones_are_swept(store: MemoryStore, user: str) -> None:
    made(store, user)
    store.clock.advance(30 * MINUTE + one_time_links.RETENTION)
    assert store.write(one_time_links.sweep) == 0
    store.clock.advance(1)
    assert store.write(one_time_links.sweep) == 1
