"""One attempt: one POST over HTTP/1.1 on the guarded transport, within one deadline, never sent twice.

Idle connections are kept for the next attempt at the same receiver: few, and not for long. A pooled one is used only if
the peer has been silent on it since; once a byte of the request was written, a failure is this attempt's failure.
Redirects are not followed. The response is read to its end, or to a limit that costs the connection. A 2xx is a success
once its head is whole, whatever becomes of its body (Spec §6); any other response that breaks off is a failure.
"""

import math
import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

import h11
import trio

from gatewayd.outbound.errors import ConnectError, DeadlineError, OutboundError, ProtocolError, RedirectError
from gatewayd.outbound.phases import Phases
from gatewayd.outbound.targets import Target, parse_target
from gatewayd.outbound.transport import GuardedStream, GuardedTransport, broken

IDLE_PER_KEY: Final = 4  # Chosen: as many as a subscription has attempts in flight
IDLE_TOTAL: Final = 256  # Chosen: file descriptors the daemon can spare
IDLE_SECONDS: Final = 15.0  # Chosen: below most servers' own limit, so that they seldom close under a new request
LIFE_SECONDS: Final = 120.0  # Chosen: a receiver that moves to another address is followed within two minutes
TIMEOUT_SECONDS: Final = 10.0  # Spec §8
RESPONSE_BYTES_READ: Final = 64 * 1024  # Chosen: of the body
RESPONSE_BYTES_STORED: Final = 16 * 1024  # Chosen: for the console
HEADER_BYTES: Final = 16 * 1024  # Chosen: status line and headers together
WIRE_BYTES: Final = 256 * 1024  # Chosen: everything received, so that chunk framing and 1xx cannot go on for ever
INTERIM_RESPONSES: Final = 16  # Chosen: 1xx before the real one (RFC 9110 §15.2 sets no bound)
RECEIVE_BYTES: Final = 16 * 1024
RETRY_AFTER_CHARACTERS: Final = 100  # an HTTP-date has 29

Headers = tuple[tuple[str, str], ...]

_END: Final = h11.EndOfMessage()
_KEEP_ALIVE_TIMEOUT = re.compile(r"timeout=([0-9]{1,6})")  # RFC 2068 §19.7.1.1


class PooledConnection(Protocol):
    """What the pool needs of a connection; times are on trio's clock, in seconds."""

    born: float
    idle_until: float

    def alive(self) -> bool:
        """Whether the peer has neither closed nor said anything since."""

    def close(self) -> None:
        """Closes at once, without waiting."""


ConnectionT = TypeVar("ConnectionT", bound=PooledConnection)
Key = tuple[str, str]  # subscription and URL: no two subscriptions share a connection, and a changed URL finds none


class ConnectionPool(Generic[ConnectionT]):
    """Idle connections by key, most recently used first out."""

    def __init__(self, per_key: int = IDLE_PER_KEY, total: int = IDLE_TOTAL) -> None:
        self._per_key = per_key
        self._total = total
        self._idle: OrderedDict[Key, list[ConnectionT]] = OrderedDict()
        self._count = 0
        self._open = True
        self._renewed_at = -math.inf

    def __len__(self) -> int:
        return self._count

    def take(self, key: Key, now: float) -> ConnectionT | None:
        """Hands out a live connection, now the caller's to close; None when there is none."""
        idle = self._idle.get(key)
        while idle:
            connection = self._pop(key, -1)
            if connection.idle_until > now and connection.alive():
                return connection
            connection.close()
        return None

    def put(self, key: Key, connection: ConnectionT, now: float) -> None:
        """Takes a connection that is between requests, or closes it."""
        connection.idle_until = min(connection.idle_until, connection.born + LIFE_SECONDS)
        too_late = connection.idle_until <= now or connection.born < self._renewed_at
        if not self._open or too_late or self._per_key < 1:
            connection.close()
            return
        idle = self._idle.setdefault(key, [])
        idle.append(connection)
        self._count += 1
        self._idle.move_to_end(key)
        if len(idle) > self._per_key:
            self._pop(key, 0).close()
        elif self._count > self._total:
            self._pop(next(iter(self._idle)), 0).close()

    def sweep(self, now: float) -> None:
        """Closes what is past its time; cheap enough to call every few seconds."""
        for key in list(self._idle):
            for connection in [one for one in self._idle[key] if one.idle_until <= now]:
                self._pop(key, self._idle[key].index(connection)).close()

    def drop(self, pool_key: str) -> None:
        """Closes the idle connections of one subscription."""
        for key in [key for key in self._idle if key[0] == pool_key]:
            while key in self._idle:
                self._pop(key, -1).close()

    def renew(self, now: float) -> None:
        """Closes everything, and whatever is put that was opened before now."""
        self._renewed_at = now
        self._close_all()

    def close(self) -> None:
        """Closes everything, and from now on whatever is put."""
        self._open = False
        self._close_all()

    def _close_all(self) -> None:
        for key in list(self._idle):
            while key in self._idle:
                self._pop(key, -1).close()

    def _pop(self, key: Key, index: int) -> ConnectionT:
        idle = self._idle[key]
        connection = idle.pop(index)
        self._count -= 1
        if not idle:
            del self._idle[key]
        return connection


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """What came of one POST. `error` and `body_error` are stable codes, `detail` for the operator's log only."""

    response_code: int | None  # None: no status line arrived
    error: str | None  # None: a 2xx whose head is whole
    body_error: str | None  # what broke or held up the body of a 2xx; None: nothing did
    detail: str
    headers: Headers  # the response's, names in lower case
    body_excerpt: bytes
    retry_after: str | None
    duration_ms: int
    timings: tuple[tuple[str, int], ...]  # phases as run: dns, connect, tls, send, headers, body; microseconds
    reused: bool  # sent on a pooled connection


