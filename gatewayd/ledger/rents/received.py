"""Rent that came: what is allocated to a tenancy as rent (Domain B4, C3). Owns the table `rents_received`.

What was given back counts against it. Chosen: only money of the tenancy's own currency. The sum of all dates is kept
with each change of an allocation, so that who looks at all tenancies reads one row of each.
"""

from typing import Final, Literal

from gatewayd.ledger.allocation_shapes import Allocation
from gatewayd.ledger.categories import PROPERTY_TYPES, Category
from gatewayd.ledger.rents.ladder import Payment
from gatewayd.store import ReadTx, WriteTx

_RENT: Final[frozenset[Category]] = frozenset({"periodAmount", "rentARoomRentsReceived", "turnover"})
IS_RENT = "(category = 'periodAmount' OR category = 'rentARoomRentsReceived' OR category = 'turnover')"
"""In statements on allocations with a tenancy: those that are rent. A company that trades counts it as turnover."""
_SIGNED = "CASE WHEN direction = 'in' THEN amount ELSE -amount END"
_AMOUNT = f"coalesce(sum({_SIGNED}), 0)"
_ADD = """
INSERT INTO rents_received (org_id, tenancy_id, currency, amount) VALUES (:org_id, :tenancy_id, :currency, :amount)
ON CONFLICT (org_id, tenancy_id, currency) DO UPDATE SET amount = rents_received.amount + excluded.amount
"""
_SELECT_LATER = f"""
SELECT tenancy_id, currency, sum({_SIGNED}) FROM allocations
WHERE org_id = :org_id AND property_id IS NOT NULL AND date > :day AND tenancy_id IS NOT NULL AND {IS_RENT}
GROUP BY tenancy_id, currency
"""
_SELECT_WRONG = f"""
SELECT t.id, CASE WHEN coalesce((
    SELECT amount FROM rents_received
    WHERE rents_received.org_id = :org_id AND rents_received.tenancy_id = t.id AND rents_received.currency = t.currency
), 0) = (
    SELECT {_AMOUNT} FROM allocations
    WHERE allocations.org_id = :org_id AND allocations.tenancy_id = t.id AND allocations.currency = t.currency
        AND {IS_RENT}
) THEN 0 ELSE 1 END
FROM tenancies AS t WHERE t.org_id = :org_id AND t.id > :after ORDER BY t.id LIMIT :count
"""
_SUM = f"""
SELECT {_AMOUNT} FROM allocations
WHERE org_id = :org_id AND tenancy_id = :tenancy_id AND date <= :day AND currency = :currency AND {IS_RENT}
"""
_SELECT = f"""
SELECT id, date, {_SIGNED} FROM allocations
WHERE org_id = :org_id AND tenancy_id = :tenancy_id AND currency = :currency AND {IS_RENT} ORDER BY date, id
"""


def note(tx: WriteTx, before: Allocation | None, after: Allocation | None) -> None:
    """Keep the sums true where an allocation has become another. None: it is new, or gone."""
    if before is not None and after is not None and _counted(before) == _counted(after):
        return
    for row, sign in ((before, -1), (after, 1)):
        if row is not None and (of := _counted(row)) is not None:
            tenancy_id, currency, amount = of
            tx.run(_ADD, tenancy_id=tenancy_id, currency=currency, amount=sign * amount)


def _counted(row: Allocation) -> tuple[str, str, int] | None:
    """Tenancy, currency, and signed minor units of what is rent; None: it is none."""
    return None if row.tenancy_id is None or row.category not in _RENT else (row.tenancy_id, row.currency, row.signed)


def later(tx: ReadTx, day: str) -> dict[tuple[str, str], int]:
    """What came for tenancies after an ISO date, less what was given back: minor units by tenancy and currency."""
    return {(tenancy_id, currency): minor for tenancy_id, currency, minor in tx.rows(_SELECT_LATER, day=day)}


def stale(tx: ReadTx, after: str, count: int) -> list[tuple[str, bool]]:
    """The next tenancies after an id, and of each whether its sum is another than that of its allocations."""
    return [(id_, bool(wrong)) for id_, wrong in tx.rows(_SELECT_WRONG, after=after, count=count)]


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
