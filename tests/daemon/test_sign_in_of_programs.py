"""A program signs in through the running daemon, calls the API, and is disconnected."""

import msgspec

from gatewayd.identity import audit
from gatewayd.identity.clients import grants
from gatewayd.identity.tokens import refresh_tokens
from tests.daemon.conftest import Shared
from tests.daemon.instance import Instance, serving
from tests.support.oauth import CALLBACK, CHALLENGE, VERIFIER, agree, sign_in

INVOICES = "/api/rpc/invoices"
SERVER = "/.well-known/oauth-authorization-server"


def discover(shared: Shared) -> tuple[str, dict[str, str]]:
    """The issuer, and the paths of its endpoints by name."""
    server = shared.running.client.get(SERVER).json()
    issuer = server["issuer"]
    return issuer, {n: address.removeprefix(issuer) for n, address in server.items() if n.endswith("_endpoint")}


def register(shared: Shared) -> str:
    """Register a client; answers its id."""
    registration = {"client_name": "Ledger Sync", "redirect_uris": [CALLBACK]}
    answer = shared.running.client.post(discover(shared)[1]["registration_endpoint"], json=registration)
    return str(answer.json()["client_id"])


def connect(
    shared: Shared, client_id: str | None = None, scope: str = "openid accounting:read offline_access"
) -> dict[str, str]:
    """From discovery to tokens, with the person's consent written by another process."""
    http, (issuer, paths) = shared.running.client, discover(shared)
    client_id = client_id or register(shared)
    asked = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": CALLBACK,
        "scope": scope,
        "resource": issuer,
        "state": "s",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    location = http.get(paths["authorization_endpoint"], params=asked).headers["location"]
    assert location.startswith("/oauth/choose?request=")
    handle, firm = location.partition("=")[2], shared.firm
    person = shared.instance.write(lambda tx: sign_in(tx, firm.user_id, firm.org_id))
    code = shared.instance.write(lambda tx: agree(tx, handle, person))
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": CALLBACK,
        "client_id": client_id,
        "code_verifier": VERIFIER,
    }
    answer = http.post(paths["token_endpoint"], data=form)
    assert answer.status_code == 200, answer.text
    return {**answer.json(), "client_id": client_id, "token_endpoint": paths["token_endpoint"]}


def test_a_program_is_connected_and_disconnected(shared: Shared) -> None:
    tokens = connect(shared)
    assert shared.running.call(tokens["access_token"], "GET", INVOICES).status_code == 200
    refused = shared.running.call(tokens["access_token"], "GET", "/api/rpc/webhooks/subscriptions")
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    state = shared.instance.read(lambda tx: refresh_tokens.read_refresh(tx, tokens["refresh_token"]))
    assert state is not None
    shared.instance.write(lambda tx: grants.revoke(tx, state.grant.id, "operator", audit.OPERATOR))
    ended = shared.running.call(tokens["access_token"], "GET", INVOICES)
    assert (ended.status_code, ended.json()["code"]) == (401, "invalid_token")
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": tokens["client_id"]}
    answer = shared.running.client.post(tokens["token_endpoint"], data=form)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


def test_the_api_tells_where_tokens_come_from(shared: Shared) -> None:
    http = shared.running.client
    answer = http.get(INVOICES)
    challenge = answer.headers["www-authenticate"]
    issuer = http.get(SERVER).json()["issuer"]
    assert answer.status_code == 401
    assert f'resource_metadata="{issuer}/.well-known/oauth-protected-resource"' in challenge
    assert 'scope="accounting:read"' in challenge


def test_the_description_names_the_same_endpoints(shared: Shared) -> None:
    http = shared.running.client
    schemes = http.get("/openapi.json").json()["components"]["securitySchemes"]
    discovery = schemes["openIdConnect"]["openIdConnectUrl"]
    path = "/.well-known/openid-configuration"
    provider = http.get(path).json()
    assert discovery == provider["issuer"] + path
    flow = schemes["oauth2"]["flows"]["authorizationCode"]
    assert flow["authorizationUrl"] == provider["authorization_endpoint"]
    assert flow["tokenUrl"] == flow["refreshUrl"] == provider["token_endpoint"]
    assert list(flow["scopes"]) == provider["scopes_supported"]


def test_documents_over_the_wire(shared: Shared) -> None:
    http = shared.running.client
    for path in (SERVER, "/api/rpc/.well-known/oauth-protected-resource", "/api/auth/jwks"):
        whole = http.get(path)
        assert (whole.status_code, whole.headers["content-type"]) == (200, "application/json")
        assert whole.headers["access-control-allow-origin"] == "*"
        head = http.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == str(len(whole.content))
        assert http.options(path).status_code == 204
    assert http.get("/api/auth/nothing").status_code == 404


def test_the_keys_outlive_the_process(instance: Instance) -> None:
    seen = []
    for _ in range(2):
        with serving(instance) as running:
            seen.append(msgspec.json.decode(running.client.get("/api/auth/jwks").content))
            assert running.end() == 0
    assert seen[0] == seen[1]
    assert [key["alg"] for key in seen[0]["keys"]] == ["ES256", "RS256"]
