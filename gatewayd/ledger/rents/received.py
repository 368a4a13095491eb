"""Rent that came: what is allocated to a tenancy as rent (Domain B4, C3). Reads only.

What was given back counts against it. Chosen: only money of the tenancy's own currency.
"""

from typing import Literal

from gatewayd.ledger.categories import PROPERTY_TYPES
from gatewayd.ledger.rents.ladder import Payment
from gatewayd.store import ReadTx

IS_RENT = "(category = 'periodAmount' OR category = 'rentARoomRentsReceived' OR category = 'turnover')"
"""In statements on allocations with a tenancy: those that are rent. A company that trades counts it as turnover."""
_AMOUNT = "coalesce(sum(CASE WHEN direction = 'in' THEN amount ELSE -amount END), 0)"
OF_TENANCY = f"""
(
    SELECT {_AMOUNT} FROM allocations
    WHERE allocations.org_id = :org_id AND allocations.tenancy_id = tenancies.id AND date <= :day
        AND allocations.currency = tenancies.currency AND {IS_RENT}
)
""".strip()
"""In statements on tenancies: the rent of each that came by the end of `:day`, less what was given back."""

_SUM = f"""
SELECT {_AMOUNT} FROM allocations
WHERE org_id = :org_id AND tenancy_id = :tenancy_id AND date <= :day AND currency = :currency AND {IS_RENT}
"""
_SELECT = f"""
SELECT id, date, CASE WHEN direction = 'in' THEN amount ELSE -amount END FROM allocations
WHERE org_id = :org_id AND tenancy_id = :tenancy_id AND currency = :currency AND {IS_RENT} ORDER BY date, id
"""


def category_of(business_type: str, use: str) -> Literal["periodAmount", "rentARoomRentsReceived", "turnover"]:
    """The line of the rent of a property of such use, in a business of such a type."""
    if business_type not in PROPERTY_TYPES:
        return "turnover"
    return "rentARoomRentsReceived" if use == "rent_a_room" else "periodAmount"


def of_tenancy(tx: ReadTx, tenancy_id: str, currency: str) -> list[Payment]:
    """All rent of a tenancy, of any day, in the order of the dates."""
    return [Payment(*row) for row in tx.rows(_SELECT, tenancy_id=tenancy_id, currency=currency)]


def until(tx: ReadTx, tenancy_id: str, currency: str, day: str) -> int:
    """The rent of a tenancy that came by the end of an ISO date, less what was given back, in minor units.

    Chosen: it is not below 0, for who gives back more than came makes nobody a debtor.
    """
    return max(int(tx.value(_SUM, tenancy_id=tenancy_id, currency=currency, day=day)), 0)
