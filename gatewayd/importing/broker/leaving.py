"""What an import brought leaves an account again, some in one transaction, what came last first."""

from collections.abc import Sequence

from msgspec.structs import replace

from gatewayd.areas.assets.books import transactions
from gatewayd.areas.assets.books.accounts import ACCOUNTS
from gatewayd.areas.assets.books.transactions import AssetTransaction
from gatewayd.areas.assets.imports import rows
from gatewayd.areas.assets.pools import recording
from gatewayd.errors import invalid_state
from gatewayd.importing.broker.entering import override
from gatewayd.importing.parts import Sizes
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.store import WriteTx


class Tried(Exception):
    """It would leave: raised, so that it stays."""


def begin(tx: WriteTx, run: ImportRunRow, sizes: Sizes) -> ImportRunRow:
    """Take out all of a small import; a large one is gone on with.

    Raises `Problem`: `invalid_state` where any of it was reversed, `period_closed`, `insufficient_quantity`.
    """
    account = ACCOUNTS.get(tx, run.account_id)
    if transactions.reversed_of_import(tx, run.id) is not None:
        raise invalid_state("Transactions of it were reversed: the import cannot be undone any more.", run.status, ())
    override(tx, run)
    ranges = period_locks.closed_ranges(tx, account.legal_entity_id, run.overrides_closing)
    closed = transactions.first_within(tx, run.id, ranges)
    if closed is not None:
        period_locks.refuse_closed(tx, account.legal_entity_id, closed)
    if run.added > sizes.whole:
        return RUNS.update(tx, replace(run, status="reverting", stage="reverting", error=None))
    take_some(tx, run=run, count=sizes.whole)
    return end(tx, run)


def take_some(tx: WriteTx, *, run: ImportRunRow, count: int) -> int:
    """Take out at most `count` transactions; answers how many that were.

    Raises `Problem`: `insufficient_quantity`, `period_closed` where one was closed since the undoing began.
    """
    found = transactions.last_of_import(tx, run.id, count)
    _take(tx, run, found)
    return len(found)


def try_instrument(tx: WriteTx, *, run: ImportRunRow, instrument_id: str) -> None:
    """Take out what it brought of an instrument, and raise `Tried`. Raises `Problem` as `take_some`."""
    _take(tx, run, transactions.of_import_and_instrument(tx, run.id, instrument_id))
    raise Tried


def end(tx: WriteTx, run: ImportRunRow) -> ImportRunRow:
    """Nothing of it is left."""
    return RUNS.update(tx, replace(run, status="reverted", stage=None, reverted_at=tx.now, error=None))


def stop(tx: WriteTx, run: ImportRunRow, reason: str) -> ImportRunRow:
    """Meanwhile something was entered that needs what is left of it, or closed: for people, who undo it once more."""
    return RUNS.update(tx, replace(run, status="reverting", stage=None, error=reason))


def _take(tx: WriteTx, run: ImportRunRow, found: Sequence[AssetTransaction]) -> None:
    override(tx, run)
    ids = [one.id for one in found]
    for legal_entity_id in {one.legal_entity_id for one in found}:
        period_locks.refuse_closed(tx, legal_entity_id, *(one.trade_date for one in found))
    recording.take_back(tx, found)
    rows.forget_records(tx, ids)
    transactions.delete(tx, ids)
