"""Whose positions a request is about, on which day and by which method. Reads only."""

import datetime
from typing import NamedTuple

from gatewayd.areas.assets.books.accounts import ACCOUNTS, AssetAccountRow, TaxWrapper
from gatewayd.areas.assets.books.portfolios import PORTFOLIOS, CostBasisMethod, Portfolio
from gatewayd.areas.assets.pools.held import Whose
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.areas.assets.positions.shapes import ListPositions
from gatewayd.errors import invalid, invalid_field
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import ReadTx

_SELECT_ACCOUNTS = """
SELECT a.id, a.portfolio_id, a.tax_wrapper, p.base_currency, p.archived_at IS NOT NULL
FROM asset_accounts AS a JOIN asset_portfolios AS p ON p.org_id = :org_id AND p.id = a.portfolio_id
WHERE a.org_id = :org_id AND a.legal_entity_id = :legal_entity_id
"""
_SELECT_METHOD = """
SELECT cost_basis_method FROM asset_portfolios
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND archived_at IS NULL
ORDER BY is_default DESC, id LIMIT 1
"""


class Place(NamedTuple):
    """What an account's positions depend on. `in_pool`: its disposals are matched over all accounts of the person."""

    portfolio_id: str
    wrapper: TaxWrapper
    base_currency: str
    in_pool: bool


class Choice(NamedTuple):
    """Positions that are asked for. `places` are the accounts by id; `merged`: those without a wrapper are one."""

    whose: Whose
    places: dict[str, Place]
    date: str
    method: CostBasisMethod
    merged: bool


def choose(tx: ReadTx, request: ListPositions) -> Choice:
    """What a request is about. Raises `Problem` `validation_failed`."""
    ids = [request.portfolio_id, request.account_id, request.legal_entity_id]
    if sum(id_ is not None for id_ in ids) != 1:
        raise invalid_field("portfolioId", "required", "Give one of portfolioId, accountId and legalEntityId.")
    day = day_of(tx, request.as_of_date)
    if request.portfolio_id is not None:
        portfolio = PORTFOLIOS.find(tx, request.portfolio_id)
        if portfolio is None:
            raise invalid(unknown_reference("portfolioId", "portfolio"))
        return of_portfolio(tx, portfolio, day, request.method)
    if request.account_id is not None:
        account = ACCOUNTS.find(tx, request.account_id)
        if account is None:
            raise invalid(unknown_reference("accountId", "asset_account"))
        return of_account(tx, account, day, request.method)
    return _of_entity(tx, request.legal_entity_id or "", day, request.method)


def day_of(tx: ReadTx, requested: datetime.date | None) -> str:
    """The ISO date, today by default. Raises `Problem` `validation_failed` for one that is to come."""
    day = tx.today if requested is None else requested.isoformat()
    if day > tx.today:
        raise invalid_field("asOfDate", "out_of_range", "The day is still to come: expected today or an earlier one.")
    return day


def of_portfolio(tx: ReadTx, portfolio: Portfolio, date: str, method: CostBasisMethod | None = None) -> Choice:
    """The positions of a portfolio, archived or not."""
    whose = Whose(portfolio.legal_entity_id, portfolio_id=portfolio.id)
    places = _places(tx, whose.legal_entity_id, archived=True)
    return _checked_method(tx, Choice(whose, places, date, method or portfolio.cost_basis_method, True), portfolio)


def of_account(tx: ReadTx, account: AssetAccountRow, date: str, method: CostBasisMethod | None = None) -> Choice:
    """The positions of an account."""
    portfolio = PORTFOLIOS.get(tx, account.portfolio_id)
    whose = Whose(account.legal_entity_id, account_id=account.id)
    places = _places(tx, whose.legal_entity_id, archived=True)
    return _checked_method(tx, Choice(whose, places, date, method or portfolio.cost_basis_method, False), portfolio)


def _of_entity(tx: ReadTx, legal_entity_id: str, date: str, method: CostBasisMethod | None) -> Choice:
    """The positions of a legal entity, without archived portfolios.

    Chosen: by the method of its default portfolio, else of the first.
    """
    if owners.find(tx, legal_entity_id) is None:
        raise invalid(unknown_reference("legalEntityId", "legal_entity"))
    default_method: CostBasisMethod = tx.value(_SELECT_METHOD, legal_entity_id=legal_entity_id) or "average_cost"
    places = _places(tx, legal_entity_id, archived=False)
    return _checked_method(tx, Choice(Whose(legal_entity_id), places, date, method or default_method, True), None)


def _places(tx: ReadTx, legal_entity_id: str, *, archived: bool) -> dict[str, Place]:
    owner = owners.find(tx, legal_entity_id)
    pools = owner is not None and owner.has_pools
    return {
        id_: Place(of, wrapper, currency, pools and wrapper == "none" and currency == POOL_CURRENCY)
        for id_, of, wrapper, currency, is_archived in tx.rows(_SELECT_ACCOUNTS, legal_entity_id=legal_entity_id)
        if archived or not is_archived
    }


def _checked_method(tx: ReadTx, choice: Choice, portfolio: Portfolio | None) -> Choice:
    """The choice. Raises `Problem` `validation_failed` for section_104 where the owner or the currency has no pools."""
    if choice.method != "section_104":
        return choice
    owner = owners.find(tx, choice.whose.legal_entity_id)
    if owner is not None and not owner.has_pools:
        kind = owner.type.replace("_", " ")
        raise invalid_field("method", "conflict", f"Section 104 holdings are not supported for a {kind}.")
    if portfolio is not None and portfolio.base_currency != POOL_CURRENCY:
        raise invalid_field("method", "conflict", "Section 104 holdings are kept in GBP alone.")
    return choice
