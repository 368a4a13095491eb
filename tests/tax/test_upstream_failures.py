"""An upstream that is down, hangs, drips, breaks off, redirects, answers without end or shows the wrong certificate.

Each has its documented status within the deadline, other requests are answered meanwhile, and nothing stays open.
"""

import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
import trustme

from gatewayd.tax.authority.upstream import ANSWER_BYTES_MAX
from tests.tax.conftest import OpenTax, TaxApi
from tests.tax.recording import Recorded, Script, Stream, Upstream, answer, hang, hang_up, saying, server_tls, upstream

SECONDS = 60.0
DEADLINE = 0.4
PATIENCE = 60.0  # the longest that anything here waits; nothing is measured with it
READ = "/legalEntity/getLegalEntities"


async def drip(stream: Stream, request: Recorded) -> None:
    """A byte now and then, for ever."""
    await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        await stream.send_all(b"x")
        await trio.sleep(0.02)


async def drip_head(stream: Stream, request: Recorded) -> None:
    """The same with a head that has no end."""
    await stream.send_all(b"HTTP/1.1 200 OK\r\n")
    while True:
        await stream.send_all(b"X-A: b\r\n")
        await trio.sleep(0.02)


async def break_off(stream: Stream, request: Recorded) -> None:
    """Reset within the body."""
    await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    await hang_up(stream, request)


async def huge(stream: Stream, request: Recorded) -> None:
    """200 without end."""
    await stream.send_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        await stream.send_all(b"10000\r\n" + b"x" * 65_536 + b"\r\n")


FAILURES: dict[str, tuple[Script, str]] = {
    "hangs": (hang, "tax_upstream_timeout"),
    "drips": (drip, "tax_upstream_timeout"),
    "drips its head": (drip_head, "tax_upstream_timeout"),
    "hangs up": (hang_up, "tax_upstream_error"),
    "breaks off": (break_off, "tax_upstream_error"),
    "huge": (huge, "tax_upstream_error"),
    "declared huge": (saying(answer(b"x" * (ANSWER_BYTES_MAX + 1))), "tax_upstream_error"),
    "no HTTP": (saying(b"220 mail.example ESMTP\r\n\r\n"), "tax_upstream_error"),
    "bad length": (saying(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), "tax_upstream_error"),
    "redirects": (saying(answer(b"", "302 Found", b"Location: https://example.com/\r\n")), "tax_upstream_error"),
}


async def meanwhile(tax: TaxApi, work: Callable[[], Awaitable[None]]) -> int:
    """Do the work; how many other requests were answered until it was done."""
    tax.api.token("org_a", "reader", ["entities:read"])
    answered = 0

    async def read_on() -> None:
        nonlocal answered
        while True:
            assert (await tax.api("GET", READ, token="reader")).status == 200
            answered += 1
            await trio.sleep(0.01)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read_on)
        await work()
        nursery.cancel_scope.cancel()
    return answered


async def closed(server: Upstream) -> None:
    """Every connection that could not be used again is closed."""
    with trio.fail_after(PATIENCE):
        while server.open_connections > 0:
            await trio.sleep(0.01)


@pytest.mark.parametrize("name", FAILURES)
async def test_a_failure_has_its_status_in_time(open_tax: OpenTax, name: str) -> None:
    script, code = FAILURES[name]
    deadline = DEADLINE if code == "tax_upstream_timeout" else SECONDS
    with trio.fail_after(SECONDS):
        async with upstream() as server:
            async with open_tax(mode="forward", upstream=server.url, timeout_seconds=deadline) as tax:
                server.script = script

                async def work() -> None:
                    began = trio.current_time()
                    reply = await tax.get()
                    assert reply.code == code
                    assert b"example" not in reply.body
                    assert b"127.0.0.1" not in reply.body
                    if code == "tax_upstream_timeout":
                        assert trio.current_time() - began >= DEADLINE

                assert await meanwhile(tax, work) > 0
                server.script = saying(answer())
                assert (await tax.get()).status == 200
            await closed(server)


@pytest.mark.either_engine("its subject is how many may wait for the authority")
async def test_many_calls_that_hang_at_once(open_tax: OpenTax) -> None:
    """More than there are connections: all end at their deadline, and none of the other requests waits for them."""
    codes: list[str] = []
    with trio.fail_after(SECONDS):
        async with upstream() as server:
            async with open_tax(mode="forward", upstream=server.url, timeout_seconds=DEADLINE) as tax:
                server.script = hang

                async def call() -> None:
                    codes.append((await tax.get()).code)

                async def work() -> None:
                    async with trio.open_nursery() as nursery:
                        for _ in range(40):
                            nursery.start_soon(call)

                assert await meanwhile(tax, work) > 0
                assert len(tax.calls()) == 40
            await closed(server)
    assert set(codes) == {"tax_upstream_timeout"}
    assert len(codes) == 40


async def test_nobody_listens(open_tax: OpenTax) -> None:
    with trio.socket.socket() as reserved:
        await reserved.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}"
        with trio.fail_after(SECONDS):
            async with open_tax(mode="forward", upstream=url) as tax:
                reply = await tax.get()
                assert (reply.status, reply.code) == (502, "tax_upstream_error")
                assert b"127.0.0.1" not in reply.body


async def test_a_lookup_that_failed_is_tried_again_at_once(open_tax: OpenTax, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def flicker(*name: object, **how: object) -> object:
        asked.append(name[0])
        if len(asked) == 1:
            raise OSError("temporary failure in name resolution")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    with trio.fail_after(SECONDS):
        async with upstream() as server:
            monkeypatch.setattr(socket, "getaddrinfo", flicker)
            url = server.url.replace("127.0.0.1", "authority.test")
            async with open_tax(mode="forward", upstream=url) as tax:
                assert (await tax.get()).status == 200
    assert asked == ["authority.test"] * 2


async def test_while_it_is_down_the_answer_is_503_at_once(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url) as tax:
            server.script = hang_up
            codes = [(await tax.get()).code for _ in range(5)]
            asked = len(server.requests)
            fast = await tax.get()
    assert codes == ["tax_upstream_error"] * 5
    assert (fast.status, fast.code) == (503, "unavailable")
    assert 1 <= int(fast["retry-after"]) <= 10
    assert len(server.requests) == asked
    assert tax.log.events.count("tax_upstream_down") == 1


@pytest.mark.parametrize(
    ("trusted", "name", "status"), [(True, "localhost", 200), (True, "x.example", 502), (False, "localhost", 502)]
)
async def test_the_right_certificate_is_wanted(
    open_tax: OpenTax, tmp_path: Path, trusted: bool, name: str, status: int
) -> None:
    authority, ca_file = trustme.CA(), tmp_path / "ca.pem"
    (authority if trusted else trustme.CA()).cert_pem.write_to_path(str(ca_file))
    with trio.fail_after(SECONDS):
        async with (
            upstream(server_tls(authority, name)) as server,
            open_tax(mode="forward", upstream=server.url, ca_file=str(ca_file)) as tax,
        ):
            reply = await tax.get()
    assert reply.status == status
    assert len(server.requests) == (1 if status == 200 else 0)


async def test_a_caller_that_goes_is_recorded(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server:
            async with open_tax(mode="forward", upstream=server.url) as tax:
                server.script = hang
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(tax.get)
                    while not server.requests:
                        await trio.sleep(0.01)
                    nursery.cancel_scope.cancel()
                assert [(call.status, call.code) for call in tax.calls()] == [(0, None)]
            await closed(server)
