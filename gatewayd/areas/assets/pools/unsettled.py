"""Facts on which gains or income depend and that nobody told: what was supposed in their place. Reads only.

Of accounts without a wrapper in portfolios in pounds, which are those whose gains are computed.
"""

from collections import Counter
from typing import Final

from gatewayd.areas.assets.pools.distributions import SMALL_AMOUNT
from gatewayd.store import ReadTx

_FROM: Final = """
FROM asset_transactions AS done
JOIN asset_accounts AS account ON account.org_id = :org_id AND account.id = done.account_id
    AND account.tax_wrapper = 'none'
"""
_OF: Final = """
WHERE done.org_id = :org_id AND done.legal_entity_id = :legal_entity_id AND done.base_currency = 'GBP'
    AND done.reversed_by_id IS NULL AND done.trade_date >= :first AND done.trade_date <= :last
"""
_SELECT_DISTRIBUTIONS = f"""
SELECT done.from_instrument_id, done.instrument_id, done.trade_date, done.gross_base,
    done.remaining_value IS NULL AND done.small_distribution IS NULL
{_FROM}
{_OF} AND (done.type = 'return_of_capital' OR done.type = 'merger') AND done.gross_amount > 0
"""
_SELECT_STOCK_DIVIDENDS = f"""
SELECT done.instrument_id, done.taxed_as_dividend {_FROM} {_OF} AND done.type = 'stock_dividend'
    AND (done.taxed_as_dividend IS NULL OR (done.taxed_as_dividend = 1 AND done.gross_amount = 0))
"""


def distributions(tx: ReadTx, legal_entity_id: str, first: str, last: str) -> list[str]:
    """The instruments on which more than 3,000 pounds were paid on a day without a word of what the shares were worth.

    By that amount they are not small (CG57835); whether they are by what the shares were worth is open.
    """
    paid: Counter[tuple[str, str]] = Counter()
    untold = set()
    of = {"legal_entity_id": legal_entity_id, "first": first, "last": last}
    for from_id, instrument_id, date, amount, is_untold in tx.rows(_SELECT_DISTRIBUTIONS, **of):
        paid[from_id or instrument_id, date] += amount
        if is_untold:
            untold.add((from_id or instrument_id, date))
    return sorted({key[0] for key in untold if paid[key] > SMALL_AMOUNT * 100})


def stock_dividends(tx: ReadTx, legal_entity_id: str, first: str, last: str) -> tuple[list[str], list[str]]:
    """The instruments with stock dividends of which nobody said whether they are taxed, and those taxed on nothing."""
    of = {"legal_entity_id": legal_entity_id, "first": first, "last": last}
    rows = tx.rows(_SELECT_STOCK_DIVIDENDS, **of)
    unknown = [id_ for id_, taxed in rows if taxed is None]
    return sorted(set(unknown)), sorted({id_ for id_, taxed in rows if taxed is not None})
