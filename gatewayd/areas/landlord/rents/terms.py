"""What the rent of a tenancy follows from, of its row. Pure."""

from gatewayd.areas.landlord.tenancies import states
from gatewayd.areas.landlord.tenancies.shapes import TenancyRow
from gatewayd.ledger.rents.schedule import Step, Terms
from gatewayd.money import to_minor


def terms_of(row: TenancyRow) -> Terms:
    """The terms of a tenancy that was not called off."""
    steps = [Step(step.from_date, to_minor(step.amount, row.currency)) for step in row.rent_history]
    return Terms(row.start_date, states.last_day(row), row.rent_frequency, row.rent_due_day, tuple(steps))