@dataclass(slots=True)
class _Response:
    """The response as far as it has arrived."""

    status: int | None = None
    headers: Headers = ()
    retry_after: str | None = None
    keep_seconds: float = IDLE_SECONDS
    excerpt: bytearray = field(default_factory=bytearray)
    body_bytes: int = 0
    reused: bool = False


class _Connection:
    """One connection to one receiver, between or within requests.

    h11 keeps the states and reads the responses. It is shown the same bare request each time: our other headers
    change nothing for it, and having it check and render ten of them costs as much as reading the response.
    """

    __slots__ = ("_drained", "_ended", "_head", "_http", "_request", "_stream", "_wire_bytes", "born", "idle_until")

    def __init__(self, stream: GuardedStream, target: Target, user_agent: str) -> None:
        self.born = trio.current_time()
        self.idle_until = 0.0
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEADER_BYTES)
        self._stream = stream
        self._drained = True  # the parser has nothing left to say until more bytes arrive
        self._ended = False
        self._wire_bytes = 0
        fields = [("Host", target.authority), ("User-Agent", user_agent), ("Content-Type", "application/json")]
        self._request = h11.Request(method="POST", target=target.request_target, headers=fields)
        self._head = f"POST {target.request_target} HTTP/1.1\r\n{_header_lines(fields)}Content-Length: "

    def alive(self) -> bool:
        """Whether the peer has been silent since: readable now means closed, reset, or talking out of turn."""
        return not _socket(self._stream).is_readable()

    def close(self) -> None:
        """Closes at once; without the TLS goodbye, which HTTP does not need (framing tells where a response ends)."""
        _socket(self._stream).close()

    async def send(self, headers: Headers, body: bytes) -> None:
        """Writes one request in one piece. Raises ValueError for a header that would not be one line of ASCII."""
        self._wire_bytes = 0
        self._drained = True
        head = f"{self._head}{len(body)}\r\n{_header_lines(headers)}\r\n"
        self._http.send(self._request)
        self._http.send(_END)
        await self._stream.send_all(head.encode("ascii") + body)

    async def next_event(self) -> h11.Event:
        """The next event of the response. Raises ProtocolError, or ConnectError when the response breaks off."""
        while True:
            if self._drained:
                data = await self._stream.receive_some(RECEIVE_BYTES)
                self._ended = not data
                self._wire_bytes += len(data)
                if self._wire_bytes > WIRE_BYTES:
                    raise ProtocolError(f"more than {WIRE_BYTES} bytes received")
                self._http.receive_data(bytes(data))
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                raise (ConnectError if self._ended else ProtocolError)(str(error)) from error
            self._drained = isinstance(event, type)  # NEED_DATA; events are instances
            if not isinstance(event, type):
                return event

    def reusable(self) -> bool:
        """Whether another request may follow; readies the parser for it."""
        http = self._http
        if http.our_state is not h11.DONE or http.their_state is not h11.DONE or http.trailing_data[0]:
            return False
        http.start_next_cycle()
        return True


