"""Accounts with assets as they are stored. Owns the table `asset_accounts`."""

from gatewayd.areas.assets.accounts.shapes import AssetAccountRow
from gatewayd.store import Table

ACCOUNTS = Table("asset_accounts", AssetAccountRow, kind="account", prefix="acc")
