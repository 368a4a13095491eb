"""What clients in use demand of an identity provider, each as a case against the running daemon."""

import re
import secrets
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import jwt
import pytest

from gatewayd.identity import audit
from gatewayd.identity.people import memberships
from tests.clients.person import Decision
from tests.clients.provider import (
    AUTHORIZE,
    CALLBACK,
    CLIENTS,
    INVOICES,
    JWKS,
    REGISTER,
    REVOKE,
    TOKEN,
    USERINFO,
    Provider,
    add_password,
    provided,
)

WELL_KNOWN = "/.well-known"
SERVER, OPENID = "oauth-authorization-server", "openid-configuration"
RESOURCE = "oauth-protected-resource"
MOUNTS = ("/api/auth", "/api/rpc")
CLIENT = {"name": "Cedar Ltd"}

VS_CODE = {  # what Visual Studio Code sends when it registers itself
    "client_name": "Visual Studio Code",
    "client_uri": "https://code.visualstudio.com",
    "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
    "response_types": ["code"],
    "redirect_uris": [
        "https://insiders.vscode.dev/redirect",
        "https://vscode.dev/redirect",
        "http://127.0.0.1/",
        "http://127.0.0.1:33418/",
    ],
    "token_endpoint_auth_method": "none",
    "application_type": "native",
}


def nulls(document: object, path: str = "") -> Iterator[str]:
    """Where a document holds a null."""
    if isinstance(document, dict):
        for name, value in document.items():
            yield from nulls(value, f"{path}.{name}")
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from nulls(value, f"{path}[{number}]")
    elif document is None:
        yield path


def claims_of(token: str) -> dict[str, Any]:
    """What a token says; nobody has verified it."""
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return claims


def challenge_of(response: httpx.Response) -> dict[str, str]:
    """The parameters of the one challenge in an answer."""
    (field,) = response.headers.get_list("WWW-Authenticate")
    scheme, _, parameters = field.partition(" ")
    assert scheme == "Bearer"
    return dict(re.findall(r'(\w+)="([^"]*)"', parameters))


# -- addresses of clients


@pytest.mark.parametrize(
    ("registered", "asked"),
    [
        ("http://127.0.0.1/callback", "http://127.0.0.1:51234/callback"),
        ("http://127.0.0.1:3000/callback", "http://127.0.0.1:51234/callback"),
        ("http://localhost/callback", "http://localhost:33418/callback"),
        ("http://localhost:3118/callback", "http://localhost:51234/callback"),
        ("http://[::1]/callback", "http://[::1]:51234/callback"),
        ("http://127.1.2.3/callback", "http://127.1.2.3:8080/callback"),
        ("http://127.0.0.1:33418", "http://127.0.0.1:33418/"),
        ("http://127.0.0.1/", "http://127.0.0.1:61234"),
        ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor://anysphere.cursor-mcp/oauth/callback"),
        ("com.example.books:/callback", "com.example.books:/callback"),
        ("https://app.example/callback?tenant=7", "https://app.example/callback?tenant=7"),
    ],
)
def test_the_answer_goes_to_the_address_that_was_asked_for(provider: Provider, registered: str, asked: str) -> None:
    client_id = provider.register(registered)["client_id"]
    arrived = provider.person.visit(provider.asking(client_id, secrets.token_urlsafe(32), redirect_uri=asked))
    assert arrived.startswith(asked)
    assert provider.connect(client_id, redirect_uri=asked)["access_token"]


