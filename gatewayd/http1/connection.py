"""One HTTP/1.1 connection: reads requests, runs the application, writes responses (RFC 9112).

One task serves a connection; requests are answered in the order they came. Nothing is read while the application works
unless it calls receive(). Deadlines are plain attributes that the server's reaper looks at: a cancel scope per wait
would cost more than the parsing. Whatever ends a request early (a fault in its body, a deadline, a peer that is gone)
cancels the connection's one scope: the application is unwound by trio.Cancelled and cannot take it for its own error.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Final

import trio

from gatewayd.http1.asgi import Address, AsgiVersions, HttpScope
from gatewayd.http1.asgi_call import BODY, CLOSING, HEAD, IDLE, WORKING, AsgiCall
from gatewayd.http1.parser import Fault, Request, RequestParser
from gatewayd.http1.proxy_headers import TrustedProxies
from gatewayd.http1.response import render_head, status_line
from gatewayd.http1.state import PeerGoneError, Reply, ServerState
from gatewayd.http1.transports import Transport

_ASGI: Final[AsgiVersions] = {"version": "3.0", "spec_version": "2.4"}
_BODY_TYPE: Final = b"content-type: application/problem+json\r\n"

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
        "_peer",
        "_reset",
        "_scheme",
        "_server_address",
        "_trusted",
        "deadline",
        "parser",
        "phase",
        "phase_began",
        "server",
        "transport",
        "write_deadline",
    )

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
        self._trusted: TrustedProxies | None = None
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

    def believe(self, proxies: TrustedProxies) -> None:
        """Take the client and the scheme from forwarding headers if the peer is a trusted proxy."""
        if proxies.believes(self._peer):
            self._trusted = proxies

    async def run(self) -> None:
        """Serve the connection to its end. The transport is closed whatever happens."""
        try:
            with self._cancel:
                await self._converse()
            if self._cancel.cancelled_caught:
                await self._answer_after_cancel()
        finally:
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
            scope = self._scope(request)
            reply = server.at_once(scope) if request.complete else None
            if reply is None:
                call = self._call = AsgiCall(self, request)
                await call.run(scope)
                if not (call.reusable and await self._swallow(request)):
                    await self._end(call)
                    return
                self._call = None
            elif not await self._reply(request, reply):
                return
            if parser.requests:
                # A peer that pipelines must not keep the loop to itself.
                await trio.lowlevel.checkpoint()

    async def _reply(self, request: Request, reply: Reply) -> bool:
        """Send an answer that was there at once; whether the connection can go on."""
        goes_on = request.keep_alive and not self.server.draining
        head = render_head(request, reply, self.server.date_line, goes_on)
        body = b"" if request.method == "HEAD" or reply.status in (204, 304) else reply.body
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

    async def _next_request(self) -> Request | None:
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
            if not data:
                if parser.in_head:
                    await self._answer(Fault(400, "The request ended within its header block."))
                return None
            if self.phase == IDLE:
                self._head_begins()
            parser.feed(data)
        return parser.requests.popleft()

    def _head_begins(self) -> None:
        self.phase = HEAD
        self.deadline = self.server.deadline_in(self.server.settings.header_timeout_seconds)

    def _scope(self, request: Request) -> HttpScope:
        client, scheme = self._peer, self._scheme
        if self._trusted is not None:
            client, scheme = self._trusted.resolve(client, scheme, request.headers)
        return {
            "type": "http",
            "asgi": _ASGI,
            "http_version": request.version,
            "method": request.method,
            "scheme": scheme,
            "path": request.path,
            "raw_path": request.raw_path,
            "query_string": request.query_string,
            "root_path": "",
            "headers": request.headers,
            "client": client,
            "server": self._server_address,
        }

    async def _swallow(self, request: Request) -> bool:
        """Read what the application left of the body; whether the connection can go on."""
        request.body.clear()
        if request.complete:
            return True
        request.discarding = True
        self.phase = CLOSING
        self.deadline = self.server.deadline_in(self.server.settings.linger_seconds)
        swallowed = await self._read_away(request, request.received + self.server.settings.max_drain_bytes)
        self.phase = WORKING
        self.deadline = math.inf
        return swallowed

    async def _read_away(self, request: Request, allowed: int) -> bool:
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
        elif not call.request_complete:
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
        refusal = server.refuse(fault.status, fault.detail)
        head_only = self._call is not None and self._call.head_only
        head = b"%b%b%bx-request-id: %b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        values = (status_line(fault.status), server.date_line, _BODY_TYPE, refusal.request_id, len(refusal.body))
        data = head % values
        self.phase = CLOSING
        self.deadline = math.inf
        with trio.move_on_after(server.settings.linger_seconds), suppress(PeerGoneError):
            await self.transport.send(data if head_only else data + refusal.body, self.write_progress)
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
