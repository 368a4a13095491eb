"""One attempt against every kind of receiver: what is recorded, what is kept, and that nothing is sent twice."""

import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trio
import trio.testing
import trustme
from trio.testing import MockClock

from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.resolver import Resolver
from gatewayd.outbound.transport import GuardedTransport, Policy
from gatewayd.webhooks.sender import AttemptResult, Sender
from tests.webhooks.receivers import (
    OK,
    Receiver,
    Script,
    Stream,
    answering,
    closing,
    dripping,
    open_receiver,
    resetting,
    silent,
)

LOOPBACK = parse_networks(["127.0.0.0/8"])
BODY = b'{"id":"dlv_1","event":"lead.created","data":{},"sentAt":"2026-01-01T00:00:00Z"}'
HEADERS = (("X-Service-Event", "lead.created"), ("webhook-id", "dlv_1"))


async def to_loopback(host: str, port: int) -> Sequence[str]:
    await trio.lowlevel.checkpoint()
    return ["127.0.0.1"]


@asynccontextmanager
async def sending(
    *, timeout_seconds: float = 60, ca_file: str | None = None, resolve: Resolver = to_loopback
) -> AsyncIterator[Sender]:
    transport = GuardedTransport(Policy(LOOPBACK, allow_http=True, ca_file=ca_file), resolve)
    sender = Sender(transport, user_agent="gatewayd/0.1.0", timeout_seconds=timeout_seconds)
    try:
        yield sender
    finally:
        await sender.aclose()


async def post(sender: Sender, receiver: Receiver, *, path: str = "/hook", pool_key: str = "sub_1") -> AttemptResult:
    return await sender.post(f"http://receiver.example:{receiver.port}{path}", HEADERS, BODY, pool_key=pool_key)


async def attempt(script: Script, *, timeout_seconds: float = 60) -> AttemptResult:
    """One attempt against a receiver of its own, whose connection must be over afterwards."""
    async with open_receiver(script) as receiver, sending(timeout_seconds=timeout_seconds) as sender:
        result = await post(sender, receiver)
        await sender.aclose()
        await receiver.closed.wait()
        assert receiver.connections == 1
        return result


# The request and the answer


async def test_the_request_is_what_the_spec_says() -> None:
    async with open_receiver(answering(OK)) as receiver, sending() as sender:
        began = time.perf_counter()
        result = await post(sender, receiver, path="/hook?tenant=7")
        took_ms = (time.perf_counter() - began) * 1000
        head, _, body = receiver.requests[0].partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        assert lines[0] == "POST /hook?tenant=7 HTTP/1.1"
        assert sorted(lines[1:]) == sorted(
            [
                f"Host: receiver.example:{receiver.port}",
                "User-Agent: gatewayd/0.1.0",
                "Content-Type: application/json",
                f"Content-Length: {len(BODY)}",
                "X-Service-Event: lead.created",
                "webhook-id: dlv_1",
            ]
        )
        assert body == BODY
        assert (result.response_code, result.error, result.detail, result.reused) == (200, None, "", False)
        assert result.body_error is None
        assert (result.headers, result.body_excerpt) == ((("content-length", "2"),), b"ok")
        assert [phase for phase, _ in result.timings] == ["dns", "connect", "send", "headers", "body"]
        spent_ms = sum(spent for _, spent in result.timings) / 1000
        assert spent_ms - 1 <= result.duration_ms <= took_ms + 1, "in whole milliseconds"


async def test_an_empty_body_is_sent_as_such() -> None:
    async with open_receiver(answering(OK)) as receiver, sending() as sender:
        result = await sender.post(f"http://a.example:{receiver.port}", (), b"", pool_key="sub_1")
        assert (result.error, receiver.requests[0].endswith(b"Content-Length: 0\r\n\r\n")) == (None, True)


@pytest.mark.parametrize("value", ["a\r\nX-Injected: b", "a\nb", "a\0", "gr\u00fcn"])
async def test_a_header_that_is_not_one_line_of_ascii_is_never_sent(value: str) -> None:
    async with open_receiver(answering(OK)) as receiver, sending() as sender:
        with pytest.raises(ValueError, match=r"line|ascii"):
            await sender.post(f"http://a.example:{receiver.port}", (("X", value),), BODY, pool_key="sub_1")
        await receiver.closed.wait()
        assert (receiver.requests, sender.idle) == ([], 0)


