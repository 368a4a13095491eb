"""What the lines of an import are for, as far as rules decide by themselves: behind the import, and seen by all."""

from functools import partial
from typing import Final

from msgspec.structs import replace

from gatewayd.importing.pace import Pace
from gatewayd.ledger.allocating import allocation_rules, bank_lines
from gatewayd.ledger.allocating.bank_lines import Position
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.store import Store, WriteTx

AT_ONCE: Final = 100  # Chosen: lines in one transaction; a rule takes the time of several rows


async def allocate(store: Store, org_id: str, import_id: str) -> None:
    """Let the rules allocate an import that is applied, where it waits for them."""
    run = await store.read(lambda tx: RUNS.get(tx, import_id), org_id)
    if run.stage != "allocating":
        return
    pace = Pace(store, org_id)
    after: Position | None = Position(run.account_id, "", "")
    while after is not None:
        after = await pace.write(partial(_allocate_next, run=run, after=after, count=pace.rows(AT_ONCE)))
    await store.write(lambda tx: _end(tx, import_id), org_id)


def _allocate_next(tx: WriteTx, run: ImportRunRow, after: Position, count: int) -> Position | None:
    """The position of the last line that was looked at; None: none follow."""
    if run.overrides_closing:
        tx.overrides = frozenset({period_locks.CLOSING})
    lines = bank_lines.of_import(tx, run.id, after, count)
    allocation_rules.apply_rules(tx, lines)
    return lines[-1].position if len(lines) == count else None


def _end(tx: WriteTx, import_id: str) -> ImportRunRow:
    return RUNS.update(tx, replace(RUNS.get(tx, import_id), stage=None))
