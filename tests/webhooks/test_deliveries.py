"""Delivery records and the queue's statements: what the list shows, and what a row becomes."""

import re
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from gatewayd import events
from gatewayd.clock import SECOND, Instant
from gatewayd.errors import Problem
from gatewayd.webhooks import deliveries
from gatewayd.webhooks.deliveries import GetDelivery, Include, ListDeliveries
from gatewayd.webhooks.queue import attempts, claims, delivery_queue
from gatewayd.webhooks.queue.claims import FIRST, ClaimResult, Slots
from gatewayd.webhooks.queue.delivery_queue import Completion
from gatewayd.webhooks.settings import WebhookSettings
from tests.support.store import START, MemoryStore, make_caller
from tests.support.subscribing import emit, subscribe
from tests.webhooks.ended_deliveries import finish, request_time

URL = "https://receiver.example/hooks"
SETTINGS = WebhookSettings()
LEASE = SETTINGS.lease
_DELIVERY_IDS = "SELECT id FROM deliveries WHERE org_id = :org_id"


def listed(store: MemoryStore, org_id: str, request: ListDeliveries) -> tuple[list[dict[str, Any]], str | None]:
    caller = make_caller(org_id)
    page = store.read(lambda tx: deliveries.list_deliveries(tx, caller, request, max_attempts=8), org_id)
    return msgspec.json.decode(page.data), page.next_cursor


def claim(
    store: MemoryStore,
    *,
    free: int = 64,
    after: str = FIRST,
    in_flight: dict[str, int] | None = None,
    under_way: frozenset[str] = frozenset(),
) -> ClaimResult:
    slots = Slots(free, in_flight or {}, under_way, after)
    return store.write(lambda tx: claims.claim_due(tx, slots, SETTINGS, store.clock.now()))


def complete(store: MemoryStore, one: claims.Claim, status: str, due_at: int | None = None) -> bool:
    completion = Completion(
        delivery_id=one.delivery_id,
        org_id=one.org_id,
        attempt=one.attempt,
        status=status,
        due_at=None if due_at is None else Instant(due_at),
        response_code=200 if status == "succeeded" else 503,
        error=None if status == "succeeded" else "http_5xx",
        duration_ms=12,
        interrupted=False,
    )
    return store.write(lambda tx: delivery_queue.complete(tx, completion, store.clock.now()))


def got(store: MemoryStore, org_id: str, delivery_id: str, include: Include | None = None) -> bytes:
    request = GetDelivery(delivery_id=delivery_id, include=include)
    caller = make_caller(org_id)
    return store.read(lambda tx: deliveries.get_delivery(tx, caller, request, max_attempts=8), org_id)


def log_attempts(store: MemoryStore, org_id: str, delivery_id: str, count: int) -> None:
    rows = [(delivery_id, n, org_id, attempts.render_aborted(n, START, "timeout")) for n in range(1, count + 1)]
    store.write(lambda tx: attempts.insert(tx, rows), org_id)


# -- the list


