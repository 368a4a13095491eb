"""Subscriptions as what is open to the outside: the list of those that are sent to, their end, and who has them."""

from typing import Final

from msgspec.structs import replace

from gatewayd.identity.open_access import Opening, Sought
from gatewayd.store import ReadTx, WriteTx
from gatewayd.webhooks.subscribers.subscription_shapes import DisabledReason, SubscriptionRow
from gatewayd.webhooks.subscribers.subscriptions import SUBSCRIPTIONS

_SELECT_OPEN: Final = """
SELECT id, url, user_id, created_by, created_at FROM webhook_subscriptions
WHERE org_id = :org_id AND id >= :first AND enabled = 1 AND (CAST(:user_id AS TEXT) IS NULL OR user_id = :user_id)
ORDER BY id LIMIT :limit
"""


def list_open(tx: ReadTx, sought: Sought) -> list[Opening]:
    """The subscriptions that are enabled, by id; each is named by its URL."""
    found = tx.rows(_SELECT_OPEN, user_id=sought.user_id, first=sought.first, limit=sought.limit)
    return [Opening._make((*row, None, None)) for row in found]


def switch_off(tx: WriteTx, subscription_id: str, reason: DisabledReason) -> SubscriptionRow:
    """Let deliveries wait, with what they wait for; it can be enabled again. Raises `Problem` `not_found`."""
    row = SUBSCRIPTIONS.get(tx, subscription_id)
    ended = replace(row, enabled=False, disabled_reason=reason, disabled_at=tx.now)
    return SUBSCRIPTIONS.update(tx, replace(ended, failing_since=None, failing_told_at=None))


def hand_over(tx: WriteTx, subscription_id: str, user_id: str) -> None:
    """Let a subscription end with the membership of somebody else."""
    SUBSCRIPTIONS.update(tx, replace(SUBSCRIPTIONS.get(tx, subscription_id), user_id=user_id))
