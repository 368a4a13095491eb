"""What is due when: vectors of Domain C6, of HMRC's manuals and of the law, and what holds for all of them."""

import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.ledger.dates import companies, income_tax, tax_calendar, vat
from gatewayd.ledger.dates.companies import FinancialYear, YearEnd
from gatewayd.ledger.dates.income_tax import QuarterType
from gatewayd.ledger.dates.months import DAY, following, months_after
from gatewayd.ledger.dates.vat import Registration

TYPES: tuple[QuarterType, ...] = ("standard", "calendar")
years = st.integers(min_value=2000, max_value=2100)
dates = st.dates(min_value=datetime.date(2000, 1, 1), max_value=datetime.date(2100, 12, 31))


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def quarters(year: int, kind: QuarterType, before: QuarterType) -> list[tuple[str, str, str]]:
    found = income_tax.quarters(year, kind, before)
    return [(q.start.isoformat(), q.end.isoformat(), q.due.isoformat()) for q in found]


# -- Income Tax (domain model C6)


def test_quarters_of_2024_25_follow_each_other() -> None:
    assert quarters(2024, "standard", "standard") == [
        ("2024-04-06", "2024-07-05", "2024-08-05"),
        ("2024-07-06", "2024-10-05", "2024-11-05"),
        ("2024-10-06", "2025-01-05", "2025-02-05"),
        ("2025-01-06", "2025-04-05", "2025-05-05"),
    ]


def test_quarters_of_2025_26_are_cumulative_and_due_on_the_5th() -> None:
    assert quarters(2025, "standard", "standard") == [
        ("2025-04-06", "2025-07-05", "2025-08-05"),
        ("2025-04-06", "2025-10-05", "2025-11-05"),
        ("2025-04-06", "2026-01-05", "2026-02-05"),
        ("2025-04-06", "2026-04-05", "2026-05-05"),
    ]


def test_quarters_of_2026_27_are_due_on_the_7th() -> None:
    assert quarters(2026, "standard", "standard") == [
        ("2026-04-06", "2026-07-05", "2026-08-07"),
        ("2026-04-06", "2026-10-05", "2026-11-07"),
        ("2026-04-06", "2027-01-05", "2027-02-07"),
        ("2026-04-06", "2027-04-05", "2027-05-07"),
    ]


@pytest.mark.parametrize(
    ("before", "start"), [("calendar", "2026-04-01"), ("standard", "2026-04-06")], ids=["later", "first year"]
)
def test_calendar_quarters_of_2026_27(before: QuarterType, start: str) -> None:
    assert quarters(2026, "calendar", before) == [
        (start, "2026-06-30", "2026-08-07"),
        (start, "2026-09-30", "2026-11-07"),
        (start, "2026-12-31", "2027-02-07"),
        (start, "2027-03-31", "2027-05-07"),
    ]


def test_back_to_standard_begins_on_the_first_of_april() -> None:
    assert quarters(2027, "standard", "calendar")[0] == ("2027-04-01", "2027-07-05", "2027-08-07")


def test_the_final_declaration_is_due_on_31_january() -> None:
    assert income_tax.declaration_due(2026) == day("2028-01-31")


def test_payments_of_a_tax_year() -> None:
    """TMA 1970 s59A(2) and s59B(4)."""
    assert income_tax.payments_on_account_due(2026) == (day("2027-01-31"), day("2027-07-31"))
    assert income_tax.balancing_payment_due(2026) == day("2028-01-31")


@given(first=years, kinds=st.lists(st.sampled_from(TYPES), min_size=2, max_size=5))
def test_quarters_tile_the_years_whatever_is_chosen(first: int, kinds: list[QuarterType]) -> None:
    """No day is lost and none is there twice, over every change of type."""
    found = []
    for index, (before, kind) in enumerate(pairwise(kinds)):
        found += income_tax.quarters(first + index, kind, before)
    assert all(one.end + DAY == other.opens for one, other in pairwise(found))
    assert found[0].opens == datetime.date(first, 4, 6 if kinds[0] == "standard" else 1)


