"""The monthly periods of the Housing Act 1988 s4A, as the Renters' Rights Act 2025 Sch. 6 para. 2 puts them in."""

import datetime
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.ledger.rents import schedule, stored_terms
from gatewayd.ledger.rents.schedule import Due, Step, Terms

ONE = datetime.timedelta(days=1)


def by_law(start: str, due_day: int, *steps: Step, frequency: str = "quarterly", end: str | None = None) -> Terms:
    terms = Terms(start, end, frequency, due_day, steps or (Step(start, 1_650_00),))  # type: ignore[arg-type]
    return stored_terms.put_in(terms, "assured_shorthold")


def dues(terms: Terms, first: str, last: str) -> list[tuple[str, int]]:
    return [(due.first, due.amount) for due in schedule.dues(terms, first, last)]


@pytest.mark.parametrize(
    ("start", "due_day", "expected"),
    [
        # 11 February to 10 May are 89 days: 1,650 / 89 x 30.42
        ("2026-02-10", 11, ("2026-05-11", 563_97)),
        # a part of a single day, which costs 1,650 / 89 = 18.54: 18.54 / 1 x 30.42
        ("2026-04-30", 1, ("2026-05-01", 563_99)),
        # 30 April to 30 July, as 31 is the last day of each month, are 92 days
        ("2025-07-31", 31, ("2026-07-31", 545_58)),
        # 28 February to 29 May are 91 days
        ("2025-11-30", 30, ("2026-05-30", 551_57)),
    ],
)
def test_the_rent_of_a_month_follows_from_the_last_longer_period(
    start: str, due_day: int, expected: tuple[str, int]
) -> None:
    terms = by_law(start, due_day)
    assert terms.monthly is not None
    assert (terms.monthly.first, terms.monthly.steps[0].amount) == expected


def test_months_begin_on_the_same_day_of_each() -> None:
    terms = by_law("2025-11-30", 30)
    assert [first for first, _ in dues(terms, "2026-12-01", "2027-03-31")] == [
        *("2026-12-30", "2027-01-30", "2027-02-28", "2027-03-30"),
    ]


def test_rents_of_after_the_change_are_of_a_month() -> None:
    rise = Step("2027-08-01", 580_00, "monthly")
    terms = by_law("2025-02-01", 1, Step("2025-02-01", 1_500_00), Step("2026-02-01", 1_650_00), rise)
    assert dues(terms, "2026-02-01", "2026-06-30") == [
        ("2026-02-01", 1_650_00),
        ("2026-05-01", 563_97),
        ("2026-06-01", 563_97),
    ]
    assert dues(terms, "2027-07-01", "2027-08-31") == [("2027-07-01", 563_97), ("2027-08-01", 580_00)]
    # one that was entered before anybody knew of the change is of a quarter
    terms = by_law("2025-02-01", 1, Step("2025-02-01", 1_650_00), Step("2026-08-01", 1_800_00))
    assert dues(terms, "2026-07-01", "2026-08-31") == [("2026-07-01", 563_97), ("2026-08-01", 600_00)]
    # what the parties agreed for the first month holds (HA 1988 s4A(7))
    terms = by_law("2025-02-01", 1, Step("2025-02-01", 1_650_00), Step("2026-05-01", 550_00, "monthly"))
    assert dues(terms, "2026-05-01", "2026-05-31") == [("2026-05-01", 550_00)]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("2025-02-01", "2026-04-30", ["2026-02-01"]),  # over the day before
        ("2025-01-01", "2026-05-20", ["2026-04-01"]),  # within the last longer period, which costs its days
        ("2025-01-01", "2026-06-30", ["2026-04-01"]),
        ("2025-01-01", "2026-07-20", ["2026-04-01", "2026-07-01"]),
    ],
)
def test_a_tenancy_that_ends_has_no_more_than_it_lasts(start: str, end: str, expected: list[str]) -> None:
    terms = by_law(start, 1, end=end)
    assert [first for first, _ in dues(terms, "2026-02-01", "2027-12-31")] == expected
    assert schedule.latest_due(terms, "2027-12-31") == expected[-1]
    last = next(schedule.dues(terms, expected[-1], expected[-1]))
    assert last.last == end


@pytest.mark.parametrize("type_", ["company_let", "regulated", "occupation_contract", "commercial_lease", "lodger"])
def test_other_tenancies_stay_as_they_are_agreed(type_: str) -> None:
    terms = Terms("2025-02-01", None, "quarterly", 1, (Step("2025-02-01", 1_650_00),))
    assert stored_terms.put_in(terms, type_) is terms


@settings(max_examples=150, deadline=None)
@given(
    start=st.dates(datetime.date(2024, 1, 1), datetime.date(2026, 4, 30)),
    due_day=st.integers(1, 31),
    frequency=st.sampled_from(["quarterly", "annually"]),
    lasts=st.none() | st.integers(0, 1200),
    paid=st.integers(0, 60_000_00),
    day=st.dates(datetime.date(2024, 1, 1), datetime.date(2028, 12, 31)),
)
def test_periods_follow_each_other_and_sums_are_those_of_the_rents(
    start: datetime.date, due_day: int, frequency: str, lasts: int | None, paid: int, day: datetime.date
) -> None:
    end = None if lasts is None else (start + lasts * ONE).isoformat()
    terms = by_law(start.isoformat(), due_day, Step(start.isoformat(), 3_000_00), frequency=frequency, end=end)
    found: list[Due] = list(schedule.dues(terms, "0001-01-01", "2028-12-31"))
    assert found[0].first == start.isoformat()
    for one, following in itertools.pairwise(found):
        assert datetime.date.fromisoformat(one.last) + ONE == datetime.date.fromisoformat(following.first)
    if end is not None and end < "2028-12-31":
        assert found[-1].last == end
    since = "2026-05-01"
    for one in found:  # no period that begins since the change is longer than a month
        assert one.first < since or stored_terms.days_of(one) <= 31
    until = [one for one in found if one.first <= day.isoformat()]
    assert schedule.due_until(terms, day.isoformat()) == sum(one.amount for one in until)
    assert schedule.latest_due(terms, day.isoformat()) == (until[-1].first if until else None)
    left, oldest = paid, None
    for one in until:
        left -= one.amount
        if left < 0 and one.amount:
            oldest = one.first
            break
    unpaid = schedule.unpaid(terms, day.isoformat(), paid)
    assert (unpaid.oldest if unpaid else None) == oldest
