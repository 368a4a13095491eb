"""Rows of a broker's file are entered as `assets.createTransaction` does, or are tried and leave nothing behind."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from gatewayd.areas.assets.books.accounts import ACCOUNTS
from gatewayd.areas.assets.books.portfolios import PORTFOLIOS
from gatewayd.areas.assets.books.transactions import AssetTransaction
from gatewayd.areas.assets.imports import conversions, records, rows
from gatewayd.areas.assets.imports.conversions import Conversion
from gatewayd.areas.assets.imports.requests import request_of
from gatewayd.areas.assets.imports.rows import STAGED, Decision, Waiting
from gatewayd.areas.assets.pools import recording
from gatewayd.areas.assets.transactions import entering
from gatewayd.areas.assets.transactions.entering import Origin
from gatewayd.areas.assets.transactions.shapes import CreateTransaction
from gatewayd.errors import Problem
from gatewayd.importing import staged
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports import import_runs
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.store import ReadTx, WriteTx


class Tried(Exception):
    """What would become of rows: raised, so that nothing of it stays. `conversions` has, by position, by what they
    would be converted.
    """

    def __init__(self, decisions: list[Decision], converted: dict[int, Conversion]) -> None:
        super().__init__()
        self.decisions = decisions
        self.conversions = converted


class Unfit(Exception):
    """A row that cannot come in, and why: raised, so that nothing of its piece does."""

    def __init__(self, decision: Decision) -> None:
        super().__init__()
        self.decision = decision


def try_out(tx: WriteTx, *, run: ImportRunRow, waiting: Sequence[Waiting]) -> None:
    """Check rows as if they were entered, and raise `Tried` with those that were refused."""
    override(tx, run)
    base_currency = base_currency_of(tx, run.account_id)
    refused, converted = [], {}
    for row in waiting:
        try:
            made, *_ = entering.check(tx, _request(run, row, base_currency), Origin("import", run.id))
        except Problem as problem:
            refused.append(_refusal(row.position, problem))
            continue
        if (conversion := conversions.conversion_of(made)) is not None:
            converted[row.position] = conversion
    raise Tried(refused, converted)


def enter(tx: WriteTx, *, run: ImportRunRow, count: int) -> int:
    """Bring the next rows in, and end where none are left behind them; answers how many came in.

    Raises `Unfit`, and then none has.
    """
    override(tx, run)
    base_currency = base_currency_of(tx, run.account_id)
    waiting = rows.waiting(tx, run.id, count)
    became: list[tuple[int, AssetTransaction]] = []
    stored: list[AssetTransaction] = []
    for row in waiting:
        try:
            made = entering.store(tx, _request(run, row, base_currency), Origin("import", run.id))
        except Problem as problem:
            raise Unfit(_refusal(row.position, problem)) from problem
        became.append((row.position, made[0]))
        stored += made
    _record(tx, stored, became)
    rows.mark(tx, run.id, [(position, transaction.id) for position, transaction in became])
    known = {row.position: row.record_id for row in waiting}
    kept = [(record, transaction.id) for position, transaction in became if (record := known[position]) is not None]
    rows.keep_records(tx, run.account_id, kept)
    _note(tx, run, len(waiting), is_last=len(waiting) < count)
    return len(waiting)


def override(tx: WriteTx, run: ImportRunRow) -> None:
    """Write in a period that is being closed, where that was asked for."""
    if run.overrides_closing:
        tx.overrides = frozenset({period_locks.CLOSING})


def base_currency_of(tx: ReadTx, account_id: str) -> str:
    """The currency of the portfolio of an account."""
    account = ACCOUNTS.get(tx, account_id)
    return PORTFOLIOS.get(tx, account.portfolio_id).base_currency


def _note(tx: WriteTx, run: ImportRunRow, count: int, *, is_last: bool) -> None:
    """How far the run has come."""
    now = RUNS.get(tx, run.id)
    moved_to = (now.moved_to or 0) + count
    if is_last:
        now = staged.counted(tx, STAGED, now)  # anew: rows may have been refused on the way
        now = replace(now, supposed=[*conversions.of_import(tx, run.id), *records.of_import(tx, run.id)])
        RUNS.update(tx, replace(now, status="applied", stage=None, applied_at=tx.now, moved_to=moved_to))
    else:
        import_runs.note_moved(tx, run.id, moved_to)


def _request(run: ImportRunRow, row: Waiting, base_currency: str) -> CreateTransaction:
    """What enters a row, if its fields have the form that the API asks for. Raises `Problem` `validation_failed`."""
    request = request_of(row.trade, run.account_id, base_currency)
    try:
        return msgspec.json.decode(msgspec.json.encode(request), type=CreateTransaction)
    except msgspec.ValidationError as error:
        path = str(error).rpartition("`$.")[2].rstrip("`")
        value: object = request
        for name in path.split("."):
            fields = () if not isinstance(value, msgspec.Struct) else msgspec.structs.fields(value)
            value = next((getattr(value, field.name) for field in fields if field.encode_name == name), None)
        raise Problem("validation_failed", f"{str(value)[:60]!r} cannot be its {path or 'value'}.") from None


def _record(tx: WriteTx, stored: Sequence[AssetTransaction], became: Sequence[tuple[int, AssetTransaction]]) -> None:
    """Enter them into what is held. Raises `Unfit`."""
    try:
        recording.record(tx, stored)
    except Problem as problem:
        at_fault = problem.extra.get("transactionId")
        ours = [position for position, transaction in became if transaction.id == at_fault]
        raise Unfit(_refusal((ours or [became[0][0]])[0], problem)) from problem


def _refusal(position: int, problem: Problem) -> Decision:
    reasons = [error.message for error in problem.errors] or [problem.message]
    return Decision(position, "refuse", " ".join(dict.fromkeys(reasons)))