@given(year=years, kind=st.sampled_from(TYPES), before=st.sampled_from(TYPES))
def test_an_update_is_due_about_a_month_after_its_quarter(year: int, kind: QuarterType, before: QuarterType) -> None:
    for number, quarter in enumerate(income_tax.quarters(year, kind, before), 1):
        assert quarter.number == number
        assert 28 <= (quarter.due - quarter.end).days <= 42
        assert quarter.start <= quarter.opens <= quarter.end


# -- VAT (domain model C6)


@pytest.mark.parametrize(
    ("end", "due"),
    [
        ("2017-03-31", "2017-05-07"),
        ("2017-02-28", "2017-04-07"),
        ("2026-01-31", "2026-03-07"),
        ("2026-04-30", "2026-06-07"),
        ("2026-11-30", "2027-01-07"),
        ("2026-12-31", "2027-02-07"),
        ("2027-02-28", "2027-04-07"),
        ("2026-04-05", "2026-05-12"),
        ("2026-01-30", "2026-03-07"),  # February has no 30th: its last day, and 7 more
    ],
)
def test_vat_is_due_a_month_and_seven_days_after_the_end(end: str, due: str) -> None:
    assert vat.due(day(end)) == day(due)


def test_annual_accounting_is_due_two_months_after_the_end() -> None:
    assert vat.due(day("2026-06-30"), annual=True) == day("2026-08-31")
    assert vat.due(day("2026-12-31"), annual=True) == day("2027-02-28")


@pytest.mark.parametrize(
    ("stagger", "ends"),
    [
        (1, ["2026-06-30", "2026-09-30", "2026-12-31", "2027-03-31"]),
        (2, ["2026-04-30", "2026-07-31", "2026-10-31", "2027-01-31"]),
        (3, ["2026-05-31", "2026-08-31", "2026-11-30", "2027-02-28"]),
    ],
)
def test_staggers(stagger: int, ends: list[str]) -> None:
    registration = Registration(None, None, vat.STAGGERS[stagger], annual=False)
    found = vat.periods(registration, day("2026-04-06"), day("2027-01-01"))
    assert [period.end.isoformat() for period in found] == ends


def test_months_of_a_year_are_twelve() -> None:
    monthly = Registration(None, None, vat.EVERY_MONTH, annual=False)
    found = vat.periods(monthly, day("2026-01-31"), day("2026-02-10"))
    assert [(str(one.start), str(one.end)) for one in found] == [
        ("2026-01-01", "2026-01-31"),
        ("2026-02-01", "2026-02-28"),
    ]


def test_a_registration_that_ends_on_the_first_day_of_a_period_has_a_period_of_one_day() -> None:
    registration = Registration(day("2026-05-20"), day("2026-07-01"), vat.STAGGERS[1], annual=False)
    found = vat.periods(registration, day("2026-01-01"), day("2026-12-31"))
    assert [(str(one.start), str(one.end)) for one in found] == [
        ("2026-05-20", "2026-06-30"),
        ("2026-07-01", "2026-07-01"),
    ]


def test_the_first_period_begins_with_the_registration_and_the_last_ends_with_it() -> None:
    registration = Registration(day("2026-05-20"), day("2026-11-10"), vat.STAGGERS[1], annual=False)
    found = [tuple(map(str, period)) for period in vat.periods(registration, day("2026-01-01"), day("2027-12-31"))]
    assert found == [
        ("2026-05-20", "2026-06-30", "2026-08-07"),
        ("2026-07-01", "2026-09-30", "2026-11-07"),
        ("2026-10-01", "2026-11-10", "2026-12-17"),
    ]


@given(
    months=st.sampled_from([*vat.STAGGERS.values(), vat.EVERY_MONTH, (6,), (2,)]),
    first=st.none() | dates,
    length=st.none() | st.integers(min_value=0, max_value=4000),
    seen=dates,
)
def test_vat_periods_tile_the_registration(
    months: tuple[int, ...], first: datetime.date | None, length: int | None, seen: datetime.date
) -> None:
    last = None if length is None else (first or seen) + length * DAY
    until = seen + 1000 * DAY
    found = list(vat.periods(Registration(first, last, months, annual=False), seen, until))
    assert all(one.end + DAY == other.start for one, other in pairwise(found))
    covered = max(filter(None, (first, seen))), min(filter(None, (last, until)))
    if covered[0] <= covered[1]:
        assert found[0].start <= covered[0]
        assert found[-1].end >= covered[1]
        assert first is None or found[0].start >= first
        assert last is None or found[-1].end <= last


