"""Client ID Metadata Documents: fetched with care, kept for a while, and believed no further than they go."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
import pytest
import trio
import trustme

from gatewayd.clock import MINUTE, SECOND
from gatewayd.identity.clients import oauth_clients
from gatewayd.oauth import addresses as at
from gatewayd.oauth.client_documents import FETCH_SECONDS, FRESH_SECONDS_DEFAULT, fresh_seconds
from gatewayd.oauth.storage_budget import ROW_BYTES
from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.transport import Policy
from tests.support.api import Reply
from tests.support.oauth import CALLBACK, Provider, consent, open_provider, parameters_of

HOST = "client.example"
JSON = "content-type: application/json"


class Site:
    """A server on loopback that says one thing to everybody, over TLS. `hits` counts the requests."""

    def __init__(self, port: int) -> None:
        self.url = f"https://{HOST}:{port}/oauth/client.json"
        self.hits = 0
        self.headers: list[str] = [JSON]
        self.status = "200 OK"
        self.document: Any = {"client_id": self.url, "client_name": "Doc Client", "redirect_uris": [CALLBACK]}
        self.body: bytes | None = None
        self.before: Callable[[int], None] = lambda hit: None
        self.held: trio.Event | None = None
        self.requests: list[str] = []

    async def serve(self, stream: trio.SSLStream[trio.SocketStream]) -> None:
        async with stream:
            try:
                received = bytearray()
                while b"\r\n\r\n" not in received:
                    received += await stream.receive_some()
                self.requests.append(received.decode())
                self.hits += 1
                self.before(self.hits)
                if self.held is not None:
                    await self.held.wait()
                body = msgspec.json.encode(self.document) if self.body is None else self.body
                head = [f"HTTP/1.1 {self.status}", f"content-length: {len(body)}", "connection: close", *self.headers]
                await stream.send_all("\r\n".join([*head, "", ""]).encode() + body)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return


@asynccontextmanager
async def visiting(
    directory: Path, image: bytes, fetch_seconds: float = FETCH_SECONDS
) -> AsyncIterator[tuple[Provider, Site]]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(directory / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST).configure_cert(context)
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    site = Site(listeners[0].socket.getsockname()[1])

    async def resolve(host: str, port: int) -> list[str]:
        await trio.lowlevel.checkpoint()
        return ["127.0.0.1"] if host == HOST else ["10.0.0.1"]

    async def handle(stream: trio.SocketStream) -> None:
        await site.serve(trio.SSLStream(stream, context, server_side=True))

    networks = parse_networks(["127.0.0.0/8"])
    policy = Policy(allow_networks=networks, ca_file=str(directory / "ca.pem"))
    async with (
        trio.open_nursery() as nursery,
        open_provider(directory, image, policy, resolve, fetch_seconds) as provider,
    ):
        nursery.start_soon(trio.serve_listeners, handle, listeners)
        yield provider, site
        nursery.cancel_scope.cancel()


@pytest.fixture
async def both(database_image: bytes, tmp_path: Path) -> AsyncIterator[tuple[Provider, Site]]:
    async with visiting(tmp_path, database_image) as opened:
        yield opened


def told(reply: Reply) -> str:
    assert (reply.status, reply.json()["error"]) == (400, "invalid_client")
    return str(reply.json()["error_description"])


async def test_a_document_makes_a_client(both: tuple[Provider, Site]) -> None:
    provider, site = both
    reply = await provider.authorize(site.url)
    code = await consent(provider.store, parameters_of(reply)["request"], provider.person)
    assert (await provider.redeem(site.url, code)).status == 200
    assert site.hits == 1
    client = await provider.store.read(lambda tx: oauth_clients.find(tx, site.url))
    assert client is not None
    assert (client.origin, client.name) == ("document", "Doc Client")
    asked = site.requests[0].lower()
    assert asked.startswith("get /oauth/client.json http/1.1\r\n")
    assert "accept: application/json" in asked
    assert "accept-encoding: identity" in asked
    assert "user-agent: gatewayd/" in asked
    assert "cookie" not in asked


async def test_a_document_is_charged_to_who_names_it(both: tuple[Provider, Site]) -> None:
    provider, site = both
    provider.parts.storage._per_network = 0
    reply = await provider.authorize(site.url)
    assert (reply.status, reply.json()["error"], site.hits) == (429, "temporarily_unavailable", 1)
    assert await provider.store.read(oauth_clients.list_clients) == []
    provider.parts.storage._per_network = 1 << 20
    assert (await provider.authorize(site.url)).status == 303
    assert provider.parts.storage.stored > 2 * ROW_BYTES  # the client, and its request


async def test_a_document_may_be_pushed_with(both: tuple[Provider, Site]) -> None:
    provider, site = both
    reply = await provider("POST", at.PAR, form=provider.request_of(site.url))
    assert reply.status == 201


async def test_a_document_is_kept_for_as_long_as_it_says(both: tuple[Provider, Site]) -> None:
    provider, site = both
    site.headers = [JSON, "cache-control: public, max-age=600"]
    await provider.authorize(site.url)
    provider.clock.advance(599 * SECOND)
    await provider.authorize(site.url)
    assert site.hits == 1
    provider.clock.advance(SECOND)
    site.document["redirect_uris"] = ["https://moved.example/callback"]
    assert (await provider.authorize(site.url)).json()["error"] == "invalid_request"
    assert site.hits == 2
    assert (await provider.authorize(site.url, redirect_uri="https://moved.example/callback")).status == 303


@pytest.mark.parametrize(
    ("control", "seconds"),
    [
        ("", FRESH_SECONDS_DEFAULT),
        ("public", FRESH_SECONDS_DEFAULT),
        ("max-age=3600", 3600),
        ('private, MAX-AGE = "1200"', 1200),
        ("max-age=0", 300),
        ("no-store", 300),
        ("max-age=3600, no-cache", 300),
        ("max-age=999999999", 86_400),
        ("s-maxage=900", FRESH_SECONDS_DEFAULT),
        ("x-max-age=900", FRESH_SECONDS_DEFAULT),
    ],
)
def test_how_long_an_answer_is_kept(control: str, seconds: int) -> None:
    assert fresh_seconds(httpx.Headers({"cache-control": control})) == seconds


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"document": {"client_id": "https://other.example/x", "redirect_uris": [CALLBACK]}}, "client_id"),
        ({"document": {"redirect_uris": [CALLBACK]}}, "client_id"),
        ({"document": []}, "JSON object"),
        ({"body": b"{"}, "JSON object"),
        ({"body": b" " * 8_193}, "larger"),
        ({"body": b" " * 2_000_000}, "protocol"),
        ({"status": "404 Not Found"}, "404"),
        ({"status": "302 Found", "headers": [JSON, "location: https://client.example/"]}, "302"),
        ({"status": "204 No Content"}, "204"),
        ({"headers": ["content-type: text/html"]}, "application/json"),
        ({"headers": [JSON, "content-encoding: gzip"]}, "coding"),
        ({"status": "nonsense"}, "protocol"),
        ({"status": "503 Unavailable"}, "protocol"),
    ],
)
async def test_a_document_that_is_none_is_refused(
    both: tuple[Provider, Site], changed: dict[str, Any], words: str
) -> None:
    provider, site = both
    for name, value in changed.items():
        setattr(site, name, value)
    assert words in told(await provider.authorize(site.url))
    assert await provider.store.read(lambda tx: oauth_clients.find(tx, site.url)) is None


@pytest.mark.parametrize(
    "status", ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"]
)
@pytest.mark.parametrize(
    "elsewhere", ["{url}", "/oauth/other.json", "//{host}/x", "http://127.0.0.1:{port}/", "https://10.0.0.1/x"]
)
async def test_a_redirect_is_followed_nowhere(both: tuple[Provider, Site], status: str, elsewhere: str) -> None:
    """Neither to another address nor to a document that would do: whoever is asked next would be a client's choice."""
    provider, site = both
    where = urlsplit(site.url)
    location = elsewhere.format(url=site.url, host=where.netloc, port=where.port)

    def answer(hit: int) -> None:
        site.status, site.headers = (status, [JSON, f"location: {location}"]) if hit == 1 else ("200 OK", [JSON])

    site.before = answer
    assert status[:3] in told(await provider.authorize(site.url))
    assert (site.hits, len(site.requests)) == (1, 1)
    assert await provider.store.read(lambda tx: oauth_clients.find(tx, site.url)) is None


