"""The application of the pages: every page, what goes around each, and how errors look."""

from pathlib import Path
from types import TracebackType
from typing import Final

from quart import Response, g, render_template, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, MethodNotAllowed

import gatewayd
from gatewayd.clock import Instant, to_wire
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
from gatewayd.console.home import Home
from gatewayd.console.keys import Keys
from gatewayd.console.links import Links
from gatewayd.console.open_access import OpenAccess
from gatewayd.console.parts import PRODUCT, ConsoleParts
from gatewayd.console.reference import Reference
from gatewayd.console.second_factor import SecondFactor
from gatewayd.console.sign_in import SignInPages
from gatewayd.console.sign_out import SignOutPages
from gatewayd.console.tax_access import TaxAccess
from gatewayd.console.tax_connection import TaxConnectionPages
from gatewayd.console.tax_decisions import TaxDecisions
from gatewayd.console.usage import Usage
from gatewayd.console.zipped import ZIPPED, zipped_file
from gatewayd.http1.log import Log
from gatewayd.money import credits_text
from gatewayd.store import StoreFailure

STATIC_SECONDS: Final = 86_400  # Chosen: pages name the version with each file
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
    app.jinja_env.filters.update(day=_day, moment=_moment, device=device_of, credits=credits_text)
    app.jinja_env.globals.update(product=PRODUCT, version=gatewayd.__version__)
    browser = Browser(parts)
    app.before_request(browser.open)
    app.after_request(browser.close)
    app.context_processor(_everywhere)
    access = TaxAccess(parts)
    for pages in (Home(parts), ConsentPages(parts), Applications(parts), SecondFactor(parts), access):
        pages.add_to(app)
    for more in (
        TaxConnectionPages(parts, access),
        TaxDecisions(parts),
        Reference(),
        Usage(parts),
        OpenAccess(parts),
        Keys(parts),
    ):
        more.add_to(app)
    for entry in (
        SignInPages(parts, browser),
        SignOutPages(parts, browser),
        Links(parts, browser),
        Account(parts, browser),
    ):
        entry.add_to(app)
    app.register_error_handler(SignInNeeded, _to_sign_in)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(StoreFailure, _Unavailable(parts.log).show)
    return app


async def _everywhere() -> dict[str, object]:
    """What every template may name."""
    there = visit() if hasattr(g, "visit") else None
    return {
        "csrf": csrf() if there is not None else "",
        "signed_in_user": there.user if there is not None else None,
    }


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


class _Unavailable:
    """The answer while the store cannot do its part."""

    def __init__(self, log: Log) -> None:
        self._log = log

    async def show(self, error: StoreFailure) -> tuple[str, int, dict[str, str]]:
        self._log.error("page_failed", request_id=g.request_id, exc_info=error)
        text = "The database cannot do it now. Nothing was changed. Try again in a moment."
        return await _error_page("Not now", text), 503, {"Retry-After": "1"}


def _day(instant: int) -> str:
    return to_wire(Instant(instant))[:10]


def _moment(instant: int) -> str:
    return to_wire(Instant(instant))[:16].replace("T", " ") + " UTC"
