"""A tax service that fails, through the real door: each way has its answer in time, and hurts nobody else."""

import datetime
import os
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import pytest
import trio
import trustme

from gatewayd.tax.authority.rate_limit import FAILURES_MAX, OPEN_SECONDS
from gatewayd.tax.authority.upstream import ANSWER_BYTES_MAX
from tests.daemon.conftest import Shared
from tests.daemon.hooks import make_authority
from tests.daemon.instance import SECONDS, Instance, serving, until
from tests.daemon.tax_upstream import Raw, Reply, Service, approved_key, ask, tax_settings, taxing, tls_of
from tests.daemon.test_tax_forwarding import OBLIGATIONS
from tests.tax.recording import Recorded, Script, Stream, answer, hang, hang_up, saying

READ = "/api/rpc/legalEntity/getLegalEntities"
DEADLINE = 1.5
GRACE = 60.0  # beside the deadline; nothing is measured with it


@dataclass
class House(Shared):
    """A daemon in mode `forward` with a short deadline, and the service behind it."""

    authority: trustme.CA
    service: Service
    key: str

    def get(self) -> Reply:
        return ask(self.running, self.key, OBLIGATIONS)

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.running.pid}/fd"))

    def threads(self) -> int:
        return len(os.listdir(f"/proc/{self.running.pid}/task"))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    directory = tmp_path_factory.mktemp("failing")
    authority, ca_file = make_authority(directory)
    with taxing(authority) as service:
        instance = Instance(directory, tax_settings("forward", service, ca_file, f"timeout_seconds = {DEADLINE}\n"))
        firm = instance.firm()
        with serving(instance) as running:
            key = approved_key(instance, firm.org_id, firm.user_id)
            yield House(instance, running, firm, authority, service, key)
            assert running.end() == 0
        assert key not in running.log.read_text()


# -- the ways to fail


async def drip(stream: Stream, request: Recorded) -> None:
    """A byte a second, for ever."""
    await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        await stream.send_all(b"x")
        await trio.sleep(1)


async def drip_head(stream: Stream, request: Recorded) -> None:
    """The same with a head that has no end."""
    while True:
        await stream.send_all(b"H")
        await trio.sleep(1)


async def reset(stream: Stream, request: Recorded) -> None:
    """Within the body, and not as one closes a connection."""
    assert isinstance(stream, trio.SSLStream)
    await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    stream.transport_stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await trio.aclose_forcefully(stream)


async def chunks_without_end(stream: Stream, request: Recorded) -> None:
    await stream.send_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        await stream.send_all(b"10000\r\n" + b"x" * 65_536 + b"\r\n")


async def noise(stream: trio.SocketStream) -> None:
    """No TLS at all."""
    await stream.send_all(b"220 mail.example ESMTP\r\n" * 4)
    while await stream.receive_some(4096):
        pass


async def silence(stream: trio.SocketStream) -> None:
    """A connection is taken, and nothing said."""
    while await stream.receive_some(4096):
        pass


def packed() -> bytes:
    """More than the limit, still packed."""
    return answer(random.Random(0).randbytes(ANSWER_BYTES_MAX + 1), fields=b"Content-Encoding: gzip\r\n")


