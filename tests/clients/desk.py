"""Small servers on loopback in threads of the test: what a program asks the test for, and what a client publishes."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import trustme

from tests.daemon.instance import SECONDS

Answers = Mapping[str, Callable[[Any], object]]
"""By path. Each is given the JSON of the request, None where it has no body, and answers JSON."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    answers: Answers
    failed: list[BaseException]

    def handle_error(self, *_: object) -> None:
        """A program that has ended reads no more."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SECONDS
    server: _Server

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, asked: object) -> None:
        find = self.server.answers.get(self.path)
        try:
            status, answer = (404, None) if find is None else (200, find(asked))
        except AssertionError as error:  # belongs to the test, which has no part in this thread
            self.server.failed.append(error)
            status, answer = 500, str(error)
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def answering(answers: Answers, authority: trustme.CA | None = None) -> Iterator[str]:
    """Answer for the length of the block, over TLS with an authority; yields the origin.

    Raises at its end what an answer failed with.
    """
    server = _Server(("127.0.0.1", 0), _Handler)
    server.answers, server.failed = answers, []
    scheme = "http"
    if authority is not None:
        scheme = "https"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"{scheme}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(SECONDS)
    if server.failed:
        raise server.failed[0]
