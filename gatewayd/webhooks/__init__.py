"""Webhook engine: subscriptions, deliveries, and the attempts that carry events to receivers (Spec §6, §8)."""

from gatewayd.contract.operation import Area
from gatewayd.outbound.transport import Policy
from gatewayd.webhooks import deliveries, replays, subscriptions, test_events
from gatewayd.webhooks.schedule import MAX_ATTEMPTS
from gatewayd.webhooks.time_range import RETENTION_DAYS


def area(policy: Policy, max_attempts: int = MAX_ATTEMPTS, retention_days: int = RETENTION_DAYS) -> Area:
    """The operations.

    `policy` says which URLs may receive; `max_attempts` is what delivery records show; what is older than
    `retention_days` is not recovered.
    """
    operations = (
        subscriptions.operations(policy, retention_days)
        + test_events.operations(max_attempts)
        + deliveries.operations(max_attempts)
        + replays.operations(max_attempts, retention_days)
    )
    return Area("webhooks", "Webhooks", operations)
