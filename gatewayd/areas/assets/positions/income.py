"""What accounts earned since the start of a tax year, by account and instrument. Reads only."""

from collections import Counter

from gatewayd.areas.assets.pools.held import Whose
from gatewayd.store import ReadTx

_SELECT = """
SELECT account_id, instrument_id, sum(gross_base) FROM asset_transactions
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND income_date >= :first AND income_date <= :date
    AND type <> 'return_of_capital' AND reversed_by_id IS NULL
GROUP BY account_id, instrument_id
"""


def since(tx: ReadTx, whose: Whose, first: str, date: str) -> Counter[tuple[str, str]]:
    """The income of a legal entity's accounts from one ISO date to another, in minor units of the base currency.

    By account and instrument; "" for what is of no instrument, such as interest on cash.
    """
    earned: Counter[tuple[str, str]] = Counter()
    rows = tx.rows(_SELECT, legal_entity_id=whose.legal_entity_id, first=first, date=date)
    for account_id, instrument_id, gross in rows:
        earned[account_id, instrument_id or ""] += gross
    return earned
