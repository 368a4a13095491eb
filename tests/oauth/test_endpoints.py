"""Registration, revocation, introspection, UserInfo, logout, and the border around them all."""

import dataclasses
from typing import Any

import pytest

from gatewayd.clock import DAY, HOUR, SECOND
from gatewayd.contract.holding import Held
from gatewayd.identity.clients import grants
from gatewayd.identity.signing import signing_keys
from gatewayd.identity.tokens import id_tokens
from gatewayd.oauth import addresses as at
from gatewayd.oauth.app import OAuthApp
from gatewayd.store import StoreFailure
from tests.oauth.test_token import claims_of, error_of, lives
from tests.support.api import Body, Fields, Reply
from tests.support.oauth import CALLBACK, Provider, add_person, signing_key
from tests.support.scopes import request_of
from tests.support.store import START


def bearer(token: str, scheme: str = "Bearer") -> tuple[bytes, bytes]:
    return b"authorization", f"{scheme} {token}".encode()


# -- registration (RFC 7591)


async def test_registration_answers_what_will_be_honoured(provider: Provider) -> None:
    asked = {
        "client_name": "Ledger Sync",
        "redirect_uris": [CALLBACK],
        "token_endpoint_auth_method": "client_secret_basic",
        "grant_types": ["authorization_code"],
        "jwks_uri": "https://app.example.net/jwks",
        "default_max_age": 60,
    }
    reply = await provider("POST", at.REGISTER, json=asked)
    assert (reply.status, reply["cache-control"], reply["access-control-allow-origin"]) == (201, "no-store", "*")
    answer = reply.json()
    assert answer["client_id"].startswith("app_")
    assert answer["client_id_issued_at"] == START // SECOND
    assert answer["token_endpoint_auth_method"] == "none"
    assert (answer["client_name"], answer["redirect_uris"]) == ("Ledger Sync", [CALLBACK])
    assert not {"client_secret", "client_secret_expires_at", "jwks_uri", "default_max_age"} & answer.keys()
    assert None not in answer.values()


@pytest.mark.parametrize(
    ("document", "status", "error"),
    [
        ({"client_name": "x"}, 400, "invalid_redirect_uri"),
        ({"redirect_uris": []}, 400, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://app.example.net/callback"]}, 400, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"]}, 400, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK + "#x"]}, 400, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK], "client_name": 7}, 400, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK], "grant_types": ["implicit"]}, 400, "invalid_client_metadata"),
        ([], 400, "invalid_client_metadata"),
        ("x", 400, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK], "x": "x" * 8_192}, 413, "invalid_client_metadata"),
    ],
)
async def test_a_registration_is_refused(provider: Provider, document: object, status: int, error: str) -> None:
    assert error_of(await provider("POST", at.REGISTER, json=document)) == (status, error)


async def test_a_registration_must_be_json(provider: Provider) -> None:
    reply = await provider("POST", at.REGISTER, form={"client_name": "x"})
    assert error_of(reply) == (415, "invalid_client_metadata")


# -- revocation (RFC 7009)


async def revoke(provider: Provider, **form: str) -> Reply:
    return await provider("POST", at.REVOKE, form=form)


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
@pytest.mark.parametrize("hint", ["access_token", "refresh_token", "nonsense"])
async def test_either_token_ends_the_grant_whatever_the_hint(provider: Provider, kind: str, hint: str) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    reply = await revoke(provider, token=answer[kind], token_type_hint=hint, client_id=client_id)
    assert (reply.status, reply.body, reply["cache-control"]) == (200, b"{}", "no-store")
    assert reply["content-type"] == "application/json"
    assert not await lives(provider, answer["access_token"])
    assert error_of(await provider.refresh(client_id, answer["refresh_token"])) == (400, "invalid_grant")
    assert (await revoke(provider, token=answer[kind], client_id=client_id)).status == 200


async def test_a_token_that_has_expired_still_ends_the_grant(provider: Provider) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    provider.clock.advance(HOUR)
    assert (await revoke(provider, token=answer["access_token"], client_id=client_id)).status == 200
    assert error_of(await provider.refresh(client_id, answer["refresh_token"])) == (400, "invalid_grant")


@pytest.mark.parametrize("token", ["x", "gwr_" + "A" * 43, "eyJ.a.b", "eyJhbGciOiJub25lIn0.e30."])
async def test_what_is_no_token_is_revoked_already(provider: Provider, token: str) -> None:
    client_id = await provider.register()
    reply = await revoke(provider, token=token, client_id=client_id)
    assert (reply.status, reply.body, reply["content-type"]) == (200, b"{}", "application/json")


async def test_nobody_revokes_the_token_of_another_client(provider: Provider) -> None:
    client_id, other = await provider.register(), await provider.register()
    answer = await provider.tokens(client_id)
    for kind in ("access_token", "refresh_token"):
        assert error_of(await revoke(provider, token=answer[kind], client_id=other)) == (400, "invalid_grant")
    assert await lives(provider, answer["access_token"])


