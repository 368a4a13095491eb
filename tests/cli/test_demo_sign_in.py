"""The demo's app believes nothing: whatever a provider does wrong on the way ends the play."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import trio

from gatewayd.cli.demo.firm import Firm, Person
from gatewayd.cli.demo.http import DemoFailed, HttpClient
from gatewayd.cli.demo.sign_in import CALLBACK, INVOICES, METADATA, AppConnection

SECONDS = 120
PEOPLE = (Person("ann@oak.example", "Ann Oak", "owner"),)
FIRM = Firm(
    *("org_1", "Oak & Son", "key_1", "k", "ent_1", "biz_1", "cli_1", "cli_2", "ent_2", "biz_2", "Ann Oak", PEOPLE),
    *("org_2", "Fern", "k_2"),
)

Fields = Mapping[str, str]
SiteResponse = tuple[int, Mapping[str, str], str]
Page = Callable[[Fields], SiteResponse]


def shown(body: object) -> SiteResponse:
    return 200, {}, body if isinstance(body, str) else json.dumps(body)


def redirect(address: str, **headers: str) -> SiteResponse:
    return 303, {"Location": address, **headers}, ""


def form(path: str, inside: str = "") -> SiteResponse:
    other = '<form action="/elsewhere"><input name="other" value="x"></form>'
    return shown(
        f'{other}<form method="post" action="{path}"><input type="hidden" name="csrf" value="c">{inside}</form>'
    )


class Site:
    """A provider of a few lines that does everything right; a test changes what it is about."""

    def __init__(self) -> None:
        self.origin = ""
        self.asked: Fields = {}
        self.issued = 0
        self.pages: dict[tuple[str, str], Page] = {
            ("GET", METADATA): lambda _: shown(
                {
                    "issuer": self.origin,
                    "registration_endpoint": f"{self.origin}/register",
                    "authorization_endpoint": f"{self.origin}/authorize",
                    "token_endpoint": f"{self.origin}/token",
                }
            ),
            ("POST", "/register"): lambda _: (201, {}, '{"client_id": "app_1"}'),
            ("GET", "/authorize"): self.authorize,
            ("GET", "/sign-in"): lambda _: form("/sign-in", '<input name="email" value=""><input name="password">'),
            ("POST", "/sign-in"): self.sign_in,
            ("GET", "/oauth/choose"): self.choose,
            ("POST", "/oauth/choose"): lambda _: redirect("/oauth/consent"),
            ("GET", "/oauth/consent"): lambda _: form(
                "/oauth/consent",
                '<input type="checkbox" name="scope" value="a" checked><input type="checkbox" name="scope" value="b">'
                '<button name="decision" value="allow"><button name="decision" value="deny">',
            ),
            ("POST", "/oauth/consent"): self.decide,
            ("POST", "/token"): self.token,
            ("GET", INVOICES): lambda _: shown({"data": [1, 2, 3]}),
            ("POST", INVOICES): lambda _: (403, {}, "{}"),
        }

    def authorize(self, fields: Fields) -> SiteResponse:
        self.asked = fields
        return redirect("/sign-in?next=%2Foauth%2Fchoose")

    def sign_in(self, fields: Fields) -> SiteResponse:
        assert fields == {"csrf": "c", "email": "ann@oak.example", "password": "right"}
        return redirect("/oauth/choose", **{"Set-Cookie": "session=ann; HttpOnly; Path=/; SameSite=Lax"})

    def choose(self, fields: Fields) -> SiteResponse:
        assert fields["cookie"] == "session=ann"
        return form("/oauth/choose")

    def decide(self, fields: Fields) -> SiteResponse:
        assert {name: fields[name] for name in ("csrf", "scope", "decision")} == {
            "csrf": "c",
            "scope": "a",
            "decision": "allow",
        }
        return redirect(f"{CALLBACK}?code=c0de&state={self.asked['state']}&iss={self.origin}")

    def token(self, fields: Fields) -> SiteResponse:
        self.issued += 1
        return shown({"access_token": f"a{self.issued}", "refresh_token": "r", "expires_in": 60})


@contextmanager
def serving(site: Site) -> Iterator[None]:
    """The site on loopback for the length of the block. What its pages assert is raised at the end."""
    failed: list[BaseException] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(urlsplit(self.path).query)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer("" if self.headers["Content-Type"] == "application/json" else body)

        def _answer(self, fields: str) -> None:
            cookie = {"cookie": self.headers["Cookie"]} if self.command == "GET" and self.headers["Cookie"] else {}
            try:
                page = site.pages[self.command, urlsplit(self.path).path]
                status, headers, body = page({**dict(parse_qsl(fields, keep_blank_values=True)), **cookie})
            except (AssertionError, KeyError) as error:
                failed.append(error)
                status, headers, body = 500, {}, ""
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.origin = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join(SECONDS)
    assert failed == []


async def connect(site: Site) -> list[str]:
    """What the app says on its way."""
    said: list[str] = []
    with serving(site), trio.fail_after(SECONDS):
        await AppConnection(site.origin, FIRM, "right", said.append).run()
    return said


async def test_it_goes_the_whole_way() -> None:
    said = await connect(Site())
    assert said[0] == "2. An app, Cash Calendar, registers itself as an OAuth client: app_1"
    assert "reads 3 invoices" in said[2]
    assert said[-1].endswith("as good.")


def answering(told: SiteResponse) -> Page:
    return lambda fields: told


FAULTS: list[tuple[tuple[str, str], Page, str]] = [
    (("GET", METADATA), answering((404, {}, "")), "GET /.well-known/oauth-authorization-server answered 404"),
    (("GET", METADATA), answering(shown("<html>")), "no JSON object"),
    (("POST", "/register"), answering(shown({"client_id": "app_1"})), "POST /register answered 200, not 201"),
    (("GET", "/authorize"), answering((400, {}, "no")), "GET /authorize answered 400"),
    (("GET", "/sign-in"), answering(shown("<p>closed</p>")), "no form to answer on /sign-in"),
    (("POST", "/sign-in"), answering((422, {}, "wrong")), "POST /sign-in answered 422"),
    (("POST", "/sign-in"), answering(redirect("/sign-in")), "lead nowhere: /sign-in"),
    (("POST", "/sign-in"), answering(redirect("/oauth/consent")), "did not lead through /oauth/choose"),
    (("POST", "/oauth/consent"), answering(redirect(f"{CALLBACK}?error=access_denied")), "no.* code: access_denied"),
    (("POST", "/oauth/consent"), answering(redirect("https://evil.example/?code=x")), "not answered with a code"),
    (("POST", "/oauth/consent"), answering(redirect(f"{CALLBACK}?code=x&state=y&iss=z")), "by somebody else"),
    (("POST", "/token"), answering((400, {}, "{}")), "POST /token answered 400"),
    (("POST", "/token"), answering(shown({"access_token": "a"})), "no tokens that last"),
    (
        ("POST", "/token"),
        answering(shown({"access_token": "a", "refresh_token": "r", "expires_in": 60})),
        "not as good as the first",
    ),
    (("GET", INVOICES), answering((401, {}, "{}")), f"GET {INVOICES} answered 401"),
    (("POST", INVOICES), answering(shown({})), f"POST {INVOICES} answered 200, not 403"),
]


@pytest.mark.parametrize(("place", "page", "told"), FAULTS, ids=[told for *_, told in FAULTS])
async def test_a_step_that_goes_wrong_ends_it(place: tuple[str, str], page: Page, told: str) -> None:
    site = Site()
    site.pages[place] = page
    with pytest.raises(DemoFailed, match=told):
        await connect(site)


async def test_nobody_there_is_told_without_the_query() -> None:
    site = Site()
    with serving(site):
        origin = site.origin
    with trio.fail_after(SECONDS), pytest.raises(DemoFailed, match=r"GET /x: .*refused") as failed:
        await HttpClient().get(f"{origin}/x?code=s3cret")
    assert "s3cret" not in str(failed.value)
