"""Portfolios as they are stored. Owns the table `asset_portfolios`."""

from gatewayd.areas.assets.portfolios.shapes import Portfolio, PortfolioStatus
from gatewayd.store import ReadTx, Table


def _status(_: ReadTx, row: Portfolio) -> PortfolioStatus:
    return "active" if row.archived_at is None else "archived"


PORTFOLIOS = Table("asset_portfolios", Portfolio, kind="portfolio", prefix="prt", derived={"status": _status})
