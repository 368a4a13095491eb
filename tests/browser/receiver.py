"""A program on this computer that is told of events."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

from gatewayd.clock import SECOND, SystemClock
from gatewayd.webhooks.signature import verify
from tests.daemon.instance import SECONDS


@dataclass
class Receiver:
    """`status` is what it answers next."""

    url: str
    status: int = 204
    received: "Queue[tuple[str, bytes]]" = field(default_factory=Queue)

    def next(self, secret: str) -> bytes:
        """The body of the next event, which is signed with that secret."""
        signature, body = self.received.get(timeout=SECONDS)
        verify(signature, body, secret, now=SystemClock().now() // SECOND)
        return body


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.received.put((self.headers["X-Service-Signature"], body))
            self.send_response(receiver.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}/hooks"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join(SECONDS)
