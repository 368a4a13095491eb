"""A crowd at the door from one address, and from a few: whoever comes from elsewhere is let in and served."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import h2.config
import h2.connection
import pytest
import trio
import trustme
from trio.testing import MockClock

from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from tests.http1.peers import Answer, Peer, RunningServer, open_server, read_body, respond, until

AUTHORITY = trustme.CA()


def _trusting(protocol: str) -> ssl.SSLContext:
    """Not the default one: reading the system's authorities takes longer than all else here."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    AUTHORITY.configure_trust(context)
    context.set_alpn_protocols([protocol])
    return context


PLACES, SHARE = 20, 16
COUNT = 28  # more than there are places
LARGE = bytes(8_000_000)  # more than sockets buffer
NEIGHBOUR = "127.0.0.9"
CONTEXTS = {protocol: _trusting(protocol) for protocol in ("http/1.1", "h2")}
KNOWN = b"GET /known HTTP/1.1\r\nHost: door\r\n\r\n"
SLOW_BODY = b"POST / HTTP/1.1\r\nHost: door\r\nContent-Length: 100\r\n\r\nx"


async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
    """Knows who asks for `/known`, before it reads a body."""
    scope["request"].admitted = scope["path"] == "/known"
    try:
        body = await read_body(receive)
    except EOFError:
        return
    await respond(send, LARGE if scope["path"] == "/large" else b"%d" % len(body))


@pytest.fixture
def tls(tmp_path: Path) -> dict[str, object]:
    """Settings with a certificate for the loopback."""
    issued = AUTHORITY.issue_cert("127.0.0.1")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    return {"tls_certificate": str(cert), "tls_key": str(key)}


async def plain(running: RunningServer, address: str) -> trio.SocketStream:
    return await trio.open_tcp_stream("127.0.0.1", running.port, local_address=address)


async def secure(running: RunningServer, address: str, protocol: str = "http/1.1") -> Peer:
    stream = trio.SSLStream(
        await plain(running, address), CONTEXTS[protocol], server_hostname="127.0.0.1", https_compatible=True
    )
    await stream.do_handshake()
    return Peer(stream)


# -- what a crowd does with its connections, each over TLS


async def no_handshake(running: RunningServer, address: str) -> Peer:
    return Peer(await plain(running, address))


async def half_a_handshake(running: RunningServer, address: str) -> Peer:
    peer = Peer(await plain(running, address))
    await peer.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    return peer


async def half_a_head(running: RunningServer, address: str) -> Peer:
    peer = await secure(running, address)
    await peer.send(b"GET /known HTTP/1.1\r\nHost: door\r\n")
    return peer


async def a_body_that_does_not_come(running: RunningServer, address: str) -> Peer:
    peer = await secure(running, address)
    await peer.send(SLOW_BODY)
    return peer


async def an_answer_that_is_not_read(running: RunningServer, address: str) -> Peer:
    peer = await secure(running, address)
    await peer.send(b"GET /large HTTP/1.1\r\nHost: door\r\n\r\n")
    return peer


async def nothing_over_http1(running: RunningServer, address: str) -> Peer:
    return await secure(running, address)


async def nothing_over_http2(running: RunningServer, address: str) -> Peer:
    peer = await secure(running, address, "h2")
    protocol = h2.connection.H2Connection(h2.config.H2Configuration())
    protocol.initiate_connection()
    await peer.send(protocol.data_to_send())
    return peer


async def a_body_that_does_not_come_over_http2(running: RunningServer, address: str) -> Peer:
    peer = await secure(running, address, "h2")
    await peer.send(begun("POST", "/").data_to_send())
    return peer


async def an_answer_that_is_not_read_over_http2(running: RunningServer, address: str) -> Peer:
    peer = await secure(running, address, "h2")
    await peer.send(begun("GET", "/large").data_to_send())
    return peer


