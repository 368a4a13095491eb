"""What API keys were used for: how often each operation on each day, so that people see what a key reads and changes.

Counted in memory, and written down by the rounds that note when a key was used. What a kill loses is the last round's.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

from gatewayd.clock import DAY, Instant
from gatewayd.contract.wire import Response, Timestamp
from gatewayd.identity.keys import api_keys
from gatewayd.store import ReadTx, WriteTx

KEPT_DAYS: Final = 90  # Chosen: as long as deletions are told
COUNTED_MAX: Final = 100_000  # Chosen: pairs of key and operation of one round; about 20 MB
SHOWN_MAX: Final = 1_000  # Chosen: more than there are operations
SWEEP_ROWS: Final = 1_000
"""Of one transaction."""

_ADD = """
INSERT INTO api_key_uses (org_id, key_id, day, operation, times, first_at, last_at)
VALUES (:org_id, :key_id, :day, :operation, :times, :now, :now)
ON CONFLICT (org_id, key_id, day, operation) DO UPDATE SET
    times = api_key_uses.times + excluded.times, last_at = excluded.last_at
"""
_BY_OPERATION = """
SELECT operation, sum(times), count(*), min(first_at), max(last_at) FROM api_key_uses
WHERE org_id = :org_id AND key_id = :key_id AND day >= :since
GROUP BY operation ORDER BY operation LIMIT :limit
"""
_BY_DAY = """
SELECT day, sum(times) FROM api_key_uses
WHERE org_id = :org_id AND key_id = :key_id AND day >= :since
GROUP BY day ORDER BY day LIMIT :limit
"""
_SWEEP_ANY_ORG = """
DELETE FROM api_key_uses WHERE (org_id, key_id, day, operation) IN (
    SELECT org_id, key_id, day, operation FROM api_key_uses WHERE day < :before ORDER BY day LIMIT :count
) AND day < :before
"""


class KeyUse(NamedTuple):
    """One call: of which key, and of which operation."""

    key_id: str
    operation: str


class OperationUse(Response, frozen=True, kw_only=True):
    """What a key asked of one operation in the days that are kept.

    `first_at` and `last_at` are the rounds that wrote it down, up to a minute after the call.
    """

    operation: str
    times: int
    days: int
    first_at: Timestamp
    last_at: Timestamp


class KeyUses:
    """Counts calls between two rounds of a periodic task, as `CredentialUse` collects ids. Of one thread."""

    def __init__(self, most: int = COUNTED_MAX) -> None:
        self._most = most
        self._counts: dict[KeyUse, int] = {}

    def note(self, key_id: str, operation: str) -> None:
        """One more call. Past so many different ones in one round those that are new are not counted."""
        use = KeyUse(key_id, operation)
        count = self._counts.get(use, 0)
        if count or len(self._counts) < self._most:
            self._counts[use] = count + 1

    def due(self) -> dict[KeyUse, int]:
        """What was counted since it was written down last."""
        return dict(self._counts)

    def written(self, counts: Mapping[KeyUse, int]) -> None:
        """These, that were due, are durable; what was counted meanwhile is due again."""
        for use, count in counts.items():
            left = self._counts[use] - count
            if left:
                self._counts[use] = left
            else:
                del self._counts[use]


def add(tx: WriteTx, counts: Mapping[KeyUse, int]) -> None:
    """Write down what was counted, on the transaction's day. Keys that are gone with their organization are left out.

    The transaction acts for one of the organizations afterwards.
    """
    day = _day(tx.now)
    organizations = {key_id: api_keys.find_organization(tx, key_id) for key_id in {use.key_id for use in counts}}
    for use, times in sorted(counts.items()):
        org_id = organizations[use.key_id]
        if org_id is not None:
            tx.bind(org_id)
            tx.run(_ADD, key_id=use.key_id, day=day, operation=use.operation, times=times)


def by_operation(tx: ReadTx, key_id: str) -> list[OperationUse]:
    """What a key of the transaction's organization was used for within `KEPT_DAYS`, the latest first."""
    rows = tx.rows(_BY_OPERATION, key_id=key_id, since=_since(tx.now), limit=SHOWN_MAX)
    uses = [
        OperationUse(
            operation=operation, times=int(times), days=int(days), first_at=Instant(first), last_at=Instant(last)
        )
        for operation, times, days, first, last in rows
    ]
    return sorted(uses, key=lambda use: -use.last_at)


def by_day(tx: ReadTx, key_id: str) -> dict[str, int]:
    """How many calls there were on each day, UTC, that has any, within `KEPT_DAYS`."""
    return {day: int(times) for day, times in tx.rows(_BY_DAY, key_id=key_id, since=_since(tx.now), limit=SHOWN_MAX)}


def sweep(tx: WriteTx) -> int:
    """Delete at most about `SWEEP_ROWS` rows of days that are kept no longer; returns how many."""
    return tx.run(_SWEEP_ANY_ORG, before=_since(tx.now), count=SWEEP_ROWS)


def _since(now: int) -> str:
    return _day(now - KEPT_DAYS * DAY)


def _day(instant: int) -> str:
    return datetime.fromtimestamp(instant // 1_000_000, UTC).date().isoformat()
