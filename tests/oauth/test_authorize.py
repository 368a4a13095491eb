"""The authorization endpoint: where it sends the browser, and when it sends it nowhere."""

from urllib.parse import urlencode

import pytest

from gatewayd.clock import HOUR, MINUTE
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.sign_in import sessions
from gatewayd.identity.tokens import authorizations
from gatewayd.oauth import addresses as at
from tests.support.api import Reply
from tests.support.oauth import CALLBACK, CHALLENGE, ISSUER, Provider, consent, parameters_of

HTML = (b"accept", b"text/html,application/xhtml+xml")


def sent_back(reply: Reply) -> dict[str, str]:
    """The error in a redirect to the client."""
    assert reply["location"].startswith(f"{CALLBACK}?"), reply["location"]
    assert "access-control-allow-origin" not in reply
    parameters = parameters_of(reply)
    assert parameters["iss"] == ISSUER
    assert "error_description" in parameters
    return parameters


def shown(reply: Reply) -> str:
    """The error of an answer that leads nowhere."""
    assert "location" not in reply
    assert reply["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in reply
    assert reply.status == 400
    return str(reply.json()["error"])


async def test_a_request_goes_on_to_the_chooser(provider: Provider) -> None:
    client_id = await provider.register()
    reply = await provider.authorize(client_id, nonce="n", login_hint="ann@example.com")
    assert (reply.status, reply["cache-control"]) == (303, "no-store")
    assert reply["location"].startswith("/oauth/choose?request=")
    handle = parameters_of(reply)["request"]
    pending = await provider.store.read(lambda tx: authorizations.load(tx, handle))
    assert pending is not None
    assert (pending.parameters.client_id, pending.parameters.nonce, pending.session_id) == (client_id, "n", None)
    assert pending.parameters.login_hint == "ann@example.com"


async def test_a_form_does_the_same(provider: Provider) -> None:
    client_id = await provider.register()
    reply = await provider("POST", at.AUTHORIZE, form=provider.request_of(client_id))
    assert reply["location"].startswith("/oauth/choose?request=")


async def test_a_request_waits_an_hour(provider: Provider) -> None:
    client_id = await provider.register()
    handle = parameters_of(await provider.authorize(client_id))["request"]
    provider.clock.advance(HOUR)
    assert await provider.store.read(lambda tx: authorizations.load(tx, handle)) is None


async def test_a_request_without_scope_gets_the_default(provider: Provider) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id, scope=None)
    answer = (await provider.redeem(client_id, code)).json()
    assert "accounting:read" in answer["scope"].split()
    assert not any(scope.endswith(":write") or scope.startswith("tax:") for scope in answer["scope"].split())


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"scope": "nothing:known"}, "invalid_scope"),
        ({"scope": "tax:read"}, "invalid_scope"),
        ({"resource": "https://other.example.com"}, "invalid_target"),
        ({"resource": f"{ISSUER}/api/rpc"}, "invalid_target"),
        ({"request": "eyJ"}, "request_not_supported"),
        ({"request_uri": "https://app.example.net/request"}, "request_uri_not_supported"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"prompt": "dance"}, "invalid_request"),
        ({"prompt": "none"}, "login_required"),
        ({"max_age": "-1"}, "invalid_request"),
        ({"dpop_jkt": "x"}, "invalid_request"),
    ],
)
async def test_an_error_goes_back_to_the_client(provider: Provider, changed: dict[str, str | None], error: str) -> None:
    client_id = await provider.register()
    parameters = sent_back(await provider.authorize(client_id, **changed))
    assert (parameters["error"], parameters["state"]) == (error, "xyz")


async def test_an_error_without_state_has_none(provider: Provider) -> None:
    client_id = await provider.register()
    assert "state" not in sent_back(await provider.authorize(client_id, state=None, response_type="token"))


