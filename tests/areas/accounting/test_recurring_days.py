"""On which days a recurring invoice is made: the rule, worked out by hand and a second time in a plain way."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.areas.accounting.recurring import rhythm
from gatewayd.areas.accounting.recurring.rhythm import Rhythm
from tests.areas.accounting.reckoned_days import reckoned

START = datetime.date(2027, 1, 31)


def of(**fields: object) -> Rhythm:
    plain = Rhythm(every=1, unit="month", start=START, day_of_month=None, end=None, times=None)
    return plain._replace(**fields)  # type: ignore[arg-type]


def days(which: Rhythm, count: int) -> list[str | None]:
    return [rhythm.day(which, index) for index in range(count)]


def test_months_that_are_shorter_have_their_last_day_and_the_others_the_31st() -> None:
    assert days(of(), 5) == ["2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31"]


def test_february_has_a_29th_in_a_leap_year() -> None:
    assert rhythm.day(of(), 13) == "2028-02-29"


def test_the_day_of_the_month_may_be_another_than_the_first_days() -> None:
    start = datetime.date(2027, 2, 28)
    assert days(of(start=start, day_of_month=31), 3) == ["2027-02-28", "2027-03-31", "2027-04-30"]
    assert days(of(start=start), 3) == ["2027-02-28", "2027-03-28", "2027-04-28"]


def test_every_third_month_goes_over_the_year() -> None:
    assert days(of(every=3), 3) == ["2027-01-31", "2027-04-30", "2027-07-31"]
    assert days(of(every=13), 2) == ["2027-01-31", "2028-02-29"]


def test_weeks_keep_their_weekday() -> None:
    assert days(of(unit="week", every=2), 3) == ["2027-01-31", "2027-02-14", "2027-02-28"]


def test_it_ends_by_a_day_or_by_number() -> None:
    assert days(of(end=datetime.date(2027, 3, 31)), 4) == ["2027-01-31", "2027-02-28", "2027-03-31", None]
    assert days(of(end=datetime.date(2027, 3, 30)), 3) == ["2027-01-31", "2027-02-28", None]
    assert days(of(times=2), 3) == ["2027-01-31", "2027-02-28", None]


@pytest.mark.parametrize("unit", ["week", "month"])
def test_no_day_is_beyond_what_an_invoice_may_bear(unit: rhythm.RhythmUnit) -> None:
    late = of(unit=unit, every=120, start=datetime.date(2199, 12, 1))
    assert days(late, 2) == ["2199-12-01", None]
    assert rhythm.day(late, 10**9) is None


def test_missed_are_the_days_before_today() -> None:
    assert [*rhythm.missed(of(), 1, "2027-03-31")] == ["2027-02-28"]
    assert [*rhythm.missed(of(times=2), 1, "2030-01-01")] == ["2027-02-28"]


@given(
    start=st.dates(datetime.date(2026, 1, 1), datetime.date(2040, 12, 31)),
    unit=st.sampled_from(["week", "month"]),
    every=st.integers(1, 14),
    length=st.integers(0, 2000),
)
def test_days_are_those_of_a_plain_reckoning(
    start: datetime.date, unit: rhythm.RhythmUnit, every: int, length: int
) -> None:
    last = start + datetime.timedelta(days=length)
    which = of(start=start, unit=unit, every=every, end=last)
    expected = reckoned(start, unit, every, start.day, last)
    assert days(which, len(expected) + 1) == [*expected, None]
