"""Requests answered at once: the manners of a connection that goes round ASGI, and what is written."""

from __future__ import annotations

import random
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
import trustme
from trio.testing import MockClock

from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.http1.state import AtOnce, PeerGoneError
from gatewayd.http1.transports import WORTH_GATHERING_BYTES, PlainTransport
from tests.http1.peers import DATE, Peer, RunningServer, describing, echo, open_server, until

GET = b"GET /now HTTP/1.1\r\nHost: door\r\n\r\n"
LARGE = random.Random(5).randbytes(5_000_000)  # more than the kernel keeps for one connection (tcp(7), tcp_wmem)
AUTHORITY = trustme.CA()
FIELDS = ((b"content-type", b"text/plain"),)


def now(request: Request) -> Response | None:
    """Method and path, for everything under /now."""
    if not request.path.startswith("/now"):
        return None
    return Response(200, FIELDS, b"now %s %s" % (request.method.encode(), request.path.encode()))


def saying(body: bytes, status: int = 200) -> AtOnce:
    """The same to everybody."""
    return lambda request: Response(status, FIELDS, body)


async def unasked(scope: HttpScope, receive: Receive, send: Send) -> None:
    raise AssertionError("everything is answered at once")


async def narrow_peer(running: RunningServer) -> Peer:
    """A peer whose kernel takes little, so that the server has to wait for it."""
    narrow = trio.socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    await narrow.connect(("127.0.0.1", running.port))
    return Peer(trio.SocketStream(narrow))


async def read_to_the_end(peer: Peer) -> None:
    """Raises trio.BrokenResourceError where that is no proper end."""
    while await peer.stream.receive_some(1 << 20):
        pass


async def test_keep_alive_serves_both_ways_on_one_connection() -> None:
    async with open_server(echo, at_once=now) as running, await running.peer() as peer:
        for path, body in ((b"/now/1", b"now GET /now/1"), (b"/later", b"GET /later "), (b"/now/2", b"now GET /now/2")):
            await peer.send(b"GET %b HTTP/1.1\r\nHost: door\r\n\r\n" % path)
            answer = await peer.answer()
            assert (answer.status, answer.body, answer.closes) == (200, body, False)
            assert answer.headers[b"date"] == DATE
            assert b"server" not in answer.headers
        assert (running.server.counters.connections, running.server.counters.requests) == (1, 3)


async def test_an_idle_connection_is_closed_after_an_answer_at_once(idle_clock: MockClock) -> None:
    async with open_server(unasked, at_once=now, keep_alive_seconds=0.2) as running, await running.peer() as peer:
        await peer.send(GET)
        assert (await peer.answer()).status == 200
        await peer.closed()


async def test_pipelined_requests_are_answered_in_order_whichever_way() -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await trio.sleep(0.001)
        await echo(scope, receive, send)

    paths = [b"/now/%d" % n if n % 3 else b"/%d" % n for n in range(60)]
    async with open_server(app, at_once=now) as running, await running.peer() as peer:
        await peer.send(b"".join(b"POST %b HTTP/1.1\r\nHost: d\r\nContent-Length: 1\r\n\r\nx" % path for path in paths))
        expected = [b"now POST " + path if n % 3 else b"POST %b x" % path for n, path in enumerate(paths)]
        assert [(await peer.answer()).body for _ in paths] == expected


async def test_a_fault_in_a_pipelined_request_is_answered_after_the_good_ones() -> None:
    async with open_server(unasked, at_once=now) as running, await running.peer() as peer:
        await peer.send(GET + GET + b"BAD\r\n\r\n" + GET)
        assert [(await peer.answer()).status for _ in range(3)] == [200, 200, 400]
        await peer.closed()


