"""What an undoing takes along: the allocations of an import's lines, and what keeps them."""

from collections.abc import Iterator
from typing import Final

from gatewayd.areas.banking.allocations import transfers
from gatewayd.errors import Problem, invalid_state
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Allocation
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.imports.import_shapes import ImportRunRow, KeptAllocation, Undoing
from gatewayd.store import ReadTx, WriteTx

REMOVED_AT_ONCE: Final = 2_000  # Chosen: allocations that go with one undoing, in one transaction
KEPT_SHOWN: Final = 100

_SELECT_OF_IMPORT = f"""
{ALLOCATIONS.select} AND source_id IN (
    SELECT id FROM bank_transactions WHERE org_id = :org_id AND import_id = :import_id AND allocated <> 0
)
ORDER BY id LIMIT :count
"""
_COUNT_LINES = "SELECT count(date) FROM bank_transactions WHERE org_id = :org_id AND import_id = :import_id"


def planned(tx: ReadTx, run: ImportRunRow) -> Undoing:
    """What an undoing would take out, and which allocations would not let it."""
    rows = _of_import(tx, run.id)
    kept = [(row, refusal.message) for row in rows if (refusal := _refusal(tx, row)) is not None]
    return Undoing(
        transactions=int(tx.value(_COUNT_LINES, import_id=run.id)) - run.replaced,
        put_back=run.replaced,
        allocations=len(rows),
        kept=[
            KeptAllocation(allocation_id=row.id, bank_transaction_id=row.source_id or "", reason=reason)
            for row, reason in kept[:KEPT_SHOWN]
        ],
    )


def remove_allocations(tx: WriteTx, run: ImportRunRow) -> None:
    """Take back all allocations of the lines of an import; of a transfer the other half too.

    Raises `Problem`: `invalid_state` for a payment of an invoice, and for too many; `period_closed`.
    """
    rows = _of_import(tx, run.id)
    if len(rows) > REMOVED_AT_ONCE:
        message = (
            f"It has more than {REMOVED_AT_ONCE} allocations: remove some of them first, with"
            " `banking.removeAllocation`."
        )
        raise invalid_state(message, run.status, ())
    by_id: dict[str, Allocation] = {}
    for row in rows:
        for allocation in _together(tx, row):
            by_id[allocation.id] = allocation
    allocations.remove(tx, *by_id.values())


def _of_import(tx: ReadTx, import_id: str) -> list[Allocation]:
    rows = tx.rows(_SELECT_OF_IMPORT, import_id=import_id, count=REMOVED_AT_ONCE + 1)
    return [ALLOCATIONS.read(tx, row) for row in rows]


def _together(tx: ReadTx, row: Allocation) -> Iterator[Allocation]:
    """An allocation with what goes with it. Raises `Problem` `invalid_state` where something else is bound to it."""
    yield row
    other = transfers.other_half(tx, row)
    if other is None:
        allocations.refuse_bound(row)
    else:
        yield other


def _refusal(tx: ReadTx, row: Allocation) -> Problem | None:
    """Why an allocation cannot be taken back; None: it can."""
    try:
        for allocation in _together(tx, row):
            allocations.refuse_closed(tx, allocation)
    except Problem as problem:
        return problem
    return None
