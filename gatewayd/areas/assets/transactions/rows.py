"""Transactions as they are stored. Owns the table `asset_transactions`."""

from gatewayd.areas.assets.transactions.shapes import AssetTransaction
from gatewayd.store import Table

TRANSACTIONS = Table("asset_transactions", AssetTransaction, kind="transaction", prefix="txn")