async def test_a_secret_in_a_document_is_refused(both: tuple[Provider, Site]) -> None:
    provider, site = both
    site.document["client_secret"] = "s"
    assert "secret" in told(await provider.authorize(site.url))


async def test_the_second_try_may_go_better(both: tuple[Provider, Site]) -> None:
    provider, site = both

    def mend(hit: int) -> None:
        site.status = "503 Unavailable" if hit == 1 else "200 OK"

    site.before = mend
    assert (await provider.authorize(site.url)).status == 303
    assert site.hits == 2


async def test_what_failed_is_not_asked_again_at_once(both: tuple[Provider, Site]) -> None:
    provider, site = both
    site.status = "404 Not Found"
    told(await provider.authorize(site.url))
    site.status = "200 OK"
    told(await provider.authorize(site.url))
    assert site.hits == 1
    provider.clock.advance(30 * SECOND)
    assert (await provider.authorize(site.url)).status == 303


async def test_many_at_once_fetch_once(both: tuple[Provider, Site]) -> None:
    provider, site = both
    site.held = trio.Event()
    replies: list[Reply] = []

    async def ask() -> None:
        replies.append(await provider.authorize(site.url))

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(ask)
            while site.hits == 0:
                await trio.lowlevel.checkpoint()
            site.held.set()
    assert [reply.status for reply in replies] == [303] * 10
    assert site.hits == 1


