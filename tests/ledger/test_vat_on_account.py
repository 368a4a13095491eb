"""Payments on account of VAT: the law's limits and days, by SI 1993/2001 and HMRC's manuals (Domain C6)."""

import datetime

import pytest

from gatewayd.ledger.dates import vat
from gatewayd.ledger.dates.months import DuePeriod, easter_sunday, last_working_day
from gatewayd.ledger.dates.vat import PaymentOnAccount, Registration, VatYear
from gatewayd.ledger.taxpayers import vat_years
from gatewayd.ledger.taxpayers.vat_years import KeptPeriod

MILLION = 1_000_000_00


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def asked(
    *years: VatYear, stagger: int = 1, first: str = "2026-01-01", last: str = "2028-06-30"
) -> dict[str, PaymentOnAccount]:
    """What is asked of each quarter, by its last day."""
    registration = Registration(None, None, vat.STAGGERS[stagger], annual=False)
    periods = list(vat.periods(registration, day(first), day(last)))
    found = vat.asked_of(periods, {one.end: one for one in years})
    return {end.isoformat(): one for end, one in found.items()}


def year(end: str, liability: int | None, **values: object) -> VatYear:
    return VatYear(day(end), liability)._replace(**values)


# -- days


@pytest.mark.parametrize(
    ("start", "end", "paid", "balance"),
    [
        # VDSOG400: the period 06/16; 30 and 31 July 2016 are a weekend
        ("2016-04-01", "2016-06-30", ["2016-05-31", "2016-06-30"], ("2016-07-31", "2016-07-29")),
        ("2026-10-01", "2026-12-31", ["2026-11-30", "2026-12-31"], ("2027-01-31", "2027-01-29")),
        ("2027-01-01", "2027-03-31", ["2027-02-26", "2027-03-31"], ("2027-04-30", "2027-04-30")),
        # 31 May 2027 is the spring bank holiday, a Monday
        ("2027-03-01", "2027-05-31", ["2027-04-30", "2027-05-28"], ("2027-06-30", "2027-06-30")),
        # by the day of the month: the last working days of the second and third month all the same
        ("2027-01-06", "2027-04-05", ["2027-02-26", "2027-03-31"], ("2027-05-05", "2027-05-05")),
        ("2027-01-01", "2027-01-31", [], ("2027-02-28", "2027-02-26")),  # monthly returns
        ("2026-07-01", "2027-06-30", [], ("2027-07-31", "2027-07-30")),  # annual accounting
        ("2026-07-01", "2026-08-10", [], ("2026-09-10", "2026-09-10")),  # cancelled before the second month is over
    ],
)
def test_when_payments_are_due(start: str, end: str, paid: list[str], balance: tuple[str, str]) -> None:
    period = DuePeriod(day(start), day(end), vat.due(day(end)))
    assert [str(one) for one in vat.payment_days(period)] == paid
    assert tuple(map(str, vat.balance_due(day(end)))) == balance


@pytest.mark.parametrize(
    ("month", "last"),
    [
        ("2024-03", "2024-03-28"),  # Good Friday was the 29th
        ("2029-03", "2029-03-29"),  # Good Friday is the 30th
        ("2026-08", "2026-08-28"),  # the summer bank holiday is Monday 31 August
        ("2026-02", "2026-02-27"),
        ("2026-12", "2026-12-31"),
    ],
)
def test_the_last_working_day_of_a_month(month: str, last: str) -> None:
    year_, of = map(int, month.split("-"))
    assert str(last_working_day(year_, of)) == last


def test_easter_of_known_years() -> None:
    """As the Book of Common Prayer and GOV.UK's bank holidays have it."""
    known = ("2000-04-23", "2016-03-27", "2024-03-31", "2025-04-20", "2026-04-05", "2027-03-28", "2038-04-25")
    assert [str(easter_sunday(int(one[:4]))) for one in known] == list(known)


# -- who, and how much


def test_a_24th_of_a_year_above_the_limit_is_asked_of_the_next_quarters() -> None:
    """2,600,000 in the year to June 2026: 2,600,000 / 24 = 108,333.33, from the quarter to September on (art 6).

    What the year to September 2026 came to decides from April 2027 on, and nobody knows it.
    """
    found = asked(year("2026-06-30", 2_600_000_00))
    assert list(found) == [
        *("2026-09-30", "2026-12-31", "2027-03-31"),
        *("2027-06-30", "2027-09-30", "2027-12-31", "2028-03-31", "2028-06-30"),
    ]
    assert found["2026-09-30"] == found["2027-03-31"] == PaymentOnAccount(108_333_33, undecided=False)
    assert found["2027-06-30"] == found["2028-03-31"] == PaymentOnAccount(None, undecided=True)


@pytest.mark.parametrize(("pence", "is_asked"), [(2_300_000_00, False), (2_300_000_01, True)])
def test_more_than_2_300_000_is_the_limit(pence: int, is_asked: bool) -> None:
    assert bool(asked(year("2026-06-30", pence))) == is_asked


def test_vat_on_imports_counts_towards_the_limit_and_not_towards_what_is_paid() -> None:
    """VPOA2200. 2,040,000 on the returns and 300,000 beside them: 2,040,000 / 24 = 85,000."""
    assert asked(year("2026-06-30", 2_040_000_00)) == {}
    found = asked(year("2026-06-30", 2_040_000_00, beside=300_000_00))
    assert found["2026-09-30"] == PaymentOnAccount(85_000_00, undecided=False)


