"""What tenancies owe: rent due less rent received (Domain C3). Reads only.

Of one that has ended, all that was ever due stands in its row as `rent_total`, so that years of former tenants cost a
look at what they paid. The others' is counted, by whole periods at once.
"""

import datetime
from typing import NamedTuple

import msgspec

from gatewayd.areas.landlord.rents import terms
from gatewayd.areas.landlord.tenancies.shapes import RentStep, TenancyRow
from gatewayd.ledger.rents import received, schedule
from gatewayd.ledger.rents.schedule import Terms
from gatewayd.store import ReadTx

_SELECT_UNSETTLED = f"""
SELECT id, property_id, currency, received, start_date, last_day, rent_frequency, rent_due_day, rent_history
FROM (
    SELECT id, property_id, currency, {received.OF_TENANCY} AS received, rent_total, start_date, last_day,
        rent_frequency, rent_due_day, rent_history
    FROM tenancies WHERE org_id = :org_id AND start_date <= :day AND cancelled_at IS NULL
) AS begun
WHERE last_day IS NULL OR last_day > :day OR rent_total > received
"""

_history = msgspec.json.Decoder(list[RentStep])


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
        return Owed(0, came, 0, max(came, 0), None, None)
    its = terms.of_row(row)
    due = schedule.due_until(its, day)
    oldest = schedule.oldest_unpaid(its, day, came) if came < due else None
    return Owed(due, came, max(due - came, 0), max(came - due, 0), oldest, schedule.latest_due(its, day))


def of_all(tx: ReadTx, day: str) -> list[Owing]:
    """Every tenancy of the organization that is in arrears at the end of an ISO date, also where it has ended."""
    found = []
    for id_, property_id, currency, came, start, last_day, frequency, due_day, history in tx.each(
        _SELECT_UNSETTLED, day=day
    ):
        its = Terms(start, last_day, frequency, due_day, terms.steps_of(_history.decode(history), currency))
        due = schedule.due_until(its, day)
        oldest = schedule.oldest_unpaid(its, day, came) if came < due else None
        if oldest is not None:
            found.append(Owing(id_, property_id, currency, due - came, _days(oldest, day)))
    return found


def _days(first: str, last: str) -> int:
    return (datetime.date.fromisoformat(last) - datetime.date.fromisoformat(first)).days
