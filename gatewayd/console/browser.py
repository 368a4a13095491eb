"""Cookies, forms and headers: what keeps a page and its visitor together, and everybody else out.

Every form carries a value derived from a cookie that no other site can read or set (`__Host-` under https, SameSite
Lax). The session cookie holds a random token; before there is a session, a passing token takes its place.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, cast
from urllib.parse import quote, urlsplit

from quart import Response, current_app, g, request
from werkzeug.exceptions import BadRequest, Forbidden, NotFound, UnsupportedMediaType

from gatewayd.clock import MINUTE, SECOND, Clock
from gatewayd.console.addresses import (
    ACCESS,
    ACCOUNT,
    ADMIN_CLIENTS,
    ADMIN_ORGANIZATIONS,
    ADMIN_PEOPLE,
    ADMIN_TAX,
    APPS,
    CHOOSE,
    KEYS,
    PAPERS,
    SIGN_IN,
    SIGN_OUT,
    TAX,
    is_page,
)
from gatewayd.console.components.shapes import Tone
from gatewayd.console.file_forms import form_with_file, read_fields, takes_files
from gatewayd.console.flashes import FLASH_SECONDS, Flash, kept_flashes, sealed_flashes
from gatewayd.console.parts import ConsoleParts, Visit
from gatewayd.contract.caller import Role
from gatewayd.errors import Problem
from gatewayd.http1.asgi import HttpScope
from gatewayd.http1.redirects import location
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.identity.people.organizations import Organization
from gatewayd.identity.people.users import User
from gatewayd.identity.random_tokens import make_token
from gatewayd.identity.sign_in import known_devices, sessions
from gatewayd.identity.sign_in.sessions import Session, Visitor
from gatewayd.store import ReadTx, StoreFailure

FORM_BYTES: Final = 256 * 1024  # Chosen: an invoice of 200 lines
FORM_TYPE: Final = "application/x-www-form-urlencoded"
CSRF_FIELD: Final = "csrf"
UPLOAD_FIELD: Final = "X-Upload"
"""A header field that the script sends which uploads a file; what sends a form has none."""
HANDLE_FIELD: Final = "request"
RECENT: Final = 15 * MINUTE  # Chosen
STATIC: Final = "static"
"""Quart's name for the files that are the same for everybody."""
ORGANIZATION_FIELD: Final = "organization"
"""Of a form, or of an address: for which organization it is."""
_WITH_FORMS: Final = (ACCESS, ACCOUNT, APPS, KEYS, TAX, ADMIN_CLIENTS, ADMIN_ORGANIZATIONS, ADMIN_PEOPLE, ADMIN_TAX)
"""Pages to which somebody goes back who sent a form of theirs, or of a page below them."""
_SESSION, _PASSING, _HALF, _DEVICE = "session", "visit", "half", "device"
_ORGANIZATION, _FLASHES = "organization", "flashes"
_CONTENT_SECURITY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'self'{targets}{more}"
)
_OUT_OF_DATE = (
    "This page was out of date: in another tab you have signed in or out since. Nothing was changed. "
    "If it happens again, allow cookies for this site."
)