async def test_prompt_none_of_who_is_signed_in_still_asks_for_the_account(provider: Provider) -> None:
    client_id = await provider.register()
    query = provider.request_of(client_id, prompt="none")

    async def ask(cookie: str) -> str:
        reply = await provider("GET", at.AUTHORIZE, query=query, headers=[(b"cookie", cookie.encode())])
        return sent_back(reply)["error"]

    token = provider.person.cookie
    assert await ask(f"__Host-session={token}") == "account_selection_required"
    assert await ask(f"a=b; session={token}") == "account_selection_required"
    for cookie in ("session=x", f"other={token}", f'session="{token}', "\xff=;;=", ""):
        assert await ask(cookie) == "login_required"
    person = provider.person
    await provider.store.write(lambda tx: sessions.end(tx, person.user_id, person.session.id))
    assert await ask(f"session={token}") == "login_required"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"client_id": None}, "invalid_client"),
        ({"client_id": "app_unknown"}, "invalid_client"),
        ({"redirect_uri": None}, "invalid_request"),
        ({"redirect_uri": "https://evil.example/"}, "invalid_request"),
        ({"redirect_uri": CALLBACK + "/"}, "invalid_request"),
        ({"redirect_uri": CALLBACK + "/../x"}, "invalid_request"),
        ({"redirect_uri": CALLBACK + "?x=1"}, "invalid_request"),
        ({"redirect_uri": CALLBACK + "#x"}, "invalid_request"),
        ({"redirect_uri": CALLBACK + "%2f.."}, "invalid_request"),
        ({"redirect_uri": CALLBACK.replace("https", "http")}, "invalid_request"),
        ({"redirect_uri": CALLBACK.replace("example.net", "example.net:443")}, "invalid_request"),
        ({"redirect_uri": CALLBACK.replace("example.net", "EXAMPLE.net")}, "invalid_request"),
        ({"redirect_uri": CALLBACK.replace("example.net", "example.net.")}, "invalid_request"),
        ({"redirect_uri": CALLBACK.replace("//", "//evil@")}, "invalid_request"),
        ({"redirect_uri": "javascript:alert(1)"}, "invalid_request"),
        ({"state": "x" * 5000}, "invalid_request"),
    ],
)
async def test_nothing_is_redirected_to_an_address_that_is_not_the_clients(
    provider: Provider, changed: dict[str, str | None], error: str
) -> None:
    client_id = await provider.register()
    asked = {**provider.request_of(client_id), **changed}
    sent = {name: value for name, value in asked.items() if value is not None}
    assert shown(await provider("GET", at.AUTHORIZE, query=sent)) == error


async def test_a_person_is_shown_a_page(provider: Provider) -> None:
    query = provider.request_of("<script>alert(1)</script>", redirect_uri="https://evil.example/")
    reply = await provider("GET", at.AUTHORIZE, query=query, headers=[HTML])
    assert (reply.status, reply["content-type"]) == (400, "text/html; charset=utf-8")
    assert "default-src 'none'" in reply["content-security-policy"]
    assert reply["x-frame-options"] == "DENY"
    assert b"<script" not in reply.body
    assert b"invalid_client" in reply.body


async def test_a_revoked_client_is_told_here(provider: Provider) -> None:
    client_id = await provider.register()
    await provider.store.write(lambda tx: oauth_clients.revoke(tx, client_id, "operator"))
    assert shown(await provider.authorize(client_id)) == "invalid_client"


@pytest.mark.parametrize("name", ["client_id", "redirect_uri", "state"])
async def test_twice_what_decides_where_to_go_is_shown_here(provider: Provider, name: str) -> None:
    client_id = await provider.register()
    query = urlencode([*provider.request_of(client_id).items(), (name, "x")])
    assert shown(await provider("GET", at.AUTHORIZE, query=query)) == "invalid_request"


@pytest.mark.parametrize("name", ["scope", "code_challenge", "response_type", "nonce"])
async def test_twice_anything_else_goes_back(provider: Provider, name: str) -> None:
    client_id = await provider.register()
    query = urlencode([*provider.request_of(client_id, nonce="n").items(), (name, "x")])
    assert sent_back(await provider("GET", at.AUTHORIZE, query=query))["error"] == "invalid_request"


@pytest.mark.parametrize(
    ("registered", "asked"),
    [
        ("http://127.0.0.1:7000/callback", "http://127.0.0.1:49152/callback"),
        ("http://localhost/callback", "http://localhost:49152/callback"),
        ("http://[::1]/callback", "http://[::1]:49152/callback"),
        ("com.example.app:/callback", "com.example.app:/callback"),
        ("vscode://vscode.github-authentication/did-authenticate",) * 2,
    ],
)
async def test_apps_on_the_persons_machine(provider: Provider, registered: str, asked: str) -> None:
    client_id = await provider.register(redirect_uris=[registered])
    code = await provider.code(client_id, redirect_uri=asked)
    assert (await provider.redeem(client_id, code, redirect_uri=asked)).status == 200


@pytest.mark.parametrize(
    "asked",
    [
        "http://127.0.0.1:49152/other",
        "http://127.0.0.2:49152/callback",
        "http://localhost:49152/callback",
        "https://127.0.0.1:49152/callback",
        "http://127.0.0.1.evil.example/callback",
    ],
)
async def test_only_the_port_of_loopback_may_differ(provider: Provider, asked: str) -> None:
    client_id = await provider.register(redirect_uris=["http://127.0.0.1/callback"])
    assert shown(await provider.authorize(client_id, redirect_uri=asked)) == "invalid_request"


