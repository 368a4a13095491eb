"""Every refusal is a problem document that says what is wrong, over real HTTP."""

from collections.abc import Callable
from typing import Any, NamedTuple

import httpx
import pytest

from gatewayd.clock import SystemClock
from gatewayd.identity import audit
from gatewayd.identity.key_format import RANDOM_BYTES, make_key
from gatewayd.identity.keys import api_keys
from tests.daemon.conftest import Shared
from tests.daemon.instance import Instance, serving

INVOICES = "/api/rpc/invoices"
LEADS = "/api/rpc/crm/createLead"
DELIVERIES = "/api/rpc/webhooks/subscriptions/{}/deliveries"


class Refusal(NamedTuple):
    """What the caller is to be told; `field` is the path of the first field that is wrong, with its code."""

    status: int
    code: str
    field: tuple[str, str] | None = None


def assert_refused(answer: httpx.Response, refusal: Refusal) -> dict[str, Any]:
    document: dict[str, Any] = answer.json()
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    assert (answer.status_code, document["status"], document["code"]) == (refusal.status, *refusal[:2]), answer.text
    assert document["message"].strip()
    assert document["title"].strip()
    assert document["requestId"]
    assert document["requestId"] == answer.headers["x-request-id"]
    if refusal.field is not None:
        first = document["errors"][0]
        assert (first["path"], first["code"]) == refusal.field
        assert first["message"].strip()
    return document


def invoice(shared: Shared, **changes: object) -> dict[str, object]:
    return {"clientId": shared.firm.client_id, "lines": [{"description": "Door", "unitPrice": "10.00"}], **changes}


def test_without_a_key(shared: Shared) -> None:
    answer = shared.running.client.get(INVOICES)
    assert_refused(answer, Refusal(401, "authentication_required"))
    assert answer.headers["www-authenticate"].startswith("Bearer")


def expired(shared: Shared) -> str:
    now = SystemClock().now()
    made = shared.instance.key(shared.firm.org_id, shared.firm.user_id, expires_at=now + 60_000_000)
    shared.instance.write(lambda tx: tx.run("UPDATE api_keys SET expires_at = :now - 1 WHERE id = :id", id=made.id))
    return made.key


def revoked(shared: Shared) -> str:
    made = shared.instance.key(shared.firm.org_id, shared.firm.user_id)
    shared.instance.write(lambda tx: api_keys.revoke(tx, made.id, audit.OPERATOR), shared.firm.org_id)
    return made.key


def unknown(shared: Shared) -> str:
    return make_key(bytes(RANDOM_BYTES))


def mistyped(shared: Shared) -> str:
    key = shared.firm.key
    return key[:10] + ("a" if key[10] != "a" else "b") + key[11:]


def cut_off(shared: Shared) -> str:
    return shared.firm.key[:-1]


def something_else(shared: Shared) -> str:
    return "hunter2"


@pytest.mark.parametrize("key", [expired, revoked, unknown, mistyped, cut_off, something_else])
def test_a_wrong_key(shared: Shared, key: Callable[[Shared], str]) -> None:
    text = key(shared)
    answer = shared.running.call(text, "GET", INVOICES)
    document = assert_refused(answer, Refusal(401, "invalid_token"))
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert text not in answer.text
    assert ("checksum" in document["message"]) == (key in (mistyped, cut_off))


def test_a_scope_that_is_missing(shared: Shared) -> None:
    reader = shared.instance.key(shared.firm.org_id, shared.firm.user_id, ["accounting:read"]).key
    assert shared.running.call(reader, "GET", INVOICES).status_code == 200
    answer = shared.running.call(reader, "POST", INVOICES, invoice(shared))
    document = assert_refused(answer, Refusal(403, "insufficient_scope"))
    assert "accounting:write" in document["message"]
    assert "accounting:write" in answer.headers["www-authenticate"]


def test_what_belongs_to_another_organization_is_not_there(shared: Shared) -> None:
    other = shared.instance.firm("Larch Ltd")
    made = shared.running.call(
        other.key,
        "POST",
        "/api/rpc/webhooks/subscriptions",
        {"url": "https://h.example.com", "events": ["lead.created"]},
    ).json()
    path = DELIVERIES.format(made["id"])
    assert shared.running.call(other.key, "GET", path).status_code == 200
    theirs = assert_refused(shared.running.call(shared.firm.key, "GET", path), Refusal(404, "not_found"))
    nobodys = shared.running.call(shared.firm.key, "GET", DELIVERIES.format("whk_01k0000000000000000000000a"))
    assert assert_refused(nobodys, Refusal(404, "not_found"))["message"] == theirs["message"]
    foreign = shared.running.call(shared.firm.key, "POST", INVOICES, invoice(shared, clientId=other.client_id))
    assert_refused(foreign, Refusal(422, "validation_failed", ("clientId", "unknown_reference")))


