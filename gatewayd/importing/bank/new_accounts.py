"""Bank accounts that are made for a file, and go with its import where that fails."""

from gatewayd.areas.banking import kept_statements
from gatewayd.areas.banking.accounts import operations as accounts
from gatewayd.areas.banking.accounts.rows import delete_account, is_untouched
from gatewayd.areas.banking.accounts.shapes import CreateAccount
from gatewayd.importing.bank.taking import as_opened
from gatewayd.importing.bank.whose import is_meant
from gatewayd.importing.kinds import OpenAccount
from gatewayd.ledger.imports import import_runs
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.store import ReadTx, WriteTx


def make(tx: WriteTx, request: CreateAccount, account_id: str) -> OpenAccount:
    """The account that is made for a file. Raises `Problem` `validation_failed`, `already_exists`."""
    account = accounts.make(tx, request, account_id)
    return OpenAccount(account.id, account.currency)


def former(tx: ReadTx, sha256: str, of_account: str | None) -> ImportRunRow | None:
    """The run that brought the same file, or the same account of it, into an account that is there."""
    for run in import_runs.same_file_anywhere(tx, "bank", sha256):
        if of_account is None or (run.file_account is not None and is_meant(as_opened(run), of_account)):
            return run
    return None


def forget(tx: WriteTx, run: ImportRunRow) -> bool:
    """Delete a run that failed with the account that was made for it, if nobody has used that; answers whether."""
    if run.status != "failed" or not run.makes_account or not _is_alone(tx, run.account_id):
        return False
    kept_statements.forget(tx, run.id)
    import_runs.delete(tx, run.id)
    delete_account(tx, run.account_id)
    return True


def _is_alone(tx: ReadTx, account_id: str) -> bool:
    """Whether nobody has used the account but one import."""
    return import_runs.is_only_one(tx, account_id) and is_untouched(tx, account_id)
