"""Grants of credits as they are stored. Owns the table `credit_grants`.

What a grant has left is `remaining`, a part of which may be held for work that is under way. Only the rest can be drawn
from, expire or be taken back.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from gatewayd.clock import Instant
from gatewayd.errors import not_found
from gatewayd.ledger.credits.shapes import ZERO, Category, GrantRow, Source
from gatewayd.money import Credits
from gatewayd.store import Columns, ReadTx, WriteTx

PRIORITY: Final = 100  # Chosen: of grants that name none, with room on both sides
DUE_AT_ONCE: Final = 250  # Chosen: which takes 50 ms
GRANTS: Final = Columns(GrantRow)

_SELECT = f"SELECT {GRANTS.sql} FROM credit_grants WHERE org_id = :org_id"
_SELECT_ONE = f"{_SELECT} AND id = :id"
_SELECT_OWNER_ANY_ORG = "SELECT org_id FROM credit_grants WHERE id = :id"
_SELECT_NEWEST = f"{_SELECT} AND id < :after_id ORDER BY id DESC LIMIT :count"
_SELECT_TO_DRAW = """
SELECT id, remaining - held FROM credit_grants
WHERE org_id = :org_id AND remaining > held AND (expires_at IS NULL OR expires_at > :at)
ORDER BY priority, expires_at IS NULL, expires_at, category DESC, id
"""
_SELECT_DUE = """
SELECT id, remaining - held, expires_at FROM credit_grants
WHERE org_id = :org_id AND remaining > held AND expires_at IS NOT NULL AND expires_at <= :at
ORDER BY expires_at, id LIMIT :count
"""
_SELECT_EXPIRING = """
SELECT expires_at, sum(remaining - held) FROM credit_grants
WHERE org_id = :org_id AND remaining > held AND expires_at IS NOT NULL AND expires_at > :after AND expires_at <= :until
GROUP BY expires_at ORDER BY expires_at LIMIT :count
"""
_SUM_EXPIRED = """
SELECT coalesce(sum(remaining - held), 0) FROM credit_grants
WHERE org_id = :org_id AND remaining > held AND expires_at IS NOT NULL AND expires_at <= :at
"""
_SELECT_WITH_DUE_ANY_ORG = """
SELECT org_id FROM credit_grants
WHERE remaining > held AND expires_at IS NOT NULL AND expires_at <= :at ORDER BY expires_at, org_id LIMIT 1
"""
_SUM_REMAINING = "SELECT coalesce(sum(remaining), 0) FROM credit_grants WHERE org_id = :org_id AND remaining > 0"
_VALUES = ", ".join(f":{name}" for name in GRANTS.names)
_INSERT = f"INSERT INTO credit_grants (org_id, {GRANTS.sql}) VALUES (:org_id, {_VALUES})"
_CHANGE = """
UPDATE credit_grants SET used = used + CAST(:used AS BIGINT), expired = expired + CAST(:expired AS BIGINT),
  voided = voided + CAST(:voided AS BIGINT), held = held + CAST(:held AS BIGINT),
  remaining = remaining - CAST(:used AS BIGINT) - CAST(:expired AS BIGINT) - CAST(:voided AS BIGINT)
WHERE org_id = :org_id AND id = :id
"""
_END = """
UPDATE credit_grants SET voided_at = :now,
  expires_at = CASE WHEN expires_at IS NULL OR expires_at > :now THEN :now ELSE expires_at END
