"""The metrics of a real daemon, on an address of their own."""

import json
import socket
from collections import Counter
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.daemon.hooks import make_authority, receiving, webhook_settings
from tests.daemon.instance import Instance, Running, plain_client, serving, until

ONE_ATTEMPT = "first_retry_seconds = 3600"
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


def test_sign_in_and_pages_have_labels_and_no_paths(instance: Instance) -> None:
    secret = "s3cret0f5omebody"
    asked = [
        ("GET", "/api/auth/jwks", "oauth.jwks", 200),
        ("GET", "/.well-known/openid-configuration", "oauth.metadata", 200),
        ("OPTIONS", "/.well-known/openid-configuration", "oauth.metadata", 204),
        ("POST", f"/api/auth/oauth2/token?code={secret}", "oauth.token", 400),
        ("POST", "/api/auth/oauth2/register", "oauth.register", 415),
        ("GET", f"/api/auth/oauth2/authorize?request_uri={secret}", "oauth.authorize", 400),
        ("GET", f"/api/auth/oauth2/{secret}", "oauth.none", 404),
        ("GET", "/sign-in", "console", 200),
        ("GET", f"/sign-in/link/{secret}", "console", 404),
        ("GET", f"/oauth/consent?request={secret}", "console", 400),
        ("GET", "/static/style.css", "console", 200),
    ]
    with serving(instance) as running:
        replies = [running.client.request(method, path) for method, path, *_ in asked]
        assert [reply.status_code for reply in replies] == [status for *_, status in asked]
        found = scrape(place(running))
        assert found["gatewayd_requests_total"] == Counter((label, str(status)) for *_, label, status in asked)
        ids = [reply.headers["x-request-id"] for reply in replies]
        assert running.end() == 0
        lines = [line for line in running.lines() if line["event"] == "request"]
        assert [(line["operation"], line["status"]) for line in lines] == [tuple(rest) for _, _, *rest in asked]
        assert [line["request_id"] for line in lines] == ids
        written = running.log.read_text()
    assert secret not in written
    assert "/sign-in" not in written


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


def test_each_subscription_has_its_numbers(tmp_path: Path) -> None:
    authority, ca_file = make_authority(tmp_path)
    instance = Instance(tmp_path, METRICS + webhook_settings(ca_file).replace("first_retry_seconds = 1", ONE_ATTEMPT))
    firm = instance.firm()
    with receiving(authority) as hooks, receiving(authority) as failing, serving(instance) as running:
        failing.status = 500
        well, ill, off = [
            running.call(firm.key, "POST", "/api/rpc/webhooks/subscriptions", {"url": url, "events": ["lead.created"]})
            for url in (hooks.url, failing.url, f"{hooks.url}/off")
        ]
        for source in ("web", "fair"):
            assert running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": source}).status_code == 200
        url, attempts = place(running), "gatewayd_webhook_subscription_attempts_total"
        wanted = [("succeeded", well, 2.0), ("failed", ill, 2.0), ("succeeded", off, 2.0)]
        labelled = {(outcome, made.json()["id"]): count for outcome, made, count in wanted}

        def told() -> dict[tuple[str, ...], float]:
            return {labels: count for labels, count in scrape(url).get(attempts, {}).items() if count}

        until(lambda: told() == labelled)
        disable = {"id": off.json()["id"], "enabled": False}
        assert running.call(firm.key, "POST", "/api/rpc/webhooks/subscriptions/update", disable).status_code == 200
        until(lambda: scrape(url)["gatewayd_webhook_subscriptions_disabled"][("caller",)] == 1)
        found = scrape(url)
        assert found["gatewayd_webhook_subscription_pending"] == {(ill.json()["id"],): 2}
        assert found["gatewayd_webhook_subscription_oldest_due_seconds"] == {(ill.json()["id"],): 0}
        assert found["gatewayd_webhook_subscription_attempt_seconds_total"].keys() == {(i,) for _, i in labelled}
        assert found["gatewayd_webhook_subscriptions_complete"] == {(): 1}
        assert found["gatewayd_webhook_attempts_limit"] == {(): 64}
        assert found["gatewayd_webhook_connections_idle"][()] >= 1
        with plain_client(url) as client:
            page = client.get("/metrics").text
        assert "whsec_" not in page
        assert "/hooks" not in page
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


def test_a_start_with_features_switched_off_warns_of_nothing(tmp_path: Path) -> None:
    with serving(Instance(tmp_path, '[vault]\nembeddings = "off"\nocr = "off"\n')) as running:
        assert [line for line in running.lines() if line["level"] == "warning"] == []
        assert "metrics" not in next(line for line in running.lines() if line["event"] == "serving")
        assert running.end() == 0
