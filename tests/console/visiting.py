"""A site with two people, and browsers that visit it: every answer is looked at as it comes."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pyotp
import trio
from jinja2.bccache import Bucket, BytecodeCache

from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.clock import SECOND, SettableClock
from gatewayd.console.app import create
from gatewayd.console.browser import FORM_TYPE
from gatewayd.console.parts import ConsoleParts
from gatewayd.identity.clients import client_metadata, oauth_clients
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.clients.oauth_parameters import Audiences
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.identity.sign_in import second_factors
from gatewayd.identity.sign_in.passwords import Passwords
from gatewayd.identity.sign_in.sign_in import SignIn
from gatewayd.identity.sign_in.throttling import Limits
from gatewayd.identity.tokens import authorizations
from gatewayd.mail.notices import Mailing
from gatewayd.papers.public import PublicPapers
from gatewayd.performing.admission import Gate
from gatewayd.performing.file_places import FilePlaces
from gatewayd.performing.performer import Performer
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.store import Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.files.at_place import blobs_at, partials_at
from gatewayd.store.files.incoming_files import incoming_folder
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from gatewayd.tax.settings import TaxSettings
from gatewayd.vault_files.receiving import Receiving
from tests.console.instances import Told
from tests.console.reading import Document, fields_of
from tests.support.consents import CHALLENGE, REDIRECT, SCOPE
from tests.support.passwords import quick_hasher
from tests.support.rows import CATALOGUE
from tests.support.scopes import request_of
from tests.support.store import START

ISSUER = "https://books.example"
MCP = "https://mcp.example/mcp"
"""A service beside the API that tokens may be for."""
EMAIL, PASSWORD, NAME = "ann@example.com", "correct horse battery", "Ann Oak"
ATTEMPTS = 3
FILE_MOST = 1_000_000
"""Bytes of a file."""
SECONDS = 120.0  # nothing is measured with it
PASSWORD_HASH = quick_hasher().hash(PASSWORD)
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)


BOUNDARY = "----WebKitFormBoundaryNo1"


def form_with_file(fields: Sequence[tuple[str, str]], name: str, content: bytes, field: str = "file") -> bytes:
    """A form as a browser sends it that holds a file."""
    there = [(key, text) for key, text in fields if key != field]
    parts = [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{t}\r\n' for k, t in there]
    quoted = name.replace('"', "%22")
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"; filename="{quoted}"\r\n'
    head += "Content-Type: application/octet-stream\r\n\r\n"
    return "".join([*parts, head]).encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


class CompiledTemplates(BytecodeCache):
    """What Jinja made of the templates, which each application would compile anew."""

    def __init__(self) -> None:
        self._by_key: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._by_key:
            bucket.bytecode_from_string(self._by_key[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._by_key[bucket.key] = bucket.bytecode_to_string()


COMPILED_TEMPLATES = CompiledTemplates()


@dataclass
class Written:
    """A log in memory. What was logged as an error fails the test unless it took it out."""

    told: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    errors: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def debug(self, event: str, **values: object) -> None:
        """Nothing is told."""

    warning = debug

    def info(self, event: str, **values: object) -> None:
        self.told.append((event, values))

    def error(self, event: str, **values: object) -> None:
        self.errors.append((event, values))


@dataclass(frozen=True)
class Answer:
    """One answer, which had every header that it must have."""

    status: int
    headers: Any
    body: bytes

    @property
    def page(self) -> Document:
        assert self.headers["Content-Type"] == "text/html; charset=utf-8", self.headers
        return Document(self.body.decode())

    @property
    def location(self) -> str:
        assert self.status == 303, self.body.decode()
        return str(self.headers["Location"])

    @property
    def sent_back(self) -> dict[str, str]:
        """The parameters of the address that the browser is sent to."""
        return dict(parse_qsl(urlsplit(self.location).query))


class Browser:
    """One browser with its cookies."""

    def __init__(self, site: "Site") -> None:
        self._site = site
        self._client = site.app.test_client()

    async def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        return await self._ask(method, path, None, headers)

    async def post(self, path: str, form: Mapping[str, str] | Sequence[tuple[str, str]] = (), **headers: str) -> Answer:
        body = urlencode(list(form.items() if isinstance(form, Mapping) else form)).encode()
        return await self._ask("POST", path, body, {"Content-Type": FORM_TYPE, **headers})

    async def submit(self, page: Document, action: str, **values: str | list[str]) -> Answer:
        """Post a form of the page as a browser would, with these fields filled in."""
        sent = [(name, text) for name, text in fields_of(page.form(action)) if name not in values]
        for name, text in values.items():
            sent += [(name, each) for each in ([text] if isinstance(text, str) else text)]
        return await self.post(action, sent, Origin=ISSUER)

    async def send_file(
        self, page: Document, action: str, name: str, content: bytes, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Post the form of the page that holds a file as a browser would, with this one chosen."""
        body = form_with_file(fields_of(page.form(action)), name, content)
        return await self.post_parts(action, body, Origin=ISSUER, **(headers or {}))

    async def post_parts(self, action: str, body: bytes, **headers: str) -> Answer:
        """Post a body of several parts."""
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        return await self._ask("POST", action, body, {"Content-Type": kind, **headers})

    async def follow(self, answer: Answer) -> Answer:
        """Go where it leads; the address is a page of the site."""
        assert answer.location.startswith("/"), answer.location
        return await self.get(answer.location)

    async def open(self, path: str) -> Document:
        """A page that is there."""
        answer = await self.get(path)
        assert answer.status == 200, (answer.status, answer.headers)
        return answer.page

    async def sign_in(self, password: str = PASSWORD, email: str = EMAIL, next_path: str = "/") -> Answer:
        page = await self.open(f"/sign-in?again=1&{urlencode({'next': next_path})}")
        return await self.submit(page, "/sign-in", email=email, password=password)

    async def ask_unseen(self, path: str) -> None:
        """Get a page and look at nothing: what it costs alone."""
        given: dict[str, object] = {"request": request_of("GET", path)}
        response = await self._client.open(path, scheme="https", scope_base=given)
        await response.get_data(as_text=False)

    @property
    def cookies(self) -> dict[str, str]:
        return {cookie.name: cookie.value or "" for cookie in self._client.cookie_jar or ()}

    async def _ask(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        with trio.fail_after(SECONDS):
            self.request = request_of(method, path)
            given: dict[str, object] = {"request": self.request}
            response = await self._client.open(
                path, method=method, headers=fields, data=body, scheme="https", scope_base=given
            )
            answer = Answer(response.status_code, response.headers, await response.get_data(as_text=False))
        check(answer, path)
        return answer


def check(answer: Answer, path: str) -> None:
    """What holds for every answer: its headers, its cookies, and its HTML."""
    headers = answer.headers
    assert headers["Content-Security-Policy"].startswith(POLICY)
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    private = ("same-origin", "no-referrer") if path.startswith("/i/") else ("same-origin",)
    assert headers["Referrer-Policy"] in private
    assert headers["X-Request-Id"].startswith("req_")
    assert len(headers.getlist("Cache-Control")) == 1
    static = path.startswith("/static/") and answer.status < 400
    assert (headers["Cache-Control"] == "no-store") is not static
    for cookie in headers.getlist("Set-Cookie"):
        assert not static
        name, *parts = cookie.split("; ")
        assert name.startswith("__Host-")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(parts), cookie
        assert not any(part.startswith("Domain") for part in parts)
    if answer.body and not static and headers["Content-Type"].startswith("text/html"):
        page = Document(answer.body.decode())
        assert page.faults == [], (path, page.faults)


@dataclass(eq=False)
class Site:
    """The pages over a store of their own, with Ann, who owns one organization and is a member of a second."""

    app: Any
    store: Store
    clock: SettableClock
    log: Written
    told: Told
    directory: Path
    user_id: str = ""
    org_id: str = ""

    def browser(self) -> Browser:
        return Browser(self)

    async def signed_in(self, email: str = EMAIL) -> Browser:
        browser = self.browser()
        assert (await browser.sign_in(email=email)).location == "/"
        return browser

    async def add_user(
        self, email: str, org_id: str | None = None, password_hash: str | None = PASSWORD_HASH, admin: bool = False
    ) -> str:
        """Another person; without `org_id` of no organization. `admin` is of the instance."""

        def work(tx: WriteTx) -> str:
            new = users.NewUser(email=email, name=NAME, password_hash=password_hash, instance_admin=admin)
            user = users.create(tx, new, "operator")
            if org_id is not None:
                memberships.add(tx, user.id, "member", "operator")
            return user.id

        return await self.store.write(work, org_id)

    async def add_org(self, name: str, member: str) -> str:
        """One more organization of somebody."""
        org_id = (await self.store.write(lambda tx: organizations.create(tx, name, "operator"))).id
        await self.store.write(lambda tx: memberships.add(tx, member, "owner", "operator"), org_id)
        return org_id

    async def second_factor(self) -> tuple[str, list[str]]:
        """Turn Ann's on; answers the secret and the recovery codes."""
        secret = await self.store.write(lambda tx: second_factors.propose(tx, self.user_id))
        codes = await self.store.write(lambda tx: second_factors.confirm(tx, self.user_id, self.code(secret)))
        assert codes is not None
        self.clock.advance(31 * SECOND)
        return secret, codes

    def code(self, secret: str) -> str:
        """What the app shows now."""
        return pyotp.TOTP(secret).generate_otp(self.clock.now() // SECOND // 30)

    async def register(self, *redirect_uris: str, name: str = "Sprout", **more: object) -> Client:
        raw = {"client_name": name, "redirect_uris": list(redirect_uris or (REDIRECT,)), **more}
        return await self.store.write(lambda tx: oauth_clients.register(tx, client_metadata.validate(raw)))

    async def ask(self, client: Client | None = None, **changes: str) -> str:
        """A client's request, as the endpoint keeps it; answers its handle."""
        client = client or await self.register()
        values = {
            "response_type": "code",
            "redirect_uri": client.metadata.redirect_uris[0],
            "scope": SCOPE,
            "state": "s/1 &",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            **changes,
        }
        parameters = authorizations.check(client, parse_qs(urlencode(values)), Audiences(ISSUER, (MCP,)))
        return await self.store.write(lambda tx: authorizations.save(tx, parameters, pushed=False))


@asynccontextmanager
async def open_site(
    directory: Path,
    image: bytes,
    tax: TaxSettings | None = None,
    deps: Any = None,
    mailing: Mailing | None = None,
    papers: Callable[[Store], PublicPapers] | None = None,
) -> AsyncIterator[Site]:
    """The pages, as people reach them by https. `tax` None: a server without taxes; `deps`: what operations take.

    `mailing` None: one that sends no mail; `papers` makes what links of papers show, None: they show none.
    """
    (directory / DATABASE_NAME).write_bytes(image)
    clock, log = SettableClock(START), Written()
    async with open_store(StoreSettings(directory=directory), clock) as store:
        passwords, told = Passwords(quick_hasher()), Told(store)
        parts = ConsoleParts(
            store=store,
            sign_in=SignIn(store, passwords, Limits(ATTEMPTS)),
            passwords=passwords,
            issuer=ISSUER,
            tax=tax or TaxSettings(),
            mailing=mailing,
            papers=None if papers is None else papers(store),
            clock=clock,
            log=log,
            operations=CATALOGUE.operations,
            performer=Performer(store, deps),
            gate=Gate(RateLimits(0, 100)),
            instance=told.daemon,
            file_places=FilePlaces(folder=incoming_folder(directory), max_bytes={"vault": FILE_MOST}),
            receiving=Receiving(store, blobs_at(store.place), partials_at(store.place), Settings(ISSUER, FILE_MOST)),
        )
        site = Site(create(parts), store, clock, log, told, directory)
        site.app.jinja_env.bytecode_cache = COMPILED_TEMPLATES
        site.user_id = await site.add_user(EMAIL)
        site.org_id = await site.add_org("Oak & Son", site.user_id)
        yield site
        assert log.errors == [], log.errors
