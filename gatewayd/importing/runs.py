"""The states of a run, and what moves it from one to another: each in the transaction of its caller."""

from dataclasses import dataclass

from msgspec.structs import replace

from gatewayd.areas.banking import coverage
from gatewayd.areas.banking.accounts import operations as accounts
from gatewayd.areas.banking.accounts.rows import ACCOUNTS, delete_account, is_untouched
from gatewayd.areas.banking.accounts.shapes import BankAccountRow, CreateAccount
from gatewayd.areas.banking.imports import rows
from gatewayd.areas.banking.imports.rows import RUNS
from gatewayd.areas.banking.imports.shapes import ImportRunRow, RunSource, RunStatus, Stage
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import Problem, invalid_state
from gatewayd.importing import moves
from gatewayd.ledger import hidden_imports
from gatewayd.statements.shapes import Format, Mapping
from gatewayd.store import ReadTx, WriteTx


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done with a file. `format` and `mapping` None: found out by content.

    `new_account`: an account that is made for the file, and goes with its import where that fails.
    """

    file_name: str
    format: Format | None
    mapping: Mapping | None
    preview: bool
    account_id: str = ""
    new_account: CreateAccount | None = None
    overrides_closing: bool = False


def begin(tx: WriteTx, order: Order, file: ReceivedFile, source: RunSource) -> ImportRunRow:
    """The new run of a file, or that which brought the same file into the account.

    Raises `Problem`: `not_found`, `invalid_state`.
    """
    account = open_account(tx, order.account_id) if order.new_account is None else _made(tx, order)
    former = rows.same_file(tx, account.id, file.sha256)
    if former is not None:
        return former
    run = RUNS.new(
        tx,
        None,
        kind="bank",
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
        makes_account=order.new_account is not None,
        **dict.fromkeys(("rows", "added", "duplicates", "replaced", "refused_rows"), 0),
    )
    return RUNS.insert(tx, run)


def _made(tx: WriteTx, order: Order) -> BankAccountRow:
    """The account that is made for a file. Raises `Problem` `validation_failed`, `already_exists`."""
    assert order.new_account is not None
    return accounts.make(tx, order.new_account, order.account_id)


def open_account(tx: ReadTx, account_id: str) -> BankAccountRow:
    """The account that takes an import. Raises `Problem`: `not_found`, `invalid_state` for one that is closed."""
    account = ACCOUNTS.get(tx, account_id)
    if account.status == "closed":
        raise invalid_state("The account is closed: open it again to import into it.", "closed", ("active",))
    return account


def busy() -> Problem:
    """409: one import at a time works on an account."""
    return invalid_state("Another import works on this account: wait until it has ended.", "applying", ())


def begin_applying(tx: WriteTx, import_id: str, overrides_closing: bool) -> ImportRunRow:
    """A preview that is to be applied. Raises `Problem`: `not_found`, `invalid_state`."""
    run = RUNS.get(tx, import_id)
    if run.status != "previewed":
        raise invalid_state(f"The import is {run.status}.", run.status, ())
    open_account(tx, run.account_id)
    return move(tx, replace(run, overrides_closing=overrides_closing), "applying", "applying")


def begin_undoing(tx: WriteTx, import_id: str, sizes: moves.Sizes, overrides_closing: bool) -> ImportRunRow:
    """An import that is to be undone, and out of sight. Raises `Problem` as `moves.begin_undoing`, or `not_found`."""
    run = RUNS.get(tx, import_id)
    if run.status != "applied":
        raise invalid_state(f"The import is {run.status}.", run.status, ())
    return moves.begin_undoing(tx, replace(run, overrides_closing=overrides_closing), sizes)


def move(tx: WriteTx, run: ImportRunRow, status: RunStatus, stage: Stage | None) -> ImportRunRow:
    """The run in another state; `stage` None: nobody works on it."""
    return RUNS.update(tx, replace(run, status=status, stage=stage))


def fail_unless_hidden(tx: WriteTx, import_id: str) -> None:
    """Let a run fail by a fault of ours, unless rows of it have come in: that one is gone on with."""
    if not hidden_imports.is_hidden(tx, import_id) and RUNS.get(tx, import_id).status != "applied":
        fail(tx, import_id, "Something went wrong on our side.")


def end_staging(tx: WriteTx, run: ImportRunRow) -> bool:
    """None of its rows is staged any more. Answers whether a run that failed went with the account made for it."""
    if run.status == "failed" and run.makes_account and _is_alone(tx, run.account_id):
        coverage.forget(tx, run.id)
        rows.delete(tx, run.id)
        delete_account(tx, run.account_id)
        return True
    rows.note_moved(tx, run.id, None)
    return False


def _is_alone(tx: ReadTx, account_id: str) -> bool:
    """Whether nobody has used the account but one import."""
    return rows.is_only_one(tx, account_id) and is_untouched(tx, account_id)


def fail(tx: WriteTx, import_id: str, reason: str) -> ImportRunRow:
    """The run has failed, for people to read why."""
    run = RUNS.get(tx, import_id)
    return RUNS.update(tx, replace(run, status="failed", stage=None, error=reason))
