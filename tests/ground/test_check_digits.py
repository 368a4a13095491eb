"""Numbers that were published, each right, and wrong by one digit."""

from collections.abc import Callable

import pytest

from gatewayd import check_digits


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (check_digits.iban, "GB82 WEST 1234 5698 7654 32", "GB82 WEST 1234 5698 7654 33"),  # ISO 13616, its example
        (check_digits.is_bic, "MIDLGB22", "MIDLGB2"),
        (check_digits.british_vat, "GB 980 7806 84", "GB 980 7806 85"),
        (check_digits.european_vat, "DE136695976", "DE136695978"),
        (check_digits.utr, "1955839661", "2955839661"),
        (check_digits.is_isin, "GB0002634946", "GB0002634947"),  # BAE Systems, and its SEDOL
        (check_digits.is_sedol, "0263494", "0263495"),
        (check_digits.is_cusip, "037833100", "037833101"),  # Apple
        (check_digits.is_figi, "BBG000BLNNH6", "BBG000BLNNH7"),  # IBM, the standard's example
    ],
)
def test_a_slip_is_told(check: Callable[[str], object], right: str, wrong: str) -> None:
    assert check(right)
    assert not check(wrong)


def test_valid_numbers_are_kept_without_what_people_put_between() -> None:
    assert check_digits.iban("gb82 west 1234 5698 7654 32") == "GB82WEST12345698765432"
    assert check_digits.british_vat("GB 980 7806 84") == "980780684"
    assert check_digits.european_vat("de 136 695 976") == "DE136695976"