async def test_a_revocation_is_refused(provider: Provider) -> None:
    client_id = await provider.register()
    assert error_of(await revoke(provider, client_id=client_id)) == (400, "invalid_request")
    assert error_of(await revoke(provider, token="x")) == (400, "invalid_request")
    assert error_of(await revoke(provider, token="x", client_id="app_unknown")) == (401, "invalid_client")
    reply = await provider("POST", at.REVOKE, query={"token": "x"}, form={"token": "x", "client_id": client_id})
    assert error_of(reply) == (400, "invalid_request")


# -- introspection (RFC 7662)


async def introspect(provider: Provider, token: str, headers: Fields) -> Reply:
    return await provider("POST", at.INTROSPECT, form={"token": token}, headers=headers)


async def test_a_resource_server_sees_what_a_token_stands_for(provider: Provider) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    key = bearer(await provider.key())
    seen = (await introspect(provider, answer["access_token"], [key])).json()
    claims = claims_of(answer["access_token"])
    assert seen["active"] is True
    assert seen["token_type"] == "Bearer"
    for name in ("scope", "client_id", "exp", "iat", "sub", "aud", "iss", "jti", "org"):
        assert seen[name] == claims[name]
    of_refresh = (await introspect(provider, answer["refresh_token"], [key])).json()
    assert (of_refresh["active"], of_refresh["client_id"]) == (True, client_id)
    assert of_refresh["exp"] == (START + 30 * DAY) // SECOND


async def test_what_does_not_serve_is_inactive_and_no_more_is_told(provider: Provider) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    key = await provider.key()
    second = (await provider.refresh(client_id, answer["refresh_token"])).json()
    for token in ("x", "gwr_x", "eyJ.a.b", answer["id_token"], key, answer["refresh_token"]):
        assert (await introspect(provider, token, [bearer(key)])).json() == {"active": False}
    provider.clock.advance(HOUR)
    assert (await introspect(provider, second["access_token"], [bearer(key)])).json() == {"active": False}
    assert (await introspect(provider, second["refresh_token"], [bearer(key)])).json()["active"] is True
    provider.clock.advance(30 * DAY)
    assert (await introspect(provider, second["refresh_token"], [bearer(key)])).json() == {"active": False}


async def test_a_resource_server_sees_its_own_organization_alone(provider: Provider) -> None:
    client_id = await provider.register()
    mine = await provider.tokens(client_id)
    key = await provider.key()
    provider.person = await add_person(provider.store, "bob@example.com")
    theirs = await provider.tokens(client_id)
    assert (await introspect(provider, mine["access_token"], [bearer(key)])).json()["active"] is True
    for kind in ("access_token", "refresh_token"):
        assert (await introspect(provider, theirs[kind], [bearer(key)])).json() == {"active": False}


async def test_only_the_key_of_an_administrator_introspects(provider: Provider) -> None:
    client_id = await provider.register()
    token = (await provider.tokens(client_id))["access_token"]
    for credentials in (await provider.key("member"), token, "gwd_x"):
        reply = await introspect(provider, token, [bearer(credentials)])
        assert (reply.status, reply.json()["error"]) == (401, "invalid_token")
        assert 'error="invalid_token"' in reply["www-authenticate"]
    reply = await introspect(provider, token, [])
    assert (reply.status, "error=" in reply["www-authenticate"]) == (401, False)
    assert reply["www-authenticate"].startswith("Bearer resource_metadata=")


async def test_only_a_key_for_what_is_open_introspects(provider: Provider) -> None:
    """One that was made for leads learns nothing of people's tokens."""
    token = (await provider.tokens(await provider.register()))["access_token"]
    narrow = await provider.key(scopes=["crm:read", "accounting:read"])
    reply = await introspect(provider, token, [bearer(narrow)])
    assert (reply.status, reply.json()["error"]) == (403, "insufficient_scope")
    assert 'scope="access:read"' in reply["www-authenticate"]
    key = await provider.key(scopes=["access:read"])
    assert (await introspect(provider, token, [bearer(key)])).json()["active"] is True


async def test_a_key_that_is_held_introspects_nothing(provider: Provider) -> None:
    """Tokens are of the whole organization."""
    token = (await provider.tokens(await provider.register()))["access_token"]
    held = await provider.key(scopes=["access:read"], held=Held(entities=None, first="2026-04-06", last=None))
    reply = await introspect(provider, token, [bearer(held)])
    assert (reply.status, reply.json()["error"]) == (401, "invalid_token")


async def test_introspection_needs_a_token(provider: Provider) -> None:
    key = bearer(await provider.key())
    reply = await provider("POST", at.INTROSPECT, form={"x": "y"}, headers=[key])
    assert error_of(reply) == (400, "invalid_request")


