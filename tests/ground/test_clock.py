"""Instants, their wire form, and the civil date in London."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.clock import (
    DAY,
    SECOND,
    Instant,
    SettableClock,
    SystemClock,
    from_wire,
    london_date,
    months_later,
    to_wire,
)

_NOON = from_wire("2026-11-20T12:00:00Z")


@pytest.mark.parametrize(
    ("moment", "date"),
    [
        ("2026-08-07T22:59:59.999Z", "2026-08-07"),
        ("2026-08-07T23:30:00Z", "2026-08-08"),  # summer time: half past midnight
        ("2026-12-07T23:30:00Z", "2026-12-07"),
        ("2026-03-28T23:59:59Z", "2026-03-28"),  # the night before the clocks go forward
        ("2026-03-29T22:59:59Z", "2026-03-29"),
        ("2026-03-29T23:00:00Z", "2026-03-30"),  # the same day, one hour shorter
        ("2026-10-24T23:00:00Z", "2026-10-25"),
        ("2026-10-25T23:59:59Z", "2026-10-25"),  # the clocks went back
        ("2026-10-26T00:00:00Z", "2026-10-26"),
        ("1970-01-01T00:00:00Z", "1970-01-01"),  # London kept +01:00 that winter
        ("1969-12-31T23:00:00Z", "1970-01-01"),
    ],
)
def test_the_civil_date_is_londons(moment: str, date: str) -> None:
    assert london_date(from_wire(moment)) == date


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (_NOON, "2026-11-20T12:00:00.000Z"),
        (_NOON + 125_999, "2026-11-20T12:00:00.125Z"),  # rounded down
        (-1, "1969-12-31T23:59:59.999Z"),
    ],
)
def test_the_wire_form_has_milliseconds_and_z(instant: int, text: str) -> None:
    assert to_wire(Instant(instant)) == text


@given(st.integers(min_value=-(10**15), max_value=4 * 10**15))
def test_what_is_written_is_read_to_the_millisecond(instant: int) -> None:
    assert from_wire(to_wire(Instant(instant))) == instant // 1000 * 1000


@pytest.mark.parametrize("text", ["2026-11-20T13:00:00+01:00", "2026-11-20T12:00:00.000Z", "2026-11-20T12:00Z"])
def test_an_offset_is_understood(text: str) -> None:
    assert from_wire(text) == _NOON


@pytest.mark.parametrize("text", ["2026-11-20T12:00:00", "2026-11-20", "noon", "", "2026-13-01T00:00:00Z", "\ud800"])
def test_a_timestamp_without_offset_or_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        from_wire(text)


def test_a_settable_clock_stands_still_until_moved() -> None:
    clock = SettableClock(_NOON)
    assert clock.now() == clock.now() == _NOON
    clock.advance(DAY)
    clock.advance(-SECOND)
    assert clock.now() == _NOON + DAY - SECOND


def test_a_settable_clock_follows_another() -> None:
    elapsed = [0.0]
    clock = SettableClock(_NOON, lambda: elapsed[0])
    elapsed[0] = 1.5
    assert clock.now() == _NOON + 1_500_000


def test_the_system_clock_counts_microseconds_of_this_era() -> None:
    assert _NOON - 3650 * DAY < SystemClock().now() < _NOON + 36500 * DAY


@pytest.mark.parametrize(
    ("day", "months", "later"),
    [
        ("2026-11-21", 18, "2028-05-21"),
        ("2026-01-31", 1, "2026-02-28"),
        ("2028-01-31", 1, "2028-02-29"),
        ("2026-12-31", 1, "2027-01-31"),
        ("2026-03-31", -1, "2026-02-28"),
    ],
)
def test_months_later_is_the_same_day_or_the_last_of_a_shorter_month(day: str, months: int, later: str) -> None:
    assert months_later(datetime.date.fromisoformat(day), months).isoformat() == later
