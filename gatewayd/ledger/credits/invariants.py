"""The six invariants of the ledger of credits (Domain C8), and that its sums are those of its entries."""

from collections.abc import Callable, Iterator
from typing import Final

from gatewayd.ledger.credits import entries, grants
from gatewayd.ledger.credits.shapes import EntryRow
from gatewayd.money import credits_text
from gatewayd.store import ReadTx

CHUNK: Final = 2000
"""Entries that one transaction looks at."""

_SELECT_BROKEN_GRANTS = """
SELECT id FROM credit_grants WHERE org_id = :org_id AND (remaining <> amount - used - expired - voided OR remaining < 0
  OR held < 0 OR held > remaining) ORDER BY id LIMIT 10
"""
_SELECT_CHARGED_TWICE = """
SELECT operation_id FROM credit_entries WHERE org_id = :org_id AND operation_id IS NOT NULL
GROUP BY operation_id, part HAVING count(*) > 1 LIMIT 10
"""
_SUM_HELD = "SELECT coalesce(sum(held), 0) FROM credit_grants WHERE org_id = :org_id"
_SUM_DRAWS = """
SELECT coalesce(sum(d.amount), 0) FROM credit_holds h
JOIN credit_hold_draws d ON d.org_id = h.org_id AND d.hold_id = h.id
WHERE h.org_id = :org_id AND h.status = 'open'
"""
_SUM_USAGE = "SELECT coalesce(sum(credits), 0) FROM credit_usage WHERE org_id = :org_id"
_SUM_BLOCKS = "SELECT coalesce(sum(credits), 0) FROM credit_usage_blocks WHERE org_id = :org_id"
_SUM_ENTRIES = """
SELECT coalesce(-sum(amount), 0) FROM credit_entries
WHERE org_id = :org_id AND operation IS NOT NULL AND (type = 'usage' OR type = 'refund')
"""


def faults_of_grants(tx: ReadTx) -> list[str]:
    """What is wrong with grants, holds and sums of the organization, in sentences; empty: nothing."""
    found = [f"the grant {row[0]} doesn't add up" for row in tx.rows(_SELECT_BROKEN_GRANTS)]
    found += [f"{row[0]} was charged twice" for row in tx.rows(_SELECT_CHARGED_TWICE)]
    sums = (
        ("what grants have left", grants.remaining(tx), "the balance", max(0, entries.balance(tx))),
        ("what grants hold", tx.value(_SUM_HELD), "the open holds", tx.value(_SUM_DRAWS)),
        ("the usage by quarters", tx.value(_SUM_USAGE), "the ledger", tx.value(_SUM_ENTRIES)),
        ("the usage by blocks", tx.value(_SUM_BLOCKS), "the ledger", tx.value(_SUM_ENTRIES)),
    )
    for what, sum_of_it, other, sum_of_other in sums:
        if sum_of_it != sum_of_other:
            found.append(f"{what} is {credits_text(sum_of_it)}, {other} {credits_text(sum_of_other)}")
    return [f"{tx.org_id}: {fault}" for fault in found]


def from_entry(before: EntryRow | None) -> Callable[[ReadTx], tuple[list[str], EntryRow | None]]:
    """A read of the next entries: what is wrong with them, and the last of them; None: there are no more."""

    def work(tx: ReadTx) -> tuple[list[str], EntryRow | None]:
        found: list[str] = []
        previous = before
        rows = entries.following(tx, 0 if before is None else before.sequence, CHUNK)
        for row in rows:
            found += [f"{tx.org_id}: entry {row.sequence} {fault}" for fault in _faults(previous, row)]
            previous = row
        return found, previous if len(rows) == CHUNK else None

    return work


def _faults(before: EntryRow | None, row: EntryRow) -> Iterator[str]:
    sequence, balance = (0, 0) if before is None else (before.sequence, int(before.balance_after))
    if row.sequence != sequence + 1:
        yield f"follows entry {sequence}"
    if row.balance_after != balance + row.amount:
        yield f"leaves {credits_text(row.balance_after)} of {credits_text(balance)} and {credits_text(row.amount)}"
