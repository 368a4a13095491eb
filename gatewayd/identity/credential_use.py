"""Which credentials were used, so that each is written down once a day at most."""

from collections.abc import Collection

from gatewayd.clock import DAY, Instant


class CredentialUse:
    """Collects ids between two rounds of a periodic task:

        due = use.due(now)
        if due: write them down, then use.written(due)

    A round that fails loses nothing: what was not `written` is due again. A use is dated with the round that follows.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._written: set[str] = set()
        self._day = -1
        self.note = self._seen.add

    def due(self, now: Instant) -> frozenset[str]:
        """The ids used since the last round, without those written down on the same day, UTC."""
        if now // DAY != self._day:
            self._day = now // DAY
            self._written.clear()
        self._seen -= self._written
        return frozenset(self._seen)

    def written(self, ids: Collection[str]) -> None:
        """These, that were due, are durable."""
        self._written.update(ids)
