"""Clients that the operator registered, at the endpoints that take them."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import pytest
from joserfc import jws, jwt
from joserfc.jwk import ECKey, RSAKey

from gatewayd.clock import DAY, HOUR, SECOND
from gatewayd.identity.clients import client_assertions, own_clients
from gatewayd.identity.clients.client_assertions import TYPE
from gatewayd.identity.clients.own_clients import Kind, NewClient
from gatewayd.oauth import addresses as at
from tests.support.oauth import CALLBACK, ISSUER, Provider, Reply

SCOPE = "accounting:read offline_access"


@dataclass
class Own:
    """One client of the operator's, and what it shows."""

    provider: Provider
    id: str
    secret: str
    keys: list[Any] = field(default_factory=list)
    made: int = 0

    def basic(self, secret: str | None = None) -> tuple[tuple[bytes, bytes], ...]:
        pair = f"{quote(self.id, safe='')}:{quote(secret or self.secret, safe='')}"
        return ((b"authorization", b"Basic " + base64.b64encode(pair.encode())),)

    def assertion(self, key: Any = None, header: Mapping[str, Any] = {}, **changed: Any) -> str:
        """An assertion of the client's; None takes a claim away."""
        self.made += 1
        now = self.provider.store.now() // SECOND
        claims = {"iss": self.id, "sub": self.id, "aud": ISSUER, "exp": now + 60, "iat": now, "jti": f"j{self.made}"}
        claims = {name: value for name, value in (claims | changed).items() if value is not None}
        key = key or self.keys[0]
        algorithm = "ES256" if isinstance(key, ECKey) else "PS256"
        head = {"alg": algorithm, **header}
        registry = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
        return jwt.encode(head, claims, key, registry=registry)

    def asserted(self, **changed: Any) -> dict[str, str]:
        """The fields of a form that carries one."""
        return {"client_assertion_type": TYPE, "client_assertion": self.assertion(**changed)}


async def own(provider: Provider, kind: Kind = "secret", **changed: Any) -> Own:
    keys = [ECKey.generate_key(), RSAKey.generate_key(2048)] if kind == "keys" else []
    jwks = {"keys": [dict(key.as_dict(private=False)) for key in keys]} if keys else None
    new = NewClient(**{"name": "Till", "redirect_uris": [CALLBACK], "kind": kind, "keys": jwks, **changed})
    made = await provider.store.write(lambda tx: own_clients.register(tx, new, "operator"))
    return Own(provider, made.client.id, made.secret or "", keys)


async def code_of(provider: Provider, client: Own) -> str:
    return await provider.code(client.id, scope=SCOPE)


def refused(reply: Reply, error: str = "invalid_client", status: int = 401) -> str:
    assert (reply.status, reply.json()["error"]) == (status, error), reply.body
    return str(reply.json()["error_description"])


async def test_a_secret_is_taken_either_way(provider: Provider) -> None:
    client = await own(provider)
    first = await provider.redeem(client.id, await code_of(provider, client), client.basic())
    assert first.status == 200, first.body
    second = await provider.refresh(client.id, first.json()["refresh_token"], client_secret=client.secret)
    assert second.status == 200, second.body
    form = {"grant_type": "refresh_token", "refresh_token": second.json()["refresh_token"]}
    nameless = await provider("POST", at.TOKEN, form=form, headers=client.basic())
    assert nameless.status == 200, nameless.body


@pytest.mark.parametrize("kind", ["secret", "keys"])
async def test_a_name_alone_opens_nothing(provider: Provider, kind: Kind) -> None:
    client = await own(provider, kind)
    code = await code_of(provider, client)
    refused(await provider.redeem(client.id, code))
    refused(await provider("POST", at.REVOKE, form={"token": "x", "client_id": client.id}))
    refused(await provider("POST", at.PAR, form=provider.request_of(client.id)))
    shown = client.basic() if kind == "secret" else ()
    proof = client.asserted() if kind == "keys" else {}
    assert (await provider.redeem(client.id, code, shown, **proof)).status == 200  # and cost the code nothing


async def test_a_wrong_secret_is_refused_with_a_challenge_where_it_came_by_one(provider: Provider) -> None:
    client, other = await own(provider), await own(provider)
    code = await code_of(provider, client)
    by_header = await provider.redeem(client.id, code, client.basic(other.secret))
    refused(by_header)
    assert by_header["www-authenticate"].startswith("Basic ")
    refused(await provider.redeem(client.id, code, client_secret="x"))
    refused(await provider.redeem(client.id, code, client_secret=""))
    keys = await own(provider, "keys")
    refused(await provider.redeem(keys.id, code, client_secret=client.secret))