@pytest.mark.parametrize(
    ("stagger", "reference", "before", "cycle"),
    [
        (1, "2026-09-30", "2027-03-31", "2027-06-30"),
        (2, "2026-10-31", "2027-04-30", "2027-07-31"),
        (3, "2026-11-30", "2027-05-31", "2027-08-31"),
    ],
)
def test_the_year_to_autumn_decides_of_the_cycle_from_spring(
    stagger: int, reference: str, before: str, cycle: str
) -> None:
    """Art 4 and 5: by 2,400,000 first, 100,000 each, and by 2,520,000 from April, May or June on: 105,000."""
    months = {1: "2026-03-31", 2: "2026-04-30", 3: "2026-05-31"}
    found = asked(year(months[stagger], 2_400_000_00), year(reference, 2_520_000_00), stagger=stagger)
    assert (found[before], found[cycle]) == (
        PaymentOnAccount(100_000_00, undecided=False),
        PaymentOnAccount(105_000_00, undecided=False),
    )


def test_a_year_below_the_limit_ends_them_in_spring_and_one_below_1_600_000_at_once() -> None:
    entered = year("2026-03-31", 2_400_000_00)
    assert list(asked(entered, year("2026-09-30", 2_300_000_00))) == [
        "2026-06-30",
        "2026-09-30",
        "2026-12-31",
        "2027-03-31",
    ]
    assert list(asked(entered, year("2026-09-30", 1_599_999_99))) == ["2026-06-30", "2026-09-30"]
    assert "2026-12-31" in asked(entered, year("2026-09-30", 1_600_000_00))


def test_a_fifth_more_raises_them_with_the_next_quarter() -> None:
    """Art 14. 2,400,000, and 20 % more is 2,880,000: 120,000 instead of 100,000."""
    entered = year("2026-03-31", 2_400_000_00)
    found = asked(entered, year("2026-06-30", 2_879_999_99))
    assert found["2026-09-30"].amount == 100_000_00
    found = asked(entered, year("2026-06-30", 2_880_000_00))
    assert (found["2026-06-30"].amount, found["2026-09-30"].amount) == (100_000_00, 120_000_00)


def test_who_passes_the_limit_after_autumn_keeps_the_amount_in_spring() -> None:
    """The year to December 2026 made the duty; the cycle's own year, to September, was below and came before it."""
    found = asked(year("2026-09-30", 2 * MILLION), year("2026-12-31", 2_640_000_00))
    assert next(iter(found)) == "2027-03-31"
    assert found["2027-06-30"] == PaymentOnAccount(110_000_00, undecided=False)


def test_what_hmrc_said_goes_before_the_figures() -> None:
    """A reduction (art 13), the actual VAT of each month (art 12A), and no payments at all."""
    above = year("2026-03-31", 2_400_000_00)
    reduced = asked(above, year("2026-06-30", 2_400_000_00, method="instalments", instalment=70_000_00))
    assert (reduced["2026-06-30"].amount, reduced["2026-09-30"].amount) == (100_000_00, 70_000_00)
    actual = asked(above._replace(method="actual"), year("2026-06-30", 5 * MILLION))
    assert actual["2026-09-30"] == PaymentOnAccount(None, undecided=False)
    assert asked(above._replace(method="none"), year("2026-06-30", 5 * MILLION)) == {}
    below = asked(year("2026-03-31", None, method="instalments", instalment=50_000_00))
    assert below["2026-06-30"] == PaymentOnAccount(50_000_00, undecided=False)


def test_of_less_than_a_year_above_the_limit_no_amount_is_known() -> None:
    found = asked(year("2026-06-30", 2_400_000_00, is_whole=False))
    assert found["2026-09-30"] == PaymentOnAccount(None, undecided=False)
    assert asked(year("2026-06-30", 1 * MILLION, is_whole=False)) == {}


# -- years of periods


def kept(*amounts: int, first: str = "2025-07-01") -> list[KeptPeriod]:
    registration = Registration(day(first), None, vat.STAGGERS[1], annual=False)
    periods = vat.periods(registration, day(first), day("2030-01-01"))
    return [KeptPeriod(one.start, one.end, amount) for one, amount in zip(periods, amounts, strict=False)]


def test_a_year_is_of_the_four_quarters_that_end_in_it() -> None:
    """600,000, 700,000, 500,000, 800,000 and then 900,000: 2,600,000, and 2,900,000 a quarter later."""
    found = vat_years.years_of(kept(*(pounds * 1_000_00 for pounds in (600, 700, 500, 800, 900))))
    assert {str(end): (one.liability, one.is_whole) for end, one in found.items()} == {
        "2025-09-30": (600_000_00, False),
        "2025-12-31": (1_300_000_00, False),
        "2026-03-31": (1_800_000_00, False),
        "2026-06-30": (2_600_000_00, True),
        "2026-09-30": (2_900_000_00, True),
    }


def test_a_gap_begins_a_year_anew() -> None:
    one, two, _, four = kept(1, 10, 100, 1000)
    assert [(year.liability, year.is_whole) for year in vat_years.years_of([one, two, four]).values()] == [
        (1, False),
        (11, False),
        (1000, False),
    ]
