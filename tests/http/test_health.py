"""What the door serves beside the API: health and public documents."""

import gzip
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

from gatewayd.http import documents
from gatewayd.http.router import Router
from gatewayd.http1.asgi import App
from tests.support.api import Body, Reply
from tests.support.scopes import request_of, scope_of


async def ask(app: App, method: str = "GET", path: str = "/", *headers: tuple[bytes, bytes]) -> Reply:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope_of(request_of(method, path, headers=headers)), Body(b"").receive, send)
    start, end = sent
    return Reply(start["status"], start["headers"], end["body"])


def readiness(**parts: str) -> Callable[[], dict[str, str]]:
    return lambda: parts


async def test_alive() -> None:
    reply = await ask(documents.health())
    assert (reply.status, reply.json()) == (200, {"status": "ok"})
    assert reply["x-request-id"].startswith("req_")


async def test_ready_when_every_part_is_well() -> None:
    reply = await ask(documents.readiness(readiness(store="ok", dispatcher="ok")))
    assert (reply.status, reply.json()["status"]) == (200, "ready")
    assert reply["cache-control"] == "no-store"


async def test_not_ready_names_the_part() -> None:
    reply = await ask(documents.readiness(readiness(store="does not answer", dispatcher="ok")))
    assert reply.status == 503
    assert reply.json() == {"status": "not_ready", "checks": {"store": "does not answer", "dispatcher": "ok"}}


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize("app", [documents.health(), documents.readiness(readiness())], ids=["alive", "ready"])
async def test_other_methods_are_405(app: App, method: str) -> None:
    reply = await ask(app, method)
    assert (reply.status, reply.code) == (405, "method_not_allowed")
    assert "GET" in reply["allow"]
    assert reply.json()["requestId"] == reply["x-request-id"]


async def test_head_has_no_body() -> None:
    for app in (documents.health(), documents.readiness(readiness())):
        got, head = await ask(app), await ask(app, "HEAD")
        assert (head.status, head.body) == (200, b"")
        assert head["content-length"] == str(len(got.body))


async def test_a_large_document_is_zipped_for_those_who_take_it() -> None:
    body = b'{"paths":"' + b"x" * 2_000 + b'"}'
    app = documents.document(body)
    plain = await ask(app)
    zipped = await ask(app, "GET", "/", (b"accept-encoding", b"br, gzip"))
    assert plain.body == body
    assert "content-encoding" not in plain
    assert zipped["content-encoding"] == "gzip"
    assert gzip.decompress(zipped.body) == body
    assert zipped["content-length"] == str(len(zipped.body))
    for reply in (plain, zipped):
        assert (b"vary", b"accept-encoding") in reply.headers


@pytest.mark.parametrize("coding", [b"identity", b"gzip"])
async def test_a_document_that_the_caller_has_is_not_sent_again(coding: bytes) -> None:
    app = documents.lazy_document(lambda: b'{"paths":"' + b"x" * 2_000 + b'"}')
    accepting = (b"accept-encoding", coding)
    first = await ask(app, "GET", "/", accepting)
    for known in (first["etag"], f'"other", W/{first["etag"]}', "*"):
        again = await ask(app, "GET", "/", accepting, (b"if-none-match", known.encode()))
        assert (again.status, again.body, again["etag"]) == (304, b"", first["etag"])
        assert again["cache-control"] == "no-cache"
        assert (b"vary", b"accept-encoding") in again.headers
    changed = await ask(app, "GET", "/", accepting, (b"if-none-match", b'"other"'))
    assert (changed.status, changed.body) == (200, first.body)


async def test_forms_of_a_document_and_other_documents_have_other_tags() -> None:
    long, other = (documents.document(b'{"paths":"' + letter * 2_000 + b'"}') for letter in (b"x", b"y"))
    forms = [
        await ask(app, "GET", "/", (b"accept-encoding", coding)) for app in (long, other) for coding in (b"", b"gzip")
    ]
    assert len({reply["etag"] for reply in forms}) == 4
    assert all(re.fullmatch(r'"[0-9a-f]{32}(-gzip)?"', reply["etag"]) for reply in forms)


async def test_a_document_that_takes_long_is_made_once_and_for_those_who_ask() -> None:
    made: list[int] = []

    def make() -> bytes:
        made.append(len(made))
        return b'{"paths":"' + b"x" * 2_000 + b'"}'

    app = documents.lazy_document(make)
    assert (await ask(app, "OPTIONS")).status == 204
    assert (await ask(app, "POST")).status == 405
    assert made == []
    replies: list[Reply] = []

    async def get() -> None:
        replies.append(await ask(app))

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(get)
    assert made == [0]
    assert {reply.body for reply in replies} == {b'{"paths":"' + b"x" * 2_000 + b'"}'}
    zipped = await ask(app, "GET", "/", (b"accept-encoding", b"gzip"))
    assert gzip.decompress(zipped.body) == replies[0].body
    assert made == [0]


async def test_what_cannot_be_made_is_tried_again() -> None:
    outcomes = [ValueError("not this time"), b"{}"]

    def make() -> bytes:
        outcome = outcomes.pop(0)
        if isinstance(outcome, ValueError):
            raise outcome
        return outcome

    app = documents.lazy_document(make)
    with pytest.raises(ValueError, match="not this time"):
        await ask(app)
    assert (await ask(app)).body == b"{}"


async def test_documents_may_be_read_by_any_page() -> None:
    origin = (b"origin", b"https://anywhere.example")
    reply = await ask(documents.document(b"{}"), "GET", "/", origin)
    assert reply["access-control-allow-origin"] == "https://anywhere.example"
    preflight = await ask(documents.document(b"{}"), "OPTIONS", "/", origin, (b"access-control-request-method", b"GET"))
    assert (preflight.status, preflight["access-control-allow-methods"]) == (204, "GET")
    assert preflight["access-control-allow-origin"] == "https://anywhere.example"
    assert "content-length" not in preflight
    assert "if-none-match" in preflight["access-control-allow-headers"].split(", ")
    assert "etag" in reply["access-control-expose-headers"].split(", ")


async def test_fixed_paths_go_before_the_api() -> None:
    async def api(scope: dict[str, Any], receive: object, send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        await send({"type": "http.response.start", "status": 418, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    router = Router({"/healthz": documents.health()}, api)
    assert (await ask(router, path="/healthz")).status == 200
    assert (await ask(router, path="/healthz/")).status == 418
