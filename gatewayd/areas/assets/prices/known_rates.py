"""The latest rate of exchange that is known on a day: recorded, of a transaction, or HMRC's. Reads only."""

from fractions import Fraction

from gatewayd.ledger.exchange import published_rates
from gatewayd.ledger.exchange.known_rates import KnownRate, Pair, both_ways, foreign, of_pounds
from gatewayd.store import ReadTx

_SELECT_RECORDED = """
SELECT rate, date, source FROM exchange_rates
WHERE org_id = :org_id AND currency = :currency AND base_currency = :base_currency AND date <= :date
ORDER BY date DESC LIMIT 1
"""
_SELECT_TRADED = """
SELECT fx_rate, trade_date, 'transaction' FROM asset_transactions
WHERE org_id = :org_id AND currency = :currency AND base_currency = :base_currency AND currency <> base_currency
    AND trade_date <= :date AND type <> 'reversal' AND reversed_by_id IS NULL AND fx_rate_source = 'given'
ORDER BY trade_date DESC LIMIT 1
"""


def latest(tx: ReadTx, pair: Pair, day: str) -> KnownRate | None:
    """The latest rate until an ISO date, in either direction and wherever it is from.

    Of one day a recorded rate goes before that of a transaction, which goes before HMRC's. What was reversed, and what
    a transaction was converted at because it had no rate of its own, tells nothing.
    """
    if pair.currency == pair.base_currency:
        return KnownRate(Fraction(1), day, None)
    found = [*both_ways(tx, _SELECT_RECORDED, pair, day), *both_ways(tx, _SELECT_TRADED, pair, day)]
    published = of_pounds(pair, published_rates.latest_rate(foreign(pair), day))
    if published is not None:
        found.append(published)
    return max(found, key=lambda one: one.date, default=None)
