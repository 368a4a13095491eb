"""What became of the attempts of each subscription since the start, for metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MAX_SUBSCRIPTIONS: Final = 1024  # Chosen: the one that was sent to longest ago is forgotten first


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Attempts that a receiver or the way to it decided. `failed`: another one follows; `exhausted`: none does."""

    succeeded: int = 0
    failed: int = 0
    exhausted: int = 0
    seconds_sum: float = 0.0


_NONE: Final = Tally()


class Tallies:
    """By subscription, the one that was sent to last at the end."""

    def __init__(self, max_subscriptions: int = MAX_SUBSCRIPTIONS) -> None:
        self._by_subscription: dict[str, Tally] = {}
        self._max_subscriptions = max_subscriptions

    @property
    def by_subscription(self) -> Mapping[str, Tally]:
        return self._by_subscription

    def add(self, subscription_id: str, status: str, seconds: float) -> None:
        """Count an attempt after which the delivery has `status`: succeeded, retrying or exhausted."""
        tally = self._by_subscription.pop(subscription_id, _NONE)
        self._by_subscription[subscription_id] = Tally(
            succeeded=tally.succeeded + (status == "succeeded"),
            failed=tally.failed + (status == "retrying"),
            exhausted=tally.exhausted + (status == "exhausted"),
            seconds_sum=tally.seconds_sum + seconds,
        )
        if len(self._by_subscription) > self._max_subscriptions:
            del self._by_subscription[next(iter(self._by_subscription))]
