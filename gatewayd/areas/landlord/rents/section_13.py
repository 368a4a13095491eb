"""Whether a rise of rent keeps section 13 of the Housing Act 1988 as it is since 1 May 2026 (Domain 0.1, B4). Pure.

In England the rent of an assured periodic tenancy rises by a notice on Form 4A alone: two months after it was served
at the earliest, on the first day of a period of the tenancy, 52 weeks after the tenancy began and after the last rise
by notice. What is found is for people to judge: nothing is refused.
"""

import datetime
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.landlord.register import rent_terms, tenancy_states
from gatewayd.areas.landlord.register.tenancy_shapes import RentNotice, RentStep, TenancyRow
from gatewayd.clock import days_after
from gatewayd.ledger.dates.date_ranges import later
from gatewayd.ledger.rents import schedule
from gatewayd.money import to_minor

FORM: Final = "Form 4A"
_NOTICE_MONTHS = 2
_52_WEEKS, _53_WEEKS = 364, 371
_DRIFT_DAYS = 6  # that rises every 52 weeks may come before the day of the first

FindingCode = Literal[
    "notice_missing",
    "notice_form",
    "notice_too_short",
    "before_effective_date",
    "not_first_day_of_period",
    "first_52_weeks",
    "within_52_weeks",
]


class Finding(NamedTuple):
    """What a rise of rent does not keep, and why, for people."""

    code: FindingCode
    message: str


def findings(row: TenancyRow, step: RentStep) -> list[Finding]:
    """What is wrong with a rent that `step` would add to a tenancy's history; nothing where it is no such rise."""
    if not _applies(row, step):
        return []
    return [*_of_notice(step), *_of_day(row, step.from_date)]


def _applies(row: TenancyRow, step: RentStep) -> bool:
    """Whether it raises the rent of a tenancy that is assured periodic on that day."""
    type_, _ = tenancy_states.type_of(row, step.from_date)
    return step.from_date >= tenancy_states.PERIODIC_FROM and type_ == "assured_periodic" and _raises(row, step)


def _raises(row: TenancyRow, step: RentStep) -> bool:
    if step.from_date <= row.start_date:
        return False
    without = replace(row, rent_history=[other for other in row.rent_history if other.from_date < step.from_date])
    before = schedule.rent_on(rent_terms.of_row(without), step.from_date)
    return _of_a_month(row, step) > schedule.monthly_rent(before.amount, before.frequency)


def _of_a_month(row: TenancyRow, step: RentStep) -> Fraction:
    return schedule.monthly_rent(to_minor(step.amount, row.currency), step.frequency or row.rent_frequency)


def _of_notice(step: RentStep) -> Iterator[Finding]:
    notice = step.notice
    if notice is None or notice.served_date is None:
        yield Finding("notice_missing", f"The rent of an assured periodic tenancy rises by a notice on {FORM} alone.")
        return
    yield from _of_served_notice(step, notice, notice.served_date.isoformat())


def _of_served_notice(step: RentStep, notice: RentNotice, served: str) -> Iterator[Finding]:
    effective = step.from_date if notice.effective_date is None else notice.effective_date.isoformat()
    if step.from_date < effective:
        yield Finding("before_effective_date", f"By the notice the new rent is due from {effective} on.")
    if served < tenancy_states.PERIODIC_FROM:
        return  # Chosen: such a notice is of the older law, and what that asked for is not looked at
    if notice.form is not None and _form_key(notice.form) != _form_key(FORM):
        yield Finding("notice_form", f"Since {tenancy_states.PERIODIC_FROM} the notice is on {FORM}.")
    earliest = later(served, _NOTICE_MONTHS)
    if effective < earliest:
        message = f"A notice that was served on {served} takes effect on {earliest} at the earliest."
        yield Finding("notice_too_short", message)


def _of_day(row: TenancyRow, day: str) -> Iterator[Finding]:
    """What is wrong with the day of a rise."""
    if not any(due.first == day for due in schedule.dues(rent_terms.of_row(row)._replace(end=None), day, day)):
        yield Finding("not_first_day_of_period", f"{day} is not the first day of a period of the tenancy.")
    earliest = days_after(row.start_date, _52_WEEKS)
    if day < earliest:
        yield Finding("first_52_weeks", f"The first rise is 52 weeks after the start at the earliest, on {earliest}.")
    rises = [rise for rise in _rises_by_notice(row) if rise < day]
    if rises and day < (earliest := _next_rise(rises)):
        yield Finding("within_52_weeks", f"After the rise of {rises[-1]} the next is on {earliest} at the earliest.")


def _rises_by_notice(row: TenancyRow) -> list[str]:
    """The days of rises that count against the next one.

    Chosen: since the change of the law those too whose notice nobody entered.
    """
    pairs = zip(row.rent_history, row.rent_history[1:], strict=False)
    return [
        after.from_date
        for before, after in pairs
        if _of_a_month(row, after) > _of_a_month(row, before)
        and (after.notice is not None or after.from_date >= tenancy_states.PERIODIC_FROM)
    ]


def _next_rise(rises: list[str]) -> str:
    """The earliest day of the rise after these (section 13(3A) and (3B)): 52 weeks after the last.

    It is 53 where the 52 weeks end more than six days before the anniversary of the first.
    """
    usual = days_after(rises[-1], _52_WEEKS)
    anniversary = later(rises[0], 12 * round(_years(rises[0], usual)))
    return days_after(rises[-1], _53_WEEKS) if usual < days_after(anniversary, -_DRIFT_DAYS) else usual


def _years(first: str, last: str) -> float:
    days = datetime.date.fromisoformat(last) - datetime.date.fromisoformat(first)
    return days.days / 365.2425


def _form_key(name: str) -> str:
    """What two names of a form have in common: `4a` of Form 4A."""
    return name.casefold().replace(" ", "").removeprefix("form")
