"""A daemon with people who sign in, and the program on this computer that wants to be connected."""

import base64
import hashlib
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx

from gatewayd.identity import audit
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.identity.sign_in.passwords import Hasher
from gatewayd.store import WriteTx
from tests.daemon.instance import SECONDS, Firm, Instance, Running

PASSWORD = "correct horse battery"
HASHED = Hasher().hash(PASSWORD)
SCOPE = "openid accounting:read accounting:write offline_access"
CALLBACK, LEADING_ON = "/callback", "/leading-on"
"""Where the program receives the answer; the second leads to a page elsewhere."""
LANDED = b'<!doctype html><html lang="en"><title>Landed</title><link rel="icon" href="data:,"><h1>Landed</h1></html>'


def free_port() -> int:
    """A port that nobody had a moment ago: the public address must name it before the daemon listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


@dataclass(frozen=True)
class Place:
    """A daemon at `http://localhost`, where browsers allow passkeys without TLS."""

    instance: Instance
    running: Running
    url: str
    firm: Firm

    def person(self, name: str = "Ann Oak") -> str:
        """Somebody of the firm who signs in with `PASSWORD`; answers the address."""
        email = f"{name.partition(' ')[0].lower()}-{secrets.token_hex(4)}@example.com"

        def work(tx: WriteTx) -> str:
            new = users.NewUser(email=email, name=name, password_hash=HASHED)
            user = users.create(tx, new, audit.OPERATOR)
            memberships.add(tx, user.id, "admin", audit.OPERATOR)
            return user.id

        self.instance.write(work, self.firm.org_id)
        return email

    def let_into(self, email: str, *names: str) -> None:
        """Make organizations of these names, with this person among their administrators."""
        user = self.instance.read(lambda tx: users.find(tx, email))
        assert user is not None
        for name in names:
            org_id = self.instance.write(lambda tx, name=name: organizations.create(tx, name, audit.OPERATOR)).id
            self.instance.write(lambda tx: memberships.add(tx, user.id, "admin", audit.OPERATOR), org_id)


class _Landing(BaseHTTPRequestHandler):
    landed: "Queue[str]"
    server: ThreadingHTTPServer

    def do_GET(self) -> None:
        self.landed.put(self.path)
        if self.path.startswith(LEADING_ON):
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_port}/made")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(LANDED)))
        self.end_headers()
        self.wfile.write(LANDED)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Says nothing."""


@dataclass
class App:
    """A program on this computer: a registered client with a loopback receiver."""

    url: str
    http: httpx.Client
    landed: "Queue[str]"
    redirect_uri: str
    client_id: str = ""
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    state: str = field(default_factory=secrets.token_urlsafe)

    def register(self, name: str = "Sprout") -> None:
        document = {
            "client_name": name,
            "redirect_uris": [f"http://127.0.0.1{CALLBACK}", f"http://127.0.0.1{LEADING_ON}"],
        }
        answer = self.http.post("/api/auth/oauth2/register", json=document)
        assert answer.status_code == 201, answer.text
        self.client_id = answer.json()["client_id"]

    def address(self, scope: str = SCOPE, **more: str) -> str:
        """Where it sends the browser."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": scope,
            "resource": self.url,
            "state": self.state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            **more,
        }
        return f"{self.url}/api/auth/oauth2/authorize?{urlencode(query)}"

    def answer(self) -> dict[str, str]:
        """What the browser brought back."""
        return dict(parse_qsl(urlsplit(self.landed.get(timeout=SECONDS)).query))

    def token(self, **form: str) -> dict[str, Any]:
        sent = {"client_id": self.client_id, "resource": self.url, **form}
        answer = self.http.post("/api/auth/oauth2/token", data=sent)
        assert answer.status_code == 200, answer.text
        tokens: dict[str, Any] = answer.json()
        return tokens

    def redeem(self, code: str) -> dict[str, Any]:
        return self.token(
            grant_type="authorization_code", code=code, redirect_uri=self.redirect_uri, code_verifier=self.verifier
        )

    def call(self, token: str, method: str = "GET", path: str = "/api/rpc/clients") -> int:
        """The status of a call of the API."""
        body = {"name": "Birch Ltd"} if method == "POST" else None
        return self.http.request(method, path, headers={"Authorization": f"Bearer {token}"}, json=body).status_code


@contextmanager
def listening(place: Place) -> Iterator[App]:
    """The program, registered and with its receiver open."""
    landed: Queue[str] = Queue()
    handler = type("Landing", (_Landing,), {"landed": landed})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        app = App(place.url, place.running.client, landed, f"http://127.0.0.1:{server.server_port}{CALLBACK}")
        app.register()
        try:
            yield app
        finally:
            server.shutdown()
            thread.join(SECONDS)
