"""Rents due: worked by hand, and beside a walk over the days."""

import datetime
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.clock import days_after
from gatewayd.ledger.rents import schedule
from gatewayd.ledger.rents.schedule import Due, Frequency, Step, Terms
from tests.ledger.rents import schedule_oracle

FIRST, LAST = datetime.date(2024, 1, 1), datetime.date(2028, 12, 31)
FREQUENCIES: tuple[Frequency, ...] = get_args(Frequency)


def terms(frequency: Frequency, due_day: int, amount: int, start: str, end: str | None = None) -> Terms:
    return Terms(start, end, frequency, due_day, (Step(start, amount),))


def until(its: Terms, day: str) -> list[Due]:
    return list(schedule.dues(its, "0001-01-01", day))


WORKED = {
    "monthly, from the middle of a month to the middle of another": (
        terms("monthly", 1, 950_00, "2026-01-15", "2026-04-10"),
        [
            Due("2026-01-15", "2026-01-31", 520_97),  # 17 days of 31
            Due("2026-02-01", "2026-02-28", 950_00),
            Due("2026-03-01", "2026-03-31", 950_00),
            Due("2026-04-01", "2026-04-10", 316_67),  # 10 days of 30
        ],
    ),
    "the last day of each month": (
        terms("monthly", 31, 800_00, "2026-01-31", "2026-05-30"),
        [
            Due("2026-01-31", "2026-02-27", 800_00),
            Due("2026-02-28", "2026-03-30", 800_00),
            Due("2026-03-31", "2026-04-29", 800_00),
            Due("2026-04-30", "2026-05-30", 800_00),
        ],
    ),
    "the 30th, over a leap day": (
        terms("monthly", 30, 800_00, "2028-01-30", "2028-04-29"),
        [
            Due("2028-01-30", "2028-02-28", 800_00),
            Due("2028-02-29", "2028-03-29", 800_00),
            Due("2028-03-30", "2028-04-29", 800_00),
        ],
    ),
    "the 29th, in a year without one": (
        terms("monthly", 29, 800_00, "2027-01-28", "2027-03-28"),
        [
            Due("2027-01-28", "2027-01-28", 25_81),  # of the 31 days from 29 December
            Due("2027-01-29", "2027-02-27", 800_00),
            Due("2027-02-28", "2027-03-28", 800_00),
        ],
    ),
    "weekly, over the end of a year": (
        terms("weekly", 1, 150_00, "2026-12-24", "2027-01-11"),
        [
            Due("2026-12-24", "2026-12-27", 85_71),  # Thursday to Sunday
            Due("2026-12-28", "2027-01-03", 150_00),
            Due("2027-01-04", "2027-01-10", 150_00),
            Due("2027-01-11", "2027-01-11", 21_43),
        ],
    ),
    "fortnightly, two days before its weekday": (
        terms("fortnightly", 5, 300_00, "2026-11-18", "2026-12-03"),
        [Due("2026-11-18", "2026-11-19", 42_86), Due("2026-11-20", "2026-12-03", 300_00)],
    ),
    "four-weekly, which ends within a period": (
        terms("four_weekly", 5, 600_00, "2026-11-20", "2027-01-20"),
        [
            Due("2026-11-20", "2026-12-17", 600_00),
            Due("2026-12-18", "2027-01-14", 600_00),
            Due("2027-01-15", "2027-01-20", 128_57),  # 6 days of 28
        ],
    ),
    "quarterly, from the first due day on": (
        terms("quarterly", 25, 2400_00, "2026-02-10", "2026-08-24"),
        [
            Due("2026-02-10", "2026-02-24", 391_30),  # 15 of the 92 days from 25 November
            Due("2026-02-25", "2026-05-24", 2400_00),
            Due("2026-05-25", "2026-08-24", 2400_00),
        ],
    ),
    "annually, from a leap day": (
        terms("annually", 1, 11400_00, "2024-02-29", "2025-02-28"),
        [Due("2024-02-29", "2024-02-29", 31_15), Due("2024-03-01", "2025-02-28", 11400_00)],  # 1 day of 366
    ),
    "over before the first due day": (
        terms("monthly", 1, 950_00, "2026-01-10", "2026-01-19"),
        [Due("2026-01-10", "2026-01-19", 306_45)],
    ),
    "over within its first period": (
        terms("monthly", 1, 950_00, "2026-01-01", "2026-01-19"),
        [Due("2026-01-01", "2026-01-19", 582_26)],
    ),
    "a day of a period alone, at half a penny": (
        terms("monthly", 1, 15, "2026-03-01", "2026-04-01"),
        [Due("2026-03-01", "2026-03-31", 15), Due("2026-04-01", "2026-04-01", 1)],
    ),
    "an end before the start": (terms("monthly", 1, 950_00, "2026-03-01", "2026-02-01"), []),
}


