"""The rents of a tenancy, each from a day on. Pure."""

from collections.abc import Sequence
from typing import Final

from gatewayd.areas.landlord.register.tenancy_shapes import RentStep, TenancyRow
from gatewayd.areas.landlord.tenancies.shapes import AgreedRent
from gatewayd.money import Money

MAX_STEPS: Final = 200  # Chosen: all of a tenancy are looked at together


def agreed_rent(row: TenancyRow, monthly_since: str | None) -> AgreedRent:
    """The last rent that was agreed before the law had it by the month; None: of which nothing was."""
    agreed = [step for step in row.rent_history if monthly_since is None or step.from_date < monthly_since]
    amount = Money.of(agreed[-1].amount, row.currency)
    due_day = row.rent_due_day if row.rent_quarter_days is None else None
    return AgreedRent(amount=amount, frequency=row.rent_frequency, due_day=due_day, quarter_days=row.rent_quarter_days)


def step_on(row: TenancyRow, day: str) -> RentStep:
    """The step that is in force on a day; before the tenancy, the first."""
    begun = [step for step in row.rent_history if step.from_date <= day]
    return begun[-1] if begun else row.rent_history[0]


def without_step(history: Sequence[RentStep], day: str) -> list[RentStep]:
    """The history without the step of a day; all of it where that day has none."""
    return [one for one in history if one.from_date != day]


def with_step(history: Sequence[RentStep], step: RentStep) -> list[RentStep]:
    """The history with one step more, in the place of one from the same day."""
    return sorted([*without_step(history, step.from_date), step], key=lambda one: one.from_date)
