"""Transport again: one delivery, and all that did not arrive since an instant."""

import re
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from gatewayd import events
from gatewayd.clock import DAY, HOUR, MINUTE, SECOND, from_wire
from gatewayd.errors import Problem
from gatewayd.outbound.transport import Policy
from gatewayd.webhooks import deliveries, replays
from gatewayd.webhooks.deliveries import Delivery, GetDelivery
from gatewayd.webhooks.queue import claims
from gatewayd.webhooks.queue.claims import Slots
from gatewayd.webhooks.replays import RECOVER_AT_ONCE, Recover, Recovered, ResendDelivery
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.subscribers import missed_events, subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import (
    CreatedSubscription,
    RemoveSubscription,
    UpdateSubscription,
)
from gatewayd.webhooks.test_events import SendTest, send_test
from tests.support.store import START, MemoryStore, make_caller
from tests.support.subscribing import emit, subscribe
from tests.webhooks.ended_deliveries import end, finish, ids_in_order, request_time

URL = "https://receiver.example/hooks"
SLOTS = Slots(64, {}, frozenset())
MOVED = {
    "opportunity_id": "opp_1",
    "pipeline_id": "default",
    "from_stage": "a",
    "to_stage": "b",
    "changed_by": "usr_1",
    "lead_id": None,
}


def resend(store: MemoryStore, org_id: str, delivery_id: str) -> Delivery:
    caller, request = make_caller(org_id), ResendDelivery(id=delivery_id)
    return store.write(lambda tx: replays.resend_delivery(tx, caller, request, max_attempts=8), org_id)


def recover(store: MemoryStore, org_id: str, request: Recover, retention_days: int = 30) -> Recovered:
    caller = make_caller(org_id)
    return store.write(lambda tx: replays.recover(tx, caller, request, retention_days=retention_days), org_id)


def since_start(made: CreatedSubscription, **values: Any) -> Recover:
    return msgspec.convert({"id": made.id, "since": "2026-11-20T09:30:00Z", **values}, Recover)


def enable(store: MemoryStore, org_id: str, made: CreatedSubscription, enabled: bool) -> None:
    caller, request = make_caller(org_id), UpdateSubscription(id=made.id, enabled=enabled)
    store.write(lambda tx: subscriptions.update_subscription(tx, caller, request, policy=Policy()), org_id)


def remove(store: MemoryStore, org_id: str, made: CreatedSubscription) -> None:
    request = RemoveSubscription(id=made.id)
    store.write(lambda tx: subscriptions.remove_subscription(tx, make_caller(org_id), request), org_id)


def detail(store: MemoryStore, org_id: str, delivery_id: str) -> dict[str, Any]:
    caller, request = make_caller(org_id), GetDelivery(delivery_id=delivery_id)
    shown = store.read(lambda tx: deliveries.get_delivery(tx, caller, request, max_attempts=8), org_id)
    decoded: dict[str, Any] = msgspec.json.decode(shown)
    return decoded


def originals(store: MemoryStore, org_id: str) -> list[str | None]:
    """The first delivery of each that waits, in the order of their ids."""
    sql = "SELECT original_id FROM deliveries WHERE org_id = :org_id AND due_at IS NOT NULL ORDER BY id"
    return [row[0] for row in store.read(lambda tx: tx.rows(sql), org_id)]


def waiting(store: MemoryStore, org_id: str) -> list[tuple[int, str | None]]:
    """When what waits is due, in microseconds since the start, and what it repeats; in the order of their ids."""
    sql = "SELECT due_at, replayed_from FROM deliveries WHERE org_id = :org_id AND due_at IS NOT NULL ORDER BY id"
    return [(due_at - START, source) for due_at, source in store.read(lambda tx: tx.rows(sql), org_id)]


# -- resend


