"""What accounts have in cash. Owns the table `asset_cash`.

A balance that has become 0 stays as a row, of which there is one for each currency that an account ever had.
"""

from collections import Counter
from collections.abc import Iterable

from gatewayd.areas.assets.books.transactions import AssetTransaction
from gatewayd.areas.assets.pools.held import Whose
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

_ADD = """
INSERT INTO asset_cash (org_id, account_id, currency, balance) VALUES (:org_id, :account_id, :currency, :amount)
ON CONFLICT (org_id, account_id, currency) DO UPDATE SET balance = asset_cash.balance + excluded.balance
"""
_SELECT = """
SELECT currency, balance FROM asset_cash WHERE org_id = :org_id AND account_id = :account_id ORDER BY currency
"""
_SELECT_ALL = "SELECT account_id, currency, balance FROM asset_cash WHERE org_id = :org_id"
_SELECT_MOVED = """
SELECT account_id, currency, sum(net_amount) FROM asset_transactions WHERE org_id = :org_id
GROUP BY account_id, currency
"""
_SELECT_PORTFOLIO_TODAY = """
SELECT c.currency, sum(c.balance) FROM asset_accounts AS a
JOIN asset_cash AS c ON c.org_id = :org_id AND c.account_id = a.id
WHERE a.org_id = :org_id AND a.portfolio_id = :portfolio_id GROUP BY c.currency
"""
_SELECT_ACCOUNT_TODAY = "SELECT currency, balance FROM asset_cash WHERE org_id = :org_id AND account_id = :account_id"
_SELECT_PORTFOLIO_LATER = """
SELECT currency, sum(net_amount) FROM asset_transactions
WHERE org_id = :org_id AND portfolio_id = :portfolio_id AND trade_date > :date GROUP BY currency
"""
_SELECT_ACCOUNT_LATER = """
SELECT currency, sum(net_amount) FROM asset_transactions
WHERE org_id = :org_id AND account_id = :account_id AND trade_date > :date GROUP BY currency
"""


def add(tx: WriteTx, rows: Iterable[AssetTransaction], sign: int) -> None:
    """Let transactions have their effect on cash, or take it back where `sign` is -1."""
    moved: Counter[tuple[str, str]] = Counter()
    for row in rows:
        moved[row.account_id, row.currency] += sign * row.net_amount.minor
    _add_balances(tx, moved)


def balances(tx: ReadTx, account_id: str) -> list[Money]:
    """What an account has in cash today, by currency."""
    return [Money(balance, currency) for currency, balance in tx.rows(_SELECT, account_id=account_id)]


def missing(tx: ReadTx) -> Counter[tuple[str, str]]:
    """How much more transactions come to than the stored balance, by account and currency: minor units, if not 0."""
    moved: Counter[tuple[str, str]] = Counter({(account, of): minor for account, of, minor in tx.rows(_SELECT_MOVED)})
    moved.subtract({(account, of): balance for account, of, balance in tx.rows(_SELECT_ALL)})
    return Counter({key: minor for key, minor in moved.items() if minor})


def add_missing(tx: WriteTx) -> None:
    """Make the balances what the transactions come to."""
    _add_balances(tx, missing(tx))


def _add_balances(tx: WriteTx, moved: Counter[tuple[str, str]]) -> None:
    changed = [(tx.org_id, account_id, currency, minor) for (account_id, currency), minor in moved.items() if minor]
    if changed:
        tx.run_each(_ADD, changed)


def balances_on(tx: ReadTx, whose: Whose, date: str) -> list[Money]:
    """What there was at the end of an ISO date, by currency, if not 0: today's balances without what came later."""
    if whose.account_id is not None:
        sql, later, of = _SELECT_ACCOUNT_TODAY, _SELECT_ACCOUNT_LATER, {"account_id": whose.account_id}
    else:
        sql, later, of = _SELECT_PORTFOLIO_TODAY, _SELECT_PORTFOLIO_LATER, {"portfolio_id": whose.portfolio_id or ""}
    by_currency: Counter[str] = Counter(dict(tx.rows(sql, **of)))
    if date < tx.today:
        by_currency.subtract(dict(tx.rows(later, date=date, **of)))
    return [Money(balance, currency) for currency, balance in sorted(by_currency.items()) if balance]
