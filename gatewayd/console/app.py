"""The application of the pages: every page, what goes around each, and how errors look."""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, cast
from uuid import uuid4

from quart import Quart, Response, current_app, g, render_template, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, MethodNotAllowed

import gatewayd
from gatewayd.console.administration.audit import AuditLog
from gatewayd.console.administration.backups import Backups
from gatewayd.console.administration.health import Health
from gatewayd.console.administration.jobs import JobsPage
from gatewayd.console.administration.oauth_clients import OwnClients
from gatewayd.console.administration.organizations import AllOrganizations
from gatewayd.console.administration.people import AllPeople
from gatewayd.console.administration.tax_decisions import TaxDecisions
from gatewayd.console.books import clients, legal_entities
from gatewayd.console.books.documents import Documents
from gatewayd.console.books.home import Home
from gatewayd.console.books.invoices import Invoices
from gatewayd.console.books.mails import Mails
from gatewayd.console.books.paper_links import PaperLinks
from gatewayd.console.books.search import SearchPage
from gatewayd.console.books.tax_access import TaxAccess
from gatewayd.console.books.tax_connection import TaxConnectionPages
from gatewayd.console.books.tiles import Tiles
from gatewayd.console.browser import (
    FORM_BYTES,
    Browser,
    SignInNeeded,
    csrf,
    here,
    page_of_form,
    see,
    sign_in_address,
    visit,
)
from gatewayd.console.components import words
from gatewayd.console.components.gallery import Gallery
from gatewayd.console.components.shapes import by_group
from gatewayd.console.developers.keys import Keys
from gatewayd.console.developers.open_access import OpenAccess
from gatewayd.console.developers.reference import Reference
from gatewayd.console.developers.usage import Usage
from gatewayd.console.developers.webhooks import Webhooks
from gatewayd.console.file_forms import PageRequest, form_with_file, set_aside
from gatewayd.console.navigation import current, shelves
from gatewayd.console.operations.calls import Operations
from gatewayd.console.operations.pages import OperationPages
from gatewayd.console.operations.resources import ResourcePages
from gatewayd.console.operations.sent_files import SentFiles
from gatewayd.console.organization import ChoiceOfOrganization
from gatewayd.console.pages import sentence
from gatewayd.console.parts import PRODUCT, ConsoleParts
from gatewayd.console.people.account import Account
from gatewayd.console.people.applications import Applications
from gatewayd.console.people.consent import ConsentPages
from gatewayd.console.people.devices import device_of
from gatewayd.console.people.forgotten import Forgotten
from gatewayd.console.people.invitations import InvitationPages
from gatewayd.console.people.inviting import Inviting
from gatewayd.console.people.links import Links
from gatewayd.console.people.members import Members
from gatewayd.console.people.second_factor import SecondFactor
from gatewayd.console.people.sign_in import SignInPages
from gatewayd.console.people.sign_out import SignOutPages
from gatewayd.console.people.unsubscribing import Unsubscribing
from gatewayd.console.zipped import ZIPPED, zipped_file
from gatewayd.errors import Problem
from gatewayd.http1.log import Log
from gatewayd.money import credits_text
from gatewayd.store import StoreFailure

STATIC_SECONDS: Final = 86_400  # Chosen: pages name the version with each file
RESOURCES: Final = (legal_entities.RESOURCE, clients.RESOURCE)
"""What people keep whose pages are a list, a form and an end."""
_ERRORS: Final = {
    400: ("That did not work", None),
    403: ("Nothing was done", None),
    404: ("There is nothing here", "The address may be mistyped, or what it led to is gone."),
    405: ("Not this way", "This address is not a page of its own."),
    408: ("That took too long", "Not all of the form arrived. Try again."),
    413: ("That is too much", "The form is larger than any that this site has."),
    415: ("That did not work", "This is not a form of this site."),
}
"""Title and text by status. None: what was raised says it."""
_REFUSED: Final = "That did not work"
_FAILED: Final = ("Something went wrong", "It is our fault, not yours, and it was written down.")


class _Pages(QuartTrio):
    """Quart that writes what failed into the daemon's own log. Never the path: those of links hold a secret."""

    daemon_log: Log
    request_class = PageRequest

    async def asgi_app(self, scope: Any, receive: Any, send: Any) -> None:
        """One request; the body of a form with a file is read by the page that takes it."""
        if scope["type"] == "http":
            async with set_aside(scope, receive) as (seen, told):
                await super().asgi_app(cast(Any, seen), cast(Any, told), send)
        else:
            await super().asgi_app(scope, receive, send)

    async def send_static_file(self, filename: str) -> Response:
        """A file of the pages; what is kept zipped goes out as it is kept, from the disk."""
        if filename in ZIPPED:
            return await zipped_file(Path(str(self.static_folder)), filename)
        return await super().send_static_file(filename)

    def log_exception(
        self, exception_info: tuple[type, BaseException, TracebackType] | tuple[None, None, None]
    ) -> None:
        page = request.url_rule.rule if request.url_rule is not None else None
        self.daemon_log.error("page_failed", page=page, request_id=g.request_id, exc_info=exception_info)


def create(parts: ConsoleParts) -> QuartTrio:
    """The pages as an ASGI application."""
    app = _Pages("gatewayd.console", static_folder="static", static_url_path="/static", template_folder="templates")
    app.daemon_log = parts.log
    app.config["MAX_CONTENT_LENGTH"] = FORM_BYTES
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = STATIC_SECONDS
    app.url_map.merge_slashes = False
    _prepare_templates(app)
    browser = Browser(parts)
    app.before_request(browser.open)
    app.after_request(browser.close)
    app.context_processor(_Everywhere(browser).context)
    for pages in (*_of_people(parts, browser), *_of_organizations(parts), *_of_the_instance(parts)):
        pages.add_to(app)
    app.register_error_handler(SignInNeeded, _to_sign_in)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Problem, _refused)
    app.register_error_handler(StoreFailure, _Unavailable(parts.log).show)
    return app


