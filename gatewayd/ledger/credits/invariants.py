"""The six invariants of the ledger of credits (Domain C8), and that its sums are those of its entries.

Nothing here goes by what made the entries: whatever is kept beside them is reckoned from them once more.
"""

from collections.abc import Callable, Iterator
from typing import Final

from gatewayd.clock import Instant, to_wire
from gatewayd.ledger.credits import entries, grants
from gatewayd.ledger.credits.shapes import EntryRow
from gatewayd.ledger.credits.usage import QUARTER, QUARTERS
from gatewayd.money import credits_text
from gatewayd.store import ReadTx

CHUNK: Final = 2000
"""Entries that one transaction looks at."""
MOST_TOLD: Final = 10
"""Of one kind of fault."""

_SELECT_BROKEN_GRANTS = """
SELECT id FROM credit_grants WHERE org_id = :org_id AND (remaining <> amount - used - expired - voided OR remaining < 0
  OR used < 0 OR expired < 0 OR voided < 0 OR held < 0 OR held > remaining) ORDER BY id LIMIT :count
"""
# What is given pays first what is owed, so that no more of it stays in the grant than the balance is above 0.
_SELECT_OTHER_GRANTS = """
SELECT g.id, g.amount, coalesce(f.amount, 0), g.expired, coalesce(e.expired, 0), g.voided, coalesce(e.voided, 0),
  g.remaining, coalesce(e.remaining, 0), g.held, coalesce(h.held, 0)
FROM credit_grants g
LEFT JOIN (
  SELECT grant_id, min(sequence) AS first, sum(CASE WHEN type = 'expiry' THEN -amount ELSE 0 END) AS expired,
    sum(CASE WHEN type = 'void' THEN -amount ELSE 0 END) AS voided,
    sum(CASE WHEN amount < 0 OR balance_after >= amount THEN amount
      WHEN balance_after > 0 THEN balance_after ELSE 0 END) AS remaining
  FROM credit_entries WHERE org_id = :org_id AND grant_id IS NOT NULL GROUP BY grant_id
) e ON e.grant_id = g.id
LEFT JOIN credit_entries f ON f.org_id = g.org_id AND f.sequence = e.first
LEFT JOIN (
  SELECT d.grant_id, sum(d.amount) AS held FROM credit_holds o
  JOIN credit_hold_draws d ON d.org_id = o.org_id AND d.hold_id = o.id
  WHERE o.org_id = :org_id AND o.status = 'open' GROUP BY d.grant_id
) h ON h.grant_id = g.id
WHERE g.org_id = :org_id AND (g.amount <> coalesce(f.amount, 0) OR g.expired <> coalesce(e.expired, 0)
  OR g.voided <> coalesce(e.voided, 0) OR g.remaining <> coalesce(e.remaining, 0) OR g.held <> coalesce(h.held, 0))
ORDER BY g.id LIMIT :count
"""
_FIGURES: Final = ("given", "expired", "voided", "remaining", "held")
# One charge is entered at once: its parts are counted from 1, follow each other, and are each of another grant.
_SELECT_CHARGED_TWICE = """
SELECT operation_id FROM credit_entries WHERE org_id = :org_id AND operation_id IS NOT NULL
GROUP BY operation_id HAVING count(*) <> max(part) OR count(*) <> max(sequence) - min(sequence) + 1
  OR count(*) <> count(DISTINCT coalesce(grant_id, '')) ORDER BY operation_id LIMIT :count
"""
_SELECT_REVERSING_NOTHING = """
SELECT r.sequence FROM credit_entries r LEFT JOIN credit_entries u ON u.org_id = r.org_id AND u.id = r.reversal_of
WHERE r.org_id = :org_id AND (r.type <> 'refund' AND r.reversal_of IS NOT NULL OR r.type = 'refund' AND (
  u.id IS NULL OR u.type <> 'usage' OR u.sequence >= r.sequence OR u.occurred_at <> r.occurred_at
  OR coalesce(u.operation, '') <> coalesce(r.operation, ''))) ORDER BY r.sequence LIMIT :count
"""
_SELECT_REFUNDED_TWICE = """
SELECT u.sequence FROM credit_entries u JOIN (
  SELECT reversal_of, sum(amount) AS amount FROM credit_entries
  WHERE org_id = :org_id AND reversal_of IS NOT NULL GROUP BY reversal_of
) r ON r.reversal_of = u.id
WHERE u.org_id = :org_id AND r.amount > -u.amount ORDER BY u.sequence LIMIT :count
"""
_SELECT_OTHER_QUARTERS = f"""
SELECT q.operation, q.quarter FROM credit_usage q
LEFT JOIN credit_entries e ON e.org_id = q.org_id AND e.operation = q.operation
  AND e.occurred_at >= q.quarter * {QUARTER} AND e.occurred_at < q.quarter * {QUARTER} + {QUARTER}
  AND (e.type = 'usage' OR e.type = 'refund')
WHERE q.org_id = :org_id GROUP BY q.operation, q.quarter, q.credits, q.operations
HAVING q.credits <> coalesce(-sum(e.amount), 0)
  OR q.operations <> sum(CASE WHEN e.type = 'usage' AND e.part = 1 THEN 1 ELSE 0 END)
ORDER BY q.quarter, q.operation LIMIT :count
"""
_SELECT_OTHER_BLOCKS = f"""
SELECT b.operation, b.block FROM credit_usage_blocks b
LEFT JOIN credit_usage q ON q.org_id = b.org_id AND q.operation = b.operation
  AND q.quarter >= b.block * {QUARTERS} AND q.quarter < b.block * {QUARTERS} + {QUARTERS}
WHERE b.org_id = :org_id GROUP BY b.operation, b.block, b.credits, b.operations
HAVING b.credits <> coalesce(sum(q.credits), 0) OR b.operations <> coalesce(sum(q.operations), 0)
ORDER BY b.block, b.operation LIMIT :count
"""
_SUM_USED = """
SELECT coalesce(-sum(amount), 0), count(CASE WHEN type = 'usage' AND part = 1 THEN 1 END) FROM credit_entries
WHERE org_id = :org_id AND operation IS NOT NULL AND (type = 'usage' OR type = 'refund')
"""
_SUM_QUARTERS = """
SELECT coalesce(sum(credits), 0), coalesce(sum(operations), 0) FROM credit_usage WHERE org_id = :org_id
"""
_SUM_BLOCKS = """
SELECT coalesce(sum(credits), 0), coalesce(sum(operations), 0) FROM credit_usage_blocks WHERE org_id = :org_id
"""