def test_a_new_delivery_is_pending_and_due_at_once(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    ((record,), cursor) = listed(store, org_id, ListDeliveries(id=made.id))
    assert cursor is None
    assert record == {
        "id": record["id"],
        "subscriptionId": made.id,
        "event": "lead.created",
        "status": "pending",
        "attempts": 0,
        "maxAttempts": 8,
        "interruptions": 0,
        "responseCode": None,
        "lastError": None,
        "lastAttemptAt": None,
        "nextAttemptAt": "2026-11-20T09:30:00.000Z",
        "createdAt": "2026-11-20T09:30:00.000Z",
        "completedAt": None,
        "durationMs": None,
        "replayedFrom": None,
        "originalId": None,
        "test": False,
    }
    assert record["id"].startswith("wdlv_")


def test_an_attempt_under_way_is_counted_and_has_no_next_one(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    claim(store)
    ((record,), _) = listed(store, org_id, ListDeliveries(id=made.id))
    assert (record["status"], record["attempts"], record["nextAttemptAt"]) == ("pending", 1, None)
    assert record["lastAttemptAt"] == "2026-11-20T09:30:00.000Z"


def test_a_failed_and_a_succeeded_attempt_are_recorded(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    (begun,) = claim(store).claims
    assert complete(store, begun, "retrying", START + 30 * SECOND)
    ((record,), _) = listed(store, org_id, ListDeliveries(id=made.id))
    assert (record["status"], record["responseCode"], record["lastError"], record["durationMs"]) == (
        "retrying",
        503,
        "http_5xx",
        12,
    )
    assert (record["nextAttemptAt"], record["completedAt"]) == ("2026-11-20T09:30:30.000Z", None)
    store.clock.advance(30 * SECOND)
    (begun,) = claim(store).claims
    assert complete(store, begun, "succeeded")
    ((record,), _) = listed(store, org_id, ListDeliveries(id=made.id))
    assert (record["status"], record["attempts"], record["lastError"]) == ("succeeded", 2, None)
    assert (record["nextAttemptAt"], record["completedAt"]) == (None, "2026-11-20T09:30:30.000Z")


def test_lists_newest_first_page_by_page_with_filters(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id, 3)
    begun = claim(store).claims
    complete(store, begun[0], "succeeded")
    complete(store, begun[1], "retrying", START + 30 * SECOND)
    everything, _ = listed(store, org_id, ListDeliveries(id=made.id))
    assert [one["status"] for one in everything] == ["pending", "retrying", "succeeded"]
    first, cursor = listed(store, org_id, ListDeliveries(id=made.id, limit=2))
    rest, end = listed(store, org_id, ListDeliveries(id=made.id, limit=2, cursor=cursor))
    assert (first + rest, end) == (everything, None)
    two, _ = listed(store, org_id, ListDeliveries(id=made.id, status=["pending", "succeeded", "pending"]))
    assert [one["status"] for one in two] == ["pending", "succeeded"]
    assert listed(store, org_id, ListDeliveries(id=made.id, event="form.submitted")) == ([], None)
    assert len(listed(store, org_id, ListDeliveries(id=made.id, event="lead.created"))[0]) == 3


def test_invalid_cursor_for_other_filters(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id, 2)
    _, cursor = listed(store, org_id, ListDeliveries(id=made.id, limit=1))
    with pytest.raises(Problem) as refused:
        listed(store, org_id, ListDeliveries(id=made.id, limit=1, cursor=cursor, status=["pending"]))
    assert refused.value.code == "invalid_cursor"


def test_validation_failed_for_an_unknown_event_filter(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    with pytest.raises(Problem) as refused:
        listed(store, org_id, ListDeliveries(id=made.id, event="lead.deleted"))
    assert [(error.path, error.code) for error in refused.value.errors] == [("event", "unknown_event")]


def test_not_found_for_another_organizations_subscription(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    theirs = subscribe(store, other, URL)
    emit(store, other)
    for unknown in (theirs.id, "wsub_nothing"):
        with pytest.raises(Problem) as refused:
            listed(store, org_id, ListDeliveries(id=unknown))
        assert refused.value.code == "not_found"


def test_a_span_holds_what_was_made_from_since_to_before_until(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    moments = []
    for _ in range(4):
        moments.append(request_time(store))
        emit(store, org_id)
        store.clock.advance(90 * SECOND)
    everything = [one["id"] for one in listed(store, org_id, ListDeliveries(id=made.id))[0]]

    def within(since: datetime | None, until: datetime | None) -> list[str]:
        return [one["id"] for one in listed(store, org_id, ListDeliveries(id=made.id, since=since, until=until))[0]]

    assert within(moments[1], moments[3]) == everything[1:3]
    assert within(moments[2], None) == everything[:2]
    assert within(None, moments[1]) == everything[3:]
    assert within(moments[1] + timedelta(microseconds=1), moments[2]) == []


def test_validation_failed_for_a_span_that_ends_before_it_begins(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    request = ListDeliveries(id=made.id, since=request_time(store), until=request_time(store))
    with pytest.raises(Problem) as refused:
        listed(store, org_id, request)
    assert [(error.path, error.code) for error in refused.value.errors] == [("until", "date_order")]


def test_pages_of_several_statuses_go_on_where_one_ended(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id, 12)
    finish(store, org_id, *["exhausted", "cancelled", "succeeded", "exhausted"] * 2)
    wanted: list[deliveries.Status] = ["exhausted", "pending", "cancelled"]
    whole, _ = listed(store, org_id, ListDeliveries(id=made.id, status=wanted))
    ended = ["exhausted", "cancelled", "exhausted", "exhausted", "cancelled", "exhausted"]
    assert [one["status"] for one in whole] == ["pending"] * 4 + ended
    everything, _ = listed(store, org_id, ListDeliveries(id=made.id))
    assert whole == [one for one in everything if one["status"] in wanted]
    found, cursor = [], None
    for _ in range(4):
        page, cursor = listed(store, org_id, ListDeliveries(id=made.id, status=wanted, limit=3, cursor=cursor))
        found += page
    assert (found, cursor) == (whole, None)


def test_pending_ones_are_found_in_a_queue_that_is_long_too(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    assert listed(store, org_id, ListDeliveries(id=made.id, status=["pending"])) == ([], None)
    emit(store, org_id, deliveries.SHORT_QUEUE + 2)
    page, cursor = listed(store, org_id, ListDeliveries(id=made.id, status=["pending"], limit=2))
    assert (len(page), cursor is not None) == (2, True)
    assert page == listed(store, org_id, ListDeliveries(id=made.id, limit=2))[0]


def test_attempts_are_listed_where_they_are_asked_for(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id, 2)
    second, first = (one["id"] for one in listed(store, org_id, ListDeliveries(id=made.id))[0])
    log_attempts(store, org_id, first, 2)
    found, _ = listed(store, org_id, ListDeliveries(id=made.id, include=["attempts"]))
    assert [(one["id"], [each["attempt"] for each in one["attemptLog"]]) for one in found] == [
        (second, []),
        (first, [1, 2]),
    ]
    assert all("attemptLog" not in one for one in listed(store, org_id, ListDeliveries(id=made.id))[0])
    nothing = ListDeliveries(id=made.id, include=["attempts"], status=["succeeded"])
    assert listed(store, org_id, nothing) == ([], None)


def test_a_page_with_long_logs_holds_what_fits_and_goes_on(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id, 5)
    (ids,) = zip(*store.read(lambda tx: tx.rows(_DELIVERY_IDS), org_id), strict=True)
    wires = [b'{"attempt":%d,"responseBody":"%b"}' % (attempt, b"x" * 100_000) for attempt in range(1, 5)]
    rows = [(id_, attempt, org_id, wire) for id_ in ids for attempt, wire in enumerate(wires, 1)]
    store.write(lambda tx: attempts.insert(tx, rows), org_id)
    found: list[dict[str, Any]] = []
    sizes, cursor = [], None
    while cursor is not None or not sizes:
        page, cursor = listed(store, org_id, ListDeliveries(id=made.id, include=["attempts"], cursor=cursor))
        sizes.append(len(page))
        found += page
    assert sizes == [2, 2, 1]  # of 400 kB each
    assert [len(one["attemptLog"]) for one in found] == 5 * [4]
    assert len({one["id"] for one in found}) == 5


def test_a_page_with_attempts_is_short_and_goes_on(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id, deliveries.DETAILED_PAGE + 1)
    first, cursor = listed(store, org_id, ListDeliveries(id=made.id, include=["attempts"]))
    rest, end = listed(store, org_id, ListDeliveries(id=made.id, include=["attempts"], cursor=cursor))
    assert (len(first), len(rest), end) == (deliveries.DETAILED_PAGE, 1, None)


# -- one delivery


def test_a_delivery_is_shown_with_the_very_body_that_is_sent(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id, source='quotes " and é')
    (begun,) = claim(store).claims
    shown = got(store, org_id, begun.delivery_id)
    assert b'"payload":' + begun.body + b"," in shown
    ((record,), _) = listed(store, org_id, ListDeliveries(id=made.id))
    detail = msgspec.json.decode(shown)
    assert {name: detail[name] for name in record} == record
    assert detail.keys() - record.keys() == {"payload", "replays"}
    assert detail["replays"] == []


def test_a_delivery_is_shown_with_its_attempts_where_they_are_asked_for(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    emit(store, org_id)
    (begun,) = claim(store).claims
    log_attempts(store, org_id, begun.delivery_id, 1)
    detail = msgspec.json.decode(got(store, org_id, begun.delivery_id, include=["attempts"]))
    assert [(one["attempt"], one["error"]) for one in detail["attemptLog"]] == [(1, "timeout")]
    assert detail["payload"]["id"] == begun.delivery_id


def test_not_found_for_another_organizations_delivery(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    subscribe(store, other, URL)
    emit(store, other)
    (theirs,) = claim(store).claims
    for unknown in (theirs.delivery_id, "wdlv_nothing"):
        with pytest.raises(Problem) as refused:
            got(store, org_id, unknown)
        assert (refused.value.code, refused.value.message) == ("not_found", "There is no such delivery.")


def test_the_operator_finds_the_organization_of_a_delivery(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    emit(store, org_id)
    (begun,) = claim(store).claims
    assert store.read(lambda tx: deliveries.org_of(tx, begun.delivery_id)) == org_id
    with pytest.raises(Problem) as refused:
        store.read(lambda tx: deliveries.org_of(tx, "wdlv_nothing"))
    assert refused.value.code == "not_found"


# -- claims


def test_a_claim_carries_what_the_attempt_needs_and_hides_the_secret(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    (begun,) = claim(store).claims
    assert (begun.subscription_id, begun.url, begun.event, begun.attempt) == (made.id, URL, "lead.created", 1)
    assert begun.secrets == (made.secret,)
    assert made.secret not in repr(begun)
    event_id = store.read(lambda tx: tx.value("SELECT id FROM events WHERE org_id = :org_id"), org_id)
    assert msgspec.json.decode(begun.body) == {
        "id": begun.delivery_id,
        "event": "lead.created",
        "data": {"lead_id": "lead_0", "source": "website", "status": "new"},
        "sentAt": "2026-11-20T09:30:00.000Z",
        "eventId": event_id,
        "sequence": f"{START}-{event_id}",
    }


def test_two_dispatchers_on_one_database_never_claim_the_same_attempt(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    emit(store, org_id, 6)
    first, second = claim(store), claim(store)
    ids = [one.delivery_id for one in first.claims + second.claims]
    assert len(ids) == len(set(ids)) == 6
    assert claim(store).claims == []


def test_an_attempt_is_begun_again_only_once_its_lease_ran_out(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    (first,) = claim(store).claims
    store.clock.advance(LEASE - 1)
    claimed = claim(store)
    assert (claimed.claims, claimed.next_due) == ([], START + LEASE)
    store.clock.advance(1)
    (second,) = claim(store).claims
    assert (second.delivery_id, second.attempt, second.body) == (first.delivery_id, 2, first.body)
    ((record,), _) = listed(store, org_id, ListDeliveries(id=made.id))
    assert (record["status"], record["attempts"], record["lastError"]) == ("retrying", 2, "interrupted")
    assert record["interruptions"] == 1


def test_the_end_of_an_attempt_that_lost_its_lease_is_not_recorded(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    (first,) = claim(store).claims
    store.clock.advance(LEASE)
    (second,) = claim(store).claims
    assert not complete(store, first, "exhausted")
    assert complete(store, second, "succeeded")
    assert not complete(store, second, "exhausted")
    ((record,), _) = listed(store, org_id, ListDeliveries(id=made.id))
    assert record["status"] == "succeeded"


def test_an_attempt_this_dispatcher_still_makes_is_not_begun_again(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    (first,) = claim(store).claims
    store.clock.advance(LEASE)
    assert claim(store, in_flight={made.id: 1}, under_way=frozenset({first.delivery_id})).claims == []


def test_after_the_last_attempt_an_interrupted_delivery_is_exhausted(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    for attempt in range(1, 17):  # as many again as there are attempts
        (begun,) = claim(store).claims
        assert begun.attempt == attempt
        store.clock.advance(LEASE)
    assert claim(store).claims == []
    ((record,), _) = listed(store, org_id, ListDeliveries(id=made.id))
    assert (record["status"], record["attempts"], record["lastError"]) == ("exhausted", 16, "interrupted")
    assert record["interruptions"] == 16
    assert record["completedAt"] is not None


def test_a_subscription_gets_no_more_than_its_share(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id, 10)
    assert len(claim(store).claims) == 4
    assert len(claim(store, in_flight={made.id: 3}).claims) == 1
    assert claim(store, in_flight={made.id: 4}).claims == []


def test_every_queue_gets_one_before_any_gets_a_second(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, f"https://r{n}.example/") for n in range(3)]
    emit(store, org_id, 4)
    order = [one.subscription_id for one in claim(store).claims]
    assert order == [one.id for one in made] * 4


def test_the_next_look_goes_on_where_the_last_one_stopped(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, f"https://r{n}.example/") for n in range(3)]
    emit(store, org_id, 4)
    after, served = FIRST, []
    for _ in range(5):
        claimed = claim(store, free=1, after=after)
        served += [one.subscription_id for one in claimed.claims]
        after = claimed.after
    assert served == [made[0].id, made[1].id, made[2].id, made[0].id, made[1].id]


def test_the_last_slots_are_kept_for_subscriptions_with_nothing_in_flight(store: MemoryStore) -> None:
    org_id = store.org()
    hanging = [subscribe(store, org_id, f"https://r{n}.example/") for n in range(20)]
    emit(store, org_id, 10)
    first = claim(store)
    assert len(first.claims) == SETTINGS.concurrency - SETTINGS.reserve
    by_subscription = {one.id: 0 for one in hanging}
    for begun in first.claims:
        by_subscription[begun.subscription_id] += 1
    healthy = subscribe(store, org_id, URL, "opportunity.stage_changed")
    emit_moved(store, org_id)
    second = claim(store, free=SETTINGS.reserve, in_flight=by_subscription)
    assert [one.subscription_id for one in second.claims] == [healthy.id]


def test_a_look_that_stopped_early_and_left_room_is_followed_by_another(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, f"https://r{n}.example/") for n in range(20)]
    emit(store, org_id, 10)
    healthy = subscribe(store, org_id, URL, "opportunity.stage_changed")
    emit_moved(store, org_id)
    busy = {one.id: 1 for one in made}
    claimed = claim(store, free=18, in_flight=busy)
    assert len(claimed.claims) == 2
    assert claimed.next_due == START
    again = claim(store, free=16, in_flight=busy, after=claimed.after)
    assert [one.subscription_id for one in again.claims] == [healthy.id]
    assert again.next_due is None


def test_a_disabled_subscription_keeps_its_queue_unsent(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    sql = """
    UPDATE webhook_subscriptions SET enabled = 0, disabled_reason = 'caller', disabled_at = :now WHERE org_id = :org_id
    """
    store.write(lambda tx: tx.run(sql), org_id)
    claimed = claim(store)
    assert (claimed.claims, claimed.next_due) == ([], None)
    assert listed(store, org_id, ListDeliveries(id=made.id))[0][0]["status"] == "pending"


def test_the_queue_of_a_deleted_subscription_is_cancelled_when_it_is_met(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    emit(store, org_id, delivery_queue.CANCEL_AT_ONCE + 1)
    store.write(lambda tx: tx.run("DELETE FROM webhook_subscriptions WHERE org_id = :org_id"), org_id)
    sql = "SELECT COUNT(*) FROM deliveries WHERE org_id = :org_id AND status = 'cancelled'"
    for cancelled in (delivery_queue.CANCEL_AT_ONCE, delivery_queue.CANCEL_AT_ONCE + 1):
        assert claim(store).claims == []
        assert store.read(lambda tx: tx.value(sql), org_id) == cancelled
    assert claim(store).next_due is None


def test_a_clock_set_back_does_not_hold_what_it_had_made_due(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    emit(store, org_id)
    (begun,) = claim(store).claims
    complete(store, begun, "retrying", START + 30 * SECOND)
    store.clock.advance(-3600 * SECOND)
    assert claim(store).claims == []  # the wait keeps its length, from now on
    assert claim(store).next_due == store.clock.now() + 30 * SECOND
    store.clock.advance(30 * SECOND)
    assert [one.attempt for one in claim(store).claims] == [2]


def test_a_clock_set_back_does_not_hold_what_was_never_tried(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    emit(store, org_id)
    store.clock.advance(-3600 * SECOND)
    claimed = claim(store)
    assert (claimed.claims, claimed.next_due) == ([], store.clock.now())
    assert len(claim(store).claims) == 1


@pytest.mark.parametrize(
    ("sql", "index"),
    [
        (delivery_queue._NEXT_HEAD, "deliveries_queue"),
        (delivery_queue._SELECT_DUE, "deliveries_queue"),
        (delivery_queue._REWIND, "deliveries_queue"),
        (delivery_queue._CANCEL, "deliveries_queue"),
        (deliveries._SELECT_PAGE + deliveries._NEWEST_FIRST, "deliveries_of_subscription"),
        *(
            (deliveries._SELECT_PAGE + deliveries._OF_STATUS[status] + deliveries._NEWEST_FIRST, "deliveries_troubled")
            for status in ("retrying", "exhausted", "cancelled")
        ),
        (deliveries._OLDEST_WAITING, "deliveries_queue"),
    ],
)
def test_each_statement_goes_through_its_index_and_sorts_nothing(store: MemoryStore, sql: str, index: str) -> None:
    bound = dict.fromkeys(re.findall(r":([a-z_]+)", sql), 1)
    plan = [row[3] for row in store.connection.execute(f"EXPLAIN QUERY PLAN {sql}", bound)]
    assert any(f"USING INDEX {index}" in step or f"USING COVERING INDEX {index}" in step for step in plan), plan
    assert not any("TEMP B-TREE" in step or (step.startswith("SCAN deliveries") and index not in step) for step in plan)


def test_a_look_costs_the_same_with_many_rows_waiting_and_finished(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)

    def steps_of_a_look() -> int:
        steps = 0

        def tick() -> bool:
            nonlocal steps
            steps += 1
            return False

        store.connection.set_progress_handler(tick, 10)
        assert len(claim(store, free=1).claims) == 1
        store.connection.set_progress_handler(None)
        return steps

    emit(store, org_id, 10)
    few = steps_of_a_look()
    emit(store, org_id, 5000)
    finish = """
    UPDATE deliveries SET status = 'succeeded', due_at = NULL, completed_at = :now, in_flight = 0
    WHERE org_id = :org_id AND in_flight = 0 AND id IN (SELECT id FROM deliveries ORDER BY id LIMIT 2500)
    """
    assert store.write(lambda tx: tx.run(finish), org_id) > 2000
    assert steps_of_a_look() <= few + 3


def emit_moved(store: MemoryStore, org_id: str) -> None:
    data = {
        "opportunity_id": "opp_1",
        "pipeline_id": "default",
        "from_stage": "a",
        "to_stage": "b",
        "changed_by": "usr_1",
        "lead_id": None,
    }
    store.write(lambda tx: events.append(tx, "opportunity.stage_changed", data), org_id)
