"""Money is a decimal string outside and minor units inside, and nothing is ever lost between them."""

import operator
import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.money import (
    CURRENCIES,
    Money,
    canonical,
    exponent,
    from_minor,
    half_up,
    is_amount,
    is_decimal,
    to_minor,
)

_decimals = st.from_regex(r"-?[0-9]{1,13}(\.[0-9]{1,12})?", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "currency", "minor", "written"),
    [
        ("1234.5", "GBP", 123450, "1234.50"),
        ("1234.50", "GBP", 123450, "1234.50"),
        ("1234.5000", "GBP", 123450, "1234.50"),
        ("0.07", "GBP", 7, "0.07"),
        ("-0.07", "GBP", -7, "-0.07"),
        ("-0.00", "GBP", 0, "0.00"),
        ("007", "GBP", 700, "7.00"),
        ("1500", "JPY", 1500, "1500"),
        ("-1500.00", "JPY", -1500, "-1500"),
        ("1.234", "KWD", 1234, "1.234"),
        ("0.005", "KWD", 5, "0.005"),
        ("9999999999999.99", "GBP", 999_999_999_999_999, "9999999999999.99"),
    ],
)
def test_amounts(text: str, currency: str, minor: int, written: str) -> None:
    assert to_minor(text, currency) == minor
    assert from_minor(minor, currency) == written


@pytest.mark.parametrize(("text", "currency"), [("1.005", "GBP"), ("0.1", "JPY"), ("1.2345", "KWD"), ("1.0001", "EUR")])
def test_more_digits_than_the_currency_has_are_refused(text: str, currency: str) -> None:
    with pytest.raises(
        ValueError, match=rf"^{currency} has (at most {exponent(currency)}|no) digits after the point: {text} has more$"
    ):
        to_minor(text, currency)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1.",
        ".5",
        "+1",
        "1e3",
        "1,000",
        "0x1",
        "NaN",
        "Infinity",
        "1.00\n",
        " 1",
        "1_000",
        "١٢",
        "１２",
        "--1",
        "1.23456",
        "12345678901234",
        "1.0.0",
        "-",
        "1\x00",
    ],
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    assert not is_amount(text)
    with pytest.raises(ValueError, match="decimal string"):
        to_minor(text, "GBP")


def test_decimals_have_up_to_twelve_fraction_digits() -> None:
    assert is_decimal("0.123456789012")
    assert not is_decimal("0.1234567890123")
    assert not is_decimal("1.5\n")
    assert not is_amount("0.12345")


def test_an_unknown_currency_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        exponent("GBX")
    with pytest.raises(KeyError):
        to_minor("1", "gbp")


def test_every_currency_has_its_exponent() -> None:
    assert {exponent(currency) for currency in CURRENCIES} == {0, 2, 3}
    assert [exponent(currency) for currency in ("GBP", "EUR", "JPY", "KWD", "ISK", "TND")] == [2, 2, 0, 3, 0, 3]
    assert all(re.fullmatch("[A-Z]{3}", currency) for currency in CURRENCIES)
    assert len(CURRENCIES) > 150


@given(st.integers(min_value=-(10**15) + 1, max_value=10**15 - 1), st.sampled_from(sorted(CURRENCIES)))
def test_every_amount_survives_the_round_trip(minor: int, currency: str) -> None:
    text = from_minor(minor, currency)
    if is_amount(text):  # not those of more than 13 whole digits
        assert to_minor(text, currency) == minor
    whole, _, fraction = text.lstrip("-").partition(".")
    assert len(fraction) == exponent(currency)
    assert Decimal(text) == Decimal(minor).scaleb(-exponent(currency))
    assert whole == "0" or not whole.startswith("0")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("07.50", "7.5"),
        ("100", "100"),
        ("-0", "0"),
        ("-0.00", "0"),
        ("0.10", "0.1"),
        ("000", "0"),
        ("-1.50", "-1.5"),
        ("1234567890123.123456789012", "1234567890123.123456789012"),
        ("0.000000000001", "0.000000000001"),
    ],
)
def test_the_canonical_form(text: str, form: str) -> None:
    assert canonical(text) == form


@given(_decimals)
def test_the_canonical_form_is_the_same_number_and_stable(text: str) -> None:
    form = canonical(text)
    assert Decimal(form) == Decimal(text)
    assert canonical(form) == form
    assert is_decimal(form)


@given(_decimals, _decimals)
def test_equal_decimals_have_one_canonical_form(one: str, other: str) -> None:
    assert (canonical(one) == canonical(other)) == (Decimal(one) == Decimal(other))


def test_money_is_of_one_currency_and_exact() -> None:
    price = Money.of("1234.5", "GBP")
    assert (price.minor, str(price), repr(price)) == (123450, "1234.50", "Money(1234.50, GBP)")
    assert price + Money(50, "GBP") == Money(123500, "GBP")
    assert price - Money(123451, "GBP") == Money(-1, "GBP")
    assert str(Money(-1, "GBP")) == "-0.01"
    assert (bool(Money(0, "JPY")), bool(Money(-1, "JPY"))) == (False, True)
    assert Money(5, "JPY") != Money(5, "KWD")
    assert Money(5, "JPY") != 5
    assert len({Money(5, "JPY"), Money(5, "JPY"), Money(5, "KWD"), Money(6, "JPY")}) == 3


def test_money_compares() -> None:
    less, more = Money(-1, "GBP"), Money(1, "GBP")
    assert less < more
    assert less <= more
    assert more > less
    assert more >= less
    assert less <= Money(-1, "GBP")
    assert not less < Money(-1, "GBP")
    assert not more <= less


@pytest.mark.parametrize("do", [operator.add, operator.sub, operator.lt, operator.le])
def test_two_currencies_do_not_meet(do: Callable[[Money, Money], object]) -> None:
    with pytest.raises(ValueError, match="GBP and EUR"):
        do(Money(1, "GBP"), Money(1, "EUR"))


@pytest.mark.parametrize(("text", "currency"), [("1.005", "GBP"), ("0.5", "JPY"), ("1e3", "GBP"), ("", "GBP")])
def test_money_of_what_the_currency_has_not(text: str, currency: str) -> None:
    with pytest.raises(ValueError, match=r"decimal string|digits after the point"):
        Money.of(text, currency)


@pytest.mark.parametrize(
    ("numerator", "denominator", "whole"),
    [
        (0, 7, 0),
        (49, 100, 0),
        (50, 100, 1),
        (149, 100, 1),
        (150, 100, 2),
        (-49, 100, 0),
        (-50, 100, -1),
        (-150, 100, -2),
    ],
)
def test_halves_go_away_from_zero(numerator: int, denominator: int, whole: int) -> None:
    """VATREC12030: 0.5p is rounded up; of a credit the same amount the other way."""
    assert half_up(numerator, denominator) == whole
