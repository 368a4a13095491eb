"""A server's sockets: addresses, limits, containment, TLS, drain."""

from __future__ import annotations

import errno
import os
import resource
import socket
import ssl
import stat
from pathlib import Path

import pytest
import trio
import trustme
from trio.testing import MockClock

from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.response import Response
from gatewayd.http1.server import Server
from gatewayd.http1.settings import ServerSettings
from tests.http1.peers import FixedClock, Peer, RecordingLog, describing, echo, open_server, read_body, refuse, respond
from tests.http1.peers import until as until_true

GET = b"GET / HTTP/1.1\r\nHost: door\r\n\r\n"
AUTHORITY = trustme.CA()


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """Paths of a certificate for 127.0.0.1 and its key."""
    issued = AUTHORITY.issue_cert("127.0.0.1", "localhost")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    return str(cert), str(key)


async def tls_peer(port: int, protocols: list[str]) -> Peer:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    context.set_alpn_protocols(protocols)
    plain = await trio.open_tcp_stream("127.0.0.1", port)
    stream = trio.SSLStream(plain, context, server_hostname="127.0.0.1", https_compatible=True)
    await stream.do_handshake()
    return Peer(stream)


async def test_addresses_are_reported_and_served() -> None:
    async with open_server(echo, bind=("127.0.0.1:0", "[::1]:0")) as running:
        first, second = running.addresses
        assert first.startswith("http://127.0.0.1:")
        assert second.startswith("http://[::1]:")
        async with Peer(await trio.open_tcp_stream("::1", int(second.rpartition(":")[2]))) as peer:
            await peer.send(GET)
            assert (await peer.answer()).status == 200


@pytest.mark.parametrize("bind", ["127.0.0.1:http!", "nonsense", "fd://x", "127.0.0.1:99999"])
async def test_an_address_that_is_none_is_named(bind: str) -> None:
    server = Server(echo, ServerSettings(bind=(bind,)), refuse=refuse, log=RecordingLog(), clock=FixedClock())
    with pytest.raises((ValueError, OSError, OverflowError), match="cannot listen on"):
        await server.serve()


async def test_an_address_in_use_is_named() -> None:
    async with open_server(echo) as running:
        taken = ServerSettings(bind=("127.0.0.1:0", f"127.0.0.1:{running.port}"))
        server = Server(echo, taken, refuse=refuse, log=RecordingLog(), clock=FixedClock())
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{running.port}") as caught:
            await server.serve()
        assert caught.value.errno == errno.EADDRINUSE


async def test_a_unix_socket_has_its_mode_and_no_client(tmp_path: Path) -> None:
    path, seen = tmp_path / "door.sock", list[HttpScope]()
    async with open_server(describing(seen), bind=(f"unix:{path}",)) as running:
        assert running.addresses == [f"unix:{path}"]
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        async with Peer(await trio.open_unix_socket(str(path))) as peer:
            await peer.send(GET)
            assert (await peer.answer()).status == 200
    assert seen[0]["client"] is None
    assert not path.exists()


async def test_a_stale_unix_socket_is_replaced_and_a_living_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "door.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    async with open_server(echo, bind=(f"unix:{path}",)):
        settings = ServerSettings(bind=(f"unix:{path}",))
        second = Server(echo, settings, refuse=refuse, log=RecordingLog(), clock=FixedClock())
        with pytest.raises(OSError, match="another process listens there"):
            await second.serve()
        assert path.exists()


async def test_a_file_in_the_place_of_a_unix_socket_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_text("data")
    server = Server(echo, ServerSettings(bind=(f"unix:{path}",)), refuse=refuse, log=RecordingLog(), clock=FixedClock())
    with pytest.raises(OSError, match="no socket stands there"):
        await server.serve()
    assert path.read_text() == "data"


