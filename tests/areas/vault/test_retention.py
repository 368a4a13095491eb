"""How long records have to be kept, by examples of the law."""

import datetime

import pytest

from gatewayd.areas.vault.documents.keeping import Keeper, last_day
from gatewayd.ledger.dates.companies import YearEnd

MARCH = YearEnd(3, 31)
FEBRUARY = YearEnd(2, 29)


@pytest.mark.parametrize(
    ("keeper", "day", "last"),
    [
        # 2025-26 is returned by 31 January 2027, and kept for five years from then.
        (Keeper("sole_trader", MARCH, False), "2025-04-06", "2032-01-31"),
        (Keeper("individual", MARCH, False), "2026-04-05", "2032-01-31"),
        (Keeper("partnership", MARCH, False), "2026-04-06", "2033-01-31"),
        (Keeper("limited_company", MARCH, False), "2026-03-31", "2032-03-31"),
        (Keeper("limited_company", MARCH, False), "2026-04-01", "2033-03-31"),
        (Keeper("llp", FEBRUARY, False), "2024-02-29", "2030-02-28"),
        (Keeper("llp", FEBRUARY, False), "2024-03-01", "2031-02-28"),
        # VAT's six years are the longer ones for who trades alone at the start of a tax year only from 1 February on.
        (Keeper("sole_trader", MARCH, True), "2026-04-05", "2032-04-05"),
        (Keeper("sole_trader", MARCH, True), "2025-04-06", "2032-01-31"),
        (Keeper("limited_company", MARCH, True), "2026-03-31", "2032-03-31"),
    ],
)
def test_the_last_day(keeper: Keeper, day: str, last: str) -> None:
    assert last_day(keeper, datetime.date.fromisoformat(day)).isoformat() == last


def test_a_date_that_nobody_will_see() -> None:
    assert last_day(Keeper("trust", MARCH, True), datetime.date.max).year < 10_000