class Browser:
    """The visitor's browser, as one console sees it."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._parts = parts
        self._prefix = "__Host-" if parts.secure else ""

    # -- who is there

    async def open(self) -> None:
        """Before a page: who is there.

        Raises `Forbidden` for a form of another site or of another session, `UnsupportedMediaType` for what is no form,
        and `SignInNeeded` for a form whose session has ended.
        """
        received = cast(HttpScope, request.scope)["request"]
        g.request_id = received.id
        if request.endpoint == STATIC:  # kept by caches: it knows nobody
            return
        visit = await self._visit()
        g.visit = visit
        received.admitted = visit.session is not None
        if request.method == "POST":
            await _read_form()
        await self._choose_organization(visit)
        if request.method != "POST":
            return
        form_token = (await request.form).get(CSRF_FIELD, "")
        if not _same_origin(self._parts.issuer):
            raise Forbidden("This form came from another site.")
        if sessions.csrf_ok(visit.token, form_token):
            return
        if visit.session is None and not request.path.startswith((SIGN_IN, f"{PAPERS}/")):
            raise SignInNeeded
        raise Forbidden(_OUT_OF_DATE)

    async def _choose_organization(self, visit: Visit) -> None:
        """Which one the pages are of: the form's or the address's, the one that was chosen last, or the first."""
        if not visit.belongs:
            return
        named = (await request.form if request.method == "POST" else request.args).get(ORGANIZATION_FIELD)
        wanted = named or request.cookies.get(self._prefix + _ORGANIZATION)
        first, _ = visit.belongs[0]
        visit.chosen = next((each for each, _ in visit.belongs if each.id == wanted), None if named else first)

    async def _visit(self) -> Visit:
        token = request.cookies.get(self._prefix + _SESSION)
        if token:
            visitor = await self._parts.store.read(lambda tx: _signed_in_by(tx, token))
            if visitor is not None:
                await self._touch(visitor.session)
                return Visit(token, visitor.session, visitor.user, visitor.belongs)
        return Visit(request.cookies.get(self._prefix + _PASSING) or make_token())

    async def _touch(self, session: Session) -> None:
        if not sessions.needs_touch(session, self._parts.clock.now()):
            return
        try:
            await self._parts.store.write(lambda tx: sessions.touch(tx, session))
        except StoreFailure as error:  # a full disk keeps nobody from looking
            self._parts.log.error("visit_not_recorded", exc_info=error)

    def visitor(self) -> Visitor:
        """The browser as it shows itself."""
        client = request.scope.get("client")
        return Visitor(
            user_agent=request.headers.get("User-Agent", ""),
            address=client[0] if client else "",
            device=request.cookies.get(self._prefix + _DEVICE, ""),
        )

    def close(self, response: Response) -> Response:
        """After a page: the headers that every one has, and the passing cookie where there is no session."""
        targets = getattr(g, "form_targets", "")
        response.headers["Content-Security-Policy"] = _CONTENT_SECURITY.format(
            targets=targets, more=getattr(g, "more_policy", "")
        )
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = getattr(g, "referrer_policy", "same-origin")
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        response.headers["X-Request-Id"] = g.request_id
        if request.endpoint != STATIC or response.status_code >= 400:
            response.headers["Cache-Control"] = "no-store"
        if response.status_code == 303 and UPLOAD_FIELD in request.headers:
            response.status_code = 200  # whose Location a script reads: it would follow, and see what is said there
        visit: Visit | None = getattr(g, "visit", None)
        if visit is not None:
            self._keep_flashes(response, visit.token)
        if visit is not None and visit.session is None and not request.cookies.get(self._prefix + _PASSING):
            self._set(response, _PASSING, visit.token, None)
        return response

    # -- what is said once

    def flashes(self) -> list[Flash]:
        """What was said by pages before this one, and by this one: it is shown now, and not again."""
        g.flashes_shown = True
        return [*kept_flashes(request.cookies.get(self._prefix + _FLASHES, ""), visit().token), *_flashed()]

    def _keep_flashes(self, response: Response, token: str) -> None:
        """What this page says and does not show is for the next one."""
        before = request.cookies.get(self._prefix + _FLASHES, "")
        if getattr(g, "flashes_shown", False):
            if before:
                self._drop(response, _FLASHES)
        elif said := _flashed():
            sealed = sealed_flashes([*kept_flashes(before, token), *said], token)
            self._set(response, _FLASHES, sealed, FLASH_SECONDS)

    # -- cookies

    def remember(self, response: Response, token: str) -> None:
        """Give the browser its session; what this page says next is for that one."""
        visit().token = token
        self._set(response, _SESSION, token, sessions.LIFETIME // SECOND)
        self._drop(response, _HALF)

    def remember_device(self, response: Response, device: str) -> None:
        """Let the browser be known here, also after it has signed out."""
        self._set(response, _DEVICE, device, known_devices.LIFETIME // SECOND)

    def remember_organization(self, response: Response, org_id: str) -> None:
        """Let the pages be of this organization, as long as the session may last."""
        self._set(response, _ORGANIZATION, org_id, sessions.LIFETIME // SECOND)

    def remember_half(self, response: Response, half: str) -> None:
        """The password was right: what the page for the code brings back."""
        self._set(response, _HALF, half, None)

    def half(self) -> str:
        """What `remember_half` was given; empty where there is none."""
        return request.cookies.get(self._prefix + _HALF, "")

    def forget(self, response: Response) -> None:
        """Take the session back; what this page says next is for whoever is there without it."""
        there = visit()
        there.token, there.session = request.cookies.get(self._prefix + _PASSING) or make_token(), None
        self._drop(response, _SESSION)
        self._drop(response, _HALF)

    def _set(self, response: Response, name: str, value: str, seconds: int | None) -> None:
        response.set_cookie(
            self._prefix + name, value, max_age=seconds, secure=self._parts.secure, httponly=True, samesite="Lax"
        )

    def _drop(self, response: Response, name: str) -> None:
        response.delete_cookie(self._prefix + name, secure=self._parts.secure, httponly=True, samesite="Lax")


async def _read_form() -> None:
    """Raises `UnsupportedMediaType` for what is no form, or holds a file where none is taken."""
    with_file = form_with_file()
    if with_file is not None and takes_files(request.endpoint):
        await read_fields(with_file)
    elif request.mimetype != FORM_TYPE:
        raise UnsupportedMediaType


def visit() -> Visit:
    """Who is there."""
    current: Visit = g.visit
    return current


def signed_in() -> tuple[Session, User]:
    """The session and its user. Raises `SignInNeeded`."""
    current = visit()
    if current.session is None or current.user is None:
        raise SignInNeeded
    return current.session, current.user


def recently_signed_in(clock: Clock) -> tuple[Session, User]:
    """The same of who has authenticated within `RECENT`, as whoever changes how an account is entered must have.

    Raises `SignInNeeded`.
    """
    session, user = signed_in()
    if clock.now() - session.authenticated_at > RECENT:
        raise SignInNeeded(again=True)
    return session, user


def organization() -> Organization:
    """The one that this page is of. Raises `SignInNeeded`, and `NotFound` for who belongs to none, or not to this."""
    signed_in()
    chosen = visit().chosen
    if chosen is None:
        raise NotFound
    return chosen


def flash(tone: Tone, text: str) -> None:
    """Say something at the top of the page that is seen next: this one, or the one that it leads to."""
    g.flashes = [*_flashed(), Flash(tone, text)]


def _flashed() -> list[Flash]:
    said: list[Flash] = getattr(g, "flashes", [])
    return said


def role_in(tx: ReadTx, user: User) -> Role:
    """The visitor's role in the transaction's organization. Raises `NotFound`: others may not learn that it exists."""
    try:
        return memberships.role_of(tx, user.id)
    except Problem:
        raise NotFound from None


def must_lead(tx: ReadTx, user: User) -> None:
    """Raises `NotFound` for those who do not belong to the transaction's organization, `Forbidden` for members."""
    if role_in(tx, user) == "member":
        raise Forbidden("Owners and admins of the organization do this.")


