"""Reloads of a real daemon: nobody is turned away, what is no good is not taken, and what is taken acts at once."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from signal import SIGHUP
from typing import Any

import httpx
import pytest
import trustme

from gatewayd.config import load as load_config
from gatewayd.daemon.doors import server_settings
from gatewayd.identity import audit
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys
from tests.daemon.hooks import make_authority, receiving
from tests.daemon.instance import SECONDS, Firm, Instance, Running, serving, until
from tests.daemon.test_metrics import METRICS, place, scrape

DOOR = 'tls_certificate = "door.pem"\ntls_key = "door.key"\n'
TLS = f'public_url = "https://books.example"\n{DOOR}'


def write_certificate(folder: Path, authority: trustme.CA, days: int = 90, name: str = "door") -> None:
    """As ACME clients do: other files under the same names."""
    now = datetime.now(UTC)
    issued = authority.issue_cert("127.0.0.1", not_before=now - timedelta(days=9), not_after=now + timedelta(days=days))
    for suffix, blobs in ((".key", [issued.private_key_pem]), (".pem", issued.cert_chain_pems)):
        fresh = folder / f"{name}{suffix}.new"
        fresh.write_bytes(b"".join(blob.bytes() for blob in blobs))
        fresh.chmod(0o600)
        fresh.replace(folder / f"{name}{suffix}")


def shown(running: Running) -> str:
    """The certificate that a new connection gets."""
    return ssl.get_server_certificate(("127.0.0.1", running.port), timeout=SECONDS)


def in_file(folder: Path) -> str:
    return ssl.DER_cert_to_PEM_cert(
        ssl.PEM_cert_to_DER_cert((folder / "door.pem").read_text().partition("END CERT")[0] + "END CERTIFICATE-----\n")
    )


def reload(running: Running) -> dict[str, str]:
    """Ask for a reload, and wait until it is over; answers what the service manager was told last."""
    running.terminate(SIGHUP)
    begun = running.supervisor.until("RELOADING")
    assert int(begun["MONOTONIC_USEC"]) > 0
    return running.supervisor.until("READY")


def events(running: Running, event: str) -> list[dict[str, Any]]:
    """What the log says of it so far: its thread writes a moment later."""
    return [line for line in running.lines() if line["event"] == event]


@dataclass
class Load:
    """What clients met while it went on."""

    answers: list[int] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    ends: threading.Event = field(default_factory=threading.Event)

    def ask(self, url: str, key: str, context: ssl.SSLContext, *, keeps: bool) -> None:
        """One request after the other, over one connection or over a new one each."""
        client = httpx.Client(base_url=url, verify=context, trust_env=False, timeout=SECONDS)
        headers = {"Authorization": f"Bearer {key}", **({} if keeps else {"Connection": "close"})}
        with client:
            while not self.ends.is_set():
                try:
                    self.answers.append(client.get("/api/rpc/invoices", headers=headers).status_code)
                except httpx.HTTPError as error:
                    self.failures.append(error)


@contextmanager
def load(running: Running, firm: Firm, ca_file: Path) -> Iterator[Load]:
    """Requests for the length of the block."""
    context, seen = ssl.create_default_context(cafile=str(ca_file)), Load()
    threads = [
        threading.Thread(target=seen.ask, args=(running.url, firm.key, context), kwargs={"keeps": keeps})
        for keeps in (True, False, False)
    ]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        seen.ends.set()
        for thread in threads:
            thread.join(SECONDS)


def more(seen: Load) -> None:
    """Wait until a few more requests were answered."""
    count = len(seen.answers) + 20
    until(lambda: len(seen.answers) >= count or seen.failures)


def test_a_renewed_certificate_is_served_and_no_request_fails(tmp_path: Path) -> None:
    authority, ca_file = make_authority(tmp_path)
    write_certificate(tmp_path, authority, days=40)
    instance = Instance(tmp_path, f"{METRICS}[limits]\nrequests_per_minute = 0\n", extra_server=TLS)
    firm = instance.firm()
    with serving(instance) as running, load(running, firm, ca_file) as seen:
        first = shown(running)
        before = scrape(place(running))["gatewayd_certificate_expiry_timestamp_seconds"][()]
        with httpx.Client(base_url=running.url, verify=False, trust_env=False, timeout=SECONDS) as kept:
            assert kept.get("/healthz").headers["strict-transport-security"] == "max-age=15552000"
            for days in (50, 60, 90):
                write_certificate(tmp_path, authority, days)
                more(seen)
                assert reload(running)["STATUS"] == f"serving on {running.url}"
                assert shown(running) == in_file(tmp_path) != first
                more(seen)
            assert kept.get("/healthz").status_code == 200  # over the connection of the first certificate
        numbers = scrape(place(running))
        assert numbers["gatewayd_certificate_expiry_timestamp_seconds"][()] == pytest.approx(
            before + 50 * 86_400, abs=60
        )
        assert numbers["gatewayd_last_reload_succeeded"] == {(): 1}
    assert seen.failures == []
    assert set(seen.answers) == {200}


def test_a_broken_certificate_is_not_taken_and_the_doctor_says_so(tmp_path: Path) -> None:
    authority, _ = make_authority(tmp_path)
    write_certificate(tmp_path, authority)
    instance = Instance(tmp_path, METRICS, extra_server=TLS)
    with serving(instance) as running:
        running.claimed.add("reload_refused")
        good = shown(running)
        instance.config.write_text(instance.config.read_text().replace('127.0.0.1:0"]', f'127.0.0.1:{running.port}"]'))
        whole, key = (tmp_path / "door.pem").read_bytes(), (tmp_path / "door.key").read_bytes()
        for name, content in (("door.pem", whole[:300]), ("door.pem", b""), ("door.key", key[:100])):
            (tmp_path / name).write_bytes(content)
            assert reload(running)["STATUS"].endswith("; the last reload was refused")
            assert shown(running) == good
            (tmp_path / "door.pem").write_bytes(whole)
            (tmp_path / "door.key").write_bytes(key)
        write_certificate(tmp_path, trustme.CA(), name="other")
        (tmp_path / "other.key").rename(tmp_path / "door.key")
        reload(running)
        assert shown(running) == good
        assert scrape(place(running))["gatewayd_last_reload_succeeded"] == {(): 0}
        said = instance.run("doctor").stdout
        assert "WRONG  TLS: " in said
        assert "door.pem and " in said
        assert "ok     TLS, as served: The certificate is not the one of the files; 8" in said
        write_certificate(tmp_path, authority, days=-1)
        reload(running)
        assert shown(running) == good
        assert "but it expired on" in instance.run("doctor").stdout
        refused = until(lambda: found if len(found := events(running, "reload_refused")) == 5 else None)
        assert all("door.pem" in str(line["problems"]) for line in refused)
        assert refused[-1]["problems"] == [f"{tmp_path / 'door.pem'} has expired"]
        write_certificate(tmp_path, authority, days=90)
        said = instance.run("doctor").stdout  # whose user may read what the daemon's may not
        assert "ok     TLS: " in said
        assert "WRONG  TLS, as served: The certificate is not the one of the files: the daemon's log says" in said
        write_certificate(tmp_path, authority, days=1)
        reload(running)
        said = instance.run("doctor").stdout
        assert "WRONG  TLS: " in said
        assert "WRONG  TLS, as served: The certificate is the one of the files; 0 days are left" in said
        assert scrape(place(running))["gatewayd_last_reload_succeeded"] == {(): 1}


CHANGED = """
[server]
bind = ["127.0.0.1:0"]
trusted_proxies = ["127.0.0.0/8"]
cors_origins = ["https://app.example"]
public_url = "https://books.example"
tls_certificate = "{name}.pem"
tls_key = "{name}.key"
[store]
directory = "data"
url = "{url}"
[webhooks]
allow_networks = ["127.0.0.0/8"]
max_attempts = 3
ca_file = "ca.pem"
[limits]
requests_per_minute = 1000
concurrent_requests = 63
sign_in_attempts = 1
[log]
format = "json"
level = "{level}"
"""


def test_every_setting_that_is_reloaded_acts_at_once_and_the_others_are_named(tmp_path: Path) -> None:
    authority, _ = make_authority(tmp_path)
    write_certificate(tmp_path, authority)
    write_certificate(tmp_path, authority, name="other")
    instance = Instance(tmp_path, '[webhooks]\nca_file = "ca.pem"\n', extra_server=TLS)
    firm = instance.firm()
    with receiving(authority) as hooks, serving(instance) as running:
        first = shown(running)
        wanted = {"url": hooks.url, "events": ["lead.created"]}
        origin = {"Origin": "https://app.example"}
        before = running.call(firm.key, "GET", "/api/rpc/invoices", headers=origin)
        assert "access-control-allow-origin" not in before.headers
        assert running.call(firm.key, "POST", "/api/rpc/webhooks/subscriptions", wanted).status_code == 422
        instance.config.write_text(CHANGED.format(name="other", level="warning", url=instance.url))
        reload(running)
        after = running.call(firm.key, "GET", "/api/rpc/invoices", headers=origin)
        assert after.headers["access-control-allow-origin"] == "https://app.example"
        assert before.headers["ratelimit-policy"] == '"default";q=600;w=60'
        assert after.headers["ratelimit-policy"] == '"default";q=1000;w=60'
        assert running.call(firm.key, "POST", "/api/rpc/webhooks/subscriptions", wanted).status_code == 200
        running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"})
        hooks.wait_for(1)
        assert shown(running) not in {first, in_file(tmp_path)}
        (waits,) = until(lambda: events(running, "settings_need_restart"))
        assert waits["settings"] == ["webhooks.max_attempts"]
        instance.config.write_text(CHANGED.format(name="other", level="info", url=instance.url))
        reload(running)
        (told,) = until(lambda: events(running, "reloaded"))
        assert told["settings"] == ["log.level"]  # the first time the level was above it already


@pytest.mark.parametrize(("url", "told"), [("https://books.example", True), ("https://localhost", False)])
def test_browsers_come_back_over_tls_alone_but_never_to_this_machine(tmp_path: Path, url: str, told: bool) -> None:
    """Else every other service of a developer's machine would be refused over plain HTTP for half a year."""
    config = load_config(f'[server]\npublic_url = "{url}"\ntls_certificate = "/c"\ntls_key = "/k"', {})
    assert bool(server_settings(config).strict_transport_seconds) is told
    plain = load_config(f'[server]\npublic_url = "{url}"', {})
    assert server_settings(plain).strict_transport_seconds == 0


