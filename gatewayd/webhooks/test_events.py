"""Test events: the sample of a kind, sent to one subscription in the normal way, so that a receiver can be tried."""

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.errors import invalid_field
from gatewayd.events import append_test, expanded
from gatewayd.store import WriteTx
from gatewayd.webhooks import deliveries
from gatewayd.webhooks.deliveries import Delivery
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.validation import KindName, SubscriptionRequest, unknown_event


class SendTest(SubscriptionRequest, frozen=True, kw_only=True):
    """Which subscription, and a kind that it has; the first of its kinds by default."""

    event: KindName | None = None
    """A kind that the subscription has, by itself or by a pattern; the first that it has by default."""


def send_test(tx: WriteTx, caller: Caller, request: SendTest, *, max_attempts: int) -> Delivery:
    """Send a test event to a subscription.

    It has the sample data of its kind, goes to this subscription alone, and is tried like any other delivery. Its
    record says `test`; what the receiver gets looks like the real thing. Reserved kinds can be tried too.
    """
    subscription = subscriptions.SUBSCRIPTIONS.get(tx, request.id)
    kinds = expanded(subscription.events)
    kind = kinds[0] if request.event is None else request.event
    if kind not in kinds:
        raise invalid_field("event", "unknown_event", unknown_event(kind, kinds))
    subscriptions.check_enabled(subscription)
    delivery_id = append_test(tx, kind, subscription.id)
    return deliveries.to_delivery(deliveries.find(tx, delivery_id), max_attempts)


OPERATIONS = (
    Operation(
        id="webhooks.sendTest",
        kind="write",
        method="POST",
        path="/webhooks/subscriptions/test",
        scopes=("webhooks:write",),
        request=SendTest,
        response=Delivery,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "unknown_event"),
        extension=True,
        example={"id": "wsub_01k0000000000000000000000a", "event": "lead.created"},
    ),
)
