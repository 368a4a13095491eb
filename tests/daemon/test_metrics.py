"""The metrics of a real daemon, on an address of their own."""

import json
import socket
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.daemon.instance import Instance, Running, plain_client, serving, until

METRICS = '[metrics]\nbind = "127.0.0.1:0"\n'


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    return Instance(tmp_path, METRICS)


def place(running: Running) -> str:
    """Where the metrics are, as the log says."""
    (serving_line,) = [line for line in running.lines() if line["event"] == "serving"]
    (address,) = serving_line["metrics"]
    assert address not in running.addresses
    return str(address)


def scrape(url: str) -> dict[str, dict[tuple[str, ...], float]]:
    """Values by name, then by the labels' values in the order of the labels' names."""
    with plain_client(url) as client:
        answer = client.get("/metrics")
    assert answer.status_code == 200
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            labels = tuple(text for _, text in sorted(sample.labels.items()))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def test_requests_are_counted_whatever_they_ask_for(instance: Instance) -> None:
    firm = instance.firm()
    with serving(instance) as running:
        url = place(running)
        before = scrape(url)
        assert before["gatewayd_ready"] == {(): 1}
        assert "gatewayd_requests_total" not in before
        assert running.call(firm.key, "GET", "/api/rpc/invoices").status_code == 200
        assert running.call(firm.key, "GET", "/api/rpc/accounting/listInvoices").status_code == 200
        assert running.call("nonsense", "GET", "/api/rpc/invoices").status_code == 401
        assert running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}).status_code == 200
        for number in range(20):
            assert running.call(firm.key, "GET", f"/api/rpc/nothing/{number}").status_code == 404
        assert running.call(firm.key, "MKCOL", "/api/rpc/invoices").status_code == 405
        after = scrape(url)
        assert after["gatewayd_requests_total"] == {
            ("accounting.listInvoices", "200"): 2,
            ("accounting.listInvoices", "401"): 1,
            ("crm.createLead", "200"): 1,
            ("none", "404"): 20,
            ("none", "405"): 1,
        }
        assert after["gatewayd_request_duration_seconds_count"][("accounting.listInvoices",)] == 3
        assert 0 < after["gatewayd_request_duration_seconds_sum"][("crm.createLead",)] < 30
        assert after["gatewayd_store_commits_total"][()] > before["gatewayd_store_commits_total"][()]
        assert after["gatewayd_connections_open"] == after["gatewayd_connections_accepted_total"] == {(): 1}
        assert running.end() == 0


def test_what_never_became_a_request_is_counted_too(instance: Instance) -> None:
    with serving(instance) as running:
        url = place(running)
        with running.connect() as peer:
            peer.sendall(b"no request at all\r\n\r\n")
            assert b" 400 " in peer.recv(4096)
        found = scrape(url)
        assert found["gatewayd_requests_refused_total"] == {(): 1}
        assert "gatewayd_requests_total" not in found
        assert running.end() == 0


def test_either_door_has_but_its_own_paths(instance: Instance) -> None:
    with serving(instance) as running:
        with plain_client(place(running)) as client:
            statuses = [client.get(path).status_code for path in ("/healthz", "/api/rpc/invoices", "/openapi.json")]
        assert statuses == [404, 404, 404]
        assert running.client.get("/metrics").status_code == 404
        assert running.end() == 0


def test_a_webhook_cannot_lead_to_the_metrics(tmp_path: Path) -> None:
    instance = Instance(tmp_path, METRICS + '[webhooks]\nallow_networks = ["127.0.0.0/8"]\nallow_http = true\n')
    firm = instance.firm()
    with serving(instance) as running:
        url = place(running)
        made = instance.run(
            *("webhook", "create", "--org", firm.org_id, "--url", f"{url}/metrics", "--event", "lead.created", "--json")
        )
        subscription = json.loads(made.stdout)["id"]
        assert running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}).status_code == 200
        until(lambda: scrape(url)["gatewayd_webhook_attempts_total"][("retried",)] == 1)
        (delivery,) = json.loads(instance.run("webhook", "deliveries", subscription, "--json").stdout)
        assert delivery["lastError"] == "blocked_address"
        assert running.end() == 0


def test_a_stop_ends_both_doors_though_a_scraper_stays_connected(instance: Instance) -> None:
    with serving(instance) as running:
        url = place(running)
        with plain_client(url) as scraper:
            assert scraper.get("/metrics").status_code == 200
            assert running.end() == 0
            with pytest.raises(httpx.TransportError):
                scraper.get("/metrics")


def test_an_address_in_use_is_named_and_nothing_is_served(instance: Instance) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ran = Instance(instance.directory, f'[metrics]\nbind = "{address}"\n').run("serve")
    assert (ran.returncode, ran.stderr) == (
        1,
        f"gatewayd: cannot serve: [Errno 98] cannot listen on {address}: Address already in use\n",
    )


def test_settings_without_effect_are_told_at_the_start(tmp_path: Path) -> None:
    with serving(Instance(tmp_path, "[vault]\ntrash_days = 7\n[oauth]\nrefresh_grace_seconds = 60\n")) as running:
        told = [line for line in running.lines() if line["level"] == "warning"]
        assert [(line["event"], line["settings"]) for line in told] == [
            ("settings_without_effect_yet", ["oauth.refresh_grace_seconds", "vault.trash_days"])
        ]
        assert "metrics" not in next(line for line in running.lines() if line["event"] == "serving")
        assert running.end() == 0
