"""What waits and what was given up, by organization: counted within bounds, and by indexes alone."""

import pytest

from gatewayd.clock import MINUTE, Instant
from gatewayd.webhooks.queue import standing
from gatewayd.webhooks.queue.standing import Standing, by_organization
from tests.support.store import START, MemoryStore
from tests.support.subscribing import add_queues, emit, subscribe

URL = "https://receiver.example/hook"


def steps_of_a_look(store: MemoryStore) -> int:
    """Of SQLite's machine, in tens."""
    steps = 0

    def tick() -> bool:
        nonlocal steps
        steps += 1
        return False

    store.connection.set_progress_handler(tick, 10)
    store.read(by_organization)
    store.connection.set_progress_handler(None)
    return steps


def test_those_with_nothing_are_not_told(store: MemoryStore) -> None:
    add_queues(store, 0, 0)
    store.org()
    assert store.read(by_organization) == []


def test_subscriptions_of_one_organization_are_added_up(store: MemoryStore) -> None:
    org_id = store.org("Oak & Son")
    for enabled in (True, False):
        subscribe(store, org_id, URL, enabled=enabled)
    subscribe(store, org_id, URL)
    emit(store, org_id, 2)
    give_up = """
        UPDATE deliveries SET status = 'exhausted', due_at = NULL, completed_at = :now
        WHERE org_id = :org_id AND id IN (SELECT max(id) FROM deliveries)
    """
    store.write(lambda tx: tx.run(give_up), org_id)
    (elm,) = add_queues(store, 1)
    store.clock.advance(MINUTE)
    store.write(lambda tx: tx.run("UPDATE deliveries SET due_at = :now WHERE subscription_id = :id", id=elm))
    found = store.read(by_organization)
    assert found == [
        Standing("Example Ltd", 1, Instant(START + MINUTE), 0, 0, more=False),
        Standing("Oak & Son", 3, START, 1, 0, more=False),
    ]


def test_what_is_disabled_is_told_while_it_holds_deliveries(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, URL)
    emit(store, org_id)
    disable = """
        UPDATE webhook_subscriptions SET enabled = 0, disabled_reason = 'caller', disabled_at = :now WHERE id = :id
    """
    store.write(lambda tx: tx.run(disable, id=made.id))
    ((_, waiting, _, _, disabled, _),) = store.read(by_organization)
    assert (waiting, disabled) == (1, 1)


def test_no_more_are_counted_than_the_bound(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "MOST", 3)
    add_queues(store, 3)
    ((_, waiting, _, _, _, more),) = store.read(by_organization)
    assert (waiting, more) == (3, True)


@pytest.mark.sqlite_only("steps of its machine")
def test_a_look_costs_the_same_with_many_more_rows(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "MOST", 50)
    org_id = store.org()
    subscribe(store, org_id, URL)
    emit(store, org_id, 60)
    few = steps_of_a_look(store)
    emit(store, org_id, 3_000)
    assert steps_of_a_look(store) <= few + 2
