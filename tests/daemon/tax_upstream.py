"""A tax service on HTTPS loopback in a thread of the test's process, good and bad, and a daemon that asks it.

It writes down raw requests, as the upstream of `tests/tax` does, and closes each connection after one request, so that
what is changed in it counts from the next request on.
"""

import http.client
import json
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import trio
import trustme

from tests.daemon.instance import SECONDS, Instance, Running
from tests.tax.conftest import HEADERS
from tests.tax.recording import HEAD_BYTES, Recorded, Script, Stream, answer, saying

Fields = list[tuple[bytes, bytes]]
Raw = Callable[[trio.SocketStream], Awaitable[None]]
GONE = (trio.BrokenResourceError, trio.ClosedResourceError)
ANYTHING = b'{"obligations":[],"itsaStatuses":[],"calculations":[],"balanceDetails":{},"liabilities":[],"payments":[]}'
"""A body that every operation can work with, also those that read it."""


@dataclass
class Service:
    """The service. `script`, `tls` and `raw` may be changed at any time; `raw` takes a connection before TLS."""

    tls: ssl.SSLContext
    script: Script = field(default_factory=lambda: saying(answer(ANYTHING)))
    raw: Raw | None = None
    requests: list[Recorded] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    _token: trio.lowlevel.TrioToken | None = None
    _listening: trio.CancelScope | None = None

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    def say(self, *answers: bytes) -> None:
        """Answer with these in turn, the last one for ever."""
        self.raw, self.script = None, saying(*answers)

    # -- in its thread

    async def serve(self, started: threading.Event) -> None:
        """Until it is cancelled from the test's thread."""
        self._token = trio.lowlevel.current_trio_token()
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            await nursery.start(self._listen)
            started.set()
            await trio.sleep_forever()

    async def _listen(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        listeners = await trio.open_tcp_listeners(self.port, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        with trio.CancelScope() as self._listening:
            task_status.started()
            await trio.serve_listeners(self._take, listeners, handler_nursery=self._nursery)

    async def _take(self, plain: trio.SocketStream) -> None:
        self.connections += 1
        try:
            if self.raw is not None:
                async with plain:
                    await self.raw(plain)
                return
            stream = trio.SSLStream(plain, self.tls, server_side=True, https_compatible=True)
            async with stream:
                request = await _read(stream)
                if request is not None:
                    self.requests.append(request)
                    await self.script(stream, request)
        except GONE:
            return  # the other side has had enough

    # -- from the test's thread

    @contextmanager
    def down(self) -> Iterator[None]:
        """Nobody listens for the length of the block."""
        assert self._token is not None
        assert self._listening is not None
        trio.from_thread.run_sync(self._listening.cancel, trio_token=self._token)
        yield
        trio.from_thread.run(self._again, trio_token=self._token)

    async def _again(self) -> None:
        await self._nursery.start(self._listen)

    def stop(self) -> None:
        assert self._token is not None
        trio.from_thread.run_sync(self._nursery.cancel_scope.cancel, trio_token=self._token)


async def _read(stream: Stream) -> Recorded | None:
    data = b""
    while b"\r\n\r\n" not in data:
        part = await stream.receive_some(HEAD_BYTES)
        if not part:
            return None
        data += part
    length = sum(int(value) for name, value in Recorded(data).fields if name.lower() == b"content-length")
    while len(data.partition(b"\r\n\r\n")[2]) < length:
        data += await stream.receive_some(HEAD_BYTES)
    return Recorded(data)


def tls_of(certificate: trustme.LeafCert) -> ssl.SSLContext:
    """The server's side with that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


@contextmanager
def taxing(authority: trustme.CA) -> Iterator[Service]:
    """A service for the length of the block. What fails in its thread is a warning, and so an error."""
    service, started = Service(tls_of(authority.issue_cert("localhost"))), threading.Event()
    thread = threading.Thread(target=trio.run, args=(service.serve, started), daemon=True)
    thread.start()
    assert started.wait(SECONDS)
    try:
        yield service
    finally:
        service.stop()
        thread.join(SECONDS)


def tax_settings(mode: str, service: Service, ca_file: Path, more: str = "") -> str:
    """Settings that lead to it, without a rate limit."""
    table = f'[tax]\nmode = "{mode}"\nupstream = "{service.url}"\nca_file = "{ca_file}"\n{more}'
    return f"[limits]\nrequests_per_minute = 0\n{table}"


def approved_key(instance: Instance, org_id: str, user_id: str) -> str:
    """A key that may ask."""
    key = instance.key(org_id, user_id, ["tax:read"])
    assert instance.run("tax", "approve", "--key", key.id).returncode == 0
    return key.key


# -- asking


class Reply(NamedTuple):
    """An answer of the daemon as it came off the wire, but for its framing. Names in lower case."""

    status: int
    fields: list[tuple[str, str]]
    body: bytes

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key == name]

    @property
    def code(self) -> str:
        """The code of a problem."""
        assert self.values("content-type") == ["application/problem+json"], self
        return str(json.loads(self.body)["code"])


def ask(running: Running, key: str, path: str, fields: Fields | None = None) -> Reply:
    """One GET over a connection of its own, with exactly these header fields beside the key."""
    sent = [(b"Host", b"127.0.0.1"), (b"Authorization", b"Bearer " + key.encode()), (b"Connection", b"close")]
    lines = b"".join(b"%b: %b\r\n" % each for each in [*sent, *(list(HEADERS) if fields is None else fields)])
    with running.connect() as peer:
        peer.sendall(b"GET %b HTTP/1.1\r\n%b\r\n" % (path.encode(), lines))
        response = http.client.HTTPResponse(peer, method="GET")
        response.begin()
        body = response.read()
    return Reply(response.status, [(name.lower(), value) for name, value in response.getheaders()], body)


def decide(instance: Instance, decision: str, subjects: Sequence[tuple[str, str]]) -> None:
    """Approve or refuse each (`--key` or `--client`, id), all at once."""
    with ThreadPoolExecutor(len(subjects)) as pool:
        ended = list(pool.map(lambda subject: instance.run("tax", decision, *subject), subjects))
    assert [each.returncode for each in ended] == [0] * len(subjects), ended
