"""What the webhook engine is told by the configuration."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gatewayd.clock import DAY, SECOND
from gatewayd.config.keys import Webhooks
from gatewayd.mail.notices import Mailing
from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.listeners import Listener, no_listeners
from gatewayd.outbound.resolver import FAILURE_SECONDS
from gatewayd.outbound.transport import Policy
from gatewayd.webhooks.schedule import RetryPolicy
from gatewayd.webhooks.sender import TIMEOUT_SECONDS

LEASE_MARGIN_SECONDS = 5.0  # Chosen: between the end of an attempt and its record, on a disk that is busy
RESERVE_SHARE = 4  # Chosen: a quarter of the slots is kept for subscriptions with nothing in flight
SLOW_SHARE = 4  # Chosen: at most a quarter of the slots goes to subscriptions that are slow


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """The `[webhooks]` table. Times in seconds, except `disable_after`."""

    policy: Policy = field(default_factory=Policy)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    timeout_seconds: float = TIMEOUT_SECONDS
    per_subscription: int = 4
    concurrency: int = 64
    retention_days: int = 30
    stop_seconds: float = TIMEOUT_SECONDS  # Chosen: a stop waits this long for attempts under way
    mailing: Mailing | None = None  # None: nobody is told by mail
    disable_after: int = 5 * DAY  # Chosen: of nothing but failures; microseconds

    @property
    def lease(self) -> int:
        """Microseconds after which an attempt that was not recorded counts as interrupted."""
        return round((self.timeout_seconds + LEASE_MARGIN_SECONDS) * SECOND)

    @property
    def reserve(self) -> int:
        """Slots that only a subscription with nothing in flight may take."""
        return self.concurrency // RESERVE_SHARE

    @property
    def slow_slots(self) -> int:
        """Slots that all slow subscriptions may take together: their last attempt timed out or found no name."""
        return max(1, self.concurrency // SLOW_SHARE)

    @property
    def lookup_failure_seconds(self) -> float:
        """For how long a name that was not found is not looked up again: no longer than the shortest wait."""
        return min(FAILURE_SECONDS, self.retry.first_retry_seconds)

    @property
    def warn_after(self) -> int:
        """Microseconds of nothing but failures after which the operator is warned."""
        return self.disable_after // 2


def settings_from(
    webhooks: Webhooks, own_listeners: Callable[[], Iterable[Listener]] = no_listeners
) -> WebhookSettings:
    """The settings of a configuration. Raises `ValueError` for waits that contradict one another."""
    return WebhookSettings(
        policy=Policy(
            allow_networks=parse_networks(webhooks.allow_networks),
            allow_http=webhooks.allow_http,
            ca_file=webhooks.ca_file or None,
            own_listeners=own_listeners,
        ),
        retry=RetryPolicy(
            max_attempts=webhooks.max_attempts,
            first_retry_seconds=webhooks.first_retry_seconds,
            retry_cap_seconds=webhooks.retry_cap_seconds,
        ),
        timeout_seconds=webhooks.timeout_seconds,
        per_subscription=webhooks.per_subscription,
        concurrency=webhooks.concurrency,
        retention_days=webhooks.retention_days,
    )
