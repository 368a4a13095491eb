"""Sums of the usage of credits by quarter of an hour and operation. Owns the table `credit_usage`.

Days of any time zone, of 23 and of 25 hours too, begin and end with a quarter of an hour (Chosen: zones whose offset
was another one ended before 1990).
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from gatewayd.clock import MINUTE, Instant
from gatewayd.store import ReadTx, WriteTx

QUARTER: Final = 15 * MINUTE

_ADD = """
INSERT INTO credit_usage (org_id, operation, quarter, credits, operations)
VALUES (:org_id, :operation, :quarter, :credits, :operations)
ON CONFLICT (org_id, quarter, operation) DO UPDATE SET
  credits = credit_usage.credits + excluded.credits, operations = credit_usage.operations + excluded.operations
"""
_GIVE_BACK = """
UPDATE credit_usage SET credits = credits - CAST(:credits AS BIGINT)
WHERE org_id = :org_id AND quarter = :quarter AND operation = :operation
"""
_SUM = """
SELECT operation, sum(credits), sum(operations) FROM credit_usage
WHERE org_id = :org_id AND quarter >= :first AND quarter < :behind GROUP BY operation
"""


class Used(NamedTuple):
    """Millionths of credits, and in how many operations."""

    credits: int
    operations: int


def add(tx: WriteTx, operation: str, at: Instant, used: Used) -> None:
    """Add what was used at an instant."""
    tx.run(_ADD, operation=operation, quarter=at // QUARTER, credits=used.credits, operations=used.operations)


def give_back(tx: WriteTx, operation: str, at: Instant, amount: int) -> None:
    """Take off what was refunded of what was used at an instant."""
    tx.run(_GIVE_BACK, operation=operation, quarter=at // QUARTER, credits=amount)


def between(tx: ReadTx, start: Instant, end: Instant) -> Iterator[tuple[str, Used]]:
    """What each operation used from one instant up to another; both begin a quarter of an hour."""
    found = tx.each(_SUM, first=start // QUARTER, behind=end // QUARTER)
    return ((operation, Used(amount, count)) for operation, amount, count in found)
