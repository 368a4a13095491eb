"""Staged lines of a statement are compared with those of the account: the step before they are applied."""

from functools import partial

from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.banking.imports import duplicates, rows
from gatewayd.areas.banking.imports.duplicates import Plan, Stored
from gatewayd.areas.banking.imports.rows import STAGED, Decision
from gatewayd.importing import staged
from gatewayd.importing.fencing import Database
from gatewayd.importing.pace import Pace
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.store import ReadTx


async def compare(store: Database, org_id: str, run: ImportRunRow) -> ImportRunRow:
    """Decide on every staged row, and count what would become of them."""
    pace = Pace(store, org_id)
    await staged.reset(pace, STAGED, run.id)
    plan, pending = await store.read_later(lambda tx: _begin_plan(tx, run), org_id)
    days = await store.read_later(lambda tx: duplicates.days(tx, run.id), org_id)
    for span in staged.spans(days, pace):
        decisions = await pace.read(partial(_decide, run=run, plan=plan, pending=pending, span=span))
        if decisions:
            await pace.write(partial(rows.decide, import_id=run.id, decisions=decisions))
    counted = await store.read_later(lambda tx: staged.counted(tx, STAGED, run), org_id)
    return await store.write(lambda tx: RUNS.save(tx, counted), org_id)


def _begin_plan(tx: ReadTx, run: ImportRunRow) -> tuple[Plan, dict[int, list[Stored]]]:
    account = ACCOUNTS.get(tx, run.account_id)
    closed = period_locks.closed_ranges(tx, account.legal_entity_id, run.overrides_closing)

    def is_closed(date: str) -> bool:
        return any(first <= date <= last for first, last in closed)

    return Plan(account.id, account.currency, run.format, is_closed), duplicates.pending(tx, account.id)


def _decide(
    tx: ReadTx, run: ImportRunRow, plan: Plan, pending: dict[int, list[Stored]], span: tuple[str, str]
) -> list[Decision]:
    of_days = duplicates.candidates(tx, run.id, *span)
    known = duplicates.known(tx, run.account_id, run.id, of_days, pending)
    return [decision for day, candidates in of_days.items() for decision in plan.day(candidates, known[day])]