WHERE org_id = :org_id AND id = :id
"""


class NewGrant(msgspec.Struct, frozen=True, kw_only=True):
    """Credits to be given. `amount` is in millionths; `used` of them pay at once what is owed."""

    source: Source
    amount: int
    used: int = 0
    category: Category = "promotional"
    priority: int = PRIORITY
    description: str | None = None
    expires_at: Instant | None = None


class Change(NamedTuple):
    """What is added to the sums of a grant; what is used, expires or is voided leaves what remains."""

    used: int = 0
    expired: int = 0
    voided: int = 0
    held: int = 0


class Draw(NamedTuple):
    """So much of one grant, in millionths."""

    grant_id: str
    amount: int


class Due(NamedTuple):
    """What of a grant has expired."""

    grant_id: str
    amount: int
    expired_at: Instant


def create(tx: WriteTx, new: NewGrant) -> GrantRow:
    """Store a new grant."""
    row = GrantRow(
        id=tx.new_id("gra"),
        source=new.source,
        category=new.category,
        priority=new.priority,
        amount=Credits(new.amount),
        used=Credits(new.used),
        expired=ZERO,
        voided=ZERO,
        remaining=Credits(new.amount - new.used),
        held=ZERO,
        description=new.description,
        expires_at=new.expires_at,
        voided_at=None,
        created_at=tx.now,
    )
    tx.run_each(_INSERT, [(tx.org_id, *GRANTS.dump(row))])
    return row


def get(tx: ReadTx, id_: str) -> GrantRow:
    """One grant. Raises `Problem` `not_found`."""
    values = tx.row(_SELECT_ONE, id=id_)
    if values is None:
        raise not_found("grant")
    return GRANTS.load(values)


def organization_of(tx: ReadTx, id_: str) -> str:
    """Whose grant it is, for the operator of the instance. Raises `Problem` `not_found`."""
    org_id: str | None = tx.value(_SELECT_OWNER_ANY_ORG, id=id_)
    if org_id is None:
        raise not_found("grant")
    return org_id


def newest(tx: ReadTx, after_id: str, count: int) -> Iterator[GrantRow]:
    """The grants that were made before another, the newest first."""
    return (GRANTS.load(values) for values in tx.each(_SELECT_NEWEST, after_id=after_id, count=count))


def draw(tx: ReadTx, amount: int) -> tuple[list[Draw], int]:
    """Of which grants an amount is taken, in order (Domain C8), and how much there is not."""
    draws = []
    for grant_id, left in tx.each(_SELECT_TO_DRAW, at=tx.now):
        taken = min(left, amount)
        draws.append(Draw(grant_id, taken))
        amount -= taken
        if amount == 0:
            break
    return draws, amount


def due(tx: ReadTx, at: Instant) -> list[Due]:
    """What has expired by an instant and is not booked: some of it, the earliest first."""
    rows = tx.rows(_SELECT_DUE, at=at, count=DUE_AT_ONCE)
    return [Due(grant_id, amount, Instant(expired_at)) for grant_id, amount, expired_at in rows]


def expiring(tx: ReadTx, after: Instant, until: Instant, count: int) -> list[tuple[Instant, int]]:
    """What expires between two instants: when, and how much; the earliest first."""
    rows = tx.rows(_SELECT_EXPIRING, after=after, until=until, count=count)
    return [(Instant(expires_at), amount) for expires_at, amount in rows]


def expired_by(tx: ReadTx, at: Instant) -> int:
    """What has expired by an instant, or will have, and is not booked."""
    return int(tx.value(_SUM_EXPIRED, at=at))


def organization_with_due(tx: ReadTx, at: Instant) -> str | None:
    """An organization in which something has expired; None: nothing has."""
    org_id: str | None = tx.value(_SELECT_WITH_DUE_ANY_ORG, at=at)
    return org_id


def remaining(tx: ReadTx) -> int:
    """What all grants of the organization have left."""
    return int(tx.value(_SUM_REMAINING))


def change(tx: WriteTx, grant_id: str, by: Change) -> None:
    """Add to the sums of a grant."""
    tx.run(_CHANGE, id=grant_id, **by._asdict())


def end(tx: WriteTx, grant_id: str) -> None:
    """Let a grant be over from now on: what is held of it expires where its hold gives it back."""
    tx.run(_END, id=grant_id)
