"""The terms of tenancies as their rows hold them, in the table `tenancies`, which the landlord area owns. Reads only.

The monthly rent periods that the law put in the place of longer ones (Housing Act 1988 s4A; Domain B4, C3).

In England no rent period of an assured tenancy that begins on 1 May 2026 or later is longer than a month. Where a
longer one was agreed before, it runs to its end. From then on rent is due each month, and a month costs

    R / D x 30.42

of the rent R of the last longer period, which had D days (Renters' Rights Act 2025 Sch. 6 para. 2).
"""

from typing import Any, Final

import msgspec

from gatewayd.clock import days_after
from gatewayd.ledger.dates.date_ranges import DateRange, days
from gatewayd.ledger.rents import schedule
from gatewayd.ledger.rents.schedule import Due, Frequency, Monthly, Step, Terms
from gatewayd.money import half_up, to_minor

COLUMNS: Final = """
tenancies.currency, start_date, last_day, rent_frequency, rent_due_day, rent_history, tenancies.type,
    rent_quarter_days
""".strip()
FIRST_DAY: Final = "2026-05-01"
"""The day on which Chapter 1 of Part 1 of the Renters' Rights Act 2025 came into force."""
ASSURED: Final = frozenset({"assured_periodic", "assured_shorthold"})
"""Types of tenancies that are assured, all of them in England."""
LONGER: Final = frozenset[Frequency]({"quarterly", "annually"})

_HUNDREDTHS_OF_A_MONTH: Final = 30_42  # days


class _Step(msgspec.Struct, frozen=True, rename="camel"):
    """A rent of the history: its first ISO date, its amount as a decimal, and how often where that is not as agreed."""

    from_date: str
    amount: str
    frequency: Frequency | None = None


_history = msgspec.json.Decoder(list[_Step])


def terms_of(*columns: Any) -> Terms:
    """The terms of `COLUMNS`, as they are by law."""
    currency, start, last_day, frequency, due_day, history, type_, quarter_days = columns
    steps = [Step(step.from_date, to_minor(step.amount, currency), step.frequency) for step in _history.decode(history)]
    terms = Terms(start, last_day, frequency, due_day, tuple(steps), quarter_days=quarter_days)
    return put_in(terms, type_)


def put_in(terms: Terms, type_: str) -> Terms:
    """The terms of a tenancy of some type, as they are by law.

    Steps whose frequency is monthly are the rent of a month; another one that was entered for a day after the change
    counts by its share of a month (chosen).
    """
    if type_ not in ASSURED or terms.frequency not in LONGER or terms.start >= FIRST_DAY:
        return terms
    if terms.end is not None and terms.end < FIRST_DAY:
        return terms
    last = last_longer(terms)
    first = days_after(last.last, 1)
    later = [step._replace(amount=_of_a_month(step, terms.frequency)) for step in terms.steps if step.first > first]
    by_law = [step for step in terms.steps if step.first == first and step.frequency == "monthly"]
    steps = by_law or [Step(first, half_up(last.amount * _HUNDREDTHS_OF_A_MONTH, days_of(last) * 100))]
    before = tuple(step for step in terms.steps if step.first < first)
    return terms._replace(steps=before, monthly=Monthly(first, (*steps, *later)))


def last_longer(terms: Terms) -> Due:
    """The last rent for more than a month, of the terms that were agreed: the one before the first monthly one.

    It ends the day before the change where a period would have begun on that day, else it is the one that the day of
    the change lies in.
    """
    goes_on = terms._replace(end=None, monthly=None)
    begins = schedule.latest_due(goes_on, FIRST_DAY)
    if begins == FIRST_DAY:
        begins = schedule.latest_due(goes_on, days_after(FIRST_DAY, -1))
    assert begins is not None, "it began before that day"
    return next(schedule.dues(goes_on, begins, begins))


def days_of(due: Due) -> int:
    """The whole days of a rent period."""
    return days(DateRange(due.first, due.last))


def _of_a_month(step: Step, agreed: Frequency) -> int:
    share = schedule.monthly_rent(step.amount, step.frequency or agreed)
    return half_up(share.numerator, share.denominator)
