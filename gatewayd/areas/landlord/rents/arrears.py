"""What tenancies owe: rent due less rent received (Domain C3). Reads only."""

from typing import NamedTuple

from gatewayd.areas.landlord.rents.terms import terms_of
from gatewayd.areas.landlord.tenancies.shapes import TenancyRow
from gatewayd.ledger.rents import received, schedule
from gatewayd.store import ReadTx


class Owed(NamedTuple):
    """Where a tenancy stands on a day, in minor units of its currency.

    Of `arrears` and `credit`, what was paid ahead, one at least is 0. `oldest_due` is the ISO date of the oldest rent
    that is not wholly paid, payments settling the oldest first; None: all of it is.
    """

    due: int
    received: int
    arrears: int
    credit: int
    oldest_due: str | None


def of_tenancy(tx: ReadTx, row: TenancyRow, day: str) -> Owed:
    """Where a tenancy stands at the end of an ISO date. One that was called off owes nothing."""
    came = received.until(tx, row.id, row.currency, day)
    if row.cancelled_at is not None:
        return Owed(0, came, 0, max(came, 0), None)
    terms = terms_of(row)
    due = schedule.due_until(terms, day)
    oldest = schedule.oldest_unpaid(terms, day, came) if came < due else None
    return Owed(due, came, max(due - came, 0), max(came - due, 0), oldest)
