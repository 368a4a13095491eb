"""The log of a whole run: what it tells of each request, and what never stands in it."""

import json
from pathlib import Path

from tests.daemon.hooks import make_authority, receiving, webhook_settings
from tests.daemon.instance import Instance, serving, until
from tests.daemon.test_start_and_stop import subscribe

PASSWORD = "correct-horse-7-planted"
NINO = "QQ123456C"
INVOICES = "/api/rpc/invoices"


def test_no_secret_is_ever_logged(tmp_path: Path) -> None:
    authority, ca_file = make_authority(tmp_path)
    instance = Instance(tmp_path, webhook_settings(ca_file) + '[log]\nlevel = "debug"\n')
    instance.config.write_text(instance.config.read_text().replace('[log]\nformat = "json"\n', "", 1))
    firm = instance.firm()
    stranger = firm.key[:-1] + ("a" if firm.key[-1] != "a" else "b")
    with receiving(authority) as hooks, serving(instance) as running:
        secret = subscribe(running, firm, hooks.url)
        hooks.status = 500  # failed attempts are told in the log
        for key in (firm.key, stranger, secret, PASSWORD):
            running.call(key, "GET", INVOICES)
            running.call(firm.key, "GET", f"{INVOICES}?search={key}")
            running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web", "name": f"{key} {NINO}"})
            running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web", key: PASSWORD})
            running.client.get(f"/api/rpc/nothing/{key}/{NINO}", headers={"Cookie": f"session={key}"})
            running.call(firm.key, "POST", INVOICES, {"clientId": key}, {"Idempotency-Key": PASSWORD})
        entity = {"name": "Ann Oak", "type": "individual", "nino": NINO}
        running.call(firm.key, "POST", "/api/rpc/legalEntity/createLegalEntity", entity)
        with running.connect() as peer:
            peer.sendall(f"GET /{firm.key} HTTP/1.1\r\nAuthorization : Bearer {firm.key}\r\n\r\n".encode())
            peer.recv(65536)
        hooks.wait_for(4)
        until(lambda: "delivery_attempt_failed" in running.log.read_text())
        assert running.end() == 0
    text = running.log.read_text()
    key_file = (tmp_path / "data" / "instance.key").read_bytes()
    planted = (firm.key, firm.key[4:], stranger, secret, secret[6:], PASSWORD, NINO, key_file.hex())
    assert [each for each in planted if each in text] == []
    assert '"event":"request"' in text


def test_a_line_for_each_request(instance: Instance) -> None:
    firm = instance.firm()
    with serving(instance) as running:
        answers = [
            running.call(firm.key, "GET", INVOICES),
            running.call("gwd_nonsense", "GET", INVOICES),
            running.call(firm.key, "GET", "/api/rpc/nothing"),
            running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}),
        ]
        running.client.get("/healthz")
        assert running.end() == 0
    lines = [line for line in running.lines() if line["event"] == "request"]
    assert [line["request_id"] for line in lines] == [answer.headers["x-request-id"] for answer in answers]
    assert [line["status"] for line in lines] == [200, 401, 404, 200]
    assert [line["operation"] for line in lines] == [
        "accounting.listInvoices",
        "accounting.listInvoices",
        "none",
        "crm.createLead",
    ]
    assert [line.get("organization") for line in lines] == [firm.org_id, None, None, firm.org_id]
    assert [line.get("caller") for line in lines] == ["api_key", None, None, "api_key"]
    assert all(0 <= line["milliseconds"] < 60_000 for line in lines)
    assert all(line["milliseconds"] == round(line["milliseconds"], 3) for line in lines)
    assert json.dumps(lines).count("INV-") == 0
