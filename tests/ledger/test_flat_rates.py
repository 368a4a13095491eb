"""Percentages of VAT's flat rate by HMRC's categories."""

from decimal import Decimal
from fractions import Fraction

import pytest

from gatewayd.ledger.vat.vat_standing import percent_of, with_discount


@pytest.mark.parametrize(
    ("category", "percent"),
    [("001", "14.5"), ("009", "14.5"), ("017", "9.5"), ("022", "14.5"), ("035", "5"), ("042", "4"), ("055", "10.5")],
)
def test_what_the_registration_service_names(category: str, percent: str) -> None:
    assert percent_of(category, "2026-11-20") == Decimal(percent)


def test_every_category_has_one_percentage() -> None:
    assert all(percent_of(f"{number:03}", "2022-04-01") is not None for number in range(1, 56))
    assert percent_of("999", "2026-11-20") is None


def test_before_its_first_day_the_table_says_nothing() -> None:
    assert percent_of("001", "2022-03-31") is None


@pytest.mark.parametrize(
    ("date", "percent"),
    [("2025-06-30", "12"), ("2025-07-01", "11"), ("2026-06-30", "11"), ("2026-07-01", "12")],
)
def test_a_point_is_off_up_to_the_day_before_the_anniversary(date: str, percent: str) -> None:
    assert with_discount(Decimal(12), "2025-07-01", date) == Fraction(percent)


def test_without_an_effective_date_nothing_is_off_and_nothing_goes_below_zero() -> None:
    assert with_discount(Decimal(12), None, "2026-01-01") == 12
    assert with_discount(Decimal("0.5"), "2026-01-01", "2026-01-01") == 0
