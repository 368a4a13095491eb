"""What a calendar feed says: the deadlines of an organization, or of one legal entity, and the days on which tenancies
end. Reads only.

Whoever has the address reads it, so there is nothing in it but names and days: no numbers of the authority's, no
period keys, no amounts.
"""

import datetime
from typing import Final, NamedTuple

from gatewayd.areas.periods.icalendar import Deadline
from gatewayd.clock import Instant
from gatewayd.identity.keys.calendar_feeds import OpenFeed
from gatewayd.ledger.calendar.titles import TITLES
from gatewayd.store import ReadTx, Row

DEADLINES_MAX: Final = 1_000  # Chosen: of some twenty companies; the earliest stay
DAYS_BACK: Final = 366  # Chosen

_VAT_ON_ACCOUNT: Final = "VAT payment on account"

_SELECT = """
SELECT due.id, due.kind, due.name, due.period_start_date, due.period_end_date, due.due_date, due.status, due.confidence,
    due.created_at, due.updated_at, due.version, entities.name, businesses.name, periods.type
FROM obligations due
JOIN legal_entities entities ON entities.org_id = due.org_id AND entities.id = due.legal_entity_id
LEFT JOIN businesses ON businesses.org_id = due.org_id AND businesses.id = due.business_id
LEFT JOIN periods ON periods.org_id = due.org_id AND periods.id = due.period_id
WHERE due.org_id = :org_id AND due.due_date >= :since AND due.status <> 'not_required'
    AND due.undecided = 0 AND entities.archived_at IS NULL
    AND (CAST(:legal_entity_id AS TEXT) IS NULL OR due.legal_entity_id = :legal_entity_id)
ORDER BY due.due_date, due.id LIMIT :count
"""
_SELECT_ENDS = """
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


def deadlines(tx: ReadTx, feed: OpenFeed) -> list[Deadline]:
    """What was due in the last year or is to come, by day. Binds the transaction to the feed's organization."""
    tx.bind(feed.org_id)
    since = datetime.date.fromisoformat(tx.today) - datetime.timedelta(days=DAYS_BACK)
    values = {"since": since.isoformat(), "legal_entity_id": feed.legal_entity_id, "count": DEADLINES_MAX}
    dated = [_deadline(row) for row in tx.rows(_SELECT, **values)]
    ends = ends_since(tx, since.isoformat(), feed.legal_entity_id, DEADLINES_MAX)
    dated += [_end(end, tx.today) for end in ends]
    return sorted(dated, key=lambda deadline: (deadline.day, deadline.uid))[:DEADLINES_MAX]


def ends_since(tx: ReadTx, day: str, legal_entity_id: str | None, count: int) -> list[TenancyEnd]:
    """The first `count` ends of tenancies on or after an ISO day, by day; of one legal entity, or with None of all."""
    rows = tx.rows(_SELECT_ENDS, since=day, legal_entity_id=legal_entity_id, count=count)
    return [TenancyEnd(*row) for row in rows]


def _deadline(row: Row) -> Deadline:
    id_, kind, name, start, end, due, status, confidence, created, changed, version, entity, business, type_ = row
    done = status == "fulfilled"
    title = name or (_VAT_ON_ACCOUNT if (kind, type_) == ("payment_on_account", "vat_period") else TITLES[kind])
    of_whom = entity if business is None else f"{entity}, {business}"
    said = "Met." if done else "Confirmed." if confidence == "confirmed" else "Predicted by the calendar."
    period = "" if start == end else f"For {_long(start)} to {_long(end)}.\n"
    return Deadline(
        uid=f"{id_}@gatewayd",
        day=datetime.date.fromisoformat(due),
        summary=f"{'Done: ' if done else ''}{title} ({of_whom})",
        description=f"{period}{said}",
        is_certain=done or confidence == "confirmed",
        is_done=done,
        created=Instant(created),
        changed=Instant(changed),
        sequence=version - 1,
    )


def _end(end: TenancyEnd, today: str) -> Deadline:
    where = end.property_name if end.unit is None else f"{end.property_name}, {end.unit}"
    over = "Notice on a tenancy expires" if end.noticed else "Term of a tenancy ends"
    what = over if end.continues else "Tenancy ends"
    how = f"By notice of the {end.notice_by}." if end.notice_by else "By notice." if end.noticed else "As agreed."
    return Deadline(
        uid=f"{end.id}@gatewayd",
        day=datetime.date.fromisoformat(end.day),
        summary=f"{what}: {where} ({end.entity}, {end.business})",
        description=f"{how} The tenancy goes on until somebody leaves." if end.continues else how,
        is_certain=True,
        is_done=end.day < today,
        created=Instant(end.created),
        changed=Instant(end.changed),
        sequence=end.version - 1,
    )


def _long(day: str) -> str:
    date = datetime.date.fromisoformat(day)
    return f"{date.day} {date:%B %Y}"
