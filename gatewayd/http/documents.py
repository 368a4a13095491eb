"""What a server answers beside its operations: health, and documents for everybody."""

import gzip
import hashlib
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import msgspec
import trio

from gatewayd.errors import Problem
from gatewayd.http.render import JSON, problem
from gatewayd.http.requests import has_already
from gatewayd.http1.asgi import App, HttpScope, Receive, Send
from gatewayd.http1.cors import Cors
from gatewayd.http1.header_fields import Header, Headers
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response, send_response

WORTH_ZIPPING_BYTES: Final = 1_024
READING: Final = ("GET", "HEAD")
ALLOW_READING: Final[Header] = (b"allow", b"GET, HEAD")
_ALLOW: Final[Header] = (b"allow", b"GET, HEAD, OPTIONS")
_VARY: Final[Header] = (b"vary", b"accept-encoding")

ReadinessCheck = Callable[[], "dict[str, str]"]
"""Each part of the daemon by name, with `ok` or what is wrong with it."""


class _Tagged(NamedTuple):
    """A form of a document under its entity tag (RFC 9110 §8.8.3)."""

    tag: bytes
    headers: Headers
    body: bytes

    def answer(self, request: Request) -> Response:
        """All of it, or that the caller has it already."""
        headers = (*self.headers, (b"etag", self.tag))
        return Response(304, headers) if has_already(request, self.tag) else Response(200, headers, self.body)


class _Document(NamedTuple):
    """A document as it is sent; `zipped` None where that is not worth it."""

    plain: _Tagged
    zipped: _Tagged | None


def _document(body: bytes) -> _Document:
    tag = hashlib.sha256(body).hexdigest()[:32].encode()
    headers = (JSON, (b"cache-control", b"no-cache"))
    if len(body) < WORTH_ZIPPING_BYTES:
        return _Document(_Tagged(b'"%b"' % tag, headers, body), None)
    zipped = _Tagged(
        b'"%b-gzip"' % tag, (*headers, _VARY, (b"content-encoding", b"gzip")), gzip.compress(body, mtime=0)
    )
    return _Document(_Tagged(b'"%b"' % tag, (*headers, _VARY), body), zipped)


def document(body: bytes) -> App:
    """An application that serves one public JSON document to any origin."""
    made = _document(body)

    async def get() -> _Document:
        return made

    return _serve(get)


def lazy_document(make: Callable[[], bytes]) -> App:
    """The same of a document that takes long to make: once, on a thread, when it is first asked for."""
    making, thread = trio.Lock(), trio.CapacityLimiter(1)
    made: list[_Document] = []

    async def get() -> _Document:
        if not made:
            async with making:
                if not made:
                    made.append(await trio.to_thread.run_sync(lambda: _document(make()), limiter=thread))
        return made[0]

    return _serve(get)


def _serve(get: Callable[[], Awaitable[_Document]]) -> App:
    cors = Cors(["*"], [b"if-none-match"], [b"etag"])

    async def respond(request: Request) -> Response:
        request.read_fields()
        if request.method == "OPTIONS":
            return Response(204, (_ALLOW, *cors.preflight(request.fields, ["GET"]), *cors.headers(request.fields)))
        if request.method not in READING:
            return not_allowed(request, _ALLOW)
        plain, zipped = await get()
        takes_zipped = b"gzip" in request.fields.get(b"accept-encoding", b"")
        form = zipped if zipped is not None and takes_zipped else plain
        return form.answer(request).plus(cors.headers(request.fields))

    return app_of(respond)


def health() -> App:
    """`/healthz`: the process answers."""
    return document(b'{"status":"ok"}')


def readiness(check: ReadinessCheck) -> App:
    """`/readyz`: 200 when every part is well, else 503 naming the parts that are not."""

    async def respond(request: Request) -> Response:
        if request.method not in READING:
            return not_allowed(request, ALLOW_READING)
        parts = check()
        well = all(state == "ok" for state in parts.values())
        body = msgspec.json.encode({"status": "ready" if well else "not_ready", "checks": parts})
        return Response(200 if well else 503, (JSON, (b"cache-control", b"no-store")), body)

    return app_of(respond)


def not_found() -> App:
    """Any path of a server that has but its fixed ones: 404."""

    async def respond(request: Request) -> Response:
        return problem(Problem("not_found", "There is nothing at this path."), request.id)

    return app_of(respond)


def not_allowed(request: Request, allow: Header) -> Response:
    """405, with the methods that are."""
    return problem(Problem("method_not_allowed", "Use GET here.", headers=(allow,)), request.id)


def app_of(respond: Callable[[Request], Awaitable[Response]]) -> App:
    """An application that needs no more of a request than its head."""

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        request = scope["request"]
        await send_response(request, await respond(request), send)

    return app
