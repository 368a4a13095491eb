"""What a tenancy does not keep of the law, told in `warnings` (Domain B4). Pure; nothing is refused for it."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gatewayd.areas.landlord.rents import section_13, terms
from gatewayd.areas.landlord.rents.section_13 import FindingCode
from gatewayd.areas.landlord.tenancies import rent_steps, states
from gatewayd.areas.landlord.tenancies.shapes import (
    RentFrequency,
    RentStep,
    TenancyRow,
    TenancyType,
    TenancyWarning,
    TenancyWarningCode,
)
from gatewayd.clock import days_after
from gatewayd.ledger.rents import monthly_periods, schedule
from gatewayd.money import Money, to_minor

_PROTECTION_DAYS: Final = 30  # of receipt [padlord]
PROTECTED: Final = frozenset[TenancyType](
    {
        "assured_periodic",
        "assured_shorthold",
        "occupation_contract",
        "private_residential_tenancy",
        "private_tenancy_ni",
    }
)
"""Types whose deposits belong into a scheme. Chosen: the 30 days of England and Wales stand for the others' too."""

_ASSURED: Final = frozenset[TenancyType]({"assured_periodic", "assured_shorthold"})
_IN_A_YEAR: Final[Mapping[RentFrequency, int]] = {
    "weekly": 52,
    "fortnightly": 26,
    "four_weekly": 13,
    "monthly": 12,
    "quarterly": 4,
    "annually": 1,
}
_WEEKS_IN_A_YEAR: Final = 52


class _Cap(NamedTuple):
    """The most weeks of rent that a deposit may be, of tenancies that begin from an ISO date on.

    `many_weeks` hold where the rent of a year is `limit`, in minor units, or more.
    """

    first: str
    weeks: int
    limit: int
    many_weeks: int


_CAPS: Final = (_Cap("2019-06-01", 5, 50_000_00, 6),)  # [deposit cap]

_OF_FINDINGS: Final[Mapping[FindingCode, TenancyWarningCode]] = {
    "notice_missing": "rent_notice_missing",
    "notice_form": "rent_notice_form",
    "notice_too_short": "rent_notice_too_short",
    "before_effective_date": "rent_before_notice",
    "not_first_day_of_period": "rent_within_period",
    "first_52_weeks": "rent_raised_too_often",
    "within_52_weeks": "rent_raised_too_often",
}

_NO_TERM: Final = (
    f"In England assured tenancies have no fixed term since {states.PERIODIC_FROM}: this one goes on past it."
    " When it ends, give `endedDate`."
)
_NO_TERM_IN_SCOTLAND: Final = (
    "A private residential tenancy has no term: this one goes on past it. When it ends, give `endedDate`."
)


def no_term(row: TenancyRow) -> TenancyWarning:
    """What there is to say of a term that the law undoes."""
    message = _NO_TERM_IN_SCOTLAND if row.type == "private_residential_tenancy" else _NO_TERM
    return TenancyWarning(code="fixed_term_not_allowed", message=message)


def warnings(row: TenancyRow, today: str) -> list[TenancyWarning]:
    """What there is to say of a tenancy today: of its term, rent period, deposit, the rent in force and the next."""
    if row.cancelled_at is not None:
        return []
    to_come = [step for step in row.rent_history if step.from_date > max(today, row.start_date)]
    rents = (rent_steps.step_on(row, today), *to_come[:1])
    return [
        *_of_term(row, today),
        *_of_period(row, today),
        *_of_deposit(row, today),
        *(warning for step in rents for warning in of_rent(row, step)),
    ]


def of_rent(row: TenancyRow, step: RentStep) -> list[TenancyWarning]:
    """What there is to say of a rent of the tenancy."""
    return [
        TenancyWarning(code=_OF_FINDINGS[found.code], message=f"Rent from {step.from_date}: {found.message}")
        for found in section_13.findings(row, step)
    ]


def _of_term(row: TenancyRow, today: str) -> Iterator[TenancyWarning]:
    if states.is_past_term(row, today):
        message = (
            f"Its term was over on {row.term_end_date}, and nobody said that it ended: by law it goes on, and rent is"
            " due. Give `endedDate` if the tenants left, or clear `termEndDate` if they stay."
        )
        yield TenancyWarning(code="term_over", message=message)


def _of_period(row: TenancyRow, today: str) -> Iterator[TenancyWarning]:
    """Told until a rent by the month is entered, which says that people know."""
    since = terms.monthly_since(row)
    if since is None or today < states.PERIODIC_FROM or row.rent_history[-1].frequency is not None:
        return
    last = monthly_periods.last_longer(terms.agreed(row))
    agreed, days = Money(last.amount, row.currency), monthly_periods.days_of(last)
    by_law = Money(schedule.rent_on(terms.of_row(row), since).amount, row.currency)
    message = (
        f"Rent periods of assured tenancies that begin since {states.PERIODIC_FROM} are a month at most: from {since}"
        f" on {by_law} is due a month, the {agreed} of the {days} days before / {days} x 30.42. Enter it as `rent` from"
        " that day on, or what else was agreed, to say that it is known."
    )
    yield TenancyWarning(code="rent_period_ended", message=message)


def _of_deposit(row: TenancyRow, today: str) -> Iterator[TenancyWarning]:
    held = row.deposit_amount
    if not held or row.type not in PROTECTED or row.deposit_returned_date is not None:
        return
    due = days_after(row.start_date, _PROTECTION_DAYS)  # Chosen: it is received when the tenancy begins
    if row.deposit_protected_date is None and due < today:
        message = f"Nothing says that the deposit is protected; it was to be by {due}."
        yield TenancyWarning(code="deposit_unprotected", message=message)
    cap = most_deposit(row)
    if cap is not None and cap < held:
        message = f"The deposit may be {cap} at most, {_weeks(row)} weeks of rent."
        yield TenancyWarning(code="deposit_cap", message=message)


def most_deposit(row: TenancyRow) -> Money | None:
    """The most that the deposit of an assured tenancy in England may be, in whole pennies; None: there is no cap."""
    weeks = _weeks(row)
    return None if weeks is None else Money(_rent_of_a_year(row) * weeks // _WEEKS_IN_A_YEAR, row.currency)


def _weeks(row: TenancyRow) -> int | None:
    caps = [cap for cap in _CAPS if cap.first <= row.start_date]
    if not caps or row.type not in _ASSURED or row.currency != "GBP":
        return None
    return caps[-1].many_weeks if _rent_of_a_year(row) >= caps[-1].limit else caps[-1].weeks


def _rent_of_a_year(row: TenancyRow) -> int:
    """Of the first rent, which the deposit was taken by."""
    return to_minor(row.rent_history[0].amount, row.currency) * _IN_A_YEAR[row.rent_frequency]
