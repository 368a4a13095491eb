"""What accounts have in cash. Owns the table `asset_cash`.

A balance that has become 0 stays as a row, of which there is one for each currency that an account ever had.
"""

from collections import Counter
from collections.abc import Iterable

from gatewayd.areas.assets.transactions.shapes import AssetTransaction
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

_ADD = """
INSERT INTO asset_cash (org_id, account_id, currency, balance) VALUES (:org_id, :account_id, :currency, :amount)
ON CONFLICT (org_id, account_id, currency) DO UPDATE SET balance = asset_cash.balance + excluded.balance
"""
_SELECT = """
SELECT currency, balance FROM asset_cash WHERE org_id = :org_id AND account_id = :account_id ORDER BY currency
"""


def add(tx: WriteTx, rows: Iterable[AssetTransaction], sign: int) -> None:
    """Let transactions have their effect on cash, or take it back where `sign` is -1."""
    moved: Counter[tuple[str, str]] = Counter()
    for row in rows:
        moved[row.account_id, row.currency] += sign * row.net_amount.minor
    changed = [(tx.org_id, account_id, currency, minor) for (account_id, currency), minor in moved.items() if minor]
    if changed:
        tx.run_each(_ADD, changed)


def balances(tx: ReadTx, account_id: str) -> list[Money]:
    """What an account has in cash today, by currency."""
    return [Money(balance, currency) for currency, balance in tx.rows(_SELECT, account_id=account_id)]