async def test_a_pipelining_peer_leaves_the_loop_to_others() -> None:
    turns = 0
    seen: list[int] = []
    count = 200

    def counting(request: Request) -> Response:
        seen.append(turns)
        return Response(200, FIELDS, b"ok")

    async def other_work() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    async with (
        open_server(unasked, at_once=counting) as running,
        await running.peer() as peer,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(other_work)
        await peer.send(GET * count)  # one read of the server's
        for _ in range(count):
            assert (await peer.answer()).status == 200
        nursery.cancel_scope.cancel()
    assert seen[-1] - seen[0] >= count - 2


async def test_http_1_0_closes_unless_asked_to_keep_alive() -> None:
    async with open_server(unasked, at_once=now) as running:
        async with await running.peer() as peer:
            await peer.send(b"GET /now HTTP/1.0\r\n\r\n")
            assert (await peer.answer()).closes
            await peer.closed()
        async with await running.peer() as peer:
            for _ in range(2):
                await peer.send(b"GET /now HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                assert (await peer.answer()).headers[b"connection"] == b"keep-alive"


async def test_connection_close_is_honoured_and_what_follows_is_not_read() -> None:
    async with open_server(unasked, at_once=now) as running, await running.peer() as peer:
        await peer.send(b"GET /now HTTP/1.1\r\nHost: door\r\nConnection: close\r\n\r\n" + GET)
        assert (await peer.answer()).closes
        await peer.closed()
        assert running.server.counters.requests == 1


async def test_head_keeps_the_length_and_has_no_body() -> None:
    async with open_server(unasked, at_once=now) as running, await running.peer() as peer:
        await peer.send(b"HEAD /now HTTP/1.1\r\nHost: door\r\n\r\n" + GET)
        answer = await peer.answer(head_only=True)
        assert (answer.status, answer.headers[b"content-length"]) == (200, b"13")
        assert (await peer.answer()).body == b"now GET /now"


@pytest.mark.parametrize("status", [204, 304])
async def test_204_and_304_have_no_body(status: int) -> None:
    async with open_server(unasked, at_once=saying(b"never", status)) as running, await running.peer() as peer:
        await peer.send(GET + b"GET / HTTP/1.1\r\nHost: door\r\nConnection: close\r\n\r\n")
        first, second, nothing = (await peer.rest()).split(b"\r\n\r\n")
    for head in (first, second):
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert b"content-length" not in head
    assert nothing == b""


async def test_a_half_closed_peer_still_gets_its_answer() -> None:
    async with open_server(unasked, at_once=now) as running, await running.peer() as peer:
        await peer.send(GET)
        await peer.half_close()
        assert (await peer.answer()).body == b"now GET /now"
        await peer.closed()


async def test_only_whole_requests_are_asked_for() -> None:
    asked: list[str] = []
    done: list[HttpScope] = []

    def asking(request: Request) -> Response | None:
        asked.append(request.path)
        return now(request)

    chunked = b"POST %b HTTP/1.1\r\nHost: d\r\nTransfer-Encoding: chunked\r\n\r\n"
    post = b"POST %b HTTP/1.1\r\nHost: d\r\nContent-Length: 4\r\n\r\n"
    async with open_server(describing(done), at_once=asking) as running, await running.peer() as peer:
        await peer.send(GET + post % b"/whole" + b"body" + chunked % b"/chunks" + b"4\r\nbody\r\n0\r\n\r\n")
        assert [(await peer.answer()).body for _ in range(3)] == [
            b"now GET /now",
            b"POST /whole body",
            b"POST /chunks body",
        ]
        for head, rest in (
            (post % b"/now/cut" + b"bo", b"dy"),
            (chunked % b"/now/chunks" + b"4\r\nbo", b"dy\r\n0\r\n\r\n"),
        ):
            before = len(done)
            await peer.send(head)
            await until(lambda before=before: len(done) > before)
            await peer.send(rest)
            assert (await peer.answer()).body.endswith(b" body")
        await peer.send(b"POST /now/expected HTTP/1.1\r\nHost: d\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
        assert (await peer.answer()).status == 100
        await peer.send(b"x")
        assert (await peer.answer()).body == b"POST /now/expected x"
    assert asked == ["/now", "/whole", "/chunks"]
    assert [scope["path"] for scope in done] == ["/whole", "/chunks", "/now/cut", "/now/chunks", "/now/expected"]


async def test_the_client_of_a_trusted_proxy_is_told() -> None:
    seen: list[HttpScope] = []

    def watching(request: Request) -> Response | None:
        seen.append(request)
        return now(request)

    forwarded = b"GET /now HTTP/1.1\r\nHost: d\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n\r\n"
    for proxies in (("127.0.0.1",), ("192.0.2.1",)):
        async with open_server(unasked, at_once=watching, trusted_proxies=proxies) as running:
            await running.ask(forwarded)
    assert [request.peer for request in seen] == ["203.0.113.9", "127.0.0.1"]
    assert [request.scheme for request in seen] == ["https", "http"]


async def test_a_drain_closes_after_the_answer_at_once() -> None:
    async with open_server(unasked, at_once=now) as running, await running.peer() as idle, await running.peer() as busy:
        await idle.send(GET)
        await idle.answer()
        await busy.send(GET + GET[:20])
        assert not (await busy.answer()).closes
        running.server.drain()
        await idle.closed()
        with pytest.raises(OSError, match="all attempts"):
            await running.peer()
        await busy.send(GET[20:] + GET)
        assert (await busy.answer()).closes
        await until(lambda: running.server.open_connections == 0)
        assert running.server.counters.requests == 3


async def test_a_drain_waits_for_an_answer_that_is_still_written() -> None:
    def large(request: Request) -> Response | None:
        return now(request) or Response(200, FIELDS, LARGE)

    async with (
        open_server(unasked, at_once=large) as running,
        await running.peer() as idle,
        await narrow_peer(running) as busy,
    ):
        await idle.send(GET)
        await idle.answer()
        await busy.send(b"GET / HTTP/1.1\r\nHost: door\r\n\r\n" + GET)
        await until(lambda: running.server.counters.requests == 2)
        running.server.drain()
        await idle.closed()
        first, second = await busy.answer(), await busy.answer()
        assert (first.body, first.closes) == (LARGE, False)
        assert (second.body, second.closes) == (b"now GET /now", True)
        await busy.closed()


async def test_an_exception_ends_its_connection_and_no_other() -> None:
    def failing(request: Request) -> Response | None:
        if request.path == "/fail":
            raise LookupError("broken")
        return now(request)

    async with open_server(echo, at_once=failing, claims="connection_failed") as running, await running.peer() as other:
        async with await running.peer() as peer:
            await peer.send(b"GET /fail HTTP/1.1\r\nHost: door\r\n\r\n")
            await peer.closed()
        await other.send(GET)
        assert (await other.answer()).status == 200
        assert isinstance(running.log.claim("connection_failed")["exc_info"], LookupError)
        assert running.server.counters.connection_errors == 1


# -- writing


async def test_a_large_answer_reaches_a_slow_reader_whole(idle_clock: MockClock) -> None:
    """It takes longer in all than a write may rest, and the connection goes on."""

    def large(request: Request) -> Response | None:
        return now(request) or Response(200, FIELDS, LARGE)

    async with (
        open_server(unasked, at_once=large, write_timeout_seconds=1.5) as running,
        await narrow_peer(running) as peer,
    ):
        await peer.send(b"GET / HTTP/1.1\r\nHost: door\r\n\r\n")
        began, came = trio.current_time(), bytearray()
        while len(came.partition(b"\r\n\r\n")[2]) < len(LARGE):
            came += await peer.stream.receive_some(65_536)
            await trio.sleep(0.03)  # a slow reader
        assert trio.current_time() - began > 2
        head, _, body = came.partition(b"\r\n\r\n")
        assert b"\r\ncontent-length: 5000000" in head
        assert body == LARGE
        await peer.send(GET)
        assert (await peer.answer()).body == b"now GET /now"


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
async def test_a_peer_that_never_reads_is_dropped(certificate: tuple[str, str], secure: bool) -> None:
    limits: dict[str, object] = {"write_timeout_seconds": 0.3}
    if secure:
        limits |= {"tls_certificate": certificate[0], "tls_key": certificate[1]}
    async with (
        open_server(unasked, at_once=saying(LARGE * 4), **limits) as running,
        await (tls_peer(running) if secure else narrow_peer(running)) as peer,
    ):
        began = trio.current_time()
        await peer.send(GET)
        await until(lambda: running.server.counters.requests == 1)
        await until(lambda: running.server.open_connections == 0)
        assert trio.current_time() - began > 0.3
        with pytest.raises(trio.BrokenResourceError):  # a reset, so that nobody takes it for the whole
            await read_to_the_end(peer)


async def test_a_peer_that_resets_within_an_answer_hurts_nobody() -> None:
    def large(request: Request) -> Response | None:
        return None if request.path == "/alive" else Response(200, (), LARGE)

    async with open_server(echo, at_once=large) as running:
        peer = await narrow_peer(running)
        await peer.send(GET)
        await peer.until(b"\r\n\r\n")
        peer.reset()
        await until(lambda: running.server.open_connections == 0)
        await running.serves()


@pytest.mark.parametrize("size", [1, WORTH_GATHERING_BYTES])
async def test_a_peer_that_is_gone_before_its_answer_hurts_nobody(size: int) -> None:
    peers: list[Peer] = []

    def leaving(request: Request) -> Response | None:
        if request.path == "/alive":
            return None
        peers.pop().reset()
        return Response(200, FIELDS, bytes(size))

    async with open_server(echo, at_once=leaving) as running:
        peers.append(await running.peer())
        await peers[0].send(GET + GET)
        await until(lambda: running.server.open_connections == 0 and not peers)
        assert running.server.counters.requests == 1
        await running.serves()


@pytest.fixture
async def ends() -> AsyncIterator[tuple[PlainTransport, socket.socket]]:
    """A transport whose kernel takes little, and its other end."""
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    ours.setblocking(False)
    theirs.setblocking(False)
    with ours, theirs:
        yield PlainTransport(ours), theirs


def received(theirs: socket.socket) -> bytes:
    """All that has arrived."""
    data = b""
    while True:
        try:
            data += theirs.recv(1 << 20)
        except BlockingIOError:
            return data


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"h" * 100, b""),
        (b"h" * 100, b"b" * 100),
        (b"h" * 100, bytes(range(256)) * 4_000),
        (b"h" * 100 + bytes(range(256)) * 1_000, b"b" * WORTH_GATHERING_BYTES),
        (b"h" * 100 + bytes(range(256)) * 1_000, b"b"),
    ],
    ids=["head", "both", "cut in the body", "cut in the head", "cut in what was joined"],
)
async def test_what_is_sent_at_once_and_what_is_left_are_the_whole(
    ends: tuple[PlainTransport, socket.socket], head: bytes, body: bytes
) -> None:
    transport, theirs = ends
    left = transport.send_at_once(head, body)
    assert received(theirs) + left == head + body
    assert bool(left) == (len(head) + len(body) > 10_000)


