"""Which bank an account is at, by its numbers and by what its files call it."""

import itertools

import pytest

from gatewayd.areas.banking.institutions import BY_ID, RANGES, bank_called, bank_of, bank_of_sort_code


@pytest.mark.parametrize(
    ("sort_code", "bank_id"),
    [
        ("204500", "inst_barclays"),
        ("300000", "inst_lloyds"),
        ("404784", "inst_first_direct"),
        ("400530", "inst_hsbc"),
        ("601111", "inst_natwest"),
        ("608371", "inst_starling"),
        ("040004", "inst_monzo"),
        ("070116", "inst_nationwide"),
        ("090128", "inst_santander"),
        ("231470", "inst_wise"),
        ("770000", None),  # Lloyds and TSB
        ("608407", None),
        ("999999", None),
        ("20450", None),
    ],
)
def test_the_bank_of_a_sort_code(sort_code: str, bank_id: str | None) -> None:
    assert bank_of_sort_code(sort_code) == bank_id


def test_ranges_are_of_banks_in_order_and_apart() -> None:
    assert all(one.bank_id in BY_ID and len(one.first) == len(one.last) == 6 for one in RANGES)
    assert all(before.last < after.first for before, after in itertools.pairwise(RANGES))
    assert all(one.first <= one.last for one in RANGES)


def test_a_bank_by_letters_goes_before_a_range() -> None:
    assert bank_of(sort_code="300000", iban=None, bic="TSBSGB2A") == "inst_tsb"
    assert bank_of(sort_code=None, iban="GB29NWBK60161331926819", bic=None) == "inst_natwest"
    assert bank_of(sort_code="404784", iban=None, bic="HBUKGB4B") == "inst_first_direct"
    assert bank_of(sort_code=None, iban="DE89370400440532013000", bic="COBADEFF") is None
    assert bank_of(sort_code=None, iban=None, bic=None) is None


@pytest.mark.parametrize(
    ("name", "profile", "bank_id"),
    [
        ("Barclays", None, "inst_barclays"),
        ("LLOYDS BANK PLC", None, "inst_lloyds"),
        ("HSBC", None, "inst_hsbc"),
        ("The Village Bank", None, None),
        (None, "revolut", "inst_revolut"),
        (None, "lloyds", None),  # of four banks
        (None, None, None),
    ],
)
def test_the_bank_by_its_name_or_the_profile_of_its_files(
    name: str | None, profile: str | None, bank_id: str | None
) -> None:
    assert bank_called(name, profile) == bank_id
