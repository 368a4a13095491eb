"""When an invoice is reminded of, and which of its reminders is written. Pure.

A rung of the schedule is so many days after the due date, or before it, by London's days. Of the rungs whose day has
come, the latest is written and those before it are left out: after downtime nobody gets three letters at once. A rung
holds from the day on which it was set, so that nobody is reminded of last year's invoices because somebody has switched
reminders on.
"""

import datetime
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal, NamedTuple

from gatewayd.clock import LONDON, SECOND, Instant, days_after

Reason = Literal[
    "before_sending", "past_due", "overtaken", "no_address", "stopped", "client_stopped", "settled", "switched_off"
]

FIRST_HOUR: Final = 8  # Chosen: from eight in the morning in London, Monday to Friday,
LAST_HOUR: Final = 18  # until six in the evening; bank holidays are days as others
_FRIDAY: Final = 4

PLACEHOLDERS: Final = ("number", "client", "balance", "dueDate", "link")
_BRACES: Final = re.compile(r"\{([^{}]*)\}")


class Rung(NamedTuple):
    """One rung: so many days after the due date (negative: before it). `since` is the ISO date from which it holds."""

    days: int
    since: str


class Plan(NamedTuple):
    """What is done of an invoice today: which rungs are left out, with the reason, and which one is written."""

    skipped: list[tuple[int, Reason]]
    written: int | None


NOTHING: Final = Plan([], None)


def is_hour(now: Instant) -> bool:
    """Whether reminders are written at this instant."""
    moment = datetime.datetime.fromtimestamp(now // SECOND, LONDON)
    return moment.weekday() <= _FRIDAY and FIRST_HOUR <= moment.hour < LAST_HOUR


def plan(rungs: Iterable[Rung], due_date: str, sent_on: str, noted: Collection[int], today: str) -> Plan:
    """What is to be done today of an invoice with money still due; dates are ISO. `noted` are the rungs that are done.

    Chosen: a rung whose day came before the invoice was sent, or with it, is left out; so is one of before the due
    date once that has passed.
    """
    skipped: list[tuple[int, Reason]] = []
    left: list[int] = []
    for rung in sorted(rungs):
        day = days_after(due_date, rung.days)
        if rung.days in noted or day > today or day < rung.since:
            continue
        if day <= sent_on:
            skipped.append((rung.days, "before_sending"))
        elif rung.days < 0 and today > due_date:
            skipped.append((rung.days, "past_due"))
        else:
            left.append(rung.days)
    if not left:
        return Plan(skipped, None)
    return Plan([*skipped, *((days, "overtaken") for days in left[:-1])], left[-1])


def next_day(rungs: Iterable[Rung], due_date: str, sent_on: str, noted: Collection[int], today: str) -> str | None:
    """The first ISO date, today or later, on which one is to be written as things are; None: none comes.

    A Saturday or Sunday stands for the Monday after it.
    """
    rungs = list(rungs)
    days = {max(today, days_after(due_date, rung.days)) for rung in rungs}
    for day in sorted(map(_working_day, days)):
        if plan(rungs, due_date, sent_on, noted, day).written is not None:
            return day
    return None


def _working_day(day: str) -> str:
    beyond = datetime.date.fromisoformat(day).weekday() - _FRIDAY
    return days_after(day, 3 - beyond) if beyond > 0 else day


def unknown_placeholders(text: str) -> list[str]:
    """What stands in braces and is none of `PLACEHOLDERS`; a brace without its other half is one too."""
    unknown = [name for name in _BRACES.findall(text) if name not in PLACEHOLDERS]
    rest = _BRACES.sub("", text)
    return [f"{{{name}}}" for name in unknown] + [brace for brace in "{}" if brace in rest]


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled in, once: what a client is called is text, whatever stands in it."""
    return _BRACES.sub(lambda match: values[match[1]], text)
