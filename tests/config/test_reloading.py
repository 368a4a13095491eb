"""Which settings a running daemon takes, and which it names as waiting."""

import dataclasses

import pytest

from gatewayd.config import RELOADED, Config, after_reload, differing, load

ENVIRON = {"STATE_DIRECTORY": "/var/lib/gatewayd"}
OLD = """
[server]
bind = ["127.0.0.1:1"]
tls_certificate = "/a.pem"
tls_key = "/a.key"
"""
NEW = """
[server]
bind = ["127.0.0.1:2"]
public_url = "https://books.example"
tls_certificate = "/b.pem"
tls_key = "/b.key"
trusted_proxies = ["10.0.0.0/8"]
cors_origins = ["https://a.example"]
[webhooks]
allow_networks = ["10.0.0.0/8"]
concurrency = 3
[limits]
requests_per_minute = 1
sign_in_attempts = 2
concurrent_requests = 3
json_body_bytes = 5000
[log]
level = "error"
format = "console"
"""
WAITING = ("server.bind", "server.public_url", "webhooks.concurrency", "limits.json_body_bytes", "log.format")


def test_what_is_reloaded_holds_and_the_rest_waits() -> None:
    running, loaded = load(OLD, ENVIRON), load(NEW, ENVIRON)
    after = after_reload(running, loaded)
    assert set(differing(running, after)) == RELOADED
    assert differing(after, loaded) == WAITING
    assert differing(after, after_reload(after, running)) == differing(running, after)


def test_every_key_that_is_reloaded_is_one() -> None:
    sections = {section.name: getattr(Config(), section.name) for section in dataclasses.fields(Config)}
    known = {f"{name}.{key.name}" for name, section in sections.items() for key in dataclasses.fields(section)}
    assert known >= RELOADED


@pytest.mark.parametrize(("running", "loaded"), [(OLD, ""), ("", OLD)])
def test_tls_is_neither_begun_nor_ended(running: str, loaded: str) -> None:
    before, read = load(running, ENVIRON), load(loaded, ENVIRON)
    after = after_reload(before, read)
    assert after == before
    assert {"server.tls_certificate", "server.tls_key"} <= set(differing(after, read))
