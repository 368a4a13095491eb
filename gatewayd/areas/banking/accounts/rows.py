"""Bank accounts as they are stored. Owns the table `bank_accounts`."""

from typing import Final

from gatewayd.areas.banking import institutions
from gatewayd.areas.banking.accounts.shapes import AccountIdentifiers, BankAccount, BankAccountRow, Coverage
from gatewayd.contract.wire import encode, project
from gatewayd.store import ReadTx, RemovableTable, WriteTx

NOTHING_COVERED: Final = Coverage(from_date=None, to_date=None, gaps=[])
SHOWN_CHARACTERS: Final = 4  # of an account number (Domain B6)

ACCOUNTS = RemovableTable("bank_accounts", BankAccountRow, kind="bank account", prefix="bac")
_SELECT_ANY_TRANSACTION = """
SELECT 1 FROM bank_transactions WHERE org_id = :org_id AND account_id = :account_id LIMIT 1
"""
_SELECT_ANY_ALLOCATED = """
SELECT 1 FROM bank_transactions WHERE org_id = :org_id AND account_id = :account_id AND allocated <> 0 LIMIT 1
"""
_SELECT_IDS = "SELECT id FROM bank_accounts WHERE org_id = :org_id ORDER BY id"
_SELECT_OPEN = f"{ACCOUNTS.select} AND status = 'active' AND id <> :except_id ORDER BY id"
_SELECT_AT_WORK = "SELECT 1 FROM import_runs WHERE org_id = :org_id AND account_id = :account_id AND stage IS NOT NULL"


def has_transactions(tx: ReadTx, account_id: str) -> bool:
    """True where the account has any transaction, or an import is about to bring one."""
    row = tx.row(_SELECT_ANY_TRANSACTION, account_id=account_id) or tx.row(_SELECT_AT_WORK, account_id=account_id)
    return row is not None


def ids_of_accounts(tx: ReadTx) -> list[str]:
    """All accounts of the organization, closed ones too."""
    return [row[0] for row in tx.rows(_SELECT_IDS)]


def others_open(tx: ReadTx, except_id: str) -> list[BankAccountRow]:
    """The open accounts of the organization, without the one of this id."""
    return [ACCOUNTS.read(tx, row) for row in tx.rows(_SELECT_OPEN, except_id=except_id)]


def is_untouched(tx: ReadTx, account_id: str) -> bool:
    """Whether nobody has edited the account, and it has no transaction."""
    return ACCOUNTS.get(tx, account_id).version == 1 and tx.row(_SELECT_ANY_TRANSACTION, account_id=account_id) is None


def delete_account(tx: WriteTx, account_id: str) -> None:
    """Delete an account that nothing names."""
    ACCOUNTS.delete(tx, account_id)


def has_allocated(tx: ReadTx, account_id: str) -> bool:
    """True where any of its transactions is allocated, in part at least."""
    return tx.row(_SELECT_ANY_ALLOCATED, account_id=account_id) is not None


def shown(row: BankAccountRow, *, full: bool = False) -> BankAccount:
    """The account as it is answered; `full`: with all of its number."""
    bank = institutions.BY_ID.get(row.institution_id or "")
    identifiers = AccountIdentifiers(
        sort_code=row.sort_code,
        account_number=row.account_number if full else masked(row.account_number),
        iban=row.iban if full else masked(row.iban),
        bic=row.bic,
    )
    name = None if bank is None else bank.name
    return project(row, BankAccount, identifiers=identifiers, institution_name=name)


def item(row: BankAccountRow) -> bytes:
    """The JSON of an account in a list."""
    wire: bytes = encode(shown(row))
    return wire


def masked(number: str | None) -> str | None:
    """A number with its last four characters alone. An IBAN ends in the account number, so it is masked too."""
    if number is None:
        return None
    return "*" * (len(number) - SHOWN_CHARACTERS) + number[-SHOWN_CHARACTERS:]
