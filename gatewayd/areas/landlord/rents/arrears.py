"""What tenancies owe: rent due less rent received (Domain C3). Reads only.

Of one that has ended, all that was ever due stands in its row as `rent_total`, so that years of former tenants cost a
look at the sum of what they paid. The others' is counted, by whole periods at once.
"""

import datetime
from collections.abc import Mapping
from typing import Any, NamedTuple

from gatewayd.areas.landlord.rents import terms
from gatewayd.areas.landlord.tenancies.shapes import TenancyRow
from gatewayd.ledger.rents import received, schedule, stored_terms
from gatewayd.store import ReadTx, Row

_SELECT = f"""
SELECT tenancies.id, property_id, coalesce(rents_received.amount, 0), rent_total, {stored_terms.COLUMNS}
FROM tenancies LEFT JOIN rents_received ON rents_received.org_id = :org_id
    AND rents_received.tenancy_id = tenancies.id AND rents_received.currency = tenancies.currency
WHERE tenancies.org_id = :org_id AND cancelled_at IS NULL
"""
_SELECT_RUNNING = f"""
{_SELECT} AND last_day IS NULL AND start_date <= :day
UNION ALL
{_SELECT} AND last_day > :day AND start_date <= :day
"""
_SELECT_ENDED = f"{_SELECT} AND last_day <= :day"  # they began before
_SELECT_UNSETTLED = f"{_SELECT_ENDED} AND rent_total > coalesce(rents_received.amount, 0)"  # settled: seen in an index
_TERMS = 4  # how many columns go before those of the terms, the first of which is the currency


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
    """A tenancy in arrears, minor units of its currency. `stored` are the columns of its terms."""

    tenancy_id: str
    property_id: str
    currency: str
    arrears: int
    received: int
    stored: tuple[Any, ...]

    def days_oldest(self, day: str) -> int:
        """The age of the oldest rent that is not paid at the end of an ISO date."""
        oldest = schedule.oldest_unpaid(stored_terms.terms_of(*self.stored), day, self.received)
        assert oldest is not None  # it is in arrears
        return _days(oldest, day)


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
    """Every tenancy of the organization that is in arrears at the end of an ISO date, also where it has ended.

    What came after that date is taken out of the sums, so that a day of the past costs what has come since.
    """
    since = received.later(tx, day)
    found = []
    for row in tx.each(_SELECT_RUNNING, day=day):
        came = _came(row, since)
        arrears = schedule.due_until(stored_terms.terms_of(*row[_TERMS:]), day) - came
        if arrears > 0:
            found.append(Owing(row[0], row[1], row[_TERMS], arrears, came, row[_TERMS:]))
    for row in tx.each(_SELECT_ENDED if since else _SELECT_UNSETTLED, day=day):
        came = _came(row, since)
        arrears = row[_TERMS - 1] - came
        if arrears > 0:
            found.append(Owing(row[0], row[1], row[_TERMS], arrears, came, row[_TERMS:]))
    return found


def _came(row: Row, since: Mapping[tuple[str, str], int]) -> int:
    """What had come for a tenancy, of all that came: never less than nothing."""
    came: int = row[2] - since.get((row[0], row[_TERMS]), 0)
    return came if came > 0 else 0


def _days(first: str, last: str) -> int:
    return (datetime.date.fromisoformat(last) - datetime.date.fromisoformat(first)).days