def begun(method: str, path: str) -> h2.connection.H2Connection:
    """A connection that begins with a request, whose body is still to come where it has one."""
    protocol = h2.connection.H2Connection(h2.config.H2Configuration())
    protocol.initiate_connection()
    head = [(":method", method), (":path", path), (":scheme", "https"), (":authority", "door")]
    protocol.send_headers(1, head, end_stream=method == "GET")
    return protocol


Attack = Callable[[RunningServer, str], Awaitable[Peer]]
ATTACKS: tuple[Attack, ...] = (
    no_handshake,
    half_a_handshake,
    half_a_head,
    a_body_that_does_not_come,
    an_answer_that_is_not_read,
    nothing_over_http1,
    nothing_over_http2,
    a_body_that_does_not_come_over_http2,
    an_answer_that_is_not_read_over_http2,
)


@asynccontextmanager
async def crowd(running: RunningServer, attack: Attack, count: int, addresses: list[str]) -> AsyncIterator[None]:
    """So many connections of one kind, in turn from each address, all held open."""
    async with AsyncExitStack() as held:
        for number in range(count):
            try:
                peer = await attack(running, addresses[number % len(addresses)])
            except (trio.BrokenResourceError, OSError):
                continue  # it was turned away, or had to go for the next
            await held.enter_async_context(peer)
        yield


async def asked(peer: Peer, request: bytes = KNOWN) -> Answer:
    """An answer that has to come while the crowd stands there: long before any of its deadlines."""
    with trio.fail_after(120):
        await peer.send(request)
        return await peer.answer()


async def admitted(running: RunningServer, count: int) -> None:
    """So many newcomers, one after another, each of whom is let in and served."""
    for _ in range(count):
        with trio.fail_after(120):
            async with await secure(running, NEIGHBOUR) as peer:
                assert (await asked(peer)).status == 200


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
@pytest.mark.parametrize("addresses", [1, 5])
async def test_a_crowd_keeps_nobody_out(
    tls: dict[str, object], idle_clock: MockClock, attack: Attack, addresses: int
) -> None:
    """From one address, which gets its share; and from so many that they could take all places between them."""
    async with (
        open_server(app, max_connections=PLACES, within=40, **tls) as running,
        await secure(running, NEIGHBOUR) as neighbour,
    ):
        assert (await asked(neighbour)).status == 200
        crowding = [f"127.0.0.{number + 2}" for number in range(addresses)]
        async with crowd(running, attack, COUNT, crowding):
            places = running.server.places
            assert places.ended + places.turned_away > 0
            assert places.taken <= (1 + SHARE if addresses == 1 else PLACES)
            await admitted(running, 3)
            assert (await asked(neighbour)).status == 200


async def test_who_shares_an_address_with_a_crowd_is_served(tls: dict[str, object], idle_clock: MockClock) -> None:
    async with (
        open_server(app, max_connections=PLACES, within=40, **tls) as running,
        await secure(running, NEIGHBOUR) as neighbour,
    ):
        assert (await asked(neighbour)).status == 200
        async with crowd(running, half_a_head, COUNT, [NEIGHBOUR]):
            assert (await asked(neighbour)).status == 200
            await admitted(running, 3)
            await until(lambda: bool(running.log.warnings), every=1)
    [(event, said)] = running.log.warnings
    assert (event, said["limit"], said["most_from"]) == ("connections_crowded", PLACES, NEIGHBOUR)


async def test_at_once_who_is_known_stays(tls: dict[str, object], idle_clock: MockClock) -> None:
    """Also who is answered without the application's messages."""

    def at_once(request: Request) -> Response:
        request.admitted = True
        return Response(200, ())

    async with (
        open_server(app, at_once=at_once, max_connections=PLACES, within=40, **tls) as running,
        await secure(running, NEIGHBOUR) as neighbour,
    ):
        assert (await asked(neighbour)).status == 200
        async with crowd(running, half_a_head, COUNT, [NEIGHBOUR]):
            assert (await asked(neighbour)).status == 200


