"""Browsers that are known: how long, how many, and that a copy of the cookie dies with the next sign-in."""

from gatewayd.access import deprovisioning
from gatewayd.identity.sign_in import known_devices, password_resets
from tests.support.store import MemoryStore

EMAIL = "ann@example.com"
ATTEMPTS = 3


def remember(store: MemoryStore, user_id: str, token: str = "") -> str:
    return store.write(lambda tx: known_devices.remember(tx, user_id, token))


def is_known(store: MemoryStore, token: str, email: str = EMAIL) -> bool:
    return store.write(lambda tx: known_devices.charge(tx, email, token, ATTEMPTS)) is not None


def test_a_sign_in_replaces_the_token_and_gives_the_whole_budget(store: MemoryStore) -> None:
    user_id = store.user(store.org(), email=EMAIL)
    first = remember(store, user_id)
    assert [is_known(store, first) for _ in range(ATTEMPTS + 1)] == [True] * ATTEMPTS + [False]
    second = remember(store, user_id, first)
    assert not is_known(store, first)
    assert [is_known(store, second, " ANN@Example.com") for _ in range(ATTEMPTS + 1)] == [True] * ATTEMPTS + [False]


def test_two_people_share_a_browser(store: MemoryStore) -> None:
    ann, bob = (store.user(store.org(), email=email) for email in (EMAIL, "bob@example.com"))
    of_ann = remember(store, ann)
    assert is_known(store, of_ann)
    of_both = remember(store, bob, of_ann)
    assert is_known(store, of_both, "bob@example.com")
    assert [is_known(store, of_both) for _ in range(ATTEMPTS)] == [True] * (ATTEMPTS - 1) + [False]  # as it was counted


def test_what_is_no_token_is_unknown(store: MemoryStore) -> None:
    remember(store, store.user(store.org(), email=EMAIL))
    assert not any(is_known(store, token) for token in ("", "x", "\udc80", "é" * 5000))


def test_a_device_is_known_for_half_a_year(store: MemoryStore) -> None:
    user_id = store.user(store.org(), email=EMAIL)
    device = remember(store, user_id)
    store.clock.advance(known_devices.LIFETIME - 1)
    assert is_known(store, device)
    assert store.write(known_devices.sweep) == 0
    store.clock.advance(1)
    assert not is_known(store, device)
    assert store.write(known_devices.sweep) == 1


def test_the_device_that_was_used_longest_ago_makes_room(store: MemoryStore) -> None:
    user_id = store.user(store.org(), email=EMAIL)
    devices = []
    for _ in range(known_devices.PER_USER + 1):
        devices.append(remember(store, user_id))
        store.clock.advance(1)
    assert [is_known(store, device) for device in devices] == [False] + [True] * known_devices.PER_USER
    assert store.read(lambda tx: known_devices.count(tx, user_id)) == known_devices.PER_USER


def test_whoever_ends_all_access_makes_every_device_a_stranger(store: MemoryStore) -> None:
    user_id = store.user(store.org(), email=EMAIL)
    for end in (
        lambda tx: deprovisioning.end_sessions(tx, user_id, "operator"),
        lambda tx: deprovisioning.end_everything(tx, user_id, "operator"),
        lambda tx: password_resets.reset(tx, user_id, "hash", "operator"),
    ):
        device = remember(store, user_id)
        store.write(end)
        assert not is_known(store, device)
