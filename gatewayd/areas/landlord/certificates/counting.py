"""How many certificates there are in each state, and which expire next, for the dashboard and for reminders.

Of properties that are still the owner's business. What was current on a day follows from when its successor was
issued. Reads only.
"""

from typing import Final, NamedTuple

from gatewayd.areas.landlord.certificates import missing, rows
from gatewayd.areas.landlord.certificates.missing import KEPT_PROPERTY
from gatewayd.areas.landlord.certificates.rows import CERTIFICATES
from gatewayd.areas.landlord.certificates.shapes import WINDOW_DAYS, Certificate
from gatewayd.areas.landlord.certificates.states import NEVER
from gatewayd.clock import days_after
from gatewayd.store import ReadTx

_CURRENT: Final = "c.issued_date <= :day AND (c.superseded_date IS NULL OR c.superseded_date > :day)"
_OF_WHOM: Final = f"""{KEPT_PROPERTY}
    AND (CAST(:business_id AS TEXT) IS NULL OR p.business_id = :business_id)
    AND (CAST(:legal_entity_id AS TEXT) IS NULL OR p.business_id IN (
        SELECT b.id FROM businesses b WHERE b.org_id = :org_id AND b.legal_entity_id = :legal_entity_id
    ))
"""
_SELECT_COUNTS = f"""
SELECT coalesce(sum(CASE WHEN c.valid_until > :until THEN 1 ELSE 0 END), 0),
    coalesce(sum(CASE WHEN c.valid_until BETWEEN :day AND :until THEN 1 ELSE 0 END), 0),
    coalesce(sum(CASE WHEN c.valid_until < :day THEN 1 ELSE 0 END), 0)
FROM certificates c JOIN properties p ON p.org_id = c.org_id AND p.id = c.property_id
WHERE c.org_id = :org_id AND {_CURRENT} AND {_OF_WHOM}
"""
_UPCOMING: Final = f"""valid_until >= :day AND valid_until < '{NEVER}' AND EXISTS (
        SELECT 1 FROM properties p WHERE p.org_id = :org_id AND p.id = certificates.property_id AND {_OF_WHOM}
    )
ORDER BY valid_until, id LIMIT :count
"""
_SELECT_NEXT = f"{CERTIFICATES.select} AND superseded_by_id IS NULL AND {_UPCOMING}"
_SELECT_NEXT_THEN = f"""{CERTIFICATES.select} AND issued_date <= :day
    AND (superseded_date IS NULL OR superseded_date > :day) AND {_UPCOMING}
"""


class Counts(NamedTuple):
    """How many there are in each state."""

    valid: int
    expiring: int
    expired: int
    missing: int


def counts(
    tx: ReadTx, business_id: str | None, legal_entity_id: str | None, day: str, window_days: int = WINDOW_DAYS
) -> Counts:
    """How many there are on an ISO date, of a business, of a legal entity, or of all with neither."""
    whose = {"business_id": business_id, "legal_entity_id": legal_entity_id}
    row = tx.row(_SELECT_COUNTS, day=day, until=days_after(day, window_days), **whose)
    assert row is not None
    valid, expiring, expired = row
    return Counts(valid, expiring, expired, missing.count_of(tx, business_id, legal_entity_id, day))


def next_to_expire(
    tx: ReadTx,
    business_id: str | None,
    legal_entity_id: str | None,
    day: str,
    count: int,
    window_days: int = WINDOW_DAYS,
) -> list[Certificate]:
    """What is valid on an ISO date and expires next, the soonest first, of the same as `counts`."""
    whose = {"business_id": business_id, "legal_entity_id": legal_entity_id}
    select = _SELECT_NEXT if day >= tx.today else _SELECT_NEXT_THEN  # nothing is issued on a day to come
    found = tx.rows(select, day=day, count=count, **whose)
    return [rows.shown(CERTIFICATES.read(tx, row), day, window_days) for row in found]