# -- UserInfo (OpenID Connect Core §5.3)


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_user_info(provider: Provider, method: str) -> None:
    answer = await provider.tokens(await provider.register())
    reply = await provider(method, at.USERINFO, headers=[bearer(answer["access_token"])])
    assert (reply.status, reply["cache-control"]) == (200, "no-store")
    assert reply.json() == {"sub": provider.person.user_id}
    assert reply.json()["sub"] == claims_of(answer["id_token"])["sub"]


@pytest.mark.parametrize(
    ("scope", "told"),
    [
        ("", {}),
        ("profile", {"name": "ann"}),
        ("email", {"email": "ann@example.com", "email_verified": False}),
        ("profile email", {"name": "ann", "email": "ann@example.com", "email_verified": False}),
    ],
)
async def test_what_is_told_of_a_person_is_what_they_granted(
    provider: Provider, scope: str, told: dict[str, object]
) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id, scope=f"openid offline_access accounting:read {scope}")
    again = (await provider.refresh(client_id, answer["refresh_token"])).json()
    for tokens in (answer, again):
        seen = (await provider("GET", at.USERINFO, headers=[bearer(tokens["access_token"])])).json()
        claims = claims_of(tokens["id_token"])
        for given in (seen, claims):
            assert {name: given[name] for name in ("name", "email", "email_verified") if name in given} == told


async def test_who_is_asked_for_their_address_may_say_no(provider: Provider) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id, ["openid", "profile"], scope="openid profile email")
    answer = (await provider.redeem(client_id, code)).json()
    assert answer["scope"] == "openid profile"
    assert "email" not in claims_of(answer["id_token"])


async def test_user_info_takes_the_token_in_a_form(provider: Provider) -> None:
    token = (await provider.tokens(await provider.register()))["access_token"]
    reply = await provider("POST", at.USERINFO, form={"access_token": token})
    assert (reply.status, reply.json()["sub"]) == (200, provider.person.user_id)
    reply = await provider("POST", at.USERINFO, form={"access_token": f"{token}x"})
    assert (reply.status, reply.json()["error"]) == (401, "invalid_token")
    reply = await provider("POST", at.USERINFO, form={"access_token": token}, headers=[bearer(token)])
    assert error_of(reply) == (400, "invalid_request")
    reply = await provider("POST", at.USERINFO, form={"x": "y"}, headers=[bearer(token)])
    assert reply.status == 200
    reply = await provider("POST", at.USERINFO, form={"x": "y"})
    assert (reply.status, "error=" in reply["www-authenticate"]) == (401, False)


async def test_user_info_is_refused(provider: Provider) -> None:
    client_id = await provider.register()
    without = await provider.tokens(client_id, scope="accounting:read")
    reply = await provider("GET", at.USERINFO, headers=[bearer(without["access_token"])])
    assert (reply.status, reply.json()["error"]) == (403, "insufficient_scope")
    assert 'scope="openid"' in reply["www-authenticate"]
    for credentials in (await provider.key(), "x", without["access_token"] + "x"):
        reply = await provider("GET", at.USERINFO, headers=[bearer(credentials)])
        assert (reply.status, reply.json()["error"]) == (401, "invalid_token")
    assert (await provider("GET", at.USERINFO)).status == 401
    assert (await provider("GET", at.USERINFO, headers=[bearer("x", "Basic")])).status == 401
    twice = [bearer(without["access_token"])] * 2
    assert (await provider("GET", at.USERINFO, headers=twice)).status == 400


async def test_a_token_in_the_address_is_refused(provider: Provider) -> None:
    token = (await provider.tokens(await provider.register()))["access_token"]
    reply = await provider("GET", at.USERINFO, query={"access_token": token}, headers=[bearer(token)])
    assert error_of(reply) == (400, "invalid_request")


# -- logout (OpenID Connect RP-Initiated Logout)

AFTER = "https://app.example.net/goodbye"


async def test_a_logout_goes_on_to_the_page_that_asks(provider: Provider) -> None:
    client_id = await provider.register(post_logout_redirect_uris=[AFTER])
    hint = (await provider.tokens(client_id))["id_token"]
    assert (await provider("GET", at.LOGOUT))["location"] == "/sign-out"
    asked = {"id_token_hint": hint, "post_logout_redirect_uri": AFTER, "state": "a b"}
    for reply in (await provider("GET", at.LOGOUT, query=asked), await provider("POST", at.LOGOUT, form=asked)):
        assert reply.status == 303
        assert reply["location"] == (
            f"/sign-out?client_id={client_id}&post_logout_redirect_uri=https%3A%2F%2Fapp.example.net%2Fgoodbye&state=a%20b"
        )
    provider.clock.advance(HOUR)  # the hint has expired, which does not matter
    assert (await provider("GET", at.LOGOUT, query=asked)).status == 303


