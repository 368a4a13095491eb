"""From an ASGI request to a row and back: the one path every API request takes.

    find the route -> authenticate -> rate limit -> scope -> decode -> idempotency -> run -> encode

A read row does all of it in one transaction on the loop's own connection. A write row authenticates there, reads its
body, and runs in the writer. Everything that goes wrong is a `Problem` by the end. What can be told from path, method
and headers alone (404, 405, 406) is told before anyone is asked who they are: it is public in the description.
"""

import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast
from urllib.parse import quote

import msgspec
import trio

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Incoming, Operation, Relayed
from gatewayd.contract.pages import Listing
from gatewayd.contract.wire import encode
from gatewayd.errors import Problem
from gatewayd.http import bearer, idempotency
from gatewayd.http.bodies import read_body
from gatewayd.http.cors import Cors
from gatewayd.http.kept_answers import Asked, KeptAnswers
from gatewayd.http.rate_limits import Allowance, RateLimits
from gatewayd.http.render import ALWAYS, JSON, Answer, listing, problem, success
from gatewayd.http.request_fields import check_accept, read_whole
from gatewayd.http.routes import Route, Routes
from gatewayd.http1.asgi import HttpScope
from gatewayd.http1.response import render_fields
from gatewayd.http1.state import Reply
from gatewayd.identity.authentication import Possession
from gatewayd.store import OverBudget, ReadTx, Store, StoreFailure, WriteTx

SLOW_BODY_SECONDS = 0.05  # Chosen: a key may have been revoked while such a body arrived

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_URL_CHARACTERS = "!$%&'()*+,-./:;=?@_~"


class Authenticate(Protocol):
    """Says who a token is; raises `Problem` `invalid_token`."""

    def __call__(
        self, tx: ReadTx, version: int, token: str, peer: str | None, possession: Possession | None = None
    ) -> Caller: ...


class Observe(Protocol):
    """Told of each request once it is answered, for the access log and the metrics."""

    def __call__(self, exchange: "Exchange", answer: Answer) -> None: ...


class Log(Protocol):
    def error(self, event: str, **values: Any) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiParts:
    """What the API door is made of.

    `call_seconds` is the longest that a call may wait for others. `public_url` is told to who has no token yet; empty:
    not told.
    """

    operations: Iterable[Operation]
    store: Store
    authenticate: Authenticate
    limits: RateLimits
    cors: Cors
    log: Log
    observe: Observe
    deps: object = None
    json_body_bytes: int = 1 << 20
    call_seconds: float = 30.0
    public_url: str = ""


@dataclass(slots=True)
class Exchange:
    """One request on its way through."""

    request_id: str
    started: float
    method: str
    path: str
    scope: Scope
    headers: Mapping[bytes, bytes]
    route: Route | None = None
    parameters: Sequence[str] = ()
    caller: Caller | None = None
    allowance: Allowance | None = None
    possession: Possession | None = None

    @property
    def raw_path(self) -> bytes:
        """The path as it was sent."""
        return self.scope.get("raw_path") or self.path.encode()

    @property
    def target(self) -> str:
        """Path and query as they were sent, in characters that a header field can hold."""
        path, query = self.raw_path, self.scope["query_string"]
        return quote(b"%b?%b" % (path, query) if query else path, safe=_URL_CHARACTERS)


