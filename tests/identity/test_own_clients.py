"""OAuth clients that the operator registers."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey, RSAKey

from gatewayd.clock import DAY, HOUR
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.clients import client_secrets, grants, oauth_clients, own_clients
from gatewayd.identity.clients.own_clients import Kind, NewClient, RegisteredClient
from tests.support.consents import Flow
from tests.support.store import MemoryStore

CALLBACK = "https://till.example/callback"


def register(store: MemoryStore, kind: Kind = "secret", **changed: Any) -> RegisteredClient:
    new = NewClient(**{"name": "Till", "redirect_uris": [CALLBACK], "kind": kind, **changed})
    return store.write(lambda tx: own_clients.register(tx, new, "operator"))


def serves(store: MemoryStore, made: RegisteredClient, secret: str | None = None) -> bool:
    shown = secret or made.secret or ""
    return store.read(lambda tx: client_secrets.matches(tx, made.client.id, shown))


def public_jwk(key: Any) -> dict[str, Any]:
    return dict(key.as_dict(private=False))


def actions(store: MemoryStore) -> list[str]:
    return [entry.action for entry in store.read(audit.list_all)]


def test_a_secret_is_given_once_and_kept_as_a_hash(store: MemoryStore) -> None:
    made = register(store)
    assert made.secret is not None
    assert made.secret.startswith("gwcs_")
    assert made.secret not in repr(made)
    assert made.secret.encode() not in store.stored()
    assert serves(store, made)
    assert not serves(store, made, made.secret + "x")
    assert not store.read(lambda tx: client_secrets.matches(tx, "app_other", made.secret or ""))
    assert made.client.metadata.token_endpoint_auth_method == "client_secret_basic"
    assert actions(store) == ["client.registered"]


def test_a_public_one_has_none_and_stays_unused(store: MemoryStore) -> None:
    public, registered = register(store, "public"), Flow(store).client
    assert (public.secret, public.client.metadata.token_endpoint_auth_method) == (None, "none")
    store.clock.advance(2 * DAY)
    assert store.write(oauth_clients.sweep) == 1
    assert store.read(lambda tx: oauth_clients.find(tx, registered.id)) is None
    assert store.read(lambda tx: own_clients.get(tx, public.client.id)).by_operator


def test_a_rotation_overlaps_and_a_second_one_ends_nothing_sooner(store: MemoryStore) -> None:
    made = register(store)

    def rotate(overlap: int) -> str:
        return store.write(lambda tx: own_clients.rotate_secret(tx, made.client.id, overlap, "operator")).secret or ""

    second = rotate(2 * HOUR)
    store.clock.advance(HOUR)
    third = rotate(2 * HOUR)
    assert [serves(store, made, each) for each in (made.secret, second, third)] == [True, True, True]
    store.clock.advance(HOUR)
    assert [serves(store, made, each) for each in (made.secret, second, third)] == [False, True, True]
    fourth = rotate(0)
    assert [serves(store, made, each) for each in (second, third, fourth)] == [False, False, True]
    assert actions(store).count("client.secret_rotated") == 3


def test_so_many_secrets_serve_and_no_more(store: MemoryStore) -> None:
    made = register(store)

    def rotate(overlap: int) -> None:
        store.write(lambda tx: own_clients.rotate_secret(tx, made.client.id, overlap, "operator"))

    for _ in range(client_secrets.LIVE_MAX - 1):
        rotate(HOUR)
    with pytest.raises(Problem) as caught:
        rotate(HOUR)
    assert caught.value.code == "limit_reached"
    assert serves(store, made)
    rotate(0)
    assert not serves(store, made)


def test_removing_ends_grants_and_secrets_and_it_goes_with_them(store: MemoryStore) -> None:
    flow = Flow(store)
    made = register(store, redirect_uris=["https://app.example/callback"])
    flow.client = made.client
    flow.redeem(flow.code(), "refresh")
    other = register(store)
    store.write(lambda tx: own_clients.remove(tx, made.client.id, "operator"))
    assert not serves(store, made)
    assert serves(store, other)
    assert store.read(lambda tx: oauth_clients.is_active(tx, made.client.id)) is False
    assert store.read(lambda tx: tx.value("SELECT revoked_at FROM grants WHERE client_id = :id", id=made.client.id))
    assert [client.id for client in store.read(lambda tx: own_clients.list_page(tx, None, 9))] == [other.client.id]
    store.clock.advance(400 * DAY)
    store.write(grants.sweep)
    store.write(oauth_clients.sweep)
    assert store.read(lambda tx: oauth_clients.find(tx, made.client.id)) is None
    assert store.read(lambda tx: oauth_clients.find(tx, other.client.id)) is not None


@pytest.mark.parametrize("way", ["rotate", "keys"])
def test_what_one_has_not_is_not_changed(store: MemoryStore, way: str) -> None:
    public, registered = register(store, "public"), Flow(store).client
    removed = register(
        store, "secret" if way == "rotate" else "keys", keys={"keys": [public_jwk(ECKey.generate_key())]}
    )
    store.write(lambda tx: own_clients.remove(tx, removed.client.id, "operator"))
    expected = [(public.client.id, "invalid_state"), (removed.client.id, "invalid_state")]
    change = (
        partial(own_clients.rotate_secret, overlap=HOUR) if way == "rotate" else partial(own_clients.set_keys, keys={})
    )
    for client_id, code in [*expected, (registered.id, "not_found"), ("app_x", "not_found")]:
        with pytest.raises(Problem) as caught:
            store.write(partial(change, client_id=client_id, actor="operator"))
        assert caught.value.code == code


def test_nobody_removes_one_that_registered_itself(store: MemoryStore) -> None:
    registered = Flow(store).client
    with pytest.raises(Problem) as caught:
        store.write(lambda tx: own_clients.remove(tx, registered.id, "operator"))
    assert caught.value.code == "not_found"


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 161}, "name"),
        ({"redirect_uris": []}, "redirectUris"),
        ({"redirect_uris": ["http://till.example/"]}, "redirectUris"),
        ({"post_logout_redirect_uris": ["javascript:x"]}, "redirectUris"),
        ({"scopes": ["accounting:all"]}, "scopes"),
        ({"kind": "keys", "keys": None}, "keys"),
        ({"kind": "keys", "keys": {"keys": []}}, "keys"),
        ({"kind": "keys", "keys": {"keys": ["x"]}}, "keys"),
        ({"kind": "keys", "keys": {"keys": [{}] * 11}}, "keys"),
    ],
)
def test_what_cannot_be_registered_says_which_field(store: MemoryStore, changed: dict[str, Any], field: str) -> None:
    with pytest.raises(Problem) as caught:
        register(store, **changed)
    assert (caught.value.code, [error.path for error in caught.value.errors]) == ("validation_failed", [field])
    assert actions(store) == []


def strange_keys() -> Sequence[dict[str, Any]]:
    private = dict(ECKey.generate_key().as_dict(private=True))
    secret = dict(OctKey.generate_key(256).as_dict(private=True))
    point = {**public_jwk(ECKey.generate_key()), "x": "AAAA"}
    number = {**public_jwk(RSAKey.generate_key(2048)), "n": "!"}
    return [
        private,
        secret,
        public_jwk(ECKey.generate_key("P-384")),
        {**public_jwk(RSAKey.generate_key(2048)), "n": "u" * 171},
        point,
        number,
    ]


def test_keys_are_public_and_strong(store: MemoryStore) -> None:
    for key in strange_keys():
        with pytest.raises(Problem) as caught:
            register(store, "keys", keys={"keys": [key]})
        assert [error.path for error in caught.value.errors] == ["keys"], key
    both = {"keys": [public_jwk(ECKey.generate_key()), public_jwk(RSAKey.generate_key(2048))]}
    made = register(store, "keys", keys=both)
    assert (made.secret, made.client.metadata.token_endpoint_auth_method) == (None, "private_key_jwt")
    store.write(lambda tx: own_clients.set_keys(tx, made.client.id, {"keys": both["keys"][:1]}, "operator"))
    kept = store.read(lambda tx: own_clients.get(tx, made.client.id)).metadata.jwks
    assert kept == {"keys": both["keys"][:1]}
