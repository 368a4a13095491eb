"""HMRC's rates of exchange: figures as published, months that are missing, and the form of the table."""

import re
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files

import pytest

from gatewayd.ledger.exchange.exchange_rates import coverage, latest_rate, published_rate
from gatewayd.money import CURRENCIES

LINES = [
    line.split("\t")
    for line in files("gatewayd.ledger.exchange").joinpath("hmrc_rates.tsv").read_text("ascii").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize(
    ("currency", "day", "units"),
    [  # HMRC, exchange rates for customs and VAT, of each month
        ("USD", "2014-02-01", "1.6584"),
        ("EUR", "2014-02-28", "1.2226"),
        ("AED", "2020-01-15", "4.8012"),
        ("AED", "2026-07-31", "4.9226"),
        ("EUR", "2026-11-01", "1.193"),
        ("USD", "2026-11-30", "1.3396"),
        ("JPY", "2026-11-24", "211.5223"),
    ],
)
def test_a_month_has_the_rate_that_was_published(currency: str, day: str, units: str) -> None:
    rate = published_rate(currency, day)
    assert rate is not None
    assert (rate.currency, rate.period, rate.units) == (currency, day[:7], Decimal(units))
    assert rate.first_day == f"{day[:7]}-01"


@pytest.mark.parametrize(
    ("currency", "day", "units"),
    [  # HMRC, spot rates of 31 March and 31 December
        ("USD", "2010-12-31", "1.5657"),
        ("AUD", "2026-03-31", "1.9227"),
        ("CAD", "2026-03-31", "1.8439"),
        ("USD", "2024-03-31", "1.2625"),
        ("ZAR", "2019-12-31", "18.4622"),
    ],
)
def test_a_spot_rate_is_of_its_very_day(currency: str, day: str, units: str) -> None:
    rate = latest_rate(currency, day)
    assert rate is not None
    assert (rate.period, rate.units, rate.first_day) == (day, Decimal(units), day)


@pytest.mark.parametrize(
    ("currency", "day", "period"),
    [
        ("USD", "2024-03-30", "2024-03"),
        ("USD", "2024-03-31", "2024-03-31"),
        ("USD", "2024-04-01", "2024-04"),
        ("PLN", "2024-03-31", "2024-03"),  # HMRC has spot rates of eleven currencies
        ("USD", "2013-06-15", "2013-03-31"),
        ("BRL", "2019-04-20", "2019-03"),
        ("USD", "2031-01-01", "2026-11"),
    ],
)
def test_the_latest_until_a_day_may_be_of_a_month_or_of_a_day(currency: str, day: str, period: str) -> None:
    rate = latest_rate(currency, day)
    assert rate is not None
    assert rate.period == period


def test_before_the_first_of_a_currency_there_is_none() -> None:
    assert latest_rate("USD", "2010-12-30") is None
    assert latest_rate("PLN", "2014-01-31") is None


def test_one_of_a_currency_in_pounds_is_exact_and_on_the_wire_of_12_places() -> None:
    rate = published_rate("USD", "2026-11-24")
    assert rate is not None
    assert rate.in_pounds == Fraction(10000, 13396)
    assert rate.fx_rate == "0.746491489997"  # 1 / 1.3396
    even = published_rate("EUR", "2026-11-24")
    assert even is not None
    assert even.fx_rate == "0.838222967309"  # 1 / 1.193


@pytest.mark.parametrize(
    ("currency", "day"),
    [
        ("USD", "2014-01-31"),  # before the table
        ("USD", "2026-12-01"),  # not published yet
        ("GBP", "2026-11-24"),
        ("XXX", "2026-11-24"),
        ("BRL", "2019-04-10"),  # a misprint: 439943
        ("RUB", "2022-03-10"),  # two records differ: it was published anew within the month
        ("MUR", "2023-08-10"),  # two records differ
    ],
)
def test_what_was_not_published_is_not_known(currency: str, day: str) -> None:
    assert published_rate(currency, day) is None


def test_the_table_tells_which_months_it_has() -> None:
    assert coverage() == ("2014-02", "2026-11")


def test_every_line_is_a_month_or_a_day_with_decimals_of_currencies() -> None:
    heading, *body = LINES
    assert heading[0] == "period"
    assert set(heading[1:]) <= CURRENCIES - {"GBP"}
    assert [line[0] for line in body] == sorted({line[0] for line in body})
    for line in body:
        assert re.fullmatch(r"20[0-9]{2}-(0[1-9]|1[0-2])|20[0-9]{2}-(03|12)-31", line[0])
        assert len(line) == len(heading)
        assert all(re.fullmatch(r"|[1-9][0-9]*(\.[0-9]*[1-9])?|0\.[0-9]*[1-9]", cell) for cell in line[1:])


def test_no_month_between_the_first_and_the_last_is_missing() -> None:
    months = [line[0] for line in LINES[1:] if len(line[0]) == 7]
    ordinals = [int(month[:4]) * 12 + int(month[5:]) for month in months]
    assert ordinals == list(range(ordinals[0], ordinals[-1] + 1))
    for currency in ("USD", "EUR", "CHF", "JPY", "AUD", "CAD", "SEK", "NOK", "DKK", "HKD", "SGD", "PLN"):
        assert all(published_rate(currency, f"{month}-15") is not None for month in months)