@pytest.mark.parametrize(
    ("registered", "asked"),
    [
        ("http://127.0.0.1/callback", "http://127.0.0.1:51234/other"),
        ("http://127.0.0.1/callback", "http://127.0.0.1:51234/callback/"),
        ("http://127.0.0.1/callback", "http://localhost:51234/callback"),
        ("http://localhost/callback", "http://localhost.evil.example/callback"),
        ("http://localhost/callback", "https://localhost/callback"),
        ("https://app.example/callback", "https://app.example:8443/callback"),
        ("https://app.example", "https://app.example/"),
        ("https://app.example/callback", "https://app.example/callback?more=1"),
        ("com.example.books:/callback", "com.example.books:/callback/x"),
    ],
)
def test_no_other_address_is_gone_to(provider: Provider, registered: str, asked: str) -> None:
    client_id = provider.register(registered)["client_id"]
    shown = provider.api.get(provider.asking(client_id, secrets.token_urlsafe(32), redirect_uri=asked))
    assert shown.status_code == 400
    assert "Location" not in shown.headers


@pytest.mark.parametrize(
    "asked",
    [
        "https://insiders.vscode.dev/redirect",
        "https://vscode.dev/redirect",
        "http://127.0.0.1:61022/",
        "http://127.0.0.1:33418/",
    ],
)
def test_visual_studio_code_connects(provider: Provider, asked: str) -> None:
    registered = provider.api.post(REGISTER, json=VS_CODE)
    assert registered.status_code == 201
    assert registered.json()["redirect_uris"] == VS_CODE["redirect_uris"]
    tokens = provider.connect(registered.json()["client_id"], redirect_uri=asked)
    assert provider.call(tokens["access_token"]).status_code == 200


def test_the_person_sees_where_it_goes(provider: Provider) -> None:
    provider.connect(provider.register()["client_id"])
    assert "<strong>app.example</strong>" in provider.person.pages["/oauth/consent"]
    assert "a program on this computer" not in provider.person.pages["/oauth/consent"]
    local = "http://localhost:3000/callback"
    provider.connect(provider.register(local)["client_id"], redirect_uri=local)
    assert "a program on this computer" in provider.person.pages["/oauth/consent"]


def test_the_chooser_always_appears(provider: Provider) -> None:
    client_id = provider.register()["client_id"]
    for _ in range(2):
        provider.connect(client_id)
        assert list(provider.person.pages)[-2:] == ["/oauth/choose", "/oauth/consent"]


def test_the_person_picks_the_organization(provider: Provider) -> None:
    instance = provider.address.instance
    firms = [instance.firm(name) for name in ("Ash Ltd", "Elm Ltd")]
    owner, other = firms
    instance.write(lambda tx: memberships.add(tx, owner.user_id, "admin", audit.OPERATOR), other.org_id)
    add_password(instance, owner)
    with provided(provider.address, owner) as theirs:
        client_id = theirs.register()["client_id"]
        for firm in firms:
            decision = Decision(organization=firm.org_id)
            code = theirs.person.answer_to(theirs.asking(client_id, "v" * 43), decision)["code"]
            tokens = theirs.redeem(client_id, code, "v" * 43).json()
            assert claims_of(tokens["access_token"])["org"] == firm.org_id
            seen = theirs.call(tokens["access_token"], CLIENTS).json()
            assert firm.client_id in str(seen)


# -- resources


@pytest.mark.parametrize("at_authorize", ["{issuer}", "{issuer}/", "", None])
@pytest.mark.parametrize("at_token", ["{issuer}", "{issuer}/", None])
def test_a_resource_may_have_a_slash_or_be_missing(
    provider: Provider, at_authorize: str | None, at_token: str | None
) -> None:
    client_id, verifier = provider.register()["client_id"], secrets.token_urlsafe(32)
    first, second = [each and each.format(issuer=provider.issuer) for each in (at_authorize, at_token)]
    answer = provider.person.answer_to(provider.asking(client_id, verifier, resource=first))
    tokens = provider.redeem(client_id, answer["code"], verifier, resource=second).json()
    assert claims_of(tokens["access_token"])["aud"] == provider.issuer
    assert provider.call(tokens["access_token"]).status_code == 200