def faults_of_grants(tx: ReadTx) -> list[str]:
    """What is wrong with grants, holds, charges and sums of the organization, in sentences; empty: nothing."""
    faults = [*_of_grants(tx), *_of_charges(tx), *_of_usage(tx)]
    return [f"{tx.org_id}: {fault}" for fault in faults]


def _of_grants(tx: ReadTx) -> Iterator[str]:
    for (id_,) in tx.rows(_SELECT_BROKEN_GRANTS, count=MOST_TOLD):
        yield f"the grant {id_} doesn't add up"
    for id_, *figures in tx.rows(_SELECT_OTHER_GRANTS, count=MOST_TOLD):
        for name, stored, reckoned in zip(_FIGURES, figures[::2], figures[1::2], strict=True):
            if stored != reckoned:
                told = f"{credits_text(stored)} {name}, by its entries and holds {credits_text(reckoned)}"
                yield f"the grant {id_} has {told}"
    left, balance = grants.remaining(tx), max(0, entries.balance(tx))
    if left != balance:
        yield f"what grants have left is {credits_text(left)}, the balance {credits_text(balance)}"


def _of_charges(tx: ReadTx) -> Iterator[str]:
    for (operation_id,) in tx.rows(_SELECT_CHARGED_TWICE, count=MOST_TOLD):
        yield f"{operation_id} was charged twice"
    for (sequence,) in tx.rows(_SELECT_REVERSING_NOTHING, count=MOST_TOLD):
        yield f"entry {sequence} reverses no usage"
    for (sequence,) in tx.rows(_SELECT_REFUNDED_TWICE, count=MOST_TOLD):
        yield f"more of entry {sequence} was refunded than was used"


def _of_usage(tx: ReadTx) -> Iterator[str]:
    for operation, quarter in tx.rows(_SELECT_OTHER_QUARTERS, count=MOST_TOLD):
        yield f"the usage of {operation} in the quarter of an hour from {_begin(quarter)} is not the ledger's"
    for operation, block in tx.rows(_SELECT_OTHER_BLOCKS, count=MOST_TOLD):
        yield f"the usage of {operation} in the six hours from {_begin(block * QUARTERS)} is not that of its quarters"
    ((used, operations),) = tx.rows(_SUM_USED)
    for what, sql in (("by quarters", _SUM_QUARTERS), ("by six hours", _SUM_BLOCKS)):
        ((amount, count),) = tx.rows(sql)
        if (amount, count) != (used, operations):
            sums = f"{credits_text(amount)} in {count} operations"
            yield f"the usage {what} is {sums}, the ledger's {credits_text(used)} in {operations}"


def _begin(quarter: int) -> str:
    return to_wire(Instant(quarter * QUARTER))


def from_entry(before: EntryRow | None) -> Callable[[ReadTx], tuple[list[str], EntryRow | None]]:
    """A read of the next entries: what is wrong with them, and the last of them; None: there are no more."""

    def work(tx: ReadTx) -> tuple[list[str], EntryRow | None]:
        faults: list[str] = []
        previous = before
        rows = entries.following(tx, 0 if before is None else before.sequence, CHUNK)
        for row in rows:
            faults += [f"{tx.org_id}: entry {row.sequence} {fault}" for fault in _faults(previous, row)]
            previous = row
        return faults, previous if len(rows) == CHUNK else None

    return work


def _faults(before: EntryRow | None, row: EntryRow) -> Iterator[str]:
    sequence, balance = (0, 0) if before is None else (before.sequence, int(before.balance_after))
    granted, used = (0, 0) if before is None else (int(before.lifetime_granted), int(before.lifetime_used))
    if row.sequence != sequence + 1:
        yield f"follows entry {sequence}"
    if row.balance_after != balance + row.amount:
        yield f"leaves {credits_text(row.balance_after)} of {credits_text(balance)} and {credits_text(row.amount)}"
    granted += row.amount if row.type in entries.GIVING else 0
    if row.lifetime_granted != granted:
        yield f"tells that {credits_text(row.lifetime_granted)} were granted by then, not {credits_text(granted)}"
    used -= row.amount if row.type in entries.USING else 0
    if row.lifetime_used != used:
        yield f"tells that {credits_text(row.lifetime_used)} were used by then, not {credits_text(used)}"
    if before is not None and row.booked_at < before.booked_at:
        yield f"was booked before entry {sequence}"