@pytest.mark.parametrize(("its", "expected"), WORKED.values(), ids=WORKED)
def test_a_schedule_that_was_worked_by_hand(its: Terms, expected: list[Due]) -> None:
    assert until(its, "2030-01-01") == expected
    assert schedule.due_until(its, "2030-01-01") == sum(due.amount for due in expected)


def test_a_new_rent_counts_from_the_next_due_day_on() -> None:
    steps = (Step("2026-01-01", 950_00), Step("2026-03-15", 1000_00), Step("2026-05-01", 1020_00))
    its = Terms("2026-01-01", None, "monthly", 1, steps)
    assert [due.amount for due in until(its, "2026-06-30")] == [950_00, 950_00, 950_00, 1000_00, 1020_00, 1020_00]


@pytest.mark.parametrize(
    ("frequency", "due_day", "start", "changed", "expected"),
    [
        # in the part before the first due day: it has the rent of its own first day
        ("weekly", 1, "2026-12-24", "2026-12-25", [("2026-12-24", 57_14), ("2026-12-28", 200_00)]),
        ("monthly", 1, "2026-12-24", "2026-12-25", [("2026-12-24", 25_81), ("2027-01-01", 200_00)]),
        # on a due day, the day before it and the day after it
        ("weekly", 4, "2026-12-24", "2026-12-31", [("2026-12-24", 100_00), ("2026-12-31", 200_00)]),
        ("weekly", 4, "2026-12-24", "2026-12-30", [("2026-12-24", 100_00), ("2026-12-31", 200_00)]),
        ("fortnightly", 4, "2026-12-10", "2026-12-11", [("2026-12-10", 100_00), ("2026-12-24", 200_00)]),
        ("four_weekly", 4, "2026-11-26", "2026-12-25", [("2026-11-26", 100_00), ("2026-12-24", 100_00)]),
        ("quarterly", 1, "2026-07-01", "2026-10-01", [("2026-07-01", 100_00), ("2026-10-01", 200_00)]),
        ("quarterly", 1, "2026-07-01", "2026-10-02", [("2026-07-01", 100_00), ("2026-10-01", 100_00)]),
        ("quarterly", 1, "2026-07-01", "2026-09-30", [("2026-07-01", 100_00), ("2026-10-01", 200_00)]),
        ("annually", 31, "2024-02-29", "2025-02-28", [("2024-02-29", 100_00), ("2025-02-28", 200_00)]),
        ("annually", 31, "2024-02-29", "2025-03-01", [("2024-02-29", 100_00), ("2025-02-28", 100_00)]),
    ],
)
def test_the_period_from_which_a_new_rent_counts(
    frequency: Frequency, due_day: int, start: str, changed: str, expected: list[tuple[str, int]]
) -> None:
    its = Terms(start, None, frequency, due_day, (Step(start, 100_00), Step(changed, 200_00)))
    assert [(due.first, due.amount) for due in until(its, "2029-12-31")[:2]] == expected


