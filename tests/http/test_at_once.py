"""Short reads of the API answered without ASGI: the same answers as with it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import trio

from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem, not_found
from gatewayd.http.router import Router
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response, render_head
from gatewayd.store import ReadTx
from tests.http import probes
from tests.http.probes import Deps, Said, Word
from tests.http1.peers import DATE, echo, open_server, respond
from tests.support.api import Body, TestedApi, Tuning, open_api
from tests.support.scopes import request_of

ORIGIN = "https://app.example.com"
JSON = (b"content-type", b"application/json")
DATE_LINE = b"date: " + DATE + b"\r\n"
BUSY = f"word=w&count={60_000}"  # rows to count: far more than the loop grants a read

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

    def request(self, token: str) -> Request:
        """The request as the server would pass it on."""
        fields = [(b"host", b"api.example.com"), *self.headers]
        if self.authorized:
            fields.append((b"authorization", b"Bearer " + token.encode()))
        return request_of(self.method, self.path, query=self.query.encode(), headers=fields)


@dataclass(frozen=True)
class Received:
    """An answer as a client sees it, with what differs from request to request in its place."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def told(status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> Received:
    request_id = dict(headers)[b"x-request-id"]
    assert request_id.startswith(b"req_")
    plain = [(name, value.replace(request_id, b"<id>")) for name, value in headers]
    return Received(status, sorted(plain), body.replace(request_id, b"<id>"))


def told_at_once(request: Request, response: Response) -> Received:
    """What `Connection` makes of a response, its date aside."""
    lines = render_head(response, request.id, DATE_LINE, b"").split(b"\r\n")
    assert lines[-2:] == [b"", b""]
    fields = [cast(tuple[bytes, bytes], tuple(line.split(b": ", 1))) for line in lines[1:-2]]
    fields.remove((b"date", DATE))
    assert lines[0].startswith(b"HTTP/1.1 %d " % response.status)
    return told(response.status, fields, b"" if request.method == "HEAD" else response.body)


async def through_asgi(api: TestedApi, request: Request) -> Received:
    reply = await api.send(request, Body(b""))
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
        request = case.request("one")
        response = api.api.at_once(request)
        assert response is not None
        assert api.limits.running == 0
        assert len(api.observed) == 1
        answer = await through_asgi(api, case.request("two"))
        assert told_at_once(request, response) == answer
        assert answer.status == case.status
        assert api.limits.running == 0
        (first, first_answer), (second, second_answer) = api.observed
        assert first.request is request
        assert first.request.id != second.request.id
        assert (first.route, first_answer.status) == (second.route, second_answer.status)
        assert api.store.long_reads == 0


async def test_past_the_limit_both_ways_are_429(open_more: OpenMore, mock_clock: trio.testing.MockClock) -> None:
    case = Case(429, "/probe/read")
    async with open_more(per_minute=2) as api:
        api.token("org_a", "one")
        api.token("org_a", "two")
        for left in (b"r=1;", b"r=0;"):
            response = api.api.at_once(case.request("one"))
            assert response is not None
            assert left in response.lines
            assert dict((await through_asgi(api, case.request("two"))).headers)[b"ratelimit"].count(left) == 1
        request = case.request("one")
        response = api.api.at_once(request)
        assert response is not None
        refused = told_at_once(request, response)
        assert refused == await through_asgi(api, case.request("two"))
        assert refused.status == 429
        assert [name for name, _ in refused.headers].count(b"ratelimit") == 1
        assert api.limits.running == 0


async def test_a_handler_that_raises_is_500_and_logged_once_each_way(open_more: OpenMore) -> None:
    case = Case(500, "/probe/broken")
    async with open_more() as api:
        request = case.request("good")
        response = api.api.at_once(request)
        assert response is not None
        logged = api.errors.claim("request_failed")
        assert isinstance(logged["exc_info"], LookupError)
        assert logged["request_id"] == request.id
        assert b"the handler" not in response.body
        assert told_at_once(request, response) == await through_asgi(api, case.request("good"))
        api.errors.claim("request_failed")
        assert [answer.status for _, answer in api.observed] == [500, 500]
        assert api.limits.running == 0


async def test_a_header_field_that_would_begin_another_is_500(open_more: OpenMore) -> None:
    async with open_more() as api:
        response = api.api.at_once(Case(500, "/probe/injecting").request("good"))
        assert response is not None
        assert response.status == 500
        assert b"set-cookie" not in response.lines
        assert isinstance(api.errors.claim("request_failed")["exc_info"], ValueError)
        assert [answer.status for _, answer in api.observed] == [500]
        assert api.limits.running == 0


async def test_a_failure_in_refusing_frees_the_place_too(open_more: OpenMore) -> None:
    async with open_more(concurrent=1) as api:
        for _ in range(2):
            with pytest.raises(KeyError, match="no_such_code"):
                api.api.at_once(Case(500, "/probe/unknownCode").request("good"))
        assert api.limits.running == 0


async def test_a_read_over_its_budget_goes_on_where_it_was(open_more: OpenMore) -> None:
    case = Case(200, "/probe/busy", BUSY)
    async with open_more(per_minute=10, concurrent=1) as api:
        request = case.request("good")
        assert api.api.at_once(request) is None
        assert (len(api.authenticator.asked), api.limits.running, api.observed) == (1, 1, [])
        refused = api.api.at_once(Case(429, "/probe/read").request("good"))
        assert refused is not None  # the read under way counts as one at once
        assert refused.status == 429
        answer = await through_asgi(api, request)
        assert (answer.status, probes.said(answer.body)) == (200, "w60000")
        assert dict(answer.headers)[b"ratelimit"].startswith(b'"default";r=9;')
        assert len(api.authenticator.asked) == 2  # the refused one's is the second
        assert (api.store.long_reads, api.limits.running) == (1, 0)
        assert [told_answer.status for _, told_answer in api.observed] == [429, 200]
        assert api.observed[1][0].request is request
        assert (await through_asgi(api, case.request("good"))).body == answer.body


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
        request = Case(200, path, query, method, (JSON,)).request("good")
        assert api.api.at_once(request) is None
        assert (api.authenticator.asked, api.limits.running, api.observed, deps.calls) == ([], 0, [], [])
        reply = await api.send(request, Body(raw))
        assert reply.status == 200
        assert len(api.authenticator.asked) == 1
        assert reply["ratelimit"].startswith('"default";r=9;')
        assert reply["x-request-id"] == request.id
        assert len(api.observed) == 1
        assert api.limits.running == 0
        assert deps.calls == (["w"] if path == "/probe/call" else [])
        assert request.begun is None


async def test_fixed_paths_are_never_asked_of_the_api(open_more: OpenMore) -> None:
    async with open_more() as api:
        router = Router({"/probe/read": echo}, api.api, api.api.at_once)
        assert router.at_once(Case(200, "/probe/read").request("good")) is None
        assert api.observed == []
        assert router.at_once(Case(200, "/things/t1", "").request("good")) is not None
        assert Router({}, api.api).at_once(Case(404, "/nowhere").request("good")) is None


# -- behind a server


async def test_the_api_behind_a_server_answers_both_ways_on_one_connection(open_more: OpenMore) -> None:
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
        router = Router({"/healthz": healthy}, api.api, api.api.at_once)
        async with open_server(router, at_once=router.at_once) as running, await running.peer() as peer:
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
