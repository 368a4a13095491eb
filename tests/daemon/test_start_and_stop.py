"""The life of the process: it starts or says why not, and ends as it is told."""

import json
import os
import signal
import socket
import ssl
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from tests.daemon.hooks import make_authority, receiving, webhook_settings
from tests.daemon.instance import SECONDS, Firm, Instance, Running, serving, until
from tests.store.test_upgrade import NEWEST, last_migration, older


def start_and_fail(instance: Instance) -> subprocess.CompletedProcess[str]:
    return instance.run("serve")


def test_it_is_ready_and_says_where(instance: Instance, capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    with serving(instance, anew=True) as running:
        took = time.monotonic() - began
        assert running.url.startswith("http://127.0.0.1:")
        assert running.client.get("/healthz").json() == {"status": "ok"}
        ready = running.client.get("/readyz")
        assert ready.status_code == 200
        checks = {"store": "ok", "clock": "ok", "dispatcher": "ok", "stopping": "ok"}
        assert ready.json() == {"status": "ready", "checks": checks}
        assert running.end() == 0
    assert [line["event"] for line in running.lines() if line["event"] != "request"] == [
        "serving",
        "stopping",
        "stopped",
    ]
    with capsys.disabled():
        print(f"\nready after {took:.2f} s")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well(instance: Instance, number: signal.Signals) -> None:
    with serving(instance, anew=True) as running:
        running.terminate(number)
        assert "STOPPING" in running.supervisor.until("STOPPING")
        assert running.process.wait(SECONDS) == 0
    with pytest.raises(ConnectionRefusedError):
        running.connect()
    assert list(instance.data.glob("gatewayd.db-*")) == []  # where it is SQLite's the one file is all of it


def test_every_mistake_of_the_configuration_is_told(instance: Instance) -> None:
    instance.config.write_text('[server]\nbind = ["nowhere"]\nbinnd = 1\n[webhooks]\nmax_attempts = 0\n')
    ran = start_and_fail(instance)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert [line.split(":")[1].strip() for line in ran.stderr.splitlines()] == [
        "server.bind[0]",
        "server.binnd",
        "webhooks.max_attempts",
    ]


def test_a_port_in_use(instance: Instance) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ran = start_and_fail(Instance(instance.directory, bind=f'["{address}"]'))
    assert (ran.returncode, ran.stderr) == (
        1,
        f"gatewayd: cannot serve: [Errno 98] cannot listen on {address}: Address already in use\n",
    )


@pytest.mark.sqlite_only("a file is copied before; of a PostgreSQL tests/cli/test_postgresql.py has it")
def test_the_daemon_migrates_and_says_so_and_no_command_but_migrate_does(instance: Instance) -> None:
    first = older(instance.data, NEWEST - 2)
    listing = instance.run("org", "list", "--json")
    assert (listing.returncode, listing.stdout) == (1, "")
    assert listing.stderr.startswith(f"gatewayd: the database is at migration {NEWEST - 2} and this program needs")
    assert last_migration(first)[0] == NEWEST - 2
    with serving(instance) as running:
        beside = instance.run("migrate")
        assert (beside.returncode, f"process {running.pid}, works with" in beside.stderr) == (1, True)
        assert instance.run("org", "list").returncode == 0
        assert running.end() == 0
    (told,) = [line for line in running.lines() if line["event"] == "migrated"]
    copy = first.with_name(f"{first.name}.before-{NEWEST:04}")
    assert (told["before"], told["after"], told["copy"]) == (NEWEST - 2, NEWEST, str(copy))
    assert last_migration(copy) == (NEWEST - 2, ["Oak"])


@pytest.mark.sqlite_only("a file is copied before; of a PostgreSQL tests/cli/test_postgresql.py has it")
def test_migrate_tells_where_the_copy_is(instance: Instance) -> None:
    path = older(instance.data)
    ran = instance.run("migrate", "--json")
    copy = f"{path}.before-{NEWEST:04}"
    assert json.loads(ran.stdout) == {"applied": 1, "migration": NEWEST, "database": str(path), "copy": copy}
    assert json.loads(instance.run("migrate", "--json").stdout)["copy"] is None


def test_a_database_of_a_newer_program(instance: Instance) -> None:
    assert instance.run("migrate").returncode == 0
    later = "INSERT INTO migrations (number, name, sha256, applied_at) VALUES (9999, '9999_later.sql', 'x', 0)"
    instance.write(lambda tx: tx.run(later))
    ran = start_and_fail(instance)
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert line.startswith("gatewayd: the database is at migration 9999")


def test_certificates_that_are_not_there(tmp_path: Path) -> None:
    instance = Instance(tmp_path, extra_server='tls_certificate = "none.pem"\ntls_key = "none.key"')
    ran = start_and_fail(instance)
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert "cannot serve" in line
    assert "none.pem" in line


def begin_invoice(running: Running, firm: Firm) -> tuple[socket.socket, bytes]:
    """Send a request for an invoice up to the middle of its body; answers the connection and the rest."""
    body = b'{"clientId": "%b", "lines": [{"description": "Door", "unitPrice": "10.00"}]}' % firm.client_id.encode()
    head = (
        f"POST /api/rpc/invoices HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {firm.key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    peer = running.connect()
    peer.sendall(head.encode() + body[:20])
    return peer, body[20:]


def received(peer: socket.socket) -> bytes:
    """Everything until the daemon closes."""
    parts = []
    while part := peer.recv(65536):
        parts.append(part)
    return b"".join(parts)


def refuses(running: Running) -> bool:
    try:
        running.connect().close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_stop_answers_what_is_under_way_and_refuses_the_rest(instance: Instance) -> None:
    firm = instance.firm()
    with serving(instance) as running:
        upload, rest = begin_invoice(running, firm)
        asking = running.connect()
        asking.sendall(b"GET /readyz HTTP/1.1\r\nHo")
        idle = running.connect()
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in idle.recv(65536)
        with upload, asking, idle:
            running.terminate()
            running.supervisor.until("STOPPING")
            until(lambda: refuses(running))
            assert idle.recv(1) == b""
            asking.sendall(b"st: x\r\n\r\n")
            not_ready = received(asking)
            assert not_ready.startswith(b"HTTP/1.1 503 ")
            assert b'"stopping":"yes"' in not_ready
            assert running.process.poll() is None
            upload.sendall(rest)
            answer = received(upload)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"connection: close\r\n" in answer.lower()
        assert running.process.wait(SECONDS) == 0
    count = instance.read(lambda tx: tx.value("SELECT count(*) FROM invoices WHERE org_id = :org_id"), firm.org_id)
    assert count == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(instance: Instance, number: signal.Signals) -> None:
    firm = instance.firm()
    with serving(instance) as running:
        upload, _ = begin_invoice(running, firm)
        with upload:
            running.terminate(number)
            running.supervisor.until("STOPPING")
            running.terminate(number)
            assert running.process.wait(SECONDS) == -number


def statuses(instance: Instance, firm: Firm) -> list[str]:
    rows = instance.read(lambda tx: tx.rows("SELECT status FROM deliveries WHERE org_id = :org_id"), firm.org_id)
    return [str(status) for (status,) in rows]


def subscribe(running: Running, firm: Firm, url: str) -> str:
    """Subscribe to leads; answers the secret."""
    made = running.call(firm.key, "POST", "/api/rpc/webhooks/subscriptions", {"url": url, "events": ["lead.created"]})
    assert made.status_code == 200, made.text
    return str(made.json()["secret"])


def test_a_stop_lets_a_delivery_in_flight_end(tmp_path: Path) -> None:
    authority, ca_file = make_authority(tmp_path)
    instance = Instance(tmp_path, webhook_settings(ca_file))
    firm = instance.firm()
    with receiving(authority) as hooks, serving(instance) as running:
        hooks.open.clear()
        subscribe(running, firm, hooks.url)
        running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"})
        hooks.wait_for(1)
        running.terminate()
        running.supervisor.until("STOPPING")
        hooks.open.set()
        assert running.process.wait(SECONDS) == 0
    assert statuses(instance, firm) == ["succeeded"]


def test_a_delivery_in_flight_at_the_end_is_made_again(tmp_path: Path) -> None:
    authority, ca_file = make_authority(tmp_path)
    instance = Instance(tmp_path, webhook_settings(ca_file) + "timeout_seconds = 1\n")
    firm = instance.firm()
    with receiving(authority) as hooks:
        with serving(instance) as running:
            hooks.open.clear()
            subscribe(running, firm, hooks.url)
            running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"})
            hooks.wait_for(1)
            assert running.end() == 0
        assert statuses(instance, firm) == ["retrying"]
        hooks.open.set()
        with serving(instance) as running:
            first, *_, last = hooks.wait_for(2)
            until(lambda: statuses(instance, firm) == ["succeeded"])
            assert running.end() == 0
    assert (first.delivery_id, first.body) == (last.delivery_id, last.body)
    assert first.headers["x-service-signature"] != last.headers["x-service-signature"]


def test_a_credential_s_last_use_is_written_at_the_end(instance: Instance) -> None:
    firm = instance.firm()
    with serving(instance) as running:
        assert running.call(firm.key, "GET", "/api/rpc/invoices").status_code == 200
        assert running.end() == 0
    day = instance.read(lambda tx: tx.value("SELECT last_used_day FROM api_keys WHERE id = :id", id=firm.key_id))
    assert day is not None


def test_a_unix_socket_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "door"
    instance = Instance(tmp_path, bind=f'["unix:{path}"]', extra_server="socket_mode = 0o600")
    with serving(instance) as running:
        assert running.addresses == [f"unix:{path}"]
        assert path.stat().st_mode & 0o777 == 0o600
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://x", timeout=SECONDS) as client:
            assert client.get("/healthz").status_code == 200
        assert running.end() == 0
    assert not path.exists()


def test_a_socket_that_was_passed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        instance = Instance(tmp_path, bind=f'["fd://{listener.fileno()}"]')
        with serving(instance, descriptors=(listener.fileno(),)) as running:
            assert running.port == listener.getsockname()[1]
            assert running.client.get("/healthz").status_code == 200
            assert running.end() == 0
        # The manager keeps its socket: what comes while nobody serves waits for the next.
        with socket.create_connection(listener.getsockname(), timeout=SECONDS) as waiting:
            waiting.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            with serving(instance, descriptors=(listener.fileno(),)) as running:
                assert received(waiting).startswith(b"HTTP/1.1 200 ")
                assert running.end() == 0


@pytest.mark.parametrize("http2", [False, True])
def test_tls_with_both_versions(tmp_path: Path, http2: bool) -> None:
    authority, ca_file = make_authority(tmp_path)
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "door.pem")
    instance = Instance(tmp_path, extra_server='tls_certificate = "door.pem"\ntls_key = "door.pem"')
    firm = instance.firm()
    context = ssl.create_default_context(cafile=str(ca_file))
    with serving(instance) as running:
        assert running.url.startswith("https://")
        with httpx.Client(
            base_url=running.url, http2=http2, verify=context, trust_env=False, timeout=SECONDS
        ) as client:
            headers = {"Authorization": f"Bearer {firm.key}"}
            for _ in range(3):
                answer = client.get("/api/rpc/invoices", headers=headers)
                assert (answer.status_code, answer.http_version) == (200, "HTTP/2" if http2 else "HTTP/1.1")
            body = {"clientId": firm.client_id, "lines": [{"description": "Door", "unitPrice": "10.00"}]}
            assert client.post("/api/rpc/invoices", headers=headers, json=body).status_code == 200
        assert running.end() == 0


def test_an_instance_that_is_killed_between_two_starts_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "door"
    instance = Instance(tmp_path, bind=f'["unix:{path}"]')
    with serving(instance) as running:
        os.kill(running.pid, signal.SIGKILL)
        assert running.process.wait(SECONDS) == -signal.SIGKILL
    assert path.exists()
    with serving(instance) as running:
        assert running.end() == 0
