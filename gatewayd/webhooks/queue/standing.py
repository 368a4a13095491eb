"""What waits and what was given up, by organization: within bounds, for who runs the instance."""

from typing import Final, NamedTuple

from gatewayd.clock import Instant
from gatewayd.store import ReadTx

SUBSCRIPTIONS: Final = 100  # Chosen: a page of them; those without any of it are not looked at
MOST: Final = 1_000  # Chosen: deliveries that are counted of each, so that all of it takes some milliseconds

_TROUBLED: Final = "d.status IN ('retrying', 'exhausted', 'cancelled')"
"""What the index of given-up deliveries says of its rows: SQLite takes it where a statement says the same."""
_SELECT_ANY_ORG = f"""
SELECT o.id, o.name, s.enabled,
    (SELECT COUNT(*) FROM (
        SELECT d.id FROM deliveries d WHERE d.subscription_id = s.id AND d.due_at IS NOT NULL LIMIT :most
    ) AS waiting),
    (SELECT MIN(d.due_at) FROM deliveries d WHERE d.subscription_id = s.id AND d.due_at IS NOT NULL),
    (SELECT COUNT(*) FROM (
        SELECT d.id FROM deliveries d
        WHERE d.subscription_id = s.id AND d.status = 'exhausted' AND {_TROUBLED} LIMIT :most
    ) AS given_up)
FROM webhook_subscriptions s JOIN organizations o ON o.id = s.org_id
WHERE EXISTS (SELECT 1 FROM deliveries d WHERE d.subscription_id = s.id AND d.due_at IS NOT NULL)
    OR EXISTS (SELECT 1 FROM deliveries d WHERE d.subscription_id = s.id AND d.status = 'exhausted' AND {_TROUBLED})
ORDER BY s.id LIMIT :count
"""


class Standing(NamedTuple):
    """Of one organization. `first_due` None: nothing waits. `more`: there is more than was counted.

    `disabled`: subscriptions of those looked at to which nothing is sent.
    """

    organization: str
    waiting: int
    first_due: Instant | None
    exhausted: int
    disabled: int
    more: bool


def by_organization(tx: ReadTx) -> list[Standing]:
    """Of those with anything, by name; one statement, whatever their number."""
    found: dict[str, Standing] = {}
    for id_, name, enabled, waiting, due, exhausted in tx.rows(_SELECT_ANY_ORG, most=MOST, count=SUBSCRIPTIONS):
        one = found.get(id_, Standing(name, 0, None, 0, 0, more=False))
        dues = [each for each in (one.first_due, due) if each is not None]
        found[id_] = Standing(
            name,
            one.waiting + waiting,
            Instant(min(dues)) if dues else None,
            one.exhausted + exhausted,
            one.disabled + (not enabled),
            one.more or MOST in (waiting, exhausted),
        )
    return sorted(found.values(), key=lambda each: each.organization)
