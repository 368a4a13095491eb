"""The running daemon as an identity provider, over TLS at an address that stays, with somebody to sign in."""

import base64
import hashlib
import secrets
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import trustme

from gatewayd.identity import audit
from gatewayd.identity.sign_in import password_resets
from gatewayd.identity.sign_in.passwords import Hasher
from tests.clients.person import Person
from tests.daemon.hooks import make_authority, webhook_settings
from tests.daemon.instance import SECONDS, Firm, Instance, Running, serving

PASSWORD = "a-long-and-quiet-evening"
NO_LIMIT = "[limits]\nrequests_per_minute = 0\n"
TLS = 'tls_certificate = "door.pem"\ntls_key = "door.pem"'

INVOICES, CLIENTS = "/api/rpc/invoices", "/api/rpc/clients"
CALLBACK = "https://app.example/callback"
AUTHORIZE, TOKEN = "/api/auth/oauth2/authorize", "/api/auth/oauth2/token"
REGISTER, REVOKE = "/api/auth/oauth2/register", "/api/auth/oauth2/revoke"
USERINFO, JWKS = "/api/auth/oauth2/userinfo", "/api/auth/jwks"


@dataclass
class Address:
    """An instance that was given a listening socket: it is found at the same place after a restart."""

    instance: Instance
    issuer: str
    authority: trustme.CA
    ca_file: Path
    listener: socket.socket

    @property
    def tls(self) -> ssl.SSLContext:
        """What trusts its certificate, and nothing else."""
        return ssl.create_default_context(cafile=str(self.ca_file))

    @contextmanager
    def serving(self) -> Iterator[Running]:
        """Run the daemon for the length of the block."""
        with serving(self.instance, descriptors=(self.listener.fileno(),)) as running:
            yield running
            assert running.end() == 0


@contextmanager
def reserved(directory: Path, host: str = "127.0.0.1") -> Iterator[Address]:
    """An instance whose daemon does not run yet. Passkeys want a `host` with a name."""
    authority, ca_file = make_authority(directory)
    authority.issue_cert(host).private_key_and_cert_chain_pem.write_to_path(directory / "door.pem")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        issuer = f"https://{host}:{listener.getsockname()[1]}"
        server = f'{TLS}\npublic_url = "{issuer}"'
        settings = NO_LIMIT + webhook_settings(ca_file)  # documents of clients are fetched as deliveries are sent
        instance = Instance(directory, settings, f'["fd://{listener.fileno()}"]', server)
        yield Address(instance, issuer, authority, ca_file, listener)


def add_password(instance: Instance, firm: Firm) -> None:
    """Let the firm's owner sign in."""
    hashed = Hasher().hash(PASSWORD)
    instance.write(lambda tx: password_resets.reset(tx, firm.user_id, hashed, audit.OPERATOR))


@dataclass
class Provider:
    """The daemon, one firm, and its owner in front of a browser. `api` is a program without cookies."""

    address: Address
    firm: Firm
    person: Person
    api: httpx.Client

    @property
    def issuer(self) -> str:
        return self.address.issuer

    @property
    def given(self) -> dict[str, str]:
        """What programs beside the tests are told."""
        return {"issuer": self.issuer, "ca": str(self.address.ca_file)}

    def register(self, *redirects: str, **metadata: object) -> dict[str, Any]:
        """Register a client; answers what the daemon answers."""
        asked = {"client_name": "Ledger Sync", "redirect_uris": redirects or [CALLBACK], **metadata}
        response = self.api.post(REGISTER, json=asked)
        assert response.status_code == 201, response.text
        registered: dict[str, Any] = response.json()
        return registered

    def asking(self, client_id: str, verifier: str, **changed: str | None) -> str:
        """The address that an app sends the browser to. None takes a parameter away."""
        digest = hashlib.sha256(verifier.encode()).digest()
        parameters = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": CALLBACK,
            "scope": "accounting:read offline_access",
            "resource": self.issuer,
            "state": "s-1",
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            **changed,
        }
        query = urlencode({name: value for name, value in parameters.items() if value is not None})
        return f"{self.issuer}{AUTHORIZE}?{query}"

    def redeem(self, client_id: str, code: str, verifier: str, **changed: str | None) -> httpx.Response:
        """A code at the token endpoint."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "client_id": client_id,
            "code_verifier": verifier,
            "resource": self.issuer,
            **changed,
        }
        return self.token(form)

    def token(self, form: Mapping[str, str | None]) -> httpx.Response:
        """The token endpoint. None takes a field away."""
        return self.api.post(TOKEN, data={name: value for name, value in form.items() if value is not None})

    def connect(self, client_id: str, **asked: str | None) -> dict[str, Any]:
        """The whole way from request to tokens."""
        verifier = secrets.token_urlsafe(32)
        answer = self.person.answer_to(self.asking(client_id, verifier, **asked))
        assert "code" in answer, answer
        at = {"redirect_uri": asked["redirect_uri"]} if "redirect_uri" in asked else {}
        response = self.redeem(client_id, answer["code"], verifier, **at)
        assert response.status_code == 200, response.text
        tokens: dict[str, Any] = response.json()
        return tokens

    def call(self, token: str, path: str = INVOICES) -> httpx.Response:
        """A request of the API."""
        return self.api.get(path, headers={"Authorization": f"Bearer {token}"})


@contextmanager
def provided(address: Address, firm: Firm) -> Iterator[Provider]:
    """Somebody in front of an instance that serves."""
    with (
        Person(address.issuer, firm.email, PASSWORD, address.tls) as person,
        httpx.Client(base_url=address.issuer, verify=address.tls, timeout=SECONDS, trust_env=False) as api,
    ):
        yield Provider(address, firm, person, api)


@contextmanager
def opened(directory: Path, host: str = "127.0.0.1") -> Iterator[Provider]:
    """A daemon with one firm, for the length of the block."""
    with reserved(directory, host) as address:
        firm = address.instance.firm()
        add_password(address.instance, firm)
        with address.serving(), provided(address, firm) as provider:
            yield provider