def test_a_proxy_on_a_unix_socket_is_believed_where_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "door.sock"
    instance = Instance(tmp_path, bind=f'["unix:{path}"]', extra_server='trusted_proxies = ["unix"]')
    firm = instance.firm()
    new = api_keys.NewKey(name="Office", user_id=firm.user_id, networks=("192.0.2.0/24",))
    key = instance.write(lambda tx: api_keys.create(tx, new, bytes(RANDOM_BYTES), audit.OPERATOR), firm.org_id).key
    by_socket = httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://x", timeout=SECONDS)
    with serving(instance) as running, by_socket as client:

        def status(sender: str) -> int:
            headers = {"Authorization": f"Bearer {key}", "X-Forwarded-For": sender}
            return client.get("/api/rpc/invoices", headers=headers).status_code

        assert (status("192.0.2.9"), status("198.51.100.9")) == (200, 401)
        instance.config.write_text(instance.config.read_text().replace('["unix"]', "[]"))
        reload(running)
        assert status("192.0.2.9") == 401


def test_a_reload_that_is_asked_for_while_it_stops_ends_nothing(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    with serving(instance) as running:
        with running.connect() as peer:
            peer.sendall(b"GET /healthz HTTP/1.1\r\nHo")
            running.terminate()
            running.supervisor.until("STOPPING")
            for _ in range(3):
                running.terminate(SIGHUP)
            peer.sendall(b"st: x\r\n\r\n")
            assert peer.recv(65536).startswith(b"HTTP/1.1 200 ")
            running.terminate(SIGHUP)
        assert running.process.wait(SECONDS) == 0