async def test_who_is_public_shows_nothing(provider: Provider) -> None:
    registered, public = await provider.register(), await own(provider, "public")
    for client_id in (registered, public.id):
        code = await provider.code(client_id)
        refused(await provider.redeem(client_id, code, client_secret="x"))
        signed = Own(provider, client_id, "", [ECKey.generate_key()])
        refused(await provider.redeem(client_id, code, **signed.asserted()))
        assert (await provider.redeem(client_id, code)).status == 200


async def test_two_ways_at_once_are_none(provider: Provider) -> None:
    client = await own(provider)
    code = await code_of(provider, client)
    twice = await provider.redeem(client.id, code, client.basic(), client_secret=client.secret)
    refused(twice, "invalid_request", 400)
    named = await provider.redeem("app_other", code, client.basic())
    refused(named, "invalid_request", 400)
    unread = await provider.redeem(client.id, code, ((b"authorization", b"Basic :"),))
    refused(unread)
    in_address = await provider("POST", at.TOKEN, query={"client_secret": client.secret}, form={})
    refused(in_address, "invalid_request", 400)
    asserted = {"client_assertion": "x"}
    refused(await provider("POST", at.TOKEN, query=asserted, form={}), "invalid_request", 400)


async def test_the_secret_before_goes_on_for_its_overlap(provider: Provider) -> None:
    client = await own(provider)
    await provider.store.write(lambda tx: own_clients.rotate_secret(tx, client.id, HOUR, "operator"))
    assert (await provider.redeem(client.id, await code_of(provider, client), client.basic())).status == 200
    provider.clock.advance(HOUR)
    refused(await provider.redeem(client.id, await code_of(provider, client), client.basic()))


async def test_a_client_that_was_removed_is_refused_everywhere(provider: Provider) -> None:
    client = await own(provider)
    tokens = (await provider.redeem(client.id, await code_of(provider, client), client.basic())).json()
    await provider.store.write(lambda tx: own_clients.remove(tx, client.id, "operator"))
    refused(await provider.refresh(client.id, tokens["refresh_token"], client.basic()))
    shown = await provider("POST", at.INTROSPECT, form={"token": tokens["access_token"]}, headers=client.basic())
    refused(shown)


@pytest.mark.parametrize("number", [0, 1])
async def test_an_assertion_is_taken_once(provider: Provider, number: int) -> None:
    client = await own(provider, "keys")
    form = client.asserted(key=client.keys[number])
    first = await provider.redeem(client.id, await code_of(provider, client), **form)
    assert first.status == 200, first.body
    again = await provider.refresh(client.id, first.json()["refresh_token"], **form)
    assert "used before" in refused(again)
    other = await provider.refresh(client.id, first.json()["refresh_token"], **client.asserted())
    assert other.status == 200, other.body


@pytest.mark.parametrize("audience", [ISSUER, f"{ISSUER}{at.TOKEN}", ["https://other.example", ISSUER]])
async def test_an_assertion_names_this_server(provider: Provider, audience: object) -> None:
    client = await own(provider, "keys")
    form = client.asserted(aud=audience)
    assert (await provider.redeem(client.id, await code_of(provider, client), **form)).status == 200


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"aud": "https://other.example"}, "aud"),
        ({"iss": "app_other"}, "iss"),
        ({"exp": 0}, "expired"),
        ({"exp": 4_000_000_000}, "too late"),
        ({"nbf": 4_000_000_000}, "future"),
        ({"jti": ""}, "jti"),
        ({"jti": "j" * 257}, "jti"),
        ({"jti": None}, "jti"),
        ({"exp": None}, "exp"),
        ({"exp": "soon"}, "exp"),
        ({"key": ECKey.generate_key()}, "no key"),
        ({"header": {"kid": "another"}}, None),
    ],
)
async def test_an_assertion_that_is_not_in_order_is_refused(
    provider: Provider, changed: dict[str, Any], says: str | None
) -> None:
    client = await own(provider, "keys")
    code = await code_of(provider, client)
    reply = await provider.redeem(client.id, code, **client.asserted(**changed))
    if says is None:  # the keys have no names: any of them may be meant
        assert reply.status == 200
        return
    assert says in refused(reply)
    assert (await provider.redeem(client.id, code, **client.asserted())).status == 200


