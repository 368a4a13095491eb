"""The rules that the fields of an account with assets follow."""

from collections.abc import Iterator

from msgspec.structs import replace

from gatewayd.areas.assets.accounts.shapes import AssetAccountRow
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.references import unknown_reference
from gatewayd.store import ReadTx

_SELECT_BANK_ACCOUNT = "SELECT legal_entity_id FROM bank_accounts WHERE org_id = :org_id AND id = :id"
_SPACING = str.maketrans("", "", " -/")


def checked(tx: ReadTx, before: AssetAccountRow | None, row: AssetAccountRow) -> AssetAccountRow:
    """The account with its number in one form. What it keeps of `before` is not asked again.

    Raises `Problem` `validation_failed` naming every field that is wrong.
    """
    errors = [*_bank_account_mistakes(tx, before, row), *_date_mistakes(row, tx.today), *_number_mistakes(row)]
    if errors:
        raise invalid(*errors)
    return replace(row, account_number=row.account_number and row.account_number.translate(_SPACING))


def _bank_account_mistakes(tx: ReadTx, before: AssetAccountRow | None, row: AssetAccountRow) -> Iterator[FieldError]:
    if row.bank_account_id is None or (before is not None and before.bank_account_id == row.bank_account_id):
        return
    found = tx.row(_SELECT_BANK_ACCOUNT, id=row.bank_account_id)
    if found is None:
        yield unknown_reference("bankAccountId", "bank_account")
    elif found[0] not in (None, row.legal_entity_id):
        yield FieldError("bankAccountId", "conflict", "The bank account is another legal entity's.")


def _date_mistakes(row: AssetAccountRow, today: str) -> Iterator[FieldError]:
    if row.closed_date is None:
        return
    if row.status == "open":
        yield FieldError("closedDate", "conflict", "The account is open.")
    elif row.closed_date > today:
        yield FieldError("closedDate", "out_of_range", "The day is still to come.")
    elif row.opened_date is not None and row.closed_date < row.opened_date:
        yield FieldError("closedDate", "date_order", "The account would close before it opens.")


def _number_mistakes(row: AssetAccountRow) -> Iterator[FieldError]:
    if row.account_number is not None and len(row.account_number.translate(_SPACING)) < 4:
        yield FieldError("accountNumber", "invalid_format", "Expected four characters or more.")
