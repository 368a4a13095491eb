"""By which names anything is served: a stranger's page must not become of one origin with it."""

import pytest

from gatewayd.config import Config, Server
from gatewayd.daemon.doors import _hosts
from gatewayd.http import documents
from gatewayd.http.hosts import TOLD_MAX, Hosts
from gatewayd.http.router import Router
from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.log import NoLog
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response, send_response
from tests.http.test_health import ask
from tests.http.test_observer import Watch
from tests.support.scopes import request_of

HOSTS = Hosts(["books.example", "gateway"])
SERVED = [
    *("books.example", "Books.Example", "books.example:8443", "books.example.", "gateway:8080"),
    *("localhost", "localhost:8080", "a.localhost", "127.0.0.1:8080", "127.1.2.3", "[::1]:8080", "[::1]"),
    *("192.168.1.20:8080", "203.0.113.9", "[2001:db8::1]:443", ""),
]
FOREIGN = [
    *("evil.example", "evil.example:8080", "books.example.evil.example", "xbooks.example", "localhost.evil.example"),
    *("127.0.0.1.evil.example", "127.0.0.1.nip.example:80", "books", "0x7f000001", "1", "[v1.x]"),
]


def sent_to(host: str | None, path: str = "/api/rpc/clients") -> Request:
    return request_of("GET", path, headers=() if host is None else ((b"host", host.encode()),))


@pytest.mark.parametrize("host", SERVED)
def test_names_of_the_daemon_and_addresses_are_served(host: str) -> None:
    assert HOSTS.refused(sent_to(host)) is None


@pytest.mark.parametrize("host", FOREIGN)
def test_other_names_are_not(host: str) -> None:
    refused = HOSTS.refused(sent_to(host))
    assert refused is not None
    assert refused.status == 421
    assert b'"code":"misdirected_request"' in refused.body


def test_who_names_no_host_is_served() -> None:
    """HTTP/1.0; browsers always name one."""
    assert HOSTS.refused(sent_to(None)) is None


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_is_told_by_whatever_name(path: str) -> None:
    assert HOSTS.refused(sent_to("10-0-0-7.pod.cluster", path)) is None


def test_a_trusted_proxy_and_a_unix_socket_judge_themselves() -> None:
    by_proxy, by_socket = sent_to("backend"), sent_to("backend")
    by_proxy.vouched = True
    by_socket.client = None
    assert HOSTS.refused(by_proxy) is None
    assert HOSTS.refused(by_socket) is None


async def test_every_application_of_a_door_is_behind_it() -> None:
    async def page(scope: HttpScope, receive: Receive, send: Send) -> None:
        await send_response(scope["request"], Response(200, (), b"secret"), send)

    router = Router({"/openapi.json": page}, page, mounts=(("/c/", page),), pages=page, hosts=HOSTS)
    for path in ("/openapi.json", "/c/x", "/sign-in", "/api/rpc/clients"):
        foreign = await ask(router, "GET", path, (b"host", b"evil.example"))
        assert (foreign.status, foreign.code) == (421, "misdirected_request")
        assert foreign["x-request-id"] == foreign.json()["requestId"]
        own = await ask(router, "GET", path, (b"host", b"books.example"))
        assert own.status == 200
        at_once = router.at_once(sent_to("evil.example", path))
        assert at_once is not None
        assert at_once.status == 421


def test_the_first_of_each_name_is_written_down_and_no_flood_of_them() -> None:
    """An operator whose proxy sends a name of its own finds it in the log."""
    told: list[tuple[str, object]] = []

    class Told(NoLog):
        def warning(self, event: str, **values: object) -> None:
            told.append((event, values["host"]))

    hosts = Hosts(["books.example"], Told())
    for _ in range(3):
        hosts.refused(sent_to("backend"))
    assert told == [("host_refused", "backend")]
    for number in range(2 * TOLD_MAX):
        assert hosts.refused(sent_to(f"flood{number}.example")) is not None
    assert len(told) == TOLD_MAX


async def test_each_that_is_refused_is_counted_and_stands_in_the_request_log() -> None:
    """By status and request id under a fixed label, whatever the host and the path are."""
    watch = Watch()
    hosts = Hosts(["books.example"], note=watch.observer.note_misdirected)
    router = Router({}, documents.not_found(), hosts=hosts)
    first = await ask(router, "GET", "/sign-in/link/s3cret", (b"host", b"evil.example"))
    second = router.at_once(sent_to("other.example"))
    assert second is not None
    assert router.at_once(sent_to("books.example")) is None
    assert watch.statuses == {"misdirected": {421: 2}}
    told = watch.lines()
    assert [(line["operation"], line["status"]) for line in told] == [("misdirected", 421)] * 2
    assert told[0]["request_id"] == first["x-request-id"]
    assert "s3cret" not in watch.stream.getvalue()
    assert "evil.example" not in watch.stream.getvalue()


async def test_without_names_everything_is_served() -> None:
    reply = await ask(Router({"/healthz": documents.health()}, documents.health()), "GET", "/x", (b"host", b"evil"))
    assert reply.status == 200


def test_the_names_are_those_of_the_settings() -> None:
    named = Server(bind=("books.lan:8080", "unix:/run/x.sock"), public_url="https://books.example", hosts=("gateway",))
    config = Config(server=named)
    noted: list[int] = []
    hosts = _hosts(config, note=lambda request, response: noted.append(response.status))
    for host in ("books.lan", "books.example", "gateway"):
        assert hosts.refused(sent_to(host)) is None
    assert hosts.refused(sent_to("evil.example")) is not None
    assert noted == [421]
