"""The days on which tenancies end, for calendars of deadlines (Domain B4). Reads only."""

from typing import NamedTuple

from gatewayd.store import ReadTx

_SELECT = """
SELECT t.id, t.expected_end, t.last_day IS NULL, t.notice_expiry_date IS NOT NULL, t.notice_by, p.name, u.name, e.name,
    b.name, t.created_at, t.updated_at, t.version
FROM tenancies t
JOIN properties p ON p.org_id = t.org_id AND p.id = t.property_id
JOIN businesses b ON b.org_id = t.org_id AND b.id = p.business_id
JOIN legal_entities e ON e.org_id = t.org_id AND e.id = b.legal_entity_id
LEFT JOIN property_units u ON u.org_id = t.org_id AND u.id = t.unit_id
WHERE t.org_id = :org_id AND t.expected_end >= :since AND t.cancelled_at IS NULL AND e.archived_at IS NULL
    AND (CAST(:legal_entity_id AS TEXT) IS NULL OR e.id = :legal_entity_id)
ORDER BY t.expected_end, t.id LIMIT :count
"""


class TenancyEnd(NamedTuple):
    """A tenancy that ends, or whose notice or term does. `day` is ISO; `continues`: the tenancy goes on after it.

    `noticed`: a notice was served; `notice_by` None: nobody said by whom, or there is none. `unit` None: the whole
    property. `created` and `changed` are instants in microseconds.
    """

    id: str
    day: str
    continues: bool
    noticed: bool
    notice_by: str | None
    property_name: str
    unit: str | None
    entity: str
    business: str
    created: int
    changed: int
    version: int


def since(tx: ReadTx, day: str, legal_entity_id: str | None, count: int) -> list[TenancyEnd]:
    """The first `count` of them on or after an ISO day, of one legal entity or of all, by day."""
    rows = tx.rows(_SELECT, since=day, legal_entity_id=legal_entity_id, count=count)
    return [TenancyEnd(*row) for row in rows]
