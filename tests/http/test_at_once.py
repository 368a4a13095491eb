"""Short reads answered without ASGI: the same answers as with it, and the same manners on a connection."""

from __future__ import annotations

import random
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import trio
import trustme

from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem, not_found
from gatewayd.http.door import App, AtOnce, DoorSettings, HttpScope, PeerGoneError, Receive, Reply, Send
from gatewayd.http.front import Front
from gatewayd.http.messages import Request, render_fields, render_head
from gatewayd.http.rate_limits import RateLimits
from gatewayd.http.server import Server
from gatewayd.http.sockets import WORTH_GATHERING_BYTES, PlainTransport
from gatewayd.store import ReadTx
from tests.http import probes
from tests.http.knocking import DATE, FixedClock, Knocked, Peer, RecordingLog, describing, echo, refuse, respond, until
from tests.http.probes import Deps, Said, Word
from tests.support.api import Body, TestedApi, Tuning, open_api

ORIGIN = "https://app.example.com"
JSON = (b"content-type", b"application/json")
DATE_LINE = b"date: " + DATE + b"\r\n"
BUSY = f"word=w&count={60_000}"  # rows to count: far more than the loop grants a read
GET = b"GET /now HTTP/1.1\r\nHost: door\r\n\r\n"
LARGE = random.Random(5).randbytes(5_000_000)  # more than the kernel keeps for one connection (tcp(7), tcp_wmem)
AUTHORITY = trustme.CA()

Fields = tuple[tuple[bytes, bytes], ...]
OpenMore = Callable[..., AbstractAsyncContextManager[TestedApi]]


# -- the API: one answer, two ways


def broken(tx: ReadTx, caller: Caller, request: Word) -> Said:
    """Fail as no handler should."""
    raise LookupError("the handler is broken")


def missing(tx: ReadTx, caller: Caller, request: Word) -> Said:
    """Find nothing."""
    raise not_found("word")


def injecting(tx: ReadTx, caller: Caller, request: Word) -> Said:
    """Refuse with a header field that would begin a second one."""
    raise Problem("invalid_state", "No.", headers=((b"x-word", b"w\r\nset-cookie: a=b"),))


def unknown_code(tx: ReadTx, caller: Caller, request: Word) -> Said:
    """Refuse with an error that there is not."""
    raise Problem("no_such_code", "No.")


MORE = (
    probes.row("probe.broken", "read", broken, "/probe/broken"),
    probes.row("probe.missing", "read", missing, "/probe/missing"),
    probes.row("probe.injecting", "read", injecting, "/probe/injecting"),
    probes.row("probe.unknownCode", "read", unknown_code, "/probe/unknownCode"),
)


@pytest.fixture
def open_more(database_image: bytes, tmp_path: Path) -> OpenMore:
    """The probe rows and those above, under a `Tuning`."""

    def opened(**tuning: Any) -> AbstractAsyncContextManager[TestedApi]:
        return open_api(tmp_path, database_image, (*probes.OPERATIONS, *MORE), Tuning(**tuning))

    return opened


@dataclass(frozen=True)
class Case:
    """A request, and the status of its answer."""

    status: int
    path: str
    query: str = "word=w"
    method: str = "GET"
    headers: Fields = ()
    authorized: bool = True

    def scope(self, token: str) -> dict[str, Any]:
        """The request as the door would pass it on."""
        fields = [(b"host", b"api.example.com"), *self.headers]
        if self.authorized:
            fields.append((b"authorization", b"Bearer " + token.encode()))
        return {
            "type": "http",
            "http_version": "1.1",
            "method": self.method,
            "path": self.path,
            "raw_path": self.path.encode(),
            "query_string": self.query.encode(),
            "headers": fields,
            "client": ("192.0.2.7", 40000),
        }


