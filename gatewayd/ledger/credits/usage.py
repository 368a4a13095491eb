"""Sums of the usage of credits by time and operation. Owns the tables `credit_usage` and `credit_usage_blocks`.

They are kept by quarter of an hour and by block of six hours. Days of any time zone, of 23 and of 25 hours too, begin
with a quarter of an hour (Chosen: zones whose offset was another one ended before 1990), and most of a day are whole
blocks, so that a year is summed up in few steps.

Usage is told by civil day of a time zone, or by operation.
"""

import datetime
import zoneinfo
from collections.abc import Iterable
from typing import Final, NamedTuple

from gatewayd import clock
from gatewayd.clock import MINUTE, Instant
from gatewayd.errors import invalid_field
from gatewayd.ledger.credits.shapes import UsageDay, UsageTotals, UsedCredits
from gatewayd.money import Credits
from gatewayd.store import ReadTx, WriteTx

QUARTER: Final = 15 * MINUTE
QUARTERS: Final = 24
"""Of a block."""

_ADD = """
UPDATE credit_usage
SET credits = credits + CAST(:credits AS BIGINT), operations = operations + CAST(:operations AS BIGINT)
WHERE org_id = :org_id AND quarter = :quarter AND operation = :operation
"""
_BEGIN = """
INSERT INTO credit_usage (org_id, operation, quarter, credits, operations)
VALUES (:org_id, :operation, :quarter, :credits, :operations)
"""
_ADD_TO_BLOCK = """
UPDATE credit_usage_blocks
SET credits = credits + CAST(:credits AS BIGINT), operations = operations + CAST(:operations AS BIGINT)
WHERE org_id = :org_id AND block = :block AND operation = :operation
"""
_BEGIN_BLOCK = """
INSERT INTO credit_usage_blocks (org_id, operation, block, credits, operations)
VALUES (:org_id, :operation, :block, :credits, :operations)
"""
_GIVE_BACK = """
UPDATE credit_usage SET credits = credits - CAST(:credits AS BIGINT)
WHERE org_id = :org_id AND quarter = :quarter AND operation = :operation
"""
_GIVE_BACK_OF_BLOCK = """
UPDATE credit_usage_blocks SET credits = credits - CAST(:credits AS BIGINT)
WHERE org_id = :org_id AND block = :block AND operation = :operation
"""
_SUM = """
SELECT operation, sum(credits), sum(operations) FROM credit_usage
WHERE org_id = :org_id AND quarter >= :first AND quarter < :behind GROUP BY operation
"""
_SUM_BLOCKS = """
SELECT operation, sum(credits), sum(operations) FROM credit_usage_blocks
WHERE org_id = :org_id AND block >= :first AND block < :behind GROUP BY operation
"""
_DAY = datetime.timedelta(days=1)


class Used(NamedTuple):
    """Millionths of credits, and in how many operations."""

    credits: int
    operations: int


Sums = dict[str, Used]
"""What each operation used."""


