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
    """The portfolio that it belongs to, from its creation on."""
    legal_entity_id: Id
    """The legal entity whose account it is: that of its portfolio."""
    name: str
    """What people call the account, such as `Stocks and shares ISA`."""
    type: AssetAccountType
    """What kind of account it is, for people and filters: nothing is reckoned by it."""
    tax_wrapper: TaxWrapper
    """The scheme that shelters it from tax; fixed once it has transactions. Gains are taxed with `none` alone, a
    general investment account, and income with `none`, `eis` and `seis`."""
    currency: str
    """The currency of transactions that name neither a currency nor an instrument; fixed once it has transactions."""
    institution_name: str | None
    """The broker, platform or provider that keeps it. Null: not known."""
    tracking_mode: TrackingMode
    """`transactions`: all that happens in it is entered. `holdings`: balances alone, as opening positions, deposits and
    withdrawals."""
    allow_short: bool
    """Whether more may be sold than it holds; otherwise such a sale is refused."""
    status: AssetAccountStatus
    """A `closed` account takes no transactions. It can be closed once it holds no instrument, and be opened again."""
    opened_date: DateText | None
    """The day on which it was opened. Null: not known."""
    closed_date: DateText | None
    """The day on which it was closed, today unless another day is given with `status`. Null: it is open, or the day is
    not known."""
    bank_account_id: Id | None
    """The bank account that is its cash side. Null: none is named."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class AssetAccount(_Shared, frozen=True, kw_only=True):
    """An account with a broker, a platform or a pension provider, or a wallet."""

    account_number_masked: str | None
    """The account number with `*` for all but its last four characters. Null: not known."""


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
