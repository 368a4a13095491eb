"""RFC 9700, point by point: the attacks that no other test of the provider tries.

The others: codes (replayed, another client's, without the verifier or with a wrong one) and refresh tokens (fifty at
once, an older generation) are in `test_token.py`; `plain`, a dropped challenge, redirect addresses and `iss` in errors
in `test_authorize.py`; algorithms, `none`, `kid`, `aud` and `typ` in `tests/identity/test_access_tokens.py`; forms of
other sites, frames and `iss` beside a code in `tests/console`.
"""

import base64
import re
from html import unescape
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from gatewayd.clock import HOUR
from gatewayd.identity.clients import grants, oauth_clients
from gatewayd.identity.people import memberships, users
from gatewayd.identity.tokens import authorizations
from gatewayd.oauth import addresses as at
from gatewayd.store import WriteTx
from tests.oauth import test_dpop_flow as flow
from tests.oauth.test_authorize import HTML, push
from tests.oauth.test_dpop_flow import READ, api, bound
from tests.oauth.test_endpoints import bearer
from tests.oauth.test_token import claims_of, error_of
from tests.support.api import Reply, TestedApi
from tests.support.dpop import KeyHolder
from tests.support.oauth import (
    CALLBACK,
    CHALLENGE,
    ISSUER,
    VERIFIER,
    Provider,
    add_person,
    challenge_of,
    consent,
    parameters_of,
)

__all__ = ["api"]  # a fixture

# -- §2.1.1 and §4.5: codes that were stolen


async def test_a_code_put_into_another_flow_of_the_client_is_of_no_use(provider: Provider) -> None:
    client_id, own_verifier = await provider.register(), "a" * 43
    stolen = await provider.code(client_id, code_challenge=challenge_of(own_verifier))
    assert error_of(await provider.redeem(client_id, stolen, code_verifier=VERIFIER)) == (400, "invalid_grant")
    assert (await provider.redeem(client_id, stolen, code_verifier=own_verifier)).status == 200


async def test_the_challenge_is_not_the_verifier(provider: Provider) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    assert error_of(await provider.redeem(client_id, code, code_verifier=CHALLENGE)) == (400, "invalid_grant")


@pytest.mark.parametrize("verifier", ["", "a" * 43 + "\0", "a" * 129, VERIFIER + "=", VERIFIER + "\n", "é" * 43])
async def test_a_verifier_of_another_form_is_refused(provider: Provider, verifier: str) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id, code_challenge=challenge_of(verifier))
    reply = await provider.redeem(client_id, code, code_verifier=verifier)
    assert error_of(reply) == (400, "invalid_request" if not verifier else "invalid_grant")


async def test_pkce_cannot_be_dropped_from_a_pushed_request_by_the_browser(provider: Provider) -> None:
    client_id = await provider.register()
    request_uri = (await push(provider, client_id)).json()["request_uri"]
    query = {
        "client_id": client_id,
        "request_uri": request_uri,
        "code_challenge": challenge_of("a" * 43),
        "scope": "tax:write",
    }
    reply = await provider("GET", at.AUTHORIZE, query=query)
    pending_scope, code = await agreed(provider, reply)
    assert "tax:write" not in pending_scope
    assert error_of(await provider.redeem(client_id, code, code_verifier="a" * 43)) == (400, "invalid_grant")
    assert (await provider.redeem(client_id, code)).status == 200


async def agreed(provider: Provider, reply: Reply) -> tuple[list[str], str]:
    """The scopes that the person was asked for, and the code."""
    handle = parameters_of(reply)["request"]
    pending = await provider.store.read(lambda tx: authorizations.load(tx, handle))
    assert pending is not None
    return pending.parameters.scope, await consent(provider.store, handle, provider.person)