def test_an_id_of_the_wrong_kind(shared: Shared) -> None:
    answer = shared.running.call(shared.firm.key, "POST", INVOICES, invoice(shared, clientId=shared.firm.org_id))
    assert_refused(answer, Refusal(422, "validation_failed", ("clientId", "unknown_reference")))
    path = DELIVERIES.format(shared.firm.client_id)
    assert_refused(shared.running.call(shared.firm.key, "GET", path), Refusal(404, "not_found"))


FIELDS: dict[str, tuple[dict[str, object], Refusal]] = {
    "an unknown field": ({"colour": "red"}, Refusal(400, "unknown_parameter", ("colour", "unknown_parameter"))),
    "an unknown field deep down": (
        {"lines": [{"description": "Door", "unitPrice": "1.00", "price": "2"}]},
        Refusal(400, "unknown_parameter", ("lines[0].price", "unknown_parameter")),
    ),
    "a number where a decimal text belongs": (
        {"lines": [{"description": "Door", "unitPrice": 10.5}]},
        Refusal(422, "validation_failed", ("lines[0].unitPrice", "invalid_decimal")),
    ),
    "a text that is no decimal": (
        {"lines": [{"description": "Door", "unitPrice": "ten"}]},
        Refusal(422, "validation_failed", ("lines[0].unitPrice", "invalid_decimal")),
    ),
    "due before it was issued": (
        {"issueDate": "2026-03-02", "dueDate": "2026-03-01"},
        Refusal(422, "validation_failed", ("dueDate", "date_order")),
    ),
    "a day that is not": (
        {"issueDate": "2026-02-30"},
        Refusal(422, "validation_failed", ("issueDate", "invalid_format")),
    ),
    "a status that is not": ({"status": "lost"}, Refusal(422, "validation_failed", ("status", "invalid_enum"))),
    "no lines": ({"lines": []}, Refusal(422, "validation_failed", ("lines", "out_of_range"))),
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_that_is_wrong(shared: Shared, name: str) -> None:
    changes, refusal = FIELDS[name]
    assert_refused(shared.running.call(shared.firm.key, "POST", INVOICES, invoice(shared, **changes)), refusal)


BODIES: dict[str, tuple[bytes, str, Refusal]] = {
    "no json": (b"{source: web}", "application/json", Refusal(400, "invalid_json")),
    "cut off": (b'{"source": "we', "application/json", Refusal(400, "invalid_json")),
    "not utf-8": (b'{"source": "\xff"}', "application/json", Refusal(400, "invalid_json")),
    "nothing": (b"", "application/json", Refusal(422, "validation_failed", ("source", "required"))),
    "a form": (b"source=web", "application/x-www-form-urlencoded", Refusal(415, "unsupported_media_type")),
    "too much": (b'{"source": "%b"}' % (b"x" * 1_100_000), "application/json", Refusal(413, "payload_too_large")),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_wrong(shared: Shared, name: str) -> None:
    body, kind, refusal = BODIES[name]
    headers = {"Authorization": f"Bearer {shared.firm.key}", "Content-Type": kind}
    assert_refused(shared.running.client.post(LEADS, content=body, headers=headers), refusal)


def test_an_idempotency_key_with_another_body(shared: Shared) -> None:
    once = {"Idempotency-Key": "order-4711"}
    first = shared.running.call(shared.firm.key, "POST", LEADS, {"source": "web"}, once)
    again = shared.running.call(shared.firm.key, "POST", LEADS, {"source": "web"}, once)
    assert (first.status_code, again.content) == (200, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    other = shared.running.call(shared.firm.key, "POST", LEADS, {"source": "fair"}, once)
    assert_refused(other, Refusal(409, "idempotency_conflict"))


def test_paths_methods_and_parameters(shared: Shared) -> None:
    key, call = shared.firm.key, shared.running.call
    assert_refused(call(key, "GET", "/api/rpc/nothing"), Refusal(404, "not_found"))
    answer = call(key, "DELETE", INVOICES)
    assert_refused(answer, Refusal(405, "method_not_allowed"))
    assert "GET" in answer.headers["allow"]
    assert_refused(call(key, "GET", f"{INVOICES}?colour=red"), Refusal(400, "unknown_parameter"))
    assert_refused(call(key, "GET", f"{INVOICES}?cursor=nonsense"), Refusal(400, "invalid_cursor"))
    assert_refused(
        call(key, "GET", f"{INVOICES}?limit=0"), Refusal(422, "validation_failed", ("limit", "out_of_range"))
    )
    assert_refused(call(key, "GET", INVOICES, headers={"Accept": "text/html"}), Refusal(406, "not_acceptable"))
    assert_refused(call(key, "POST", "/healthz"), Refusal(405, "method_not_allowed"))


def test_too_many_requests(tmp_path_factory: pytest.TempPathFactory) -> None:
    instance = Instance(tmp_path_factory.mktemp("limited"), "[limits]\nrequests_per_minute = 10\n")
    firm = instance.firm()
    with serving(instance) as running:
        answers = [running.call(firm.key, "GET", INVOICES) for _ in range(30)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert answers[0].status_code == 200
        assert refused
        assert_refused(refused[0], Refusal(429, "rate_limited"))
        assert int(refused[0].headers["retry-after"]) > 0
        assert running.end() == 0
