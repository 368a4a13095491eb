"""Credits that are held for work under way. Owns the tables `credit_holds` and `credit_hold_draws`.

A hold is of certain grants, so that what it holds doesn't expire under it. One that nobody ends is over at its
`expires_at`: a kill loses nothing.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from gatewayd.clock import DAY, Instant
from gatewayd.ledger.credits.grants import Draw
from gatewayd.store import ReadTx, WriteTx

LONGEST: Final = DAY
"""Chosen: no work under way is longer."""
DUE_AT_ONCE: Final = 250  # Chosen: which takes 50 ms

_SELECT = "SELECT id, operation, operation_id, most, status, expires_at FROM credit_holds WHERE org_id = :org_id"
_SELECT_ONE = f"{_SELECT} AND id = :id"
_SELECT_OF_OPERATION = f"{_SELECT} AND operation_id = :operation_id"
_SELECT_DUE = f"{_SELECT} AND status = 'open' AND expires_at <= :at ORDER BY expires_at, id LIMIT :count"
_SELECT_OPEN = f"{_SELECT} AND status = 'open' ORDER BY expires_at, id"
_SELECT_DRAWS = """
SELECT grant_id, amount FROM credit_hold_draws WHERE org_id = :org_id AND hold_id = :hold_id ORDER BY position
"""
_SUM_OPEN = """
SELECT coalesce(sum(d.amount), 0) FROM credit_holds h
JOIN credit_hold_draws d ON d.org_id = h.org_id AND d.hold_id = h.id
WHERE h.org_id = :org_id AND h.status = 'open' AND h.expires_at > :at
"""
_SUM_AT = """
SELECT coalesce(sum(d.amount), 0) FROM credit_holds h
JOIN credit_hold_draws d ON d.org_id = h.org_id AND d.hold_id = h.id
WHERE h.org_id = :org_id AND h.created_at > :earliest AND h.created_at <= :at AND h.expires_at > :at
  AND (h.closed_at IS NULL OR h.closed_at > :at)
"""
_SUM_HELD_PAST_DUE = """
SELECT coalesce(sum(d.amount), 0) FROM credit_holds h
JOIN credit_hold_draws d ON d.org_id = h.org_id AND d.hold_id = h.id
JOIN credit_grants g ON g.org_id = h.org_id AND g.id = d.grant_id
WHERE h.org_id = :org_id AND h.status = 'open' AND h.expires_at <= :at AND g.expires_at <= :at
"""
_SELECT_WITH_DUE_ANY_ORG = """
SELECT org_id FROM credit_holds WHERE status = 'open' AND expires_at <= :at ORDER BY expires_at, org_id LIMIT 1
"""
_OPEN = """
INSERT INTO credit_holds (id, org_id, operation, operation_id, most, status, expires_at, created_at)
VALUES (:id, :org_id, :operation, :operation_id, :most, 'open', :expires_at, :now)
"""
_REOPEN = """
UPDATE credit_holds SET status = 'open', operation = :operation, most = :most, expires_at = :expires_at,
  created_at = :now, closed_at = NULL
WHERE org_id = :org_id AND id = :id
"""
_CLOSE = "UPDATE credit_holds SET status = :status, closed_at = :now WHERE org_id = :org_id AND id = :id"
_FORGET_DRAWS = "DELETE FROM credit_hold_draws WHERE org_id = :org_id AND hold_id = :hold_id"
_ADD_DRAW = """
INSERT INTO credit_hold_draws (org_id, hold_id, position, grant_id, amount)
VALUES (:org_id, :hold_id, :position, :grant_id, :amount)
"""


class Hold(NamedTuple):
    """At `most` so many millionths for one piece of work, until `expires_at`."""

    id: str
    operation: str
    operation_id: str
    most: int
    status: str
    expires_at: Instant


def find(tx: ReadTx, id_: str) -> Hold | None:
    """One hold."""
    values = tx.row(_SELECT_ONE, id=id_)
    return None if values is None else Hold(*values)


def of_operation(tx: ReadTx, operation_id: str) -> Hold | None:
    """The hold of a piece of work, in whatever state."""
    values = tx.row(_SELECT_OF_OPERATION, operation_id=operation_id)
    return None if values is None else Hold(*values)


def due(tx: ReadTx, at: Instant) -> list[Hold]:
    """Open holds that are over by an instant: some of them, the earliest first."""
    return [Hold(*values) for values in tx.rows(_SELECT_DUE, at=at, count=DUE_AT_ONCE)]


def every_open(tx: ReadTx) -> list[Hold]:
    """All open holds: as many as there is work under way."""
    return [Hold(*values) for values in tx.rows(_SELECT_OPEN)]


def draws_of(tx: ReadTx, hold_id: str) -> list[Draw]:
    """What a hold holds of which grants, in order."""
    return [Draw(*values) for values in tx.rows(_SELECT_DRAWS, hold_id=hold_id)]


def held(tx: ReadTx, at: Instant) -> int:
    """What open holds hold at an instant that is not past."""
    return int(tx.value(_SUM_OPEN, at=at))


def held_then(tx: ReadTx, at: Instant) -> int:
    """What holds held at an instant that is past."""
    return int(tx.value(_SUM_AT, at=at, earliest=at - LONGEST))


def held_past_due(tx: ReadTx, at: Instant) -> int:
    """What holds that are over still hold of grants that have expired: it expires with them."""
    return int(tx.value(_SUM_HELD_PAST_DUE, at=at))


def organization_with_due(tx: ReadTx, at: Instant) -> str | None:
    """An organization in which an open hold is over; None: there is none."""
    org_id: str | None = tx.value(_SELECT_WITH_DUE_ANY_ORG, at=at)
    return org_id


def put(tx: WriteTx, hold: Hold, draws: Sequence[Draw]) -> None:
    """Open a hold, again where it was there before."""
    if find(tx, hold.id) is None:
        tx.run(_OPEN, **_named(hold), operation_id=hold.operation_id)
    else:
        tx.run(_REOPEN, **_named(hold))
        tx.run(_FORGET_DRAWS, hold_id=hold.id)
    rows = [(tx.org_id, hold.id, position, *draw) for position, draw in enumerate(draws, 1)]
    tx.run_each(_ADD_DRAW, rows)


def close(tx: WriteTx, hold_id: str, status: str) -> None:
    """Note how a hold has ended."""
    tx.run(_CLOSE, id=hold_id, status=status)


def _named(hold: Hold) -> dict[str, object]:
    return {"id": hold.id, "operation": hold.operation, "most": hold.most, "expires_at": hold.expires_at}
