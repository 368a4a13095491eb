"""Throttling of sign-in: accounts lock after the failures in a row that the setting allows, networks much later."""

import pytest

from gatewayd.clock import DAY, HOUR, MINUTE, Instant
from gatewayd.identity import throttling
from gatewayd.identity.throttling import Locked
from tests.support.store import MemoryStore

EMAIL, HERE = "ann@example.com", "192.0.2.7"
ATTEMPTS, NETWORK_ATTEMPTS = 3, 60


def tries(store: MemoryStore, email: str = EMAIL, address: str = HERE, *, times: int = 1) -> None:
    for _ in range(times):
        store.write(lambda tx: throttling.note_try(tx, email, address, ATTEMPTS))


def locked_for(store: MemoryStore, email: str = EMAIL, address: str = HERE) -> Instant:
    with pytest.raises(Locked) as caught:
        tries(store, email, address)
    return Instant(caught.value.until - store.now())


def test_an_account_locks_after_the_failures_allowed_and_the_lock_ends(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS)
    assert locked_for(store) == MINUTE
    store.clock.advance(MINUTE)
    tries(store)
    assert locked_for(store) == 2 * MINUTE


def test_the_lock_doubles_up_to_an_hour(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS)
    locks = []
    for _ in range(9):
        locks.append(locked_for(store))
        store.clock.advance(locks[-1])
        tries(store)
    assert locks == [min(MINUTE << n, HOUR) for n in range(9)]


def test_a_refused_try_is_not_counted(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS)
    assert [locked_for(store) for _ in range(20)] == [MINUTE] * 20


def test_letter_case_and_spaces_are_the_same_account(store: MemoryStore) -> None:
    for email in (EMAIL, " ANN@Example.com", "Ann@example.COM "):
        tries(store, email)
    assert locked_for(store) == MINUTE


def test_other_accounts_of_the_network_go_on(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS)
    tries(store, "bob@example.com")


def test_a_network_locks_much_later(store: MemoryStore) -> None:
    for n in range(NETWORK_ATTEMPTS):
        tries(store, f"user{n}@example.com")
    assert locked_for(store, "new@example.com") == MINUTE
    tries(store, "new@example.com", "198.51.100.1")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8::8000:0:0:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("192.0.2.7", "::ffff:192.0.2.7", True),
        ("192.0.2.7", "192.0.2.8", False),
    ],
)
def test_what_one_network_is(store: MemoryStore, one: str, other: str, same: bool) -> None:
    for n in range(NETWORK_ATTEMPTS):
        tries(store, f"user{n}@example.com", one)
    if same:
        assert locked_for(store, "new@example.com", other) == MINUTE
    else:
        tries(store, "new@example.com", other)


def test_a_unix_socket_has_no_network(store: MemoryStore) -> None:
    for n in range(NETWORK_ATTEMPTS + 1):
        tries(store, f"user{n}@example.com", "")
    tries(store, EMAIL, "", times=ATTEMPTS)
    assert locked_for(store, EMAIL, "") == MINUTE


def test_success_forgets_the_failures_of_the_account(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS)
    store.write(lambda tx: throttling.note_success(tx, EMAIL, HERE))
    tries(store, times=ATTEMPTS)


def test_a_right_password_alone_leaves_the_wrong_codes_counted(store: MemoryStore) -> None:
    """Or a person who knows the password could guess at the code for ever."""
    for _ in range(ATTEMPTS):
        tries(store)  # the password
        store.write(lambda tx: throttling.take_back(tx, EMAIL, HERE))
        tries(store)  # a wrong code
    assert locked_for(store) == MINUTE


def test_success_is_one_failure_less_of_the_network(store: MemoryStore) -> None:
    tries(store, "ann@example.com")
    for n in range(NETWORK_ATTEMPTS - 1):
        tries(store, f"user{n}@example.com")
    store.write(lambda tx: throttling.note_success(tx, "ann@example.com", HERE))
    tries(store, "new@example.com")
    assert locked_for(store, "newer@example.com") == MINUTE


def test_failures_count_for_a_day(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS - 1)
    store.clock.advance(DAY)
    tries(store)
    assert locked_for(store) == MINUTE


def test_failures_of_yesterday_do_not_count(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS - 1)
    store.clock.advance(DAY + 1)
    tries(store, times=ATTEMPTS - 1)
    tries(store)
    assert locked_for(store) == MINUTE


def test_the_operator_unlocks(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS)
    assert store.write(lambda tx: throttling.unlock(tx, EMAIL.upper()))
    tries(store)
    assert not store.write(lambda tx: throttling.unlock(tx, "nobody@example.com"))


def test_the_sweep_takes_what_no_longer_counts(store: MemoryStore) -> None:
    tries(store)
    store.clock.advance(DAY)
    tries(store, "bob@example.com", "198.51.100.1")
    assert store.write(throttling.sweep) == 0
    store.clock.advance(1)
    assert store.write(throttling.sweep) == 2
    assert store.write(throttling.sweep) == 0