@pytest.mark.parametrize("assertion", ["x", "a.b", "a.b.c", ".e30.", "é.e30.x", "e30.e30.e30." + "x" * 9000])
async def test_what_is_no_assertion_is_refused(provider: Provider, assertion: str) -> None:
    form = {"grant_type": "refresh_token", "client_assertion_type": TYPE, "client_assertion": assertion}
    refused(await provider("POST", at.TOKEN, form=form))
    refused(await provider("POST", at.TOKEN, form={**form, "client_assertion_type": "saml"}))


async def test_an_unsigned_or_symmetric_assertion_is_refused(provider: Provider) -> None:
    client = await own(provider, "keys")
    code = await code_of(provider, client)
    _, payload, signature = client.assertion().split(".")
    heads: list[dict[str, object]] = [{"alg": name} for name in ("none", "HS256", "ES384", "RS256")]
    for header in [*heads, {"alg": "ES256", "crit": ["x"], "x": 1}]:
        head = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
        form = {"client_assertion_type": TYPE, "client_assertion": f"{head}.{payload}.{signature}"}
        refused(await provider.redeem(client.id, code, **form))


async def test_used_assertions_are_forgotten_once_they_have_ended(provider: Provider) -> None:
    client = await own(provider, "keys")
    await provider.redeem(client.id, await code_of(provider, client), **client.asserted())
    assert await provider.store.write(client_assertions.sweep) == 0
    provider.clock.advance(61 * SECOND)
    assert await provider.store.write(client_assertions.sweep) == 1


async def test_requests_are_pushed_and_tokens_revoked_with_proof(provider: Provider) -> None:
    client = await own(provider)
    pushed = await provider("POST", at.PAR, form=provider.request_of(client.id), headers=client.basic())
    assert pushed.status == 201, pushed.body
    tokens = (await provider.redeem(client.id, await code_of(provider, client), client.basic())).json()
    form = {"token": tokens["refresh_token"], "client_secret": client.secret, "client_id": client.id}
    assert (await provider("POST", at.REVOKE, form=form)).status == 200
    refused(await provider.refresh(client.id, tokens["refresh_token"], client.basic()), "invalid_grant", 400)


async def test_a_client_introspects_its_own_tokens_alone(provider: Provider) -> None:
    client, other, keys = await own(provider), await own(provider), await own(provider, "keys")
    tokens = (await provider.redeem(client.id, await code_of(provider, client), client.basic())).json()

    async def seen(by: Own, token: str) -> dict[str, Any]:
        reply = await provider("POST", at.INTROSPECT, form={"token": token}, headers=by.basic())
        assert reply.status == 200, reply.body
        answer: dict[str, Any] = reply.json()
        return answer

    for name in ("access_token", "refresh_token"):
        mine = await seen(client, tokens[name])
        assert (mine["active"], mine["client_id"], mine["sub"]) == (True, client.id, provider.person.user_id)
        assert await seen(other, tokens[name]) == {"active": False}
    asserted = await provider("POST", at.INTROSPECT, form={"token": tokens["access_token"], **keys.asserted()})
    assert asserted.json() == {"active": False}
    refused(await provider("POST", at.INTROSPECT, form={"token": "x"}, headers=client.basic("wrong")))
    missing = await provider("POST", at.INTROSPECT, form={}, headers=client.basic())
    refused(missing, "invalid_request", 400)


async def test_a_public_client_introspects_nothing(provider: Provider) -> None:
    public = await own(provider, "public")
    nobody = base64.b64encode(f"{public.id}:".encode())
    reply = await provider(
        "POST", at.INTROSPECT, form={"token": "x"}, headers=((b"authorization", b"Basic " + nobody),)
    )
    refused(reply)


async def test_scopes_bound_what_it_is_granted(provider: Provider) -> None:
    client = await own(provider, scopes=["accounting:read", "crm:read"])
    tokens = await provider.redeem(
        client.id, await provider.code(client.id, scope="accounting:read accounting:write"), client.basic()
    )
    assert tokens.json()["scope"] == "accounting:read"
    nothing = await provider.authorize(client.id, scope="accounting:write")
    assert "error=invalid_scope" in nothing["location"]


async def test_it_stays_though_nobody_uses_it(provider: Provider) -> None:
    from gatewayd.identity.clients import oauth_clients

    client = await own(provider)
    provider.clock.advance(30 * DAY)
    await provider.store.write(oauth_clients.sweep)
    assert (await provider.authorize(client.id)).status == 303
