"""Accounts with assets as they are stored. Owns the table `asset_accounts`."""

from typing import Literal

from gatewayd.contract.wire import DateText, Id, Response, Timestamp
from gatewayd.store import ReadTx, Table

AssetAccountType = Literal["brokerage", "savings", "cash", "pension", "crypto", "property", "other"]
TaxWrapper = Literal[
    "none",
    "isa",
    "lisa",
    "jisa",
    "ifisa",
    "sipp",
    "ssas",
    "workplace_pension",
    "offshore_bond",
    "onshore_bond",
    "vct",
    "eis",
    "seis",
    "premium_bonds",
    "other",
]
TrackingMode = Literal["transactions", "holdings"]
AssetAccountStatus = Literal["open", "closed"]


class _Shared(Response, frozen=True, kw_only=True):
    id: Id
    external_id: str | None
    portfolio_id: Id
    legal_entity_id: Id
    name: str
    type: AssetAccountType
    tax_wrapper: TaxWrapper
    currency: str
    institution_name: str | None
    tracking_mode: TrackingMode
    allow_short: bool
    status: AssetAccountStatus
    opened_date: DateText | None
    closed_date: DateText | None
    bank_account_id: Id | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class AssetAccount(_Shared, frozen=True, kw_only=True):
    """An account with a broker, a platform or a pension provider, or a wallet."""

    account_number_masked: str | None


class AssetAccountRow(_Shared, frozen=True, kw_only=True):
    """An account as it is stored."""

    account_number: str | None

    @property
    def is_pooled(self) -> bool:
        """Whether its disposals are matched in the pool of the legal entity: it has no wrapper (Domain C5)."""
        return self.tax_wrapper == "none"


ACCOUNTS = Table("asset_accounts", AssetAccountRow, kind="account", prefix="acc")
_SELECT_ANY_TRANSACTION = """
SELECT 1 FROM asset_transactions WHERE org_id = :org_id AND account_id = :account_id LIMIT 1
"""


def has_transactions(tx: ReadTx, account_id: str) -> bool:
    """True where anything was ever entered in the account."""
    return tx.row(_SELECT_ANY_TRANSACTION, account_id=account_id) is not None