class Api:
    """The ASGI callable that serves every row."""

    def __init__(self, parts: ApiParts) -> None:
        self._store = parts.store
        self._authenticate = parts.authenticate
        self._limits = parts.limits
        self._cors = parts.cors
        self._log = parts.log
        self._observe = parts.observe
        self._deps = parts.deps
        self._max_body_bytes = parts.json_body_bytes
        self._call_seconds = parts.call_seconds
        self._public_url = parts.public_url
        self._routes = Routes(parts.operations)
        self._boot = secrets.token_hex(4)
        self._count = 0
        self._kept = KeptAnswers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = scope.pop(_BEGUN, None) or self._open(scope)
        try:
            answer = await self._answer(exchange, receive)
        except Exception as error:  # noqa: BLE001 - the request border: one request fails, the daemon goes on
            answer = self._refuse_and_log(exchange, error)
        finally:
            _leave(exchange)
        await self._send(exchange, answer, send)

    def at_once(self, scope: HttpScope) -> Reply | None:
        """The whole answer where nothing has to be waited for; None: `__call__` goes on with what was begun here."""
        exchange = self._open(cast(Scope, scope))
        try:
            answer = self._answer_now(exchange)
        except Exception as error:  # noqa: BLE001 - the request border
            _leave(exchange)
            return self._reply(exchange, self._refuse_and_log(exchange, error))
        if answer is None:
            exchange.scope[_BEGUN] = exchange
            return None
        _leave(exchange)
        return self._reply(exchange, answer)

    def _reply(self, exchange: Exchange, answer: Answer) -> Reply:
        try:
            fields = self._fields(exchange, answer)
        except ValueError as error:  # a value that would start a line of its own
            answer = self._refuse_and_log(exchange, error)
            fields = self._fields(exchange, answer)
        self._observe(exchange, answer)
        return Reply(answer.status, fields, answer.body)

    def _refuse_and_log(self, exchange: Exchange, error: Exception) -> Answer:
        """The problem that an exception is to the caller; what is no `Problem` is logged."""
        if isinstance(error, Problem):
            needed = exchange.route.operation.scopes if exchange.route else ()
            given = exchange.headers.get(b"authorization", b"")
            return problem(bearer.challenged(error, bearer.Asked(given, self._public_url, needed)), exchange.request_id)
        if isinstance(error, StoreFailure | OverBudget):
            self._log.error("store_failed", request_id=exchange.request_id, path=exchange.path, exc_info=error)
            return problem(_UNAVAILABLE, exchange.request_id)
        self._log.error("request_failed", request_id=exchange.request_id, path=exchange.path, exc_info=error)
        return problem(Problem("internal_error", "The error was recorded."), exchange.request_id)

    def _open(self, scope: Scope) -> Exchange:
        self._count += 1
        return Exchange(
            f"req_{self._boot}{self._count:08x}",
            trio.current_time(),
            scope["method"],
            scope["path"],
            scope,
            dict(scope["headers"]),
        )

    def _answer_now(self, exchange: Exchange) -> Answer | None:
        """What the head of the request decides, and reads that are short; None for all that may have to wait."""
        if len(exchange.headers) != len(exchange.scope["headers"]):
            exchange.headers = read_whole(exchange.scope["headers"])
        routes, exchange.parameters = self._routes.find(exchange.path)
        route = exchange.route = routes.get("GET" if exchange.method == "HEAD" else exchange.method)
        if route is None:
            return self._other_method(exchange, routes)
        check_accept(exchange.headers.get(b"accept"))
        return self._read_inline(exchange, route) if route.operation.kind == "read" else None

    async def _answer(self, exchange: Exchange, receive: Receive) -> Answer:
        answer = self._answer_now(exchange) if exchange.route is None else None
        if answer is not None:
            return answer
        route = exchange.route
        assert route is not None
        kind = route.operation.kind
        if kind == "read":
            return await self._run_read(exchange, route, receive)
        if kind == "write":
            return await self._run_write(exchange, route, receive)
        return await self._run_call(exchange, route, receive)

    def _other_method(self, exchange: Exchange, routes: Mapping[str, Route]) -> Answer:
        if not routes:
            raise Problem("not_found", "There is nothing at this path.")
        allowed = {*routes, "OPTIONS", *(["HEAD"] if "GET" in routes else [])}
        allow = (b"allow", ", ".join(sorted(allowed)).encode())
        if exchange.method != "OPTIONS":
            raise Problem("method_not_allowed", f"Use {' or '.join(sorted(routes))} here.", headers=(allow,))
        return Answer(204, b"", (allow, *self._cors.preflight(exchange.headers, sorted(routes))))

    # -- the three kinds

    def _read_inline(self, exchange: Exchange, route: Route) -> Answer | None:
        """The whole of a read in one step; None where it has a body to wait for, or is too long for the loop."""
        if route.in_body or route.operation.long:
            return None
        try:
            return self._store.read_now(lambda tx: self._read_or_kept(exchange, route, tx), None)
        except OverBudget:
            return None

    def _read_or_kept(self, exchange: Exchange, route: Route, tx: ReadTx) -> Answer:
        caller = self._admit(exchange, route, tx)
        version = self._store.version
        asked = Asked(caller, exchange.raw_path, exchange.scope["query_string"])
        answer = self._kept.find(version, asked, tx)
        if answer is None:
            tx.asked_instant = tx.asked_day = False  # until here it was asked for the credential
            answer = _answered(exchange, self._read(exchange, route, None, tx))
            self._kept.keep(version, asked, answer, tx)
        return answer

    async def _run_read(self, exchange: Exchange, route: Route, receive: Receive) -> Answer:
        """A read that waits for its body, or runs on a thread."""
        body: bytes | None = None
        if exchange.caller is None:
            self._store.read_now(lambda tx: self._admit(exchange, route, tx), None)
        if route.in_body:
            body = await read_body(exchange.headers, receive, self._max_body_bytes)

        def work(tx: ReadTx) -> object:
            return self._read(exchange, route, body, tx)

        if route.in_body and not route.operation.long:
            return _answered(exchange, await self._store.read(work))
        return _answered(exchange, await self._store.read_later(work, None))

    def _read(self, exchange: Exchange, route: Route, body: bytes | None, tx: ReadTx) -> object:
        # A second run is admitted and charged already; who is calling is never asked on another thread.
        caller = exchange.caller or self._admit(exchange, route, tx)
        tx.bind(caller.org_id)
        return route.operation.handler(tx, caller, self._decode(exchange, route, body))

    async def _run_write(self, exchange: Exchange, route: Route, receive: Receive) -> Answer:
        caller, request = await self._admitted_request(exchange, route, receive)
        record = self._record(exchange, route, caller, request)
        handler = route.operation.handler

        def work(tx: WriteTx) -> bytes:
            if record is not None:
                idempotency.begin(tx, record)
            body = _encoded(handler(tx, caller, request))
            if record is not None:
                idempotency.keep(tx, record, body)
            return body

        try:
            return success(await self._store.write(work, caller.org_id))
        except idempotency.Replay as replay:
            return _replayed(replay)

    async def _run_call(self, exchange: Exchange, route: Route, receive: Receive) -> Answer:
        caller, request = await self._admitted_request(exchange, route, receive)
        operation = route.operation
        arguments = (self._deps, caller, request, *([_incoming(exchange)] if operation.takes_incoming else []))
        if operation.relays:
            return _relayed(await operation.handler(*arguments))
        record = self._record(exchange, route, caller, request)
        if record is None:
            return _answered(exchange, await operation.handler(*arguments))
        try:
            lease = await self._store.write(
                lambda tx: idempotency.reserve(tx, record, self._call_seconds), caller.org_id
            )
        except idempotency.Replay as replay:
            return _replayed(replay)
        try:
            body = _encoded(await operation.handler(*arguments))
        except BaseException:
            with trio.CancelScope(shield=True):
                await self._store.write(lambda tx: idempotency.forget(tx, record, lease), caller.org_id)
            raise
        await self._store.write(lambda tx: idempotency.complete(tx, record, lease, body), caller.org_id)
        return success(body)

    # -- the steps

    async def _admitted_request(
        self, exchange: Exchange, route: Route, receive: Receive
    ) -> tuple[Caller, msgspec.Struct]:
        caller = self._store.read_now(lambda tx: self._admit(exchange, route, tx), None)
        body = None
        if route.in_body:
            body = await read_body(exchange.headers, receive, self._max_body_bytes)
            if trio.current_time() - exchange.started > SLOW_BODY_SECONDS:
                caller = self._store.read_now(lambda tx: self._identify(exchange, tx), None)
        return caller, self._decode(exchange, route, body)

    def _admit(self, exchange: Exchange, route: Route, tx: ReadTx) -> Caller:
        """Authenticate, charge the rate limit, check the scope."""
        caller = exchange.caller = self._identify(exchange, tx)
        exchange.allowance = self._limits.take(caller.credential_id, route.operation.cost, exchange.started)
        if not route.allows(caller.scopes):
            raise bearer.lacking(route.operation.scopes)
        return caller

    def _identify(self, exchange: Exchange, tx: ReadTx) -> Caller:
        client = exchange.scope.get("client")
        token, proves = bearer.credential_of(exchange.headers.get(b"authorization"))
        if proves and exchange.possession is None:
            exchange.possession = self._possession(exchange)
        return self._authenticate(tx, self._store.version, token, client[0] if client else None, exchange.possession)

    def _possession(self, exchange: Exchange) -> Possession:
        proof = exchange.headers.get(b"dpop")
        path = exchange.raw_path.decode("latin-1")
        return Possession(
            None if proof is None else proof.decode("latin-1"), exchange.method, f"{self._public_url}{path}"
        )

    def _decode(self, exchange: Exchange, route: Route, body: bytes | None) -> msgspec.Struct:
        query: bytes = exchange.scope["query_string"]
        values = exchange.parameters
        parameters = dict(zip(route.parameters, values, strict=True)) if values else _NO_PARAMETERS
        if body is None:
            return route.decoder.query(query.decode("latin-1"), parameters)
        if query:
            raise Problem("unknown_parameter", "This operation takes its parameters in the body.")
        return route.decoder.body(body, parameters)

    def _record(
        self, exchange: Exchange, route: Route, caller: Caller, request: msgspec.Struct
    ) -> idempotency.Record | None:
        key = exchange.headers.get(b"idempotency-key")
        if key is None or exchange.method != "POST":
            return None
        return idempotency.record_of(key, route.operation, caller, request)

    def _fields(self, exchange: Exchange, answer: Answer) -> bytes:
        """The header lines of a whole answer; the door adds those of framing, connection and date."""
        request_id = exchange.request_id.encode()
        allowance = exchange.allowance
        limits = b"" if allowance is None else self._limits.lines(allowance)
        cors = render_fields(self._cors.headers(exchange.headers)).block if self._cors.active else b""
        return b"%bx-request-id: %b\r\n%b%b" % (answer.lines, request_id, limits, cors)

    async def _send(self, exchange: Exchange, answer: Answer, send: Send) -> None:
        body = answer.body
        headers = [
            *answer.headers,
            *ALWAYS,
            (b"x-request-id", exchange.request_id.encode()),
            (b"content-length", b"%d" % len(body)),
        ]
        if answer.status == 204:
            headers.pop()  # RFC 9110 §8.6
        if exchange.allowance is not None:
            headers += self._limits.headers(exchange.allowance)
        if self._cors.active:
            headers += self._cors.headers(exchange.headers)
        self._observe(exchange, answer)
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if exchange.method == "HEAD" else body})


