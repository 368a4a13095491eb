"""What tenancies owe: rent due less rent received (Domain C3). Reads only.

Of one that has ended, all that was ever due stands in its row as `rent_total`, so that years of former tenants cost a
look at what they paid. The others' is counted, by whole periods at once.
"""

import datetime
from typing import NamedTuple

from gatewayd.areas.landlord.rents import terms
from gatewayd.areas.landlord.tenancies.shapes import TenancyRow
from gatewayd.ledger.rents import received, schedule, stored_terms
from gatewayd.store import ReadTx

_SELECT_UNSETTLED = f"""
SELECT id, property_id, received, {stored_terms.COLUMNS}
FROM (
    SELECT id, property_id, {received.OF_TENANCY} AS received, rent_total, {stored_terms.COLUMNS}
    FROM tenancies WHERE org_id = :org_id AND start_date <= :day AND cancelled_at IS NULL
) AS tenancies
WHERE last_day IS NULL OR last_day > :day OR rent_total > received
"""


class Owed(NamedTuple):
    """Where a tenancy stands on a day, in minor units of its currency.

    Of `arrears` and `credit`, which is what was paid ahead, one at least is 0. `oldest_due` is the ISO date of the
    first rent that is not wholly paid, payments settling the oldest first; None: all are. `latest_due` is that of the
    last rent which has fallen due; None: none has.
    """

    due: int
    received: int
    arrears: int
    credit: int
    oldest_due: str | None
    latest_due: str | None


class Owing(NamedTuple):
    """A tenancy in arrears, minor units of its currency. `days_oldest` is the age of the oldest rent not paid."""

    tenancy_id: str
    property_id: str
    currency: str
    arrears: int
    days_oldest: int


def of_tenancy(tx: ReadTx, row: TenancyRow, day: str) -> Owed:
    """Where a tenancy stands at the end of an ISO date. One that was called off owes nothing."""
    came = received.until(tx, row.id, row.currency, day)
    if row.cancelled_at is not None:
        return Owed(0, came, 0, came, None, None)
    its = terms.of_row(row)
    due = schedule.due_until(its, day)
    oldest, latest = schedule.oldest_unpaid(its, day, came), schedule.latest_due(its, day)
    return Owed(due, came, max(due - came, 0), max(came - due, 0), oldest, latest)


def of_all(tx: ReadTx, day: str) -> list[Owing]:
    """Every tenancy of the organization that is in arrears at the end of an ISO date, also where it has ended."""
    found = []
    for id_, property_id, came, currency, *others in tx.each(_SELECT_UNSETTLED, day=day):
        its = stored_terms.terms_of(currency, *others)
        arrears = schedule.due_until(its, day) - max(came, 0)
        oldest = schedule.oldest_unpaid(its, day, came) if arrears > 0 else None
        if oldest is not None:
            found.append(Owing(id_, property_id, currency, arrears, _days(oldest, day)))
    return found


def _days(first: str, last: str) -> int:
    return (datetime.date.fromisoformat(last) - datetime.date.fromisoformat(first)).days
