"""A file from an address: from an allowed one, whole, and no larger or later than allowed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio

from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.downloads import download
from gatewayd.outbound.errors import AddressBlockedError, DeadlineError, OutboundError, ProtocolError, TargetError
from gatewayd.outbound.transport import GuardedTransport, Policy

LOOPBACK = parse_networks(("127.0.0.0/8",))


@asynccontextmanager
async def saying(answer: bytes, asked: list[bytes] | None = None) -> AsyncIterator[str]:
    """A server on loopback that says one thing to everybody; nothing at all: it hangs."""

    async def serve(stream: trio.SocketStream) -> None:
        request = await stream.receive_some(65536)
        if asked is not None:
            asked.append(request)
        if not answer:
            await trio.sleep_forever()
        await stream.send_all(answer)
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}/rates.csv?day=1"
        nursery.cancel_scope.cancel()


def said(status: str, body: bytes, *more: bytes) -> bytes:
    fields = b"".join(field + b"\r\n" for field in (b"Content-Length: %d" % len(body), b"Connection: close", *more))
    return f"HTTP/1.1 {status}\r\n".encode() + fields + b"\r\n" + body


def transport() -> GuardedTransport:
    return GuardedTransport(Policy(allow_networks=LOOPBACK, allow_http=True))


async def test_a_file_is_brought_whole() -> None:
    asked: list[bytes] = []
    async with saying(said("200 OK", b"date,isin,price\n"), asked) as url:
        assert await download(transport(), url, 100, "gatewayd/1") == b"date,isin,price\n"
    assert asked[0].startswith(b"GET /rates.csv?day=1 HTTP/1.1\r\n")
    assert b"User-Agent: gatewayd/1\r\n" in asked[0]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (said("302 Found", b"", b"Location: http://127.0.0.1:1/"), "answers 302"),
        (said("404 Not Found", b"no"), "answers 404"),
        (said("200 OK", b"x" * 101), "larger than 100"),
    ],
)
async def test_another_answer_is_none(answer: bytes, why: str) -> None:
    async with saying(answer) as url:
        with pytest.raises(ProtocolError, match=why):
            await download(transport(), url, 100, "gatewayd/1")


async def test_a_server_that_hangs_is_left() -> None:
    async with saying(b"") as url:
        with pytest.raises(DeadlineError):
            await download(transport(), url, 100, "gatewayd/1", seconds=0.05)


async def test_an_address_that_is_not_allowed_is_not_asked() -> None:
    asked: list[bytes] = []
    async with saying(said("200 OK", b"x"), asked) as url:
        with pytest.raises(AddressBlockedError):
            await download(GuardedTransport(Policy(allow_http=True)), url, 100, "gatewayd/1")
        with pytest.raises(TargetError):
            await download(GuardedTransport(Policy(allow_networks=LOOPBACK)), url, 100, "gatewayd/1")
    assert asked == []


async def test_nobody_there_is_told() -> None:
    with pytest.raises(OutboundError):
        await download(transport(), "http://127.0.0.1:1/x.csv", 100, "gatewayd/1")
