"""The states of a run, and what moves it from one to another: each in the transaction of its caller."""

from dataclasses import dataclass

from msgspec.structs import replace

from gatewayd.areas.banking.accounts.shapes import CreateAccount
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import Problem, invalid_state
from gatewayd.importing.bank import new_accounts
from gatewayd.importing.kinds import Kind
from gatewayd.ledger import import_runs
from gatewayd.ledger.import_runs import RUNS
from gatewayd.ledger.import_shapes import ImportKind, ImportRunRow, RunSource, RunStatus, Stage
from gatewayd.statements.shapes import Format, Mapping
from gatewayd.store import WriteTx


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done with a file. `format` and `mapping` None: found out by content.

    `date_format` and `negate` answer what a CSV left open: the order of its dates, and whether spending is positive.

    `new_account`: a bank account that is made for the file, and goes with its import where that fails.
    """

    kind: ImportKind
    file_name: str
    format: Format | None
    mapping: Mapping | None
    preview: bool
    date_format: str | None = None
    negate: bool | None = None
    account_id: str = ""
    new_account: CreateAccount | None = None
    overrides_closing: bool = False


def begin(tx: WriteTx, order: Order, kind: Kind, file: ReceivedFile, source: RunSource) -> ImportRunRow:
    """The new run of a file, or that which brought the same file into the account, as far as it can come in.

    Raises `Problem` as `Kind.open_account`, or as `new_accounts.make`.
    """
    if order.new_account is None:
        account = kind.open_account(tx, order.account_id)
    else:
        account = new_accounts.make(tx, order.new_account, order.account_id)
    former = import_runs.same_file(tx, account.id, file.sha256)
    says_more = order.kind == "broker" and order.mapping is not None and former is not None and former.refused_rows > 0
    if former is not None and not says_more and not kind.may_bring_more(tx, former, order.overrides_closing):
        return former
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
        supposed=[],
        makes_account=order.new_account is not None,
        **dict.fromkeys(("rows", "added", "duplicates", "replaced", "refused_rows", "ignored_rows"), 0),
    )
    return RUNS.insert(tx, run)


def busy() -> Problem:
    """409: one import at a time works on an account."""
    return invalid_state("Another import works on this account: wait until it has ended.", "applying", ())


def begin_applying(tx: WriteTx, import_id: str, kind: Kind, overrides_closing: bool) -> ImportRunRow:
    """A preview that is to be applied. Raises `Problem`: `not_found`, `invalid_state`."""
    run = RUNS.get(tx, import_id)
    if run.status != "previewed":
        raise invalid_state(f"The import is {run.status}.", run.status, ())
    kind.open_account(tx, run.account_id)
    return move(tx, replace(run, overrides_closing=overrides_closing), "applying", "applying")


def begin_undoing(tx: WriteTx, import_id: str, kind: Kind, overrides_closing: bool) -> ImportRunRow:
    """An import that is to be undone. Raises `Problem` as the kind does, `not_found`, `invalid_state`."""
    run = RUNS.get(tx, import_id)
    if run.status != "applied" and not (run.status == "reverting" and run.stage is None):
        raise invalid_state(f"The import is {run.status}.", run.status, ())
    return kind.begin_undoing(tx, replace(run, overrides_closing=overrides_closing))


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