def test_another_resource_is_refused(provider: Provider) -> None:
    client_id, verifier = provider.register()["client_id"], secrets.token_urlsafe(32)
    other = f"{provider.issuer}/api/rpc"
    refused = provider.person.answer_to(provider.asking(client_id, verifier, resource=other))
    assert (refused["error"], refused["iss"]) == ("invalid_target", provider.issuer)
    code = provider.person.answer_to(provider.asking(client_id, verifier))["code"]
    answer = provider.redeem(client_id, code, verifier, resource="https://other.example")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_target")


def test_a_refresh_without_a_resource_is_for_the_api(provider: Provider) -> None:
    client_id = provider.register()["client_id"]
    form = {"grant_type": "refresh_token", "client_id": client_id}
    token = provider.connect(client_id)["refresh_token"]
    for resource in (None, f"{provider.issuer}/", provider.issuer):
        answer = provider.token({**form, "refresh_token": token, "resource": resource})
        assert answer.status_code == 200
        assert claims_of(answer.json()["access_token"])["aud"] == provider.issuer
        token = answer.json()["refresh_token"]


# -- metadata


def test_metadata_is_where_clients_look_for_it_and_holds_no_null(provider: Provider) -> None:
    for name in (SERVER, OPENID, RESOURCE):
        paths = [f"{WELL_KNOWN}/{name}", *(f"{WELL_KNOWN}/{name}{mount}" for mount in MOUNTS)]
        paths += [f"{mount}{WELL_KNOWN}/{name}" for mount in MOUNTS]
        answers = [provider.api.get(path) for path in paths]
        assert {answer.status_code for answer in answers} == {200}
        assert {answer.headers["Content-Type"] for answer in answers} == {"application/json"}
        assert len({answer.content for answer in answers}) == 1
        assert list(nulls(answers[0].json())) == []


def test_the_metadata_says_what_clients_decide_by(provider: Provider) -> None:
    server = provider.api.get(f"{WELL_KNOWN}/{SERVER}").json()
    openid = provider.api.get(f"{WELL_KNOWN}/{OPENID}").json()
    resource = provider.api.get(f"{WELL_KNOWN}/{RESOURCE}").json()
    assert server["issuer"] == openid["issuer"] == resource["resource"] == provider.issuer
    assert resource["authorization_servers"] == [provider.issuer]
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert "none" in server["token_endpoint_auth_methods_supported"]
    assert server["client_id_metadata_document_supported"] is True
    assert server["authorization_response_iss_parameter_supported"] is True
    assert "RS256" in openid["id_token_signing_alg_values_supported"]
    assert {"openid", "offline_access"} <= set(server["scopes_supported"])
    assert not {"openid", "offline_access"} & set(resource["scopes_supported"])
    addresses = [value for name, value in openid.items() if name.endswith("_endpoint") or name == "jwks_uri"]
    assert len(addresses) == 9
    for address in addresses:
        assert address.startswith(f"{provider.issuer}/api/auth/")
        assert provider.api.get(urlsplit(address).path).status_code != 404


# -- registration


def test_unknown_members_and_nulls_do_not_hinder_a_registration(provider: Provider) -> None:
    strange = {"token_endpoint_auth_signing_alg": "ES256", "x-vendor": {"deep": [1, None]}, "scope": None, "jwks": {}}
    registered = provider.register(**strange)
    assert not strange.keys() & registered.keys()
    assert list(nulls(registered)) == []
    assert isinstance(registered["client_id_issued_at"], int)
    assert provider.connect(registered["client_id"])["access_token"]


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "private_key_jwt", "none", None])
def test_whatever_method_is_asked_for_the_client_is_public(provider: Provider, method: str | None) -> None:
    registered = provider.register(token_endpoint_auth_method=method)
    assert registered["token_endpoint_auth_method"] == "none"
    assert not {"client_secret", "client_secret_expires_at"} & registered.keys()
    assert provider.connect(registered["client_id"])["access_token"]