class Sender:
    """Sends attempts and keeps idle connections between them."""

    def __init__(
        self, transport: GuardedTransport, *, user_agent: str, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        self._transport = transport
        self._user_agent = user_agent
        self._timeout = timeout_seconds
        self._pool: ConnectionPool[_Connection] = ConnectionPool()

    @property
    def idle(self) -> int:
        """How many connections the pool holds, for metrics."""
        return len(self._pool)

    async def post(self, url: str, headers: Headers, body: bytes, *, pool_key: str) -> AttemptResult:
        """Makes one attempt. Never raises for anything a receiver or network can do; only trio.Cancelled passes.

        `headers` are the attempt's own, besides Host, User-Agent, Content-Type and Content-Length.
        `pool_key` is the subscription: connections are pooled by subscription and URL.
        """
        phases = Phases()
        response = _Response()
        failure: OutboundError | None = None
        with trio.move_on_after(self._timeout) as deadline:
            try:
                await self._send_request((pool_key, url), headers, body, response, phases)
            except OutboundError as error:
                failure = error
            except trio.BrokenResourceError as error:
                failure = broken(error, phases.current)
        if deadline.cancelled_caught:
            failure = DeadlineError(f"no complete answer within {self._timeout:g} s; got as far as: {phases.current}")
        return _result(response, failure, phases)

    def sweep(self) -> None:
        """Closes idle connections past their time; the dispatcher calls it now and then."""
        self._pool.sweep(trio.current_time())

    def close_idle(self, pool_key: str) -> None:
        """Closes the idle connections of a subscription that was changed, disabled or deleted."""
        self._pool.drop(pool_key)

    def forget_connections(self) -> None:
        """Vets every address anew: connections that are open now serve the attempts that are under way alone."""
        self._pool.renew(trio.current_time())

    async def aclose(self) -> None:
        """Closes all idle connections; attempts under way close theirs when they end."""
        self._pool.close()
        await trio.lowlevel.checkpoint()

    async def _send_request(self, key: Key, headers: Headers, body: bytes, response: _Response, phases: Phases) -> None:
        connection = self._pool.take(key, trio.current_time())
        response.reused = connection is not None
        if connection is None:
            target = parse_target(key[1], allow_http=self._transport.policy.allow_http)
            stream = await self._transport.connect(target, phases)
            connection = _Connection(stream, target, self._user_agent)
        whole = False
        try:
            phases.enter("send")
            await connection.send(headers, body)
            phases.enter("headers")
            whole = await _receive(connection, response, phases)
        finally:
            if whole and connection.reusable():
                now = trio.current_time()
                connection.idle_until = now + response.keep_seconds
                self._pool.put(key, connection, now)
            else:
                connection.close()


async def _receive(connection: _Connection, response: _Response, phases: Phases) -> bool:
    """Reads the response; False when it is longer than the limit and the rest was left unread."""
    interim = 0
    while True:
        event = await connection.next_event()
        if type(event) is h11.Response:
            phases.enter("body")
            _read_head(event, response)
        elif type(event) is h11.Data:
            room = RESPONSE_BYTES_STORED - len(response.excerpt)
            response.excerpt += event.data[:room] if room > 0 else b""
            response.body_bytes += len(event.data)
            if response.body_bytes > RESPONSE_BYTES_READ:
                return False
        elif type(event) is h11.EndOfMessage:
            return True
        elif type(event) is h11.InformationalResponse:
            interim += 1
            if interim > INTERIM_RESPONSES:
                raise ProtocolError(f"more than {INTERIM_RESPONSES} interim answers")
        else:  # ConnectionClosed, the only other event a server can cause
            raise ConnectError("closed before the answer")


def _header_lines(fields: Iterable[tuple[str, str]]) -> str:
    lines = [f"{name}: {value}" for name, value in fields]
    if not "".join(lines).isprintable():
        raise ValueError("a header's value goes over its line")
    return "\r\n".join([*lines, ""])


def _read_head(event: h11.Response, response: _Response) -> None:
    response.status = event.status_code
    response.headers = tuple([(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers])
    for name, value in response.headers:
        if name == "retry-after":
            response.retry_after = value[:RETRY_AFTER_CHARACTERS]
        elif name == "keep-alive":
            response.keep_seconds = _keep_seconds(value)


def _keep_seconds(header: str) -> float:
    """How long the receiver says it keeps an idle connection (`timeout=5`), less a second for the way there."""
    promised = _KEEP_ALIVE_TIMEOUT.search(header)
    return IDLE_SECONDS if promised is None else min(IDLE_SECONDS, int(promised[1]) - 1)


def _result(response: _Response, failure: OutboundError | None, phases: Phases) -> AttemptResult:
    accepted = response.status is not None and 200 <= response.status < 300  # Spec §6: the head decides
    error, detail = (failure.code, failure.detail) if failure is not None else _error_of(response.status)
    return AttemptResult(
        response_code=response.status,
        error=None if accepted else error,
        body_error=error if accepted else None,
        detail=detail,
        headers=response.headers,
        body_excerpt=bytes(response.excerpt),
        retry_after=response.retry_after,
        duration_ms=phases.total_ms(),
        timings=phases.spent(),
        reused=response.reused,
    )


def _error_of(status: int | None) -> tuple[str | None, str]:
    """Error code and detail of a response that arrived."""
    if status is None:
        return ConnectError.code, "no answer"
    if 200 <= status < 300:  # Spec §6
        return None, ""
    if status < 400:
        return RedirectError.code, f"answered {status}; redirects are not followed"
    if status < 600:
        return f"http_{status // 100}xx", f"answered {status}"
    return ProtocolError.code, f"answered {status}, which is no HTTP status"


def _socket(stream: GuardedStream) -> trio.socket.SocketType:
    return stream.socket if isinstance(stream, trio.SocketStream) else stream.transport_stream.socket
