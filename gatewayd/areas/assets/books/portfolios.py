"""Portfolios as they are stored. Owns the table `asset_portfolios`."""

from typing import Literal

from msgspec.structs import replace

from gatewayd.contract.wire import Id, Response, Timestamp
from gatewayd.store import ReadTx, Table, WriteTx

CostBasisMethod = Literal["section_104", "average_cost", "fifo"]
PortfolioStatus = Literal["active", "archived"]


class Portfolio(Response, frozen=True, kw_only=True):
    """The accounts of a legal entity that are looked at together, in one currency."""

    id: Id
    external_id: str | None
    legal_entity_id: Id
    """The legal entity whose portfolio it is."""
    name: str
    """What people call the portfolio."""
    base_currency: str
    """The currency in which the cost, gains and totals of its accounts are kept; fixed once there are transactions."""
    cost_basis_method: CostBasisMethod
    """How the cost of what was sold is reckoned unless a request names another method: `section_104` by the person's
    pool over all accounts without a wrapper, `average_cost` by the average of each account, `fifo` by what it bought
    first."""
    status: PortfolioStatus
    """An `archived` portfolio takes no new accounts and transactions and is left out of its legal entity's positions,
    though not of its gains."""
    description: str | None
    """Notes of people. Null: none."""
    is_default: bool
    """Whether it is the legal entity's one default, whose method counts for positions of the whole legal entity."""
    archived_at: Timestamp | None
    """When it was archived. Null: it is active."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


def _status(_: ReadTx, row: Portfolio) -> PortfolioStatus:
    return "active" if row.archived_at is None else "archived"


PORTFOLIOS = Table("asset_portfolios", Portfolio, kind="portfolio", prefix="prt", derived={"status": _status})
_SELECT_DEFAULT = f"{PORTFOLIOS.select} AND legal_entity_id = :legal_entity_id AND id <> :id AND is_default = 1"
_SELECT_ANY_TRANSACTION = """
SELECT 1 FROM asset_transactions WHERE org_id = :org_id AND portfolio_id = :portfolio_id LIMIT 1
"""


def has_transactions(tx: ReadTx, portfolio_id: str) -> bool:
    """True where anything was ever entered in an account of the portfolio."""
    return tx.row(_SELECT_ANY_TRANSACTION, portfolio_id=portfolio_id) is not None


def clear_default(tx: WriteTx, row: Portfolio) -> None:
    """Where this portfolio is the default, let no other of its legal entity be it."""
    if not row.is_default:
        return
    for values in tx.rows(_SELECT_DEFAULT, legal_entity_id=row.legal_entity_id, id=row.id):
        PORTFOLIOS.update(tx, replace(PORTFOLIOS.read(tx, values), is_default=False))