def test_the_last_day_of_every_month() -> None:
    found = [due.first for due in until(terms("monthly", 31, 1, "2027-01-31"), "2028-02-29")]
    year = ["01-31", "02-28", "03-31", "04-30", "05-31", "06-30", "07-31", "08-31", "09-30", "10-31", "11-30", "12-31"]
    assert found == [*(f"2027-{day}" for day in year), "2028-01-31", "2028-02-29"]


def test_some_of_the_rents() -> None:
    its = terms("monthly", 1, 950_00, "2026-01-15", "2026-04-10")
    firsts = [due.first for due in schedule.dues(its, "2026-01-15", "2026-02-28")]
    assert firsts == ["2026-01-15", "2026-02-01"]
    assert [due.first for due in schedule.dues(its, "2026-01-16", "2026-03-01")] == ["2026-02-01", "2026-03-01"]
    assert [due.first for due in schedule.dues(its, "2026-02-02", "2026-12-31")] == ["2026-03-01", "2026-04-01"]
    assert list(schedule.dues(its, "2026-04-02", "2026-12-31")) == []


def test_of_two_rents_of_one_day_and_of_one_from_before_the_start_the_later_holds() -> None:
    steps = (Step("2026-01-01", 950_00), Step("2026-01-01", 900_00), Step("2026-02-01", 1), Step("2026-02-01", 980_00))
    its = Terms("2026-01-15", None, "monthly", 1, steps)
    assert [due.amount for due in until(its, "2026-03-01")] == [493_55, 980_00, 980_00]  # 17 of 31 days of 900.00


def test_rent_is_due_in_advance() -> None:
    its = terms("monthly", 1, 950_00, "2026-01-01")
    assert schedule.due_until(its, "2025-12-31") == 0
    assert schedule.due_until(its, "2026-01-01") == 950_00
    assert schedule.due_until(its, "2026-01-31") == 950_00
    assert schedule.due_until(its, "2026-02-01") == 1900_00


def test_the_last_period_is_a_part_as_soon_as_the_end_is_known() -> None:
    its = terms("monthly", 1, 900_00, "2026-01-01", "2026-02-07")
    assert schedule.due_until(its, "2026-01-31") == 900_00
    assert schedule.due_until(its, "2026-02-01") == 1125_00


def test_the_oldest_unpaid_is_the_first_that_is_not_wholly_paid() -> None:
    its = Terms("2026-01-15", None, "monthly", 1, (Step("2026-01-15", 950_00), Step("2026-03-01", 1000_00)))
    oldest = [schedule.oldest_unpaid(its, "2026-04-30", paid) for paid in (-1, 0, 520_96, 520_97, 1470_96, 1470_97)]
    assert oldest == ["2026-01-15", "2026-01-15", "2026-01-15", "2026-02-01", "2026-02-01", "2026-03-01"]
    assert schedule.oldest_unpaid(its, "2026-04-30", 3470_96) == "2026-04-01"
    assert schedule.oldest_unpaid(its, "2026-04-30", 3470_97) is None
    assert schedule.oldest_unpaid(its, "2026-01-14", 0) is None
    pennies = terms("weekly", 1, 1, "2026-11-02")
    assert [schedule.oldest_unpaid(pennies, "2026-11-09", paid) for paid in (-1, 0, 1, 2)] == [
        "2026-11-02",
        "2026-11-02",
        "2026-11-09",
        None,
    ]


@pytest.mark.parametrize("frequency", FREQUENCIES)
@pytest.mark.parametrize("due_day", [1, 7])
def test_the_first_and_the_last_days_of_the_calendar(frequency: Frequency, due_day: int) -> None:
    whole = terms(frequency, due_day, 100, "0001-01-01", "9999-12-31")
    assert schedule.due_until(whole, "0001-03-01") >= 100
    last = list(schedule.dues(whole, "9999-11-01", "9999-12-31"))
    assert last == [] or last[-1].last <= "9999-12-31"
    endless = terms(frequency, due_day, 100, "9998-12-31")
    assert until(endless, "9999-12-31")[-1].last <= "9999-12-31"