async def test_a_network_that_uses_its_share_gets_no_more() -> None:
    go = trio.Event()

    async def waiting(scope: HttpScope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/known":
            scope["request"].admitted = True
            await go.wait()
        await respond(send)

    async with open_server(waiting, max_connections=PLACES) as running, AsyncExitStack() as held:
        busy = [await held.enter_async_context(Peer(await plain(running, "127.0.0.2"))) for _ in range(SHARE)]
        for peer in busy:
            await peer.send(KNOWN)
        await until(lambda: running.server.counters.requests == SHARE)
        async with Peer(await plain(running, "127.0.0.2")) as more:
            await more.closed()
        assert running.server.places.turned_away == 1
        await running.serves()
        go.set()
        for peer in busy:
            assert (await peer.answer()).status == 200


@pytest.mark.parametrize("proxies", [(), ("127.0.0.0/8",)])
async def test_loopback_has_a_share_unless_it_is_a_trusted_proxy(proxies: tuple[str, ...]) -> None:
    async with (
        open_server(app, max_connections=PLACES, trusted_proxies=proxies) as running,
        AsyncExitStack() as held,
    ):
        for _ in range(PLACES):
            await held.enter_async_context(Peer(await plain(running, "127.0.0.1")))
        await until(lambda: running.server.counters.connections == PLACES)
        assert running.server.places.taken == (PLACES if proxies else SHARE)


async def test_unix_sockets_have_no_share(tmp_path: Path) -> None:
    path = str(tmp_path / "door.sock")
    async with open_server(app, max_connections=PLACES, bind=(f"unix:{path}",)) as running, AsyncExitStack() as held:
        for _ in range(PLACES):
            await held.enter_async_context(Peer(await trio.open_unix_socket(path)))
        await until(lambda: running.server.counters.connections == PLACES)
        assert running.server.places.taken == PLACES


# -- bodies of strangers


SOON = {"stranger_read_seconds": 0.4, "request_read_seconds": 30.0, "linger_seconds": 0.1}


async def test_a_stranger_has_little_time_for_a_body_however_it_comes(idle_clock: MockClock) -> None:
    async with open_server(app, **SOON) as running, await running.peer() as peer, trio.open_nursery() as nursery:
        await peer.send(SLOW_BODY)
        nursery.start_soon(peer.drip, b"x")
        assert (await peer.answer()).status == 408
        nursery.cancel_scope.cancel()


async def test_who_is_known_has_the_time_of_an_upload(idle_clock: MockClock) -> None:
    async with open_server(app, **SOON) as running, await running.peer() as peer:
        await peer.send(SLOW_BODY.replace(b"POST /", b"POST /known"))
        with trio.move_on_after(1.2) as waited:  # three times what a stranger has
            await peer.answer()
        assert waited.cancelled_caught
        await peer.send(bytes(99))
        assert (await peer.answer()).body == b"100"


async def test_over_http2_a_stranger_has_no_more(tls: dict[str, object], idle_clock: MockClock) -> None:
    async with open_server(app, **SOON, **tls) as running, await secure(running, NEIGHBOUR, "h2") as peer:
        protocol = begun("POST", "/")
        await peer.send(protocol.data_to_send())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(drip, peer, protocol)
            status = await status_of(peer, protocol)
            nursery.cancel_scope.cancel()
        assert status == "408"


async def drip(peer: Peer, protocol: h2.connection.H2Connection) -> None:
    while True:
        protocol.send_data(1, b"x")
        await peer.send(protocol.data_to_send())
        await trio.sleep(0.02)


async def status_of(peer: Peer, protocol: h2.connection.H2Connection) -> str:
    while True:
        for event in protocol.receive_data(await peer.stream.receive_some(65536)):
            if isinstance(event, h2.events.ResponseReceived):
                return dict(event.headers)[b":status"].decode()