class _AddedTo(Protocol):
    """Pages that know their addresses."""

    def add_to(self, app: Quart) -> None: ...


def _prepare_templates(app: Quart) -> None:
    """What every template may call."""
    of_words = (words.ago, words.day, words.iso, words.moment, words.money)
    app.jinja_env.filters.update({each.__name__: each for each in of_words})
    app.jinja_env.filters.update(device=device_of, credits=credits_text, bytes=words.size)
    app.jinja_env.globals.update(product=PRODUCT, version=gatewayd.__version__)
    app.jinja_env.globals.update(csrf_token=csrf, form_key=_form_key, fields_by_group=by_group)
    app.jinja_env.globals.update(shelves=shelves, current_entry=current)


def _of_people(parts: ConsoleParts, browser: Browser) -> Iterator[_AddedTo]:
    """Whatever is one's own: how one comes in, one's account, and what one allowed."""
    yield SignInPages(parts, browser)
    yield SignOutPages(parts, browser)
    yield Links(parts, browser)
    yield Forgotten(parts, browser)
    yield InvitationPages(parts, browser)
    yield Unsubscribing(parts)
    yield Account(parts, browser)
    yield SecondFactor(parts)
    yield ConsentPages(parts)
    yield Applications(parts)
    yield ChoiceOfOrganization(browser)


def _of_organizations(parts: ConsoleParts) -> Iterator[_AddedTo]:
    """What is of the organization that a page is of."""
    operations = Operations(parts.store, parts.performer, parts.gate, parts.operations)
    files = SentFiles(parts.file_places, parts.log)
    pages = OperationPages(operations, parts.clock, files)
    access = TaxAccess(parts)
    yield Home(parts, Tiles(operations))
    yield SearchPage(parts, operations)
    yield from (ResourcePages(operations, pages, resource) for resource in RESOURCES)
    yield Invoices(operations, pages, parts.clock)
    yield Mails(operations, pages, parts.clock)
    yield Documents(operations, pages, files, parts.receiving)
    yield Webhooks(operations, pages)
    yield Keys(parts)
    yield OpenAccess(parts)
    yield access
    yield TaxConnectionPages(parts, access)
    yield Usage(parts)
    yield Members(parts)
    yield Inviting(parts)


def _of_the_instance(parts: ConsoleParts) -> Iterator[_AddedTo]:
    """What its administrators have, and what everybody may read."""
    yield AllOrganizations(parts)
    yield AllPeople(parts)
    yield OwnClients(parts)
    yield TaxDecisions(parts)
    yield Health(parts)
    yield JobsPage(parts)
    yield Backups(parts)
    yield AuditLog(parts)
    yield Reference()
    if parts.papers is not None:
        yield PaperLinks(parts, parts.papers)
    if parts.gallery:
        yield Gallery(parts)


class _Everywhere:
    """What every template may name."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    async def context(self) -> dict[str, object]:
        if not hasattr(g, "visit"):
            return {"csrf": "", "flashed": []}
        there = visit()
        return {
            "csrf": csrf(),
            "signed_in_user": there.user,
            "organization": there.chosen,
            "organizations": there.belongs,
            "role": there.role,
            "flashed": self._browser.flashes(),
        }


def _form_key() -> str:
    """What tells one sending of a form from the next: sent again, nothing is done twice."""
    return str(uuid4())


async def _to_sign_in(error: SignInNeeded) -> Response:
    """To the form and back; what was posted is asked for again."""
    path = await page_of_form() if request.method == "POST" else here()
    user = visit().user
    return see(sign_in_address(path, again=error.again, email=error.email or (user.email if user is not None else "")))


def _without_slash() -> str | None:
    """Where a page is that was asked for with a slash behind it; None: there is none either."""
    path = request.path.rstrip("/")
    if request.method not in ("GET", "HEAD") or path == request.path:
        return None
    if not current_app.url_map.bind("").test(path, "GET"):
        return None
    return path + here().removeprefix(request.path)


async def _http_error(error: HTTPException) -> Response | tuple[str, int, dict[str, str]]:
    code = error.code or 500
    if code == 404 and (page_there := _without_slash()) is not None:
        return see(page_there)
    title, text = _ERRORS.get(code, _FAILED)
    headers = {}
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        headers["Allow"] = ", ".join(sorted(error.valid_methods))
    back = await page_of_form() if code == 403 else "/"
    page = await _error_page(title, text or error.description or "", back)
    return page, code, headers


async def _error_page(title: str, text: str, back: str = "/") -> str:
    return await render_template("error.html", title=title, text=text, back=back, request_id=g.request_id)


async def _refused(problem: Problem) -> tuple[str, int, dict[str, str]]:
    """What an operation says that a page called, where the page has nothing of its own to say of it."""
    title, text = _ERRORS.get(problem.status, (_REFUSED, None))
    if form_with_file() is not None:  # it is not the form that is too large or slow
        text = None
    back = await page_of_form() if request.method == "POST" else "/"
    headers = {name.decode(): content.decode() for name, content in problem.headers}
    return await _error_page(title, text or sentence(problem), back), problem.status, headers


class _Unavailable:
    """The answer while the store cannot do its part."""

    def __init__(self, log: Log) -> None:
        self._log = log

    async def show(self, error: StoreFailure) -> tuple[str, int, dict[str, str]]:
        self._log.error("page_failed", request_id=g.request_id, exc_info=error)
        text = "The database cannot do it now. Nothing was changed. Try again in a moment."
        return await _error_page("Not now", text), 503, {"Retry-After": "1"}
