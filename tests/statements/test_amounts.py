"""Amounts as British and European files hold them (Domain E)."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.statements.amounts import has_decimal_comma, parse_amount, parse_decimal


@pytest.mark.parametrize(
    ("text", "pence"),
    [
        ("1234.56", 123456),
        ("1,234.56", 123456),
        ("1,234,567.80", 123456780),
        ("1 234.56", 123456),
        ("1\u00a0234.56", 123456),
        ("1'234.56", 123456),
        ("-0.05", -5),
        ("\u22125.00", -500),  # the minus sign of typographers
        ("\u20135.00", -500),
        ("123.45-", -12345),
        ("(123.45)", -12345),
        ("(£1,000.00)", -100000),
        ("12.50 CR", 1250),
        ("12.50DR", -1250),
        ("12.50 OD", -1250),
        ("-12.50 DR", -1250),
        ("£5", 500),
        ("-£10.33", -1033),
        ("+£1,005.26", 100526),
        ("£-3.00", -300),
        ("GBP 7.00", 700),
        ("7.00 GBP", 700),
        ("+ £1,100.00", 110000),
        (".5", 50),
        ("5.", 500),
        ("12.5000", 1250),
        ("0.00", 0),
    ],
)
def test_an_amount_is_read(text: str, pence: int) -> None:
    assert parse_amount(text, "GBP") == pence


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no amount"),
        ("n/a", "no amount"),
        (".", "no amount"),
        ("--5", "no amount"),
        ("(5.00", "no amount"),
        ("1,23", "unless it is with a decimal comma"),
        ("1.234,56", "unless it is with a decimal comma"),
        ("12.345", "more than 2 fraction digits"),
        ("-5.00 CR", "both in and out"),
        ("(5.00) CR", "both in and out"),
        ("12345678901234.00", "more than 13 digits"),
        ("١٢٫٥٠", "no amount"),
        ("1e5", "no amount"),
    ],
)
def test_what_is_no_amount_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_amount(text, "GBP")


def test_a_decimal_comma_is_read_where_it_is_told() -> None:
    assert parse_amount("1.234,56", "EUR", decimal_comma=True) == 123456
    assert parse_amount("-12,5", "EUR", decimal_comma=True) == -1250
    for text in ("1,234.56", "12.50"):
        with pytest.raises(ValueError, match="unless it is with a decimal point"):
            parse_amount(text, "EUR", decimal_comma=True)


def test_pence_and_other_currencies_count_their_own_units() -> None:
    assert parse_amount("1,250", "GBP", pence=True) == 1250
    assert parse_amount("500", "JPY") == 500
    assert parse_amount("1.234", "KWD") == 1234
    assert parse_amount("12.50", "KWD") == 12500
    for text, currency, pence in (("12.5", "GBP", True), ("12.50", "GBP", True), ("12.50", "JPY", False)):
        with pytest.raises(ValueError, match="more than 0 fraction digits"):
            parse_amount(text, currency, pence=pence)


@pytest.mark.parametrize(("text", "comma"), [("12,5", True), ("1.234,56", True), ("1,234", False), ("1,234.56", False)])
def test_a_decimal_comma_is_told_from_one_behind_thousands(text: str, *, comma: bool) -> None:
    assert has_decimal_comma(text) is comma


def test_what_is_longer_than_64_characters_is_no_amount() -> None:
    assert parse_amount("5".rjust(64), "GBP") == parse_decimal("5".rjust(64)) * 100 == 500
    for parse in (lambda text: parse_amount(text, "GBP"), parse_decimal):
        with pytest.raises(ValueError, match=r"is no (amount|number)"):
            parse("5".rjust(65))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x" * 41, "is no amount"),
        ("1," * 20 + "1", "is no amount"),
        ("1." + "1" * 40, "has more than 2 fraction digits"),
        ("1" * 41 + ".00", "has more than 13 digits before the decimal sign"),
        ("-" + "0" * 36 + "5.00 CR", "says both in and out"),
    ],
)
def test_a_reason_quotes_forty_characters(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^'{text[:40]}' {reason}$"):
        parse_amount(text, "GBP")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234.5678", "1234.5678"),
        ("(12.5)", "-12.5"),
        ("£5.38", "5.38"),
        ("-2.6E-4", "-0.00026"),
        (" 3E-10 ", "0.0000000003"),
        ("1234567890123.5", "1234567890123.5"),
    ],
)
def test_a_number_is_read_with_whatever_fraction_it_has(text: str, number: str) -> None:
    assert parse_decimal(text) == Decimal(number)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x" * 41, "is no number"),
        ("(5", "is no number"),
        ("1" * 41, "has more than 13 digits before the decimal sign"),
        ("12345678901234", "has more than 13 digits before the decimal sign"),
    ],
)
def test_what_is_no_number_is_refused_with_a_reason(text: str, reason: str) -> None:
    quoted = text[:40].replace("(", r"\(")
    with pytest.raises(ValueError, match=f"^'{quoted}' {reason}$"):
        parse_decimal(text)


@given(st.integers(min_value=-(10**14), max_value=10**14))
def test_every_way_of_writing_an_amount_means_the_same(pence: int) -> None:
    plain = f"{abs(pence) // 100:,}.{abs(pence) % 100:02d}"
    minus = "-" if pence < 0 else ""
    written = [f"{minus}{plain}", f"{minus}£{plain}", f"{plain}{minus}", f"({plain})" if pence < 0 else plain]
    written.append(f"{plain} {'DR' if pence < 0 else 'CR'}")
    assert {parse_amount(text, "GBP") for text in written} == {pence}
    european = minus + plain.translate(str.maketrans(",.", ".,"))
    assert parse_amount(european, "EUR", decimal_comma=True) == pence
