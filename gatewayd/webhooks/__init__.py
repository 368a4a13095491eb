"""Webhook engine: subscriptions, deliveries, and the attempts that carry events to receivers (Spec §6, §8)."""

from functools import partial

from gatewayd.contract.operation import Area, Handlers
from gatewayd.outbound.transport import Policy
from gatewayd.webhooks import deliveries, replays, test_events
from gatewayd.webhooks.feeds import event_log
from gatewayd.webhooks.schedule import MAX_ATTEMPTS
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.time_range import RETENTION_DAYS

AREA = Area(
    "webhooks",
    "Webhooks",
    (
        *subscriptions.OPERATIONS,
        *test_events.OPERATIONS,
        *deliveries.OPERATIONS,
        *replays.OPERATIONS,
    ),
)

EVENTS = Area("events", "Events", event_log.OPERATIONS)


def handlers(policy: Policy, max_attempts: int = MAX_ATTEMPTS, retention_days: int = RETENTION_DAYS) -> Handlers:
    """Those that have to know the settings.

    `policy` says which URLs may receive; `max_attempts` is what delivery records show; what is older than
    `retention_days` is not recovered.
    """
    update = partial(subscriptions.update_subscription, policy=policy, retention_days=retention_days)
    return {
        "webhooks.create": partial(subscriptions.create_subscription, policy=policy),
        "webhooks.update": update,
        "webhooks.sendTest": partial(test_events.send_test, max_attempts=max_attempts),
        "webhooks.listDeliveries": partial(deliveries.list_deliveries, max_attempts=max_attempts),
        "webhooks.getDelivery": partial(deliveries.get_delivery, max_attempts=max_attempts),
        "webhooks.resendDelivery": partial(replays.resend_delivery, max_attempts=max_attempts),
        "webhooks.recover": partial(replays.recover, retention_days=retention_days),
    }
