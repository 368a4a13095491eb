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
    str,
    Meta(
        pattern=r"^[0-9A-Za-z/ -]{4,34}$",
        extra={"form": "4 to 34 letters, digits, spaces, dashes or slashes"},
        description="Answers show its last four characters.",
    ),
]


class AssetAccountWithValue(AssetAccount, frozen=True, kw_only=True):
    """An account and what is in it on a day."""

    as_of_date: DateText
    """The day at whose end it is looked at."""
    cash_balance: Amount
    """What there is in cash in the account's own `currency`; below 0 it is owed."""
    cash_balances: list[CashBalance]
    """What there is in cash in each currency, if not 0."""
    base_currency: str
    """The base currency of its portfolio."""
    value: Annotated[Amount | None, Meta(extra={"currency": "base_currency"})]
    """What its positions are worth together in `baseCurrency`, without cash. Null: one has no price or no rate of
    exchange."""
    unpriced_positions: int
    """How many of its positions have no price or no rate of exchange."""
    totals: ValueTotals
    """What its positions come to, in `baseCurrency`, without cash."""


class ListAssetAccounts(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    portfolio_id: Id | None = None
    legal_entity_id: Id | None = None
    type: AssetAccountType | None = None
    tax_wrapper: TaxWrapper | None = None
    status: AssetAccountStatus | None = None
    bank_account_id: Id | None = None
    external_id: ExternalId | None = None


class GetAssetAccount(Request, frozen=True, kw_only=True):
    """Which account, and as of which day."""

    id: Id
    as_of_date: Date | None = None
    """The day at whose end it is looked at, not one to come. Left out: today."""


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