@pytest.mark.parametrize("kind", ["access_token", "refresh_token", "id_token"])
async def test_a_token_of_one_kind_is_none_of_another(provider: Provider, api: TestedApi, kind: str) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    assert error_of(await provider.redeem(client_id, answer[kind])) == (400, "invalid_grant")
    if kind != "refresh_token":
        assert error_of(await provider.refresh(client_id, answer[kind])) == (400, "invalid_grant")
    if kind != "access_token":
        assert (await api("GET", READ, token=answer[kind], query={"word": "w"})).status == 401
        assert (await provider("GET", at.USERINFO, headers=[bearer(answer[kind])])).status == 401


async def test_a_code_is_no_refresh_token_and_opens_nothing(provider: Provider, api: TestedApi) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    assert error_of(await provider.refresh(client_id, code)) == (400, "invalid_grant")
    assert (await api("GET", READ, token=code, query={"word": "w"})).status == 401
    assert (await provider.redeem(client_id, code)).status == 200


# -- §4.3.2: tokens in addresses


async def test_a_token_in_the_address_is_none(provider: Provider, api: TestedApi) -> None:
    token = (await provider.tokens(await provider.register()))["access_token"]
    assert (await api("GET", READ, token=None, query={"word": "w", "access_token": token})).status == 401
    assert (await api("GET", READ, token=token, query={"word": "w", "access_token": token})).status == 400
    assert (await provider("POST", at.USERINFO, query={"access_token": token}, form={"x": "y"})).status == 400
    assert (await provider("GET", at.USERINFO, query={"access_token": token})).status == 400


@pytest.mark.parametrize("path", [at.TOKEN, at.REVOKE, at.PAR, at.INTROSPECT])
async def test_no_form_is_taken_beside_credentials_in_the_address(provider: Provider, path: str) -> None:
    client_id = await provider.register()
    form = provider.request_of(client_id) | {"token": "x", "grant_type": "refresh_token", "refresh_token": "x"}
    headers = [bearer(await provider.key())] if path == at.INTROSPECT else []
    for name in ("code", "refresh_token", "token", "access_token", "code_verifier"):
        reply = await provider("POST", path, query={name: "x"}, form=form, headers=headers)
        assert (reply.status, reply.json()["error"]) == (400, "invalid_request")


# -- §4.11: browsers sent to strangers

EVIL = "https://phish.example/login"


