"""Webhook subscriptions and events for tests, made through the operations."""

from gatewayd import events
from gatewayd.outbound.transport import Policy
from gatewayd.store import WriteTx
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import (
    CreatedSubscription,
    CreateSubscription,
    UpdateSubscription,
)
from tests.support.store import MemoryStore, make_caller


def subscribe(
    store: MemoryStore, org_id: str, url: str, *kinds: str, enabled: bool = True, policy: Policy | None = None
) -> CreatedSubscription:
    """Make a subscription, to `lead.created` unless kinds are given."""
    caller = make_caller(org_id)
    request = CreateSubscription(url=url, events=list(kinds or ("lead.created",)))
    policy = policy or Policy()
    made = store.write(lambda tx: subscriptions.create_subscription(tx, caller, request, policy=policy), org_id)
    if not enabled:
        change = UpdateSubscription(id=made.id, enabled=False)
        store.write(lambda tx: subscriptions.update_subscription(tx, caller, change, policy=policy), org_id)
    return made


def emit(store: MemoryStore, org_id: str, count: int = 1, source: str = "website") -> None:
    """Record that many `lead.created` events."""

    def work(tx: WriteTx) -> None:
        for number in range(count):
            events.append(tx, "lead.created", {"lead_id": f"lead_{number}", "source": source, "status": "new"})

    store.write(work, org_id)


def add_queues(store: MemoryStore, *events: int, enabled: bool = True) -> list[str]:
    """An organization for each number, with one subscription and as many deliveries; answers the subscriptions."""
    made = []
    for count in events:
        org_id = store.org()
        made.append(subscribe(store, org_id, "https://secret-receiver.example/hooks/token", enabled=enabled).id)
        emit(store, org_id, count)
    return made
