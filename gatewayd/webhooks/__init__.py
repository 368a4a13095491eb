"""Webhook engine: subscriptions, deliveries, and the attempts that carry events to receivers (Spec §6, §8)."""

from gatewayd.contract.operation import Area
from gatewayd.outbound.transport import Policy
from gatewayd.webhooks import deliveries, subscriptions

MAX_ATTEMPTS = 8  # Spec §8


def area(policy: Policy, max_attempts: int = MAX_ATTEMPTS) -> Area:
    """The operations. `policy` says which URLs may receive; `max_attempts` is what delivery records show."""
    return Area("webhooks", "Webhooks", subscriptions.operations(policy) + deliveries.operations(max_attempts))
