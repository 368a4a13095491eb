"""Requests that two parsers could read in two ways, or that must not be read at all."""

from __future__ import annotations

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.http1.parser import RequestParser
from gatewayd.http1.settings import ServerSettings
from tests.http1.peers import echo, open_server

HEAD = b"POST / HTTP/1.1\r\nHost: door\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

REFUSED = {
    "two equal lengths": (HEAD + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400),
    "two lengths": (HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\na", 400),
    "length list": (HEAD + b"Content-Length: 1, 1\r\n\r\na", 400),
    "signed length": (HEAD + b"Content-Length: +1\r\n\r\na", 400),
    "negative length": (HEAD + b"Content-Length: -1\r\n\r\na", 400),
    "hex length": (HEAD + b"Content-Length: 0x1\r\n\r\na", 400),
    "spaced length": (HEAD + b"Content-Length: 1 1\r\n\r\na", 400),
    "empty length": (HEAD + b"Content-Length: \r\n\r\na", 400),
    "huge length": (HEAD + b"Content-Length: 99999999999999999999999\r\n\r\na", 400),
    "length then coding": (HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "coding then length": (HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n", 400),
    "unknown coding": (HEAD + b"Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n", 501),
    "coding list": (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    "chunked not last": (HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400),
    "chunked twice": (HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "almost chunked": (HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
    "identity": (HEAD + b"Transfer-Encoding: identity\r\n\r\n", 501),
    "vertical tab chunked": (HEAD + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 400),
    "coding in 1.0": (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "space before colon": (HEAD + b"Content-Length : 1\r\n\r\na", 400),
    "folded line": (HEAD + b"X: a\r\n b\r\n\r\n", 400),
    "folded coding": (HEAD + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400),
    "leading space": (b"GET / HTTP/1.1\r\n Host: door\r\n\r\n", 400),
    "bare LF": (b"GET / HTTP/1.1\nHost: door\n\n", 400),
    "bare LF in a value": (HEAD + b"X: a\nY: b\r\n\r\n", 400),
    "bare CR in a value": (HEAD + b"X: a\rY: b\r\n\r\n", 400),
    "NUL in a value": (HEAD + b"X: a\0b\r\n\r\n", 400),
    "control in a value": (HEAD + b"X: a\x01b\r\n\r\n", 400),
    "invalid name": (HEAD + b"X(: a\r\n\r\n", 400),
    "empty name": (HEAD + b": a\r\n\r\n", 400),
    "no colon": (HEAD + b"X\r\n\r\n", 400),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two hosts": (b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    "host with space": (b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    "host with user": (b"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
    "target with user": (b"GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "foreign scheme": (b"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "asterisk for GET": (b"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "fragment": (b"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "relative target": (b"GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "control in target": (b"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "high byte in target": (b"GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "invalid UTF-8": (b"GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "encoded NUL": (b"GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "connect": (b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\ntrailing", 400),
    "unknown method": (b"FOO / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "lower-case method": (b"get / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "HTTP/2.0": (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    "HTTP/1.2": (b"GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505),
    "HTTP/0.9": (b"GET / HTTP/0.9\r\n\r\n", 505),
    "no version": (b"GET /\r\n\r\n", 505),
    "HTTP/2 by prior knowledge": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9), 400),
    "TLS hello": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    "long target": (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    "large head": (HEAD + b"X: " + b"a" * 40_000 + b"\r\n\r\n", 431),
    "many headers": (HEAD + b"X: a\r\n" * 6_000 + b"\r\n", 431),
    "endless head": (HEAD + b"X: " + b"a" * 200_000, 431),
    "large trailer": (CHUNKED + b"0\r\nX: " + b"a" * 40_000 + b"\r\n\r\n", 431),
    "many trailers": (CHUNKED + b"0\r\n" + b"X: a\r\n" * 6_000 + b"\r\n", 431),
    "endless chunk extension": (CHUNKED + b"1;" + b"a" * 200_000, 431),
    "chunk not hex": (CHUNKED + b"g\r\na\r\n0\r\n\r\n", 400),
    "negative chunk": (CHUNKED + b"-1\r\na\r\n0\r\n\r\n", 400),
    "0x chunk": (CHUNKED + b"0x1\r\na\r\n0\r\n\r\n", 400),
    "huge chunk": (CHUNKED + b"fffffffffffffffff\r\na\r\n0\r\n\r\n", 400),
    "chunk longer than said": (CHUNKED + b"1\r\nab\r\n0\r\n\r\n", 400),
    "chunk with bare LF": (CHUNKED + b"1\na\n0\n\n", 400),
    "LF in chunk extension": (CHUNKED + b"1;a\nb\r\na\r\n0\r\n\r\n", 400),
    "length in a trailer": (CHUNKED + b"0\r\nContent-Length: 5\r\n\r\n", 400),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_refused_once_and_closed(name: str) -> None:
    request, status = REFUSED[name]
    async with open_server(echo) as running, await running.peer() as peer:
        await peer.send(request + b"GET /smuggled HTTP/1.1\r\nHost: door\r\n\r\n")
        answer = await peer.answer()
        assert (answer.status, answer.closes) == (status, True)
        assert answer.headers[b"content-type"] == b"application/problem+json"
        await peer.half_close()
        await peer.closed()
        assert running.server.counters.refused == 1


@pytest.mark.parametrize("name", ["endless head", "endless chunk extension", "many trailers", "folded line"])
async def test_refused_in_small_pieces_too(name: str) -> None:
    request, status = REFUSED[name]
    parser = RequestParser(ServerSettings(bind=()))
    taken = 0
    while parser.fault is None and taken < len(request):
        parser.feed(request[taken : taken + 7])
        taken += 7
    assert parser.fault is not None
    assert parser.fault.status == status
    assert taken < 45_000


async def test_small_chunks_do_not_count_as_a_flood() -> None:
    parser = RequestParser(ServerSettings(bind=()))
    parser.feed(CHUNKED)
    for _ in range(50_000):
        parser.feed(b"1\r\na\r\n")
    parser.feed(b"0\r\n\r\n")
    assert parser.fault is None
    assert parser.requests[0].complete


async def test_a_head_cut_by_the_end_is_400() -> None:
    async with open_server(echo) as running, await running.peer() as peer:
        await peer.send(b"GET / HTTP/1.1\r\nHo")
        await peer.half_close()
        assert (await peer.answer()).status == 400
        await peer.closed()


VALID = [
    b"GET /a?b HTTP/1.1\r\nHost: door\r\n\r\n",
    HEAD + b"Content-Length: 3\r\n\r\nabc",
    CHUNKED + b"3\r\nabc\r\n0\r\n\r\n",
    HEAD + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 1\r\n\r\na",
    HEAD + b"Expect: 100-continue\r\nContent-Length: 1\r\n\r\na",
]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Valid requests in a row, with some bytes cut out, doubled or replaced."""
    data = bytearray(b"".join(draw(st.lists(st.sampled_from(VALID), min_size=1, max_size=4))))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        data[at : at + draw(st.integers(0, 5))] = draw(st.binary(max_size=5) | st.sampled_from([b"\r\n", b"\n", b"\0"]))
    return bytes(data)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(attacks=st.lists(st.binary(max_size=200) | mutated(), min_size=1, max_size=8))
async def test_no_bytes_take_the_server_down(attacks: list[bytes]) -> None:
    async with open_server(echo) as running:
        for attack in attacks:
            async with await running.peer() as peer:
                await peer.send(attack)
                await peer.half_close()
                await peer.rest()
        await running.serves()
        assert running.server.counters.connection_errors == 0
        with trio.fail_after(120):
            while running.server.open_connections:
                await trio.sleep(0.001)
