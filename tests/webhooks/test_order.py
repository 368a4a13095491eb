"""The order of events, as a receiver restores it: by `sequence`, whatever the order of arrival and the clock."""

from datetime import timedelta
from typing import Any

import msgspec

from gatewayd import events
from gatewayd.clock import MINUTE, Instant
from gatewayd.webhooks import replays
from gatewayd.webhooks.queue import claims
from gatewayd.webhooks.queue.claims import Slots
from gatewayd.webhooks.replays import Recover
from gatewayd.webhooks.settings import WebhookSettings
from tests.support.store import MemoryStore, make_caller
from tests.support.subscribing import subscribe
from tests.webhooks.ended_deliveries import finish, request_time

URL = "https://receiver.example/hooks"
SETTINGS = WebhookSettings(per_subscription=50)
_AS_LISTED = "SELECT id FROM events WHERE org_id = :org_id ORDER BY recorded_at, id"


def emit(store: MemoryStore, org_id: str, *leads: str) -> list[str]:
    """Record events of leads, all in one transaction; answers their ids."""
    data = [{"lead_id": lead, "source": "fair", "status": "new"} for lead in leads]
    return store.write(lambda tx: [events.append(tx, "lead.created", each) for each in data], org_id)


def sent(store: MemoryStore) -> list[dict[str, Any]]:
    """The bodies of all that is due, as attempts at it begin."""
    at = Instant(max(store.clock.now(), *store.read(lambda tx: tx.rows("SELECT max(due_at) FROM deliveries"))[0]))
    claimed = store.write(lambda tx: claims.claim_due(tx, Slots(64, {}, frozenset()), SETTINGS, at))
    return [msgspec.json.decode(claim.body) for claim in claimed.claims]


def in_order(bodies: list[dict[str, Any]]) -> list[str]:
    return [body["eventId"] for body in sorted(bodies, key=lambda body: str(body["sequence"]))]


def listed(store: MemoryStore, org_id: str) -> list[str]:
    return [row[0] for row in store.read(lambda tx: tx.rows(_AS_LISTED), org_id)]


def test_what_one_transaction_recorded_has_an_order_though_it_has_one_instant(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    recorded = emit(store, org_id, *(f"lead_{number}" for number in range(20)))
    bodies = sent(store)
    assert len({body["sentAt"] for body in bodies}) == 1
    assert in_order(bodies[::-1]) == recorded == listed(store, org_id)


def test_the_order_outlasts_a_clock_that_is_set_back(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    recorded = emit(store, org_id, "lead_1", "lead_2")
    store.clock.advance(-10 * MINUTE)
    recorded += emit(store, org_id, "lead_3")
    bodies = sent(store)
    by_id = [body["eventId"] for body in sorted(bodies, key=lambda body: str(body["id"]))]
    assert by_id == [recorded[2], *recorded[:2]]  # ids, as `sentAt`, follow the clock
    assert in_order(bodies) == recorded == listed(store, org_id)


def test_what_is_sent_late_or_again_has_its_place_in_the_order(store: MemoryStore) -> None:
    org_id = store.org()
    since = request_time(store)
    missed = emit(store, org_id, "lead_1")  # before there is a subscription
    store.clock.advance(MINUTE)
    made = subscribe(store, org_id, URL)
    recorded = emit(store, org_id, "lead_2", "lead_3")
    first = sent(store)
    finish(store, org_id, "exhausted", "succeeded")
    request = Recover(id=made.id, since=since - timedelta(seconds=1))
    caller = make_caller(org_id)
    recovered = store.write(lambda tx: replays.recover(tx, caller, request, retention_days=30), org_id)
    late = sent(store)
    assert recovered.recovered == 2
    assert in_order(late) == [*missed, recorded[0]]
    again = next(body for body in late if body["eventId"] == recorded[0])
    assert again in first  # the same in every byte that counts
    assert in_order([body for body in (*first, *late) if body is not again]) == [*missed, *recorded]
