"""`/vault/files/<token>` and `/l/<token>`: the bytes of documents, for whoever has the address.

An address that is unknown, over or revoked is answered alike, so that nothing is told of what is stored.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Final
from urllib.parse import parse_qs

import trio

from gatewayd.areas.vault import links
from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.rows import uploaded
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.areas.vault.links import OpenLink, Variant
from gatewayd.clock import SECOND
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
from gatewayd.store import ReadTx, Store, StoreFailure
from gatewayd.vault_files import download_tokens
from gatewayd.vault_files.download_tokens import Download
from gatewayd.vault_files.engine import DOWNLOADS, VaultFiles
from gatewayd.vault_files.link_transfers import LinkTransfers, Piece

FORM_BYTES: Final = 8_192
TOKEN_MAX: Final = 100  # characters of a link; ours have half as many
AFTER_PASSWORD: Final = 300 * SECOND  # Chosen: how long the bytes can be read after a password
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

    def __init__(self, store: Store, files: VaultFiles, limits: RateLimits) -> None:
        """`limits` hold each address to the rate of a credential."""
        self._store = store
        self._limits = limits
        self._files = files
        self._transfers = LinkTransfers()

    def downloads(self) -> App:
        """The application of download URLs."""
        return partial(self._call, self._download)

    def links(self) -> App:
        """The application of links that were given away."""
        return partial(self._call, self._link)

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

    async def _download(self, request: Request, receive: Receive) -> Response:
        _refuse_method(request, READING, _ALLOW_READING)
        token = request.path.removeprefix(DOWNLOADS)

        def look(tx: ReadTx) -> tuple[Download, DocumentRow, OpenLink | None] | None:
            found = download_tokens.open_token(tx, token)
            if found is None:
                return None
            opened = links.find_open(tx, found.reader) if found.is_of_link else None
            return None if found.is_of_link and opened is None else (found, uploaded(tx, found.document), opened)

        found = await self._store.read(look)
        if found is None:
            raise _nothing()
        download, row, opened = found
        with self._asked(f"{download.reader} {row.id}" if opened is None else opened.link.id):
            return await self._downloaded(request, download, row, opened)

    async def _downloaded(
        self, request: Request, download: Download, row: DocumentRow, opened: OpenLink | None
    ) -> Response:
        served = await self._served(download.org, row, download.variant, inline=download.inline)
        response = serve(request, served, (_PRIVATE,))
        if opened is not None:
            await self._count(request, response, opened, served.size_bytes)
        elif _is_first(request, response):
            await self._note(download)
        return response

    async def _note(self, download: Download) -> None:
        """Note who reads it. A full disk is no reason not to let them."""
        try:
            await self._store.write(
                lambda tx: documents.note_access(tx, download.document, download.reader), download.org
            )
        except StoreFailure:
            return

    async def _link(self, request: Request, receive: Receive) -> Response:
        token = request.path.removeprefix(links.PATH)
        found = None if len(token) > TOKEN_MAX else await self._store.read(partial(links.find, token=token))
        if found is None:
            raise _nothing()
        with self._asked(found.link.id):
            return await self._linked(request, receive, token, found)

    async def _linked(self, request: Request, receive: Receive, token: str, found: OpenLink) -> Response:
        if found.link.password_hash is not None:
            if found.is_used_up:
                raise _nothing()
            _refuse_method(request, (*READING, "POST"), _ALLOW_FORM)
            return await self._protected(request, receive, token)
        _refuse_method(request, READING, _ALLOW_READING)
        served = await self._served(found.org_id, found.document, found.link.variant, inline=True)
        response = serve(request, served, (_PRIVATE,))
        await self._count(request, response, found, served.size_bytes)
        return response

    def _asked(self, address: str) -> AbstractContextManager[None]:
        """One request to an address. Raises `Problem` `rate_limited`."""
        return self._limits.asked(address, 1, trio.current_time())

    async def _count(self, request: Request, response: Response, opened: OpenLink, size: int) -> None:
        """Count what does not go on with a download that was counted; `size` is of the whole, in bytes.

        Raises `Problem` `not_found` for a link that is used up.
        """
        link_id = opened.link.id
        if request.method != "GET" or not isinstance(response, FileResponse):
            if opened.is_used_up:
                raise _nothing()
            return
        piece = Piece(response.start, response.length, size)
        sending = await self._transfers.going_on(link_id, piece)
        if sending is None:
            if not await self._store.write(partial(links.count_download, link_id=link_id), opened.org_id):
                raise _nothing()
            sending = self._transfers.counted(link_id, piece)
        response.sending, request.settle = sending, sending.settle

    async def _protected(self, request: Request, receive: Receive, token: str) -> Response:
        """The form, or what its password opens: a download URL for some minutes."""
        if request.method != "POST":
            return _form(200)
        password = await _password_of(request, receive)
        tried = await self._store.write(partial(links.begin_try, token=token))
        if tried is None:
            raise _nothing()
        if tried.locked_until is not None:
            return _form(429, "Too many wrong passwords. Try again later.")
        hashed = tried.opened.link.password_hash
        if hashed is not None and not await self._files.passwords.verify(tried.opened.org_id, hashed, password):
            return _form(403, "That is not the password.")
        if not await self._store.write(partial(links.take_right, token=token)):
            raise _nothing()
        opened = tried.opened
        url = await self._store.read(lambda tx: DOWNLOADS + download_tokens.make(tx, _after_password(tx, opened)))
        return Response(303, ((b"location", url.encode("ascii")), (b"cache-control", b"no-store")))

    async def _served(self, org_id: str, row: DocumentRow, variant: Variant, *, inline: bool) -> ServedFile:
        """Raises `Problem`: `gone`, `validation_failed` for what cannot be made of it any more."""
        return ServedFile(*await self._files.file_of(org_id, row, variant), inline)


def _after_password(tx: ReadTx, opened: OpenLink) -> Download:
    return Download(
        org=opened.org_id,
        document=opened.document.id,
        variant=opened.link.variant,
        inline=True,
        until=int(tx.now + AFTER_PASSWORD),
        reader=opened.link.id,
    )


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
