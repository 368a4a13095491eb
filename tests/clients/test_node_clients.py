"""Clients from npm, unchanged, against the running daemon. The programs beside this file are apps built with them."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from joserfc.jwk import ECKey

from gatewayd.identity import audit
from gatewayd.identity.clients import grants, oauth_clients, own_clients
from gatewayd.identity.clients.own_clients import Kind, NewClient
from tests.clients.desk import answering
from tests.clients.person import Decision
from tests.clients.programs import run_node
from tests.clients.provider import CLIENTS, INVOICES, REGISTER, TOKEN, Provider

CALLBACK = "http://127.0.0.1:3031/callback"
SCOPE = "openid offline_access accounting:read email"
PLAIN_SCOPE = "offline_access accounting:read"


@pytest.fixture(scope="module")
def desk(provider: Provider) -> Iterator[str]:
    """Where programs find the person."""

    def visit(asked: dict[str, Any]) -> str:
        return provider.person.visit(asked["url"], Decision(allow=asked.get("allow", True)))

    def disconnect(asked: dict[str, Any]) -> None:
        end = asked["clientId"]
        provider.address.instance.write(lambda tx: grants.revoke_client(tx, end, "operator", audit.OPERATOR))

    def revoke(asked: dict[str, Any]) -> None:
        provider.address.instance.write(lambda tx: oauth_clients.revoke(tx, asked["clientId"], audit.OPERATOR))

    with answering({"/visit": visit, "/disconnect": disconnect, "/revoke": revoke}) as origin:
        yield origin


def run(provider: Provider, desk: str, script: str, **given: object) -> dict[str, Any]:
    """A program that trusts the daemon's certificate, and nothing else that this test made."""
    asked = {
        "desk": desk,
        "issuer": provider.issuer,
        "api": f"{provider.issuer}{INVOICES}",
        "redirect": CALLBACK,
        "scope": SCOPE,
        **given,
    }
    found: dict[str, Any] = run_node(script, asked, NODE_EXTRA_CA_CERTS=str(provider.address.ca_file))
    return found


@pytest.mark.parametrize(
    ("algorithm", "par", "dpop"),
    [("ES256", False, False), ("RS256", True, False), ("ES256", False, True), ("RS256", True, True)],
)
def test_openid_client(provider: Provider, desk: str, algorithm: str, par: bool, dpop: bool) -> None:
    found = run(provider, desk, "openid_client.mjs", algorithm=algorithm, par=par, dpop=dpop)
    assert found["method"] == "none"
    assert (found["requestNames"] == ["client_id", "request_uri"]) is par
    assert found["tokenType"].lower() == ("dpop" if dpop else "bearer")
    assert found["scope"] == SCOPE
    assert found["claims"]["sub"] == provider.firm.user_id
    assert found["userInfo"]["email"] == provider.firm.email
    assert (found["called"], found["rotated"], found["calledAgain"]) == (200, True, 200)
    assert found["afterRevocation"]["status"] == 401
    assert found["refreshAfterRevocation"]["error"] == "invalid_grant"
    assert found["denied"]["error"] == "access_denied"
    assert found["mixedUp"]["code"] == found["withoutIssuer"]["code"] == "OAUTH_INVALID_RESPONSE"
    if dpop:
        assert found["thief"]["status"] == found["withoutProof"] == 401
        assert found["thiefRefreshes"]["error"] == "invalid_grant"
    page = provider.person.browser.get(found["leaving"], follow_redirects=True)
    assert (page.status_code, page.url.path) == (200, "/sign-out")


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "private_key_jwt"])
def test_openid_client_with_credentials(provider: Provider, desk: str, method: str) -> None:
    """A client that the operator registered, by each way in which it may authenticate."""
    key = ECKey.generate_key()
    kind: Kind = "keys" if method == "private_key_jwt" else "secret"
    jwks = {"keys": [dict(key.as_dict(private=False))]} if kind == "keys" else None
    new = NewClient(name="Till", redirect_uris=[CALLBACK], kind=kind, keys=jwks)
    made = provider.address.instance.write(lambda tx: own_clients.register(tx, new, audit.OPERATOR))
    shown = {"clientId": made.client.id, "secret": made.secret, "privateKey": key.as_dict(private=True)}
    found = run(provider, desk, "confidential_client.mjs", method=method, **{**shown, "scope": PLAIN_SCOPE})
    assert found["withoutProof"] == {"error": "invalid_client", "status": 401}
    assert found["scope"] == PLAIN_SCOPE
    introspected = found["introspected"]
    assert (introspected["active"], introspected["client_id"]) == (True, made.client.id)
    assert found["afterRevocation"]["error"] == "invalid_grant"


