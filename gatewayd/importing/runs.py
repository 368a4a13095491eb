"""The states of a run, and what moves it from one to another: each in the transaction of its caller."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from gatewayd.areas.banking.accounts.shapes import CreateAccount
from gatewayd.areas.banking.statements import coverage, kept_statements
from gatewayd.areas.banking.statements.kept_statements import NOTHING_SAID, SaidRange
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import FieldError, Problem, invalid_state
from gatewayd.importing.bank import new_accounts, undoing
from gatewayd.importing.kinds import Kind, NotTaken
from gatewayd.importing.reading import Source
from gatewayd.ledger.imports import import_runs
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportKind, ImportRunRow, RunSource, RunStatus, Stage
from gatewayd.statements.shapes import Format, Unreadable
from gatewayd.statements.shapes import Mapping as ColumnsMapping
from gatewayd.store import WriteTx


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done with a file. `format` and `mapping` None: found out by content.

    `date_format` and `negate` answer what a CSV left open: the order of its dates, and whether spending is positive.
    `of_account` is which account of the file is meant, as the file calls it; `covers` the days that the file is of.

    `new_account`: a bank account that is made for the file, and goes with its import where that fails.
    """

    kind: ImportKind
    file_name: str
    format: Format | None
    mapping: ColumnsMapping | None
    preview: bool
    date_format: str | None = None
    negate: bool | None = None
    of_account: str | None = None
    covers: SaidRange = NOTHING_SAID
    account_id: str = ""
    new_account: CreateAccount | None = None
    overrides_closing: bool = False

    def source(self, path: Path, max_bytes: int) -> Source:
        """The file that is to be read, at `path`."""
        return Source(
            path=path,
            file_name=self.file_name,
            format=self.format,
            mapping=self.mapping,
            max_bytes=max_bytes,
            date_format=self.date_format,
            negate=self.negate,
            of_account=self.of_account,
            covers=self.covers,
        )


def begin(tx: WriteTx, order: Order, kind: Kind, file: ReceivedFile, source: RunSource) -> ImportRunRow:
    """The new run of a file, or that which brought the same file into the account, as far as it can come in.

    Raises `Problem` as `Kind.open_account`, or as `new_accounts.make`.
    """
    if order.new_account is not None:
        former = new_accounts.former(tx, file.sha256, order.of_account)
        if former is not None:
            return _again(tx, former, order)
        account = new_accounts.make(tx, order.new_account, order.account_id)
    else:
        account = kind.open_account(tx, order.account_id)
        former = import_runs.same_file(tx, account.id, file.sha256)
        if former is not None and not _brings_more(tx, order, kind, former):
            return _again(tx, former, order)
    run = RUNS.new(
        tx,
        None,
        kind=order.kind,
        source=source,
        account_id=account.id,
        file_name=order.file_name,
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        status="uploaded",
        stage="reading",
        moved_to=0,
        overrides_closing=order.overrides_closing,
        currency=account.currency,
        refused=[],
        ignored=[],
        other_accounts=[],
        gave=[],
        supposed=[],
        makes_account=order.new_account is not None,
        **dict.fromkeys(("rows", "added", "duplicates", "replaced", "refused_rows", "ignored_rows"), 0),
    )
    return RUNS.insert(tx, run)


def _brings_more(tx: WriteTx, order: Order, kind: Kind, former: ImportRunRow) -> bool:
    """Whether the same file may bring rows that it brought not before."""
    said_more = order.kind == "broker" and order.mapping is not None and former.refused_rows > 0
    return said_more or kind.may_bring_more(tx, former, order.overrides_closing)


def _again(tx: WriteTx, former: ImportRunRow, order: Order) -> ImportRunRow:
    """The answer to a file that came before; what it covers may be said only now. Raises `Problem` as `widened`."""
    if order.kind == "bank" and order.covers != NOTHING_SAID:
        kept_statements.widen(tx, former.id, order.covers, tx.today)
        coverage.refresh(tx, former.account_id)
        days = {"from_date": order.covers.first or former.from_date, "to_date": order.covers.last or former.to_date}
        former = RUNS.update(tx, replace(former, **days))
    return import_runs.again(former)


def refusal(run: ImportRunRow, error: Unreadable) -> Problem:
    """422: the file cannot be read, or is not for the account. A run that goes with its account is not named."""
    extra = {} if run.makes_account else {"importId": run.id}
    if isinstance(error, NotTaken):
        told = error.problem
        return Problem(told.code, told.message, errors=told.errors, extra={**told.extra, **extra})
    return unreadable(error, extra)


def unreadable(error: Unreadable, extra: Mapping[str, object] | None = None) -> Problem:
    """422: the file cannot be read."""
    errors = (FieldError("file", "unreadable_file", str(error)),)
    return Problem("validation_failed", f"The file cannot be read: {error}", errors=errors, extra=extra)


def busy() -> Problem:
    """409: one import at a time works on an account."""
    return invalid_state("Another import works on this account: wait until it has ended.", "applying", ())


def begin_applying(tx: WriteTx, import_id: str, kind: Kind, overrides_closing: bool) -> ImportRunRow:
    """A preview that is to be applied. Raises `Problem`: `not_found`, `invalid_state`."""
    run = RUNS.get(tx, import_id)
    if run.status != "previewed":
        message = f"The import is {run.status}: only one that is previewed can be applied."
        raise invalid_state(message, run.status, ("previewed",))
    kind.open_account(tx, run.account_id)
    return move(tx, replace(run, overrides_closing=overrides_closing), "applying", "applying")


def begin_undoing(
    tx: WriteTx, import_id: str, kind: Kind, *, overrides_closing: bool, removes_allocations: bool
) -> ImportRunRow:
    """An import that is to be undone. Raises `Problem` as the kind does, `not_found`, `invalid_state`."""
    run = RUNS.get(tx, import_id)
    refuse_undoing(run)
    if removes_allocations and run.kind == "bank":
        undoing.remove_allocations(tx, run)
    return kind.begin_undoing(tx, replace(run, overrides_closing=overrides_closing))


def refuse_undoing(run: ImportRunRow) -> None:
    """Raises `Problem` `invalid_state` for a run that brought nothing, or is undone already."""
    if run.status != "applied" and not (run.status == "reverting" and run.stage is None):
        message = f"The import is {run.status}: only one that is applied can be undone."
        raise invalid_state(message, run.status, ("applied",))


def move(tx: WriteTx, run: ImportRunRow, status: RunStatus, stage: Stage | None) -> ImportRunRow:
    """The run in another state; `stage` None: nobody works on it."""
    return RUNS.update(tx, replace(run, status=status, stage=stage))


def fail_unless_begun(tx: WriteTx, import_id: str, kind: Kind) -> None:
    """Let a run fail by a fault of ours, unless rows of it have come in: that one is gone on with."""
    run = RUNS.get(tx, import_id)
    if run.status != "applied" and not kind.has_begun(tx, run):
        fail(tx, import_id, "Something went wrong on our side.")


def end_staging(tx: WriteTx, run: ImportRunRow) -> bool:
    """None of its rows is staged any more. Answers whether a run that failed went with the account made for it."""
    if new_accounts.forget(tx, run):
        return True
    import_runs.note_moved(tx, run.id, None)
    return False


def fail(tx: WriteTx, import_id: str, reason: str) -> ImportRunRow:
    """The run has failed, for people to read why."""
    run = RUNS.get(tx, import_id)
    return RUNS.update(tx, replace(run, status="failed", stage=None, error=reason))
