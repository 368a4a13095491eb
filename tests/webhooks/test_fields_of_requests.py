"""Subscriptions are listed by what changed."""

import datetime

import msgspec

from gatewayd.clock import DAY
from gatewayd.webhooks.subscribers.subscription_shapes import ListSubscriptions
from tests.support.store import MemoryStore
from tests.support.subscribing import subscribe
from tests.webhooks.test_replays import URL
from tests.webhooks.test_subscriptions import items


def test_those_that_did_not_change_since_are_left_out(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    since = ListSubscriptions(updated_since=datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC))
    assert items(store, org_id, since) == []
    store.clock.advance(DAY)
    later = subscribe(store, org_id, f"{URL}/later")
    assert [msgspec.json.decode(item)["id"] for item in items(store, org_id, since)] == [later.id]
