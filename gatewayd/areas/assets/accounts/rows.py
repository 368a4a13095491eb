"""Accounts with assets as they are stored. Owns the table `asset_accounts`."""

from typing import Final

from gatewayd.areas.assets.accounts.shapes import AssetAccount, AssetAccountRow
from gatewayd.contract.wire import encode, project
from gatewayd.store import ReadTx, Table

SHOWN_CHARACTERS: Final = 4  # of an account number (Domain B3)

ACCOUNTS = Table("asset_accounts", AssetAccountRow, kind="account", prefix="acc")
_SELECT_ANY_TRANSACTION = """
SELECT 1 FROM asset_transactions WHERE org_id = :org_id AND account_id = :account_id LIMIT 1
"""


def has_transactions(tx: ReadTx, account_id: str) -> bool:
    """True where anything was ever entered in the account."""
    return tx.row(_SELECT_ANY_TRANSACTION, account_id=account_id) is not None


def shown(row: AssetAccountRow) -> AssetAccount:
    """The account as it is answered."""
    return project(row, AssetAccount, account_number_masked=masked(row.account_number))


def item(row: AssetAccountRow) -> bytes:
    """The JSON of an account in a list."""
    wire: bytes = encode(shown(row))
    return wire


def masked(number: str | None) -> str | None:
    """A number with its last four characters alone."""
    if number is None:
        return None
    return "*" * (len(number) - SHOWN_CHARACTERS) + number[-SHOWN_CHARACTERS:]