_BEGUN = "gatewayd.exchange"  # in the scope: an exchange that `at_once` has begun
_NO_PARAMETERS: Mapping[str, str] = {}
_UNAVAILABLE = Problem("unavailable", "The database cannot do it now. Try again.", headers=((b"retry-after", b"1"),))


def _leave(exchange: Exchange) -> None:
    """Free the place among the credential's requests at once that `_admit` may have taken."""
    if exchange.allowance is not None:
        exchange.allowance.running -= 1


def _answered(exchange: Exchange, result: object) -> Answer:
    """200 with the result of a read; a page that a GET asked for says where the next one is."""
    if type(result) is Listing and result.next_cursor is not None and exchange.method != "POST":
        return success(result, exchange.target)
    return success(result)


def _incoming(exchange: Exchange) -> Incoming:
    scope, client = exchange.scope, exchange.scope.get("client")
    return Incoming(exchange.request_id, scope["query_string"], scope["headers"], client[0] if client else None)


def _relayed(relayed: Relayed) -> Answer:
    return Answer(relayed.status, relayed.body, relayed.fields)


def _encoded(result: object) -> bytes:
    if isinstance(result, bytes):
        return result
    return listing(result) if type(result) is Listing else encode(result)


def _replayed(replay: idempotency.Replay) -> Answer:
    return Answer(200, replay.body, (JSON, (b"idempotent-replayed", b"true")))