@pytest.mark.parametrize("family", ["tcp", "unix"])
async def test_an_inherited_socket_is_served(family: str, tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_INET if family == "tcp" else socket.AF_UNIX)
    listener.bind(("127.0.0.1", 0) if family == "tcp" else str(tmp_path / "s"))
    listener.listen()
    address = listener.getsockname()
    async with open_server(echo, bind=(f"fd://{listener.detach()}",)):
        stream = await (trio.open_tcp_stream(*address) if family == "tcp" else trio.open_unix_socket(address))
        async with Peer(stream) as peer:
            await peer.send(GET)
            assert (await peer.answer()).status == 200


async def test_a_descriptor_that_does_not_listen_is_refused() -> None:
    with socket.socket() as plain:
        settings = ServerSettings(bind=(f"fd://{plain.fileno()}",))
        server = Server(echo, settings, refuse=refuse, log=RecordingLog(), clock=FixedClock())
        with pytest.raises(ValueError, match="not a listening stream socket"):
            await server.serve()
        assert plain.fileno() >= 0


async def test_a_thousand_idle_connections_do_not_keep_it_from_serving() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    async with open_server(echo, within=30) as running:
        idle = []
        try:
            for _ in range(1000):
                idle.append(await running.peer())
            await until_true(lambda: running.server.open_connections == 1000)
            for _ in range(20):
                await running.serves()
            await idle[0].send(GET)
            assert (await idle[0].answer()).status == 200
        finally:
            for peer in idle:
                await trio.aclose_forcefully(peer.stream)


async def test_at_the_limit_the_longest_idle_connection_makes_room() -> None:
    async with open_server(echo, max_connections=3) as running:
        peers = [await running.peer() for _ in range(3)]
        for peer in peers:
            await peer.send(GET)
            await peer.answer()
        await running.serves()
        await peers[0].closed()
        for peer in peers[1:]:
            await peer.send(GET)
            assert (await peer.answer()).status == 200
        for peer in peers:
            await trio.aclose_forcefully(peer.stream)


async def test_at_the_limit_with_none_idle_it_waits_for_one_to_end() -> None:
    go = trio.Event()

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/":
            await go.wait()
        await respond(send)

    async with open_server(app, max_connections=2) as running, await running.peer() as one, await running.peer() as two:
        await one.send(GET)
        await two.send(GET)
        await until_true(lambda: running.server.counters.requests == 2)
        async with await running.peer() as third:
            await third.send(b"GET /third HTTP/1.1\r\nHost: door\r\n\r\n")
            with trio.move_on_after(0.1) as waiting:
                await third.answer()
            assert waiting.cancelled_caught
            go.set()
            assert (await third.answer()).status == 200


async def test_no_descriptors_left_is_waited_out() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with open_server(echo) as running:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
        hoard = []
        peer = socket.socket()
        peer.setblocking(False)
        try:
            with pytest.raises(OSError, match="Too many open files"):
                fill(hoard)
            peer.connect_ex(("127.0.0.1", running.port))
            await until_true(lambda: running.server.counters.accept_shortages > 1)
        finally:
            for descriptor in hoard:
                os.close(descriptor)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            peer.close()
        await running.serves()
        while running.log.errors:
            running.log.claim("accept_shortage")


def fill(hoard: list[int]) -> None:
    """Open descriptors until there are none."""
    while True:
        hoard.append(os.dup(0) if hoard else os.open("/dev/null", os.O_RDONLY))


async def test_resets_within_bodies_hurt_nobody() -> None:
    disconnects: list[str] = []

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        try:
            await read_body(receive)
        except EOFError:
            disconnects.append(scope["path"])
            return
        await respond(send)

    async with open_server(app) as running:
        for _ in range(20):
            peer = await running.peer()
            await peer.send(b"POST /reset HTTP/1.1\r\nHost: door\r\nContent-Length: 100\r\n\r\nabc")
            peer.reset()
        await until_true(lambda: running.server.open_connections == 0)
        assert set(disconnects) <= {"/reset"}
        await running.serves()
        while running.log.errors:
            # An application that answers nothing to a peer that is gone has not failed.
            raise AssertionError(running.log.errors)


