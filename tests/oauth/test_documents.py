"""What anybody may read: metadata at every path, and the key set."""

from typing import Any

import msgspec
import pytest

from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.identity.clients.oauth_parameters import Audiences
from gatewayd.identity.signing import signing_keys
from gatewayd.oauth import addresses as at
from gatewayd.oauth.metadata import authorization_server, documents, openid_provider, protected_resource
from tests.support.oauth import ISSUER, Provider, signing_key
from tests.support.scopes import request_of

NAMES = ("oauth-authorization-server", "openid-configuration", "oauth-protected-resource")
PATHS = [
    path.format(name)
    for name in NAMES
    for path in (
        "/.well-known/{}",
        "/.well-known/{}/api/auth",
        "/.well-known/{}/api/rpc",
        "/api/auth/.well-known/{}",
        "/api/rpc/.well-known/{}",
    )
]


SECRET_METHODS = ("client_secret_basic", "client_secret_post", "private_key_jwt")
"""How clients may authenticate that the operator registered."""


def no_null(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(no_null, value.values()))
    if isinstance(value, list):
        return all(map(no_null, value))
    return value is not None


@pytest.mark.parametrize("path", PATHS)
async def test_each_path_has_its_document(provider: Provider, path: str) -> None:
    reply = await provider("GET", path)
    assert (reply.status, reply["content-type"]) == (200, "application/json")
    assert reply["access-control-allow-origin"] == "*"
    assert reply["cache-control"].startswith("public, max-age=")
    assert reply["x-request-id"].startswith("req_")
    document = reply.json()
    assert document.get("issuer", document.get("resource")) == ISSUER
    assert no_null(document)
    assert (await provider("HEAD", path)).body == b""
    assert (await provider("POST", path)).status == 405
    assert (await provider("OPTIONS", path)).status == 204


def test_the_paths_are_all_there_are() -> None:
    assert sorted(documents(Audiences(ISSUER))) == sorted(PATHS)


def test_what_clients_look_for() -> None:
    server = authorization_server(Audiences(ISSUER))
    expected: dict[str, Any] = {
        "issuer": ISSUER,
        "authorization_endpoint": f"{ISSUER}/api/auth/oauth2/authorize",
        "token_endpoint": f"{ISSUER}/api/auth/oauth2/token",
        "registration_endpoint": f"{ISSUER}/api/auth/oauth2/register",
        "jwks_uri": f"{ISSUER}/api/auth/jwks",
        "revocation_endpoint": f"{ISSUER}/api/auth/oauth2/revoke",
        "introspection_endpoint": f"{ISSUER}/api/auth/oauth2/introspect",
        "pushed_authorization_request_endpoint": f"{ISSUER}/api/auth/oauth2/par",
        "require_pushed_authorization_requests": False,
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", *SECRET_METHODS],
        "token_endpoint_auth_signing_alg_values_supported": ["ES256", "RS256", "PS256"],
        "revocation_endpoint_auth_methods_supported": ["none", *SECRET_METHODS],
        "introspection_endpoint_auth_methods_supported": ["Bearer", *SECRET_METHODS],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "scopes_supported": list(ALL_SCOPES),
    }
    assert {name: server[name] for name in expected} == expected
    assert "ES256" in msgspec.convert(server["dpop_signing_alg_values_supported"], list[str])
    provider = openid_provider(Audiences(ISSUER))
    assert provider["id_token_signing_alg_values_supported"] == ["ES256", "RS256"]
    assert provider["subject_types_supported"] == ["public"]
    assert provider["request_uri_parameter_supported"] is False
    assert provider["userinfo_endpoint"] == f"{ISSUER}/api/auth/oauth2/userinfo"
    assert provider["end_session_endpoint"] == f"{ISSUER}/api/auth/oauth2/logout"
    resource = protected_resource(ISSUER)
    assert (resource["resource"], resource["authorization_servers"]) == (ISSUER, [ISSUER])
    assert resource["bearer_methods_supported"] == ["header"]
    scopes = msgspec.convert(resource["scopes_supported"], list[str])
    assert "accounting:read" in scopes
    assert not {"offline_access", "openid"} & set(scopes)


async def test_the_key_set_follows_the_keys(provider: Provider) -> None:
    reply = await provider("GET", at.JWKS)
    assert reply["cache-control"] == "public, max-age=3600"
    assert {key["kid"] for key in reply.json()["keys"]} == set(provider.keys.kids)
    provider.clock.advance(signing_keys.ROTATION)
    await provider.store.write(lambda tx: signing_keys.add(tx, [signing_key("ES256", 1)]))
    await provider.store.read(provider.keys.load)
    assert len((await provider("GET", at.JWKS)).json()["keys"]) == 3
    assert all("d" not in key for key in (await provider("GET", at.JWKS)).json()["keys"])


async def test_documents_are_answered_at_once(provider: Provider) -> None:
    for path in provider.app.paths:
        waited = await provider("GET", path)
        response = provider.app.at_once(request_of("GET", path))
        assert response is not None
        assert (response.status, response.body) == (waited.status, waited.body)
        lines = dict(line.split(b": ", 1) for line in response.lines.splitlines())
        added = (b"content-length", b"x-request-id")  # by the sender
        assert lines == {name: value for name, value in waited.headers if name not in added}
    for path, method in ((at.TOKEN, "POST"), (at.JWKS, "POST"), (at.JWKS, "OPTIONS"), ("/x", "GET")):
        assert provider.app.at_once(request_of(method, path)) is None


async def test_what_is_not_there(provider: Provider) -> None:
    for path in ("/api/auth/", "/api/auth/nothing", "/api/auth/oauth2/token/"):
        assert (await provider("GET", path)).status == 404
