"""What another process writes acts at once: nothing that decides access is remembered past a commit."""

import json
from pathlib import Path

from gatewayd.identity import audit
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import memberships
from tests.daemon.conftest import Shared
from tests.daemon.hooks import make_authority, receiving, webhook_settings
from tests.daemon.instance import Instance, serving
from tests.daemon.test_start_and_stop import subscribe

INVOICES = "/api/rpc/invoices"
LINE = {"description": "Door", "unitPrice": "10.00"}


def test_a_key_revoked_by_the_command_is_refused_at_once(shared: Shared) -> None:
    key = shared.instance.key(shared.firm.org_id, shared.firm.user_id)
    for _ in range(3):
        assert shared.running.call(key.key, "GET", INVOICES).status_code == 200
    assert shared.instance.run("key", "revoke", key.id).returncode == 0
    refused = shared.running.call(key.key, "GET", INVOICES)
    assert (refused.status_code, refused.json()["code"]) == (401, "invalid_token")
    assert shared.running.call(shared.firm.key, "GET", INVOICES).status_code == 200


def test_a_write_is_refused_too(shared: Shared) -> None:
    key = shared.instance.key(shared.firm.org_id, shared.firm.user_id)
    assert shared.running.call(key.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}).status_code == 200
    shared.instance.write(lambda tx: api_keys.revoke(tx, key.id, audit.OPERATOR), shared.firm.org_id)
    assert shared.running.call(key.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}).status_code == 401


def test_a_member_who_is_removed_is_refused_at_once(shared: Shared) -> None:
    firm = shared.instance.firm("Larch Ltd")
    assert shared.running.call(firm.key, "GET", INVOICES).status_code == 200
    other = shared.firm.user_id
    shared.instance.write(lambda tx: memberships.add(tx, other, "owner", audit.OPERATOR), firm.org_id)
    shared.instance.write(lambda tx: memberships.remove(tx, firm.user_id, audit.OPERATOR), firm.org_id)
    assert shared.running.call(firm.key, "GET", INVOICES).status_code == 401


def test_a_role_that_is_lowered_counts_at_once(shared: Shared) -> None:
    firm = shared.instance.firm("Elm Ltd")
    invoice = {"clientId": firm.client_id, "lines": [LINE], "origin": "imported", "status": "issued"}
    first = shared.running.call(firm.key, "POST", INVOICES, {**invoice, "number": "OLD-1", "issueDate": "2025-01-31"})
    assert first.status_code == 200, first.text
    other = shared.firm.user_id
    shared.instance.write(lambda tx: memberships.add(tx, other, "owner", audit.OPERATOR), firm.org_id)
    shared.instance.write(lambda tx: memberships.change_role(tx, firm.user_id, "member", audit.OPERATOR), firm.org_id)
    refused = shared.running.call(firm.key, "POST", INVOICES, {**invoice, "number": "OLD-2", "issueDate": "2025-01-31"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


def test_a_lead_made_by_the_command_is_delivered(tmp_path: Path) -> None:
    authority, ca_file = make_authority(tmp_path)
    instance = Instance(tmp_path, webhook_settings(ca_file))
    firm = instance.firm()
    with receiving(authority) as hooks, serving(instance) as running:
        subscribe(running, firm, hooks.url)
        made = instance.run("lead", "create", "--org", firm.org_id, "--source", "fair", "--json")
        lead_id = json.loads(made.stdout)["id"]
        # Well below the 15 s after which the dispatcher would look without having been woken.
        (arrival,) = hooks.wait_for(1)
        assert json.loads(arrival.body)["data"]["lead_id"] == lead_id
        assert running.end() == 0


def test_commands_work_while_it_serves(shared: Shared) -> None:
    assert shared.instance.run("check-config").returncode == 0
    listed = json.loads(shared.instance.run("org", "list", "--json").stdout)
    assert shared.firm.org_id in {org["id"] for org in listed}
