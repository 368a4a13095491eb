"""A delivery of the running daemon, verified by the packages that receivers use, unchanged."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pytest
import standardwebhooks
import stripe
import svix.webhooks

from tests.daemon.hooks import Arrival, make_authority, receiving, webhook_settings
from tests.daemon.instance import Instance, serving
from tests.daemon.test_start_and_stop import subscribe

STALE_SECONDS = 301  # Spec §6: five minutes are tolerated


class Delivered(NamedTuple):
    """What a receiver holds: the request and the secret it was told."""

    arrival: Arrival
    secret: str

    def standard_headers(self) -> dict[str, str]:
        names = ("webhook-id", "webhook-timestamp", "webhook-signature")
        return {name: self.arrival.headers[name] for name in names}

    def older(self) -> "Delivered":
        """The same, rightly signed, as it would have been `STALE_SECONDS` ago."""
        sent_at = int(self.arrival.headers["webhook-timestamp"]) - STALE_SECONDS
        body, headers = self.arrival.body, dict(self.arrival.headers)
        spec = hmac.new(self.secret.encode(), b"%d." % sent_at + body, hashlib.sha256).hexdigest()
        signed = f"{headers['webhook-id']}.{sent_at}.".encode() + body
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        standard = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        headers["x-service-signature"] = f"t={sent_at},v1={spec}"
        headers |= {"webhook-timestamp": str(sent_at), "webhook-signature": f"v1,{standard}"}
        return Delivered(Arrival(headers, body), self.secret)


@pytest.fixture(scope="module")
def delivered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivered]:
    """One delivery that a running daemon made over TLS."""
    directory = tmp_path_factory.mktemp("delivering")
    authority, ca_file = make_authority(directory)
    instance = Instance(directory, webhook_settings(ca_file))
    firm = instance.firm()
    with receiving(authority) as hooks, serving(instance) as running:
        secret = subscribe(running, firm, hooks.url)
        made = running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}).json()
        (arrival,) = hooks.wait_for(1)
        assert json.loads(arrival.body)["data"]["lead_id"] == made["id"]
        yield Delivered(arrival, secret)
        assert running.end() == 0


def with_stripe(delivered: Delivered) -> None:
    header = delivered.arrival.headers["x-service-signature"]
    stripe.WebhookSignature.verify_header(delivered.arrival.body.decode(), header, delivered.secret, tolerance=300)


def with_standardwebhooks(delivered: Delivered) -> None:
    headers = delivered.standard_headers()
    document = standardwebhooks.Webhook(delivered.secret).verify(delivered.arrival.body, headers)
    assert document["event"] == "lead.created"


def with_svix(delivered: Delivered) -> None:
    svix.webhooks.Webhook(delivered.secret).verify(delivered.arrival.body, delivered.standard_headers())


Verify = Callable[[Delivered], None]
VERIFIERS: Mapping[Verify, type[Exception]] = {
    with_stripe: stripe.SignatureVerificationError,
    with_standardwebhooks: standardwebhooks.WebhookVerificationError,
    with_svix: svix.webhooks.WebhookVerificationError,
}


@pytest.mark.parametrize("verify", VERIFIERS)
def test_a_delivery_verifies(delivered: Delivered, verify: Verify) -> None:
    verify(delivered)


@pytest.mark.parametrize("verify", VERIFIERS)
def test_a_changed_body_does_not(delivered: Delivered, verify: Verify) -> None:
    changed = Arrival(delivered.arrival.headers, delivered.arrival.body.replace(b"lead.created", b"lead.deleted"))
    with pytest.raises(VERIFIERS[verify]):
        verify(Delivered(changed, delivered.secret))


@pytest.mark.parametrize("verify", VERIFIERS)
def test_another_secret_does_not(delivered: Delivered, verify: Verify) -> None:
    other = "whsec_" + base64.b64encode(bytes(32)).decode()
    with pytest.raises(VERIFIERS[verify]):
        verify(Delivered(delivered.arrival, other))


@pytest.mark.parametrize("verify", VERIFIERS)
def test_one_that_is_301_seconds_old_does_not(delivered: Delivered, verify: Verify) -> None:
    with pytest.raises(VERIFIERS[verify], match=r"(?i)timestamp|too old|tolerance"):
        verify(delivered.older())


def test_an_old_one_is_signed_rightly(delivered: Delivered) -> None:
    """So that the age alone is what the verifiers refuse."""
    older = delivered.older()
    header = older.arrival.headers["x-service-signature"]
    stripe.WebhookSignature.verify_header(older.arrival.body.decode(), header, older.secret, tolerance=400)


def test_the_headers_of_a_delivery(delivered: Delivered) -> None:
    headers = delivered.arrival.headers
    document = json.loads(delivered.arrival.body)
    assert list(document) == ["id", "event", "data", "sentAt"]
    assert document["id"] == headers["x-service-delivery"] == headers["webhook-id"]
    assert (headers["x-service-event"], headers["content-type"]) == ("lead.created", "application/json")
    assert headers["user-agent"].startswith("gatewayd/")
    assert headers["x-service-signature"].startswith(f"t={headers['webhook-timestamp']},v1=")
