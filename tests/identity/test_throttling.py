"""Throttling of sign-in: accounts lock after the failures in a row that the setting allows, networks grow slow."""

from ipaddress import ip_network

import pytest

from gatewayd.clock import DAY, HOUR, MINUTE, SECOND, Instant, SettableClock
from gatewayd.identity.sign_in import known_devices, throttling
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.identity.sign_in.throttling import Limits, Locked, Try
from tests.support.postgres import Server
from tests.support.several_daemons import Work, several_daemons
from tests.support.store import START, MemoryStore

EMAIL, HERE, ELSEWHERE = "ann@example.com", "192.0.2.7", "198.51.100.1"
ATTEMPTS, NETWORK_ATTEMPTS = 3, 60
PROXY = "10.1.2.3"
LIMITS = Limits(ATTEMPTS, (ip_network("10.0.0.0/8"), ip_network("fd00::/8")))


def one_try(store: MemoryStore, email: str = EMAIL, address: str = HERE, device: str = "") -> Try:
    visitor = Visitor(user_agent="Test", address=address, device=device)
    return store.write(lambda tx: throttling.note_try(tx, email, visitor, LIMITS))


def tries(store: MemoryStore, email: str = EMAIL, address: str = HERE, *, times: int = 1, device: str = "") -> None:
    for _ in range(times):
        one_try(store, email, address, device)


def locked_for(store: MemoryStore, email: str = EMAIL, address: str = HERE, device: str = "") -> Instant:
    with pytest.raises(Locked) as caught:
        one_try(store, email, address, device)
    return Instant(caught.value.until - store.now())


def fill(store: MemoryStore, address: str = HERE, times: int = NETWORK_ATTEMPTS) -> None:
    """So many failures of as many accounts that nobody has."""
    for n in range(times):
        tries(store, f"user{n}@example.com", address)


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


