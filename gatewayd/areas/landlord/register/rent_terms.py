"""What the rent of a tenancy follows from, of its row. Pure."""

from gatewayd.areas.landlord.register import tenancy_states
from gatewayd.areas.landlord.register.tenancy_shapes import RentStep, TenancyRow
from gatewayd.ledger.rents import schedule, stored_terms
from gatewayd.ledger.rents.schedule import Rent, Step, Terms
from gatewayd.money import to_minor

_MOST = (1 << 63) - 1  # what a column holds; nobody pays that


def agreed(row: TenancyRow) -> Terms:
    """The terms that a tenancy was let on, as if it had not been called off."""
    steps = [Step(step.from_date, to_minor(step.amount, row.currency), step.frequency) for step in row.rent_history]
    its = Terms(row.start_date, tenancy_states.last_day(row), row.rent_frequency, row.rent_due_day, tuple(steps))
    return its._replace(quarter_days=row.rent_quarter_days)


def of_row(row: TenancyRow) -> Terms:
    """The same, as they are by law."""
    return stored_terms.put_in(agreed(row), row.type)


def total(row: TenancyRow) -> int | None:
    """All the rent of a tenancy from its first day to its last, in minor units; None: it goes on."""
    its = of_row(row)
    return None if its.end is None else min(schedule.due_until(its, its.end), _MOST)


def last_rent(row: TenancyRow) -> Rent:
    """The last of the rents of a tenancy."""
    part = schedule.parts(of_row(row))[-1]
    return schedule.rent_on(part, part.steps[-1].first)


def monthly_since(row: TenancyRow) -> str | None:
    """The ISO date from which on the law has rent by the month, come or to come; None: it is due as agreed."""
    *before, last = schedule.parts(of_row(row))
    return last.start if before else None


def step_on(row: TenancyRow, day: str) -> RentStep:
    """The step that is in force on a day; before the tenancy, the first."""
    begun = [step for step in row.rent_history if step.from_date <= day]
    return begun[-1] if begun else row.rent_history[0]
