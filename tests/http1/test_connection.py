"""The HTTP/1.1 driver: what a user of a server expects of one connection."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from gatewayd.http1.asgi import HttpScope, Receive, Send
from tests.http1.peers import DATE, describing, echo, open_server, read_body, respond, until

GET = b"GET / HTTP/1.1\r\nHost: door\r\n\r\n"


def post(body: bytes, extra: bytes = b"") -> bytes:
    return b"POST / HTTP/1.1\r\nHost: door\r\n%bContent-Length: %d\r\n\r\n%b" % (extra, len(body), body)


async def test_keep_alive_serves_many_requests_on_one_connection() -> None:
    async with open_server(echo) as running, await running.peer() as peer:
        for number in range(5):
            await peer.send(b"GET /%d HTTP/1.1\r\nHost: door\r\n\r\n" % number)
            answer = await peer.answer()
            assert (answer.status, answer.body, answer.closes) == (200, b"GET /%d " % number, False)
        assert running.server.counters.connections == 1
        assert running.server.counters.requests == 5


async def test_a_response_has_a_date_and_no_server() -> None:
    async with open_server(echo) as running:
        headers = (await running.ask(GET)).headers
        assert headers[b"date"] == DATE
        assert b"server" not in headers


async def test_the_applications_own_date_stands_alone() -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await respond(send, headers=[(b"Date", b"then")])

    async with open_server(app) as running:
        assert (await running.ask(GET)).headers[b"date"] == b"then"


async def test_connection_close_is_honoured_and_what_follows_is_not_read() -> None:
    async with open_server(echo) as running, await running.peer() as peer:
        await peer.send(b"GET / HTTP/1.1\r\nHost: door\r\nConnection: close\r\n\r\n" + GET)
        assert (await peer.answer()).closes
        await peer.closed()
        assert running.server.counters.requests == 1


async def test_http_1_0_closes_unless_asked_to_keep_alive() -> None:
    async with open_server(echo) as running:
        async with await running.peer() as peer:
            await peer.send(b"GET / HTTP/1.0\r\n\r\n")
            assert (await peer.answer()).closes
            await peer.closed()
        async with await running.peer() as peer:
            for _ in range(2):
                await peer.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                assert (await peer.answer()).headers[b"connection"] == b"keep-alive"


async def test_pipelined_requests_are_answered_in_order() -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/0":
            await trio.sleep(0.05)
        await echo(scope, receive, send)

    async with open_server(app) as running, await running.peer() as peer:
        await peer.send(b"".join(b"POST /%d HTTP/1.1\r\nHost: d\r\nContent-Length: 1\r\n\r\nx" % n for n in range(50)))
        assert [(await peer.answer()).body for _ in range(50)] == [b"POST /%d x" % n for n in range(50)]


async def test_a_fault_in_a_pipelined_request_is_answered_after_the_good_ones() -> None:
    async with open_server(echo) as running, await running.peer() as peer:
        await peer.send(GET + GET + b"BAD\r\n\r\n" + GET)
        assert [(await peer.answer()).status for _ in range(3)] == [200, 200, 400]
        await peer.closed()


async def test_a_pipelined_head_cut_between_reads_is_completed() -> None:
    async with open_server(echo) as running, await running.peer() as peer:
        await peer.send(GET + GET[:10])
        assert (await peer.answer()).status == 200
        await peer.send(GET[10:])
        assert (await peer.answer()).status == 200


async def test_a_body_is_streamed_as_it_arrives() -> None:
    parts: list[bytes] = []

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        more = True
        while more:
            message = await receive()
            assert message["type"] == "http.request"
            parts.append(message["body"])
            more = message["more_body"]
        await respond(send)

    async with open_server(app) as running, await running.peer() as peer:
        await peer.send(b"POST / HTTP/1.1\r\nHost: door\r\nContent-Length: 6\r\n\r\nabc")
        await until(lambda: parts == [b"abc"])
        await peer.send(b"def")
        assert (await peer.answer()).status == 200
        assert parts == [b"abc", b"def"]


async def test_a_body_nobody_takes_is_not_read() -> None:
    go = trio.Event()
    sizes: list[int] = []

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await go.wait()
        sizes.append(len(await read_body(receive)))
        await respond(send)

    size = 64 * 1024 * 1024
    async with open_server(app) as running, await running.peer() as peer:
        await peer.send(b"POST / HTTP/1.1\r\nHost: door\r\nContent-Length: %d\r\n\r\n" % size)
        with trio.move_on_after(0.3) as blocked:
            await peer.send(bytes(size))
        assert blocked.cancelled_caught, "the kernel's buffers cannot have taken it all"
        go.set()


async def test_a_chunked_body_arrives_whole() -> None:
    async with open_server(echo) as running, await running.peer() as peer:
        await peer.send(b"POST / HTTP/1.1\r\nHost: door\r\nTransfer-Encoding: chunked\r\n\r\n")
        await peer.send(b"3\r\nabc\r\n")
        await peer.send(b"2;name=value\r\nde\r\n0\r\nTrailer: ignored\r\n\r\n")
        assert (await peer.answer()).body == b"POST / abcde"
        await peer.send(GET)
        assert (await peer.answer()).status == 200


async def test_100_continue_is_sent_when_the_application_asks_for_the_body() -> None:
    async with open_server(echo) as running, await running.peer() as peer:
        await peer.send(b"POST / HTTP/1.1\r\nHost: door\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert (await peer.answer()).status == 100
        await peer.send(b"hi")
        assert (await peer.answer()).body == b"POST / hi"


async def test_100_continue_is_not_sent_when_the_application_answers_first() -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await respond(send, status=413)

    async with open_server(app) as running, await running.peer() as peer:
        await peer.send(b"POST / HTTP/1.1\r\nHost: door\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        answer = await peer.answer()
        assert (answer.status, answer.closes) == (413, True)


async def test_another_expectation_is_refused() -> None:
    async with open_server(echo) as running:
        assert (await running.ask(post(b"x", b"Expect: magic\r\n"))).status == 417


async def test_head_keeps_the_length_and_has_no_body() -> None:
    async with open_server(echo) as running, await running.peer() as peer:
        await peer.send(b"HEAD /x HTTP/1.1\r\nHost: door\r\n\r\n" + GET)
        answer = await peer.answer(head_only=True)
        assert answer.headers[b"content-length"] == b"8"
        assert (await peer.answer()).body == b"GET / "


def streaming(*parts: bytes) -> object:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body"})

    return app


async def test_a_streamed_response_is_chunked() -> None:
    async with open_server(streaming(b"one", b"", b"two")) as running, await running.peer() as peer:
        for _ in range(2):
            await peer.send(GET)
            answer = await peer.answer()
            assert answer.headers[b"transfer-encoding"] == b"chunked"
            assert answer.body == b"onetwo"


async def test_a_streamed_response_ends_with_the_connection_in_http_1_0() -> None:
    async with open_server(streaming(b"one", b"two")) as running:
        answer = await running.ask(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        assert (answer.closes, answer.body) == (True, b"onetwo")
        assert b"transfer-encoding" not in answer.headers


async def test_a_single_body_without_length_gets_one() -> None:
    async with open_server(streaming()) as running:
        assert (await running.ask(GET)).headers[b"content-length"] == b"0"


@pytest.mark.parametrize("status", [204, 304])
async def test_204_and_304_have_no_body(status: int) -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b"never"})

    async with open_server(app) as running, await running.peer() as peer:
        for _ in range(2):
            await peer.send(GET)
            answer = await peer.answer()
            assert answer.status == status
            assert b"content-length" not in answer.headers
            assert b"transfer-encoding" not in answer.headers


async def early_413(scope: HttpScope, receive: Receive, send: Send) -> None:
    if scope["path"] == "/alive":
        await respond(send)
    else:
        await respond(send, b"too large", status=413)


async def test_a_small_unread_body_is_swallowed_and_the_connection_goes_on() -> None:
    async with open_server(early_413) as running, await running.peer() as peer:
        await peer.send(post(b"x" * 100_000)[:-10])
        answer = await peer.answer()
        assert (answer.status, answer.closes) == (413, False)
        await peer.send(b"x" * 10 + b"GET /alive HTTP/1.1\r\nHost: door\r\n\r\n")
        assert (await peer.answer()).status == 200


async def test_a_large_unread_body_ends_the_connection_but_the_answer_is_read() -> None:
    size = 4_000_000
    async with open_server(early_413, max_drain_bytes=2_000_000) as running, await running.peer() as peer:
        await peer.send(b"POST / HTTP/1.1\r\nHost: door\r\nContent-Length: %d\r\n\r\n" % size)
        await peer.send(bytes(1_500_000))
        answer = await peer.answer()
        assert (answer.status, answer.body, answer.closes) == (413, b"too large", True)
        await running.serves()


async def test_a_chunked_body_sent_on_without_end_is_cut_off() -> None:
    async with (
        open_server(early_413, max_drain_bytes=200_000, linger_seconds=0.5) as running,
        await running.peer() as peer,
    ):
        await peer.send(b"POST / HTTP/1.1\r\nHost: door\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert (await peer.answer()).status == 413
        with pytest.raises(trio.BrokenResourceError):
            await peer.send_forever(b"10000\r\n" + bytes(0x10000) + b"\r\n")
        await running.serves()


async def test_a_header_block_that_does_not_end_in_time_is_408(idle_clock: MockClock) -> None:
    async with open_server(echo, header_timeout_seconds=0.2) as running, await running.peer() as peer:
        await peer.send(b"GET / HTTP/1.1\r\nHost:")
        assert (await peer.answer()).status == 408
        await peer.closed()


async def test_one_byte_at_a_time_does_not_extend_the_header_deadline(idle_clock: MockClock) -> None:
    async with (
        open_server(echo, header_timeout_seconds=0.3) as running,
        await running.peer() as peer,
        trio.open_nursery() as nursery,
    ):
        await peer.send(b"GET / HTTP/1.1\r\nX: ")
        nursery.start_soon(peer.drip, b"a")
        assert (await peer.answer()).status == 408
        await running.serves()
        nursery.cancel_scope.cancel()


async def test_an_idle_connection_is_closed_without_a_word(idle_clock: MockClock) -> None:
    async with open_server(echo, keep_alive_seconds=0.2) as running:
        async with await running.peer() as peer:
            await peer.send(GET)
            assert (await peer.answer()).status == 200
            await peer.closed()
        async with await running.peer() as peer:
            await peer.closed()


async def test_a_body_that_stalls_is_408_and_unwinds_the_application(idle_clock: MockClock) -> None:
    ended: list[str] = []

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        try:
            await read_body(receive)
        except EOFError:
            ended.append("disconnect")
        finally:
            ended.append("unwound")

    async with open_server(app, body_idle_timeout_seconds=0.2) as running, await running.peer() as peer:
        await peer.send(b"POST / HTTP/1.1\r\nHost: door\r\nContent-Length: 10\r\n\r\nabc")
        answer = await peer.answer()
        assert (answer.status, answer.closes) == (408, True)
        assert answer.headers[b"content-type"] == b"application/problem+json"
        assert ended == ["unwound"]


async def test_a_body_that_trickles_is_cut_by_the_least_rate(idle_clock: MockClock) -> None:
    async with (
        open_server(echo, request_read_seconds=0.4, body_idle_timeout_seconds=5) as running,
        await running.peer() as peer,
        trio.open_nursery() as nursery,
    ):
        await peer.send(b"POST / HTTP/1.1\r\nHost: door\r\nContent-Length: 1000\r\n\r\n")
        nursery.start_soon(peer.drip, b"x")
        assert (await peer.answer()).status == 408
        nursery.cancel_scope.cancel()


async def test_a_peer_that_never_reads_is_dropped() -> None:
    cancelled = trio.Event()

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        try:
            await respond(send, bytes(64 * 1024 * 1024))
        finally:
            cancelled.set()

    async with open_server(app, write_timeout_seconds=0.3) as running, await running.peer() as peer:
        await peer.send(GET)
        await cancelled.wait()
        await until(lambda: running.server.open_connections == 0)


async def test_a_slow_application_is_not_timed_out(idle_clock: MockClock) -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await trio.sleep(0.6)
        await respond(send)

    limits = {"header_timeout_seconds": 0.1, "keep_alive_seconds": 0.1, "body_idle_timeout_seconds": 0.1}
    async with open_server(app, **limits) as running:
        assert (await running.ask(GET)).status == 200


async def test_an_application_that_raises_before_its_response_is_500() -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        raise LookupError("broken")

    async with open_server(app) as running:
        answer = await running.ask(GET)
        assert (answer.status, answer.closes) == (500, True)
        assert b"broken" not in answer.body
        assert isinstance(running.log.claim("app_failed")["exc_info"], LookupError)
        assert running.server.counters.app_errors == 1


async def test_an_exception_group_is_contained_too() -> None:
    async def fail() -> None:
        raise LookupError("broken")

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)
            nursery.start_soon(fail)

    async with open_server(app) as running:
        assert (await running.ask(GET)).status == 500
        assert isinstance(running.log.claim("app_failed")["exc_info"], ExceptionGroup)


async def test_an_application_that_raises_within_its_response_cuts_it() -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise LookupError("broken")

    async with open_server(app) as running:
        with pytest.raises(EOFError):
            await running.ask(GET)
        running.log.claim("app_failed")


async def test_an_application_that_answers_nothing_is_500() -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async with open_server(app) as running:
        assert (await running.ask(GET)).status == 500
        running.log.claim("app_left_response_unfinished")


@pytest.mark.parametrize("announced", [b"3", b"50"])
async def test_a_response_must_have_the_length_it_announces(announced: bytes) -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", announced)]})
        await send({"type": "http.response.body", "body": b"12345"})

    async with open_server(app) as running:
        assert (await running.ask(GET)).status == 500
        assert isinstance(running.log.claim("app_failed")["exc_info"], RuntimeError)


@pytest.mark.parametrize(
    "header",
    [
        (b"x", b"a\r\nset-cookie: b"),
        (b"x", b"a\nb"),
        (b"x", b"a\rb"),
        (b"x", b"a\0b"),
        (b"x: y\r\nz", b"a"),
        (b"x y", b"a"),
        (b"", b"a"),
    ],
)
async def test_a_response_header_cannot_start_a_line_of_its_own(header: tuple[bytes, bytes]) -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await respond(send, headers=[header])

    async with open_server(app) as running:
        answer = await running.ask(GET)
        assert answer.status == 500
        assert b"set-cookie" not in answer.headers
        assert isinstance(running.log.claim("app_failed")["exc_info"], ValueError)


async def test_receive_after_the_body_waits_for_the_peer_to_go() -> None:
    seen: list[str] = []

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        seen.append("body")
        seen.append((await receive())["type"])
        await respond(send)

    async with open_server(app) as running:
        async with await running.peer() as peer:
            await peer.send(GET)
            await until(lambda: seen == ["body"])
        await until(lambda: seen == ["body", "http.disconnect"])


async def test_receive_after_the_response_says_disconnect() -> None:
    seen: list[str] = []

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        async def watch() -> None:
            await read_body(receive)
            seen.append((await receive())["type"])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            await trio.testing.wait_all_tasks_blocked()
            await respond(send)
        seen.append((await receive())["type"])

    async with open_server(app) as running, await running.peer() as peer:
        for _ in range(2):
            await peer.send(GET)
            assert (await peer.answer()).status == 200
        assert seen[:2] == ["http.disconnect", "http.disconnect"]


async def test_a_request_pipelined_while_the_application_watches_is_kept() -> None:
    answer_now = trio.Event()

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            await answer_now.wait()
            await respond(send, scope["path"].encode())

    async with open_server(app) as running, await running.peer() as peer:
        await peer.send(GET)
        await until(lambda: running.server.counters.requests == 1)
        await peer.send(b"GET /second HTTP/1.1\r\nHost: door\r\n\r\n")
        answer_now.set()
        assert [(await peer.answer()).body for _ in range(2)] == [b"/", b"/second"]


async def test_a_peer_gone_within_its_body_is_a_disconnect() -> None:
    seen: list[str] = []

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        message = await receive()
        while message["type"] == "http.request":
            message = await receive()
        seen.append(message["type"])

    async with open_server(app) as running:
        async with await running.peer() as peer:
            await peer.send(b"POST / HTTP/1.1\r\nHost: door\r\nContent-Length: 10\r\n\r\nabc")
            await peer.half_close()
            assert (await peer.answer()).status == 400
        assert seen == ["http.disconnect"]


async def test_a_peer_gone_within_a_response_unwinds_the_application_quietly() -> None:
    unwound = trio.Event()

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while True:
                await send({"type": "http.response.body", "body": bytes(65536), "more_body": True})
        finally:
            unwound.set()

    async with open_server(app) as running, await running.peer() as peer:
        await peer.send(GET)
        await peer.until(b"\r\n\r\n")
        peer.reset()
        await unwound.wait()
        await until(lambda: running.server.open_connections == 0)


async def test_a_half_closed_peer_still_gets_its_answer() -> None:
    async with open_server(echo) as running, await running.peer() as peer:
        await peer.send(post(b"hi"))
        await peer.half_close()
        assert (await peer.answer()).body == b"POST / hi"


async def test_the_scope_says_what_was_asked() -> None:
    seen: list[HttpScope] = []
    async with open_server(describing(seen)) as running, await running.peer() as peer:
        await peer.send(b"GET /caf%C3%A9/a%2Fb?q=%20 HTTP/1.1\r\nHOST: door\r\nX-Two:  a  \r\nx-two: b\r\n\r\n")
        await peer.answer()
    scope = seen[0]
    assert scope["type"] == "http"
    assert (scope["path"], scope["raw_path"], scope["query_string"]) == ("/café/a/b", b"/caf%C3%A9/a%2Fb", b"q=%20")
    assert scope["headers"] == [(b"host", b"door"), (b"x-two", b"a"), (b"x-two", b"b")]
    assert (scope["http_version"], scope["method"], scope["scheme"]) == ("1.1", "GET", "http")
    assert scope["client"] is not None
    assert scope["client"][0] == "127.0.0.1"
    assert scope["server"] == ("127.0.0.1", running.port)


async def test_an_absolute_target_overrides_host() -> None:
    seen: list[HttpScope] = []
    async with open_server(describing(seen)) as running:
        await running.ask(b"GET http://other:81/a?b HTTP/1.1\r\nHost: door\r\n\r\n")
        await running.ask(b"GET http://other?b HTTP/1.1\r\nHost: door\r\n\r\n")
    assert [(scope["path"], scope["query_string"]) for scope in seen] == [("/a", b"b"), ("/", b"b")]
    assert seen[0]["headers"] == [(b"host", b"other:81")]


async def test_options_asterisk_reaches_the_application() -> None:
    async with open_server(echo) as running:
        assert (await running.ask(b"OPTIONS * HTTP/1.1\r\nHost: door\r\n\r\n")).body == b"OPTIONS * "


@pytest.mark.parametrize("cut", ["whole", "bytes"])
async def test_an_upgrade_is_ignored_and_its_body_read(cut: str) -> None:
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n"
    request = post(b"hello", offer)
    async with open_server(echo) as running, await running.peer() as peer:
        for part in [request + GET] if cut == "whole" else [request[n : n + 1] for n in range(len(request))] + [GET]:
            await peer.send(part)
        assert (await peer.answer()).body == b"POST / hello"
        assert (await peer.answer()).body == b"GET / "


async def test_a_websocket_upgrade_with_trailing_bytes_hurts_nobody() -> None:
    upgrade = b"GET / HTTP/1.1\r\nHost: d\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n"
    async with open_server(echo) as running, await running.peer() as peer:
        await peer.send(upgrade + b"\x81\x05hello")
        assert [(await peer.answer()).status for _ in range(2)] == [200, 400]
        await peer.closed()
        await running.serves()
