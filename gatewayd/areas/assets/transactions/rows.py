"""Transactions as they are stored. Owns the table `asset_transactions`."""

from gatewayd.areas.assets.income.rules import income_date
from gatewayd.areas.assets.transactions.shapes import AssetTransaction
from gatewayd.store import Table


def _income_date(row: AssetTransaction) -> str | None:
    return income_date(row.type, row.trade_date)


TRANSACTIONS = Table(
    "asset_transactions", AssetTransaction, kind="transaction", prefix="txn", written={"income_date": _income_date}
)