def is_page(reply: Reply) -> bool:
    assert "location" not in reply
    assert reply["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in reply["content-security-policy"]
    assert reply["referrer-policy"] == "no-referrer"
    return reply.status == 400 and reply["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("wrong", [{"scope": "x"}, {"response_type": "token"}, {"resource": "x:y"}])
async def test_nobody_is_led_to_a_strangers_site_by_a_wrong_request(provider: Provider, wrong: dict[str, str]) -> None:
    client_id = await provider.register(redirect_uris=[EVIL], client_name="Your bank <b>")
    query = provider.request_of(client_id, redirect_uri=EVIL, state='"><script>', **wrong)
    reply = await provider("GET", at.AUTHORIZE, query=query, headers=[HTML])
    assert is_page(reply)
    page = reply.body.decode()
    assert "<strong>phish.example</strong>" in page
    assert "<script" not in page
    assert "Your bank" not in page
    (link,) = re.findall(r'href="([^"]*)" rel="noreferrer"', page)
    given = dict(parse_qsl(urlsplit(unescape(link)).query))
    assert unescape(link).startswith(EVIL + "?error=")
    assert (given["state"], given["iss"]) == ('"><script>', ISSUER)


async def test_a_silent_request_is_answered_at_once(provider: Provider) -> None:
    """The exception of §4.11.2: nobody sees the frame that it is made in, and the client waits for the answer."""
    client_id = await provider.register()
    query = provider.request_of(client_id, prompt="none")
    pushed = await push(provider, client_id, prompt="none")
    for asked in (query, {"client_id": client_id, "request_uri": pushed.json()["request_uri"]}):
        reply = await provider("GET", at.AUTHORIZE, query=asked, headers=[HTML])
        assert reply["location"].startswith(f"{CALLBACK}?error=login_required")


async def test_only_who_let_a_client_in_is_led_back_to_it(provider: Provider) -> None:
    client_id = await provider.register()
    query = provider.request_of(client_id, scope="x")
    other = await add_person(provider.store, "bob@example.com")

    async def ask(cookie: str) -> Reply:
        return await provider("GET", at.AUTHORIZE, query=query, headers=[HTML, (b"cookie", cookie.encode())])

    own = f"__Host-session={provider.person.cookie}"
    assert is_page(await ask(own))
    grant_id = claims_of((await provider.tokens(client_id))["access_token"])["gid"]
    assert (await ask(own))["location"].startswith(f"{CALLBACK}?error=invalid_scope")
    for cookie in ("", "__Host-session=x", f"__Host-session={other.cookie}"):
        assert is_page(await ask(cookie))
    await provider.store.write(lambda tx: grants.revoke_own(tx, grant_id, provider.person.user_id))
    assert is_page(await ask(own))


@pytest.mark.parametrize("uri", ["http://127.0.0.1:7000/callback", "com.example.app:/callback"])
async def test_an_app_on_the_persons_machine_is_told_at_once(provider: Provider, uri: str) -> None:
    client_id = await provider.register(redirect_uris=[uri])
    query = provider.request_of(client_id, redirect_uri=uri, scope="x")
    reply = await provider("GET", at.AUTHORIZE, query=query, headers=[HTML])
    assert reply["location"].startswith(f"{uri}?error=invalid_scope")


# -- §4.12: a browser repeats no form


@pytest.mark.parametrize("wrong", [{}, {"scope": "x"}])
async def test_a_form_is_answered_with_303(provider: Provider, wrong: dict[str, str]) -> None:
    reply = await provider("POST", at.AUTHORIZE, form=provider.request_of(await provider.register(), **wrong))
    assert (reply.status, reply["referrer-policy"]) == (303, "no-referrer")


# -- RFC 6749 §3.1 and §3.2: each parameter once


@pytest.mark.parametrize(
    "name", ["grant_type", "client_id", "code", "redirect_uri", "code_verifier", "client_secret", "refresh_token"]
)
async def test_no_parameter_of_a_token_request_counts_twice(provider: Provider, name: str) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    refresh_token = (await provider.tokens(client_id))["refresh_token"]
    form = {"client_id": client_id, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    grant = {"code": code} if name != "refresh_token" else {"refresh_token": refresh_token}
    kind = {"grant_type": "authorization_code" if name != "refresh_token" else "refresh_token"}
    fields = [*form.items(), *grant.items(), *kind.items()]
    value = dict(fields).get(name, "x")
    twice = urlencode([*fields, (name, value), (name, value)])
    assert error_of(await provider("POST", at.TOKEN, form=twice)) == (400, "invalid_request")
    assert (await provider("POST", at.TOKEN, form=urlencode(fields))).status == 200


@pytest.mark.parametrize(
    "name", ["response_mode", "code_challenge_method", "prompt", "max_age", "login_hint", "request", "dpop_jkt"]
)
async def test_no_parameter_of_an_authorization_counts_twice(provider: Provider, name: str) -> None:
    query = urlencode([*provider.request_of(await provider.register()).items(), (name, "x"), (name, "y")])
    reply = await provider("GET", at.AUTHORIZE, query=query)
    assert reply["location"].startswith(f"{CALLBACK}?error=invalid_request")


@pytest.mark.parametrize("path", [at.REVOKE, at.INTROSPECT])
async def test_no_token_is_named_twice(provider: Provider, path: str) -> None:
    client_id = await provider.register()
    headers = [bearer(await provider.key())] if path == at.INTROSPECT else []
    form = f"client_id={client_id}&token=x&token=y"
    assert error_of(await provider("POST", path, form=form, headers=headers)) == (400, "invalid_request")


@pytest.mark.parametrize("name", [b"authorization", b"dpop", b"content-type"])
async def test_no_header_that_decides_is_sent_twice(provider: Provider, name: bytes) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id)
    reply = await provider.redeem(client_id, code, headers=[(name, b"x"), (name, b"x")])
    assert error_of(reply) == (400, "invalid_request")


# -- what ends access, ends it with the next request


async def leave(provider: Provider) -> None:
    await provider.key("admin")
    members = await provider.store.read(lambda tx: memberships.list_members(tx), provider.person.org_id)
    other = next(member.user_id for member in members if member.user_id != provider.person.user_id)

    def hand_over(tx: WriteTx) -> None:
        memberships.change_role(tx, other, "owner", "operator")
        memberships.remove(tx, provider.person.user_id, other)

    await provider.store.write(hand_over, provider.person.org_id)


@pytest.mark.parametrize(
    "act", ["app revoked by the person", "token given back", "client revoked", "member removed", "password reset"]
)
async def test_the_next_request_with_a_token_that_has_not_expired_is_refused(
    provider: Provider, api: TestedApi, act: str
) -> None:
    client_id, person = await provider.register(), provider.person
    answer = await provider.tokens(client_id)
    token = answer["access_token"]
    grant_id = claims_of(token)["gid"]

    async def ask() -> Reply:
        return await api("GET", READ, token=token, query={"word": "w"})

    assert (await ask()).status == 200
    if act == "app revoked by the person":
        await provider.store.write(lambda tx: grants.revoke_own(tx, grant_id, person.user_id))
    elif act == "token given back":
        await provider("POST", at.REVOKE, form={"token": answer["refresh_token"], "client_id": client_id})
    elif act == "client revoked":
        await provider.store.write(lambda tx: oauth_clients.revoke(tx, client_id, "operator"))
    elif act == "member removed":
        await leave(provider)
    else:
        await provider.store.write(lambda tx: users.reset_password(tx, person.user_id, "hash", "operator"))
    refused = await ask()
    assert (refused.status, refused.json()["code"]) == (401, "invalid_token")
    assert flow.challenge_of(refused)["error"] == "invalid_token"
    assert (await provider("GET", at.USERINFO, headers=[bearer(token)])).status == 401
    assert (await provider.refresh(client_id, answer["refresh_token"])).status in (400, 401)


async def test_an_expired_token_is_refused_with_the_second(provider: Provider, api: TestedApi) -> None:
    token = (await provider.tokens(await provider.register()))["access_token"]
    for elapsed, status in ((0, 200), (HOUR - 1, 200), (1, 401)):
        provider.clock.advance(elapsed)
        assert (await api("GET", READ, token=token, query={"word": "w"})).status == status


# -- proofs that are made to break something (RFC 9449)


def proof_of(header: str) -> str:
    """A proof with this header, nothing else in it being right."""
    return ".".join(
        base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (header.encode(), b"{}", b"x" * 64)
    )


DEEP = '{"typ":"dpop+jwt","alg":"ES256","jwk":{"kty":' + "[" * 4_000
SPLITTING = r'{"typ":"dpop+jwt","alg":"a\r\nset-cookie: session=x\r\nx: \"","jwk":{}}'


@pytest.mark.parametrize("header", [DEEP, SPLITTING, "", "{}", "[]", '{"typ":"dpop+jwt","alg":"none","jwk":{}}'])
async def test_a_proof_that_is_made_to_break_something_is_refused(
    provider: Provider, api: TestedApi, header: str
) -> None:
    client_id, holder = await provider.register(), KeyHolder()
    token = (await bound(provider, client_id, holder))["access_token"]
    shown = [(b"dpop", proof_of(header).encode())]
    pushed = await provider("POST", at.PAR, form=provider.request_of(client_id), headers=shown)
    assert error_of(pushed) == (400, "invalid_dpop_proof")
    credentials = bearer(token, "DPoP")
    for reply in (
        await provider("GET", at.USERINFO, headers=[credentials, *shown]),
        await api("GET", READ, token=None, query={"word": "w"}, headers=[credentials, *shown]),
    ):
        assert reply.status == 401
        assert flow.challenge_of(reply)["error"] == "invalid_dpop_proof"
        assert not re.search(r'[\r\n"]', flow.challenge_of(reply)["error_description"])
