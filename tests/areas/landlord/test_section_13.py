"""Rises of rent beside section 13 of the Housing Act 1988, as it is since 1 May 2026; dates counted by hand."""

import datetime

import pytest

from gatewayd.areas.landlord.register.tenancy_shapes import RentNotice, RentStep, TenancyRow
from gatewayd.areas.landlord.rents import section_13
from tests.areas.landlord.lets import step, tenancy

FROM_MAY = tenancy(step("2026-05-01", "950.00"))


def notice(served: str, effective: str | None = None, form: str | None = "Form 4A") -> RentNotice:
    date = datetime.date.fromisoformat
    return RentNotice(
        form=form, served_date=date(served), effective_date=None if effective is None else date(effective)
    )


def codes(row: TenancyRow, rise: RentStep) -> list[str]:
    return [finding.code for finding in section_13.findings(row, rise)]


def test_a_year_on_at_two_months_notice_and_on_the_first_day_of_a_period() -> None:
    assert codes(FROM_MAY, step("2027-05-01", "990.00", notice("2027-03-01", "2027-05-01"))) == []


@pytest.mark.parametrize(
    ("rise", "found"),
    [
        (step("2027-05-01", "990.00", notice("2027-03-02")), ["notice_too_short"]),
        (step("2027-06-01", "990.00", notice("2027-03-31", "2027-05-31")), []),  # two months: to the last of May
        (step("2027-05-01", "990.00", notice("2027-02-28", "2027-06-01")), ["before_effective_date"]),
        (step("2027-05-15", "990.00", notice("2027-03-01")), ["not_first_day_of_period"]),
        (step("2027-05-01", "990.00", notice("2027-03-01", form="form 4a")), []),
        (step("2027-05-01", "990.00", notice("2027-03-01", form="4A")), []),
        (step("2027-05-01", "990.00", notice("2027-03-01", form="Form 4")), ["notice_form"]),
        (step("2027-05-01", "990.00", notice("2027-03-01", form=None)), []),
        (step("2027-05-01", "990.00"), ["notice_missing"]),
        (step("2027-05-01", "990.00", RentNotice(form="Form 4A")), ["notice_missing"]),
        (step("2027-04-01", "990.00", notice("2027-01-20")), ["first_52_weeks"]),  # from 30 April on
        (
            step("2026-11-20", "990.00", notice("2026-10-01", form="Form 4")),
            ["notice_form", "notice_too_short", "not_first_day_of_period", "first_52_weeks"],
        ),
    ],
)
def test_what_a_rise_does_not_keep(rise: RentStep, found: list[str]) -> None:
    assert codes(FROM_MAY, rise) == found


@pytest.mark.parametrize(
    "row",
    [
        tenancy(step("2026-05-01", "950.00"), type="private_residential_tenancy"),
        tenancy(step("2026-05-01", "950.00"), type="commercial_lease"),
        tenancy(step("2026-05-01", "1000.00")),  # a lower rent needs no notice
        tenancy(step("2026-05-01", "990.00")),  # nor does the same
    ],
)
def test_what_the_section_is_not_about(row: TenancyRow) -> None:
    assert codes(row, step("2026-06-15", "990.00")) == []


def test_an_assured_shorthold_comes_under_it_with_the_change_of_the_law() -> None:
    row = tenancy(step("2024-02-01", "950.00"), type="assured_shorthold")
    assert codes(row, step("2026-04-15", "990.00")) == []
    assert codes(row, step("2026-05-01", "990.00")) == ["notice_missing"]
    served_before = notice("2026-04-20", "2026-06-01", form="Form 4")
    assert codes(row, step("2026-06-01", "990.00", served_before)) == []


def test_one_rise_in_52_weeks() -> None:
    row = tenancy(step("2026-05-01", "950.00"), step("2027-05-01", "990.00", notice("2027-02-01")))
    early = step("2028-04-01", "1020.00", notice("2028-01-01"))
    assert codes(row, early) == ["within_52_weeks"]
    assert "2028-04-29" in section_13.findings(row, early)[0].message  # 364 days after 1 May 2027, over a leap day
    assert codes(row, step("2028-05-01", "1020.00", notice("2028-01-01"))) == []


