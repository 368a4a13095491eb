"""Clients and relying parties from PyPI, unchanged, against the running daemon."""

import secrets
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import pytest
import trio
from authlib.integrations.httpx_client import OAuth2Client, OAuthError
from cryptojwt import KeyJar
from idpyoidc.client.rp_handler import RPHandler
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from oauthlib.oauth2 import InvalidGrantError
from pydantic import AnyUrl
from requests_oauthlib import OAuth2Session

from gatewayd.clock import HOUR
from gatewayd.identity import audit
from gatewayd.identity.clients import grants, own_clients
from gatewayd.identity.clients.own_clients import NewClient
from tests.clients import relying_party
from tests.clients.desk import answering
from tests.clients.person import ALLOW, Decision
from tests.clients.provider import AUTHORIZE, CALLBACK, CLIENTS, INVOICES, REVOKE, TOKEN, USERINFO, Provider
from tests.daemon.instance import SECONDS

LOOPBACK = "http://127.0.0.1:3030/callback"

# -- requests-oauthlib


def test_requests_oauthlib(provider: Provider) -> None:
    """It insists that what was granted is what was asked for, refreshes by itself, and revokes nothing."""
    saved: list[dict[str, object]] = []
    scope = ["openid", "profile", "email", "offline_access", "accounting:read", "accounting:write"]
    client_id = provider.register()["client_id"]
    session = OAuth2Session(
        client_id,
        redirect_uri=CALLBACK,
        scope=scope,
        pkce="S256",
        auto_refresh_url=f"{provider.issuer}{TOKEN}",
        auto_refresh_kwargs={"client_id": client_id},
        token_updater=saved.append,
    )
    session.verify, session.trust_env = str(provider.address.ca_file), False
    with session:
        url, state = session.authorization_url(f"{provider.issuer}{AUTHORIZE}")
        arrived = provider.person.visit(url)
        assert parse_qs(urlsplit(arrived).query)["state"] == [state]
        token = session.fetch_token(
            f"{provider.issuer}{TOKEN}", authorization_response=arrived, include_client_id=True, timeout=SECONDS
        )
        assert (token["token_type"], token.scope_changed, set(token.scopes)) == ("Bearer", False, set(scope))
        assert session.get(f"{provider.issuer}{INVOICES}", timeout=SECONDS).status_code == 200
        person = session.get(f"{provider.issuer}{USERINFO}", timeout=SECONDS).json()
        assert (person["sub"], person["email"]) == (provider.firm.user_id, provider.firm.email)
        assert {"name", "email_verified"} <= person.keys()
        session.token = {**token, "expires_in": -30, "expires_at": time.time() - 30}
        assert session.get(f"{provider.issuer}{INVOICES}", timeout=SECONDS).status_code == 200
        (fresh,) = saved
        assert fresh["refresh_token"] != token["refresh_token"]
        gone = {"token": fresh["refresh_token"], "client_id": client_id}
        assert session.post(f"{provider.issuer}{REVOKE}", data=gone, timeout=SECONDS).json() == {}
        assert session.get(f"{provider.issuer}{INVOICES}", timeout=SECONDS).status_code == 401
        with pytest.raises(InvalidGrantError):
            session.refresh_token(f"{provider.issuer}{TOKEN}", client_id=client_id, timeout=SECONDS)


# -- Authlib


def authlib_client(provider: Provider, scope: str = "accounting:read offline_access") -> OAuth2Client:
    """A client that refreshes by itself."""
    return OAuth2Client(
        client_id=provider.register()["client_id"],
        token_endpoint_auth_method="none",
        redirect_uri=CALLBACK,
        scope=scope,
        code_challenge_method="S256",
        token_endpoint=f"{provider.issuer}{TOKEN}",
        base_url=provider.issuer,
        verify=provider.address.tls,
        timeout=SECONDS,
        trust_env=False,
    )


def authlib_connect(provider: Provider, client: OAuth2Client) -> dict[str, object]:
    verifier = secrets.token_urlsafe(48)
    url, state = client.create_authorization_url(f"{provider.issuer}{AUTHORIZE}", code_verifier=verifier)
    arrived = provider.person.visit(url)
    token: dict[str, object] = client.fetch_token(authorization_response=arrived, state=state, code_verifier=verifier)
    return token


def test_authlib_refreshes_by_itself_without_a_resource(provider: Provider) -> None:
    with authlib_client(provider) as client:
        first = authlib_connect(provider, client)
        assert client.get(INVOICES).status_code == 200
        client.token = {**first, "expires_at": int(time.time()) - 1}
        assert client.get(INVOICES).status_code == 200
        assert client.token["refresh_token"] != first["refresh_token"]
        assert client.token["access_token"] != first["access_token"]