@pytest.mark.parametrize(
    ("answer", "excerpt"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", b"abcde"),
        (b"HTTP/1.1 202 \r\ncontent-length: 0\r\n\r\n", b""),
        (b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 3 + OK, b"ok"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, b"ok"),
    ],
)
async def test_answers_that_succeed_and_keep_the_connection(answer: bytes, excerpt: bytes) -> None:
    async with open_receiver(answering(answer)) as receiver, sending() as sender:
        first, second = await post(sender, receiver), await post(sender, receiver)
        assert (first.error, first.body_excerpt, first.reused) == (None, excerpt, False)
        assert (second.error, second.body_excerpt, second.reused) == (None, excerpt, True)
        assert (receiver.connections, len(receiver.requests)) == (1, 2)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
        b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 13\r\n\r\nuntil the end",
    ],
)
async def test_answers_that_end_with_the_connection(answer: bytes) -> None:
    result = await attempt(closing(answer))
    assert (result.error, result.body_excerpt) == (None, b"until the end")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (200, None),
        (299, None),
        (300, "redirect_refused"),
        (304, "redirect_refused"),
        (307, "redirect_refused"),
        (400, "http_4xx"),
        (410, "http_4xx"),
        (429, "http_4xx"),
        (500, "http_5xx"),
        (599, "http_5xx"),
        (600, "protocol"),
        (999, "protocol"),
    ],
)
async def test_the_error_code_of_each_status(status: int, error: str | None) -> None:
    answer = b"HTTP/1.1 %d X\r\nRetry-After: 120\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n" % status
    async with open_receiver(answering(answer)) as receiver, sending() as sender:
        result = await post(sender, receiver)
        assert (result.response_code, result.error, result.retry_after) == (status, error, "120")
        assert (receiver.connections, len(receiver.requests)) == (1, 1)  # nothing was followed


# Keeping connections


async def test_subscriptions_and_urls_do_not_share_connections() -> None:
    async with open_receiver(answering(OK)) as receiver, sending() as sender:
        for path, pool_key in (("/a", "sub_1"), ("/a", "sub_2"), ("/b", "sub_1")):
            assert (await post(sender, receiver, path=path, pool_key=pool_key)).reused is False
        assert (receiver.connections, sender.idle) == (3, 3)
        assert (await post(sender, receiver, path="/a", pool_key="sub_2")).reused is True


async def test_a_connection_closed_in_between_is_replaced_without_a_failure() -> None:
    async with open_receiver(closing(OK)) as receiver, sending() as sender:
        assert (await post(sender, receiver)).error is None
        await receiver.closed.wait()
        second = await post(sender, receiver)
        assert (second.error, second.reused) == (None, False)
        assert (receiver.connections, len(receiver.requests)) == (2, 2)


