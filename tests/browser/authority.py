"""The tax authority as a browser and the daemon meet it: a sign-in page that sends on, and a token endpoint."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import trustme

from tests.daemon.instance import SECONDS

GRANTED = {"access_token": "a", "refresh_token": "r", "expires_in": 14400, "scope": "read:vat read:self-assessment"}


@dataclass
class Authority:
    """What it answers next. `error` takes the place of a code."""

    token_url: str = ""
    error: str = ""
    redeemed: list[dict[str, list[str]]] = field(default_factory=list)


def _handler(authority: Authority) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = parse_qs(urlsplit(self.path).query)
            answered = {"error": authority.error} if authority.error else {"code": "good"}
            query = urlencode({**answered, "state": asked["state"][0]})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri'][0]}?{query}")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            authority.redeemed.append(parse_qs(body.decode()))
            answered = json.dumps(GRANTED).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answered)))
            self.end_headers()
            self.wfile.write(answered)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Says nothing."""

    return Handler


@contextmanager
def listening(port: int) -> Iterator[Authority]:
    """The sign-in page by TLS on that port, and the token endpoint beside it without."""
    authority = Authority()
    handler = _handler(authority)
    with (
        ThreadingHTTPServer(("127.0.0.1", port), handler) as pages,
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as tokens,
    ):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("www.tax.service.gov.uk").configure_cert(context)
        pages.socket = context.wrap_socket(pages.socket, server_side=True)
        threads = [threading.Thread(target=server.serve_forever) for server in (pages, tokens)]
        for thread in threads:
            thread.start()
        authority.token_url = f"http://127.0.0.1:{tokens.server_port}"
        try:
            yield authority
        finally:
            for server, thread in zip((pages, tokens), threads, strict=True):
                server.shutdown()
                thread.join(SECONDS)