@dataclass(frozen=True)
class Told:
    """An answer as a client sees it, with what differs from request to request in its place."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def told(status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> Told:
    request_id = dict(headers)[b"x-request-id"]
    assert request_id.startswith(b"req_")
    plain = [(name, value.replace(request_id, b"<id>")) for name, value in headers]
    return Told(status, sorted(plain), body.replace(request_id, b"<id>"))


def told_at_once(reply: Reply, method: str) -> Told:
    """What `Connection` makes of a reply, its date and connection aside."""
    request = Request(method, "1.1", [], (b"/", b"", "/"))
    lines = render_head(request, reply, DATE_LINE, True).split(b"\r\n")
    assert lines[-2:] == [b"", b""]
    fields = [cast(tuple[bytes, bytes], tuple(line.split(b": ", 1))) for line in lines[1:-2]]
    fields.remove((b"date", DATE))
    assert lines[0].startswith(b"HTTP/1.1 %d " % reply.status)
    return told(reply.status, fields, b"" if method == "HEAD" else reply.body)


def at_once(api: TestedApi, scope: dict[str, Any]) -> Reply | None:
    return api.api.at_once(cast(HttpScope, scope))


async def through_asgi(api: TestedApi, scope: dict[str, Any]) -> Told:
    reply = await api.send(scope, Body(b""))
    return told(reply.status, reply.headers, reply.body)


PREFLIGHT = ((b"origin", ORIGIN.encode()), (b"access-control-request-method", b"GET"))
CASES = {
    "a resource": Case(200, "/things/t1", ""),
    "under the mount": Case(200, "/api/rpc/probe/read"),
    "a page": Case(200, "/words", "limit=2&like=%C3%A9%3E"),
    "a dear row": Case(200, "/probe/dear"),
    "another origin": Case(200, "/probe/read", headers=((b"origin", b"https://evil.example.com"),)),
    "an allowed origin": Case(200, "/probe/read", headers=((b"origin", ORIGIN.encode()),)),
    "a list in two lines": Case(200, "/probe/read", headers=((b"accept", b"text/html"), (b"accept", b"*/*"))),
    "no credential": Case(401, "/probe/read", authorized=False),
    "no credential, allowed origin": Case(401, "/probe/read", headers=PREFLIGHT[:1], authorized=False),
    "another scheme": Case(401, "/probe/read", headers=((b"authorization", b"Basic eA=="),), authorized=False),
    "a scope too few": Case(403, "/probe/both"),
    "nothing at the path": Case(404, "/nowhere"),
    "nothing found": Case(404, "/probe/missing"),
    "a wrong method": Case(405, "/probe/read", method="DELETE"),
    "a HEAD of a POST": Case(405, "/probe/write", method="HEAD"),
    "OPTIONS": Case(204, "/probe/read", method="OPTIONS", authorized=False),
    "a preflight": Case(204, "/probe/read", method="OPTIONS", headers=PREFLIGHT, authorized=False),
    "another media type": Case(406, "/probe/read", headers=((b"accept", b"text/html"),)),
    "a header field twice": Case(400, "/probe/read", headers=((b"origin", b"a"), (b"origin", b"b"))),
    "an unknown parameter": Case(400, "/probe/read", "word=w&wrod=w"),
    "a malformed query": Case(400, "/probe/read", "word=%E9"),
    "a value missing": Case(422, "/probe/read", ""),
    "a HEAD": Case(200, "/probe/read", method="HEAD"),
    "a HEAD of nothing": Case(404, "/nowhere", method="HEAD"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_an_answer_at_once_is_the_answer_of_asgi(
    open_more: OpenMore, mock_clock: trio.testing.MockClock, case: Case
) -> None:
    async with open_more(per_minute=60, origins=(ORIGIN,)) as api:
        for token in ("one", "two"):  # an allowance each
            api.token("org_a", token, ["entities:read"])
        reply = at_once(api, case.scope("one"))
        assert reply is not None
        assert api.limits.running == 0
        assert len(api.observed) == 1
        answer = await through_asgi(api, case.scope("two"))
        assert told_at_once(reply, case.method) == answer
        assert answer.status == case.status
        assert api.limits.running == 0
        (first, first_answer), (second, second_answer) = api.observed
        assert first.request_id.encode() in reply.fields
        assert first.request_id != second.request_id
        assert (first.route, first_answer.status) == (second.route, second_answer.status)
        assert api.store.long_reads == 0


async def test_past_the_limit_both_ways_are_429(open_more: OpenMore, mock_clock: trio.testing.MockClock) -> None:
    case = Case(429, "/probe/read")
    async with open_more(per_minute=2) as api:
        api.token("org_a", "one")
        api.token("org_a", "two")
        for left in (b"r=1;", b"r=0;"):
            reply = at_once(api, case.scope("one"))
            assert reply is not None
            assert left in reply.fields
            assert dict((await through_asgi(api, case.scope("two"))).headers)[b"ratelimit"].count(left) == 1
        reply = at_once(api, case.scope("one"))
        assert reply is not None
        refused = told_at_once(reply, "GET")
        assert refused == await through_asgi(api, case.scope("two"))
        assert refused.status == 429
        assert [name for name, _ in refused.headers].count(b"ratelimit") == 1
        assert api.limits.running == 0


def test_the_lines_of_a_limit_are_its_headers() -> None:
    limited, unlimited = RateLimits(7, 64), RateLimits(0, 64)
    allowance = limited.take("key", 2, 0.0)
    assert limited.lines(allowance) == render_fields(limited.headers(allowance)).block != b""
    assert unlimited.lines(unlimited.take("key", 2, 0.0)) == b""


async def test_a_handler_that_raises_is_500_and_logged_once_each_way(open_more: OpenMore) -> None:
    case = Case(500, "/probe/broken")
    async with open_more() as api:
        reply = at_once(api, case.scope("good"))
        assert reply is not None
        logged = api.errors.claim("request_failed")
        assert isinstance(logged["exc_info"], LookupError)
        assert str(logged["request_id"]).encode() in reply.fields
        assert b"the handler" not in reply.body
        assert told_at_once(reply, "GET") == await through_asgi(api, case.scope("good"))
        api.errors.claim("request_failed")
        assert [answer.status for _, answer in api.observed] == [500, 500]
        assert api.limits.running == 0


async def test_a_header_field_that_would_begin_another_is_500(open_more: OpenMore) -> None:
    async with open_more() as api:
        reply = at_once(api, Case(500, "/probe/injecting").scope("good"))
        assert reply is not None
        assert reply.status == 500
        assert b"set-cookie" not in reply.fields
        assert isinstance(api.errors.claim("request_failed")["exc_info"], ValueError)
        assert [answer.status for _, answer in api.observed] == [500]
        assert api.limits.running == 0


async def test_a_failure_in_refusing_frees_the_place_too(open_more: OpenMore) -> None:
    async with open_more(concurrent=1) as api:
        for _ in range(2):
            with pytest.raises(KeyError, match="no_such_code"):
                at_once(api, Case(500, "/probe/unknownCode").scope("good"))
        assert api.limits.running == 0


async def test_a_read_over_its_budget_goes_on_where_it_was(open_more: OpenMore) -> None:
    case = Case(200, "/probe/busy", BUSY)
    async with open_more(per_minute=10, concurrent=1) as api:
        scope = case.scope("good")
        assert at_once(api, scope) is None
        assert (len(api.doorkeeper.asked), api.limits.running, api.observed) == (1, 1, [])
        refused = at_once(api, Case(429, "/probe/read").scope("good"))
        assert refused is not None  # the read under way counts as one at once
        assert refused.status == 429
        answer = await through_asgi(api, scope)
        assert (answer.status, probes.said(answer.body)) == (200, "w60000")
        assert dict(answer.headers)[b"ratelimit"].startswith(b'"default";r=9;')
        assert len(api.doorkeeper.asked) == 2  # the refused one's is the second
        assert (api.store.long_reads, api.limits.running) == (1, 0)
        assert [told_answer.status for _, told_answer in api.observed] == [429, 200]
        assert api.observed[1][0].request_id.endswith("00000001")
        assert (await through_asgi(api, case.scope("good"))).body == answer.body


@pytest.mark.parametrize(
    ("path", "method", "raw"),
    [
        ("/probe/write", "POST", b'{"word": "w"}'),
        ("/probe/call", "POST", b'{"word": "w"}'),
        ("/probe/search", "POST", b'{"word": "w"}'),
        ("/probe/longSearch", "POST", b'{"word": "w"}'),
        ("/things/t1", "PATCH", b'{"word": "w"}'),
        ("/probe/long", "GET", b""),
    ],
)
async def test_what_may_wait_is_begun_once_and_goes_on_through_asgi(
    open_more: OpenMore, path: str, method: str, raw: bytes
) -> None:
    deps = Deps()
    query = "" if raw else "word=w"
    async with open_more(per_minute=10, deps=deps) as api:
        scope = Case(200, path, query, method, (JSON,)).scope("good")
        assert at_once(api, scope) is None
        assert (api.doorkeeper.asked, api.limits.running, api.observed, deps.calls) == ([], 0, [], [])
        reply = await api.send(scope, Body(raw))
        assert reply.status == 200
        assert len(api.doorkeeper.asked) == 1
        assert reply["ratelimit"].startswith('"default";r=9;')
        assert reply["x-request-id"].endswith("00000001")
        assert len(api.observed) == 1
        assert api.limits.running == 0
        assert deps.calls == (["w"] if path == "/probe/call" else [])
        assert set(scope) == set(Case(200, path).scope("good"))  # nothing of ours stays in it


async def test_fixed_paths_are_never_asked_of_the_api(open_more: OpenMore) -> None:
    async with open_more() as api:
        front = Front({"/probe/read": cast(Any, echo)}, api.api, api.api.at_once)
        assert front.at_once(cast(HttpScope, Case(200, "/probe/read").scope("good"))) is None
        assert api.observed == []
        reply = front.at_once(cast(HttpScope, Case(200, "/things/t1", "").scope("good")))
        assert reply is not None
        assert Front({}, api.api).at_once(cast(HttpScope, Case(404, "/nowhere").scope("good"))) is None


# -- the connection


FIELDS = b"content-type: text/plain\r\n"


def now(scope: HttpScope) -> Reply | None:
    """Method and path, for everything under /now."""
    if not scope["path"].startswith("/now"):
        return None
    return Reply(200, FIELDS, b"now %s %s" % (scope["method"].encode(), scope["path"].encode()))


def saying(body: bytes, status: int = 200) -> AtOnce:
    """The same to everybody."""
    return lambda scope: Reply(status, FIELDS, body)


async def unasked(scope: HttpScope, receive: Receive, send: Send) -> None:
    raise AssertionError("everything is answered at once")


@asynccontextmanager
async def open_prompt(
    app: App, at_once: AtOnce, *, within: float = 15, claims: str | None = None, **limits: object
) -> AsyncIterator[Knocked]:
    """A door that answers at once where it can. Logged errors fail the test, but for those of the name `claims`."""
    log = RecordingLog()
    settings = DoorSettings(**{"bind": ("127.0.0.1:0",), **limits})
    server = Server(app, settings, refuse=refuse, log=log, clock=FixedClock(), at_once=at_once)
    with trio.fail_after(within):
        async with trio.open_nursery() as nursery:
            addresses = await nursery.start(lambda task_status: server.serve(task_status=task_status))
            yield Knocked(server, log, addresses)
            nursery.cancel_scope.cancel()
    assert [event for event, _ in log.errors if event != claims] == [], log.errors


async def narrow_peer(door: Knocked) -> Peer:
    """A peer whose kernel takes little, so that the server has to wait for it."""
    narrow = trio.socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    await narrow.connect(("127.0.0.1", door.port))
    return Peer(trio.SocketStream(narrow))


async def read_to_the_end(peer: Peer) -> None:
    """Raises trio.BrokenResourceError where that is no proper end."""
    while await peer.stream.receive_some(1 << 20):
        pass


async def test_keep_alive_serves_both_ways_on_one_connection() -> None:
    async with open_prompt(echo, now) as door, await door.peer() as peer:
        for path, body in ((b"/now/1", b"now GET /now/1"), (b"/later", b"GET /later "), (b"/now/2", b"now GET /now/2")):
            await peer.send(b"GET %b HTTP/1.1\r\nHost: door\r\n\r\n" % path)
            answer = await peer.answer()
            assert (answer.status, answer.body, answer.closes) == (200, body, False)
            assert answer.headers[b"date"] == DATE
            assert b"server" not in answer.headers
        assert (door.server.counters.connections, door.server.counters.requests) == (1, 3)


async def test_an_idle_connection_is_closed_after_an_answer_at_once() -> None:
    async with open_prompt(unasked, now, keep_alive_seconds=0.2) as door, await door.peer() as peer:
        await peer.send(GET)
        assert (await peer.answer()).status == 200
        await peer.closed()


async def test_pipelined_requests_are_answered_in_order_whichever_way() -> None:
    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        await trio.sleep(0.001)
        await echo(scope, receive, send)

    paths = [b"/now/%d" % n if n % 3 else b"/%d" % n for n in range(60)]
    async with open_prompt(app, now) as door, await door.peer() as peer:
        await peer.send(b"".join(b"POST %b HTTP/1.1\r\nHost: d\r\nContent-Length: 1\r\n\r\nx" % path for path in paths))
        expected = [b"now POST " + path if n % 3 else b"POST %b x" % path for n, path in enumerate(paths)]
        assert [(await peer.answer()).body for _ in paths] == expected


async def test_a_fault_in_a_pipelined_request_is_answered_after_the_good_ones() -> None:
    async with open_prompt(unasked, now) as door, await door.peer() as peer:
        await peer.send(GET + GET + b"BAD\r\n\r\n" + GET)
        assert [(await peer.answer()).status for _ in range(3)] == [200, 200, 400]
        await peer.closed()


async def test_a_pipelining_peer_leaves_the_loop_to_others() -> None:
    turns = 0
    seen: list[int] = []
    count = 200

    def counting(scope: HttpScope) -> Reply:
        seen.append(turns)
        return Reply(200, FIELDS, b"ok")

    async def other_work() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    async with open_prompt(unasked, counting) as door, await door.peer() as peer, trio.open_nursery() as nursery:
        nursery.start_soon(other_work)
        await peer.send(GET * count)  # one read of the server's
        for _ in range(count):
            assert (await peer.answer()).status == 200
        nursery.cancel_scope.cancel()
    assert seen[-1] - seen[0] >= count - 2


async def test_http_1_0_closes_unless_asked_to_keep_alive() -> None:
    async with open_prompt(unasked, now) as door:
        async with await door.peer() as peer:
            await peer.send(b"GET /now HTTP/1.0\r\n\r\n")
            assert (await peer.answer()).closes
            await peer.closed()
        async with await door.peer() as peer:
            for _ in range(2):
                await peer.send(b"GET /now HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                assert (await peer.answer()).headers[b"connection"] == b"keep-alive"


async def test_connection_close_is_honoured_and_what_follows_is_not_read() -> None:
    async with open_prompt(unasked, now) as door, await door.peer() as peer:
        await peer.send(b"GET /now HTTP/1.1\r\nHost: door\r\nConnection: close\r\n\r\n" + GET)
        assert (await peer.answer()).closes
        await peer.closed()
        assert door.server.counters.requests == 1


async def test_head_keeps_the_length_and_has_no_body() -> None:
    async with open_prompt(unasked, now) as door, await door.peer() as peer:
        await peer.send(b"HEAD /now HTTP/1.1\r\nHost: door\r\n\r\n" + GET)
        answer = await peer.answer(head_only=True)
        assert (answer.status, answer.headers[b"content-length"]) == (200, b"13")
        assert (await peer.answer()).body == b"now GET /now"


@pytest.mark.parametrize("status", [204, 304])
async def test_204_and_304_have_no_body(status: int) -> None:
    async with open_prompt(unasked, saying(b"never", status)) as door, await door.peer() as peer:
        await peer.send(GET + b"GET / HTTP/1.1\r\nHost: door\r\nConnection: close\r\n\r\n")
        first, second, nothing = (await peer.rest()).split(b"\r\n\r\n")
    for head in (first, second):
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert b"content-length" not in head
    assert nothing == b""


async def test_a_half_closed_peer_still_gets_its_answer() -> None:
    async with open_prompt(unasked, now) as door, await door.peer() as peer:
        await peer.send(GET)
        await peer.half_close()
        assert (await peer.answer()).body == b"now GET /now"
        await peer.closed()


async def test_only_whole_requests_are_asked_for() -> None:
    asked: list[str] = []
    done: list[HttpScope] = []

    def asking(scope: HttpScope) -> Reply | None:
        asked.append(scope["path"])
        return now(scope)

    chunked = b"POST %b HTTP/1.1\r\nHost: d\r\nTransfer-Encoding: chunked\r\n\r\n"
    post = b"POST %b HTTP/1.1\r\nHost: d\r\nContent-Length: 4\r\n\r\n"
    async with open_prompt(describing(done), asking) as door, await door.peer() as peer:
        await peer.send(GET + post % b"/whole" + b"body" + chunked % b"/chunks" + b"4\r\nbody\r\n0\r\n\r\n")
        assert [(await peer.answer()).body for _ in range(3)] == [
            b"now GET /now",
            b"POST /whole body",
            b"POST /chunks body",
        ]
        for head, rest in (
            (post % b"/now/cut" + b"bo", b"dy"),
            (chunked % b"/now/chunks" + b"4\r\nbo", b"dy\r\n0\r\n\r\n"),
        ):
            before = len(done)
            await peer.send(head)
            await until(lambda before=before: len(done) > before)
            await peer.send(rest)
            assert (await peer.answer()).body.endswith(b" body")
        await peer.send(b"POST /now/expected HTTP/1.1\r\nHost: d\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
        assert (await peer.answer()).status == 100
        await peer.send(b"x")
        assert (await peer.answer()).body == b"POST /now/expected x"
    assert asked == ["/now", "/whole", "/chunks"]
    assert [scope["path"] for scope in done] == ["/whole", "/chunks", "/now/cut", "/now/chunks", "/now/expected"]


async def test_the_client_of_a_trusted_proxy_is_told() -> None:
    seen: list[HttpScope] = []

    def watching(scope: HttpScope) -> Reply | None:
        seen.append(scope)
        return now(scope)

    forwarded = b"GET /now HTTP/1.1\r\nHost: d\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n\r\n"
    for proxies in (("127.0.0.1",), ("192.0.2.1",)):
        async with open_prompt(unasked, watching, trusted_proxies=proxies) as door:
            await door.ask(forwarded)
    assert [(scope["client"] or ("",))[0] for scope in seen] == ["203.0.113.9", "127.0.0.1"]
    assert [scope["scheme"] for scope in seen] == ["https", "http"]


async def test_a_drain_closes_after_the_answer_at_once() -> None:
    async with open_prompt(unasked, now) as door, await door.peer() as idle, await door.peer() as busy:
        await idle.send(GET)
        await idle.answer()
        await busy.send(GET + GET[:20])
        assert not (await busy.answer()).closes
        door.server.drain()
        await idle.closed()
        with pytest.raises(OSError, match="all attempts"):
            await door.peer()
        await busy.send(GET[20:] + GET)
        assert (await busy.answer()).closes
        await until(lambda: door.server.open_connections == 0)
        assert door.server.counters.requests == 3


async def test_a_drain_waits_for_an_answer_that_is_still_written() -> None:
    def large(scope: HttpScope) -> Reply | None:
        return now(scope) or Reply(200, FIELDS, LARGE)

    async with open_prompt(unasked, large) as door, await door.peer() as idle, await narrow_peer(door) as busy:
        await idle.send(GET)
        await idle.answer()
        await busy.send(b"GET / HTTP/1.1\r\nHost: door\r\n\r\n" + GET)
        await until(lambda: door.server.counters.requests == 2)
        door.server.drain()
        await idle.closed()
        first, second = await busy.answer(), await busy.answer()
        assert (first.body, first.closes) == (LARGE, False)
        assert (second.body, second.closes) == (b"now GET /now", True)
        await busy.closed()


async def test_an_exception_ends_its_connection_and_no_other() -> None:
    def failing(scope: HttpScope) -> Reply | None:
        if scope["path"] == "/fail":
            raise LookupError("broken")
        return now(scope)

    async with open_prompt(echo, failing, claims="connection_failed") as door, await door.peer() as other:
        async with await door.peer() as peer:
            await peer.send(b"GET /fail HTTP/1.1\r\nHost: door\r\n\r\n")
            await peer.closed()
        await other.send(GET)
        assert (await other.answer()).status == 200
        assert isinstance(door.log.claim("connection_failed")["exc_info"], LookupError)
        assert door.server.counters.connection_errors == 1


# -- writing


async def test_a_large_answer_reaches_a_slow_reader_whole() -> None:
    """It takes longer in all than a write may rest, and the connection goes on."""

    def large(scope: HttpScope) -> Reply | None:
        return now(scope) or Reply(200, FIELDS, LARGE)

    async with open_prompt(unasked, large, write_timeout_seconds=1.5) as door, await narrow_peer(door) as peer:
        await peer.send(b"GET / HTTP/1.1\r\nHost: door\r\n\r\n")
        began, came = trio.current_time(), bytearray()
        while len(came.partition(b"\r\n\r\n")[2]) < len(LARGE):
            came += await peer.stream.receive_some(65_536)
            await trio.sleep(0.03)  # a slow reader
        assert trio.current_time() - began > 2
        head, _, body = came.partition(b"\r\n\r\n")
        assert b"\r\ncontent-length: 5000000" in head
        assert body == LARGE
        await peer.send(GET)
        assert (await peer.answer()).body == b"now GET /now"


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
async def test_a_peer_that_never_reads_is_dropped(certificate: tuple[str, str], secure: bool) -> None:
    limits: dict[str, object] = {"write_timeout_seconds": 0.3}
    if secure:
        limits |= {"tls_certificate": certificate[0], "tls_key": certificate[1]}
    async with (
        open_prompt(unasked, saying(LARGE * 4), **limits) as door,
        await (tls_peer(door) if secure else narrow_peer(door)) as peer,
    ):
        began = trio.current_time()
        await peer.send(GET)
        await until(lambda: door.server.counters.requests == 1)
        await until(lambda: door.server.open_connections == 0)
        assert trio.current_time() - began > 0.3
        with pytest.raises(trio.BrokenResourceError):  # a reset, so that nobody takes it for the whole
            await read_to_the_end(peer)


async def test_a_peer_that_resets_within_an_answer_hurts_nobody() -> None:
    async with open_prompt(echo, lambda scope: None if scope["path"] == "/alive" else Reply(200, b"", LARGE)) as door:
        peer = await narrow_peer(door)
        await peer.send(GET)
        await peer.until(b"\r\n\r\n")
        peer.reset()
        await until(lambda: door.server.open_connections == 0)
        await door.serves()


@pytest.mark.parametrize("size", [1, WORTH_GATHERING_BYTES])
async def test_a_peer_that_is_gone_before_its_answer_hurts_nobody(size: int) -> None:
    peers: list[Peer] = []

    def leaving(scope: HttpScope) -> Reply | None:
        if scope["path"] == "/alive":
            return None
        peers.pop().reset()
        return Reply(200, FIELDS, bytes(size))

    async with open_prompt(echo, leaving) as door:
        peers.append(await door.peer())
        await peers[0].send(GET + GET)
        await until(lambda: door.server.open_connections == 0 and not peers)
        assert door.server.counters.requests == 1
        await door.serves()


@pytest.fixture
async def ends() -> AsyncIterator[tuple[PlainTransport, socket.socket]]:
    """A transport whose kernel takes little, and its other end."""
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    ours.setblocking(False)
    theirs.setblocking(False)
    with ours, theirs:
        yield PlainTransport(ours), theirs


def received(theirs: socket.socket) -> bytes:
    """All that has arrived."""
    data = b""
    while True:
        try:
            data += theirs.recv(1 << 20)
        except BlockingIOError:
            return data


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"h" * 100, b""),
        (b"h" * 100, b"b" * 100),
        (b"h" * 100, bytes(range(256)) * 4_000),
        (b"h" * 100 + bytes(range(256)) * 1_000, b"b" * WORTH_GATHERING_BYTES),
        (b"h" * 100 + bytes(range(256)) * 1_000, b"b"),
    ],
    ids=["head", "both", "cut in the body", "cut in the head", "cut in what was joined"],
)
async def test_what_is_sent_at_once_and_what_is_left_are_the_whole(
    ends: tuple[PlainTransport, socket.socket], head: bytes, body: bytes
) -> None:
    transport, theirs = ends
    left = transport.send_at_once(head, body)
    assert received(theirs) + left == head + body
    assert bool(left) == (len(head) + len(body) > 10_000)


async def test_where_nothing_can_be_sent_all_is_left(ends: tuple[PlainTransport, socket.socket]) -> None:
    transport, theirs = ends
    while not transport.send_at_once(b"x" * 1_000, b""):
        pass
    assert transport.send_at_once(b"head", b"body") == b"headbody"
    theirs.close()
    for body in (b"body", bytes(WORTH_GATHERING_BYTES)):
        with pytest.raises(PeerGoneError):
            transport.send_at_once(b"head", body)


# -- TLS


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """Paths of a certificate for 127.0.0.1 and its key."""
    issued = AUTHORITY.issue_cert("127.0.0.1")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    return str(cert), str(key)


async def tls_peer(door: Knocked) -> Peer:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    context.set_alpn_protocols(["http/1.1"])
    plain = await trio.open_tcp_stream("127.0.0.1", door.port)
    stream = trio.SSLStream(plain, context, server_hostname="127.0.0.1")
    await stream.do_handshake()
    return Peer(stream)


async def test_tls_serves_answers_at_once_and_says_goodbye(certificate: tuple[str, str]) -> None:
    def sized(scope: HttpScope) -> Reply:
        return Reply(200, FIELDS, LARGE[: int(scope["query_string"])])

    limits = {"tls_certificate": certificate[0], "tls_key": certificate[1]}
    async with open_prompt(unasked, sized, **limits) as door, await tls_peer(door) as peer:
        for size in (0, 1, 300_000, 5_000_000):
            await peer.send(b"GET /?%d HTTP/1.1\r\nHost: d\r\n\r\n" % size)
            assert (await peer.answer()).body == LARGE[:size]
        await peer.send(b"HEAD /?9 HTTP/1.1\r\nHost: d\r\n\r\n")
        assert (await peer.answer(head_only=True)).headers[b"content-length"] == b"9"
        await peer.send(b"GET /?3 HTTP/1.1\r\nHost: d\r\nConnection: close\r\n\r\n")
        answer = await peer.answer()
        assert (answer.body, answer.closes) == (LARGE[:3], True)
        # Not `https_compatible`: an end without close_notify would be a trio.BrokenResourceError.
        await read_to_the_end(peer)


# -- all of it together


async def test_the_api_behind_a_door_answers_both_ways_on_one_connection(open_more: OpenMore) -> None:
    requests = {
        b"GET /things/t1": 200,
        b"GET /probe/busy?word=w&count=60000": 200,
        b"HEAD /things/t1": 200,
        b"GET /nowhere": 404,
        b"GET /probe/read?wrod=w": 400,
        b"OPTIONS /things/t1": 204,
        b"POST /probe/write": 422,
        b"GET /probe/long?word=w&count=5": 200,
        b"GET /words": 200,
        b"GET /healthz": 200,
        b"GET /probe/read?word=last": 200,
    }

    async def healthy(scope: Any, receive: Any, send: Any) -> None:
        await respond(send)

    async with open_more(per_minute=60) as api:
        front = Front({"/healthz": healthy}, api.api, api.api.at_once)
        async with open_prompt(cast(App, front), front.at_once) as door, await door.peer() as peer:
            fields = b" HTTP/1.1\r\nHost: d\r\nAuthorization: Bearer good\r\n\r\n"
            await peer.send(b"".join(line + fields for line in requests))
            answers = [await peer.answer(head_only=line.startswith(b"HEAD")) for line in requests]
            assert not any(answer.closes for answer in answers)
        assert [answer.status for answer in answers] == list(requests.values())
        assert probes.said(answers[-1].body) == "last"
        assert answers[1].body == b'{"said":"w60000","org":"org_a"}'
        assert len(api.observed) == len(requests) - 1  # all but the fixed path
        assert api.limits.running == 0
        ids = {answer.headers.get(b"x-request-id") for answer in answers}
        assert len(ids) == len(requests)
