"""What the rent of a tenancy follows from, of its row. Pure."""

from gatewayd.areas.landlord.tenancies import states
from gatewayd.areas.landlord.tenancies.shapes import TenancyRow
from gatewayd.ledger.rents import schedule
from gatewayd.ledger.rents.schedule import Step, Terms
from gatewayd.money import to_minor

_MOST = (1 << 63) - 1  # what a column holds; nobody pays that


def of_row(row: TenancyRow) -> Terms:
    """The terms of a tenancy, as if it had not been called off."""
    steps = [Step(step.from_date, to_minor(step.amount, row.currency)) for step in row.rent_history]
    return Terms(row.start_date, states.last_day(row), row.rent_frequency, row.rent_due_day, tuple(steps))


def total(row: TenancyRow) -> int | None:
    """All the rent of a tenancy whose last day is known, in minor units; None: it goes on."""
    its = of_row(row)
    return None if its.end is None else min(schedule.due_until(its, its.end), _MOST)