async def test_the_query_of_the_redirect_address_is_kept(provider: Provider) -> None:
    client_id = await provider.register(redirect_uris=[CALLBACK + "?tenant=7"])
    reply = await provider.authorize(client_id, redirect_uri=CALLBACK + "?tenant=7", response_type="x")
    assert reply["location"].startswith(CALLBACK + "?tenant=7&error=unsupported_response_type")


async def test_head_makes_no_request(provider: Provider) -> None:
    client_id = await provider.register()
    reply = await provider("HEAD", at.AUTHORIZE, query=provider.request_of(client_id))
    assert (reply.status, reply["allow"], reply.body) == (405, "GET, POST", b"")


# -- pushed


async def push(provider: Provider, client_id: str, **changed: str | None) -> Reply:
    return await provider("POST", at.PAR, form=provider.request_of(client_id, **changed))


async def test_a_pushed_request_serves_once(provider: Provider) -> None:
    client_id = await provider.register()
    pushed = await push(provider, client_id)
    assert (pushed.status, pushed["cache-control"]) == (201, "no-store")
    request_uri = pushed.json()["request_uri"]
    assert request_uri.startswith("urn:ietf:params:oauth:request_uri:")
    assert pushed.json()["expires_in"] == 600
    query = {"client_id": client_id, "request_uri": request_uri}
    reply = await provider("GET", at.AUTHORIZE, query=query)
    code = await consent(provider.store, parameters_of(reply)["request"], provider.person)
    assert (await provider.redeem(client_id, code)).status == 200
    assert shown(await provider("GET", at.AUTHORIZE, query=query)) == "invalid_request"


async def test_a_pushed_request_is_its_clients_and_expires(provider: Provider) -> None:
    client_id, other = await provider.register(), await provider.register()
    request_uri = (await push(provider, client_id)).json()["request_uri"]
    for wrong in ({"client_id": other}, {}, {"client_id": client_id, "x": "1", "request_uri": request_uri[:-1] + "x"}):
        query = {"request_uri": request_uri, **wrong}
        assert shown(await provider("GET", at.AUTHORIZE, query=query)) == "invalid_request"
    provider.clock.advance(10 * MINUTE)
    query = {"client_id": client_id, "request_uri": request_uri}
    assert shown(await provider("GET", at.AUTHORIZE, query=query)) == "invalid_request"


async def test_a_handle_of_the_pages_is_no_pushed_request(provider: Provider) -> None:
    client_id = await provider.register()
    handle = parameters_of(await provider.authorize(client_id))["request"]
    query = {"client_id": client_id, "request_uri": at.REQUEST_URI_PREFIX + handle}
    assert shown(await provider("GET", at.AUTHORIZE, query=query)) == "invalid_request"


async def test_prompt_none_may_be_pushed(provider: Provider) -> None:
    client_id = await provider.register()
    request_uri = (await push(provider, client_id, prompt="none")).json()["request_uri"]
    query = {"client_id": client_id, "request_uri": request_uri}
    assert sent_back(await provider("GET", at.AUTHORIZE, query=query))["error"] == "login_required"


@pytest.mark.parametrize(
    ("changed", "status", "error"),
    [
        ({"client_id": None}, 400, "invalid_request"),
        ({"client_id": "app_unknown"}, 401, "invalid_client"),
        ({"client_secret": "s"}, 401, "invalid_client"),
        ({"redirect_uri": "https://evil.example/"}, 400, "invalid_request"),
        ({"request_uri": at.REQUEST_URI_PREFIX + "x"}, 400, "invalid_request"),
        ({"code_challenge": None}, 400, "invalid_request"),
        ({"code_challenge_method": "plain"}, 400, "invalid_request"),
        ({"scope": "nothing:known"}, 400, "invalid_scope"),
        ({"resource": "https://other.example.com"}, 400, "invalid_target"),
        ({"response_type": "token"}, 400, "unsupported_response_type"),
        ({"dpop_jkt": CHALLENGE + "x"}, 400, "invalid_request"),
    ],
)
async def test_a_mistake_in_a_pushed_request_is_told_at_once(
    provider: Provider, changed: dict[str, str | None], status: int, error: str
) -> None:
    client_id = await provider.register()
    form = {**provider.request_of(client_id), **changed}
    sent = {name: value for name, value in form.items() if value is not None}
    reply = await provider("POST", at.PAR, form=sent)
    assert (reply.status, reply.json()["error"]) == (status, error)