async def test_a_connection_that_talks_out_of_turn_is_replaced() -> None:
    spoken = trio.Event()

    async def script(receiver: Receiver, stream: Stream) -> None:
        await receiver.request(stream)
        await stream.send_all(OK)
        while sender.idle == 0:  # the answer has been read whole
            await trio.sleep(0)
        await stream.send_all(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
        spoken.set()
        await receiver.request(stream)

    async with open_receiver(script) as receiver, sending() as sender:
        assert (await post(sender, receiver)).response_code == 200
        await spoken.wait()
        second = await post(sender, receiver)
        assert (second.response_code, second.reused, receiver.connections) == (200, False, 2)


async def test_an_answer_with_something_behind_it_is_not_kept() -> None:
    async with (
        open_receiver(answering(OK + b"HTTP/1.1 500 Injected\r\nContent-Length: 0\r\n\r\n")) as receiver,
        sending() as sender,
    ):
        assert [(await post(sender, receiver)).response_code for _ in range(2)] == [200, 200]
        assert receiver.connections == 2


async def test_a_kept_connection_that_fails_after_writing_is_a_failed_attempt_and_no_resend() -> None:
    async def script(receiver: Receiver, stream: Stream) -> None:
        await receiver.request(stream)
        await stream.send_all(OK)
        await receiver.request(stream)  # taken, never answered

    async with open_receiver(script) as receiver, sending() as sender:
        assert (await post(sender, receiver)).error is None
        second = await post(sender, receiver)
        assert (second.error, second.response_code, second.reused) == ("connection", None, True)
        assert (receiver.connections, len(receiver.requests)) == (1, 2)
        third = await post(sender, receiver)
        assert (third.error, third.reused) == (None, False)


@pytest.mark.parametrize("header", [b"Connection: close", b"Keep-Alive: timeout=1, max=100"])
async def test_a_receiver_that_will_close_is_not_kept(header: bytes) -> None:
    answer = b"HTTP/1.1 200 OK\r\n" + header + b"\r\nContent-Length: 0\r\n\r\n"
    async with open_receiver(answering(answer)) as receiver, sending() as sender:
        assert (await post(sender, receiver)).error is None
        assert sender.idle == 0


async def test_close_idle_and_aclose_close_what_the_pool_holds() -> None:
    async with open_receiver(answering(OK)) as receiver, sending() as sender:
        await post(sender, receiver, pool_key="sub_1")
        await post(sender, receiver, pool_key="sub_2")
        sender.close_idle("sub_1")
        assert sender.idle == 1
        await receiver.closed.wait()
        await sender.aclose()
        assert sender.idle == 0
        # An attempt that is under way when the daemon stops.
        assert (await post(sender, receiver, pool_key="sub_2")).error is None
        assert sender.idle == 0


async def test_attempts_at_the_same_time_have_connections_of_their_own() -> None:
    results: list[AttemptResult] = []

    async def one(sender: Sender, receiver: Receiver) -> None:
        results.append(await post(sender, receiver))

    async with open_receiver(answering(OK)) as receiver, sending() as sender:
        async with trio.open_nursery() as nursery:
            for _ in range(6):
                nursery.start_soon(one, sender, receiver)
        assert [result.error for result in results] == [None] * 6
        assert (receiver.connections, sender.idle) == (6, 4)


# Deadlines: every phase can hang


async def test_a_hanging_lookup_times_out(autojump_clock: trio.testing.MockClock) -> None:
    async def hang(host: str, port: int) -> Sequence[str]:
        await trio.sleep_forever()
        raise AssertionError

    async with sending(timeout_seconds=10, resolve=hang) as sender:
        result = await sender.post("https://slow.example/", HEADERS, BODY, pool_key="sub_1")
    assert (result.error, result.response_code, result.duration_ms) == ("timeout", None, 10_000)
    assert result.detail == "no complete answer within 10 s; got as far as: dns"
    assert result.timings == (("dns", 10_000_000),)


async def test_a_hanging_connect_times_out(idle_clock: MockClock) -> None:
    with socket.socket() as full, socket.socket() as filler:  # an accept queue of one, taken: further SYNs are dropped
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        filler.connect(full.getsockname())
        async with sending(timeout_seconds=0.2) as sender:
            url = f"http://full.example:{full.getsockname()[1]}/"
            result = await sender.post(url, HEADERS, BODY, pool_key="sub_1")
    assert (result.error, result.timings[-1][0]) == ("timeout", "connect")


async def test_a_silent_handshake_times_out(idle_clock: MockClock) -> None:
    async with open_receiver(silent) as receiver, sending(timeout_seconds=0.2) as sender:
        result = await sender.post(f"https://a.example:{receiver.port}/", HEADERS, BODY, pool_key="sub_1")
        assert (result.error, result.timings[-1][0]) == ("timeout", "tls")
        await receiver.closed.wait()


@pytest.mark.parametrize(
    ("script", "phase", "status"),
    [
        (silent, "headers", None),
        (dripping(b"HTTP/1.1 200 OK\r\n", b"X-Drop: 1\r\n"), "headers", None),
        (dripping(b"", b"HTTP/1.1 103 Early Hints\r\n"), "headers", None),
        (dripping(b"HTTP/1.1 500 Oops\r\nContent-Length: 9999\r\n\r\n", b"x"), "body", 500),
        (dripping(b"HTTP/1.1 410 Gone\r\n\r\n", b"x"), "body", 410),
    ],
)
async def test_a_drip_does_not_extend_the_deadline(
    idle_clock: MockClock, script: Script, phase: str, status: int | None
) -> None:
    result = await attempt(script, timeout_seconds=0.2)
    assert (result.error, result.response_code, result.timings[-1][0]) == ("timeout", status, phase)
    assert 200 <= result.duration_ms < 2000


@pytest.mark.parametrize(
    ("head", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b"x"),
        (b"HTTP/1.1 299 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ],
)
async def test_a_2xx_whose_body_is_slow_is_a_success_that_says_so(
    idle_clock: MockClock, head: bytes, drop: bytes
) -> None:
    result = await attempt(dripping(head, drop), timeout_seconds=0.2)
    assert (result.error, result.body_error, result.timings[-1][0]) == (None, "timeout", "body")
    assert 200 <= result.duration_ms < 2000
    assert result.detail == "no complete answer within 0.2 s; got as far as: body"


async def test_a_receiver_that_does_not_read_times_out(idle_clock: MockClock) -> None:
    async def script(receiver: Receiver, stream: Stream) -> None:
        await trio.sleep_forever()

    async with open_receiver(script) as receiver, sending(timeout_seconds=0.2) as sender:
        url = f"http://a.example:{receiver.port}/"
        result = await sender.post(url, HEADERS, b"x" * 20_000_000, pool_key="sub_1")
        assert (result.error, result.timings[-1][0]) == ("timeout", "send")


async def test_cancellation_passes_and_closes_the_connection() -> None:
    async with open_receiver(silent) as receiver, sending() as sender:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(post, sender, receiver)
            while not receiver.connections:
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
        await receiver.closed.wait()
        assert sender.idle == 0


# Receivers that break off or talk nonsense


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 2", b"HTTP/1.1 200 OK\r\nContent-Le"])
@pytest.mark.parametrize("breaking", [closing, resetting])
async def test_breaking_off_before_the_answer(answer: bytes, breaking: Callable[[bytes], Script]) -> None:
    result = await attempt(breaking(answer))
    assert (result.error, result.response_code) == ("connection", None)
    assert result.detail


CUT_SHORT = (
    b"Content-Length: 100\r\n\r\nonly this",
    b"Transfer-Encoding: chunked\r\n\r\n9\r\nonly this\r\n",
)


@pytest.mark.parametrize("answer", CUT_SHORT)
@pytest.mark.parametrize(("status", "error", "body_error"), [(200, None, "connection"), (410, "connection", None)])
async def test_an_answer_cut_short_is_a_success_only_with_2xx(
    answer: bytes, status: int, error: str | None, body_error: str | None
) -> None:
    result = await attempt(closing(b"HTTP/1.1 %d X\r\n" % status + answer))
    assert (result.response_code, result.error, result.body_error) == (status, error, body_error)
    assert result.body_excerpt == b"only this"


async def test_a_2xx_that_is_reset_in_its_body_is_a_success_that_says_so() -> None:
    result = await attempt(resetting(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"))
    assert (result.error, result.body_error) == (None, "connection")


async def test_a_connection_whose_body_did_not_end_is_not_kept(idle_clock: MockClock) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"
    async with open_receiver(answering(answer)) as receiver, sending(timeout_seconds=0.2) as sender:
        assert (await post(sender, receiver)).body_error == "timeout"
        assert sender.idle == 0


@pytest.mark.parametrize(
    "answer",
    [
        b"garbage\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"\x00\xff\xfe\x00\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nBad Header: 1\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000,
        b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 10_000,
        b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100 + OK,
        b"a" * 300_000,
    ],
    ids=lambda answer: repr(answer[:40]),
)
async def test_nonsense_is_a_protocol_error(answer: bytes) -> None:
    result = await attempt(closing(answer))
    assert (result.error, result.response_code) == ("protocol", None)


@pytest.mark.parametrize("chunks", [b"zz\r\n", b"1;" + b"x" * 20_000, b"1;ext=" + b"x" * 8000 + b"\r\na\r\n" * 1])
async def test_chunk_framing_is_bounded(chunks: bytes) -> None:
    result = await attempt(closing(b"HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks * 60))
    assert (result.error, result.response_code) == ("protocol", 500)


async def test_a_2xx_with_nonsense_for_a_body_is_a_success_that_says_so() -> None:
    result = await attempt(closing(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"))
    assert (result.error, result.body_error, result.response_code) == (None, "protocol", 200)


# Large answers


@pytest.mark.parametrize(("status", "error"), [(200, None), (500, "http_5xx")])
@pytest.mark.parametrize("framing", [b"Content-Length: 90000000", b"Transfer-Encoding: chunked", b"X-Length: unknown"])
async def test_a_huge_body_is_left_unread(framing: bytes, status: int, error: str | None) -> None:
    chunk = b"a" * 50_000
    drop = b"%x\r\n%b\r\n" % (len(chunk), chunk) if framing.endswith(b"chunked") else chunk
    result = await attempt(dripping(b"HTTP/1.1 %d X\r\n%b\r\n\r\n" % (status, framing), drop))
    assert (result.error, result.body_error, result.response_code) == (error, None, status)
    assert result.body_excerpt == b"a" * 16 * 1024


@pytest.mark.parametrize(("length", "kept"), [(65_536, 1), (65_537, 0)])
async def test_the_limit_of_an_answer(length: int, kept: int) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (length, b"a" * length)
    async with open_receiver(answering(answer)) as receiver, sending() as sender:
        result = await post(sender, receiver)
        assert (result.error, len(result.body_excerpt), sender.idle) == (None, 16_384, kept)


# TLS


def server_context(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(context)
    return context


async def shake_hands(tls: ssl.SSLObject, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, stream: Stream) -> None:
    """The server's side of a handshake, by hand: trio's keeps a failure's alert to itself."""
    while True:
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            await stream.send_all(outgoing.read())
            incoming.write(await stream.receive_some())
        else:
            return


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


@pytest.mark.parametrize(("named", "host"), [("good.example", "good.example"), ("127.0.0.1", "127.1")])
async def test_tls_with_the_original_name(authority: trustme.CA, ca_file: str, named: str, host: str) -> None:
    names: list[str | None] = []
    context = server_context(authority.issue_cert(named))
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    async with open_receiver(answering(OK), context) as receiver, sending(ca_file=ca_file) as sender:
        url = f"https://{host}:{receiver.port}/"
        first = await sender.post(url, HEADERS, BODY, pool_key="sub_1")
        second = await sender.post(url, HEADERS, BODY, pool_key="sub_1")
        assert (first.error, second.error, second.reused, receiver.connections) == (None, None, True, 1)
        assert [phase for phase, _ in first.timings][:3] == ["dns", "connect", "tls"]
        assert names == ([named] if named.endswith("example") else [None])  # RFC 6066 §3: no addresses in SNI


def _untrusted() -> trustme.LeafCert:
    return trustme.CA().issue_cert("good.example")


async def _tls_failure(certificate: trustme.LeafCert, ca_file: str) -> AttemptResult:
    async def never(receiver: Receiver, stream: Stream) -> None:
        await receiver.request(stream)

    async with open_receiver(never, server_context(certificate)) as receiver, sending(ca_file=ca_file) as sender:
        result = await sender.post(f"https://good.example:{receiver.port}/", HEADERS, BODY, pool_key="sub_1")
        await receiver.closed.wait()
        assert receiver.requests == []
        return result


async def test_a_certificate_of_an_unknown_authority(ca_file: str) -> None:
    result = await _tls_failure(_untrusted(), ca_file)
    assert (result.error, result.response_code) == ("tls", None)
    assert "unable to get local issuer certificate" in result.detail


async def test_an_expired_certificate(authority: trustme.CA, ca_file: str) -> None:
    past = datetime.now(UTC) - timedelta(days=1)
    certificate = authority.issue_cert("good.example", not_before=past - timedelta(days=1), not_after=past)
    result = await _tls_failure(certificate, ca_file)
    assert (result.error, "certificate has expired" in result.detail) == ("tls", True)


async def test_a_certificate_for_another_name(authority: trustme.CA, ca_file: str) -> None:
    result = await _tls_failure(authority.issue_cert("other.example"), ca_file)
    assert (result.error, "Hostname mismatch" in result.detail) == ("tls", True)


async def test_a_receiver_that_wants_a_client_certificate(authority: trustme.CA, ca_file: str) -> None:
    # In TLS 1.3 the refusal arrives after the handshake, in place of the answer.
    async def script(receiver: Receiver, stream: Stream) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(incoming, outgoing, server_side=True)
        with pytest.raises(ssl.SSLError, match="PEER_DID_NOT_RETURN_A_CERTIFICATE"):
            await shake_hands(tls, incoming, outgoing, stream)
        await stream.send_all(outgoing.read())
        await silent(receiver, stream)

    context = server_context(authority.issue_cert("good.example"))
    context.verify_mode = ssl.CERT_REQUIRED
    async with open_receiver(script) as receiver, sending(ca_file=ca_file) as sender:
        result = await sender.post(f"https://good.example:{receiver.port}/", HEADERS, BODY, pool_key="sub_1")
        assert (result.error, result.timings[-1][0]) == ("tls", "headers")
        assert "CERTIFICATE_REQUIRED" in result.detail
        await receiver.closed.wait()


# Refusals


@pytest.mark.parametrize(
    "url",
    [
        "https://10.0.0.1/",
        "https://[::1]/",
        "https://0xa000001/",
        "ftp://a.example/",
        "https://u:p@a.example/",
        "nonsense",
    ],
)
async def test_blocked_targets(url: str) -> None:
    async with sending() as sender:
        result = await sender.post(url, HEADERS, BODY, pool_key="sub_1")
    assert (result.error, result.response_code) == ("blocked_address", None)
    assert result.detail


async def test_a_name_that_does_not_resolve() -> None:
    async def unknown(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(-2, "Name or service not known")

    async with sending(resolve=unknown) as sender:
        result = await sender.post("https://gone.example/", HEADERS, BODY, pool_key="sub_1")
    assert (result.error, result.detail) == ("dns", "gone.example: [Errno -2] Name or service not known")


async def test_nobody_listening() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        async with sending() as sender:
            url = f"http://a.example:{bound.getsockname()[1]}/"
            result = await sender.post(url, HEADERS, BODY, pool_key="sub_1")
    assert (result.error, "Connection refused" in result.detail) == ("connection", True)
