"""What tenancies owe: rent due less rent received (Domain C3). Reads only.

Who owes is found by the day from which on rent is unpaid (`rents_received`), so that who has paid costs nothing,
whether the tenancy runs or has ended. What is due is counted, by whole periods at once.
"""

import datetime
from typing import NamedTuple

from gatewayd.areas.landlord.register import rent_terms
from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow
from gatewayd.ledger.allocating import rents_received
from gatewayd.ledger.rents import schedule, stored_terms
from gatewayd.store import ReadTx, Row

_CAME = "CASE WHEN amount > 0 THEN amount ELSE 0 END"
_HAS_ENDED = "last_day <= :day AND unpaid_from > '' AND rent_total IS NOT NULL"
_OF_TENANCY = """
AND tenancies.org_id = :org_id AND tenancies.id = rents_received.tenancy_id
    AND tenancies.currency = rents_received.currency AND cancelled_at IS NULL
""".strip()
# CROSS: SQLite keeps the order of the tables, and looks at these tenancies alone
_OF_UNPAID = f"""
FROM rents_received CROSS JOIN tenancies
WHERE rents_received.org_id = :org_id AND unpaid_from <= :day {_OF_TENANCY}
""".strip()
_SELECT_ENDED = f"""
SELECT tenancies.id, property_id, tenancies.currency, rent_total - {_CAME}, unpaid_from
{_OF_UNPAID} AND {_HAS_ENDED}
"""
_SELECT_RUNNING = f"""
SELECT tenancies.id, property_id, unpaid_from, {_CAME}, {stored_terms.COLUMNS}
{_OF_UNPAID} AND (last_day IS NULL OR last_day > :day OR unpaid_from = '' OR rent_total IS NULL)
"""
_SELECT_CHANGED = f"""
SELECT tenancies.id, property_id, '', amount - later.came, {stored_terms.COLUMNS}
FROM ({rents_received.LATER}) later CROSS JOIN rents_received CROSS JOIN tenancies
WHERE rents_received.org_id = :org_id AND rents_received.tenancy_id = later.tenancy_id
    AND rents_received.currency = later.currency {_OF_TENANCY}
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
    """A tenancy in arrears, minor units. `oldest_due` is the ISO date of its first rent that is not wholly paid."""

    tenancy_id: str
    property_id: str
    currency: str
    arrears: int
    oldest_due: str

    def days_oldest(self, day: str) -> int:
        """The age of the oldest rent that is not paid at the end of an ISO date."""
        return _days_between(self.oldest_due, day)


def of_tenancy(tx: ReadTx, row: TenancyRow, day: str) -> Owed:
    """Where a tenancy stands at the end of an ISO date. One that was called off owes nothing."""
    came = rents_received.until(tx, row.id, row.currency, day)
    if row.cancelled_at is not None:
        return Owed(0, came, 0, came, None, None)
    its = rent_terms.of_row(row)
    due = schedule.due_until(its, day)
    oldest, latest = schedule.oldest_unpaid(its, day, came), schedule.latest_due(its, day)
    return Owed(due, came, max(due - came, 0), max(came - due, 0), oldest, latest)


def of_all(tx: ReadTx, day: str) -> list[Owing]:
    """Every tenancy of the organization that is in arrears at the end of an ISO date, also where it has ended.

    Looked at are those with a rent unpaid that was due by then. What came after that date is taken out of the sums, so
    that a day of the past costs a look at each tenancy for which something has come since.
    """
    changed = tx.rows(_SELECT_CHANGED, day=day)
    since = {row[0] for row in changed}
    ended = [Owing._make(row) for row in tx.each(_SELECT_ENDED, day=day) if row[0] not in since]
    running = [row for row in tx.each(_SELECT_RUNNING, day=day) if row[0] not in since]
    worked_out = (_owing(row, day) for row in (*running, *changed))
    return [*ended, *(owing for owing in worked_out if owing is not None)]


def _owing(row: Row, day: str) -> Owing | None:
    """What a tenancy owes at the end of an ISO date, by what had come until then; None: nothing."""
    tenancy_id, property_id, oldest, came, *stored = row
    its = stored_terms.terms_of(*stored)
    if oldest:
        return Owing(tenancy_id, property_id, stored[0], schedule.due_until(its, day) - came, oldest)
    unpaid = schedule.unpaid(its, day, came)
    return None if unpaid is None else Owing(tenancy_id, property_id, stored[0], *unpaid)


def _days_between(first: str, last: str) -> int:
    return (datetime.date.fromisoformat(last) - datetime.date.fromisoformat(first)).days