SCRIPTS: dict[str, tuple[Script, int, str]] = {
    "hangs": (hang, 504, "tax_upstream_timeout"),
    "drips": (drip, 504, "tax_upstream_timeout"),
    "drips its head": (drip_head, 504, "tax_upstream_timeout"),
    "hangs up": (hang_up, 502, "tax_upstream_error"),
    "resets within the body": (reset, 502, "tax_upstream_error"),
    "huge": (saying(answer(b"x" * (ANSWER_BYTES_MAX + 1))), 502, "tax_upstream_error"),
    "huge and packed": (saying(packed()), 502, "tax_upstream_error"),
    "huge in chunks": (chunks_without_end, 502, "tax_upstream_error"),
    "no HTTP": (saying(b"\x00\xff\x16\x03 nonsense\r\n\r\n"), 502, "tax_upstream_error"),
    "two lengths": (
        saying(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"),
        502,
        "tax_upstream_error",
    ),
}
RAW: dict[str, tuple[Raw, int, str]] = {
    "no TLS": (noise, 502, "tax_upstream_error"),
    "takes connections alone": (silence, 504, "tax_upstream_timeout"),
}
CERTIFICATES: dict[str, Callable[[trustme.CA], trustme.LeafCert]] = {
    "of another authority": lambda authority: trustme.CA().issue_cert("localhost"),
    "for another name": lambda authority: authority.issue_cert("x.example"),
    "expired": lambda authority: authority.issue_cert("localhost", not_after=datetime.datetime(2026, 1, 1)),
}


@contextmanager
def certified(house: House, name: str) -> Iterator[None]:
    good, house.service.tls = house.service.tls, tls_of(CERTIFICATES[name](house.authority))
    yield
    house.service.tls = good


@contextmanager
def redirecting(house: House) -> Iterator[None]:
    """To a trap, which stays empty."""
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.setblocking(False)
        location = f"Location: http://127.0.0.1:{trap.getsockname()[1]}/\r\n"
        house.service.say(answer(b"", "301 Moved Permanently", location.encode()))
        yield
        with pytest.raises(BlockingIOError):
            trap.accept()


def way(house: House, name: str) -> tuple[AbstractContextManager[None], int, str]:
    """How to make it fail in that way, and what is answered then."""
    error = (502, "tax_upstream_error")
    if name in SCRIPTS:
        house.service.script, *expected = SCRIPTS[name]
        return nullcontext(), *expected
    if name in RAW:
        house.service.raw, *expected = RAW[name]
        return nullcontext(), *expected
    if name in CERTIFICATES:
        return certified(house, name), *error
    return (redirecting(house) if name == "redirects" else house.service.down()), *error


WAYS = (*SCRIPTS, *RAW, *CERTIFICATES, "redirects", "is down")


# -- the other client


class Reader:
    """Another client that reads on and on; `answered` counts what came of it."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self.answered = 0

    def __enter__(self) -> "Reader":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        until(lambda: self.answered > 0 or not self._thread.is_alive())
        self._done.set()
        self._thread.join()
        assert self.answered > 0

    def _read(self) -> None:
        while not self._done.is_set():
            assert self._house.running.call(self._house.firm.key, "GET", READ).status_code == 200
            self.answered += 1


@pytest.mark.parametrize("name", WAYS)
def test_each_failure_has_its_answer_in_time_and_hurts_nobody_else(house: House, name: str) -> None:
    house.service.say(answer())
    assert house.get().status == 200
    failing, status, code = way(house, name)
    with failing, Reader(house) as beside:
        until(lambda: beside.answered > 0)
        began, before = time.perf_counter(), beside.answered
        reply = house.get()
        took, meanwhile = time.perf_counter() - began, beside.answered - before
    assert (reply.status, reply.code) == (status, code)
    assert status != 504 or (took >= DEADLINE and meanwhile > 0)
    for hint in (b"localhost", b"127.0.0.1", str(house.service.port).encode(), b"x.example"):
        assert hint not in reply.body
    assert recorded(house, reply) == [(status, code)]
    house.service.say(answer())
    assert house.get().status == 200


def recorded(house: House, reply: Reply) -> list[tuple[object, ...]]:
    select = "SELECT status, code FROM tax_calls WHERE org_id = :org_id AND request_id = :request_id"
    (request_id,) = reply.values("x-request-id")
    return house.instance.read(lambda tx: tx.rows(select, request_id=request_id), house.firm.org_id)


def test_after_all_of_it_nothing_is_left_open(house: House) -> None:
    """Several ways, several times at once; what the daemon holds is what it held after one good call."""
    house.service.say(answer())
    assert house.get().status == 200
    assert house.running.call(house.firm.key, "GET", READ).status_code == 200
    descriptors = until(lambda: steady(house.descriptors))
    threads = until(lambda: steady(house.threads))
    for name in ("hangs", "drips", "resets within the body", "huge in chunks", "no TLS", "expired"):
        failing = way(house, name)[0]
        with failing:
            several(house, FAILURES_MAX - 1)
        house.service.say(answer())
        assert house.get().status == 200

    def is_as_before() -> bool:
        assert house.get().status == 200  # what was kept for too long is closed when the pool is next used
        return house.descriptors() <= descriptors

    until(is_as_before, 2 * SECONDS)
    assert house.threads() <= threads + 5  # a pool keeps those that looked names up


def steady(count: Callable[[], int]) -> int:
    """The number, once it does not change; 0 before."""
    first = count()
    threading.Event().wait(0.2)
    return first if count() == first else 0


def several(house: House, count: int) -> list[Reply]:
    replies: list[Reply] = []
    threads = [threading.Thread(target=lambda: replies.append(house.get())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == count
    return replies


# -- the breaker


def test_while_it_is_down_the_answer_is_503_and_one_call_finds_out(house: House) -> None:
    service, told = house.service, threading.Event()
    service.say(answer())
    assert house.get().status == 200
    service.script = hang_up
    assert [house.get().status for _ in range(FAILURES_MAX)] == [502] * FAILURES_MAX
    asked = service.connections
    refused = house.get()
    assert (refused.status, refused.code) == (503, "unavailable")
    (wait,) = refused.values("retry-after")
    assert 1 <= int(wait) <= OPEN_SECONDS
    until(lambda: "tax_upstream_down" in {line["event"] for line in house.running.lines()})

    async def wait_to_be_told(stream: Stream, request: Recorded) -> None:
        with trio.fail_after(DEADLINE + GRACE):
            while not told.is_set():
                await trio.sleep(0.01)
        await stream.send_all(answer())

    service.script, probes = wait_to_be_told, list[Reply]()
    probe = threading.Thread(target=lambda: probes.append(until(lambda: unless_refused(house.get()))))
    probe.start()
    until(lambda: service.connections > asked)
    beside = several(house, 3)
    told.set()
    probe.join()
    assert {reply.status for reply in beside} == {503}
    assert service.connections == asked + 1
    assert [reply.status for reply in probes] == [200]
    assert [reply.status for reply in several(house, 3)] == [200] * 3


def unless_refused(reply: Reply) -> Reply | None:
    return None if reply.status == 503 else reply