# -- companies


@pytest.mark.parametrize(
    ("end", "months", "due"),
    [
        ("2026-06-30", 6, "2026-12-31"),  # Companies Act 2006, explanatory notes, 689
        ("2026-06-05", 6, "2026-12-05"),
        ("2026-03-31", 9, "2026-12-31"),
        ("2026-02-28", 9, "2026-11-30"),
    ],
)
def test_months_as_the_companies_act_counts_them(end: str, months: int, due: str) -> None:
    assert months_after(day(end), months) == day(due)


@pytest.mark.parametrize(
    ("end", "due"),
    [  # HMRC's company taxation manual, CTM01800
        ("1999-03-31", "2000-01-01"),
        ("1999-07-01", "2000-04-02"),
        ("2000-02-28", "2000-11-29"),
        ("2001-02-28", "2001-12-01"),
        ("2000-02-29", "2000-12-01"),
        ("2000-05-28", "2001-03-01"),
        ("2003-05-28", "2004-02-29"),
        ("2000-05-29", "2001-03-01"),
        ("2000-05-30", "2001-03-01"),
        ("2000-05-31", "2001-03-01"),
    ],
)
def test_corporation_tax_is_due_nine_months_and_a_day_after_the_end(end: str, due: str) -> None:
    (period,) = companies.tax_periods(FinancialYear(months_after(day(end), -12) + DAY, day(end)), None)
    assert (period.end, period.payment_due) == (day(end), day(due))


def test_the_return_is_due_twelve_months_after_the_end() -> None:
    (period,) = companies.tax_periods(FinancialYear(day("2026-04-01"), day("2027-03-31")), None)
    assert period.return_due == day("2028-03-31")


def test_a_long_first_year_has_two_periods_of_corporation_tax() -> None:
    """ICAS's example: both returns are due 12 months after the end of the period of account."""
    year = FinancialYear(day("2022-01-01"), day("2023-06-30"))
    assert [tuple(map(str, period)) for period in companies.tax_periods(year, None)] == [
        ("2022-01-01", "2022-12-31", "2024-06-30", "2023-10-01"),
        ("2023-01-01", "2023-06-30", "2024-06-30", "2024-04-01"),
    ]


def test_there_is_no_corporation_tax_before_a_company_trades() -> None:
    year = FinancialYear(day("2025-06-17"), day("2026-06-30"))
    assert [p.start for p in companies.tax_periods(year, day("2025-09-01"))] == [day("2025-09-01")]
    assert list(companies.tax_periods(year, day("2026-07-01"))) == []


def test_first_accounts_are_due_21_months_after_the_incorporation() -> None:
    first, second, *_ = companies.financial_years(
        YearEnd(6, 30), day("2025-06-17"), day("2025-01-01"), day("2027-12-31")
    )
    assert (first.start, first.end) == (day("2025-06-17"), day("2026-06-30"))
    assert companies.accounts_due(first) == day("2027-03-17")
    assert companies.accounts_due(second) == day("2028-03-31")


def test_first_accounts_are_due_three_months_after_their_end_where_that_is_later() -> None:
    """Companies Act 2006 s442(3)(b): 21 months from 1 October are over on 1 July; an administrator extends the year."""
    first = FinancialYear(day("2025-10-01"), day("2027-03-31"), day("2025-10-01"))
    assert companies.accounts_due(first) == day("2027-07-01")
    later = FinancialYear(day("2025-10-01"), day("2027-04-30"), day("2025-10-01"))
    assert companies.accounts_due(later) == day("2027-07-31")


def test_first_accounts_of_a_short_year_are_due_nine_months_after_its_end() -> None:
    first, *_ = companies.financial_years(YearEnd(3, 31), day("2025-06-17"), day("2025-01-01"), day("2027-12-31"))
    assert (first.end, companies.accounts_due(first)) == (day("2026-03-31"), day("2026-12-31"))


