"""Forwarding headers are believed from trusted peers only."""

from __future__ import annotations

import pytest

from gatewayd.http1.asgi import HttpScope
from gatewayd.http1.proxy_headers import TrustedProxies
from tests.http1.peers import describing, open_server

TRUSTED = TrustedProxies.parse(("10.0.0.0/8", "2001:db8::/32", "unix"))
PEER = ("10.0.0.1", 1234)


@pytest.mark.parametrize(
    ("lines", "client"),
    [
        ([], PEER),
        ([b"192.0.2.1"], ("192.0.2.1", 0)),
        ([b"6.6.6.6, 192.0.2.1"], ("192.0.2.1", 0)),
        ([b"192.0.2.1, 10.0.0.2"], ("192.0.2.1", 0)),
        ([b"6.6.6.6", b"192.0.2.1, 10.0.0.2"], ("192.0.2.1", 0)),
        ([b"10.0.0.3, 10.0.0.2"], ("10.0.0.3", 0)),
        ([b"192.0.2.1:4711"], ("192.0.2.1", 0)),
        ([b"[2001:db9::1]:4711"], ("2001:db9::1", 0)),
        ([b"2001:db9::1, 2001:db8::2"], ("2001:db9::1", 0)),
        ([b"::ffff:192.0.2.1"], ("192.0.2.1", 0)),
        ([b"6.6.6.6, unknown, 10.0.0.2"], ("10.0.0.2", 0)),
        ([b"unknown"], PEER),
        ([b" , ,"], PEER),
    ],
)
def test_the_client_is_the_rightmost_untrusted_hop(lines: list[bytes], client: tuple[str, int]) -> None:
    headers = [(b"x-forwarded-for", line) for line in lines]
    assert TRUSTED.resolve(PEER, "http", headers) == (client, "http")


@pytest.mark.parametrize(
    ("value", "scheme"), [(b"https", "https"), (b"HTTPS", "https"), (b"http, https", "https"), (b"gopher", "http")]
)
def test_the_scheme_is_what_the_nearest_proxy_said(value: bytes, scheme: str) -> None:
    assert TRUSTED.resolve(PEER, "http", [(b"x-forwarded-proto", value)])[1] == scheme


def test_only_named_peers_are_believed() -> None:
    assert TRUSTED.believes(PEER)
    assert TRUSTED.believes(("::ffff:10.1.2.3", 1))
    assert TRUSTED.believes(None)
    assert not TRUSTED.believes(("192.0.2.1", 1))
    assert not TrustedProxies.parse(("10.0.0.0/8",)).believes(None)
    assert not TrustedProxies.parse(()).believes(PEER)


def test_a_network_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="not appear to be"):
        TrustedProxies.parse(("everyone",))


@pytest.mark.parametrize(("trusted", "client"), [(("127.0.0.0/8",), "192.0.2.1"), ((), "127.0.0.1")])
async def test_the_scope_carries_the_believed_client(trusted: tuple[str, ...], client: str) -> None:
    seen: list[HttpScope] = []
    async with open_server(describing(seen), trusted_proxies=trusted) as running:
        await running.ask(
            b"GET / HTTP/1.1\r\nHost: d\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n\r\n"
        )
    assert seen[0]["client"] is not None
    assert seen[0]["client"][0] == client
    assert seen[0]["scheme"] == ("https" if trusted else "http")


FORWARDED = b"GET / HTTP/1.1\r\nHost: d\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n"


async def test_a_proxy_that_is_not_trusted_is_told_of_once() -> None:
    async with open_server(describing([])) as running:
        await running.ask(b"GET / HTTP/1.1\r\nHost: d\r\n\r\n")
        assert running.log.warnings == []
        for _ in range(3):
            await running.ask(FORWARDED)
    told = {"peer": "127.0.0.1", "setting": "server.trusted_proxies"}
    assert running.log.warnings == [("forwarded_headers_not_believed", told)]


async def test_of_a_trusted_proxy_nothing_is_told() -> None:
    async with open_server(describing([]), trusted_proxies=("127.0.0.0/8",)) as running:
        await running.ask(FORWARDED)
    assert running.log.warnings == []
