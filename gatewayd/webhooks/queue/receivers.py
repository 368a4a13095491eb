"""Where the deliveries of a subscription go, as the engine sees it. `subscriptions.py` writes what is read here.

Beside the row two things are remembered in memory alone: opened signing secrets, and which receivers are slow.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gatewayd.clock import Instant
from gatewayd.store import ReadTx, StoreFailure

CACHED_SECRETS_MAX: Final = 1024  # Chosen: more than that many busy subscriptions decrypt some of theirs again
SLOW_RECEIVERS_MAX: Final = 1024  # Chosen: the one that timed out longest ago is forgotten first


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where deliveries go. `secrets` newest first; empty when they do not open with this instance's key.

    `failing_since`: the first failed attempt after the last success; `warned`: the operator was told that it fails.
    """

    url: str
    enabled: bool
    failing_since: Instant | None
    warned: bool
    secrets: tuple[str, ...] = field(repr=False)


class Address(NamedTuple):
    """A subscription and the URL an attempt went to: what comes of it counts while both still belong together."""

    org_id: str
    id: str
    url: str


class SecretCache:
    """Signing secrets that were opened, so that a busy subscription's is decrypted once.

    A secret that is replaced is sealed anew, so the old one is never found for it.
    """

    def __init__(self, max_secrets: int = CACHED_SECRETS_MAX) -> None:
        self._opened: dict[tuple[bytes, str], str] = {}
        self._max_secrets = max_secrets

    def __repr__(self) -> str:
        return f"SecretCache({len(self._opened)} secrets)"

    def unseal(self, tx: ReadTx, sealed: bytes, context: str) -> str:
        """As the transaction's `unseal`. Raises `StoreFailure` for what does not open, each time."""
        key = sealed, context
        secret = self._opened.get(key)
        if secret is None:
            if len(self._opened) >= self._max_secrets:
                self._opened.clear()
            secret = self._opened[key] = tx.unseal(sealed, context)
        return secret


class SlowReceivers:
    """Subscriptions whose last attempt found no name or ran into the time limit, in the order in which they last did.

    They get few slots until one answers: a hundred receivers that hang at once would otherwise take every slot for ten
    seconds of each retry. After a restart each one has to time out again.
    """

    def __init__(self, max_receivers: int = SLOW_RECEIVERS_MAX) -> None:
        self._ids: dict[str, None] = {}
        self._max_receivers = max_receivers

    def note(self, subscription_id: str, *, slow: bool) -> None:
        """Remember how an attempt ended."""
        self._ids.pop(subscription_id, None)
        if slow:
            self._ids[subscription_id] = None
            if len(self._ids) > self._max_receivers:
                del self._ids[next(iter(self._ids))]

    def snapshot(self) -> frozenset[str]:
        """The subscriptions that are slow now."""
        return frozenset(self._ids)


_SELECT_RECEIVER = """
SELECT url, enabled, failing_since, failing_told_at IS NOT NULL, secret_sealed, previous_secret_sealed,
    previous_secret_expires_at
FROM webhook_subscriptions WHERE org_id = :org_id AND id = :id
"""


def find_receiver(
    tx: ReadTx, org_id: str, subscription_id: str, at: Instant, secret_cache: SecretCache | None = None
) -> Receiver | None:
    """Who gets the deliveries of a subscription at that instant; None when it was deleted."""
    row = tx.row(_SELECT_RECEIVER, org_id=org_id, id=subscription_id)
    if row is None:
        return None
    url, enabled, failing_since, warned, sealed, previous, previous_expires_at = row
    live = [sealed] if previous is None or previous_expires_at <= at else [sealed, previous]
    cache, context = secret_cache or SecretCache(), secret_context(subscription_id)
    try:
        opened = tuple([cache.unseal(tx, one, context) for one in live])
    except StoreFailure:
        opened = ()  # another instance key: its attempts fail and say so, the other subscriptions go on
    return Receiver(url, bool(enabled), failing_since, bool(warned), opened)


def secret_context(subscription_id: str) -> str:
    """What the secrets of a subscription are sealed under."""
    return f"webhook_subscriptions.secret:{subscription_id}"
