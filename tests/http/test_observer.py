"""What is noted of answers that no operation gave: status, time, request id and a fixed label, never the path."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
import trio
import trio.testing

from gatewayd.clock import SettableClock
from gatewayd.http import documents
from gatewayd.http.observer import Observer, label_all, label_by_path
from gatewayd.http.request_counters import RequestCounters
from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.response import Response
from gatewayd.identity.clients.oauth_parameters import Audiences
from gatewayd.logs import AccessLog, make_writer
from gatewayd.oauth import addresses as at
from gatewayd.oauth import metadata
from gatewayd.oauth.addresses import NO_ENDPOINT, metric_labels
from gatewayd.oauth.app import ENDPOINTS
from tests.http.test_health import ask
from tests.support.scopes import request_of, scope_of
from tests.support.store import START

REQUEST = request_of("GET", "/sign-in/link/s3cret", query=b"request=s3cret", client=None)


class Watch:
    """An observer, and what it noted."""

    def __init__(self, access: bool = True) -> None:
        self.stream = io.StringIO()
        self.requests = RequestCounters()
        self._writer = make_writer("json", self.stream)
        self._access = AccessLog("json", self.stream, self._writer)
        self.observer = Observer(SettableClock(START), self.requests, self._access if access else None)

    @property
    def statuses(self) -> dict[str, dict[int, int]]:
        return {label: counts.statuses for label, counts in self.requests.copy().items()}

    def lines(self) -> list[dict[str, Any]]:
        self._writer.close(0)
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture
def watch() -> Iterator[Watch]:
    made = Watch()
    yield made
    assert "s3cret" not in made.stream.getvalue() + repr(made.requests.copy())


async def slow(scope: HttpScope, receive: Receive, send: Send) -> None:
    """Answers after two seconds, in two parts a second apart."""
    await trio.sleep(2)
    await send({"type": "http.response.start", "status": 303, "headers": iter([(b"location", b"/")])})
    await send({"type": "http.response.body", "body": b"", "more_body": True})
    await trio.sleep(1)
    await send({"type": "http.response.body", "body": b""})


async def test_an_answer_is_noted_once_when_it_begins(watch: Watch, autojump_clock: trio.testing.MockClock) -> None:
    passed: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        passed.append(message)

    async def receive() -> dict[str, Any]:
        raise AssertionError("there is no body")

    with trio.fail_after(120):
        await watch.observer.observe(slow, label_all("console"))(scope_of(REQUEST), receive, send)
    assert [message["type"] for message in passed] == ["http.response.start"] + 2 * ["http.response.body"]
    assert (passed[0]["status"], list(passed[0]["headers"])) == (303, [(b"location", b"/")])
    assert watch.statuses == {"console": {303: 1}}
    (line,) = watch.lines()
    assert (line["operation"], line["status"], line["milliseconds"], line["request_id"]) == (
        *("console", 303, 2000.0),
        REQUEST.id,
    )
    assert "organization" not in line
    assert "caller" not in line


async def test_an_answer_at_once_is_noted_with_its_request_id(watch: Watch) -> None:
    response = Response(200, ((b"etag", b"x"),), b"{}")
    assert watch.observer.observe_at_once(lambda request: response, label_all("oauth.jwks"))(REQUEST) is response
    assert watch.statuses == {"oauth.jwks": {200: 1}}
    assert [line["request_id"] for line in watch.lines()] == [REQUEST.id]


async def test_what_is_left_to_the_application_is_not_noted_yet(watch: Watch) -> None:
    assert watch.observer.observe_at_once(lambda request: None, label_all("oauth.jwks"))(REQUEST) is None
    assert (watch.statuses, watch.lines()) == ({}, [])


async def test_an_application_that_fails_without_an_answer_is_the_doors_to_count(watch: Watch) -> None:
    async def broken(scope: HttpScope, receive: Receive, send: Send) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await ask(watch.observer.observe(broken, label_all("console")))
    assert (watch.statuses, watch.lines()) == ({}, [])


async def test_without_an_access_log_it_counts_all_the_same() -> None:
    watch = Watch(access=False)
    reply = await ask(watch.observer.observe(documents.not_found(), label_all("console")), "GET", "/sign-in")
    assert reply["x-request-id"].startswith("req_")
    assert (watch.statuses, watch.lines()) == ({"console": {404: 1}}, [])


def test_a_path_is_looked_up_whole() -> None:
    label = label_by_path({"/a": "first"}, "none")
    assert [label(path) for path in ("/a", "/a/", "/A", "/a/s3cret", "")] == ["first", "none", "none", "none", "none"]


def test_every_endpoint_of_the_provider_has_a_label() -> None:
    paths = [at.JWKS, *metadata.documents(Audiences("https://books.example.com"))]
    found = metric_labels(paths)
    assert found.keys() == {*paths, *ENDPOINTS}
    assert {found[path] for path in ENDPOINTS} == {
        *("oauth.authorize", "oauth.token", "oauth.register", "oauth.revoke"),
        *("oauth.introspect", "oauth.par", "oauth.userinfo", "oauth.logout"),
    }
    assert (found[at.JWKS], found[at.DISCOVERY]) == ("oauth.jwks", "oauth.metadata")
    assert NO_ENDPOINT not in found.values()
