"""Each request has an id of its own: in its scope, its response, and what the server answers in its place."""

import json

from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.request import Request, RequestIds
from gatewayd.http1.response import Response, send_response
from tests.http1.peers import open_server

GET = b"GET /%b HTTP/1.1\r\nHost: server\r\n\r\n"


async def answering(scope: HttpScope, receive: Receive, send: Send) -> None:
    """Answers with the id that it was told."""
    if scope["path"] == "/fail":
        raise LookupError("no answer")
    request = scope["request"]
    await send_response(request, Response(200, (), request.id.encode()), send)


def at_once(request: Request) -> Response | None:
    return Response(200, (), request.id.encode()) if request.path == "/now" else None


async def test_a_response_bears_the_id_that_its_application_was_told() -> None:
    async with open_server(answering, at_once=at_once) as running, await running.peer() as peer:
        ids = []
        for path in (b"now", b"later", b"now", b"later"):
            await peer.send(GET % path)
            answer = await peer.answer()
            assert answer.headers[b"x-request-id"] == answer.body
            ids.append(answer.body.decode())
        assert len(set(ids)) == len(ids)
        assert all(each.startswith("req_") and len(each) == 20 for each in ids)


async def test_what_the_server_answers_itself_bears_one_too() -> None:
    async with open_server(answering, claims="app_failed") as running:
        ids = []
        for request in (b"BAD\r\n\r\n", GET % b"fail", b"GET / HTTP/1.1\r\n\r\n"):
            answer = await running.ask(request)
            assert answer.headers[b"x-request-id"].decode() == json.loads(answer.body)["requestId"]
            ids.append(answer.headers[b"x-request-id"])
        assert len(set(ids)) == len(ids)


def test_no_two_servers_give_the_same() -> None:
    one, other = RequestIds(), RequestIds()
    assert not {one.next() for _ in range(100)} & {other.next() for _ in range(100)}
