"""What is owed on the mortgages of many properties on a day (Domain C3). Reads only."""

from collections.abc import Collection

from gatewayd.areas.landlord.mortgages.rows import MORTGAGES, loan_of
from gatewayd.ledger.amortising import balance_on
from gatewayd.store import ReadTx

_RUNNING = "start_date <= :day AND (redeemed_date IS NULL OR redeemed_date > :day)"
_SELECT_SAID = f"""
SELECT property_id, current_balance FROM mortgages WHERE org_id = :org_id AND {_RUNNING} AND balance_date <= :day
"""
_SELECT_UNSAID = f"""{MORTGAGES.select} AND {_RUNNING} AND (balance_date IS NULL OR balance_date > :day)
"""


def of_properties(tx: ReadTx, property_ids: Collection[str], day: str) -> int:
    """The sum in minor units, of properties of one currency: what lenders said last, else what is computed.

    What was said up to the day is the last word in most rows, and needs neither their histories nor any computing.
    """
    said: int = sum(amount for property_id, amount in tx.each(_SELECT_SAID, day=day) if property_id in property_ids)
    unsaid = [MORTGAGES.load(values) for values in tx.each(_SELECT_UNSAID, day=day)]
    return said + sum(balance_on(loan_of(row), day) for row in unsaid if row.property_id in property_ids)
