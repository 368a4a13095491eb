"""What a report covers, its buckets, and what came before (Domain C1)."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.ledger.dates.date_ranges import (
    DateRange,
    GroupBy,
    QuarterlyType,
    after,
    buckets,
    cut,
    days,
    is_longer,
    period_before,
    year_before,
)

DAYS = st.dates(datetime.date(1999, 1, 1), datetime.date(2030, 12, 31)).map(datetime.date.isoformat)


@pytest.mark.parametrize(
    ("first", "last", "earlier", "a_year_earlier"),
    [
        ("2026-04-06", "2027-04-05", ("2025-04-06", "2026-04-05"), ("2025-04-06", "2026-04-05")),
        ("2026-07-06", "2026-10-05", ("2026-04-06", "2026-07-05"), ("2025-07-06", "2025-10-05")),
        ("2026-03-01", "2026-03-31", ("2026-02-01", "2026-02-28"), ("2025-03-01", "2025-03-31")),
        ("2025-02-01", "2025-02-28", ("2025-01-01", "2025-01-31"), ("2024-02-01", "2024-02-29")),
        ("2024-02-01", "2024-02-29", ("2024-01-01", "2024-01-31"), ("2023-02-01", "2023-02-28")),
        ("2026-11-02", "2026-11-10", ("2026-10-24", "2026-11-01"), ("2025-11-02", "2025-11-10")),
        ("2026-11-02", "2026-11-02", ("2026-11-01", "2026-11-01"), ("2025-11-02", "2025-11-02")),
        ("2026-12-01", "2027-02-28", ("2026-09-01", "2026-11-30"), ("2025-12-01", "2026-02-28")),
        ("2026-10-15", "2026-11-20", ("2026-09-08", "2026-10-14"), ("2025-10-15", "2025-11-20")),
        ("2024-03-01", "2025-02-28", ("2023-03-01", "2024-02-29"), ("2023-03-01", "2024-02-29")),
        ("2025-02-28", "2025-02-28", ("2025-02-27", "2025-02-27"), ("2024-02-28", "2024-02-28")),
        ("2024-02-28", "2024-02-28", ("2024-02-27", "2024-02-27"), ("2023-02-28", "2023-02-28")),
        ("2024-02-29", "2024-02-29", ("2024-02-28", "2024-02-28"), ("2023-02-28", "2023-02-28")),
        ("2024-02-01", "2024-02-28", ("2024-01-04", "2024-01-31"), ("2023-02-01", "2023-02-28")),
        ("2025-01-15", "2025-02-28", ("2024-12-01", "2025-01-14"), ("2024-01-15", "2024-02-28")),
        ("2024-01-29", "2024-02-28", ("2023-12-29", "2024-01-28"), ("2023-01-29", "2023-02-28")),
    ],
)
def test_what_came_before(first: str, last: str, earlier: tuple[str, str], a_year_earlier: tuple[str, str]) -> None:
    whole = DateRange(first, last)
    assert (period_before(whole), year_before(whole)) == (earlier, a_year_earlier)


@given(st.tuples(DAYS, DAYS).map(sorted))
def test_a_year_before_is_as_long_but_for_the_leap_day(ends: list[str]) -> None:
    whole = DateRange(*ends)
    earlier = year_before(whole)
    assert earlier.first <= earlier.last
    assert abs(days(earlier) - days(whole)) <= 1
    assert [(one[:4], one[5:]) for one in earlier if one[5:] < "02-28"] == [
        (f"{int(one[:4]) - 1}", one[5:]) for one in whole if one[5:] < "02-28"
    ]


@given(st.tuples(DAYS, DAYS).map(sorted), st.sampled_from(["total", "month", "quarter"]))
def test_buckets_tile_the_range(ends: list[str], group_by: GroupBy) -> None:
    whole = DateRange(*ends)
    starts: dict[QuarterlyType, str] = {"standard": "06", "calendar": "01"}
    for kind, start in starts.items():
        found = buckets(whole, group_by, lambda year, kind=kind: kind)
        assert (found[0].first, found[-1].last) == whole
        assert [after(one.last) for one in found[:-1]] == [one.first for one in found[1:]]
        if group_by == "total":
            assert found == [whole]
        if group_by == "quarter":
            assert all(one.first[5:7] in ("01", "04", "07", "10") and one.first[8:] == start for one in found[1:])
        if group_by == "month":
            assert all(one.first[8:] == "01" for one in found[1:])
        assert all(not is_longer(one, {"total": 400, "month": 1, "quarter": 3}[group_by]) for one in found)


def test_a_range_is_cut_before_its_last_day_too() -> None:
    parts = cut(DateRange("2026-01-01", "2026-01-31"), ["2026-01-31", "2026-01-01", "2026-02-01"])
    assert parts == [("2026-01-01", "2026-01-30"), ("2026-01-31", "2026-01-31")]


@pytest.mark.parametrize(
    ("first", "last", "count"),
    [("2026-11-02", "2026-11-02", 1), ("2026-11-02", "2026-11-10", 9), ("2024-01-01", "2024-12-31", 366)],
)
def test_both_ends_of_a_range_are_counted(first: str, last: str, count: int) -> None:
    assert days(DateRange(first, last)) == count


@given(DAYS, st.integers(0, 800))
def test_the_period_before_ends_the_day_before_and_is_no_longer(day: str, length: int) -> None:
    last = (datetime.date.fromisoformat(day) + datetime.timedelta(days=length)).isoformat()
    earlier = period_before(DateRange(day, last))
    assert after(earlier.last) == day
    assert earlier.first <= earlier.last


@pytest.mark.parametrize(
    ("first", "last", "longer"),
    [("2024-11-20", "2026-11-19", False), ("2024-11-20", "2026-11-20", True), ("2024-02-29", "2026-02-27", False)],
)
def test_24_months_end_the_day_before_the_same_day(first: str, last: str, longer: bool) -> None:
    assert is_longer(DateRange(first, last), 24) is longer