def test_a_registration_is_told_to_be_made_and_not_to_be_kept(provider: Provider) -> None:
    answer = provider.api.post(REGISTER, json={"client_name": "X", "redirect_uris": [CALLBACK]})
    assert (answer.status_code, answer.headers["Content-Type"]) == (201, "application/json")
    assert answer.headers["Cache-Control"] == "no-store"


def test_what_a_certified_relying_party_asks_for_is_passed_over(provider: Provider) -> None:
    registered = provider.register(
        grant_types=["authorization_code"],
        userinfo_signed_response_alg="ES256",
        request_object_signing_alg="ES256",
        default_max_age=86400,
        require_auth_time=True,
        subject_type="public",
        id_token_signed_response_alg="RS256",
    )
    assert registered["id_token_signed_response_alg"] == "RS256"
    assert not {"userinfo_signed_response_alg", "request_object_signing_alg", "default_max_age"} & registered.keys()
    tokens = provider.connect(registered["client_id"], scope="openid offline_access")
    assert tokens["refresh_token"]
    assert jwt.get_unverified_header(tokens["id_token"])["alg"] == "RS256"


# -- scopes


def test_without_a_scope_reading_is_meant(provider: Provider) -> None:
    tokens = provider.connect(provider.register()["client_id"], scope=None)
    scopes = tokens["scope"].split()
    assert "accounting:read" in scopes
    assert all(scope.endswith(":read") and not scope.startswith("tax:") for scope in scopes)
    assert "refresh_token" not in tokens
    assert provider.call(tokens["access_token"]).status_code == 200


def test_the_scope_that_was_registered_is_meant_by_none(provider: Provider) -> None:
    client_id = provider.register(scope="accounting:read webhooks:read")["client_id"]
    assert provider.connect(client_id, scope=None)["scope"] == "accounting:read webhooks:read"


def test_all_scopes_that_the_server_has_can_be_asked_for_at_once(provider: Provider) -> None:
    everything = provider.api.get(f"{WELL_KNOWN}/{SERVER}").json()["scopes_supported"]
    tokens = provider.connect(provider.register()["client_id"], scope=" ".join([*everything, "address", "phone"]))
    assert set(tokens["scope"].split()) == set(everything) - {"tax:read", "tax:write"}
    assert "tax:write" in provider.person.pages["/oauth/consent"]
    assert tokens["refresh_token"]
    assert tokens["id_token"]


def test_a_scope_that_was_opted_out_of_is_not_in_the_answer(provider: Provider) -> None:
    client_id, verifier = provider.register()["client_id"], secrets.token_urlsafe(32)
    url = provider.asking(client_id, verifier, scope="accounting:read accounting:write")
    code = provider.person.answer_to(url, Decision(scopes=["accounting:read"]))["code"]
    assert provider.redeem(client_id, code, verifier).json()["scope"] == "accounting:read"


def test_a_bare_request_is_told_where_to_go(provider: Provider) -> None:
    answer = provider.api.get(INVOICES)
    assert answer.status_code == 401
    expected = {"resource_metadata": f"{provider.issuer}{WELL_KNOWN}/{RESOURCE}", "scope": "accounting:read"}
    assert challenge_of(answer) == expected


def test_what_is_lacking_is_named_and_granted_with_what_there_was(provider: Provider) -> None:
    client_id = provider.register()["client_id"]
    tokens = provider.connect(client_id)
    answer = provider.api.post(CLIENTS, json=CLIENT, headers={"Authorization": f"Bearer {tokens['access_token']}"})
    assert answer.status_code == 403
    metadata = f"{provider.issuer}{WELL_KNOWN}/{RESOURCE}"
    expected = {"error": "insufficient_scope", "scope": "accounting:write", "resource_metadata": metadata}
    assert challenge_of(answer) == expected
    union = f"{tokens['scope']} accounting:write"
    wider = provider.connect(client_id, scope=union)
    assert set(wider["scope"].split()) == set(union.split())
    answer = provider.api.post(CLIENTS, json=CLIENT, headers={"Authorization": f"Bearer {wider['access_token']}"})
    assert answer.status_code == 200, answer.text
    assert provider.call(tokens["access_token"]).status_code == 200  # the narrower one goes on


