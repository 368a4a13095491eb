"""Where the deliveries of a subscription go, as the engine sees it. `subscriptions.py` writes what is read here."""

from dataclasses import dataclass, field
from typing import NamedTuple

from gatewayd.clock import Instant
from gatewayd.store import ReadTx, StoreFailure
from gatewayd.webhooks.keyring import Keyring


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where deliveries go. `secrets` newest first; empty when they do not open with this instance's key.

    `failing_since`: the first failed attempt after the last success; `failing_told`: it was announced what follows.
    """

    url: str
    enabled: bool
    failing_since: Instant | None
    failing_told: bool
    secrets: tuple[str, ...] = field(repr=False)


class Address(NamedTuple):
    """A subscription and the URL an attempt went to: what comes of it counts while both still belong together."""

    org_id: str
    id: str
    url: str


_SELECT_RECEIVER = """
SELECT url, enabled, failing_since, failing_told_at IS NOT NULL, secret_sealed, previous_secret_sealed,
    previous_secret_expires_at
FROM webhook_subscriptions WHERE org_id = :org_id AND id = :id
"""


def receiver(
    tx: ReadTx, org_id: str, subscription_id: str, at: Instant, keyring: Keyring | None = None
) -> Receiver | None:
    """Who gets the deliveries of a subscription at that instant; None when it was deleted."""
    row = tx.row(_SELECT_RECEIVER, org_id=org_id, id=subscription_id)
    if row is None:
        return None
    url, enabled, failing_since, failing_told, sealed, previous, previous_expires_at = row
    live = [sealed] if previous is None or previous_expires_at <= at else [sealed, previous]
    keyring, context = keyring or Keyring(), secret_context(subscription_id)
    try:
        opened = tuple([keyring.unseal(tx, one, context) for one in live])
    except StoreFailure:
        opened = ()  # another instance key: its attempts fail and say so, the other subscriptions go on
    return Receiver(url, bool(enabled), failing_since, bool(failing_told), opened)


def secret_context(subscription_id: str) -> str:
    """What the secrets of a subscription are sealed under."""
    return f"webhook_subscriptions.secret:{subscription_id}"
