"""An account takes what its files say of it, with the first that says it, and gives it back with that one's undoing."""

import re
from typing import Final

from msgspec.structs import replace

from gatewayd import check_digits
from gatewayd.areas.banking import institutions
from gatewayd.areas.banking.accounts import rows, rules
from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.banking.accounts.shapes import BankAccountRow
from gatewayd.errors import invalid_field
from gatewayd.importing.bank.whose import holder_of
from gatewayd.ledger.imports import import_runs
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import FileAccount, ImportRunRow
from gatewayd.statements.shapes import Opened
from gatewayd.store import WriteTx

_NAME_MAX: Final = 160  # of the names that requests take
_SORT_CODE: Final = re.compile(r"[0-9]{6}")
_NUMBER: Final = re.compile(r"[0-9A-Za-z*]{4,34}")
_FIELDS: Final = ("sort_code", "account_number", "iban", "bic", "holder_name", "statement_name", "institution_id")


def said_by(opened: Opened | None) -> FileAccount | None:
    """What a statement says of its account, as far as it is well formed."""
    if opened is None:
        return None
    number = opened.account_number
    said = FileAccount(
        name=_short(opened.account_name),
        holder=_short(opened.holder),
        sort_code=opened.sort_code if opened.sort_code and _SORT_CODE.fullmatch(opened.sort_code) else None,
        account_number=number if number and _NUMBER.fullmatch(number) else None,
        iban=opened.iban if opened.iban and check_digits.iban(opened.iban) else None,
        bic=opened.bic if opened.bic and check_digits.is_bic(opened.bic) else None,
    )
    bank = institutions.bank_of(sort_code=said.sort_code, iban=said.iban, bic=said.bic)
    return replace(said, institution_id=bank or institutions.bank_called(opened.bank_name, opened.profile))


def take(tx: WriteTx, run: ImportRunRow) -> ImportRunRow:
    """Let the account have what the file of a run says and nobody has said yet.

    Raises `Problem` `validation_failed` where another open account has this number by now.
    """
    said = run.file_account
    if said is None:
        return run
    before = ACCOUNTS.get(tx, run.account_id)
    account = _with_fields_of(before, said)
    changed = [name for name in _FIELDS if getattr(account, name) != getattr(before, name)]
    if not changed:
        return run
    if said.account_number is not None or said.iban is not None:
        holder_id = holder_of(as_opened(run), rows.others_open(tx, account.id))
        if holder_id is not None:
            reason = f"Another account has its number: import the file into {holder_id}."
            raise invalid_field("accountId", "conflict", reason)
    ACCOUNTS.save(tx, account)  # Chosen: not a new version, for nobody has edited it
    return RUNS.save(tx, replace(run, gave=sorted({*run.gave, *changed})))


def give_back(tx: WriteTx, run: ImportRunRow) -> None:
    """Take from the account what the file of a run gave it, where no other import is left that says so."""
    if not run.gave or run.file_account is None or import_runs.latest(tx, run.account_id, run.id)[0] is not None:
        return
    account = ACCOUNTS.get(tx, run.account_id)
    said = _fields_said(run.file_account)
    still = {name: None for name in run.gave if getattr(account, name) == said.get(name)}
    ACCOUNTS.save(tx, rules.with_bank(replace(account, **still)))


def as_opened(run: ImportRunRow) -> Opened:
    """The beginning of a statement that says what the file of a run said of its account."""
    said = run.file_account or FileAccount()
    return Opened(
        statement=0,
        format=run.format or "csv",
        account_name=said.name,
        sort_code=said.sort_code,
        account_number=said.account_number,
        iban=said.iban,
        currency=run.currency,
    )


def _fields_said(said: FileAccount) -> dict[str, str | None]:
    """The fields of an account by what a file says. Its name counts where it says no number."""
    has_number = said.account_number is not None or said.iban is not None
    return {
        "sort_code": said.sort_code,
        "account_number": said.account_number,
        "iban": said.iban,
        "bic": said.bic,
        "holder_name": said.holder,
        "statement_name": None if has_number else said.name,
        "institution_id": said.institution_id,
    }


def _with_fields_of(account: BankAccountRow, said: FileAccount) -> BankAccountRow:
    known = {name: value for name, value in _fields_said(said).items() if value is not None}
    kept = {name for name in known if getattr(account, name) is not None and name != "statement_name"}
    if account.institution_id == institutions.OTHER:
        kept.discard("institution_id")
    return rules.with_bank(replace(account, **{name: value for name, value in known.items() if name not in kept}))


def _short(name: str | None) -> str | None:
    return None if name is None else name[:_NAME_MAX].strip() or None
