"""One connection cannot hurt the others: after each attack the daemon answers a good request."""

import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

import pytest

from tests.daemon.conftest import NO_LIMIT, Shared
from tests.daemon.instance import SECONDS, Instance, Running, serving

pytestmark = pytest.mark.either_engine("its subject is the door")

QUICK = """header_timeout_seconds = 1
keep_alive_timeout_seconds = 20
request_read_timeout_seconds = 2
"""
GOOD = b"GET /api/rpc/invoices HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer KEY\r\n"
SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = (
    b"POST /api/rpc/crm/createLead HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer KEY\r\n"
    b"Content-Type: application/json\r\n"
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """The daemon that is attacked: one for all, so that what one attack leaves behind meets the next."""
    instance = Instance(tmp_path_factory.mktemp("attacked"), NO_LIMIT, extra_server=QUICK)
    firm = instance.firm()
    with serving(instance) as running:
        yield Shared(instance, running, firm)
        assert running.end() == 0


def serves(shared: Shared) -> None:
    """A good request on a new connection, and one on a connection that is kept over all attacks."""
    with socket.create_connection(("127.0.0.1", shared.running.port), timeout=SECONDS) as peer:
        peer.sendall(_keyed(shared, GOOD) + b"Connection: close\r\n\r\n")
        assert _rest(peer).startswith(b"HTTP/1.1 200 ")
    assert shared.running.call(shared.firm.key, "GET", "/api/rpc/invoices").status_code == 200


def _keyed(shared: Shared, data: bytes) -> bytes:
    return data.replace(b"KEY", shared.firm.key.encode())


def _rest(peer: socket.socket) -> bytes:
    """Everything until the daemon closes or resets."""
    parts = []
    with suppress(ConnectionError):
        while part := peer.recv(65536):
            parts.append(part)
    return b"".join(parts)


MALFORMED = {
    "noise": (b"\x00\x01\x02\xff\r\n\r\n", {400}),
    "tls on plain http": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64), {400}),
    "http/2 prior knowledge": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", {400, 505}),
    "http/0.9": (b"GET /healthz\r\n\r\n", {400, 505}),
    "another version": (b"GET /healthz HTTP/3.0\r\nHost: localhost\r\n\r\n", {400, 505}),
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", {400}),
    "two hosts": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: y\r\n\r\n", {400}),
    "a space before the colon": (b"GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n", {400}),
    "a folded header": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA: b\r\n c\r\n\r\n", {400}),
    "a null in a header": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA: b\0c\r\n\r\n", {400}),
    "length and chunks": (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED, {400}),
    "two lengths": (POST + b"Content-Length: 0\r\nContent-Length: 35\r\n\r\n" + SMUGGLED, {400}),
    "a list of lengths": (POST + b"Content-Length: 0, 35\r\n\r\n" + SMUGGLED, {400}),
    "a signed length": (POST + b"Content-Length: +5\r\n\r\nabcde", {400}),
    "a negative length": (POST + b"Content-Length: -1\r\n\r\n" + SMUGGLED, {400}),
    "an endless length": (POST + b"Content-Length: 99999999999999999999999\r\n\r\n", {400, 413}),
    "an unknown coding": (POST + b"Transfer-Encoding: xchunked\r\n\r\n" + SMUGGLED, {400, 501}),
    "chunked twice": (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
    "chunked in disguise": (POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + SMUGGLED, {400, 501}),
    "a chunk that is no number": (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + SMUGGLED, {400}),
    "an endless chunk": (POST + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", {400, 413}),
    "a chunk longer than it says": (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n", {400}),
    "headers without end": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"A: " + b"b" * 100_000, {431}),
    "many headers": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 20_000 + b"\r\n", {431}),
    "a long address": (b"GET /" + b"a" * 60_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", {414, 431}),
    "an address that leaves the root": (
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        {400, 404},
    ),
    "connect": (
        b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nConnection: close\r\n\r\n",
        {400, 404, 405, 501},
    ),
    "a body where none belongs": (
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nConnection: close\r\n\r\nevil",
        {200, 400},
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_request_is_refused_and_nothing_after_it_is_answered(shared: Shared, name: str) -> None:
    data, allowed = MALFORMED[name]
    with shared.running.connect() as peer:
        with suppress(ConnectionError):  # refused before all of it was sent
            peer.sendall(_keyed(shared, data))
        answer = _rest(peer)
    assert int(answer.split(b" ", 2)[1]) in allowed, answer
    assert len(re.findall(rb"HTTP/1\.1 \d{3} ", answer)) == 1, answer
    serves(shared)


@pytest.mark.parametrize("path", ["/", "/sign-in", "/openapi.json", "/api/rpc/invoices", "/api/auth/jwks"])
@pytest.mark.parametrize(
    "start", ["GET {} HTTP/1.1\r\nHost: evil.example", "GET http://evil.example{} HTTP/1.1\r\nHost: localhost"]
)
def test_a_name_of_somebody_else_is_served_nothing(shared: Shared, path: str, start: str) -> None:
    with shared.running.connect() as peer:
        peer.sendall(f"{start.format(path)}\r\nConnection: close\r\n\r\n".encode())
        answer = _rest(peer)
    assert answer.startswith(b"HTTP/1.1 421 "), answer
    assert b'"code":"misdirected_request"' in answer
    serves(shared)


def websocket(shared: Shared) -> None:
    """An upgrade that is not offered is ignored; what follows it is no request."""
    upgrade = (
        b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAA\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    with shared.running.connect() as peer:
        peer.sendall(_keyed(shared, GOOD) + upgrade + b"\x81\x85\0\0\0\0hello")
        answer = _rest(peer)
    assert b"101" not in answer.split(b"\r\n")[0]
    assert answer.count(b" 200 OK") <= 1


def upgrade_to_http2(shared: Shared) -> None:
    upgrade = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
    with shared.running.connect() as peer:
        peer.sendall(_keyed(shared, GOOD) + upgrade)
        assert peer.recv(65536).startswith(b"HTTP/1.1 200 ")


def a_body_over_the_limit_sent_on(shared: Shared) -> None:
    with shared.running.connect() as peer:
        peer.sendall(_keyed(shared, POST) + b"Content-Length: 4000000\r\n\r\n")
        with suppress(ConnectionError):
            for _ in range(400):
                peer.sendall(b"x" * 10_000)
        assert peer.recv(65536).startswith(b"HTTP/1.1 413 ")


def chunks_over_the_limit_sent_on(shared: Shared) -> None:
    with shared.running.connect() as peer:
        peer.sendall(_keyed(shared, POST) + b"Transfer-Encoding: chunked\r\n\r\n")
        with suppress(ConnectionError):
            for _ in range(400):
                peer.sendall(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
        assert peer.recv(65536).startswith(b"HTTP/1.1 413 ")


def a_deep_body(shared: Shared) -> None:
    answer = shared.running.client.post(
        "/api/rpc/crm/createLead",
        content=b"[" * 500_000,
        headers={"Authorization": f"Bearer {shared.firm.key}", "Content-Type": "application/json"},
    )
    assert answer.status_code == 400


def a_reset_in_the_middle_of_a_body(shared: Shared) -> None:
    for size in (0, 1, 5000):
        peer = shared.running.connect()
        peer.sendall(_keyed(shared, POST) + b"Content-Length: 10000\r\n\r\n" + b"x" * size)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()


def a_reset_instead_of_reading_the_answer(shared: Shared) -> None:
    for _ in range(20):
        peer = shared.running.connect()
        peer.sendall((_keyed(shared, GOOD) + b"\r\n") * 20)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()


def half_closed(shared: Shared) -> None:
    with shared.running.connect() as peer:
        peer.sendall(_keyed(shared, GOOD) + b"\r\n")
        peer.shutdown(socket.SHUT_WR)
        assert _rest(peer).startswith(b"HTTP/1.1 200 ")


def a_header_byte_by_byte(shared: Shared) -> None:
    """Too slow by the header deadline, though a byte came in every while."""
    with shared.running.connect() as peer:
        _drip(peer, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200)
        assert b" 408 " in _rest(peer).split(b"\r\n")[0]


def _drip(peer: socket.socket, data: bytes) -> None:
    """A byte every tenth of a second until the daemon answers."""
    peer.settimeout(0.1)
    for byte in data:
        with suppress(ConnectionError):
            peer.sendall(bytes((byte,)))
        with suppress(TimeoutError):
            peer.recv(1, socket.MSG_PEEK)
            break
    peer.settimeout(SECONDS)


def a_body_byte_by_byte(shared: Shared) -> None:
    with shared.running.connect() as peer:
        peer.sendall(_keyed(shared, POST) + b"Content-Length: 200\r\n\r\n")
        _drip(peer, b" " * 100)
        assert b" 408 " in _rest(peer).split(b"\r\n")[0]


def many_at_once(shared: Shared) -> None:
    """Sixteen programs that pipeline as fast as they can, beside the good request."""

    def flood() -> None:
        with suppress(OSError), shared.running.connect() as peer:
            peer.sendall((_keyed(shared, GOOD) + b"\r\n") * 50)
            peer.shutdown(socket.SHUT_WR)
            _rest(peer)

    threads = [threading.Thread(target=flood) for _ in range(16)]
    for thread in threads:
        thread.start()
    serves(shared)
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()


ATTACKS: tuple[Callable[[Shared], None], ...] = (
    websocket,
    upgrade_to_http2,
    a_body_over_the_limit_sent_on,
    chunks_over_the_limit_sent_on,
    a_deep_body,
    a_reset_in_the_middle_of_a_body,
    a_reset_instead_of_reading_the_answer,
    half_closed,
    a_header_byte_by_byte,
    a_body_byte_by_byte,
    many_at_once,
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_an_attack_leaves_the_others_alone(shared: Shared, attack: Callable[[Shared], None]) -> None:
    attack(shared)
    serves(shared)


def test_half_open_connections_do_not_keep_the_others_out(shared: Shared) -> None:
    with ExitStack() as held:
        for start in (b"", b"G", b"GET /healthz HTTP/1.1\r\n", _keyed(shared, POST) + b"Content-Length: 9\r\n\r\n{"):
            peer = held.enter_context(shared.running.connect())
            peer.sendall(start)
            serves(shared)


def test_a_thousand_idle_connections(shared: Shared) -> None:
    before = shared.running.memory_kb()
    with ExitStack() as held:
        for _ in range(1000):
            held.enter_context(shared.running.connect())
        serves(shared)
        grown = shared.running.memory_kb() - before
    assert grown < 100 * 1024
    serves(shared)


def test_more_connections_than_there_are_places(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The one that was idle for longest makes room."""
    instance = Instance(tmp_path_factory.mktemp("crowded"), extra_server="max_connections = 20")
    with serving(instance) as running, ExitStack() as held:
        for _ in range(60):
            held.enter_context(running.connect())
        assert _healthy(running)
        assert running.end() == 0


def _healthy(running: Running) -> bool:
    return running.client.get("/healthz").status_code == 200
