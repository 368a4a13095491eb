"""Tells of lets through the outbox: certificates that expire, tenancies that end, rent that has not come.

On its way it computes what migrations left open of rents and loans.

What was told stands in the row, written in the transaction of the event: a kill neither loses an event nor sends it
twice. Nothing else rests on it: what the API shows of a day follows from dates alone.
"""

import datetime
from typing import Final

from gatewayd import events
from gatewayd.areas.landlord.certificates import rows as certificates
from gatewayd.areas.landlord.mortgages import rows as mortgages
from gatewayd.areas.landlord.register import tenancies, tenancy_states
from gatewayd.areas.landlord.register.properties import KEPT, PROPERTIES, StoredProperty
from gatewayd.areas.landlord.register.tenancies import TENANCIES
from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow
from gatewayd.areas.landlord.rents import arrears
from gatewayd.clock import days_after, london_date
from gatewayd.ledger.allocating import rents_received
from gatewayd.money import from_minor
from gatewayd.store import ReadTx, WriteTx

WINDOW_DAYS: Final = 60  # Chosen: that of the dashboard and of lists
TOLD_AT_ONCE: Final = 50  # Chosen: rows in one transaction, some milliseconds
LOOKED_AT_DAYS: Final = 62  # Chosen: after the end of a tenancy, its last rents included

_SELECT_EXPIRING_ANY_ORG = """
SELECT org_id, id, property_id, unit_id, type, expiry_date FROM certificates
WHERE superseded_by_id IS NULL AND (expiring_told_for IS NULL OR expiring_told_for <> expiry_date)
    AND expiry_date >= :today AND expiry_date <= :until
ORDER BY expiry_date, id LIMIT :count
"""
_SELECT_ENDING_ANY_ORG = """
SELECT org_id, id, expected_end FROM tenancies
WHERE cancelled_at IS NULL AND (ending_told_for IS NULL OR ending_told_for <> expected_end)
    AND expected_end >= :today AND expected_end <= :until
ORDER BY expected_end, id LIMIT :count
"""
_SELECT_RENTED_ANY_ORG = """
SELECT org_id, id, rent_told_for FROM tenancies
WHERE cancelled_at IS NULL AND rent_looked_at_on < :today AND start_date < :today
    AND (last_day IS NULL OR last_day >= :since)
ORDER BY rent_looked_at_on, id LIMIT :count
"""

_SELECT_NOT_KEPT_ANY_ORG = "SELECT org_id, id FROM mortgages WHERE length(owed_by_month) = 0 ORDER BY id LIMIT :count"


def is_silent(tx: ReadTx) -> bool:
    """Whether there is nothing to tell, no rent to look at, and no loan to compute."""
    return not any(tx.rows(sql, **_window_values(tx, 1)) for sql in _SELECTS)


def tell_some(tx: WriteTx) -> None:
    """Tell of some of what there is to tell of, in all organizations."""
    values = _window_values(tx, TOLD_AT_ONCE)
    for org_id, id_, property_id, unit_id, type_, expiry in tx.rows(_SELECT_EXPIRING_ANY_ORG, **values):
        tx.bind(org_id)
        _tell_expiring(tx, PROPERTIES.get(tx, property_id), id_, unit_id, type_, expiry)
        certificates.mark_told(tx, id_)
    for org_id, id_, end in tx.rows(_SELECT_ENDING_ANY_ORG, **values):
        tx.bind(org_id)
        _tell_ending(tx, TENANCIES.get(tx, id_), end)
        tenancies.mark_ending_told(tx, id_)
    for org_id, id_, told_for in tx.rows(_SELECT_RENTED_ANY_ORG, **values):
        tx.bind(org_id)
        told_for = _tell_overdue(tx, TENANCIES.get(tx, id_), told_for)
        tenancies.mark_rent_looked_at(tx, id_, told_for)
        rents_received.note_unpaid(tx, id_)  # what a migration left open is found sooner so
    for org_id, id_ in tx.rows(_SELECT_NOT_KEPT_ANY_ORG, count=TOLD_AT_ONCE):
        tx.bind(org_id)
        mortgages.keep_owed(tx, id_)


_SELECTS: Final = (
    _SELECT_EXPIRING_ANY_ORG,
    _SELECT_ENDING_ANY_ORG,
    _SELECT_RENTED_ANY_ORG,
    _SELECT_NOT_KEPT_ANY_ORG,
)


def _window_values(tx: ReadTx, count: int) -> dict[str, object]:
    today = tx.today
    window = {"until": days_after(today, WINDOW_DAYS), "since": days_after(today, -LOOKED_AT_DAYS)}
    return {"today": today, "count": count, **window}


def _tell_expiring(
    tx: WriteTx, of: StoredProperty, certificate_id: str, unit_id: str | None, type_: str, expiry: str
) -> None:
    """Record the event, unless the property is not in use any more: nobody renews there."""
    if of.status not in KEPT:
        return
    data = {
        "certificate_id": certificate_id,
        "type": type_,
        "property_id": of.id,
        "unit_id": unit_id,
        "business_id": of.business_id,
        "expiry_date": expiry,
        "days_until_expiry": _days_between(tx.today, expiry),
    }
    events.append(tx, "certificate.expiring", data)


def _tell_ending(tx: WriteTx, row: TenancyRow, end: str) -> None:
    data = {
        "end_date": end,
        "days_until_end": _days_between(tx.today, end),
        "notice_by": row.notice_by,
        "continues": tenancy_states.last_day(row) is None,
    }
    events.append(tx, "tenancy.ending", {**_of_tenancy(tx, row), **data})


def _tell_overdue(tx: WriteTx, row: TenancyRow, told_for: str | None) -> str | None:
    """Record what is overdue since the last time; answers the due date that is told of now.

    Chosen: what was due before the tenancy came into the books is no news, or the first day would tell of years.
    """
    yesterday = days_after(tx.today, -1)
    owed = arrears.of_tenancy(tx, row, yesterday)
    due = owed.latest_due
    if not owed.arrears or due is None or due <= (told_for or "") or due < london_date(row.created_at):
        return told_for
    data = {
        "due_date": due,
        "days_overdue": _days_between(due, tx.today),
        "arrears": from_minor(owed.arrears, row.currency),
        "currency": row.currency,
    }
    events.append(tx, "rent.overdue", {**_of_tenancy(tx, row), **data})
    return due


def _of_tenancy(tx: ReadTx, row: TenancyRow) -> dict[str, object]:
    of = PROPERTIES.get(tx, row.property_id)
    return {"tenancy_id": row.id, "property_id": of.id, "unit_id": row.unit_id, "business_id": of.business_id}


def _days_between(first: str, last: str) -> int:
    return (datetime.date.fromisoformat(last) - datetime.date.fromisoformat(first)).days
