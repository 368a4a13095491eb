"""A crowd from one address: connections that are held open and never come to a request. A process of its own.

    python -m tests.support.crowd KIND COUNT ADDRESS PORT

It says `standing` once all have been opened, opens some of those again that the server closes, and ends with its
standard input.
"""

import select
import socket
import ssl
import sys
from collections.abc import Callable

import h2.config
import h2.connection

SECONDS = 60.0  # the longest that one may take to come about
AGAIN_SECONDS = 0.05  # between two that are opened again: they crowd the door, and don't keep the processor busy


def _wrapped(plain: socket.socket, protocol: str) -> ssl.SSLSocket:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    return context.wrap_socket(plain)


def handshake(plain: socket.socket) -> socket.socket:
    """The beginning of a ClientHello, and nothing after."""
    plain.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    return plain


def head(plain: socket.socket) -> socket.socket:
    """Half a header block."""
    peer = _wrapped(plain, "http/1.1")
    peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
    return peer


def body(plain: socket.socket) -> socket.socket:
    """A form of sign-in, but for its last bytes."""
    peer = _wrapped(plain, "http/1.1")
    form = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nemail="
    peer.sendall(b"POST /api/auth/oauth2/token HTTP/1.1\r\nHost: x\r\n" + form)
    return peer


def http2(plain: socket.socket) -> socket.socket:
    """A connection that was negotiated, without a stream."""
    peer = _wrapped(plain, "h2")
    protocol = h2.connection.H2Connection(h2.config.H2Configuration())
    protocol.initiate_connection()
    peer.sendall(protocol.data_to_send())
    return peer


KINDS: dict[str, Callable[[socket.socket], socket.socket]] = {
    "handshake": handshake,
    "head": head,
    "body": body,
    "http2": http2,
}


def main(kind: str, count: str, address: str, port: str) -> None:
    """Stand there until standard input ends."""
    held: dict[int, socket.socket] = {}
    for _ in range(int(count)):
        _add(held, kind, address, int(port))
    print("standing", flush=True)
    while not select.select([sys.stdin], [], [], AGAIN_SECONDS)[0]:
        for descriptor in _closed(held)[:1]:
            held.pop(descriptor).close()
            _add(held, kind, address, int(port))


def _add(held: dict[int, socket.socket], kind: str, address: str, port: int) -> None:
    try:
        plain = socket.create_connection(("127.0.0.1", port), SECONDS, (address, 0))
        peer = KINDS[kind](plain)
    except OSError:
        return  # it was turned away, or had to go for the next
    held[peer.fileno()] = peer


def _closed(held: dict[int, socket.socket]) -> list[int]:
    """Those that the server has closed. What it sends otherwise is never read."""
    poll = select.poll()
    for descriptor in held:
        poll.register(descriptor, select.POLLRDHUP)
    return [descriptor for descriptor, _ in poll.poll(0)]


if __name__ == "__main__":
    main(*sys.argv[1:])
