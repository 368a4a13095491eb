"""How the rows of an import come into an account and leave it again, each step in one transaction.

A few thousand rows come and go in one transaction. More do so in many short ones, hidden until the last of them (see
`ledger.hidden_imports`): what a kill leaves in between is seen by nobody, and is gone on with at the next start.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.banking.accounts.shapes import BankAccountRow
from gatewayd.areas.banking.imports import rows
from gatewayd.areas.banking.statements import coverage, statement_gaps
from gatewayd.areas.banking.transactions import rows as transactions
from gatewayd.areas.banking.transactions.shapes import TransactionRow
from gatewayd.errors import invalid_state
from gatewayd.importing.bank import taking
from gatewayd.importing.parts import Sizes
from gatewayd.ledger.allocating import allocation_rules
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports import import_runs
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportRunRow, Stage
from gatewayd.store import ReadTx, WriteTx

_EVERY_POSITION: Final = 1 << 62


class PeriodsChanged(Exception):
    """A period was closed since the rows were looked at: look at them again."""


# -- in


def apply_whole(tx: WriteTx, run: ImportRunRow) -> ImportRunRow:
    """Bring all rows in at once. Raises `PeriodsChanged`, and then nothing has come in."""
    transactions.move_in(tx, run.account_id, run.id, 0, _EVERY_POSITION)
    return _end_applying(tx, run)


def begin_hidden(tx: WriteTx, run: ImportRunRow) -> None:
    """Hide what will come in."""
    import_runs.hide(tx, run.id)


def apply_chunk(tx: WriteTx, run: ImportRunRow, after: int, count: int) -> int:
    """Bring the rows of the next `count` positions in; answers the last of them."""
    upto = after + count
    transactions.move_in(tx, run.account_id, run.id, after, upto)
    import_runs.note_moved(tx, run.id, upto)
    return upto


def end_hidden(tx: WriteTx, run: ImportRunRow) -> ImportRunRow:
    """Show all that has come in. Raises `PeriodsChanged`, and then it stays hidden."""
    import_runs.show(tx, run.id)  # so that its lines are counted between the balances
    return _end_applying(tx, run)


def begin_taking_back(tx: WriteTx, run: ImportRunRow) -> None:
    """What has come in goes again: who goes on with it does not take it for there."""
    import_runs.note_moved(tx, run.id, 0)


def end_taking_back(tx: WriteTx, run: ImportRunRow) -> None:
    """Nothing of what had come in is left: begin again."""
    import_runs.show(tx, run.id)


def _end_applying(tx: WriteTx, run: ImportRunRow) -> ImportRunRow:
    account = ACCOUNTS.get(tx, run.account_id)
    for replacement in rows.replacing(tx, run.id):
        before = transactions.get(tx, replacement.transaction_id)
        if before is not None:
            rows.remember(tx, run.id, replacement.position, msgspec.json.encode(_kept(before)).decode())
            transactions.replace_with(tx, replacement.transaction_id, run.id, replacement.values)
    if transactions.first_within(tx, run.id, _closed_ranges(tx, account, run)) is not None:
        raise PeriodsChanged
    coverage.mark(tx, account.id, run.id, applied=True)
    stage: Stage | None = "allocating" if allocation_rules.apply_by_themselves(tx) else None
    return RUNS.update(tx, replace(run, status="applied", stage=stage, applied_at=tx.now))


# -- out


def begin_undoing(tx: WriteTx, run: ImportRunRow, sizes: Sizes) -> ImportRunRow:
    """Take an import out of its account, for all to see.

    What is left to do of a large one is in its `stage`. Raises `Problem`: `invalid_state` where any of it is allocated,
    `period_closed`.
    """
    account = ACCOUNTS.get(tx, run.account_id)
    if transactions.is_in_use(tx, account.id, run.id):
        message = "Transactions of it are allocated: send removeAllocations: true to take those back with it."
        raise invalid_state(message, run.status, ())
    closed = transactions.first_within(tx, run.id, _closed_ranges(tx, account, run))
    if closed is not None:
        is_closed = period_locks.is_closed(tx, account.legal_entity_id, closed)
        raise period_locks.refusal(closed, "closed" if is_closed else "closing")
    statement_gaps.note(tx, account.id, run.id)
    taking.give_back(tx, run)
    _put_back(tx, run)
    if run.added + run.replaced <= sizes.at_once:
        transactions.move_out(tx, run.id, sizes.at_once)
        reverted = replace(run, status="reverted", stage=None, reverted_at=tx.now)
    else:
        import_runs.hide(tx, run.id)
        reverted = replace(run, status="reverting", stage="reverting")
    coverage.mark(tx, account.id, run.id, applied=False)
    return RUNS.update(tx, reverted)


def undo_chunk(tx: WriteTx, run: ImportRunRow, count: int) -> int:
    """Delete at most `count` rows of what is hidden; answers how many that was."""
    return transactions.move_out(tx, run.id, count)


def end_undoing(tx: WriteTx, run: ImportRunRow) -> ImportRunRow:
    """Nothing of it is left."""
    import_runs.show(tx, run.id)
    return RUNS.update(tx, replace(run, status="reverted", stage=None, reverted_at=tx.now))


def _closed_ranges(tx: ReadTx, account: BankAccountRow, run: ImportRunRow) -> list[tuple[str, str]]:
    return period_locks.closed_ranges(tx, account.legal_entity_id, run.overrides_closing)


def _put_back(tx: WriteTx, run: ImportRunRow) -> None:
    """Make lines that were replaced what they were, but for those whose own import is undone: these go."""
    for replacement in rows.replacing(tx, run.id):
        if replacement.before is None:
            continue
        before = msgspec.json.decode(replacement.before, type=_Kept)
        if before.import_id is None or import_runs.status_of(tx, before.import_id) == "applied":
            transactions.replace_with(tx, replacement.transaction_id, before.import_id, before.values)


class _Kept(msgspec.Struct, frozen=True):
    """What a replaced line was: the import it came from, and its columns."""

    import_id: str | None
    values: dict[str, str | int | None]


def _kept(row: TransactionRow) -> _Kept:
    return msgspec.convert({"import_id": row.import_id, "values": transactions.file_values(row)}, _Kept)
