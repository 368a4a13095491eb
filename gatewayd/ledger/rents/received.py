"""Rent that came: what is allocated to a tenancy as rent (Domain B4, C3). Reads only.

What was given back counts against it. Chosen: only money of the tenancy's own currency.
"""

from gatewayd.store import ReadTx

IS_RENT = "(category = 'periodAmount' OR category = 'rentARoomRentsReceived' OR category = 'turnover')"
"""In statements on allocations with a tenancy: those that are rent. A company that trades counts it as turnover."""
_SUM = "SELECT coalesce(sum(CASE WHEN direction = 'in' THEN amount ELSE -amount END), 0) FROM allocations"
OF_TENANCY = f"""
(
    {_SUM}
    WHERE allocations.org_id = :org_id AND allocations.tenancy_id = tenancies.id AND date <= :day
        AND allocations.currency = tenancies.currency AND {IS_RENT}
)
""".strip()
"""In statements on tenancies: the rent of each that came by the end of `:day`, less what was given back."""

_SUM_OF_ONE = f"""
{_SUM} WHERE org_id = :org_id AND tenancy_id = :tenancy_id AND date <= :day AND currency = :currency AND {IS_RENT}
"""


def until(tx: ReadTx, tenancy_id: str, currency: str, day: str) -> int:
    """The rent of a tenancy that came by the end of an ISO date, less what was given back, in minor units."""
    return int(tx.value(_SUM_OF_ONE, tenancy_id=tenancy_id, currency=currency, day=day))
