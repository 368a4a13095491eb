"""Identifiers: published examples, and forms that look like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd import check_digits
from gatewayd.areas.legal_entities import rules


@pytest.mark.parametrize("text", ["980780684", "GB980780684", "gb 980 7806 84", "XI980780684"])
def test_a_vat_number_is_kept_as_nine_digits(text: str) -> None:
    assert rules.vat_number(text) == "980780684"


@pytest.mark.parametrize(
    "text", ["", "980780685", "98078068", "9807806840", "980780684001", "GD001", "HA599", "FR980780684", "98078068x"]
)
def test_what_is_no_vat_number(text: str) -> None:
    assert rules.vat_number(text) is None


def test_a_utr_is_kept_as_ten_digits() -> None:
    assert check_digits.utr("1955839661") == check_digits.utr("19558 39661") == check_digits.utr("1955839661K"[:10])


@pytest.mark.parametrize("text", ["", "2955839661", "195583966", "19558396610", "195583966x"])
def test_what_is_no_utr(text: str) -> None:
    assert check_digits.utr(text) is None


@pytest.mark.parametrize("text", ["AB123456C", "ab 12 34 56 c"])
def test_a_nino_is_kept_in_upper_case(text: str) -> None:
    assert rules.nino(text) == "AB123456C"


@pytest.mark.parametrize(
    "text",
    ["", "AB123456", "AB123456E", "AB12345C", "DA123456A", "QQ123456C", "AO123456A", "AV123456A"]
    + [f"{prefix}123456A" for prefix in ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ")]
    + ["AB123456C\n", "AB１２３４５６C"],
)
def test_what_is_no_nino(text: str) -> None:
    assert rules.nino(text) is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [("01234567", "01234567"), ("1234567", "01234567"), ("sc123456", "SC123456"), ("OC 30 1234", "OC301234")],
)
def test_a_company_number_has_eight_characters(text: str, kept: str) -> None:
    assert rules.company_number(text) == kept


@pytest.mark.parametrize("text", ["", "123456789", "S1234567", "SC12345", "SCX23456", "SC123456\n", "１２３４５６７８"])
def test_what_is_no_company_number(text: str) -> None:
    assert rules.company_number(text) is None


@given(st.text(max_size=20))
def test_what_is_kept_is_kept_again(text: str) -> None:
    for check in (rules.vat_number, check_digits.utr, rules.nino, rules.company_number):
        kept = check(text)
        assert kept is None or check(kept) == kept
