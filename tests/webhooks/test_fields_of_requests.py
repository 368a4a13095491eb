"""Subscriptions are listed by what changed, and named by either name where deliveries are recovered."""

import datetime

import msgspec
import pytest

from gatewayd.clock import DAY, HOUR
from gatewayd.errors import Problem
from gatewayd.webhooks.replays import Recover
from gatewayd.webhooks.subscribers.subscription_shapes import ListSubscriptions
from tests.support.store import MemoryStore
from tests.support.subscribing import emit, subscribe
from tests.webhooks.ended_deliveries import finish
from tests.webhooks.test_replays import URL, recover
from tests.webhooks.test_subscriptions import items


def test_those_that_did_not_change_since_are_left_out(store: MemoryStore) -> None:
    org_id = store.org()
    subscribe(store, org_id, URL)
    since = ListSubscriptions(updated_since=datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC))
    assert items(store, org_id, since) == []
    store.clock.advance(DAY)
    later = subscribe(store, org_id, f"{URL}/later")
    assert [msgspec.json.decode(item)["id"] for item in items(store, org_id, since)] == [later.id]


def test_what_is_recovered_is_of_the_subscription_by_its_other_name(store: MemoryStore) -> None:
    org_id = store.org()
    made, other = subscribe(store, org_id, URL), subscribe(store, org_id, f"{URL}/other")
    emit(store, org_id, 2)
    finish(store, org_id, "exhausted", "succeeded", "exhausted", "succeeded")
    store.clock.advance(HOUR)

    def asked(**values: object) -> Recover:
        return msgspec.convert({"since": "2026-11-20T09:30:00Z", **values}, Recover)

    by_id = recover(store, org_id, asked(id=made.id, dryRun=True))
    assert recover(store, org_id, asked(subscriptionId=made.id, dryRun=True)) == by_id
    assert by_id.matched + recover(store, org_id, asked(subscriptionId=other.id, dryRun=True)).matched == 2
    with pytest.raises(Problem) as caught:
        recover(store, org_id, asked(id=made.id, subscriptionId=other.id))
    assert [(one.path, one.code) for one in caught.value.errors] == [("subscriptionId", "conflict")]