class SignInNeeded(Exception):
    """The page is for people who are signed in. `again`: who are, but not recently enough. `email` is who may come."""

    def __init__(self, *, again: bool = False, email: str = "") -> None:
        super().__init__("sign in")
        self.again = again
        self.email = email


def csrf() -> str:
    """What the forms of this page carry."""
    return sessions.csrf_token(visit().token)


def here() -> str:
    """Path and query of this page, to come back to."""
    query = request.query_string.decode("latin-1")
    return f"{request.path}?{query}" if query else request.path


async def page_of_form() -> str:
    """The page on which the form stands that was posted here."""
    path, form = request.path.removesuffix("/options"), await request.form
    if path.startswith("/oauth/"):
        return choose_address(form.get(HANDLE_FIELD, ""))
    if path.startswith(SIGN_IN):
        return local_path(form.get("next", "/"))
    if path != SIGN_OUT and current_app.url_map.bind("").test(path, "GET"):
        return here() if path == request.path else path
    return next((page for page in _WITH_FORMS if path.startswith(page)), "/")


def choose_address(handle: str) -> str:
    """The account chooser of a request."""
    return f"{CHOOSE}?{HANDLE_FIELD}={quote(handle, safe='')}"


def local_path(path: str) -> str:
    """`given` if it is the path of a page, else `/`: nobody is sent on to elsewhere (CWE-601)."""
    plain = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if plain and is_page(path.partition("?")[0].partition("#")[0]) else "/"


def sign_in_address(next_path: str, *, again: bool = False, email: str = "") -> str:
    """The sign-in page that goes on to `next_path`."""
    address = f"{SIGN_IN}?next={quote(next_path, safe='')}"
    if again:
        address += "&again=1"
    return f"{address}&email={quote(email, safe='')}" if email else address


def see(address: str) -> Response:
    """303: look there next."""
    return Response("", 303, {"Location": location(address)})


def value(form: Mapping[str, str], name: str, most: int = 2048) -> str:
    """One field of a form. Raises `BadRequest` where it is missing or longer than any page would send."""
    text = form.get(name)
    if text is None or len(text) > most:
        raise BadRequest("The form is not complete.")
    return text


def optional(form: Mapping[str, str], name: str, most: int = 2048) -> str:
    """The same; empty where it is missing."""
    return value(form, name, most) if name in form else ""


def allow_form_to(redirect_uri: str) -> None:
    """Let the form of this page end at a client: browsers hold every redirect after a form to `form-action`.

    Chosen: its scheme and not its host, for what the client redirects to in its turn is held to it too (an app on
    loopback that ends on a page of its maker, one address of a site that leads to another), and addresses of IPv6 and
    of an app's own scheme have no other form. `http:` stands for https as well (CSP Level 3 §6.7.2.8).
    """
    g.form_targets = f" {urlsplit(redirect_uri).scheme}:"


def allow_styles() -> None:
    """Let scripts of this page write style sheets and styles. Scripts, and all that is loaded, stay the site's own."""
    g.more_policy = "; style-src-attr 'unsafe-inline'; style-src-elem 'self' 'unsafe-inline'"


def _same_origin(issuer: str) -> bool:
    """What browsers say of where a form comes from; those that say nothing have the hidden field alone."""
    if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        return False
    origin = request.headers.get("Origin")
    if origin is None or origin == issuer:
        return True
    scheme, _, host = origin.partition("://")  # reached by another name, as on the network at home
    return scheme in ("http", "https") and host == request.headers.get("Host")


class _SignedIn(NamedTuple):
    session: Session
    user: User
    belongs: list[tuple[Organization, Role]]


def _signed_in_by(tx: ReadTx, token: str) -> _SignedIn | None:
    session = sessions.find(tx, token)
    if session is None:
        return None
    user = users.get(tx, session.user_id)
    of_user = memberships.of_user(tx, user.id)
    return _SignedIn(session, user, [(organizations.get(tx, each.org_id), each.role) for each in of_user])