@pytest.mark.parametrize(
    "url",
    [
        "https://internal.example/client.json",
        "https://10.0.0.1/client.json",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/client.json",
    ],
)
async def test_the_inside_is_not_asked(both: tuple[Provider, Site], url: str) -> None:
    provider, _ = both
    assert "blocked_address" in told(await provider.authorize(url))


@pytest.mark.parametrize(
    "url",
    [
        "http://client.example/client.json",
        "https://client.example",
        "https://client.example/a/../client.json",
        "https://client.example/client.json#x",
        "https://me@client.example/client.json",
        "ftp://client.example/client.json",
    ],
)
async def test_what_can_be_no_document_is_not_fetched(both: tuple[Provider, Site], url: str) -> None:
    provider, site = both
    told(await provider.authorize(url))
    assert site.hits == 0


async def test_a_revoked_document_is_not_fetched_again(both: tuple[Provider, Site]) -> None:
    provider, site = both
    await provider.authorize(site.url)
    await provider.store.write(lambda tx: oauth_clients.revoke(tx, site.url, "operator"))
    provider.clock.advance(24 * 60 * MINUTE)
    told(await provider.authorize(site.url))
    assert site.hits == 1


async def test_the_token_endpoint_fetches_nothing(both: tuple[Provider, Site]) -> None:
    provider, site = both
    reply = await provider.refresh(site.url, "gwr_x")
    assert (reply.status, reply.json()["error"]) == (401, "invalid_client")
    assert site.hits == 0


async def test_a_site_that_hangs_is_waited_for_no_longer(database_image: bytes, tmp_path: Path) -> None:
    async with visiting(tmp_path, database_image, fetch_seconds=0.3) as (provider, site):
        site.held = trio.Event()
        assert "no whole answer in 0.3 seconds" in told(await provider.authorize(site.url))


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("xn--0.com", "its address cannot be used. The host is not a valid internationalised name."),
        ("256.1.1.1", "its address cannot be used. The host is not a valid IPv4 address."),
        ("0177.0.0.1", "its host has to be written as 127.0.0.1."),
        ("0x7f.1", "its host has to be written as 127.0.0.1."),
    ],
)
async def test_a_host_that_nobody_can_have_is_refused_and_said(provider: Provider, host: str, why: str) -> None:
    client_id = f"https://{host}/c"
    answer = await provider.authorize(client_id)
    assert (answer.status, answer.json()["error"]) == (400, "invalid_client")
    assert answer.json()["error_description"].endswith(why)
    query = provider.request_of(client_id)
    page = await provider("GET", at.AUTHORIZE, query=query, headers=[(b"accept", b"text/html")])
    assert (page.status, page["content-type"]) == (400, "text/html; charset=utf-8")
