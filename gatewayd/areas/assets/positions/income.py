"""What accounts earned in a tax year until a day, by account and instrument. Reads only."""

from collections import Counter

from gatewayd.areas.assets.pools.held import Whose
from gatewayd.ledger.dates.tax_calendar import bounds, first_year_of, tax_year_of
from gatewayd.store import ReadTx

# a stock dividend that is taxed as a dividend counts as one in the sums
_SUMS = "f.account_id, f.instrument_id, sum(f.gross_base)"
_YEAR = """
FROM asset_accounts AS a
JOIN asset_income_years AS f ON f.org_id = :org_id AND f.account_id = a.id
WHERE a.org_id = :org_id AND f.year = :year AND f.type <> 'return_of_capital' AND f.type <> 'stock_dividend'
"""
_LATER = """
FROM asset_transactions AS f
WHERE f.org_id = :org_id AND f.income_date > :date AND f.income_date <= :last
    AND f.type <> 'return_of_capital' AND f.reversed_by_id IS NULL
    AND (f.type <> 'stock_dividend' OR f.taxed_as_dividend = 1)
"""
_BY = "GROUP BY f.account_id, f.instrument_id"
_SELECT_OF_ACCOUNT = f"SELECT {_SUMS}{_YEAR} AND a.id = :account_id {_BY}"
_SELECT_OF_PORTFOLIO = f"SELECT {_SUMS}{_YEAR} AND a.portfolio_id = :portfolio_id {_BY}"
_SELECT_OF_ENTITY = f"SELECT {_SUMS}{_YEAR} AND a.legal_entity_id = :legal_entity_id {_BY}"
_SELECT_LATER_OF_ACCOUNT = f"SELECT {_SUMS}{_LATER} AND f.account_id = :account_id {_BY}"
_SELECT_LATER_OF_PORTFOLIO = f"SELECT {_SUMS}{_LATER} AND f.portfolio_id = :portfolio_id {_BY}"
_SELECT_LATER_OF_ENTITY = f"SELECT {_SUMS}{_LATER} AND f.legal_entity_id = :legal_entity_id {_BY}"


def of_tax_year(tx: ReadTx, whose: Whose, date: str) -> Counter[tuple[str, str]]:
    """The income since the tax year began until an ISO date, in minor units of the base currency.

    By account and instrument; "" for what is of no instrument, such as interest on cash.
    """
    if whose.account_id is not None:
        sql, later_sql, of = _SELECT_OF_ACCOUNT, _SELECT_LATER_OF_ACCOUNT, {"account_id": whose.account_id}
    elif whose.portfolio_id is not None:
        sql, later_sql, of = _SELECT_OF_PORTFOLIO, _SELECT_LATER_OF_PORTFOLIO, {"portfolio_id": whose.portfolio_id}
    else:
        sql, later_sql, of = _SELECT_OF_ENTITY, _SELECT_LATER_OF_ENTITY, {"legal_entity_id": whose.legal_entity_id}
    earned: Counter[tuple[str, str]] = Counter()
    for account_id, instrument_id, gross in tx.rows(sql, year=first_year_of(date), **of):
        earned[account_id, instrument_id] = gross
    _, last = bounds(tax_year_of(date))
    for account_id, instrument_id, gross in tx.rows(later_sql, date=date, last=last, **of):
        earned[account_id, instrument_id or ""] -= gross
    return earned
