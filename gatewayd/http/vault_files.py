"""`/vault/files/<token>` and `/l/<token>`: the bytes of documents, for whoever has the address.

An address that is unknown, over or revoked is answered alike, so that nothing is told of what is stored.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Final
from urllib.parse import parse_qs

import trio

from gatewayd.errors import Problem
from gatewayd.http.documents import READING
from gatewayd.http.file_serving import ServedFile, serve
from gatewayd.http.render import problem
from gatewayd.http1 import bodies
from gatewayd.http1.asgi import App, HttpScope, Receive, Send
from gatewayd.http1.header_fields import Header
from gatewayd.http1.request import Request
from gatewayd.http1.response import FileResponse, Response, send_response
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.store import StoreFailure
from gatewayd.vault_files.giving import Giving, OpenAddress
from gatewayd.vault_files.link_transfers import Piece

FORM_BYTES: Final = 8_192
_ALLOW_READING: Final[Header] = (b"allow", b"GET, HEAD")
_ALLOW_FORM: Final[Header] = (b"allow", b"GET, HEAD, POST")
_RETRY: Final = ((b"retry-after", b"1"),)
_PRIVATE: Final[Header] = (b"cache-control", b"private, no-cache")
_PAGE: Final = (
    (b"content-type", b"text/html; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
_HTML: Final = """<!doctype html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>{title}</title>
<link rel="stylesheet" href="/static/style.css">
</head>
<body class="narrow">
<main id="main">
<h1>{title}</h1>
{content}</main>
</body>
</html>
"""
_FORM: Final = """<p>It is behind a password. Whoever sent you the link knows it.</p>
{error}<form method="post">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="off" required autofocus>
<button>Continue</button>
</form>
"""
_GONE: Final = "<p>The address may be wrong, or its time is over. Ask whoever sent it to you for another.</p>\n"


Respond = Callable[[Request, Receive], Awaitable[Response]]


class VaultFilesDoor:
    """Gives the bytes of documents to whoever has an address of them."""

    def __init__(self, giving: Giving, limits: RateLimits) -> None:
        """`limits` hold each address to the rate of a credential."""
        self._giving = giving
        self._limits = limits

    def downloads(self, path: str) -> App:
        """The application of download URLs, which begin with a path; the token follows."""
        return partial(self._call, partial(self._download, path))

    def links(self, path: str) -> App:
        """The same of links that were given away."""
        return partial(self._call, partial(self._link, path))

    async def _call(self, respond: Respond, scope: HttpScope, receive: Receive, send: Send) -> None:
        request = scope["request"]
        request.read_fields()
        try:
            response = await respond(request, receive)
        except Problem as error:
            response = _refusal(request, error)
        except StoreFailure:
            response = problem(Problem("unavailable", "The store cannot be read now.", headers=_RETRY), request.id)
        await send_response(request, response, send)

    async def _download(self, path: str, request: Request, receive: Receive) -> Response:
        _refuse_method(request, READING, _ALLOW_READING)
        opened = await self._giving.download(request.path.removeprefix(path))
        if opened is None:
            raise _nothing()
        with self._charged(opened):
            return await self._serve(request, opened)

    async def _link(self, path: str, request: Request, receive: Receive) -> Response:
        token = request.path.removeprefix(path)
        opened = await self._giving.link(token)
        if opened is None:
            raise _nothing()
        with self._charged(opened):
            if not opened.has_password:
                _refuse_method(request, READING, _ALLOW_READING)
                return await self._serve(request, opened)
            if opened.is_used_up:
                raise _nothing()
            _refuse_method(request, (*READING, "POST"), _ALLOW_FORM)
            return await self._protected(request, receive, token)

    def _charged(self, opened: OpenAddress) -> AbstractContextManager[None]:
        """One request to an address. Raises `Problem` `rate_limited`."""
        return self._limits.charged(opened.rate_key, 1, trio.current_time())

    async def _serve(self, request: Request, opened: OpenAddress) -> Response:
        """Raises `Problem`: `gone`, `validation_failed` for what cannot be made of it any more."""
        file = await self._giving.file_of(opened)
        response = serve(request, ServedFile(*file, opened.inline), (_PRIVATE,))
        if opened.link is not None:
            await self._count(request, response, opened, file.size_bytes)
        elif _is_first(request, response):
            await self._giving.note_read(opened)
        return response

    async def _count(self, request: Request, response: Response, opened: OpenAddress, size: int) -> None:
        """Count what does not go on with a download that was counted; `size` is of the whole, in bytes.

        Raises `Problem` `not_found` for a link that is used up.
        """
        if request.method != "GET" or not isinstance(response, FileResponse):
            if opened.is_used_up:
                raise _nothing()
            return
        sending = await self._giving.sending(opened, Piece(response.start, response.length, size))
        if sending is None:
            raise _nothing()
        response.sending, request.settle = sending, sending.settle

    async def _protected(self, request: Request, receive: Receive, token: str) -> Response:
        """The form, or what its password opens: a download URL for some minutes."""
        if request.method != "POST":
            return _form(200)
        tried = await self._giving.unlock(token, await _password_of(request, receive))
        if tried is None:
            raise _nothing()
        if tried.is_locked:
            return _form(429, "Too many wrong passwords. Try again later.")
        if tried.path is None:
            return _form(403, "That is not the password.")
        return Response(303, ((b"location", tried.path.encode("ascii")), (b"cache-control", b"no-store")))


async def _password_of(request: Request, receive: Receive) -> str:
    try:
        body = await bodies.read_body(request, receive, FORM_BYTES)
        return parse_qs(body.decode("ascii"), max_num_fields=10, strict_parsing=True)["password"][0]
    except bodies.BodyTooLarge:
        raise Problem("payload_too_large", f"A form has at most {FORM_BYTES} bytes.") from None
    except (bodies.BodyCutShort, KeyError, ValueError):
        raise Problem("invalid_request", "Send the form with its password.") from None


def _form(status: int, error: str = "") -> Response:
    """The page. `error` is a text of ours."""
    said = f'<p role="alert">{error}</p>\n' if error else ""
    return _page(status, "A document for you", _FORM.format(error=said))


def _page(status: int, title: str, content: str) -> Response:
    return Response(status, _PAGE, _HTML.format(title=title, content=content).encode())


def _refusal(request: Request, error: Problem) -> Response:
    """A page for people whose address leads to nothing, and the error document for programs."""
    if error.status in (404, 410) and b"text/html" in request.fields.get(b"accept", b""):
        return _page(error.status, "There is nothing here", _GONE)
    return problem(error, request.id)


def _is_first(request: Request, response: Response) -> bool:
    """Whether the bytes are sent from the first on: who goes on after a break reads the same document still."""
    return request.method == "GET" and response.status in (200, 206) and getattr(response, "start", 0) == 0


def _refuse_method(request: Request, methods: tuple[str, ...], allow: Header) -> None:
    if request.method not in methods:
        raise Problem("method_not_allowed", f"Use {' or '.join(methods)} here.", headers=(allow,))


def _nothing() -> Problem:
    return Problem("not_found", "There is nothing at this address, or not any more.")