def test_oauth4webapi(provider: Provider, desk: str) -> None:
    found = run(provider, desk, "oauth4webapi.mjs")
    token = found.pop("accessToken")
    assert found == {
        "servers": [provider.issuer],
        "sameEndpoints": True,
        "secret": None,
        "pushedFor": 600,
        "tokenType": "dpop",
        "subject": provider.firm.user_id,
        "email": provider.firm.email,
        "called": 200,
        "refreshed": "dpop",
        "afterRevocation": ["WWWAuthenticateChallengeError", 401, "invalid_token"],
        "lateRefresh": ["ResponseBodyError", 400, "invalid_grant"],
    }
    assert (token["aud"], token["sub"], token["cnf"]) == (provider.issuer, provider.firm.user_id, ["jkt"])


@pytest.mark.parametrize("method", ["header", "body"])
def test_simple_oauth2(provider: Provider, desk: str, method: str) -> None:
    client_id = provider.register(CALLBACK)["client_id"]
    scope = "openid profile email offline_access accounting:read accounting:write"
    given = {"clientId": client_id, "authorizationMethod": method, "scope": scope}
    assert run(provider, desk, "simple_oauth2.mjs", **given) == {
        "state": "s-1",
        "scope": sorted(scope.split()),
        "expired": False,
        "called": 200,
        "rotated": True,
        "calledAgain": 200,
        "afterRevocation": 401,
        "lateRefresh": [400, "invalid_grant"],
    }


ASKED = {  # first and after a 403; the first generation asks for what the last answer named, and for nothing else
    "@modelcontextprotocol/sdk": ("accounting:read", "accounting:write"),
    "@modelcontextprotocol/client": (
        "accounting:read offline_access",
        "offline_access accounting:read accounting:write",
    ),
}
DROPPED = {"@modelcontextprotocol/sdk": ["all"], "@modelcontextprotocol/client": ["client", "tokens"]}
"""What each drops once its client is unknown."""
DISCOVERY = ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"]


@pytest.mark.parametrize("package", ASKED)
@pytest.mark.parametrize("documented", [False, True])
def test_mcp(provider: Provider, desk: str, package: str, documented: bool) -> None:
    document = {"client_name": "MCP", "redirect_uris": [CALLBACK]}
    with answering({"/client.json": lambda _: document}, provider.address.authority) as origin:
        document["client_id"] = url = f"{origin}/client.json"
        found = run(
            provider,
            desk,
            "mcp_client.mjs",
            package=package,
            listing=INVOICES,
            creating=CLIENTS,
            customer=f"Cedar {secrets.token_hex(4)}",
            document=url if documented else None,
        )
    first, up = found["first"], found["stepUp"]
    registration = [] if documented else [[REGISTER, 201]]
    discovery = [[path, 200] for path in DISCOVERY]
    ready = [["initialize", 200], ["notifications/initialized", 200]]
    assert first["seen"] == [["initialize", 401], *discovery, *registration, [TOKEN, 200], *ready, ["tools/list", 200]]
    assert (first["clientId"] == url) is documented
    assert up["seen"] == [["tools/call", 403], [TOKEN, 200], ["tools/call", 200]]
    assert (first["asked"], up["asked"]) == ([ASKED[package][0]], [ASKED[package][1]])
    assert set(up["scope"].split()) == set(up["asked"][0].split())
    kept = {"asked": 0, "invalidated": [], "sameClient": True, "sameToken": False}
    seen = {name: found[name].pop("seen") for name in ("refreshed", "disconnected", "revoked") if name in found}
    assert seen["refreshed"] == [["initialize", 401], [TOKEN, 200], *ready, ["tools/call", 200]]
    assert found["refreshed"] == kept
    assert [TOKEN, 400] in seen["disconnected"]  # invalid_grant
    assert found["disconnected"] == {**kept, "asked": 1, "invalidated": ["tokens"]}
    assert ("revoked" in found) is not documented
    if not documented:
        assert [TOKEN, 401] in seen["revoked"]  # invalid_client
        assert [REGISTER, 201] in seen["revoked"]
        assert found["revoked"] == {**kept, "asked": 1, "invalidated": DROPPED[package], "sameClient": False}