async def test_a_failing_connection_is_contained_and_counted() -> None:
    def failing(status: int, detail: str, request_id: str) -> Response:
        raise LookupError("no body for this")

    log = RecordingLog()
    settings = ServerSettings(bind=("127.0.0.1:0",))
    server = Server(echo, settings, refuse=failing, log=log, clock=FixedClock())
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            addresses = await nursery.start(lambda task_status: server.serve(task_status=task_status))
            port = int(addresses[0].rpartition(":")[2])
            async with Peer(await trio.open_tcp_stream("127.0.0.1", port)) as peer:
                await peer.send(b"BAD\r\n\r\n")
                await peer.closed()
            async with Peer(await trio.open_tcp_stream("127.0.0.1", port)) as peer:
                await peer.send(GET)
                assert (await peer.answer()).status == 200
            nursery.cancel_scope.cancel()
    assert isinstance(log.claim("connection_failed")["exc_info"], LookupError)
    assert server.counters.connection_errors == 1


async def test_tls_serves_http_1_1(certificate: tuple[str, str]) -> None:
    seen: list[HttpScope] = []
    async with open_server(describing(seen), tls_certificate=certificate[0], tls_key=certificate[1]) as running:
        assert running.addresses[0].startswith("https://")
        async with await tls_peer(running.port, ["http/1.1"]) as peer:
            for body in (b"x", b"y" * 300_000):
                await peer.send(b"POST / HTTP/1.1\r\nHost: d\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
                assert (await peer.answer()).body == b"POST / " + body
        async with await tls_peer(running.port, []) as peer:
            await peer.send(b"GET / HTTP/1.0\r\n\r\n")
            assert (await peer.answer()).closes
            await peer.closed()
    assert {scope["scheme"] for scope in seen} == {"https"}


async def test_a_unix_socket_is_plain_beside_an_address_with_tls(tmp_path: Path, certificate: tuple[str, str]) -> None:
    path, seen = tmp_path / "door.sock", list[HttpScope]()
    settings = {"tls_certificate": certificate[0], "tls_key": certificate[1], "strict_transport_seconds": 60}
    async with open_server(describing(seen), bind=("127.0.0.1:0", f"unix:{path}"), **settings) as running:
        assert running.addresses[1] == f"unix:{path}"
        async with Peer(await trio.open_unix_socket(str(path))) as peer:
            await peer.send(GET)
            assert b"strict-transport-security" not in (await peer.answer()).headers  # RFC 6797 §7.2
        async with await tls_peer(running.port, []) as peer:
            for request in (GET, b"nonsense\r\n\r\n"):
                await peer.send(request)
                assert (await peer.answer()).headers[b"strict-transport-security"] == b"max-age=60"
    assert [scope["scheme"] for scope in seen] == ["http", "https"]


async def test_answers_at_once_over_tls_are_strict_too(certificate: tuple[str, str]) -> None:
    settings = {"tls_certificate": certificate[0], "tls_key": certificate[1], "strict_transport_seconds": 60}
    here = Response(200, (), b"here")
    async with (
        open_server(echo, at_once=lambda _: here, **settings) as running,
        await tls_peer(running.port, []) as peer,
    ):
        await peer.send(GET)
        answer = await peer.answer()
    assert (answer.body, answer.headers[b"strict-transport-security"]) == (b"here", b"max-age=60")


async def test_proxies_that_are_no_longer_trusted_are_not_believed_over_connections_they_have() -> None:
    seen: list[HttpScope] = []
    asking = b"GET / HTTP/1.1\r\nHost: d\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n"
    async with open_server(describing(seen)) as running, await running.peer() as peer:
        for trusted in ((), ("127.0.0.0/8",), ()):
            running.server.prepare(ServerSettings(bind=(), trusted_proxies=trusted))()
            await peer.send(asking)
            await peer.answer()
    assert [scope["client"][0] for scope in seen if scope["client"]] == ["127.0.0.1", "192.0.2.1", "127.0.0.1"]


async def test_a_failed_handshake_is_no_error(certificate: tuple[str, str]) -> None:
    limits = {"tls_certificate": certificate[0], "tls_key": certificate[1], "handshake_timeout_seconds": 0.2}
    async with open_server(echo, **limits) as running:
        async with await running.peer() as peer:
            await peer.send(GET)
            assert b"HTTP" not in await peer.rest()
        async with await running.peer() as peer:
            await peer.closed()
        assert running.server.counters.failed_handshakes == 2
        assert [event for event, _ in running.log.debugs] == ["tls_handshake_failed"]
        async with await tls_peer(running.port, []) as peer:
            await peer.send(GET)
            assert (await peer.answer()).status == 200


@pytest.mark.parametrize("files", [("missing.pem", "missing.pem")])
async def test_a_missing_certificate_is_an_error_at_start(files: tuple[str, str]) -> None:
    settings = ServerSettings(bind=("127.0.0.1:0",), tls_certificate=files[0], tls_key=files[1])
    server = Server(echo, settings, refuse=refuse, log=RecordingLog(), clock=FixedClock())
    with pytest.raises(OSError, match="No such file"):
        await server.serve()


async def test_drain_finishes_what_is_in_flight_and_closes_the_idle() -> None:
    go = trio.Event()

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/slow":
            await go.wait()
        await respond(send)

    async with open_server(app) as running, await running.peer() as idle, await running.peer() as busy:
        await idle.send(GET)
        await idle.answer()
        await busy.send(b"GET /slow HTTP/1.1\r\nHost: door\r\n\r\n")
        await until_true(lambda: running.server.counters.requests == 2)
        running.server.drain()
        await idle.closed()
        with pytest.raises(OSError, match="all attempts"):
            await running.peer()
        go.set()
        answer = await busy.answer()
        assert (answer.status, answer.closes) == (200, True)
        await busy.closed()
        await until_true(lambda: running.server.open_connections == 0)


async def drained(settings: ServerSettings, request: bytes) -> float:
    """Seconds from drain() to the end of serve() with one request under way that never ends."""

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await trio.sleep_forever()

    server = Server(app, settings, refuse=refuse, log=RecordingLog(), clock=FixedClock())
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            addresses = await nursery.start(lambda task_status: server.serve(task_status=task_status))
            async with Peer(await trio.open_tcp_stream("127.0.0.1", int(addresses[0].rpartition(":")[2]))) as peer:
                await peer.send(request)
                if request:
                    await until_true(lambda: server.counters.requests == 1)
                server.drain()
                began = trio.current_time()
                await peer.rest()
        # serve() returned by itself: nothing was cancelled.
        return trio.current_time() - began


async def test_drain_gives_up_after_its_time(idle_clock: MockClock) -> None:
    settings = ServerSettings(bind=("127.0.0.1:0",), drain_seconds=0.3)
    assert 0.25 < await drained(settings, GET) < 5


async def test_drain_with_nothing_to_do_returns_at_once(idle_clock: MockClock) -> None:
    assert await drained(ServerSettings(bind=("127.0.0.1:0",), drain_seconds=5), b"") < 2


async def test_cancelling_closes_everything_promptly() -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await trio.sleep_forever()

    server = Server(app, ServerSettings(bind=("127.0.0.1:0",)), refuse=refuse, log=RecordingLog(), clock=FixedClock())
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            addresses = await nursery.start(lambda task_status: server.serve(task_status=task_status))
            peer = Peer(await trio.open_tcp_stream("127.0.0.1", int(addresses[0].rpartition(":")[2])))
            await peer.send(GET)
            await until_true(lambda: server.counters.requests == 1)
            nursery.cancel_scope.cancel()
        assert server.open_connections == 0
        async with peer:
            await peer.closed()


async def test_two_servers_in_one_process_know_nothing_of_each_other() -> None:
    async with open_server(echo) as one, open_server(echo) as two:
        await one.serves()
        assert two.server.counters.requests == 0
        await two.serves()
        assert one.server.counters.requests == 1
