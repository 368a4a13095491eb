"""Rent of business premises on quarter days: worked by hand. See `test_schedule` too."""

import datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.ledger.rents import schedule
from gatewayd.ledger.rents.schedule import Due, QuarterDays, Quarters, Step, Terms
from tests.ledger.rents import schedule_oracle


def lease(on: QuarterDays, start: str, end: str | None, *later: Step, amount: int = 12_000_00) -> Terms:
    """A lease for 12,000.00 a quarter, which is 48,000.00 a year, 131.5068... a day."""
    return Terms(start, end, "quarterly", 1, (Step(start, amount), *later), quarter_days=on)


WORKED = {
    "English, from 10 February 2026": (
        lease("english", "2026-02-10", None),
        [
            Due("2026-02-10", "2026-03-24", 5_654_79),  # 43 days: 48,000 x 43 / 365
            Due("2026-03-25", "2026-06-23", 12_000_00),
            Due("2026-06-24", "2026-09-28", 12_000_00),
            Due("2026-09-29", "2026-12-24", 12_000_00),
            Due("2026-12-25", "2027-03-24", 12_000_00),
        ],
    ),
    "Scottish, from 10 February 2026": (
        lease("scottish", "2026-02-10", "2026-12-31"),
        [
            Due("2026-02-10", "2026-02-27", 2_367_12),  # 18 days: 48,000 x 18 / 365
            Due("2026-02-28", "2026-05-27", 12_000_00),
            Due("2026-05-28", "2026-08-27", 12_000_00),
            Due("2026-08-28", "2026-11-27", 12_000_00),
            Due("2026-11-28", "2026-12-31", 4_471_23),  # 34 days
        ],
    ),
    "modern, from 10 February 2026": (
        lease("modern", "2026-02-10", None),
        [
            Due("2026-02-10", "2026-03-31", 6_575_34),  # 50 days: 48,000 x 50 / 365
            Due("2026-04-01", "2026-06-30", 12_000_00),
            Due("2026-07-01", "2026-09-30", 12_000_00),
            Due("2026-10-01", "2026-12-31", 12_000_00),
        ],
    ),
    "a step in the midst of a quarter, which counts from the next quarter day on": (
        lease("english", "2025-12-25", "2026-09-28", Step("2026-04-10", 13_000_00)),
        [
            Due("2025-12-25", "2026-03-24", 12_000_00),
            Due("2026-03-25", "2026-06-23", 12_000_00),
            Due("2026-06-24", "2026-09-28", 13_000_00),
        ],
    ),
    "a step on a quarter day, and an end in the midst of the quarter": (
        lease("english", "2026-03-25", "2026-08-03", Step("2026-06-24", 13_000_00)),
        [Due("2026-03-25", "2026-06-23", 12_000_00), Due("2026-06-24", "2026-08-03", 5_841_10)],  # 41 days of 52,000
    ),
    "over a leap day, whose year has 365 days too": (
        lease("scottish", "2028-02-20", "2028-06-01"),
        [
            Due("2028-02-20", "2028-02-27", 1_052_05),  # 8 days
            Due("2028-02-28", "2028-05-27", 12_000_00),
            Due("2028-05-28", "2028-06-01", 657_53),  # 5 days
        ],
    ),
    "a part with a leap day in it": (
        lease("english", "2028-02-10", "2028-03-24"),
        [Due("2028-02-10", "2028-03-24", 5_786_30)],  # 44 days
    ),
    "all days but one of the longest quarter, which are no more than the quarter": (
        lease("english", "2026-06-25", "2026-09-28"),
        [Due("2026-06-25", "2026-09-28", 12_000_00)],  # 96 days, 12,624.66 at 1/365
    ),
    "all days but one of the shortest": (
        lease("english", "2026-09-29", "2026-12-23"),
        [Due("2026-09-29", "2026-12-23", 11_309_59)],  # 86 days
    ),
    "over before its first quarter day": (
        lease("english", "2026-02-10", "2026-02-19"),
        [Due("2026-02-10", "2026-02-19", 1_315_07)],  # 10 days
    ),
}


@pytest.mark.parametrize(("its", "expected"), WORKED.values(), ids=WORKED)
def test_a_lease_that_was_worked_by_hand(its: Terms, expected: list[Due]) -> None:
    assert list(schedule.dues(its, "0001-01-01", "2026-12-31" if its.end is None else "2030-01-01")) == expected
    assert schedule.due_until(its, expected[-1].first) == sum(due.amount for due in expected)
    assert schedule.latest_due(its, expected[-1].last) == expected[-1].first
    assert {due.amount for due in expected} <= schedule.amounts(its)


def test_what_is_owed_grows_on_each_quarter_day() -> None:
    its = lease("english", "2026-02-10", None)
    days = ("2026-02-09", "2026-02-10", "2026-03-24", "2026-03-25", "2026-06-23", "2026-06-24")
    owed = [schedule.due_until(its, day) for day in days]
    assert owed == [0, 5_654_79, 5_654_79, 17_654_79, 17_654_79, 29_654_79]
    oldest = [schedule.oldest_unpaid(its, "2026-06-24", paid) for paid in (5_654_78, 5_654_79, 17_654_79, 29_654_79)]
    assert oldest == ["2026-02-10", "2026-03-25", "2026-06-24", None]


@pytest.mark.parametrize("on", get_args(QuarterDays))
def test_the_first_and_the_last_days_of_the_calendar(on: QuarterDays) -> None:
    whole = lease(on, "0001-01-01", "9999-12-31")
    assert next(schedule.dues(whole, "0001-01-01", "0001-02-01")).first == "0001-01-01"
    assert list(schedule.dues(whole, "9999-09-01", "9999-12-31"))[-1].last == "9999-12-31"
    endless = lease(on, "9999-12-30", None)
    assert [due.last for due in schedule.dues(endless, "9999-12-30", "9999-12-31")] == ["9999-12-31"]


def test_a_part_is_of_365_days_and_never_more_than_the_quarter() -> None:
    assert [schedule.part(365_00, days) for days in (1, 91, 92, 97)] == [4_00, 364_00, 365_00, 365_00]
    assert schedule.part(46, 1) == 1  # 184 / 365, half up
    assert schedule.part(45, 1) == 0


@given(st.dates(datetime.date(1, 1, 1), datetime.date(9998, 1, 1)), st.sampled_from(get_args(QuarterDays)))
def test_a_quarter_day_is_before_none_but_later_days(start: datetime.date, on: QuarterDays) -> None:
    grid = Quarters(start, on)
    for index in range(5):
        day = datetime.date.fromordinal(grid.nth(index))
        assert (grid.before(day), grid.until(day)) == (index, index + 1)
        assert day.strftime("%d %b") in schedule_oracle.QUARTER_DAYS[on]
    assert grid.nth(-1) < start.toordinal() <= grid.nth(0)
    assert grid.begins_at_once == (grid.nth(0) == start.toordinal())
