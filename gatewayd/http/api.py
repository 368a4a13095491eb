"""From an ASGI request to a row and back: the one path every API request takes.

    find the route -> authenticate -> rate limit -> scope -> decode -> idempotency -> run -> encode

A read row does all of it in one transaction on the loop's own connection. A write row authenticates there, reads its
body, and runs in the writer. Everything that goes wrong is a `Problem` by the end. What can be told from path, method
and headers alone (404, 405, 406) is told before anyone is asked who they are: it is public in the description.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

import msgspec
import trio

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Incoming, Operation, Relayed
from gatewayd.contract.pages import Listing
from gatewayd.errors import Problem
from gatewayd.http import bearer, idempotency
from gatewayd.http.rate_limits import Allowance, RateLimits
from gatewayd.http.render import ALWAYS, encoded, json_response, problem, success
from gatewayd.http.requests import check_accept, read_fields, read_json
from gatewayd.http.response_cache import CacheKey, ResponseCache
from gatewayd.http.routes import Route, Routes
from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.cors import Cors
from gatewayd.http1.header_fields import Header
from gatewayd.http1.log import Log
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response, send_response
from gatewayd.identity.authentication import Possession
from gatewayd.store import OverBudget, ReadTx, Store, StoreFailure, WriteTx

SLOW_BODY_SECONDS = 0.05  # Chosen: a key may have been revoked while such a body arrived

_URL_CHARACTERS = "!$%&'()*+,-./:;=?@_~"


class Authenticate(Protocol):
    """Says who a token is; raises `Problem` `invalid_token`."""

    def __call__(
        self, tx: ReadTx, version: int, token: str, peer: str | None, possession: Possession | None = None
    ) -> Caller: ...


Observe = Callable[["Call", Response], None]
"""Told of each request once it is answered, for the access log and the metrics."""


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
class Call:
    """One request on its way through."""

    request: Request
    started: float
    route: Route | None = None
    parameters: Sequence[str] = ()
    caller: Caller | None = None
    allowance: Allowance | None = None
    possession: Possession | None = None


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
        self._cache = ResponseCache()

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        request = scope["request"]
        call = request.begun if isinstance(request.begun, Call) else _open(request)
        request.begun = None  # or each would keep the other
        try:
            response = await self._respond(call, receive)
        except Exception as error:  # noqa: BLE001 - the request border: one request fails, the daemon goes on
            response = self._refuse_and_log(call, error)
        finally:
            _leave(call)
        complete = response.plus(self._fields(call))
        self._observe(call, complete)
        await send_response(request, complete, send)

    def at_once(self, request: Request) -> Response | None:
        """The whole response where nothing has to be waited for; None: `__call__` goes on with what was begun here."""
        call = _open(request)
        try:
            response = self._respond_now(call)
        except Exception as error:  # noqa: BLE001 - the request border
            _leave(call)
            return self._rendered(call, self._refuse_and_log(call, error))
        if response is None:
            request.begun = call
            return None
        _leave(call)
        return self._rendered(call, response)

    def _rendered(self, call: Call, response: Response) -> Response:
        complete = response.plus(self._fields(call))
        try:
            _ = complete.lines
        except ValueError as error:  # a value that would start a line of its own
            complete = self._refuse_and_log(call, error).plus(self._fields(call))
        self._observe(call, complete)
        return complete

    def _fields(self, call: Call) -> list[Header]:
        """The header fields that are the request's own."""
        fields: list[Header] = [] if call.allowance is None else self._limits.headers(call.allowance)
        if self._cors.active:
            fields += self._cors.headers(call.request.fields)
        return fields

    def _refuse_and_log(self, call: Call, error: Exception) -> Response:
        """The problem that an exception is to the caller; what is no `Problem` is logged."""
        request_id, path = call.request.id, call.request.path
        if isinstance(error, Problem):
            needed = call.route.operation.scopes if call.route else ()
            given = call.request.fields.get(b"authorization", b"")
            error = bearer.challenged(error, bearer.Asked(given, self._public_url, needed))
            return problem(error, request_id).plus(ALWAYS)
        if isinstance(error, StoreFailure | OverBudget):
            self._log.error("store_failed", request_id=request_id, path=path, exc_info=error)
            return problem(_UNAVAILABLE, request_id).plus(ALWAYS)
        self._log.error("request_failed", request_id=request_id, path=path, exc_info=error)
        return problem(Problem("internal_error", "The error was recorded."), request_id).plus(ALWAYS)

    def _respond_now(self, call: Call) -> Response | None:
        """What the head of the request decides, and reads that are short; None for all that may have to wait."""
        request = call.request
        read_fields(request)
        routes, call.parameters = self._routes.find(request.path)
        route = call.route = routes.get("GET" if request.method == "HEAD" else request.method)
        if route is None:
            return self._other_method(call, routes)
        check_accept(request.fields.get(b"accept"))
        return self._read_inline(call, route) if route.operation.kind == "read" else None

    async def _respond(self, call: Call, receive: Receive) -> Response:
        response = self._respond_now(call) if call.route is None else None
        if response is not None:
            return response
        route = call.route
        assert route is not None
        kind = route.operation.kind
        if kind == "read":
            return await self._run_read(call, route, receive)
        if kind == "write":
            return await self._run_write(call, route, receive)
        return await self._run_call(call, route, receive)

    def _other_method(self, call: Call, routes: Mapping[str, Route]) -> Response:
        if not routes:
            raise Problem("not_found", "There is nothing at this path.")
        allowed = {*routes, "OPTIONS", *(["HEAD"] if "GET" in routes else [])}
        allow = (b"allow", ", ".join(sorted(allowed)).encode())
        if call.request.method != "OPTIONS":
            raise Problem("method_not_allowed", f"Use {' or '.join(sorted(routes))} here.", headers=(allow,))
        return Response(204, (allow, *self._cors.preflight(call.request.fields, sorted(routes)), *ALWAYS))

    # -- the three kinds

    def _read_inline(self, call: Call, route: Route) -> Response | None:
        """The whole of a read in one step; None where it has a body to wait for, or is too long for the loop."""
        if route.in_body or route.operation.long:
            return None
        try:
            return self._store.read_now(lambda tx: self._read_or_cached(call, route, tx), None)
        except OverBudget:
            return None

    def _read_or_cached(self, call: Call, route: Route, tx: ReadTx) -> Response:
        caller = self._admit(call, route, tx)
        version = self._store.version
        key = CacheKey(caller, call.request.raw_path, call.request.query)
        response = self._cache.find(version, key, tx)
        if response is None:
            tx.asked_instant = tx.asked_day = False  # until here it was asked for the credential
            response = _result(call, self._read(call, route, None, tx))
            self._cache.keep(version, key, response, tx)
        return response

    async def _run_read(self, call: Call, route: Route, receive: Receive) -> Response:
        """A read that waits for its body, or runs on a thread."""
        body: bytes | None = None
        if call.caller is None:
            self._store.read_now(lambda tx: self._admit(call, route, tx), None)
        if route.in_body:
            body = await read_json(call.request, receive, self._max_body_bytes)

        def work(tx: ReadTx) -> object:
            return self._read(call, route, body, tx)

        if route.in_body and not route.operation.long:
            return _result(call, await self._store.read(work))
        return _result(call, await self._store.read_later(work, None))

    def _read(self, call: Call, route: Route, body: bytes | None, tx: ReadTx) -> object:
        # A second run is admitted and charged already; who is calling is never asked on another thread.
        caller = call.caller or self._admit(call, route, tx)
        tx.bind(caller.org_id)
        return route.operation.handler(tx, caller, self._decode(call, route, body))

    async def _run_write(self, call: Call, route: Route, receive: Receive) -> Response:
        caller, request = await self._admitted_request(call, route, receive)
        record = self._record(call, route, caller, request)
        handler = route.operation.handler

        def work(tx: WriteTx) -> bytes:
            if record is not None:
                idempotency.begin(tx, record)
            body = encoded(handler(tx, caller, request))
            if record is not None:
                idempotency.keep(tx, record, body)
            return body

        try:
            return success(await self._store.write(work, caller.org_id))
        except idempotency.Replay as replay:
            return _replayed(replay)

    async def _run_call(self, call: Call, route: Route, receive: Receive) -> Response:
        caller, request = await self._admitted_request(call, route, receive)
        operation = route.operation
        arguments = (self._deps, caller, request, *([_incoming(call)] if operation.takes_incoming else []))
        if operation.relays:
            return _relayed(await operation.handler(*arguments))
        record = self._record(call, route, caller, request)
        if record is None:
            return _result(call, await operation.handler(*arguments))
        try:
            lease = await self._store.write(
                lambda tx: idempotency.reserve(tx, record, self._call_seconds), caller.org_id
            )
        except idempotency.Replay as replay:
            return _replayed(replay)
        try:
            body = encoded(await operation.handler(*arguments))
        except BaseException:
            with trio.CancelScope(shield=True):
                await self._store.write(lambda tx: idempotency.forget(tx, record, lease), caller.org_id)
            raise
        await self._store.write(lambda tx: idempotency.complete(tx, record, lease, body), caller.org_id)
        return success(body)

    # -- the steps

    async def _admitted_request(self, call: Call, route: Route, receive: Receive) -> tuple[Caller, msgspec.Struct]:
        caller = self._store.read_now(lambda tx: self._admit(call, route, tx), None)
        body = None
        if route.in_body:
            body = await read_json(call.request, receive, self._max_body_bytes)
            if trio.current_time() - call.started > SLOW_BODY_SECONDS:
                caller = self._store.read_now(lambda tx: self._identify(call, tx), None)
        return caller, self._decode(call, route, body)

    def _admit(self, call: Call, route: Route, tx: ReadTx) -> Caller:
        """Authenticate, charge the rate limit, check the scope."""
        caller = call.caller = self._identify(call, tx)
        call.allowance = self._limits.take(caller.credential_id, route.operation.cost, call.started)
        if not route.allows(caller.scopes):
            raise bearer.lacking(route.operation.scopes)
        return caller

    def _identify(self, call: Call, tx: ReadTx) -> Caller:
        token, proves = bearer.credential_of(call.request.fields.get(b"authorization"))
        if proves and call.possession is None:
            call.possession = self._possession(call)
        return self._authenticate(tx, self._store.version, token, call.request.peer, call.possession)

    def _possession(self, call: Call) -> Possession:
        url = self._public_url + call.request.raw_path.decode("latin-1")
        return Possession(call.request.text(b"dpop"), call.request.method, url)

    def _decode(self, call: Call, route: Route, body: bytes | None) -> msgspec.Struct:
        query = call.request.query
        values = call.parameters
        parameters = dict(zip(route.parameters, values, strict=True)) if values else _NO_PARAMETERS
        if body is None:
            return route.decoder.query(query.decode("latin-1"), parameters)
        if query:
            raise Problem("unknown_parameter", "This operation takes its parameters in the body.")
        return route.decoder.body(body, parameters)

    def _record(self, call: Call, route: Route, caller: Caller, request: msgspec.Struct) -> idempotency.Record | None:
        key = call.request.fields.get(b"idempotency-key")
        if key is None or call.request.method != "POST":
            return None
        return idempotency.record_of(key, route.operation, caller, request)


_NO_PARAMETERS: Mapping[str, str] = {}
_REPLAYED = ((b"idempotent-replayed", b"true"),)
_UNAVAILABLE = Problem("unavailable", "The database cannot do it now. Try again.", headers=((b"retry-after", b"1"),))


def _open(request: Request) -> Call:
    return Call(request, trio.current_time())


def _leave(call: Call) -> None:
    """Free the place among the credential's requests at once that `_admit` may have taken."""
    if call.allowance is not None:
        call.allowance.running -= 1


def _result(call: Call, result: object) -> Response:
    """200 with the result of a read; a page that a GET asked for says where the next one is."""
    if type(result) is Listing and result.next_cursor is not None and call.request.method != "POST":
        return success(result, quote(call.request.target, safe=_URL_CHARACTERS))
    return success(result)


def _incoming(call: Call) -> Incoming:
    request = call.request
    return Incoming(request.id, request.query, request.headers, request.peer)


def _relayed(relayed: Relayed) -> Response:
    return Response(relayed.status, (*relayed.fields, *ALWAYS), relayed.body)


def _replayed(replay: idempotency.Replay) -> Response:
    return json_response(replay.body).plus(_REPLAYED)
