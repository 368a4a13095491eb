"""What accounts had in cash at the end of a day, by currency: today's balances without what came later. Reads only."""

from collections import Counter

from gatewayd.areas.assets.pools.held import Whose
from gatewayd.money import Money
from gatewayd.store import ReadTx

_SELECT_PORTFOLIO = """
SELECT c.currency, sum(c.balance) FROM asset_accounts AS a
JOIN asset_cash AS c ON c.org_id = :org_id AND c.account_id = a.id
WHERE a.org_id = :org_id AND a.portfolio_id = :portfolio_id GROUP BY c.currency
"""
_SELECT_ACCOUNT = "SELECT currency, balance FROM asset_cash WHERE org_id = :org_id AND account_id = :account_id"
_SELECT_PORTFOLIO_LATER = """
SELECT currency, sum(net_amount) FROM asset_transactions
WHERE org_id = :org_id AND portfolio_id = :portfolio_id AND trade_date > :date GROUP BY currency
"""
_SELECT_ACCOUNT_LATER = """
SELECT currency, sum(net_amount) FROM asset_transactions
WHERE org_id = :org_id AND account_id = :account_id AND trade_date > :date GROUP BY currency
"""


def balances(tx: ReadTx, whose: Whose, date: str) -> list[Money]:
    """The balances of an account or of a portfolio, by currency, those that are not nothing."""
    if whose.account_id is not None:
        sql, later, of = _SELECT_ACCOUNT, _SELECT_ACCOUNT_LATER, {"account_id": whose.account_id}
    else:
        sql, later, of = _SELECT_PORTFOLIO, _SELECT_PORTFOLIO_LATER, {"portfolio_id": whose.portfolio_id or ""}
    found: Counter[str] = Counter(dict(tx.rows(sql, **of)))
    if date < tx.today:
        found.subtract(dict(tx.rows(later, date=date, **of)))
    return [Money(balance, currency) for currency, balance in sorted(found.items()) if balance]
