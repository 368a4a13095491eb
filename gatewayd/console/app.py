"""The application of the pages: every page, what goes around each, and how errors look."""

from pathlib import Path
from types import TracebackType
from typing import Final
from uuid import uuid4

from quart import Response, g, render_template, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, MethodNotAllowed

import gatewayd
from gatewayd.console import clients, legal_entities, words
from gatewayd.console.account import Account
from gatewayd.console.applications import Applications
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
from gatewayd.console.consent import ConsentPages
from gatewayd.console.devices import device_of
from gatewayd.console.gallery import Gallery
from gatewayd.console.home import Home
from gatewayd.console.links import Links
from gatewayd.console.navigation import current, shelves
from gatewayd.console.open_access import OpenAccess
from gatewayd.console.operation_pages import OperationPages
from gatewayd.console.operations import Operations
from gatewayd.console.organization import ChoiceOfOrganization
from gatewayd.console.pages import sentence
from gatewayd.console.parts import PRODUCT, ConsoleParts
from gatewayd.console.reference import Reference
from gatewayd.console.resource_pages import ResourcePages
from gatewayd.console.search import SearchPage
from gatewayd.console.second_factor import SecondFactor
from gatewayd.console.shapes import by_group
from gatewayd.console.sign_in import SignInPages
from gatewayd.console.sign_out import SignOutPages
from gatewayd.console.tax_access import TaxAccess
from gatewayd.console.tax_connection import TaxConnectionPages
from gatewayd.console.tax_decisions import TaxDecisions
from gatewayd.console.tiles import Tiles
from gatewayd.console.usage import Usage
from gatewayd.console.webhooks import Webhooks
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
    app.jinja_env.filters.update(device=device_of, credits=credits_text, bytes=words.size)
    app.jinja_env.filters.update(
        {each.__name__: each for each in (words.ago, words.day, words.iso, words.moment, words.money)}
    )
    app.jinja_env.globals.update(product=PRODUCT, version=gatewayd.__version__)
    app.jinja_env.globals.update(fields_by_group=by_group)
    app.jinja_env.globals.update(csrf_token=csrf, form_key=_form_key, shelves=shelves, current_entry=current)
    browser = Browser(parts)
    app.before_request(browser.open)
    app.after_request(browser.close)
    app.context_processor(_Everywhere(browser).context)
    operations = Operations(parts.store, parts.performer, parts.gate, parts.operations)
    pages_of = OperationPages(operations, parts.clock)
    Webhooks(operations, pages_of).add_to(app)
    for resource in RESOURCES:
        ResourcePages(operations, pages_of, resource).add_to(app)
    SearchPage(parts, operations).add_to(app)
    access = TaxAccess(parts)
    for pages in (
        Home(parts, Tiles(operations)),
        ConsentPages(parts),
        Applications(parts),
        SecondFactor(parts),
        access,
    ):
        pages.add_to(app)
    for more in (TaxConnectionPages(parts, access), TaxDecisions(parts), Reference(), Usage(parts), OpenAccess(parts)):
        more.add_to(app)
    if parts.gallery:
        Gallery(parts).add_to(app)
    for entry in (
        ChoiceOfOrganization(browser),
        SignInPages(parts, browser),
        SignOutPages(parts, browser),
        Links(parts, browser),
        Account(parts, browser),
    ):
        entry.add_to(app)
    app.register_error_handler(SignInNeeded, _to_sign_in)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Problem, _refused)
    app.register_error_handler(StoreFailure, _Unavailable(parts.log).show)
    return app


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


async def _http_error(error: HTTPException) -> tuple[str, int, dict[str, str]]:
    code = error.code or 500
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
