"""Missed events: those of which a subscription has no delivery that succeeded or is under way.

The last delivery ended without success, or there never was one: the subscription was disabled, or not there yet. The
search goes through the events in the order in which they were recorded, `EVENTS_PER_SEARCH` in one transaction,
however many deliveries there are.
"""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, get_args

from gatewayd.events import expanded
from gatewayd.store import ReadTx
from gatewayd.webhooks.subscribers.time_range import TimeRange

EVENTS_PER_SEARCH: Final = 10_000  # Chosen: events that one transaction looks at, some 15 to 30 ms

Outcome = Literal["exhausted", "cancelled", "missed"]
"""How the last delivery of an event ended, or that it never had one."""
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)


class MissedSearch(NamedTuple):
    """What to look for. `after`: the event behind which to begin; empty: from the start of the range."""

    subscription_id: str
    time_range: TimeRange
    kinds: Sequence[str]
    outcomes: Sequence[Outcome] = OUTCOMES
    after: str = ""


class MissedEvent(NamedTuple):
    """An event that did not arrive. The last delivery and the first of all are None where there never was one."""

    event_id: str
    kind: str
    last_delivery_id: str | None
    original_id: str | None
    outcome: Outcome


class SearchResult(NamedTuple):
    """What one search found, oldest first. `end`: the last event looked at; None: the range holds no more."""

    events: list[MissedEvent]
    end: str | None


_SELECT_END = """
SELECT id FROM events WHERE org_id = :org_id AND id >= :from_id AND id < :to_id ORDER BY id LIMIT 1 OFFSET :skipped
"""
_SELECT_MISSED = """
SELECT e.id, e.kind, d.id, COALESCE(d.original_id, d.id), COALESCE(d.status, 'missed')
FROM events e LEFT JOIN deliveries d ON d.event_id = e.id AND d.org_id = :org_id AND d.subscription_id = :id
WHERE e.org_id = :org_id AND e.id >= :from_id AND e.id < :to_id AND e.created_at >= :since AND e.created_at < :until
    AND e.test = 0 AND NOT EXISTS (
        SELECT 1 FROM deliveries o WHERE o.event_id = e.id AND o.subscription_id = :id
            AND (o.status IN ('succeeded', 'pending', 'retrying') OR o.id > d.id)
    )
"""
_OLDEST_FIRST = " ORDER BY e.id"


def search(tx: ReadTx, query: MissedSearch) -> SearchResult:
    """Look at the next `EVENTS_PER_SEARCH` events."""
    bounds = query.time_range.bounds("evt")
    bounds["from_id"] = max(str(bounds["from_id"]), _just_after(query.after))
    end = tx.value(_SELECT_END, from_id=bounds["from_id"], to_id=bounds["to_id"], skipped=EVENTS_PER_SEARCH - 1)
    if end is not None:
        bounds["to_id"] = _just_after(end)
    kinds = {f"kind_{place}": kind for place, kind in enumerate(expanded(query.kinds))}
    of_kinds = f" AND e.kind IN ({', '.join(f':{name}' for name in kinds)})"
    rows = tx.rows(_SELECT_MISSED + of_kinds + _OLDEST_FIRST, id=query.subscription_id, **bounds, **kinds)
    found = [MissedEvent(*row) for row in rows]
    return SearchResult([one for one in found if one.outcome in query.outcomes], end)


def _just_after(event_id: str) -> str:
    """Sorts behind an id and before every later one."""
    return f"{event_id}!"
