"""Which of the daemon's applications answers a request: health, the description, one that is mounted, or the API."""

import gzip
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import msgspec
import trio

from gatewayd.errors import Problem
from gatewayd.http.cors import Cors
from gatewayd.http.dispatch import Receive, Scope, Send
from gatewayd.http.render import JSON, Answer, problem
from gatewayd.http1.asgi import HttpScope
from gatewayd.http1.state import AtOnce, Reply, never

App = Callable[[Scope, Receive, Send], Awaitable[None]]
WORTH_ZIPPING_BYTES = 1_024
ALLOW = (b"allow", b"GET, HEAD, OPTIONS")
ReadinessCheck = Callable[[], Awaitable["dict[str, str]"]]
"""Each part of the daemon by name, with `ok` or what is wrong with it."""
PlainAtOnce = Callable[[Mapping[str, Any]], "tuple[int, bytes, bytes] | None"]
"""An `AtOnce` of a room that does not know this one: status, rendered header lines, body."""
_NOTHING_READY: Mapping[str, AtOnce] = {}


def _nowhere(path: str) -> bool:
    return False


class Front(NamedTuple):
    """The door's one ASGI callable: fixed paths first, then what is mounted, everything else is the API's.

    `mounts` are applications by the beginning of their paths, `ready` what answers fixed or mounted paths at once.
    `pages` is the application of those paths of which `is_page` says so.
    """

    fixed: dict[str, App]
    api: App
    api_at_once: AtOnce = never
    mounts: tuple[tuple[str, App], ...] = ()
    ready: Mapping[str, AtOnce] = _NOTHING_READY
    pages: App | None = None
    is_page: Callable[[str], bool] = _nowhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        app = self.fixed.get(path) or self._mounted(path) or self.api
        await app(scope, receive, send)

    def at_once(self, scope: HttpScope) -> Reply | None:
        """What can be answered without waiting; None for everything else."""
        path = scope["path"]
        if path in self.ready:
            return self.ready[path](scope)
        if path in self.fixed or self._mounted(path) is not None:
            return None
        return self.api_at_once(scope)

    def _mounted(self, path: str) -> App | None:
        for start, app in self.mounts:
            if path.startswith(start):
                return app
        return self.pages if self.is_page(path) else None


def replying(plain: PlainAtOnce) -> AtOnce:
    """The same in the door's own words."""

    def at_once(scope: HttpScope) -> Reply | None:
        answer = plain(scope)
        return None if answer is None else Reply(*answer)

    return at_once


class _Forms(NamedTuple):
    """A document as it is sent; `zipped`: None where that is not worth it."""

    body: bytes
    zipped: bytes | None


def _forms(body: bytes) -> _Forms:
    return _Forms(body, gzip.compress(body, mtime=0) if len(body) >= WORTH_ZIPPING_BYTES else None)


def document(body: bytes) -> App:
    """An application that serves one public JSON document to any origin."""
    forms = _forms(body)

    async def made() -> _Forms:
        return forms

    return _serving(made)


def document_when_asked(make: Callable[[], bytes]) -> App:
    """The same of a document that takes long to make: once, on a thread, when it is first asked for."""
    making = trio.Lock()
    kept: list[_Forms] = []

    async def made() -> _Forms:
        if not kept:
            async with making:
                if not kept:
                    kept.append(await trio.to_thread.run_sync(lambda: _forms(make())))
        return kept[0]

    return _serving(made)


def _serving(made: Callable[[], Awaitable[_Forms]]) -> App:
    cors = Cors(["*"])

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        request = dict(scope["headers"])
        answer: Answer | Problem
        if scope["method"] == "OPTIONS":
            answer = Answer(204, b"", (ALLOW, *cors.preflight(request, ["GET"]), *cors.headers(request)))
        elif scope["method"] not in ("GET", "HEAD"):
            answer = not_allowed(ALLOW)
        else:
            body, zipped = await made()
            headers = [JSON, (b"cache-control", b"no-cache"), *cors.headers(request)]
            if zipped is not None:
                headers.append((b"vary", b"accept-encoding"))
            if zipped is not None and b"gzip" in request.get(b"accept-encoding", b""):
                answer = Answer(200, zipped, (*headers, (b"content-encoding", b"gzip")))
            else:
                answer = Answer(200, body, headers)
        await respond(scope, send, answer)

    return app


def alive() -> App:
    """`/healthz`: the process answers."""
    return document(b'{"status":"ok"}')


def ready(check: ReadinessCheck) -> App:
    """`/readyz`: 200 when every part is well, else 503 naming the parts that are not."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await respond(scope, send, not_allowed((b"allow", b"GET, HEAD")))
            return
        parts = await check()
        well = all(state == "ok" for state in parts.values())
        body = msgspec.json.encode({"status": "ready" if well else "not_ready", "checks": parts})
        await respond(scope, send, Answer(200 if well else 503, body, (JSON, (b"cache-control", b"no-store"))))

    return app


def nothing() -> App:
    """Any path of a door that has but its fixed ones: 404."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await respond(scope, send, Problem("not_found", "There is nothing at this path."))

    return app


def not_allowed(allow: tuple[bytes, bytes]) -> Problem:
    """405, with the methods that are."""
    return Problem("method_not_allowed", "Use GET here.", headers=(allow,))


async def respond(scope: Scope, send: Send, told: Answer | Problem) -> None:
    """Send an answer, with a request id of its own."""
    request_id = f"req_{secrets.token_hex(8)}"
    answer = problem(told, request_id) if isinstance(told, Problem) else told
    headers = [*answer.headers, (b"x-request-id", request_id.encode("ascii"))]
    if answer.status != 204:
        headers.append((b"content-length", b"%d" % len(answer.body)))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else answer.body})