def test_a_rise_of_the_years_before_the_law_without_notice_does_not_count_against_the_next() -> None:
    reviewed = tenancy(step("2024-01-01", "900.00"), step("2026-02-01", "950.00"), type="assured_shorthold")
    noticed = tenancy(
        step("2024-01-01", "900.00"),
        step("2026-02-01", "950.00", notice("2025-12-20", form="Form 4")),
        type="assured_shorthold",
    )
    rise = step("2026-08-01", "990.00", notice("2026-06-01"))
    assert codes(reviewed, rise) == []
    assert codes(noticed, rise) == ["within_52_weeks"]


def test_a_lower_rent_between_is_no_rise() -> None:
    row = tenancy(step("2026-05-01", "950.00"), step("2027-01-01", "900.00"))
    assert codes(row, step("2027-05-01", "950.00", notice("2027-03-01"))) == []


def test_a_weekly_rent_that_drifts_waits_a_53rd_week() -> None:
    """Rises every 364 days after 1 June 2026, until they come 6 days before its anniversary, and then 8."""
    mondays = ["2026-06-01", "2027-05-31", "2028-05-29", "2029-05-28", "2030-05-27", "2031-05-26"]
    history = [step(day, f"{200 + place}.00", notice("2026-01-05")) for place, day in enumerate(mondays)]
    weekly = {"rent_frequency": "weekly", "start_date": "2024-06-03", "type": "assured_shorthold"}
    start = step("2024-06-03", "190.00")
    served = notice("2031-01-06")
    assert codes(tenancy(start, *history[:-1], **weekly), step("2031-05-26", "250.00", served)) == []
    row = tenancy(start, *history, **weekly)
    assert codes(row, step("2032-05-24", "250.00", served)) == ["within_52_weeks"]
    assert codes(row, step("2032-05-31", "250.00", served)) == []


def test_a_week_more_is_asked_where_a_rise_would_come_seven_days_before_the_day_of_the_first() -> None:
    """Rises every 364 days after Tuesday 1 June 2027 come 2, 3, 4, 5 and then, over a leap day, 7 days before it."""
    tuesdays = ["2027-06-01", "2028-05-30", "2029-05-29", "2030-05-28", "2031-05-27"]
    history = [step(day, f"{200 + place}.00", notice("2026-06-01")) for place, day in enumerate(tuesdays)]
    row = tenancy(step("2026-05-05", "190.00"), *history, rent_frequency="weekly", rent_due_day=2)
    served = notice("2032-01-06")
    assert codes(row, step("2032-05-25", "250.00", served)) == ["within_52_weeks"]
    assert codes(row, step("2032-06-01", "250.00", served)) == []


def test_the_days_from_which_it_holds() -> None:
    weekly = tenancy(step("2026-05-04", "200.00"), rent_frequency="weekly")
    assert codes(weekly, step("2027-05-03", "210.00", notice("2027-01-04"))) == []  # 364 days after the start
    assert codes(weekly, step("2027-04-26", "210.00", notice("2027-01-04"))) == ["first_52_weeks"]
    row = tenancy(step("2024-01-01", "900.00"), type="assured_shorthold")
    assert codes(row, step("2026-07-01", "950.00", notice("2026-04-30", form="Form 4"))) == []
    assert codes(row, step("2026-07-01", "950.00", notice("2026-05-01", form="Form 4"))) == ["notice_form"]


def test_a_rise_that_stands_in_the_history_already_is_judged_the_same() -> None:
    rise = step("2027-05-01", "990.00")
    assert codes(tenancy(*FROM_MAY.rent_history, rise), rise) == codes(FROM_MAY, rise) == ["notice_missing"]


def test_which_rises_count_against_the_next() -> None:
    """One that nobody gave notice of since the day of the law; a rent that stayed the same is none."""
    start, served = step("2024-01-01", "900.00"), notice("2026-08-01")
    raised = tenancy(start, step("2026-05-01", "950.00"), type="assured_shorthold")
    assert codes(raised, step("2026-11-01", "990.00", served)) == ["within_52_weeks"]
    stayed = tenancy(start, step("2026-05-01", "900.00", served), type="assured_shorthold")
    assert codes(stayed, step("2026-11-01", "990.00", served)) == []
