"""Deliveries of the running daemon, verified by the packages that receivers use, unchanged."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from gatewayd.webhooks.signature import TOLERANCE_SECONDS, signed_headers, verify
from tests.clients.programs import run_node, run_python
from tests.daemon.hooks import Arrival, Hooks, make_authority, receiving, webhook_settings
from tests.daemon.instance import Firm, Instance, Running, serving, until

OTHER_SECRET = "whsec_" + base64.b64encode(bytes(32)).decode()
UPDATE = "/api/rpc/webhooks/subscriptions/update"
LIBRARIES = ("stripe", "standardwebhooks", "svix")

FORGED = "signature"
STALE = "age"
REASONS = {FORGED: r"(?i)no (matching )?signatures? found", STALE: r"(?i)timestamp (too old|outside the tolerance)"}
ERRORS = {
    "pypi stripe": "SignatureVerificationError",
    "npm stripe": "StripeSignatureVerificationError",
    **dict.fromkeys(
        [f"{registry} {name}" for registry in ("pypi", "npm") for name in LIBRARIES[1:]], "WebhookVerificationError"
    ),
}
"""How each package says that a delivery is not to be believed."""


class Captured(NamedTuple):
    """What receivers got of one subscription, before, during and after the rotation of its secret, and once again."""

    before: Arrival
    during: Arrival
    after: Arrival
    again: Arrival
    old_secret: str
    new_secret: str


class Case(NamedTuple):
    """One delivery as a receiver looks at it; `age` is what its clock makes of it, in seconds, None the real age."""

    arrival: Arrival
    secret: str
    age: int | None = None

    def document(self, name: str) -> dict[str, Any]:
        """As the programs beside this file read it."""
        at = None if self.age is None else int(self.arrival.headers["webhook-timestamp"]) + self.age
        body = base64.b64encode(self.arrival.body).decode()
        return {"name": name, "headers": self.arrival.headers, "body": body, "secret": self.secret, "at": at}


class Expected(NamedTuple):
    """What a verifier must make of a case: `refused` is None where it believes the delivery."""

    case: Callable[[Captured], Case]
    refused: str | None = None


def changed(arrival: Arrival) -> Arrival:
    """One bit of one byte differs."""
    body = bytearray(arrival.body)
    body[len(body) // 2] ^= 1
    return Arrival(arrival.headers, bytes(body))


def signed_by_another(arrival: Arrival) -> Arrival:
    """The same body, at the same second, signed by somebody who does not know the secret."""
    message_id, timestamp = arrival.headers["webhook-id"], int(arrival.headers["webhook-timestamp"])
    signed = signed_headers((OTHER_SECRET,), message_id, timestamp, arrival.body)
    return Arrival(arrival.headers | {name.lower(): value for name, value in signed}, arrival.body)


EXPECTED: Mapping[str, Expected] = {
    "a fresh one": Expected(lambda got: Case(got.before, got.old_secret)),
    "during a rotation, with the old secret": Expected(lambda got: Case(got.during, got.old_secret)),
    "during a rotation, with the new secret": Expected(lambda got: Case(got.during, got.new_secret)),
    "after a rotation, with the new secret": Expected(lambda got: Case(got.after, got.new_secret)),
    "after a rotation, with the old secret": Expected(lambda got: Case(got.after, got.old_secret), FORGED),
    "sent again": Expected(lambda got: Case(got.again, got.new_secret)),
    "sent again, one byte changed": Expected(lambda got: Case(changed(got.again), got.new_secret), FORGED),
    "before a rotation, with the new secret": Expected(lambda got: Case(got.before, got.new_secret), FORGED),
    "one byte changed": Expected(lambda got: Case(changed(got.before), got.old_secret), FORGED),
    "with another secret": Expected(lambda got: Case(got.before, OTHER_SECRET), FORGED),
    "signed by another": Expected(lambda got: Case(signed_by_another(got.before), got.old_secret), FORGED),
    "300 seconds old": Expected(lambda got: Case(got.before, got.old_secret, TOLERANCE_SECONDS)),
    "301 seconds old": Expected(lambda got: Case(got.before, got.old_secret, TOLERANCE_SECONDS + 1), STALE),
    "301 seconds old, during a rotation": Expected(
        lambda got: Case(got.during, got.new_secret, TOLERANCE_SECONDS + 1), STALE
    ),
}

Verdicts = Mapping[str, Mapping[str, list[str] | None]]


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Captured]:
    """Three deliveries that one daemon made over TLS, and a replay of the first."""
    directory = tmp_path_factory.mktemp("delivering")
    authority, ca_file = make_authority(directory)
    instance = Instance(directory, webhook_settings(ca_file))
    firm = instance.firm()
    with receiving(authority) as hooks, serving(instance) as running:
        request = {"url": hooks.url, "events": ["lead.created"]}
        made = asked(running, firm, "/api/rpc/webhooks/subscriptions", request)
        before = delivered(running, firm, hooks)
        rotated = asked(running, firm, UPDATE, {"id": made["id"], "rotateSecret": True})
        during = delivered(running, firm, hooks)
        asked(running, firm, UPDATE, {"id": made["id"], "endRotation": True})
        after = delivered(running, firm, hooks)
        again = resent(running, firm, hooks, before.delivery_id)
        yield Captured(before, during, after, again, made["secret"], rotated["secret"])
        assert running.end() == 0


def asked(running: Running, firm: Firm, path: str, request: object) -> dict[str, Any]:
    """The answer to an operation that must succeed."""
    answer = running.call(firm.key, "POST", path, request)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def delivered(running: Running, firm: Firm, hooks: Hooks) -> Arrival:
    """The delivery of a lead that is made now."""
    so_far = len(hooks.arrivals)
    lead = asked(running, firm, "/api/rpc/crm/createLead", {"source": "Über uns"})
    arrival = hooks.wait_for(so_far + 1)[so_far]
    assert json.loads(arrival.body)["data"]["lead_id"] == lead["id"]
    return arrival


def resent(running: Running, firm: Firm, hooks: Hooks, delivery_id: str) -> Arrival:
    """A finished delivery, sent again now; one of a replay, so that there is a chain of them."""
    for _ in range(2):
        until(lambda: ended(running, firm, delivery_id))  # noqa: B023 - called at once
        so_far = len(hooks.arrivals)
        delivery_id = asked(running, firm, "/api/rpc/webhooks/deliveries/resend", {"id": delivery_id})["id"]
        arrival = hooks.wait_for(so_far + 1)[so_far]
    return arrival


def ended(running: Running, firm: Firm, delivery_id: str) -> bool:
    """Whether a delivery is on record as arrived."""
    answer = running.call(firm.key, "GET", f"/api/rpc/webhooks/deliveries/{delivery_id}")
    return bool(answer.json()["status"] == "succeeded")


@pytest.fixture(scope="module")
def documents(captured: Captured) -> list[dict[str, Any]]:
    return [expected.case(captured).document(name) for name, expected in EXPECTED.items()]


@pytest.fixture(scope="module")
def pypi(documents: list[dict[str, Any]]) -> Verdicts:
    verdicts: Verdicts = run_python("verify_webhooks.py", documents)
    return verdicts


@pytest.fixture(scope="module")
def npm(documents: list[dict[str, Any]]) -> Verdicts:
    verdicts: Verdicts = run_node("verify_webhooks.mjs", documents)
    return verdicts


def check(library: str, name: str, verdict: list[str] | None) -> None:
    """Believed, or refused for the right reason."""
    refused = EXPECTED[name].refused
    if refused is None:
        assert verdict is None
    else:
        assert verdict is not None, "it was believed"
        assert verdict[0] == ERRORS[library]
        assert re.search(REASONS[refused], verdict[1])


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("library", LIBRARIES)
def test_verified_by_a_package_of_python(pypi: Verdicts, library: str, name: str) -> None:
    check(f"pypi {library}", name, pypi[library][name])


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("library", LIBRARIES)
def test_verified_by_a_package_of_node(npm: Verdicts, library: str, name: str) -> None:
    check(f"npm {library}", name, npm[library][name])


def test_the_headers_of_a_delivery(captured: Captured) -> None:
    headers = captured.before.headers
    document = json.loads(captured.before.body)
    assert list(document) == ["id", "event", "data", "sentAt", "eventId", "sequence"]
    assert document["id"] == headers["x-service-delivery"] == headers["webhook-id"]
    assert (headers["x-service-event"], headers["content-type"]) == ("lead.created", "application/json")
    assert headers["user-agent"].startswith("gatewayd/")
    assert headers["x-service-signature"].startswith(f"t={headers['webhook-timestamp']},v1=")


def test_a_replay_of_a_replay_is_known_by_the_first_delivery(captured: Captured) -> None:
    first, again = captured.before, captured.again
    assert again.body == first.body
    assert again.headers["webhook-id"] == again.headers["x-service-replayed-from"] == first.delivery_id
    assert again.delivery_id != first.delivery_id
    assert "x-service-replayed-from" not in first.headers


def test_what_is_sent_again_verifies_as_the_specification_says(captured: Captured) -> None:
    again = captured.again
    now = int(again.headers["webhook-timestamp"])
    verify(again.headers["x-service-signature"], again.body, captured.new_secret, now=now)


def test_a_rotation_signs_twice_and_its_end_once(captured: Captured) -> None:
    signatures = [arrival.headers["x-service-signature"].count("v1=") for arrival in captured[:3]]
    assert signatures == [1, 2, 1]
    assert [arrival.headers["webhook-signature"].count("v1,") for arrival in captured[:3]] == [1, 2, 1]
