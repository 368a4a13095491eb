"""HTTP/2 over TLS: the same application, and nothing a peer does ends the process."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import pytest
import trio
import trio.testing
import trustme
from trio.testing import MockClock

from gatewayd.http1.asgi import HttpScope, Receive, Send
from tests.http1.peers import DATE, RunningServer, describing, echo, open_server, respond, until

AUTHORITY = trustme.CA()


class Http2Peer:
    """A client over the h2 library; keeps what it is told per stream."""

    def __init__(self, stream: trio.SSLStream[trio.SocketStream]) -> None:
        self.stream = stream
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.heads: dict[int, dict[str, str]] = {}
        self.bodies: dict[int, bytes] = {}
        self.ended: set[int] = set()

    async def flush(self) -> None:
        await self.stream.send_all(self.h2.data_to_send())

    async def ask(self, method: str = "GET", path: str = "/", *, end: bool = True, **extra: str) -> int:
        """Begin a request; its stream id."""
        number = self.h2.get_next_available_stream_id()
        head = [(":method", method), (":path", path), (":scheme", "https"), (":authority", "door"), *extra.items()]
        self.h2.send_headers(number, head, end_stream=end)
        await self.flush()
        return number

    async def send(self, number: int, data: bytes, *, end: bool = False) -> None:
        self.h2.send_data(number, data, end_stream=end)
        await self.flush()

    async def pump(self) -> bool:
        """Take one read; whether the connection is still open."""
        try:
            data = await self.stream.receive_some(65536)
            for event in self.h2.receive_data(data):
                self._take(event)
            await self.flush()
        except trio.BrokenResourceError:
            return False
        return bool(data)

    def _take(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.ResponseReceived):
            self.heads[event.stream_id] = {str(name): str(value) for name, value in event.headers}
            self.bodies[event.stream_id] = b""
        elif isinstance(event, h2.events.DataReceived):
            self.bodies[event.stream_id] += event.data
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self.ended.add(event.stream_id)

    async def answer(self, number: int) -> tuple[str, bytes]:
        """Status and body of a stream; EOFError when the connection ends before it."""
        while number not in self.ended:
            if not await self.pump():
                raise EOFError
        return self.heads[number][":status"], self.bodies[number]

    async def closed(self) -> None:
        while await self.pump():
            pass


@asynccontextmanager
async def http2_peer(running: RunningServer) -> AsyncIterator[Http2Peer]:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    context.set_alpn_protocols(["h2"])
    plain = await trio.open_tcp_stream("127.0.0.1", running.port)
    stream = trio.SSLStream(plain, context, server_hostname="127.0.0.1", https_compatible=True)
    await stream.do_handshake()
    assert stream.selected_alpn_protocol() == "h2"
    peer = Http2Peer(stream)
    peer.h2.initiate_connection()
    await peer.flush()
    yield peer
    await trio.aclose_forcefully(stream)


@pytest.fixture
def tls(tmp_path: Path) -> dict[str, object]:
    """Settings with a certificate for 127.0.0.1."""
    issued = AUTHORITY.issue_cert("127.0.0.1")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    return {"tls_certificate": str(cert), "tls_key": str(key)}


async def alive(running: RunningServer) -> None:
    """A new connection gets its answer."""
    async with http2_peer(running) as peer:
        assert (await peer.answer(await peer.ask()))[0] == "200"


async def test_h2_serves_the_same_application(tls: dict[str, object]) -> None:
    seen: list[HttpScope] = []
    limits = {**tls, "strict_transport_seconds": 60}
    async with open_server(describing(seen), **limits) as running, http2_peer(running) as peer:
        number = await peer.ask("POST", "/caf%C3%A9", end=False)
        await peer.send(number, b"hi", end=True)
        assert await peer.answer(number) == ("200", "POST /café hi".encode())
        head = peer.heads[number]
        assert head["date"] == DATE.decode()
        assert head["strict-transport-security"] == "max-age=60"
        assert "server" not in head
    assert (seen[0]["http_version"], seen[0]["scheme"], seen[0]["path"]) == ("2", "https", "/café")
    assert (b"host", b"door") in seen[0]["headers"]


async def test_a_proxy_that_is_not_trusted_is_told_of_once(tls: dict[str, object]) -> None:
    async with open_server(describing([]), **tls) as running, http2_peer(running) as peer:
        for _ in range(2):
            await peer.answer(await peer.ask(**{"x-forwarded-for": "192.0.2.1"}))
    told = {"peer": "127.0.0.1", "setting": "server.trusted_proxies"}
    assert running.log.warnings == [("forwarded_headers_not_believed", told)]


async def test_streams_are_answered_side_by_side(tls: dict[str, object]) -> None:
    async with open_server(echo, **tls) as running, http2_peer(running) as peer:
        numbers = [await peer.ask(path=f"/{n}") for n in range(20)]
        for n, number in enumerate(numbers):
            assert (await peer.answer(number))[1] == b"GET /%d " % n


async def early_413(scope: HttpScope, receive: Receive, send: Send) -> None:
    if scope["method"] == "GET":
        await respond(send)
    else:
        await respond(send, b"too large", status=413)


async def test_an_early_response_to_an_upload_is_read_and_the_connection_goes_on(tls: dict[str, object]) -> None:
    async with open_server(early_413, **tls) as running, http2_peer(running) as peer:
        number = await peer.ask("POST", end=False)
        for _ in range(3):
            await peer.send(number, bytes(16_000))
        await peer.send(number, b"", end=True)
        assert await peer.answer(number) == ("413", b"too large")
        assert (await peer.answer(await peer.ask()))[0] == "200"
        assert running.server.counters.connection_errors == 0


async def test_an_upload_sent_on_without_end_ends_its_connection_only(tls: dict[str, object]) -> None:
    async with open_server(early_413, max_drain_bytes=50_000, **tls) as running:
        async with http2_peer(running) as peer:
            number = await peer.ask("POST", end=False)
            for _ in range(4):
                await peer.send(number, bytes(16_000))
            await peer.closed()
            assert peer.heads[number][":status"] == "413"
        await alive(running)


async def test_resets_of_streams_hurt_nobody(tls: dict[str, object]) -> None:
    async with open_server(echo, **tls) as running:
        async with http2_peer(running) as peer:
            for _ in range(30):
                number = await peer.ask("POST", end=False)
                await peer.send(number, b"abc")
                peer.h2.reset_stream(number)
                await peer.flush()
            assert (await peer.answer(await peer.ask()))[0] == "200"
        await alive(running)
        await until(lambda: running.server.open_connections == 0)


async def test_a_reset_within_a_response_unwinds_nothing_else(tls: dict[str, object]) -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await respond(send, bytes(1_000_000) if scope["path"] == "/large" else b"ok")

    async with open_server(app, **tls) as running:
        async with http2_peer(running) as peer:
            number = await peer.ask(path="/large")
            while number not in peer.bodies:
                await peer.pump()
            peer.h2.reset_stream(number)
            await peer.flush()
        await alive(running)
        await until(lambda: running.server.open_connections == 0)
        while running.log.errors:
            running.log.claim("connection_failed")


async def test_a_connection_broken_off_hurts_nobody(tls: dict[str, object]) -> None:
    async with open_server(echo, **tls) as running:
        for garbage in (b"\xff" * 100, bytes(9), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            async with http2_peer(running) as peer:
                await peer.stream.send_all(garbage)
                await peer.stream.transport_stream.aclose()
        await alive(running)


async def test_an_application_that_raises_is_500_or_ends_the_connection(tls: dict[str, object]) -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/late":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise LookupError("broken")

    async with open_server(app, **tls) as running, http2_peer(running) as peer:
        assert (await peer.answer(await peer.ask()))[0] == "500"
        with pytest.raises(EOFError):
            await peer.answer(await peer.ask(path="/late"))
        assert isinstance(running.log.claim("app_failed")["exc_info"], LookupError)
        running.log.claim("app_failed")


async def test_a_body_that_stalls_is_408(tls: dict[str, object], idle_clock: MockClock) -> None:
    async with open_server(echo, body_idle_timeout_seconds=0.2, linger_seconds=0.2, **tls) as running:
        async with http2_peer(running) as peer:
            number = await peer.ask("POST", end=False)
            while number not in peer.heads:
                assert await peer.pump()
            assert peer.heads[number][":status"] == "408"
        await alive(running)


async def test_a_path_that_is_not_utf8_is_400(tls: dict[str, object]) -> None:
    async with open_server(echo, **tls) as running, http2_peer(running) as peer:
        assert (await peer.answer(await peer.ask(path="/%ff")))[0] == "400"


async def test_a_response_header_cannot_start_a_line_of_its_own(tls: dict[str, object]) -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await respond(send, headers=[(b"x", b"a\r\nb: c")])

    async with open_server(app, **tls) as running, http2_peer(running) as peer:
        assert (await peer.answer(await peer.ask()))[0] == "500"
        assert isinstance(running.log.claim("app_failed")["exc_info"], ValueError)


async def test_a_peer_that_takes_nothing_is_dropped(tls: dict[str, object]) -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await respond(send, bytes(1_000_000))

    async with open_server(app, write_timeout_seconds=0.3, **tls) as running, http2_peer(running) as peer:
        # The window of the stream (RFC 9113 §6.9.2) is never opened again.
        await peer.ask()
        await until(lambda: running.server.open_connections == 1)
        await until(lambda: running.server.open_connections == 0)


async def test_drain_lets_a_stream_finish(tls: dict[str, object]) -> None:
    go = trio.Event()

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await go.wait()
        await respond(send)

    async with open_server(app, **tls) as running, http2_peer(running) as peer:
        number = await peer.ask()
        await until(lambda: running.server.counters.requests == 1)
        running.server.drain()
        await trio.testing.wait_all_tasks_blocked(0.01)
        go.set()
        assert (await peer.answer(number))[0] == "200"
        await peer.closed()
        await until(lambda: running.server.open_connections == 0)


async def test_an_idle_connection_is_closed_by_drain(tls: dict[str, object]) -> None:
    async with open_server(echo, **tls) as running, http2_peer(running) as peer:
        assert (await peer.answer(await peer.ask()))[0] == "200"
        running.server.drain()
        await peer.closed()


async def test_extended_connect_never_reaches_the_application(tls: dict[str, object]) -> None:
    seen: list[HttpScope] = []
    async with open_server(describing(seen), **tls) as running:
        async with http2_peer(running) as peer:
            while not peer.h2.remote_settings.enable_connect_protocol:
                await peer.pump()
            head = {":protocol": "websocket", "sec-websocket-version": "13"}
            number = await peer.ask("CONNECT", "/", end=False, **head)
            while number not in peer.heads:
                assert await peer.pump()
            assert peer.heads[number][":status"] == "403"
        await alive(running)
    assert [scope["type"] for scope in seen] == ["http"]
