"""One HTTP/1.1 connection: reads requests, runs the application, writes responses (RFC 9112).

One task serves a connection; requests are answered in the order they came. Nothing is read while the application works
unless it calls receive(). Deadlines are plain attributes that the server's reaper looks at: a cancel scope per wait
would cost more than the parsing. Whatever ends a request early (a fault in its body, a deadline, a peer that is gone)
cancels the connection's one scope: the application is unwound by trio.Cancelled and cannot take it for its own error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import trio

from gatewayd.http1.asgi import http_scope
from gatewayd.http1.asgi_call import BODY, CLOSING, HEAD, IDLE, WORKING, AsgiCall
from gatewayd.http1.parser import Fault, ReceivedRequest, RequestParser
from gatewayd.http1.places import BUSY, KNOWN, STRANGER, Place
from gatewayd.http1.proxy_headers import TrustedProxies, are_forwarded
from gatewayd.http1.request import Address
from gatewayd.http1.response import Response, render_head
from gatewayd.http1.state import PeerGoneError, ServerState
from gatewayd.http1.transports import Transport

_CLOSE: Final = b"connection: close\r\n"
_KEEP_ALIVE: Final = b"connection: keep-alive\r\n"  # HTTP/1.0 alone has to be told

_TOO_SLOW: Final = {
    HEAD: Fault(408, "The header block did not arrive in time."),
    BODY: Fault(408, "The request body did not arrive in time."),
}


class Connection:
    """A conversation with one peer over one transport. `trusted` is set when its forwarding headers are believed."""

    __slots__ = (
        "_answered",
        "_call",
        "_cancel",
        "_ending",
        "_fault",
        "_may_be_proxy",
        "_peer",
        "_reset",
        "_scheme",
        "_server_address",
        "_settle",
        "_trusted",
        "deadline",
        "parser",
        "phase",
        "phase_began",
        "place",
        "server",
        "strict_line",
        "transport",
        "write_deadline",
    )
    place: Place  # set by the server, before the connection runs

    def __init__(
        self,
        server: ServerState,
        transport: Transport,
        addresses: tuple[Address | None, tuple[str, int | None]],
        scheme: str,
    ) -> None:
        self.server = server
        self.transport = transport
        self._peer, self._server_address = addresses
        self._scheme = scheme
        self.strict_line = server.strict_line if scheme == "https" else b""
        self._trusted: TrustedProxies | None = None
        self._may_be_proxy = False
        self.parser = RequestParser(server.settings)
        self.phase = IDLE
        self.phase_began = server.now
        self.deadline = server.deadline_in(server.settings.keep_alive_seconds)
        self.write_deadline = math.inf
        self._cancel = trio.CancelScope()
        self._call: AsgiCall | None = None
        self._fault: Fault | None = None
        self._reset = False
        # The scope is cancelled: nothing that is read now may start or go on with work.
        self._ending = False
        # The driver answered in the application's place, which ends the connection.
        self._answered = False
        # Who wants to know whether the peer took the last answer.
        self._settle: Callable[[bool], None] | None = None

    def believe(self, proxies: TrustedProxies) -> None:
        """Take client and scheme from forwarding headers, of the next request on, if the peer is a trusted proxy."""
        believed = proxies.believes(self._peer)
        self._trusted = proxies if believed else None
        self._may_be_proxy = not (believed or self.server.forwarding_noted)

    async def run(self) -> None:
        """Serve the connection to its end. The transport is closed whatever happens."""
        try:
            with self._cancel:
                await self._converse()
            if self._cancel.cancelled_caught:
                await self._answer_after_cancel()
        finally:
            if self._settle is not None:
                self._settled()
            self.parser.close()
            self.transport.close(reset=self._reset)

    # The reaper's side.

    def check(self, now: float) -> None:
        """End the connection if a deadline has passed."""
        if now > self.deadline:
            self._fault = _TOO_SLOW.get(self.phase)
            self._stop()
        elif now > self.write_deadline:
            self._reset = True
            self._stop()

    @property
    def standing(self) -> int:
        """Whether it may be ended for another: see `places`."""
        if self.phase in (IDLE, HEAD):
            return KNOWN if self.place.known else STRANGER
        if self.place.known or (self._call is not None and self._call.admitted):
            return BUSY
        working = self.phase == WORKING and self.write_deadline == math.inf
        return BUSY if working else STRANGER

    def close_if_idle(self) -> bool:
        """End the connection at once if no request has begun; whether it was so."""
        if self.phase == IDLE:
            self._stop()
        return self.phase == IDLE

    def _stop(self) -> None:
        self._ending = True
        self._cancel.cancel()

    # The application's side.

    async def fail(self, fault: Fault) -> None:
        """Unwind the application and answer the fault, unless a response has begun."""
        self._fault = fault
        self._stop()
        await trio.lowlevel.checkpoint()

    async def give_up(self) -> None:
        """Unwind the application: nobody reads its response any more."""
        self._reset = True
        self._stop()
        await trio.lowlevel.checkpoint()

    async def read(self) -> bytes:
        """Wait for bytes; empty when the peer is gone."""
        data = await self.transport.receive()
        if self._ending:
            # Bytes and the end came together: the end counts.
            await trio.lowlevel.checkpoint()
        return data

    def write_progress(self) -> None:
        """A write waits, or the peer has taken something."""
        self.write_deadline = self.server.deadline_in(self.server.settings.write_timeout_seconds)

    async def write(self, data: bytes) -> None:
        """Send everything under the write deadline. Raises PeerGoneError."""
        await self.transport.send(data, self.write_progress)
        self.write_deadline = math.inf

    # The conversation.

    async def _converse(self) -> None:
        server, parser = self.server, self.parser
        while (request := await self._next_request()) is not None:
            self.phase = WORKING
            self.deadline = math.inf
            server.counters.requests += 1
            self._introduce(request)
            response = server.at_once(request) if request.complete else None
            if request.admitted and not self.place.known:
                self.place.note_admitted()
            if response is None:
                call = self._call = AsgiCall(self, request)
                await call.run(http_scope(request, request.version, self._server_address))
                self._settle = request.settle
                if request.admitted and not self.place.known:
                    self.place.note_admitted()
                if not (call.reusable and await self._swallow(request)):
                    await self._end(call)
                    return
                self._call = None
            elif not await self._send(request, response):
                return
            if parser.requests:
                # A peer that pipelines must not keep the loop to itself.
                await trio.lowlevel.checkpoint()

    def _introduce(self, request: ReceivedRequest) -> None:
        """Give the request its id, and say who sent it."""
        request.id = self.server.request_ids.next()
        request.client, request.scheme = self._peer, self._scheme
        if self._trusted is not None:
            request.vouched = True
            request.client, request.scheme = self._trusted.resolve(self._peer, self._scheme, request.headers)
        elif self._may_be_proxy:
            self._may_be_proxy = False  # a proxy says so in every request, the first of a connection included
            if are_forwarded(request.headers):
                self.server.note_forwarding(self._peer)

    async def _send(self, request: ReceivedRequest, response: Response) -> bool:
        """Send a response that was there at once; whether the connection can go on."""
        goes_on = request.keep_alive and not self.server.draining
        connection_line = _CLOSE if not goes_on else b"" if request.version == "1.1" else _KEEP_ALIVE
        head = render_head(response, request.id, self.server.date_line, connection_line, self.strict_line)
        body = b"" if request.method == "HEAD" or response.status in (204, 304) else response.body
        try:
            rest = self.transport.send_at_once(head, body)
            if rest:
                await self.write(rest)
        except PeerGoneError:
            self._reset = True
            return False
        if not goes_on:
            await self._say_goodbye()
        return goes_on

    async def _next_request(self) -> ReceivedRequest | None:
        """The next request with a complete header block; None when there will be none."""
        parser, server = self.parser, self.server
        if not (parser.requests or parser.in_head or parser.fault):
            self.phase = IDLE
            self.phase_began = server.now
            self.deadline = server.deadline_in(server.settings.keep_alive_seconds)
        while not parser.requests:
            if parser.fault is not None:
                await self._answer(parser.fault)
                return None
            if self.phase == IDLE and server.draining:
                return None
            if self.phase == WORKING:  # the head of a pipelined request is half here
                self._head_begins()
            data = await self.read()
            if self._settle is not None:
                self._settled()
            if not data:
                if parser.in_head:
                    await self._answer(Fault(400, "The request ended within its header block."))
                return None
            if self.phase == IDLE:
                self._head_begins()
            parser.feed(data)
        return parser.requests.popleft()

    def _settled(self) -> None:
        """Say whether the peer took the last answer: it broke the connection off, or ended it, or went on."""
        settle, self._settle = self._settle, None
        if settle is not None:
            settle(not (self.transport.broken or self._reset))

    def _head_begins(self) -> None:
        self.phase = HEAD
        self.deadline = self.server.deadline_in(self.server.settings.header_timeout_seconds)

    async def _swallow(self, request: ReceivedRequest) -> bool:
        """Read what the application left of the body; whether the connection can go on."""
        request.parts.clear()
        if request.complete:
            return True
        request.discarding = True
        self.phase = CLOSING
        self.deadline = self.server.deadline_in(self.server.settings.linger_seconds)
        swallowed = await self._read_away(request, request.received + self.server.settings.max_drain_bytes)
        self.phase = WORKING
        self.deadline = math.inf
        return swallowed

    async def _read_away(self, request: ReceivedRequest, allowed: int) -> bool:
        while not request.complete:
            if request.received > allowed or self.parser.fault is not None:
                return False
            data = await self.read()
            if not data:
                return False
            self.parser.feed(data)
        return True

    async def _end(self, call: AsgiCall) -> None:
        """Close after the last request: aborted, answered here, or complete."""
        fault = call.unanswered
        if fault is not None:
            await self._answer(fault)
        elif not call.complete:
            self._reset = True
        elif self._settle is not None or not call.request_complete:
            await self._linger()
        else:
            await self._say_goodbye()

    async def _say_goodbye(self) -> None:
        with trio.move_on_after(self.server.settings.linger_seconds):
            await self.transport.finish()

    # Answers of the driver's own.

    async def _answer_after_cancel(self) -> None:
        started = self._call is not None and self._call.started
        if self._fault is not None and not started:
            await self._answer(self._fault)
        elif started and not (self._call is not None and self._call.complete):
            self._reset = True

    async def _answer(self, fault: Fault) -> None:
        """Refuse through the one place that builds error bodies, then close."""
        if self._answered:
            return
        self._answered = True
        server = self.server
        server.counters.refused += 1
        request_id = server.request_ids.next() if self._call is None else self._call.request_id
        response = server.refuse(fault.status, fault.detail, request_id)
        head = render_head(response, request_id, server.date_line, _CLOSE, self.strict_line)
        head_only = self._call is not None and self._call.head_only
        self.phase = CLOSING
        self.deadline = math.inf
        with trio.move_on_after(server.settings.linger_seconds), suppress(PeerGoneError):
            await self.transport.send(head if head_only else head + response.body, self.write_progress)
            await self._linger()

    async def _linger(self) -> None:
        """Read on for a while: closing over unread bytes sends a reset that may destroy the answer (RFC 9112 §9.6)."""
        settings = self.server.settings
        self.phase = CLOSING
        self.deadline = self.write_deadline = math.inf
        left = settings.max_drain_bytes
        with trio.move_on_after(settings.linger_seconds):
            self.transport.shut_down()
            while left > 0 and (data := await self.transport.receive()):
                left -= len(data)