async def test_where_nothing_can_be_sent_all_is_left(ends: tuple[PlainTransport, socket.socket]) -> None:
    transport, theirs = ends
    while not transport.send_at_once(b"x" * 1_000, b""):
        pass
    assert transport.send_at_once(b"head", b"body") == b"headbody"
    theirs.close()
    for body in (b"body", bytes(WORTH_GATHERING_BYTES)):
        with pytest.raises(PeerGoneError):
            transport.send_at_once(b"head", body)


# -- TLS


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """Paths of a certificate for 127.0.0.1 and its key."""
    issued = AUTHORITY.issue_cert("127.0.0.1")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    return str(cert), str(key)


async def tls_peer(running: RunningServer) -> Peer:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    context.set_alpn_protocols(["http/1.1"])
    plain = await trio.open_tcp_stream("127.0.0.1", running.port)
    stream = trio.SSLStream(plain, context, server_hostname="127.0.0.1")
    await stream.do_handshake()
    return Peer(stream)


async def test_tls_serves_answers_at_once_and_says_goodbye(certificate: tuple[str, str]) -> None:
    def sized(request: Request) -> Response:
        return Response(200, FIELDS, LARGE[: int(request.query)])

    limits = {"tls_certificate": certificate[0], "tls_key": certificate[1]}
    async with open_server(unasked, at_once=sized, **limits) as running, await tls_peer(running) as peer:
        for size in (0, 1, 300_000, 5_000_000):
            await peer.send(b"GET /?%d HTTP/1.1\r\nHost: d\r\n\r\n" % size)
            assert (await peer.answer()).body == LARGE[:size]
        await peer.send(b"HEAD /?9 HTTP/1.1\r\nHost: d\r\n\r\n")
        assert (await peer.answer(head_only=True)).headers[b"content-length"] == b"9"
        await peer.send(b"GET /?3 HTTP/1.1\r\nHost: d\r\nConnection: close\r\n\r\n")
        answer = await peer.answer()
        assert (answer.body, answer.closes) == (LARGE[:3], True)
        # Not `https_compatible`: an end without close_notify would be a trio.BrokenResourceError.
        await read_to_the_end(peer)
