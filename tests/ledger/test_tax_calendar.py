"""The tax year (domain model C6)."""

import pytest

from gatewayd.ledger.dates.tax_calendar import bounds, is_tax_year, tax_year_of


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("2026-04-05", "2025-26"),
        ("2026-04-06", "2026-27"),
        ("2026-12-31", "2026-27"),
        ("2027-01-01", "2026-27"),
        ("1999-12-31", "1999-00"),
        ("2000-02-29", "1999-00"),
        ("2008-04-06", "2008-09"),
    ],
)
def test_the_tax_year_starts_on_6_april(date: str, year: str) -> None:
    assert tax_year_of(date) == year


def test_the_bounds_of_a_tax_year() -> None:
    assert bounds("2026-27") == ("2026-04-06", "2027-04-05")
    assert bounds("1999-00") == ("1999-04-06", "2000-04-05")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-27", True),
        ("1999-00", True),
        ("2026-28", False),
        ("2026/27", False),
        ("26-27", False),
        ("２０２６-27", False),
    ],
)
def test_a_tax_year_is_told_from_other_text(text: str, expected: bool) -> None:
    assert is_tax_year(text) is expected
