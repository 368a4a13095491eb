"""The record of each attempt: what stands in it, what never does, and that none is missing."""

import json
from dataclasses import replace

import msgspec
import pytest
import trio
from trio.testing import MockClock

from gatewayd.clock import to_wire
from gatewayd.store.sqlite import schema
from gatewayd.webhooks.queue import attempts
from gatewayd.webhooks.queue.attempts import Attempt
from gatewayd.webhooks.sender import AttemptResult, Headers
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.signature import confidential_texts, signed_headers
from tests.support.store import START, MemoryStore
from tests.support.subscribing import subscribe
from tests.support.wire import read_as
from tests.webhooks.harness import DelayedResult, Harness, no_response, response

URL = "https://receiver.example/hooks"
LEASE_SECONDS = WebhookSettings().lease / 1_000_000


def rendered(result: AttemptResult, *redacted: str) -> Attempt:
    return read_as(attempts.render_completed(1, START, result, redacted), Attempt)


# -- what stands in one


def test_an_attempt_tells_what_was_answered_and_where_the_time_went() -> None:
    result = response(503, headers=(("retry-after", "5"), ("x", "grün")), body="später".encode())
    assert msgspec.json.decode(attempts.render_completed(3, START, result, ())) == {
        "attempt": 3,
        "startedAt": "2026-11-20T09:30:00.000Z",
        "durationMs": 20,
        "responseCode": 503,
        "error": "http_5xx",
        "timings": {"send": 50, "headers": 19_000, "body": 950},
        "responseHeaders": [{"name": "retry-after", "value": "5"}, {"name": "x", "value": "grün"}],
        "responseBody": "später",
        "reusedConnection": True,
    }


def test_an_attempt_that_ended_on_our_side_has_no_answer() -> None:
    record = read_as(attempts.render_aborted(2, START, "interrupted"), Attempt)
    assert (record.error, record.duration_ms, record.response_code) == ("interrupted", None, None)
    assert (record.timings, record.response_headers, record.response_body) == (attempts.Timings(), [], "")


def test_a_2xx_whose_body_broke_says_how() -> None:
    record = rendered(response(200, body=b"half", body_error="connection"))
    assert (record.error, record.body_error, record.response_body) == (None, "connection", "half")


def test_every_phase_has_a_place() -> None:
    phases = ("dns", "connect", "tls", "send", "headers", "body")
    timed = replace(response(200), timings=tuple((name, number) for number, name in enumerate(phases)))
    shown = msgspec.json.decode(attempts.render_completed(1, START, timed, ()))["timings"]
    assert shown == {name: number for number, name in enumerate(phases)}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", ""),
        (b"\xff\xfeok\x00", "��ok\x00"),
        (b"a" * 20_000, "a" * 16_384),
        ('{"error":"\u2028"}'.encode(), '{"error":"\u2028"}'),
    ],
)
def test_any_bytes_of_a_body_are_shown_as_text(body: bytes, text: str) -> None:
    assert rendered(response(200, body=body)).response_body == text


def test_headers_are_kept_up_to_a_limit() -> None:
    headers: Headers = tuple((f"h{number}", "v" * 1_000) for number in range(20))
    stored = rendered(response(200, headers=headers)).response_headers
    assert [(header.name, header.value) for header in stored] == list(headers[:8])
    assert sum(len(header.name) + len(header.value) for header in stored) <= attempts.HEADER_CHARACTERS_STORED


def test_what_is_confidential_is_taken_out_where_a_receiver_sends_it_back() -> None:
    secrets = ["whsec_" + "bmV3" * 10 + "bmV/", "whsec_" + "b2xk" * 10 + "b2x+"]
    signed = signed_headers(secrets, "wdlv_1", 1_700_000_000, b"{}")
    echoed = "\n".join([*secrets, *[value for _, value in signed]])
    result = response(200, headers=signed, body=echoed.encode())
    wire = attempts.render_completed(1, START, result, confidential_texts(secrets, signed)).decode()
    redacted = confidential_texts(secrets, signed)
    assert len(redacted) == 6  # of each of two secrets: itself, and its signature in both dialects
    assert [text for text in redacted if text in wire] == []
    assert "wdlv_1" in wire
    assert read_as(wire, Attempt).response_body.startswith("whsec_[removed]\n")


def test_attempts_of_before_the_migration_show_their_headers_as_objects(store: MemoryStore) -> None:
    """Nothing else of a record changes, whatever the texts in it are."""
    odd = 'a\\"\x00\u2028],"responseBody":"x",[["é","grün"]],"responseHeaders":[["'
    for headers in ((), (("x", odd),), (("retry-after", "5"), ("x", odd), (odd, ""))):
        wire = attempts.render_completed(3, START, response(503, headers=headers, body=odd.encode()), ())
        before = json.loads(wire)
        before["responseHeaders"] = [[header["name"], header["value"]] for header in before["responseHeaders"]]
        assert migrated(store, msgspec.json.encode(before)) == wire


