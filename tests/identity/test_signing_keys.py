"""Signing keys: made, sealed, published ahead, followed, and forgotten."""

import msgspec
import pytest

from gatewayd.clock import DAY, HOUR
from gatewayd.identity.signing import signed_tokens, signing_keys
from gatewayd.identity.signing.signed_tokens import UntrustedToken
from gatewayd.identity.signing.signing_keys import AHEAD, RETENTION, ROTATION, Algorithm, SigningKeys
from gatewayd.store import StoreFailure
from gatewayd.store.sealer import Sealer
from tests.support.oauth import signing_key
from tests.support.store import MemoryStore


class _Claims(msgspec.Struct):
    n: int


def add(store: MemoryStore, *numbered: tuple[Algorithm, int]) -> int:
    return store.write(lambda tx: signing_keys.add(tx, [signing_key(*each) for each in numbered]))


def loaded(store: MemoryStore, keys: SigningKeys | None = None) -> SigningKeys:
    keys = keys or SigningKeys()
    store.read(keys.load)
    return keys


def test_a_new_store_wants_one_key_for_each_algorithm(store: MemoryStore) -> None:
    assert store.read(signing_keys.due) == ["ES256", "RS256"]
    assert add(store, ("ES256", 0), ("RS256", 0)) == 2
    assert store.read(signing_keys.due) == []


def test_the_first_keys_sign_at_once(store: MemoryStore) -> None:
    add(store, ("ES256", 0), ("RS256", 0))
    keys = loaded(store)
    for algorithm in signing_keys.ALGORITHMS:
        assert keys.signer(algorithm, store.now()).kid == signing_key(algorithm).kid


def test_two_processes_that_begin_at_once_make_one_key(store: MemoryStore) -> None:
    assert add(store, ("ES256", 0)) == 1
    assert add(store, ("ES256", 1)) == 0


def test_the_key_set_shows_public_keys_alone(store: MemoryStore) -> None:
    add(store, ("ES256", 0), ("RS256", 0))
    shown = msgspec.json.decode(loaded(store).jwks())["keys"]
    assert [(key["kty"], key["alg"], key["use"]) for key in shown] == [("EC", "ES256", "sig"), ("RSA", "RS256", "sig")]
    assert [set(key) for key in shown] == [
        {"kty", "crv", "x", "y", "kid", "use", "alg"},
        {"kty", "n", "e", "kid", "use", "alg"},
    ]
    assert {key["kid"] for key in shown} == set(loaded(store).kids)


def test_without_keys_nothing_signs() -> None:
    keys = SigningKeys()
    assert keys.jwks() == b'{"keys":[]}'
    with pytest.raises(LookupError):
        keys.signer("ES256", 0)


def test_a_key_is_followed_published_ahead_and_kept_after(store: MemoryStore) -> None:
    add(store, ("ES256", 0), ("RS256", 0))
    first, second = signing_key("ES256", 0).kid, signing_key("ES256", 1).kid
    store.clock.advance(ROTATION - AHEAD - 1)
    assert store.read(signing_keys.due) == []
    store.clock.advance(1)
    assert store.read(signing_keys.due) == ["ES256", "RS256"]
    assert add(store, ("ES256", 1), ("ES256", 2)) == 1
    keys = loaded(store)
    assert {first, second} <= set(keys.kids)
    assert keys.signer("ES256", store.now()).kid == first

    store.clock.advance(AHEAD - 1)
    assert keys.signer("ES256", store.now()).kid == first
    old = signed_tokens.sign(keys.signer("ES256", store.now()), "t", {"n": 1})
    store.clock.advance(1)
    assert keys.signer("ES256", store.now()).kid == second
    assert signed_tokens.read(keys, old, "t", _Claims).n == 1

    store.clock.advance(RETENTION - 1)
    assert store.write(signing_keys.sweep) == 0
    assert first in loaded(store, keys).kids
    store.clock.advance(1)
    assert store.write(signing_keys.sweep) == 1
    assert first not in loaded(store, keys).kids
    with pytest.raises(UntrustedToken):
        signed_tokens.read(keys, old, "t", _Claims)


def test_a_daemon_that_slept_for_months_publishes_before_it_signs(store: MemoryStore) -> None:
    add(store, ("ES256", 0))
    store.clock.advance(400 * DAY)
    add(store, ("ES256", 1))
    keys = loaded(store)
    assert keys.signer("ES256", store.now()).kid == signing_key("ES256", 0).kid
    store.clock.advance(AHEAD)
    assert keys.signer("ES256", store.now()).kid == signing_key("ES256", 1).kid


def test_a_clock_that_was_set_back_does_not_stop_the_signing(store: MemoryStore) -> None:
    add(store, ("ES256", 0))
    store.clock.advance(-HOUR)
    assert loaded(store).signer("ES256", store.now()).kid == signing_key("ES256", 0).kid


def test_loading_again_keeps_what_is_known(store: MemoryStore) -> None:
    add(store, ("ES256", 0))
    keys = loaded(store)
    kids, found = keys.kids, keys.find(keys.kids[0])
    loaded(store, keys)
    assert keys.kids is kids
    assert keys.find(kids[0]) is found


def test_a_key_is_opened_once_beforehand_or_by_its_first_use(store: MemoryStore) -> None:
    add(store, ("ES256", 0), ("RS256", 0))
    keys = loaded(store)
    signer = keys.signer("ES256", store.now())
    token = signed_tokens.sign(signer, "t", {"n": 1})
    used = signer.opened
    keys.open()
    assert signer.opened is used
    assert signed_tokens.read(keys, token, "t", _Claims).n == 1
    assert keys.signer("RS256", store.now()).opened.key.thumbprint() == signing_key("RS256", 0).kid


def test_the_private_half_is_sealed_and_never_shown(store: MemoryStore) -> None:
    add(store, ("ES256", 0))
    private = msgspec.json.decode(signing_key("ES256", 0).private)["d"]
    assert private not in repr(signing_key("ES256", 0))
    assert private not in repr(loaded(store).find(signing_key("ES256", 0).kid))
    assert private.encode() not in store.stored()
    store.sealer = Sealer(bytes(32))
    with pytest.raises(StoreFailure):
        loaded(store)


def test_an_unknown_key_is_not_found(store: MemoryStore) -> None:
    add(store, ("ES256", 0))
    assert loaded(store).find("nobody") is None