def test_authlib_revokes(provider: Provider) -> None:
    with authlib_client(provider) as client:
        token = authlib_connect(provider, client)
        answer = client.revoke_token(f"{provider.issuer}{REVOKE}", token=token["refresh_token"])
        assert answer.status_code == 200
        assert client.get(INVOICES).status_code == 401
        with pytest.raises(OAuthError, match="invalid_grant"):
            client.refresh_token(f"{provider.issuer}{TOKEN}", refresh_token=token["refresh_token"])


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_authlib_with_a_secret(provider: Provider, method: str) -> None:
    """A client that the operator registered, before and after its secret is rotated."""
    new = NewClient(name="Till", redirect_uris=[CALLBACK], kind="secret")
    write = provider.address.instance.write
    made = write(lambda tx: own_clients.register(tx, new, audit.OPERATOR))
    with authlib_client(provider) as client:
        client.client_id, client.client_secret = made.client.id, made.secret
        client.token_endpoint_auth_method = method
        token = authlib_connect(provider, client)
        second = write(lambda tx: own_clients.rotate_secret(tx, made.client.id, HOUR, audit.OPERATOR))
        client.refresh_token(f"{provider.issuer}{TOKEN}", refresh_token=token["refresh_token"])
        client.client_secret = second.secret
        client.refresh_token(f"{provider.issuer}{TOKEN}", refresh_token=client.token["refresh_token"])
        assert client.get(INVOICES).status_code == 200
        client.client_secret = "another"
        with pytest.raises(OAuthError, match="invalid_client"):
            client.refresh_token(f"{provider.issuer}{TOKEN}", refresh_token=client.token["refresh_token"])


# -- idpyoidc


def handler_of(provider: Provider, **preference: object) -> RPHandler:
    """A relying party that finds out everything by itself and registers."""
    oidc, own = "idpyoidc.client.oidc", relying_party.__name__
    public = {"client_authn_methods": {"none": {"class": f"{own}.Public", "kwargs": {}}}}
    services = {
        "discovery": {"class": f"{oidc}.provider_info_discovery.ProviderInfoDiscovery"},
        "registration": {"class": f"{oidc}.registration.Registration"},
        "authorization": {"class": f"{oidc}.authorization.Authorization"},
        "accesstoken": {"class": f"{own}.PublicAccessToken", "kwargs": public},
        "refresh": {"class": f"{own}.PublicRefreshAccessToken", "kwargs": public},
        "userinfo": {"class": f"{oidc}.userinfo.UserInfo"},
        "end_session": {"class": f"{oidc}.end_session.EndSession"},
    }
    pkce = {"code_challenge_length": 64, "code_challenge_method": "S256"}
    configuration = {
        "issuer": provider.issuer,
        "client_type": "oidc",
        "redirect_uris": [CALLBACK],
        "preference": {"response_types_supported": ["code"], **preference},
        "add_ons": {"pkce": {"function": "idpyoidc.client.oauth2.add_on.pkce.add_support", "kwargs": pkce}},
        "services": services,
    }
    return RPHandler(
        base_url="https://app.example",
        client_configs={"books": configuration},
        keyjar=KeyJar(),  # without one it writes its keys into the folder it runs in
        httpc_params={"verify": str(provider.address.ca_file), "timeout": SECONDS},
    )


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_idpyoidc_signs_somebody_in(provider: Provider, algorithm: str) -> None:
    handler = handler_of(provider, id_token_signing_alg_values_supported=[algorithm])
    scope = ["openid", "offline_access", "accounting:read", "email"]
    url = handler.begin(issuer_id="books", req_args={"scope": scope})
    answer = provider.person.answer_to(url)
    done = handler.finalize(provider.issuer, answer)  # verifies the ID token, its nonce, and asks for the userinfo
    assert "error" not in done, done
    assert done["id_token"].jws_header["alg"] == algorithm
    assert done["id_token"]["sub"] == done["userinfo"]["sub"] == provider.firm.user_id
    assert done["userinfo"]["email"] == provider.firm.email
    assert provider.call(done["token"]).status_code == 200
    refreshed = handler.refresh_access_token(answer["state"])
    assert refreshed["access_token"] != done["token"]
    assert provider.call(refreshed["access_token"]).status_code == 200
    leaving = handler.logout(answer["state"])["url"]
    page = provider.person.browser.get(leaving, follow_redirects=True)
    assert (page.status_code, page.url.path) == (200, "/sign-out")


def test_idpyoidc_hears_of_a_refusal(provider: Provider) -> None:
    handler = handler_of(provider)
    answer = provider.person.answer_to(handler.begin(issuer_id="books"), Decision(allow=False))
    assert handler.finalize(provider.issuer, answer)["error"] == "access_denied"


# -- mcp


