"""A webhook receiver on HTTPS loopback, in a thread of the test's process."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import trustme

from tests.daemon.instance import SECONDS


@dataclass(frozen=True)
class Arrival:
    """One request as it came: header names in lower case."""

    headers: dict[str, str]
    body: bytes

    @property
    def delivery_id(self) -> str:
        return self.headers["x-service-delivery"]


@dataclass
class Hooks:
    """What has arrived. Clear `open` to keep the answers back. `decide` gives the status of each answer."""

    url: str = ""
    status: int = 204
    arrivals: list[Arrival] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)
    open: threading.Event = field(default_factory=threading.Event)
    decide: Callable[[Arrival], int] | None = None

    def wait_for(self, count: int, seconds: float = SECONDS) -> list[Arrival]:
        """Wait until that many requests are there."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.arrivals) >= count, seconds), self.arrivals
            return list(self.arrivals)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    hooks: Hooks

    def handle_error(self, *_: object) -> None:
        """The daemon was killed in the middle."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SECONDS
    server: _Server

    def do_POST(self) -> None:
        hooks = self.server.hooks
        body = self.rfile.read(int(self.headers["Content-Length"]))
        arrival = Arrival({name.lower(): value for name, value in self.headers.items()}, body)
        with hooks.arrived:
            hooks.arrivals.append(arrival)
            hooks.arrived.notify_all()
        hooks.open.wait(SECONDS)
        self.send_response(hooks.status if hooks.decide is None else hooks.decide(arrival))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


def make_authority(directory: Path) -> tuple[trustme.CA, Path]:
    """A certificate authority and the file that a `ca_file` setting names."""
    authority = trustme.CA()
    path = directory / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return authority, path


@contextmanager
def receiving(authority: trustme.CA) -> Iterator[Hooks]:
    """Receive for the length of the block."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server = _Server(("127.0.0.1", 0), _Handler)
    # The handshake comes with the first read, in the connection's own thread.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.hooks = Hooks(f"https://127.0.0.1:{server.server_address[1]}/hooks")
    server.hooks.open.set()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.hooks
    finally:
        server.hooks.open.set()
        server.shutdown()
        server.server_close()
        thread.join(SECONDS)


def webhook_settings(ca_file: Path) -> str:
    """Settings under which receivers on loopback are allowed."""
    return f'[webhooks]\nallow_networks = ["127.0.0.0/8"]\nca_file = "{ca_file}"\nfirst_retry_seconds = 1\n'
