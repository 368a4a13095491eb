"""Test events: the sample of a kind for one subscription alone, on the normal way."""

import msgspec
import pytest

from gatewayd.errors import Problem
from gatewayd.events import EVENT_KINDS, RECORDED, TOPIC
from gatewayd.webhooks.deliveries import Delivery
from gatewayd.webhooks.queue import claims
from gatewayd.webhooks.queue.claims import Slots
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.test_events import SendTest, send_test
from tests.support.store import MemoryStore, make_caller
from tests.support.subscribing import subscribe

URL = "https://receiver.example/hooks"


def send(store: MemoryStore, org_id: str, request: SendTest) -> Delivery:
    caller = make_caller(org_id)
    return store.write(lambda tx: send_test(tx, caller, request, max_attempts=8), org_id)


def test_the_sample_goes_to_this_subscription_alone_and_is_marked(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL, "opportunity.stage_changed", "lead.created")
    subscribe(store, org_id, "https://other.example/", "opportunity.stage_changed")
    store.announced.clear()
    sent = send(store, org_id, SendTest(id=made.id))
    assert (sent.event, sent.test, sent.status, sent.replayed_from) == (
        "opportunity.stage_changed",
        True,
        "pending",
        None,
    )
    assert store.announced == {TOPIC, RECORDED}
    slots = Slots(64, {}, frozenset())
    claimed = store.write(lambda tx: claims.claim_due(tx, slots, WebhookSettings(), store.clock.now()))
    assert [(one.subscription_id, one.delivery_id) for one in claimed.claims] == [(made.id, sent.id)]
    sample = msgspec.to_builtins(EVENT_KINDS["opportunity.stage_changed"].sample)
    assert msgspec.json.decode(claimed.claims[0].body)["data"] == sample


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_every_kind_can_be_tried_also_a_reserved_one(store: MemoryStore, kind: str) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL, *EVENT_KINDS)
    assert send(store, org_id, SendTest(id=made.id, event=kind)).event == kind


@pytest.mark.parametrize("kind", ["form.submitted", "lead.deleted", ""])
def test_a_kind_the_subscription_does_not_have_is_refused(store: MemoryStore, kind: str) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    with pytest.raises(Problem) as refused:
        send(store, org_id, SendTest(id=made.id, event=kind))
    assert [(one.path, one.code) for one in refused.value.errors] == [("event", "unknown_event")]


def test_nothing_is_sent_to_a_disabled_subscription(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL, enabled=False)
    with pytest.raises(Problem) as refused:
        send(store, org_id, SendTest(id=made.id))
    assert (refused.value.code, refused.value.extra["currentState"]) == ("invalid_state", "disabled")
    count = "SELECT COUNT(*) FROM events WHERE org_id = :org_id"
    assert store.read(lambda tx: tx.value(count), org_id) == 0


def test_not_found_for_another_organizations_subscription(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    theirs = subscribe(store, other, URL)
    for unknown in (theirs.id, "wsub_nothing"):
        with pytest.raises(Problem) as refused:
            send(store, org_id, SendTest(id=unknown))
        assert refused.value.code == "not_found"
