"""What portfolios look like (Domain B3): requests, responses, and the row where it differs."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.assets.books.portfolios import CostBasisMethod, Portfolio, PortfolioStatus
from gatewayd.areas.assets.positions.shapes import PortfolioTotals
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import Currency, Date, ExternalId, Id, Request, Version

PortfolioName = Annotated[str, Meta(min_length=1, max_length=120, pattern=r"\S")]
Description = Annotated[str, Meta(max_length=2000)]


class PortfolioWithTotals(Portfolio, frozen=True, kw_only=True):
    """A portfolio and what it comes to."""

    totals: PortfolioTotals
    """What its positions and cash come to on the day."""


class ListPortfolios(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    legal_entity_id: Id | None = None
    status: PortfolioStatus | None = None
    include_archived: bool = False
    """True: archived ones too. Nothing is added by it where `status` is given."""
    external_id: ExternalId | None = None


class GetPortfolio(Request, frozen=True, kw_only=True):
    """Which portfolio, and as of which day."""

    id: Id
    as_of_date: Date | None = None
    """The day at whose end its totals are, not one to come. Left out: today."""


class CreatePortfolio(Request, frozen=True, kw_only=True):
    """A new portfolio."""

    name: PortfolioName
    legal_entity_id: Id
    base_currency: Currency = "GBP"
    cost_basis_method: CostBasisMethod | None = None
    """How the cost of what was sold is reckoned. Left out: `section_104` for a person, trust or partnership in the
    United Kingdom with a portfolio in pounds, else `average_cost`. `section_104` is refused for companies and other
    currencies."""
    description: Description | None = None
    is_default: bool = False
    """True makes it the default of its legal entity, in the place of the one before."""
    external_id: ExternalId | None = None


@updates(CreatePortfolio, of=Portfolio, without=("legal_entity_id",))
class UpdatePortfolio(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears. The currency is fixed once there are transactions."""

    id: Id
    expected_version: Version | None = None
    status: PortfolioStatus | UnsetType = UNSET


class ArchivePortfolio(Request, frozen=True, kw_only=True):
    """Which portfolio."""

    id: Id
    expected_version: Version | None = None
