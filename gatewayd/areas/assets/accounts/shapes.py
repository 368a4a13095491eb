"""What accounts with assets look like (Domain B3): requests, responses, and the row where it differs."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.assets.books.accounts import (
    AssetAccount,
    AssetAccountStatus,
    AssetAccountType,
    TaxWrapper,
    TrackingMode,
)
from gatewayd.areas.assets.positions.shapes import CashBalance, ValueTotals
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import Amount, Currency, Date, DateText, ExternalId, Id, Request, Version

AccountName = Annotated[str, Meta(min_length=1, max_length=120, pattern=r"\S")]
InstitutionName = Annotated[str, Meta(min_length=1, max_length=120)]
AssetAccountNumber = Annotated[
    str, Meta(pattern=r"^[0-9A-Za-z/ -]{4,34}$", description="Answers show its last four characters.")
]


class AssetAccountWithValue(AssetAccount, frozen=True, kw_only=True):
    """An account and what is in it on a day.

    `cashBalance` is of the account's currency, `cashBalances` of each. `totals` are of its positions, in
    `baseCurrency`, with `value` and `unpricedPositions` among them.
    """

    as_of_date: DateText
    cash_balance: Amount
    cash_balances: list[CashBalance]
    base_currency: str
    value: Annotated[Amount | None, Meta(extra={"currency": "base_currency"}, description="Null: not all has a price.")]
    unpriced_positions: int
    totals: ValueTotals


class ListAssetAccounts(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    portfolio_id: Id | None = None
    legal_entity_id: Id | None = None
    type: AssetAccountType | None = None
    tax_wrapper: TaxWrapper | None = None
    status: AssetAccountStatus | None = None
    external_id: ExternalId | None = None


class GetAssetAccount(Request, frozen=True, kw_only=True):
    """Which account, and as of which day; today where none is given."""

    id: Id
    as_of_date: Date | None = None


class CreateAssetAccount(Request, frozen=True, kw_only=True):
    """A new account of a portfolio."""

    portfolio_id: Id
    name: AccountName
    type: AssetAccountType
    currency: Currency
    tax_wrapper: TaxWrapper = "none"
    institution_name: InstitutionName | None = None
    account_number: AssetAccountNumber | None = None
    tracking_mode: TrackingMode = "transactions"
    allow_short: bool = False
    opened_date: Date | None = None
    bank_account_id: Id | None = None
    external_id: ExternalId | None = None


@updates(CreateAssetAccount, of=AssetAccount, without=("portfolio_id",))
class UpdateAssetAccount(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears.

    Currency and wrapper are fixed once there are transactions. An account is closed once it holds nothing.
    """

    id: Id
    expected_version: Version | None = None
    account_number: AssetAccountNumber | UnsetType | None = UNSET
    status: AssetAccountStatus | UnsetType = UNSET
    closed_date: Date | UnsetType | None = UNSET
