"""How many certificates there are in each state, and which expire next, for the dashboard and for reminders.

Of properties that are still the owner's business. What was current on a day follows from when its successor was
issued: what stands now, without what was issued since, and with what was superseded since. Reads only.
"""

from typing import Final, NamedTuple

from gatewayd.areas.landlord.certificates import missing, rules
from gatewayd.areas.landlord.certificates.missing import KEPT_PROPERTY
from gatewayd.areas.landlord.certificates.rows import CERTIFICATES
from gatewayd.areas.landlord.certificates.rules import NEVER
from gatewayd.areas.landlord.certificates.shapes import StoredCertificate
from gatewayd.clock import days_after
from gatewayd.store import ReadTx

_OF_WHOM: Final = f"""{KEPT_PROPERTY}
    AND (CAST(:business_id AS TEXT) IS NULL OR p.business_id = :business_id)
    AND (CAST(:legal_entity_id AS TEXT) IS NULL OR p.business_id IN (
        SELECT b.id FROM businesses b WHERE b.org_id = :org_id AND b.legal_entity_id = :legal_entity_id
    ))
"""
_IN_EACH_STATE: Final = """
coalesce(sum(CASE WHEN c.valid_until > :until THEN 1 ELSE 0 END), 0),
    coalesce(sum(CASE WHEN c.valid_until BETWEEN :day AND :until THEN 1 ELSE 0 END), 0),
    coalesce(sum(CASE WHEN c.valid_until < :day THEN 1 ELSE 0 END), 0)
""".strip()
# CROSS: SQLite keeps the order of the tables. valid_until is no less than '': an index that has it is used
_OF_ALL: Final = "FROM properties p CROSS JOIN certificates c"
_OF_THESE: Final = "FROM certificates c CROSS JOIN properties p"
_JOINED: Final = f"WHERE p.org_id = :org_id AND c.org_id = :org_id AND c.property_id = p.id AND {_OF_WHOM}"
_SELECT_COUNTS = (
    f"SELECT {_IN_EACH_STATE} {_OF_ALL} {_JOINED} AND c.superseded_by_id IS NULL AND c.valid_until >= ''",
    f"SELECT {_IN_EACH_STATE} {_OF_THESE} {_JOINED} AND c.superseded_by_id IS NULL AND c.issued_date > :day",
    f"SELECT {_IN_EACH_STATE} {_OF_THESE} {_JOINED} AND c.superseded_date > :day AND c.issued_date <= :day",
)
_UPCOMING: Final = f"""valid_until >= :day AND valid_until < '{NEVER}' AND issued_date <= :day AND EXISTS (
        SELECT 1 FROM properties p WHERE p.org_id = :org_id AND p.id = certificates.property_id AND {_OF_WHOM}
    )
ORDER BY valid_until, id LIMIT :count
"""
_SELECT_NEXT = (
    f"{CERTIFICATES.select} AND superseded_by_id IS NULL AND {_UPCOMING}",
    f"{CERTIFICATES.select} AND superseded_date > :day AND {_UPCOMING}",
)


class Counts(NamedTuple):
    """How many there are in each state."""

    valid: int
    expiring: int
    expired: int
    missing: int


def counts(tx: ReadTx, business_id: str | None, legal_entity_id: str | None, day: str, window_days: int) -> Counts:
    """How many there are on an ISO date, of a business, of a legal entity, or of all with neither.

    `window_days` is how many days ahead an expiry is `expiring`, 0 or more.
    """
    values = {"business_id": business_id, "legal_entity_id": legal_entity_id, "day": day}
    values["until"] = days_after(day, window_days)
    standing, issued, superseded = (tx.rows(sql, **values)[0] for sql in _SELECT_COUNTS)
    valid, expiring, expired = (now - new + old for now, new, old in zip(standing, issued, superseded, strict=True))
    return Counts(valid, expiring, expired, missing.count_of(tx, business_id, legal_entity_id, day))


def next_to_expire(
    tx: ReadTx, business_id: str | None, legal_entity_id: str | None, day: str, count: int
) -> list[StoredCertificate]:
    """What is valid on an ISO date and expires next, however far ahead, the soonest first: of the same as `counts`."""
    whose = {"business_id": business_id, "legal_entity_id": legal_entity_id}
    upcoming = [
        CERTIFICATES.read(tx, row) for sql in _SELECT_NEXT for row in tx.each(sql, day=day, count=count, **whose)
    ]
    upcoming.sort(key=lambda row: (rules.valid_until(row), row.id))
    return upcoming[:count]
