"""Subscriptions whose last attempt ran into the time limit: they may be hanging, and get little room until one answers.

Otherwise a hundred receivers that hang at once would take every slot for ten seconds of each retry.
"""

from typing import Final

MAX_REMEMBERED: Final = 1024  # Chosen: the one that hung longest ago is forgotten first, and may hang once more


class Suspects:
    """In the order in which they last hung. In memory alone: after a restart each one has to hang again."""

    def __init__(self, max_remembered: int = MAX_REMEMBERED) -> None:
        self._ids: dict[str, None] = {}
        self._max_remembered = max_remembered

    def note(self, subscription_id: str, *, hung: bool) -> None:
        """Remember how an attempt ended."""
        self._ids.pop(subscription_id, None)
        if hung:
            self._ids[subscription_id] = None
            if len(self._ids) > self._max_remembered:
                del self._ids[next(iter(self._ids))]

    def copied(self) -> frozenset[str]:
        """Who is suspect now."""
        return frozenset(self._ids)