def add(tx: WriteTx, operation: str, at: Instant, used: Used) -> None:
    """Add what was used at an instant."""
    quarter = at // QUARTER
    _add_or_begin(tx, _ADD, _BEGIN, {"operation": operation, "quarter": quarter, **used._asdict()})
    _add_or_begin(
        tx, _ADD_TO_BLOCK, _BEGIN_BLOCK, {"operation": operation, "block": quarter // QUARTERS, **used._asdict()}
    )


def _add_or_begin(tx: WriteTx, add_sql: str, begin_sql: str, values: dict[str, object]) -> None:
    """Add to a sum that is there nearly always, which costs half of what an upsert does."""
    if not tx.run(add_sql, **values):
        tx.run(begin_sql, **values)


def give_back(tx: WriteTx, operation: str, at: Instant, amount: int) -> None:
    """Take off what was refunded of what was used at an instant."""
    quarter = at // QUARTER
    tx.run(_GIVE_BACK, operation=operation, quarter=quarter, credits=amount)
    tx.run(_GIVE_BACK_OF_BLOCK, operation=operation, block=quarter // QUARTERS, credits=amount)


def between(tx: ReadTx, bounds: list[Instant]) -> list[Sums]:
    """What was used from each of the instants up to the next; all begin a quarter of an hour.

    From one to another there are the blocks between those that begin next to both, and what lies beside these.
    """
    quarters = [bound // QUARTER for bound in bounds]
    nearest = [(quarter + QUARTERS // 2) // QUARTERS for quarter in quarters]
    beside = [_beside(tx, quarter, block) for quarter, block in zip(quarters, nearest, strict=True)]
    return [
        added([_read_sums(tx, _SUM_BLOCKS, nearest[n], nearest[n + 1]), beside[n + 1], _negative(beside[n])])
        for n in range(len(bounds) - 1)
    ]


def added(many: Iterable[Sums]) -> Sums:
    """The sums of several, without operations that come to nothing."""
    total: Sums = {}
    for sums in many:
        for operation, used in sums.items():
            before = total.get(operation, Used(0, 0))
            total[operation] = Used(before.credits + used.credits, before.operations + used.operations)
    return {operation: used for operation, used in total.items() if any(used)}


def _beside(tx: ReadTx, quarter: int, block: int) -> Sums:
    """What was used from the beginning of a block up to a quarter; negative where the quarter is before it."""
    begins = block * QUARTERS
    if quarter < begins:
        return _negative(_read_sums(tx, _SUM, quarter, begins))
    return _read_sums(tx, _SUM, begins, quarter) if quarter > begins else {}


def _negative(sums: Sums) -> Sums:
    return {operation: Used(-used.credits, -used.operations) for operation, used in sums.items()}


def _read_sums(tx: ReadTx, sql: str, first: int, behind: int) -> Sums:
    return {operation: Used(*sums) for operation, *sums in tx.each(sql, first=first, behind=behind)}


def time_zone(name: str) -> zoneinfo.ZoneInfo:
    """The zone of a name such as `Europe/London`. Raises `Problem` `validation_failed` where there is no such one."""
    zone = clock.time_zone(name)
    if zone is None:
        raise invalid_field(
            "timezone", "invalid_format", "There is no such time zone: expected an IANA name such as Europe/London."
        )
    return zone


def by_day(tx: ReadTx, first: datetime.date, last: datetime.date, zone: zoneinfo.ZoneInfo) -> list[tuple[str, Sums]]:
    """What was used on each day of a range, both inclusive, those without use too."""
    days = [first + number * _DAY for number in range((last - first).days + 1)]
    used = between(tx, [clock.midnight(day, zone) for day in (*days, last + _DAY)])
    return [(day.isoformat(), sums) for day, sums in zip(days, used, strict=True)]


def of_days(tx: ReadTx, first: datetime.date, last: datetime.date, zone: zoneinfo.ZoneInfo) -> Sums:
    """What was used in a range of days, both inclusive."""
    (sums,) = between(tx, [clock.midnight(first, zone), clock.midnight(last + _DAY, zone)])
    return sums


def day_of(date: str, sums: Sums) -> UsageDay:
    """One day of the answer."""
    used, operations = _total(sums)
    return UsageDay(date=date, credits=used, operations=operations, by_operation=_by_operation(sums))


def totals_of(sums: Sums) -> UsageTotals:
    """The totals of the answer."""
    used, operations = _total(sums)
    return UsageTotals(credits=used, operations=operations, by_operation=_by_operation(sums))


def _total(sums: Sums) -> tuple[Credits, int]:
    return Credits(sum(used.credits for used in sums.values())), sum(used.operations for used in sums.values())


def _by_operation(sums: Sums) -> dict[str, UsedCredits]:
    ordered = sorted(sums.items())
    return {name: UsedCredits(credits=Credits(used.credits), count=used.operations) for name, used in ordered}