# -- answers


def test_every_answer_to_a_client_names_the_issuer(provider: Provider) -> None:
    client_id, verifier = provider.register()["client_id"], secrets.token_urlsafe(32)
    plain = provider.asking(client_id, verifier)
    answers = [
        provider.person.answer_to(plain),
        provider.person.answer_to(plain, Decision(allow=False)),
        provider.person.answer_to(provider.asking(client_id, verifier, code_challenge_method="plain")),
        provider.person.answer_to(provider.asking(client_id, verifier, scope="nothing:known")),
        provider.person.answer_to(provider.asking(client_id, verifier, prompt="none")),
    ]
    assert [answer.get("error") for answer in answers] == [
        *(None, "access_denied", "invalid_request", "invalid_scope", "account_selection_required")
    ]
    assert {(answer["iss"], answer["state"]) for answer in answers} == {(provider.issuer, "s-1")}


def test_an_app_that_nobody_has_connected_gets_its_error_by_a_link(provider: Provider) -> None:
    client_id, verifier = provider.register()["client_id"], secrets.token_urlsafe(32)
    answer = provider.person.answer_to(provider.asking(client_id, verifier, scope="nothing:known"))
    assert (answer["error"], answer["iss"], answer["state"]) == ("invalid_scope", provider.issuer, "s-1")
    assert "<strong>app.example</strong>" in provider.person.pages[AUTHORIZE]


@pytest.mark.parametrize(
    ("changed", "status", "error"),
    [
        ({}, 200, None),
        ({"code": "gwc_" + "A" * 43}, 400, "invalid_grant"),
        ({"code_verifier": "B" * 43}, 400, "invalid_grant"),
        ({"code_verifier": None}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"grant_type": None}, 400, "invalid_request"),
        ({"client_id": "app_unknown"}, 401, "invalid_client"),
    ],
)
def test_token_answers_are_json_that_nobody_keeps(
    provider: Provider, changed: dict[str, str | None], status: int, error: str | None
) -> None:
    client_id, verifier = provider.register()["client_id"], secrets.token_urlsafe(32)
    code = provider.person.answer_to(provider.asking(client_id, verifier))["code"]
    form = {
        "grant_type": "authorization_code",
        "client_id": client_id,
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": verifier,
        **changed,
    }
    answer = provider.token(form)
    assert (answer.status_code, answer.json().get("error")) == (status, error), answer.text
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert list(nulls(answer.json())) == []


@pytest.mark.parametrize("path", [TOKEN, REGISTER, REVOKE, USERINFO, JWKS, f"{WELL_KNOWN}/{SERVER}"])
def test_pages_of_other_origins_may_call(provider: Provider, path: str) -> None:
    method = "GET" if path in (USERINFO, JWKS) or WELL_KNOWN in path else "POST"
    wanted = {"authorization", "content-type", "mcp-protocol-version"}
    headers = {
        "Origin": "https://inspector.example",
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": ",".join(sorted(wanted)),
    }
    answer = provider.api.options(path, headers=headers)
    assert answer.status_code == 204
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert method in answer.headers["Access-Control-Allow-Methods"]
    assert wanted <= {each.strip().lower() for each in answer.headers["Access-Control-Allow-Headers"].split(",")}
    real = provider.api.request(method, path, headers={"Origin": "https://inspector.example"})
    assert real.headers["Access-Control-Allow-Origin"] == "*"
    assert "www-authenticate" in real.headers["Access-Control-Expose-Headers"].lower()


def test_no_page_may_call_where_browsers_are_sent(provider: Provider) -> None:
    headers = {"Origin": "https://inspector.example", "Access-Control-Request-Method": "GET"}
    answer = provider.api.options(AUTHORIZE, headers=headers)
    assert "Access-Control-Allow-Origin" not in answer.headers