@pytest.mark.parametrize(
    "changed",
    [
        {"post_logout_redirect_uri": "https://evil.example/"},
        {"post_logout_redirect_uri": AFTER + "/"},
        {"client_id": "app_unknown"},
        {"client_id": ""},
    ],
)
async def test_a_logout_leads_to_no_address_that_is_not_the_clients(
    provider: Provider, changed: dict[str, str]
) -> None:
    client_id = await provider.register(post_logout_redirect_uris=[AFTER])
    asked = {"client_id": client_id, "post_logout_redirect_uri": AFTER, **changed}
    reply = await provider("GET", at.LOGOUT, query=asked)
    assert (reply.status, reply.json()["error"], "location" in reply) == (400, "invalid_request", False)


async def test_a_hint_of_another_client_is_refused_and_a_strange_one_is_none(provider: Provider) -> None:
    client_id, other = await provider.register(), await provider.register()
    hint = (await provider.tokens(client_id))["id_token"]
    reply = await provider("GET", at.LOGOUT, query={"id_token_hint": hint, "client_id": other})
    assert (reply.status, reply.json()["error"]) == (400, "invalid_request")
    access = (await provider.tokens(client_id))["access_token"]
    for strange in ("x", access, hint[:-6] + "AAAAAA"):
        reply = await provider("GET", at.LOGOUT, query={"id_token_hint": strange})
        assert reply["location"] == "/sign-out"


# -- keys that follow one another


async def test_tokens_outlive_the_key_that_signed_them(provider: Provider) -> None:
    client_id = await provider.register()
    provider.clock.advance(signing_keys.ROTATION - signing_keys.AHEAD)
    new = [signing_key("ES256", 1), signing_key("RS256", 1)]
    await provider.store.write(lambda tx: signing_keys.add(tx, new))
    await provider.store.read(provider.keys.load)
    provider.clock.advance(signing_keys.AHEAD - 1)
    old = await provider.tokens(client_id)
    provider.clock.advance(1)
    fresh = await provider.tokens(client_id)
    provider.clock.advance(HOUR - 2 * SECOND)
    await provider.store.write(signing_keys.sweep)
    await provider.store.read(provider.keys.load)
    for answer in (old, fresh):
        assert await lives(provider, answer["access_token"])
    hint = id_tokens.read_hint(provider.keys, old["id_token"], provider.parts.issuer)
    assert hint.aud == client_id


# -- the border


class Broken:
    """Stands for a store that is out of order."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def now(self) -> int:
        return START

    async def read(self, work: Any, org_id: str | None = None) -> Any:
        raise self.error


@pytest.mark.parametrize(
    ("error", "status", "code", "logged"),
    [
        (StoreFailure("disk full"), 503, "temporarily_unavailable", "store_failed"),
        (RuntimeError("secret detail"), 500, "server_error", "request_failed"),
    ],
)
async def test_what_goes_wrong_inside_is_logged_and_not_told(
    provider: Provider, error: Exception, status: int, code: str, logged: str
) -> None:
    broken: Any = Broken(error)
    provider.app = OAuthApp(dataclasses.replace(provider.parts, store=broken))
    reply = await provider(
        "POST", at.TOKEN, form={"grant_type": "refresh_token", "refresh_token": "x", "client_id": "x"}
    )
    assert (reply.status, reply.json()["error"]) == (status, code)
    assert ("retry-after" in reply) == (status == 503)
    assert str(error).encode() not in reply.body
    provider.errors.claim(logged)
    page = await provider("GET", at.AUTHORIZE, query={"client_id": "x"}, headers=[(b"accept", b"text/html")])
    assert (page.status, page["content-type"]) == (status, "text/html; charset=utf-8")
    provider.errors.claim(logged)


async def test_a_body_that_breaks_off_is_refused(provider: Provider) -> None:
    form = (b"content-type", b"application/x-www-form-urlencoded")
    request = request_of("POST", at.TOKEN, headers=[form], client=None)
    reply = await provider.send(request, Body(b"grant_type=", broken_off=True))
    assert (reply.status, reply.json()["error"]) == (400, "invalid_request")
    request = request_of("POST", at.TOKEN, headers=[form, (b"content-length", b"99999999")], client=None)
    body = Body(b"")
    assert (await provider.send(request, body)).status == 413
    assert body.read == 0


async def test_a_grant_that_its_person_ended_is_over(provider: Provider) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    grant_id = claims_of(answer["access_token"])["gid"]
    user_id = provider.person.user_id
    await provider.store.write(lambda tx: grants.revoke_own(tx, grant_id, user_id))
    assert not await lives(provider, answer["access_token"])
    assert (await provider("GET", at.USERINFO, headers=[bearer(answer["access_token"])])).status == 401