def test_what_strangers_can_guess_is_bounded_by_day(store: MemoryStore) -> None:
    """From as many networks as they like: 10 at once, then by ever longer locks. The figures stand in the docs."""
    began, guesses = store.now(), [0, 0, 0]

    def guess(n: int) -> None:
        """The next as soon as it is let through."""
        visitor = Visitor(user_agent="Test", address=f"198.51.100.{n}")
        try:
            store.write(lambda tx: throttling.note_try(tx, EMAIL, visitor, Limits(10)))
        except Locked as locked:
            store.clock.advance(locked.until - store.now())
            guess(n)

    for n in range(38 + 24 + 24):
        guess(n)
        guesses[(store.now() - began) // DAY] += 1
    assert guesses == [38, 24, 24]
    guess(0)
    assert store.now() - began >= 3 * DAY


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


# -- networks


def test_who_has_not_failed_pays_for_no_neighbour(store: MemoryStore) -> None:
    fill(store, times=2 * NETWORK_ATTEMPTS)
    tries(store)
    tries(store, "bob@example.com", ELSEWHERE)


def test_in_a_slow_network_an_account_that_failed_is_tried_once_a_minute(store: MemoryStore) -> None:
    tries(store)
    fill(store)
    store.clock.advance(10 * SECOND)
    assert locked_for(store) == MINUTE - 10 * SECOND
    one_try(store, address=ELSEWHERE)
    assert locked_for(store) == MINUTE  # it is the account's last failure that counts, wherever that was
    store.clock.advance(MINUTE)
    tries(store)
    assert locked_for(store, address=ELSEWHERE) == MINUTE  # by now it is the account's own lock


def test_the_pause_of_a_slow_network_never_grows(store: MemoryStore) -> None:
    fill(store, times=4 * NETWORK_ATTEMPTS)
    for n in range(2):
        tries(store)
        assert locked_for(store) == MINUTE, n
        store.clock.advance(MINUTE)


def test_made_up_accounts_are_slowed_as_real_ones(store: MemoryStore) -> None:
    store.user(store.org(), email=EMAIL)
    fill(store)
    seen = []
    for email in (EMAIL, "nobody@example.net"):
        tries(store, email)
        seen.append(locked_for(store, email))
    assert seen[0] == seen[1] == MINUTE


def test_failures_of_a_network_halve_every_hour(store: MemoryStore) -> None:
    fill(store, times=NETWORK_ATTEMPTS - 1)
    store.clock.advance(HOUR - 1)
    tries(store)
    assert locked_for(store) == MINUTE
    store.clock.advance(1)  # 60 are 30
    tries(store, times=1)
    fill(store, times=NETWORK_ATTEMPTS // 2 - 3)
    store.write(lambda tx: throttling.unlock(tx, EMAIL))
    tries(store, times=2)
    assert locked_for(store) == MINUTE


def test_failures_of_weeks_do_not_add_up(store: MemoryStore) -> None:
    """Five typos an hour, for two weeks."""
    for n in range(14 * 24 * 5):
        tries(store, f"user{n}@example.com")
        store.clock.advance(HOUR // 5)
    tries(store, times=2)


def test_a_clock_that_was_set_back_halves_nothing_and_breaks_nothing(store: MemoryStore) -> None:
    fill(store)
    tries(store)
    store.clock.advance(-DAY)
    fill(store, "192.0.2.8", 1)
    with pytest.raises(Locked):
        tries(store)


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
    fill(store, one)
    tries(store, address=other)
    if same:
        assert locked_for(store, address=other) == MINUTE
    else:
        tries(store, address=other)


@pytest.mark.parametrize("address", ["", "127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", PROXY, "fd00::1"])
def test_where_everybody_may_stand_is_no_network(store: MemoryStore, address: str) -> None:
    """A unix socket, loopback, and a trusted proxy that does not say for whom it asks."""
    fill(store, address, 2 * NETWORK_ATTEMPTS)
    tries(store, EMAIL, address, times=ATTEMPTS)
    assert locked_for(store, EMAIL, address) == MINUTE


# -- success


def succeed(store: MemoryStore, email: str = EMAIL, address: str = HERE, device: str = "") -> None:
    counted = one_try(store, email, address, device)
    store.write(lambda tx: throttling.note_success(tx, counted))


def take_back(store: MemoryStore, device: str = "") -> None:
    counted = one_try(store, device=device)
    store.write(lambda tx: throttling.take_back(tx, counted))


def test_success_forgets_the_failures_of_the_account(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS - 1)
    succeed(store)
    tries(store, times=ATTEMPTS)


def test_a_right_password_alone_leaves_the_wrong_codes_counted(store: MemoryStore) -> None:
    """Or a person who knows the password could guess at the code for ever."""
    for _ in range(ATTEMPTS):
        take_back(store)  # the password
        tries(store)  # a wrong code
    assert locked_for(store) == MINUTE


def test_success_is_one_failure_less_of_the_network(store: MemoryStore) -> None:
    fill(store, times=NETWORK_ATTEMPTS - 2)
    succeed(store)
    tries(store, "bob@example.com")
    tries(store, "bob@example.com")  # sixty would be slow
    assert locked_for(store, "bob@example.com") == MINUTE


def test_failures_count_for_a_day(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS - 1)
    store.clock.advance(DAY)
    tries(store)
    assert locked_for(store) == MINUTE


def test_failures_of_yesterday_do_not_count(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS - 1)
    store.clock.advance(DAY + 1)
    tries(store, times=ATTEMPTS)
    assert locked_for(store) == MINUTE


# -- known devices


def device_of(store: MemoryStore, email: str = EMAIL) -> str:
    user_id = store.user(store.org(), email=email)
    return store.write(lambda tx: known_devices.remember(tx, user_id, ""))


def test_a_known_device_passes_the_lock_of_its_account(store: MemoryStore) -> None:
    device = device_of(store)
    tries(store, address=ELSEWHERE, times=ATTEMPTS)
    locked_for(store, address=ELSEWHERE)
    succeed(store, device=device)
    locked_for(store, address=ELSEWHERE)  # strangers gain nothing by it


def test_a_known_device_passes_a_slow_network_and_does_not_fill_it(store: MemoryStore) -> None:
    device = device_of(store)
    fill(store, times=NETWORK_ATTEMPTS - 1)
    tries(store, device=device, times=ATTEMPTS)
    tries(store, "bob@example.com")
    tries(store, "eve@example.com")
    locked_for(store, "bob@example.com")


def test_a_copied_cookie_is_good_for_a_few_tries_and_no_more(store: MemoryStore) -> None:
    device = device_of(store)
    tries(store, times=ATTEMPTS)
    tries(store, device=device, times=ATTEMPTS)
    assert locked_for(store, device=device) == MINUTE
    store.clock.advance(DAY + 1)
    tries(store, device=device, times=ATTEMPTS)  # the account's
    assert locked_for(store, device=device) == MINUTE


def test_codes_are_counted_against_the_device_too(store: MemoryStore) -> None:
    device = device_of(store)
    tries(store, times=ATTEMPTS)
    for _ in range(ATTEMPTS - 1):
        take_back(store, device)  # the password
        tries(store, device=device)  # a wrong code
    take_back(store, device)
    tries(store, device=device)
    locked_for(store, device=device)


def test_a_device_is_known_for_those_alone_who_signed_in_there(store: MemoryStore) -> None:
    device = device_of(store)
    store.user(store.org(), email="bob@example.com")
    for email in ("bob@example.com", "nobody@example.com"):
        tries(store, email, times=ATTEMPTS)
        assert locked_for(store, email, device=device) == MINUTE


# -- the operator


def test_the_operator_unlocks(store: MemoryStore) -> None:
    tries(store, times=ATTEMPTS)
    assert store.write(lambda tx: throttling.unlock(tx, EMAIL.upper()))
    tries(store)
    assert not store.write(lambda tx: throttling.unlock(tx, "nobody@example.com"))


@pytest.mark.parametrize(
    ("address", "given", "unlocked"),
    [
        (HERE, "192.0.2.7/32", ["192.0.2.7/32"]),
        (HERE, "192.0.2.0/24", ["192.0.2.7/32"]),
        (HERE, "198.51.100.0/24", []),
        (HERE, "::/0", []),
        ("2001:db8::1", "2001:db8::9/128", ["2001:db8::/64"]),
    ],
)
def test_the_operator_unlocks_networks(store: MemoryStore, address: str, given: str, unlocked: list[str]) -> None:
    fill(store, address)
    tries(store, address=address)
    assert store.write(lambda tx: throttling.unlock_network(tx, ip_network(given))) == unlocked
    if unlocked:
        tries(store, address=address)
    else:
        locked_for(store, address=address)


def test_the_sweep_takes_what_no_longer_counts(store: MemoryStore) -> None:
    tries(store)
    store.clock.advance(DAY)
    tries(store, "bob@example.com", ELSEWHERE)
    assert store.write(throttling.sweep) == 0
    store.clock.advance(1)
    assert store.write(throttling.sweep) == 2
    assert store.write(throttling.sweep) == 0


def test_of_guesses_at_two_daemons_at_once_no_more_are_verified_than_of_as_many_at_one(postgresql: Server) -> None:
    """Their clocks are five seconds apart."""
    visitor = Visitor(user_agent="Test", address=HERE)
    guesses: list[Work] = [lambda tx: throttling.note_try(tx, EMAIL, visitor, LIMITS)] * 20
    with several_daemons(postgresql, clocks=(SettableClock(START), SettableClock(Instant(START + 5 * SECOND)))) as both:
        done = both.at_once(guesses, guesses)
    assert sum(isinstance(each, Try) for each in done) == ATTEMPTS
    assert sum(isinstance(each, Locked) for each in done) == 40 - ATTEMPTS
