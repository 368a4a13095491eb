"""The API door: from a request to a row, and from its answer to a response.

    find the route -> admit -> decode -> run -> render

What stands between the first and the last is `performing`'s, as it is for every door. A read row does all of it in
one transaction, on the loop where the database can be read there; any other is admitted in one, reads its body, and
is performed. Everything that goes wrong is a `Problem` by the end. What can be told from path, method and headers
alone (404, 405, 406) is told before anyone is asked who they are: it is public in the description.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import trio

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.errors import Problem, either
from gatewayd.http import bearer
from gatewayd.http.render import ALWAYS, problem, render
from gatewayd.http.requests import NOTHING, check_accept, check_conditions, read_fields, read_json, requested_overrides
from gatewayd.http.response_cache import ApiResponseCache, CacheKey
from gatewayd.http.routes import Route, Routes
from gatewayd.http.uploads import Uploads
from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.cors import Cors
from gatewayd.http1.header_fields import Header
from gatewayd.http1.log import Log
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response, send_response
from gatewayd.identity.keys.key_uses import KeyUses
from gatewayd.identity.tokens.authentication import Authenticate
from gatewayd.performing.admission import Admission, Call
from gatewayd.performing.performer import Performer, read_in
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.store import OverBudget, ReadTx, Store, StoreFailure

SLOW_BODY_SECONDS = 0.05  # Chosen: a key may have been revoked while such a body arrived

Observe = Callable[["ApiCall", Response], None]
"""Told of each request once it is answered, for the access log and the metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiParts:
    """What the API door is made of.

    `call_seconds` is the longest that a call may wait for others. `public_url` is told to who has no token yet;
    empty: not told. `uploads` receives the files of rows that take one; None: there are no such rows. `holder_of`
    guesses whose share of what is limited a token's request takes before it is known; None: nobody can say. `key_uses`
    counts what API keys are used for.
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
    uploads: Uploads | None = None
    holder_of: Callable[[str], str | None] = field(default=lambda token: None)
    key_uses: KeyUses = field(default_factory=KeyUses)


@dataclass(slots=True)
class ApiCall(Call):
    """One request on its way through."""

    request: Request
    route: Route | None = field(default=None, init=False)
    parameters: Sequence[str] = field(default=(), init=False)


class Api:
    """The ASGI callable that serves every row."""

    def __init__(self, parts: ApiParts) -> None:
        self._store = parts.store
        self._is_shared = parts.store.is_shared
        self._admission = Admission(parts.authenticate, parts.limits, parts.key_uses)
        self._performer = Performer(parts.store, parts.deps, parts.call_seconds)
        self._holder_of = parts.holder_of
        self._limits = parts.limits
        self._cors = parts.cors
        self._log = parts.log
        self._observe = parts.observe
        self._max_body_bytes = parts.json_body_bytes
        self._public_url = parts.public_url
        self._uploads = parts.uploads
        self._routes = Routes(parts.operations)
        self._cache = ApiResponseCache()

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        request = scope["request"]
        call = request.begun if isinstance(request.begun, ApiCall) else _open(request)
        request.begun = None  # or each would keep the other
        try:
            response = await self._respond(call, receive)
        except Exception as error:  # noqa: BLE001 - the request border: one request fails, the daemon goes on
            response = self._refuse_and_log(call, error)
        finally:
            self._admission.leave(call)
        self._observe(call, response)
        await send_response(request, response, send, self._fields(call))

    def at_once(self, request: Request) -> Response | None:
        """The whole response where nothing has to be waited for; None: `__call__` goes on with what was begun here."""
        call = _open(request)
        try:
            response = self._respond_now(call)
        except Exception as error:  # noqa: BLE001 - the request border
            self._admission.leave(call)
            return self._complete(call, self._refuse_and_log(call, error))
        if response is None:
            request.begun = call
            return None
        self._admission.leave(call)
        return self._complete(call, response)

    def _complete(self, call: ApiCall, response: Response) -> Response:
        try:
            complete = response.plus(self._fields(call))
            _ = complete.lines
        except ValueError as error:  # a value that would start a line of its own
            complete = self._refuse_and_log(call, error).plus(self._fields(call))
        self._observe(call, complete)
        return complete

    def _fields(self, call: ApiCall) -> list[Header]:
        """The header fields that are the request's own."""
        fields: list[Header] = [] if call.allowance is None else self._limits.headers(call.allowance)
        if self._cors.active:
            fields += self._cors.headers(call.request.fields)
        fields += call.request.answer_fields
        return fields

    def _refuse_and_log(self, call: ApiCall, error: Exception) -> Response:
        """The problem that an exception is to the caller; what is no `Problem` is logged."""
        request = call.request
        if isinstance(error, StoreFailure) and isinstance(error.__cause__, Problem):
            error = error.__cause__  # no place among long reads: nothing is wrong with the store
        if isinstance(error, Problem):
            scopes = call.route.operation.scopes if call.route else ()
            bearer.challenge(error, request, self._public_url, scopes)
            return problem(error, request.id).plus(ALWAYS)
        if isinstance(error, StoreFailure | OverBudget):
            self._log.error("store_failed", request_id=request.id, path=request.path, exc_info=error)
            return problem(_UNAVAILABLE, request.id).plus(ALWAYS)
        self._log.error("request_failed", request_id=request.id, path=request.path, exc_info=error)
        return problem(Problem("internal_error", "The error was recorded."), request.id).plus(ALWAYS)

    def _respond_now(self, call: ApiCall) -> Response | None:
        """What the head of the request decides, and reads that are short; None for all that may have to wait."""
        request = call.request
        read_fields(request)
        routes, call.parameters = self._routes.find(request.path)
        route = call.route = routes.get("GET" if request.method == "HEAD" else request.method)
        if route is None:
            return self._other_method(request, routes)
        operation = route.prepared.operation
        check_accept(request.fields.get(b"accept"), operation.gives_file)
        if operation.takes_key:
            check_conditions(request)
        if operation.kind != "read" or operation.long or route.in_body or self._is_shared:
            return None
        try:
            return self._store.read_now(lambda tx: self._answer_read(call, route, tx), None)
        except OverBudget:
            return None

    def knows(self, path: str) -> bool:
        """Whether there is an operation at this path, by whatever method."""
        return bool(self._routes.find(path)[0])

    def _other_method(self, request: Request, routes: Mapping[str, Route]) -> Response:
        if not routes:
            near = self._routes.nearest(request.path)
            meant = "" if near is None else f" Did you mean {near}?"
            raise Problem("not_found", f"There is nothing at this path.{meant}")
        allowed = {*routes, "OPTIONS", *(["HEAD"] if "GET" in routes else [])}
        allow = (b"allow", ", ".join(sorted(allowed)).encode())
        if request.method != "OPTIONS":
            message = f"{request.method} is not allowed here: use {either(sorted(routes))}."
            raise Problem("method_not_allowed", message, headers=(allow,))
        return Response(204, (allow, *self._cors.preflight(request.fields, sorted(routes)), *ALWAYS))

    def _answer_read(self, call: ApiCall, route: Route, tx: ReadTx) -> Response | None:
        """The whole of a short read in one transaction; None where it is charged, which has to wait for the writer."""
        caller = self._admit(call, route, tx)
        if caller.metered:
            return None
        request = call.request
        key = CacheKey(caller, request.raw_path, request.query)
        response = self._cache.find(key, tx)
        if response is None:
            tx.used_now = tx.used_today = False  # until here it was asked for the credential
            value = read_in(tx, route.prepared.operation, caller, _decoded(call, route, None))
            response = render(value, request)
            self._cache.keep(key, response, tx)
        return response

    async def _respond(self, call: ApiCall, receive: Receive) -> Response:
        response = self._respond_now(call) if call.route is None else None
        if response is not None:
            return response
        route = call.route
        assert route is not None
        operation = route.prepared.operation
        is_read = operation.kind == "read" and not route.in_body
        if is_read and not operation.long and call.caller is None:
            response = await self._read_soon(call, route)
            if response is not None:
                return response
        caller = await self._caller_of(call, route)
        if is_read and not caller.metered:
            # Too long for what others wait behind: known, or found out.
            value = await self._performer.read_on_thread(operation, caller, _decoded(call, route, None))
            return render(value, call.request)
        key = call.request.text(b"idempotency-key") if operation.takes_key else None
        overrides = requested_overrides(call.request) if operation.overrides_closing else NOTHING
        if operation.takes_file:
            assert self._uploads is not None
            request = _decoded(call, route, None)  # before the file: what is wrong with it is told at once
            if key is None:
                await self._performer.require_credits(operation, caller, request)
            async with self._uploads.receive(call.request, receive, operation, caller.org_id) as file:
                caller = _overriding(await self._still(call, caller), overrides)
                return render(await self._performer.perform(operation, caller, request, key, file), call.request)
        body = None
        if route.in_body:
            body = await read_json(call.request, receive, self._max_body_bytes)
            caller = await self._still(call, caller)
        request = _decoded(call, route, body)
        incoming = call.request if operation.takes_incoming else None
        caller = _overriding(caller, overrides)
        value = await self._performer.perform(operation, caller, request, key, incoming)
        return render(value, call.request)

    async def _read_soon(self, call: ApiCall, route: Route) -> Response | None:
        """As `_answer_read`, where the loop could not do it; None too where it takes too long for what is short.

        What was read is told once the proof is used up that the caller came with, and so is what was wrong.
        """
        try:
            token = (call.request.text(b"authorization") or "").partition(" ")[2].strip()
            holder = self._holder_of(token)
            return await self._store.read_soon(lambda tx: self._answer_read(call, route, tx), None, holder)
        except OverBudget:
            return None
        finally:
            await self._spend_proof(call)

    async def _caller_of(self, call: ApiCall, route: Route) -> Caller:
        """Who is calling, and may. Raises `Problem`."""
        if call.caller is not None:
            return call.caller
        try:
            return await self._store.read(lambda tx: self._admit(call, route, tx))
        finally:
            await self._spend_proof(call)

    async def _spend_proof(self, call: ApiCall) -> None:
        """Where daemons share the store a proof is used up there, if the call was let in, and not for nothing.

        Raises `Problem`.
        """
        if call.possession is not None and call.allowance is not None:
            await call.possession.spend_in(self._store)

    async def _still(self, call: ApiCall, caller: Caller) -> Caller:
        """The caller, asked for again where its body took long to arrive. Raises `Problem` `invalid_token`."""
        if trio.current_time() - call.started <= SLOW_BODY_SECONDS:
            return caller
        admitted = await self._store.read(lambda tx: self._admission.identify(tx, call))
        return msgspec.structs.replace(admitted, metered=True) if caller.metered else admitted

    def _admit(self, call: ApiCall, route: Route, tx: ReadTx) -> Caller:
        # Once: at a second look the same proof would seem to be replayed.
        call.token, call.possession = bearer.credential_of(call.request, self._public_url)
        caller = self._admission.admit(tx, call, route.prepared)
        call.request.admitted = True
        return caller


_NO_PARAMETERS: Mapping[str, str] = {}
_UNAVAILABLE = Problem("unavailable", "The database cannot do it now. Try again.", headers=((b"retry-after", b"1"),))


def _open(request: Request) -> ApiCall:
    return ApiCall(trio.current_time(), request.peer, request)


def _overriding(caller: Caller, overrides: frozenset[str]) -> Caller:
    return msgspec.structs.replace(caller, overrides=overrides) if overrides else caller


def _decoded(call: ApiCall, route: Route, body: bytes | None) -> msgspec.Struct:
    """The request that the row takes, of the query or of the body."""
    query, values = call.request.query, call.parameters
    parameters = dict(zip(route.parameters, values, strict=True)) if values else _NO_PARAMETERS
    if body is None:
        return route.prepared.decoder.query(query.decode("latin-1"), parameters)
    if query:
        raise Problem(
            "unknown_parameter", "This operation takes its parameters in the JSON body, not in the query string."
        )
    return route.prepared.decoder.body(body, parameters)
