"""An S3-compatible store for tests: moto's server, and a way to it that fails as networks and stores do."""

import contextlib
import http.client
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from gatewayd.store.objects.bucket import Objects
from gatewayd.store.settings import Bucket

ROOT = Path(__file__).parents[2]
SECONDS = 60
PREFIX = "books/of/oak"
SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"


@dataclass
class ObjectServer:
    """One that runs. Where it is guarded, a key that may do everything, and a bucket."""

    address: str
    key_id: str = "AKIAIOSFODNN7EXAMPLE"
    secret: str = "wJalrXUtnFEMI"
    guarded: str = ""

    def bucket(self, directory: Path, *, endpoint: str | None = None, cache_bytes: int = 1 << 30) -> Bucket:
        """A new, empty bucket. Its secret lies in a directory of the test."""
        name = self.guarded or f"books-{secrets.token_hex(8)}"
        assert self.guarded or self.ask("PUT", f"/{name}")[0] == 200
        secret = directory / "secret"
        secret.write_text(f"{self.secret}\n")
        return Bucket(
            endpoint=endpoint or f"http://{self.address}",
            region="us-east-1",
            name=name,
            prefix=f"{PREFIX}/",
            key_id=self.key_id,
            secret_file=secret,
            cache_bytes=cache_bytes,
        )

    def ask(self, method: str, target: str, body: bytes = b"") -> tuple[int, bytes]:
        """A request as nobody signs it."""
        connection = http.client.HTTPConnection(self.address, timeout=SECONDS)
        try:
            connection.request(method, target, body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


@contextlib.contextmanager
def running(*modes: str) -> Iterator[ObjectServer]:
    """A server for the length of the block. `guarded`: one that asks for signatures."""
    environ = {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "tests.support.objects_server", *modes]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, env=environ, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        try:
            yield ObjectServer(*program.stdout.readline().split())
        finally:
            program.stdin.close()
            program.wait(SECONDS)


def keys(bucket: Bucket, prefix: str = "") -> list[str]:
    """What lies there."""
    return [each.key for each in Objects(bucket).list(prefix)]


def settings_of(bucket: Bucket) -> str:
    """The lines of `[store]` that name it."""
    return (
        f'files_endpoint = "{bucket.endpoint}"\nfiles_region = "{bucket.region}"\nfiles_key_id = "{bucket.key_id}"\n'
        f'files_secret_file = "{bucket.secret_file}"\nfiles_cache_bytes = {bucket.cache_bytes}\n'
    )


# -- a way that fails


@dataclass
class Passing:
    """A request that is on its way."""

    method: str
    target: str
    body: bytes


Fault = Callable[["_Handler", Passing], bool]
"""What becomes of a request; whether it goes on its way all the same."""


@dataclass
class Front:
    """Stands before a server. `faults` are asked in turn, for each request, until one answers for it."""

    address: str
    seen: list[Passing] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @contextlib.contextmanager
    def failing(self, fault: Fault) -> Iterator[None]:
        """With one fault more."""
        self.faults.append(fault)
        try:
            yield
        finally:
            self.faults.remove(fault)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    front: Front
    upstream: str

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        passing = Passing(self.command, self.path, body)
        self.front.seen.append(passing)
        if all(fault(self, passing) for fault in [*self.front.faults]):
            self.answer(*self.forward(passing))

    def forward(self, passing: Passing) -> tuple[int, list[tuple[str, str]], bytes]:
        """What the server answers."""
        connection = http.client.HTTPConnection(self.upstream, timeout=SECONDS)
        try:
            connection.request(passing.method, passing.target, passing.body, dict(self.headers.items()))
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def answer(self, status: int, headers: list[tuple[str, str]], body: bytes, *, sent: int | None = None) -> None:
        """An answer; `sent`: no more of its body than so much, and then the connection ends."""
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body[:sent])
        self.close_connection = self.close_connection or sent is not None

    do_GET = do_PUT = do_POST = do_DELETE = _pass  # noqa: N815 (called by these names)

    def log_message(self, *words: object) -> None:
        """Nothing."""


class _Listening(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *words: object) -> None:
        """A client that gave up is no fault."""


@contextlib.contextmanager
def front_of(server: ObjectServer) -> Iterator[Front]:
    """A way to a server that does as its faults say."""
    front = Front("")
    handler = type("Handler", (_Handler,), {"front": front, "upstream": server.address})
    with _Listening(("127.0.0.1", 0), handler) as listening:
        front.address = "http://{}:{}".format(*listening.server_address)
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield front
        finally:
            listening.shutdown()
            thread.join(SECONDS)


def times(number: int, fault: Fault) -> Fault:
    """A fault that is over after so many requests that it is asked about."""
    left = iter(range(number))
    return lambda handler, passing: True if next(left, None) is None else fault(handler, passing)


def of(method: str, fault: Fault, containing: str = "") -> Fault:
    """A fault of requests of one method, about keys that have this in them."""
    return lambda handler, passing: (
        fault(handler, passing) if passing.method == method and containing in passing.target else True
    )


def busy(handler: _Handler, passing: Passing) -> bool:
    """The store wants to be asked less."""
    handler.answer(503, [], SLOW_DOWN)
    return False


def unheard(handler: _Handler, passing: Passing) -> bool:
    """It does what it is asked, and its answer is lost."""
    handler.forward(passing)
    handler.close_connection = True
    return False


def cut_short(handler: _Handler, passing: Passing) -> bool:
    """It breaks off in the middle of an answer."""
    status, headers, body = handler.forward(passing)
    handler.answer(status, headers, body, sent=len(body) // 2)
    return False


def refused(status: int, code: str, more: str = "") -> Fault:
    """It answers with an error."""

    def answer(handler: _Handler, passing: Passing) -> bool:
        handler.answer(status, [], f"<Error><Code>{code}</Code>{more}</Error>".encode())
        return False

    return answer


def hanging(until: threading.Event) -> Fault:
    """It takes a request and says nothing, until something happens; then it is done, though nobody listens."""

    def wait(handler: _Handler, passing: Passing) -> bool:
        until.wait(SECONDS)
        handler.forward(passing)
        handler.close_connection = True
        return False

    return wait


# -- for another process


def told(files: Path | Bucket) -> str:
    """Where documents lie, as one argument of a command."""
    return str(files) if isinstance(files, Path) else json.dumps([str(value) for value in files])


def heard(text: str) -> Path | Bucket:
    """The same, where it is read."""
    if not text.startswith("["):
        return Path(text)
    endpoint, region, name, prefix, key_id, secret_file, cache_bytes = json.loads(text)
    return Bucket(endpoint, region, name, prefix, key_id, Path(secret_file), int(cache_bytes))