# -- beside a walk over the days


days = st.dates(FIRST, LAST)


@st.composite
def tenancies(draw: st.DrawFn) -> Terms:
    start = draw(days)
    end = draw(st.none() | st.integers(-3, 900).map(lambda length: start + datetime.timedelta(days=length)))
    frequency = draw(st.sampled_from(FREQUENCIES))
    by_weeks = frequency in ("weekly", "fortnightly", "four_weekly")
    first = Step(start.isoformat(), draw(st.integers(0, 2500_00)))
    changes = draw(st.lists(st.tuples(days, st.integers(0, 2500_00)), max_size=3))
    later = sorted(Step(day.isoformat(), amount) for day, amount in changes if day >= start)
    due_day = draw(st.integers(1, 7 if by_weeks else 31))
    its = Terms(start.isoformat(), None if end is None else end.isoformat(), frequency, due_day, (first, *later))
    on = draw(st.sampled_from((None, "english", "scottish", "modern"))) if frequency == "quarterly" else None
    return its._replace(quarter_days=on)


@settings(max_examples=300)
@given(tenancies(), days, days)
def test_the_schedule_is_what_a_walk_over_the_days_finds(its: Terms, first: datetime.date, last: datetime.date) -> None:
    walked = list(schedule_oracle.dues(its, last))
    assert until(its, last.isoformat()) == walked
    assert schedule.due_until(its, last.isoformat()) == sum(due.amount for due in walked)
    some = list(schedule.dues(its, first.isoformat(), last.isoformat()))
    assert some == [due for due in walked if due.first >= first.isoformat()]


@given(tenancies(), days, st.integers(-100, 60_000_00))
def test_the_oldest_unpaid_is_what_paying_one_by_one_leaves(its: Terms, day: datetime.date, received: int) -> None:
    left, oldest = max(received, 0), None
    for due in until(its, day.isoformat()):
        left -= due.amount
        if left < 0:
            oldest = due.first
            break
    assert schedule.oldest_unpaid(its, day.isoformat(), received) == oldest


@given(tenancies())
def test_periods_follow_each_other_without_a_gap(its: Terms) -> None:
    dues = until(its, LAST.isoformat())
    for before, after in pairwise(dues):
        assert days_after(before.last, 1) == after.first
    assert not dues or dues[0].first == its.start


@given(tenancies())
def test_whatever_falls_due_is_one_of_the_amounts(its: Terms) -> None:
    assert {due.amount for due in until(its, "2032-01-01")} <= schedule.amounts(its)


def test_the_rent_of_a_month() -> None:
    """Domain C3."""
    months = [
        schedule.monthly_rent(150_00, "weekly"),
        schedule.monthly_rent(600_00, "four_weekly"),
        schedule.monthly_rent(2400_00, "quarterly"),
        schedule.monthly_rent(11400_00, "annually"),
        schedule.monthly_rent(300_00, "fortnightly"),
        schedule.monthly_rent(650_00, "monthly"),
    ]
    assert months == [650_00, 650_00, 800_00, 950_00, 650_00, 650_00]
    assert sum(schedule.monthly_rent(1, "weekly") for _ in range(3)) == 13  # unrounded: three times 4 1/3


def test_the_last_rent_that_fell_due() -> None:
    its = terms("monthly", 1, 950_00, "2026-01-15", "2026-04-10")
    days = ("2026-01-14", "2026-01-15", "2026-01-31", "2026-02-01", "2026-03-31", "2030-01-01")
    found = [schedule.latest_due(its, day) for day in days]
    assert found == [None, "2026-01-15", "2026-01-15", "2026-02-01", "2026-03-01", "2026-04-01"]