@given(incorporated=dates, month=st.integers(1, 12), last=st.integers(1, 31))
def test_financial_years_tile_and_the_first_is_of_more_than_six_months(
    incorporated: datetime.date, month: int, last: int
) -> None:
    """And not more than eighteen (Companies Act 2006 s391(5))."""
    end = YearEnd(month, min(last, YearEnd(month, 31).of(2024).day))
    found = list(companies.financial_years(end, incorporated, incorporated, incorporated + 3000 * DAY))
    assert all(one.end + DAY == other.start for one, other in pairwise(found))
    assert following(incorporated, 6) <= found[0].end < following(incorporated, 18)
    assert [year.incorporated for year in found] == [incorporated, *[None] * (len(found) - 1)]
    for year in found:
        periods = list(companies.tax_periods(year, None))
        assert all(one.end + DAY == other.start for one, other in pairwise(periods))
        assert (periods[0].start, periods[-1].end) == (year.start, year.end)
        assert all(p.end < following(p.start, 12) for p in periods)


def test_a_year_ends_on_its_day_of_the_month() -> None:
    assert [YearEnd(4, 5).of(2026), YearEnd(3, 31).of(2026)] == [day("2026-04-05"), day("2026-03-31")]


def test_years_that_end_on_the_first_day_or_begin_on_the_last_are_among_them() -> None:
    april = day("2026-04-01")
    years = companies.financial_years(YearEnd(3, 31), None, day("2026-03-31"), april)
    assert [str(year.start) for year in years] == ["2025-04-01", "2026-04-01"]
    (first,) = companies.financial_years(YearEnd(3, 31), april, april, april)
    assert first == (april, day("2027-03-31"), april)
    reviews = companies.review_periods(day("2024-06-17"), day("2025-06-16"), day("2025-06-17"))
    assert [str(period.start) for period in reviews] == ["2024-06-17", "2025-06-17"]


def test_a_confirmation_statement_is_due_14_days_after_the_review_period() -> None:
    found = companies.review_periods(day("2024-06-17"), day("2025-06-17"), day("2026-12-31"))
    assert [tuple(map(str, one)) for one in found] == [
        ("2025-06-17", "2026-06-16", "2026-06-30"),
        ("2026-06-17", "2027-06-16", "2027-06-30"),
    ]


def test_a_company_of_29_february_has_review_periods_of_twelve_months() -> None:
    found = companies.review_periods(day("2024-02-29"), day("2024-02-29"), day("2026-02-28"))
    assert [(str(one.start), str(one.end)) for one in found] == [
        ("2024-02-29", "2025-02-28"),
        ("2025-03-01", "2026-02-28"),
    ]


def test_years_end_on_the_last_of_february_in_every_year() -> None:
    end = YearEnd(2, 29)
    assert (end.of(2024), end.of(2025)) == (day("2024-02-29"), day("2025-02-28"))
    years = companies.financial_years(end, None, day("2024-02-29"), day("2025-06-01"))
    assert [(str(y.start), str(y.end)) for y in years] == [
        ("2023-03-01", "2024-02-29"),
        ("2024-03-01", "2025-02-28"),
        ("2025-03-01", "2026-02-28"),
    ]


# -- the Construction Industry Scheme


def test_a_contractor_returns_by_the_19th() -> None:
    """The first is CISR31070's month; and across the year."""
    found = tax_calendar.construction_returns(day("2026-05-05"), day("2027-01-05"))
    returns = [tuple(one.isoformat() for one in month) for month in found]
    assert returns[0] == ("2026-04-06", "2026-05-05", "2026-05-19")
    assert returns[8] == ("2026-12-06", "2027-01-05", "2027-01-19")
    assert len(returns) == 9


@given(dates, st.integers(min_value=0, max_value=800))
def test_tax_months_follow_each_other_and_reach_as_far_as_is_asked(first_end: datetime.date, days: int) -> None:
    last_start = first_end + days * DAY
    found = list(tax_calendar.construction_returns(first_end, last_start))
    assert all(month.start.day == 6 and month.end.day == 5 and month.due.day == 19 for month in found)
    assert all(after.start == before.end + DAY for before, after in pairwise(found))
    assert found[0].start <= first_end <= found[0].end
    assert found[-1].start <= last_start <= found[-1].end
