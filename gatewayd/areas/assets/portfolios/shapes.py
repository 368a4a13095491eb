"""What portfolios look like (Domain B3): requests, responses, and the row where it differs."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.assets.accounts.shapes import CashBalance, ValueTotals
from gatewayd.areas.assets.books.portfolios import CostBasisMethod, Portfolio, PortfolioStatus
from gatewayd.areas.assets.instruments.shapes import AssetClass
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.wire import Amount, Currency, Date, DateText, ExternalId, Id, Request, Version

PortfolioName = Annotated[str, Meta(min_length=1, max_length=120, pattern=r"\S")]
Description = Annotated[str, Meta(max_length=2000)]


class AssetClassTotals(ValueTotals, frozen=True, kw_only=True):
    """What the positions of one class of assets come to."""

    asset_class: AssetClass


class PortfolioTotals(ValueTotals, frozen=True, kw_only=True):
    """What a portfolio comes to on a day, all in `currency`.

    `cash` is null where a currency has no rate of exchange; `staleCashBalances` counts those whose rate is older than a
    week.
    """

    as_of_date: DateText
    cash: Amount | None
    stale_cash_balances: int
    cash_balances: list[CashBalance]
    income_tax_year_to_date: Amount
    by_asset_class: list[AssetClassTotals]


class PortfolioWithTotals(Portfolio, frozen=True, kw_only=True):
    """A portfolio and what it comes to."""

    totals: PortfolioTotals


class ListPortfolios(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    legal_entity_id: Id | None = None
    status: PortfolioStatus | None = None
    include_archived: bool = False
    external_id: ExternalId | None = None


class GetPortfolio(Request, frozen=True, kw_only=True):
    """Which portfolio, and as of which day; today where none is given."""

    id: Id
    as_of_date: Date | None = None


class CreatePortfolio(Request, frozen=True, kw_only=True):
    """A new portfolio. Its cost basis is section_104 for a person in the United Kingdom, else average_cost."""

    name: PortfolioName
    legal_entity_id: Id
    base_currency: Currency = "GBP"
    cost_basis_method: CostBasisMethod | None = None
    description: Description | None = None
    is_default: bool = False
    external_id: ExternalId | None = None


class UpdatePortfolio(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears. The currency is fixed once there are transactions."""

    id: Id
    expected_version: Version | None = None
    name: PortfolioName | UnsetType = UNSET
    base_currency: Currency | UnsetType = UNSET
    cost_basis_method: CostBasisMethod | UnsetType = UNSET
    status: PortfolioStatus | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    is_default: bool | UnsetType = UNSET
    external_id: ExternalId | UnsetType | None = UNSET


class ArchivePortfolio(Request, frozen=True, kw_only=True):
    """Which portfolio."""

    id: Id
    expected_version: Version | None = None