@dataclass
class Kept:
    """What an MCP client keeps, and in which order it got it."""

    tokens: list[OAuthToken] = field(default_factory=list)
    clients: list[OAuthClientInformationFull] = field(default_factory=list)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens[-1] if self.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens.append(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.clients[-1] if self.clients else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.clients.append(client_info)

    @property
    def scopes(self) -> set[str]:
        return set((self.tokens[-1].scope or "").split())


@dataclass
class McpClient:
    """An HTTP client with the authorization of an MCP client, and the statuses of every answer that it saw."""

    http: httpx2.AsyncClient
    auth: OAuthClientProvider
    kept: Kept
    seen: list[tuple[str, int]] = field(default_factory=list)

    def taken(self) -> list[tuple[str, int]]:
        """Path and status of the answers since the last time."""
        seen, self.seen = self.seen, []
        return seen


@asynccontextmanager
async def mcp_client(provider: Provider, kept: Kept, document: str | None = None) -> AsyncIterator[McpClient]:
    """It knows the address of the API, and nothing else."""
    arrived: list[str] = []

    async def redirect(url: str) -> None:
        arrived.append(await trio.to_thread.run_sync(provider.person.visit, url, ALLOW))

    async def callback() -> AuthorizationCodeResult:
        answer = dict(parse_qsl(urlsplit(arrived.pop()).query))
        return AuthorizationCodeResult(code=answer["code"], state=answer["state"], iss=answer["iss"])

    metadata = OAuthClientMetadata(client_name="MCP", redirect_uris=[AnyUrl(LOOPBACK)])
    auth = OAuthClientProvider(f"{provider.issuer}{INVOICES}", metadata, kept, redirect, callback, document)
    context: ssl.SSLContext = provider.address.tls
    client = McpClient(
        httpx2.AsyncClient(base_url=provider.issuer, verify=context, auth=auth, timeout=SECONDS, trust_env=False),
        auth,
        kept,
    )

    async def note(response: httpx2.Response) -> None:
        client.seen.append((response.request.url.path, response.status_code))

    client.http.event_hooks["response"] = [note]
    with trio.fail_after(SECONDS):
        async with client.http:
            yield client


async def test_mcp_goes_from_a_bare_401_to_a_call(provider: Provider) -> None:
    async with mcp_client(provider, Kept()) as client:
        assert (await client.http.get(INVOICES)).status_code == 200
        assert client.taken() == [
            (INVOICES, 401),
            ("/.well-known/oauth-protected-resource", 200),
            ("/.well-known/oauth-authorization-server", 200),
            ("/api/auth/oauth2/register", 201),
            (TOKEN, 200),
            (INVOICES, 200),
        ]
        assert client.kept.scopes == {"accounting:read", "offline_access"}
        assert client.kept.clients[0].issuer == provider.issuer


async def test_mcp_refreshes(provider: Provider) -> None:
    async with mcp_client(provider, Kept()) as client:
        await client.http.get(INVOICES)
        client.taken()
        client.auth.context.token_expiry_time = time.time() - 1
        assert (await client.http.get(INVOICES)).status_code == 200
        assert client.taken() == [(TOKEN, 200), (INVOICES, 200)]
        first, second = client.kept.tokens
        assert first.refresh_token != second.refresh_token
        assert client.kept.scopes == {"accounting:read", "offline_access"}


async def test_mcp_steps_up_on_a_403(provider: Provider) -> None:
    async with mcp_client(provider, Kept()) as client:
        await client.http.get(INVOICES)
        client.taken()
        made = await client.http.post(CLIENTS, json={"name": f"Cedar {secrets.token_hex(4)}"})
        assert made.status_code == 200, made.text
        assert client.taken() == [(CLIENTS, 403), (TOKEN, 200), (CLIENTS, 200)]
        assert client.kept.scopes == {"accounting:read", "accounting:write", "offline_access"}


async def test_mcp_goes_on_after_a_restart_without_its_person(provider: Provider) -> None:
    async with mcp_client(provider, Kept()) as client:
        await client.http.get(INVOICES)
    async with mcp_client(provider, client.kept) as again:
        assert (await again.http.get(INVOICES)).status_code == 200
        assert again.taken() == [(INVOICES, 200)]


async def test_mcp_asks_its_person_anew_when_the_grant_has_ended(provider: Provider) -> None:
    async with mcp_client(provider, Kept()) as client:
        await client.http.get(INVOICES)
        client.taken()
        client_id = client.kept.clients[0].client_id
        await trio.to_thread.run_sync(end_grants, provider, client_id)
        assert (await client.http.get(INVOICES)).status_code == 200
        paths = [path for path, _ in client.taken()]
        assert paths[0] == INVOICES
        assert paths[-2:] == [TOKEN, INVOICES]
        assert len(client.kept.clients) == 1


async def test_mcp_with_a_metadata_document_does_not_register(provider: Provider) -> None:
    document = {"client_name": "MCP", "redirect_uris": [LOOPBACK], "token_endpoint_auth_method": "none"}
    with answering({"/client.json": lambda _: document}, provider.address.authority) as origin:
        document["client_id"] = url = f"{origin}/client.json"
        async with mcp_client(provider, Kept(), url) as client:
            assert (await client.http.get(INVOICES)).status_code == 200
            assert "/api/auth/oauth2/register" not in [path for path, _ in client.taken()]
            assert client.kept.clients[0].client_id == url


def end_grants(provider: Provider, client_id: str) -> None:
    """What an operator does to a client whose people are to be asked anew."""
    provider.address.instance.write(lambda tx: grants.revoke_client(tx, client_id, "operator", audit.OPERATOR))
