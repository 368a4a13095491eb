"""What `gatewayd listen --url` forwards is what a webhook delivers, but for the id of the delivery."""

import json
import signal
import subprocess
from pathlib import Path

from tests.daemon.hooks import make_authority, receiving, webhook_settings
from tests.daemon.instance import SECONDS, Instance, environment, serving
from tests.support import loaded
from tests.support.delivered import as_listed, in_order, verified

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_a_forwarded_event_is_the_delivered_one(tmp_path: Path) -> None:
    authority, ca_file = make_authority(tmp_path)
    instance = Instance(tmp_path, webhook_settings(ca_file))
    firm = instance.firm()
    with receiving(authority) as hooks, receiving(authority) as local, serving(instance) as running:
        request = {"url": hooks.url, "events": ["accounting.*"]}
        made = running.call(firm.key, "POST", "/api/rpc/webhooks/subscriptions", request).json()
        where = ("--url", running.url, "--forward-to", local.url, "--secret", SECRET, "--config", str(instance.config))
        process = loaded.start(
            ["-m", "gatewayd", "listen", "--json", *where, "--event", "accounting.*", "--since", "1h"],
            env={**environment(), "GATEWAYD_API_KEY": firm.key},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        with process.stdout:
            running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "fair"})  # of another area
            client = running.call(firm.key, "POST", "/api/rpc/clients", {"name": "Rowan Ltd"}).json()
            sale = {"clientId": client["id"], "status": "issued", "lines": [{"description": "Work", "unitPrice": "9"}]}
            assert running.call(firm.key, "POST", "/api/rpc/invoices", sale).status_code == 200
            delivered = in_order(verified(arrival, made["secret"]) for arrival in hooks.wait_for(3))
            forwarded = [verified(arrival, SECRET) for arrival in local.wait_for(3)]
            printed = [json.loads(process.stdout.readline()) for _ in forwarded]
            process.send_signal(signal.SIGINT)
            assert process.wait(SECONDS) == 0
        assert running.end() == 0
    assert [document["event"] for document in forwarded] == ["client.created", "invoice.created", "invoice.issued"]
    assert [as_listed(document) for document in forwarded] == [as_listed(document) for document in delivered]
    assert [line["id"] for line in printed] == [document["eventId"] for document in forwarded]
    assert [line["deliveryId"] for line in printed] == [document["id"] for document in forwarded]