def migrated(store: MemoryStore, wire: bytes) -> bytes:
    (sql,) = [each.sql for each in schema.packaged() if each.name.endswith("_name_headers_of_attempts.sql")]
    store.connection.execute("PRAGMA foreign_keys = 0")
    store.connection.execute("DELETE FROM delivery_attempts")
    values = ("wdlv_1", 1, "org_1", wire)
    store.connection.execute(
        "INSERT INTO delivery_attempts (delivery_id, attempt, org_id, wire) VALUES (?, ?, ?, ?)", values
    )
    store.connection.execute(sql)
    after: bytes = store.connection.execute("SELECT wire FROM delivery_attempts").fetchone()[0]
    return after


# -- that they are on record


async def test_each_attempt_is_recorded_with_its_delivery(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(
        URL, response(500, body=b"no"), no_response("dns", 3), RuntimeError("a defect"), response(204)
    )
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "succeeded", 400)
    (delivery,) = harness.records(made.id)
    log = harness.attempts(delivery["id"])
    assert [one["attempt"] for one in log] == [1, 2, 3, 4]
    assert [(one["responseCode"], one["error"]) for one in log] == [
        (500, "http_5xx"),
        (None, "dns"),
        (None, "internal"),
        (204, None),
    ]
    assert [one["startedAt"] for one in log[:2]] == [to_wire(post.at) for post in harness.sender.posts[:2]]
    assert (log[-1]["startedAt"], log[-1]["durationMs"]) == (delivery["lastAttemptAt"], delivery["durationMs"])


async def test_an_echoed_signature_is_not_on_record(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(200, body=made.secret.encode()))
    harness.emit()
    async with harness.dispatching():
        await harness.until(lambda: harness.records(made.id)[0]["status"] == "succeeded", 5)
    (log,) = harness.attempts(harness.records(made.id)[0]["id"])
    assert log["responseBody"] == "whsec_[removed]"


async def test_an_attempt_whose_lease_ran_out_is_recorded_as_interrupted(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, DelayedResult(trio.Event(), response(200)))
    harness.emit()
    for _ in range(17):
        harness.outbox.failing = 0
        async with trio.open_nursery() as nursery:
            await nursery.start(harness.dispatcher(WebhookSettings(stop_seconds=0)).run)
            await trio.sleep(1)
            harness.outbox.failing = 1  # the process dies before it can record
            nursery.cancel_scope.cancel()
        await trio.sleep(LEASE_SECONDS)
    (delivery,) = harness.records(made.id)
    log = harness.attempts(delivery["id"])
    assert delivery["status"] == "exhausted"
    assert [(one["attempt"], one["error"]) for one in log] == [(n, "interrupted") for n in range(1, 17)]
    assert [one["startedAt"] for one in log] == [to_wire(post.at) for post in harness.sender.posts]
    ((level, event, values),) = [line for line in harness.log.lines if line[1] == "delivery_exhausted"]
    assert (level, event, values["delivery_id"]) == ("warning", "delivery_exhausted", delivery["id"])


async def test_an_attempt_broken_off_by_a_stop_is_recorded_as_interrupted(
    autojump_clock: MockClock, harness: Harness
) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, DelayedResult(trio.Event(), response(200)))
    harness.emit()
    async with harness.dispatching(harness.dispatcher(WebhookSettings(stop_seconds=1))):
        await harness.until(lambda: len(harness.sender.posts) == 1, 1)
    (log,) = harness.attempts(harness.records(made.id)[0]["id"])
    assert (log["attempt"], log["error"]) == (1, "interrupted")


async def test_what_is_no_longer_the_deliverys_is_not_recorded(autojump_clock: MockClock, harness: Harness) -> None:
    """Cancelled while it was in the air: its record stays as it was decided."""
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, 5.0)
    harness.emit()
    cancel = """
    UPDATE deliveries SET status = 'cancelled', in_flight = 0, due_at = NULL, completed_at = :now
    WHERE org_id = :org_id
    """
    async with harness.dispatching():
        await harness.until(lambda: len(harness.sender.posts) == 1, 1)
        harness.memory.write(lambda tx: tx.run(cancel), harness.org_id)
        await trio.sleep(10)
    (delivery,) = harness.records(made.id)
    assert (delivery["status"], harness.attempts(delivery["id"])) == ("cancelled", [])


async def test_attempts_are_shown_to_their_organization_alone(autojump_clock: MockClock, harness: Harness) -> None:
    made = subscribe(harness.memory, harness.org_id, URL)
    harness.sender.script(URL, response(500), response(200))
    harness.emit(3)
    async with harness.dispatching():
        await harness.until(lambda: {one["status"] for one in harness.records(made.id)} == {"succeeded"}, 100)
    ids = [one["id"] for one in harness.records(made.id)]
    read, other = harness.memory.read, harness.memory.org("Other Ltd")
    asked = [*ids, "wdlv_unknown"]
    logs = read(lambda tx: [attempts.of_delivery(tx, one) for one in asked], harness.org_id)
    assert sorted(len(log) for log in logs) == [0, 1, 1, 2]
    assert read(lambda tx: [attempts.of_delivery(tx, one) for one in asked], other) == [[], [], [], []]