@pytest.mark.parametrize("status", deliveries.FINISHED)
def test_a_finished_delivery_is_sent_again_as_a_new_one(store: MemoryStore, status: str) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    (ended,) = finish(store, org_id, status)
    store.clock.advance(HOUR)
    store.announced.clear()
    again = resend(store, org_id, ended)
    assert (again.subscription_id, again.status, again.attempts, again.max_attempts) == (made.id, "pending", 0, 8)
    assert (again.replayed_from, again.original_id, again.test) == (ended, ended, False)
    assert again.created_at == again.next_attempt_at == from_wire("2026-11-20T10:30:00.000Z")
    assert store.announced == {events.TOPIC}
    first, second = (detail(store, org_id, one) for one in (ended, again.id))
    assert second["payload"] == first["payload"]
    assert (first["payload"]["id"], first["payload"]["sentAt"]) == (ended, "2026-11-20T09:30:00.000Z")
    assert first["originalId"] is None
    assert (first["status"], first["replays"], second["replays"]) == (status, [again.id], [])


def test_a_resent_delivery_has_all_its_attempts(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    emit(store, org_id)
    (ended,) = finish(store, org_id, "exhausted")
    again = resend(store, org_id, ended)
    claimed = store.write(lambda tx: claims.claim_due(tx, SLOTS, WebhookSettings(), store.clock.now()))
    assert [(one.delivery_id, one.attempt) for one in claimed.claims] == [(again.id, 1)]


def test_a_replay_of_a_replay_names_the_first_also_when_its_row_is_gone(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    emit(store, org_id)
    (first,) = finish(store, org_id, "exhausted")
    second = resend(store, org_id, first)
    finish(store, org_id, "exhausted")
    assert store.write(lambda tx: tx.run("DELETE FROM deliveries WHERE id = :id", id=first)) == 1
    third = resend(store, org_id, second.id)
    assert (third.replayed_from, third.original_id) == (second.id, first)
    (claim,) = store.write(lambda tx: claims.claim_due(tx, SLOTS, WebhookSettings(), store.clock.now())).claims
    assert (claim.delivery_id, claim.message_id) == (third.id, first)
    assert msgspec.json.decode(claim.body) == detail(store, org_id, third.id)["payload"]
    assert detail(store, org_id, third.id)["payload"]["id"] == first


@pytest.mark.parametrize("status", ["pending", "retrying"])
def test_what_is_still_being_sent_is_not_sent_again(store: MemoryStore, status: str) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    emit(store, org_id)
    change = "UPDATE deliveries SET status = :status WHERE org_id = :org_id"
    store.write(lambda tx: tx.run(change, status=status), org_id)
    (delivery_id,) = ids_in_order(store, org_id)
    with pytest.raises(Problem) as refused:
        resend(store, org_id, delivery_id)
    assert (refused.value.code, refused.value.extra["currentState"]) == ("invalid_state", status)
    assert len(ids_in_order(store, org_id)) == 1


def test_resend_delivery_invalid_state_while_the_subscription_is_disabled(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    (ended,) = finish(store, org_id, "exhausted")
    enable(store, org_id, made, False)
    with pytest.raises(Problem) as refused:
        resend(store, org_id, ended)
    assert refused.value.code == "invalid_state"
    assert refused.value.message == "The subscription is disabled (caller): enable it first, with `webhooks.update`."


def test_resend_delivery_not_found_once_the_subscription_is_deleted(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    (ended,) = finish(store, org_id, "exhausted")
    remove(store, org_id, made)
    with pytest.raises(Problem) as refused:
        resend(store, org_id, ended)
    assert refused.value.code == "not_found"
    assert "was deleted" in refused.value.message


def test_resend_delivery_not_found_for_another_organizations(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    subscribe(store, other, URL)
    emit(store, other)
    (theirs,) = finish(store, other, "exhausted")
    for unknown in (theirs, "wdlv_nothing"):
        with pytest.raises(Problem) as refused:
            resend(store, org_id, unknown)
        assert (refused.value.code, refused.value.message) == ("not_found", "There is no such delivery.")


# -- recover


def test_what_did_not_arrive_is_recovered_oldest_first_and_at_a_pace(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id, 5)
    ended = finish(store, org_id, "exhausted", "succeeded", "cancelled", "exhausted", "succeeded")
    store.clock.advance(HOUR)
    store.announced.clear()
    answer = recover(store, org_id, since_start(made, perSecond=4))
    assert answer == Recovered(
        matched=3,
        recovered=3,
        remaining=0,
        dry_run=False,
        first_due_at=from_wire("2026-11-20T10:30:00.000Z"),
        last_due_at=from_wire("2026-11-20T10:30:00.500Z"),
        go_on_after=None,
    )
    quarter = SECOND // 4
    assert waiting(store, org_id) == [
        (HOUR, ended[0]),
        (HOUR + quarter, ended[2]),
        (HOUR + 2 * quarter, ended[3]),
    ]
    assert store.announced == {events.TOPIC}
    again = recover(store, org_id, since_start(made))
    assert (again.matched, again.recovered, again.first_due_at) == (0, 0, None)


def test_what_happened_while_it_was_disabled_or_not_there_is_recovered(store: MemoryStore) -> None:
    org_id = store.org()
    emit(store, org_id)
    store.clock.advance(HOUR)
    made = subscribe(store, org_id, URL)
    enable(store, org_id, made, False)
    emit(store, org_id, 2)
    enable(store, org_id, made, True)
    emit(store, org_id)
    later = since_start(made, since="2026-11-20T10:00:00Z", dryRun=True)
    assert recover(store, org_id, later).matched == 2
    assert recover(store, org_id, since_start(made)).recovered == 3
    assert [source for _, source in waiting(store, org_id)] == originals(store, org_id) == [None] * 4
    assert recover(store, org_id, since_start(made)).matched == 0


def test_a_dry_run_says_what_would_be_and_does_nothing_also_while_disabled(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL, enabled=False)
    emit(store, org_id, 3)
    store.announced.clear()
    assert recover(store, org_id, since_start(made, dryRun=True)) == Recovered(
        matched=3,
        recovered=0,
        remaining=3,
        dry_run=True,
        first_due_at=from_wire("2026-11-20T09:30:00.000Z"),
        last_due_at=from_wire("2026-11-20T09:30:00.200Z"),
        go_on_after=None,
    )
    assert (ids_in_order(store, org_id), store.announced) == ([], set())


def test_an_event_that_arrived_by_another_delivery_is_left_alone(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id, 3)
    first, second, third = finish(store, org_id, "exhausted", "exhausted", "exhausted")
    resend(store, org_id, first)
    finish(store, org_id, "succeeded")
    resend(store, org_id, second)  # under way
    resend(store, org_id, third)
    last = ids_in_order(store, org_id)[-1]
    end(store, org_id, last, "exhausted")
    assert recover(store, org_id, since_start(made)).recovered == 1
    assert [source for _, source in waiting(store, org_id)] == [second, last]
    assert originals(store, org_id) == [second, third]


def test_another_subscriptions_success_is_not_its_own(store: MemoryStore) -> None:
    org_id = store.org()
    made, other = subscribe(store, org_id, URL), subscribe(store, org_id, "https://other.example/")
    emit(store, org_id)
    finish(store, org_id, "exhausted", "succeeded")
    assert recover(store, org_id, since_start(other)).matched == 0
    assert recover(store, org_id, since_start(made)).matched == 1


def test_test_events_and_other_kinds_are_never_recovered(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    store.write(lambda tx: send_test(tx, make_caller(org_id), SendTest(id=made.id), max_attempts=8), org_id)
    finish(store, org_id, "exhausted")
    store.write(lambda tx: events.append(tx, "opportunity.stage_changed", MOVED), org_id)
    assert recover(store, org_id, since_start(made)).matched == 0


def test_filters_narrow_what_is_recovered(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL, "lead.created", "opportunity.stage_changed")
    emit(store, org_id, 2)
    finish(store, org_id, "exhausted", "cancelled")
    enable(store, org_id, made, False)
    store.write(lambda tx: events.append(tx, "opportunity.stage_changed", MOVED), org_id)
    enable(store, org_id, made, True)

    def matched(**values: object) -> int:
        return recover(store, org_id, since_start(made, dryRun=True, **values)).matched

    assert matched() == 3
    assert matched(events=["lead.created"]) == 2
    assert matched(statuses=["exhausted"]) == matched(statuses=["cancelled"]) == matched(statuses=["missed"]) == 1
    assert matched(statuses=["exhausted", "missed"], events=["opportunity.stage_changed"]) == 1


def test_a_span_is_about_the_instant_of_the_event(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    moments = []
    for _ in range(3):
        moments.append(request_time(store))
        emit(store, org_id)
        finish(store, org_id, "exhausted")
        store.clock.advance(MINUTE)

    def matched(since: int, until: int | None) -> int:
        before = None if until is None else moments[until]
        return recover(store, org_id, Recover(id=made.id, since=moments[since], until=before, dry_run=True)).matched

    assert (matched(0, None), matched(1, None), matched(0, 1), matched(1, 2)) == (3, 2, 1, 1)
    assert recover(store, org_id, Recover(id=made.id, since=moments[0], until=moments[1])).recovered == 1
    finish(store, org_id, "exhausted")  # what was sent again failed again, after `until`
    assert matched(0, 1) == 1


def test_what_is_too_old_to_know_of_is_not_recovered(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    store.clock.advance(7 * DAY + 1)
    emit(store, org_id)
    finish(store, org_id, "exhausted", "exhausted")
    assert recover(store, org_id, since_start(made, dryRun=True), retention_days=7).matched == 1
    assert recover(store, org_id, since_start(made, dryRun=True), retention_days=8).matched == 2


def test_a_call_makes_so_many_and_the_next_goes_on_behind_them(store: MemoryStore) -> None:
    org_id = store.org()
    emit(store, org_id, RECOVER_AT_ONCE + 2)
    made = subscribe(store, org_id, URL)
    first = recover(store, org_id, since_start(made, perSecond=100))
    assert (first.matched, first.recovered, first.remaining) == (RECOVER_AT_ONCE + 2, RECOVER_AT_ONCE, 2)
    assert (first.last_due_at, first.go_on_after is not None) == (from_wire("2026-11-20T09:30:09.990Z"), True)
    second = recover(store, org_id, since_start(made, perSecond=100, after=first.go_on_after))
    assert (second.matched, second.recovered, second.remaining, second.go_on_after) == (2, 2, 0, None)
    assert second.first_due_at == from_wire("2026-11-20T09:30:10.000Z")
    assert second.last_due_at == from_wire("2026-11-20T09:30:10.010Z")
    due = [at for at, _ in waiting(store, org_id)]
    assert due == [place * SECOND // 100 for place in range(RECOVER_AT_ONCE + 2)]


def test_calling_again_in_the_same_way_goes_on_too(store: MemoryStore) -> None:
    org_id = store.org()
    emit(store, org_id, RECOVER_AT_ONCE + 2)
    made = subscribe(store, org_id, URL)
    counts = [recover(store, org_id, since_start(made)).recovered for _ in range(3)]
    assert counts == [RECOVER_AT_ONCE, 2, 0]
    sql = "SELECT COUNT(*), COUNT(DISTINCT event_id) FROM deliveries WHERE org_id = :org_id"
    assert store.read(lambda tx: tx.row(sql), org_id) == (RECOVER_AT_ONCE + 2, RECOVER_AT_ONCE + 2)


def test_a_long_span_is_looked_at_in_stretches(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    fill = """
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
    INSERT INTO events (id, org_id, kind, data, test, created_at)
    SELECT 'evt_01m7w4n5e0' || substr(CAST(10000000000000000 + n AS TEXT), 2), :org_id, 'lead.created', :data, 0, :now
    FROM numbers
    """
    delivered = """
    INSERT INTO deliveries (id, org_id, subscription_id, event_id, event, status, attempts, in_flight, completed_at,
        created_at)
    SELECT 'wdlv' || substr(id, 4), :org_id, :subscription_id, id, kind, 'succeeded', 1, 0, :now, :now FROM events
    WHERE org_id = :org_id AND id NOT LIKE '%00001'
    """
    store.write(lambda tx: tx.run(fill, count=missed_events.EVENTS_PER_SEARCH + 5, data=b"{}"), org_id)
    store.write(lambda tx: tx.run(delivered, subscription_id=made.id), org_id)
    first = recover(store, org_id, since_start(made))
    assert (first.matched, first.remaining, first.go_on_after is not None) == (1, 0, True)
    second = recover(store, org_id, since_start(made, after=first.go_on_after))
    assert (second.matched, second.go_on_after) == (0, None)


def test_nothing_is_recovered_while_it_is_disabled(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL, enabled=False)
    with pytest.raises(Problem) as refused:
        recover(store, org_id, since_start(made))
    assert (refused.value.code, refused.value.extra["currentState"]) == ("invalid_state", "disabled")


def test_a_pattern_recovers_what_the_subscription_has_by_another(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL, "crm.*", "invoice.paid")
    emit(store, org_id)
    finish(store, org_id, "exhausted")
    assert recover(store, org_id, since_start(made, events=["lead.*"])).recovered == 1
    with pytest.raises(Problem) as refused:
        recover(store, org_id, since_start(made, events=["lead.*", "invoice.*"]))
    assert [(one.path, one.code) for one in refused.value.errors] == [("events[1]", "unknown_event")]


def test_a_kind_the_subscription_does_not_have_is_refused(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    with pytest.raises(Problem) as refused:
        recover(store, org_id, since_start(made, events=["lead.created", "form.submitted"]))
    assert [(one.path, one.code) for one in refused.value.errors] == [("events[1]", "unknown_event")]


def test_a_time_range_that_ends_before_it_begins_is_refused(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    with pytest.raises(Problem) as refused:
        recover(
            store,
            org_id,
            Recover(id=made.id, since=request_time(store), until=request_time(store) - timedelta(seconds=1)),
        )
    assert [(one.path, one.code) for one in refused.value.errors] == [("until", "date_order")]


def test_recover_not_found_for_another_organizations_subscription(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    theirs = subscribe(store, other, URL)
    with pytest.raises(Problem) as refused:
        recover(store, org_id, since_start(theirs))
    assert refused.value.code == "not_found"


@pytest.mark.parametrize(
    ("sql", "indexes"),
    [
        (
            f"{missed_events._SELECT_MISSED} AND e.kind IN (:kind_0, :kind_1) {missed_events._OLDEST_FIRST}",
            {"events_of_org", "deliveries_of_event"},
        ),
        (missed_events._SELECT_END, {"events_of_org"}),
        (replays._SELECT_LAST_DUE, {"deliveries_queue"}),
        (deliveries._SELECT_REPLAYS, {"deliveries_replays"}),
    ],
)
def test_each_statement_goes_through_its_indexes(store: MemoryStore, sql: str, indexes: set[str]) -> None:
    bound = dict.fromkeys(re.findall(r":([a-z_0-9]+)", sql), 1)
    plan = [row[3] for row in store.connection.execute(f"EXPLAIN QUERY PLAN {sql}", bound)]
    searches = [step for step in plan if step.startswith(("SEARCH", "SCAN"))]
    used = {name for step in searches for name in re.findall(r"INDEX (\w+)", step)}
    assert used == indexes, plan
    assert all(step.startswith("SEARCH") for step in searches), plan
    if "deliveries_replays" not in indexes:  # there are few of one delivery, and their ids are not in the index
        assert not any("TEMP B-TREE" in step for step in plan), plan
