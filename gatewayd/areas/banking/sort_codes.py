"""Which bank an account is at, by what its files or its owner say of it (Domain B6). Pure.

Ranges of sort codes are those that the clearing banks have held throughout, and single codes of younger banks, as each
of them gives them to its customers; the whole directory (EISCD) is licensed by Pay.UK and not free. Left out is what
several banks share: 12 (Bank of Scotland and others), 23 (accounts at Barclays of other firms, but for the two codes
below), 77 (Lloyds and TSB), and 60-83 to 60-99 (firms that clear through NatWest).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from gatewayd.areas.banking.institutions import BANKS, BY_ID

_LENGTH: Final = 6
_GB: Final = "GB"


class Range(NamedTuple):
    """Sort codes of one bank, the first and the last included."""

    first: str
    last: str
    bank_id: str


RANGES: Final = (
    Range("010000", "019999", "inst_natwest"),
    Range("040003", "040004", "inst_monzo"),
    Range("040075", "040075", "inst_revolut"),
    Range("040605", "040605", "inst_tide"),
    Range("042909", "042909", "inst_revolut"),
    Range("050000", "059999", "inst_virgin_money"),  # Yorkshire Bank
    Range("070000", "074999", "inst_nationwide"),
    Range("089000", "089999", "inst_cooperative"),
    Range("090000", "091999", "inst_santander"),
    Range("110000", "117999", "inst_halifax"),
    Range("160000", "163899", "inst_rbs"),
    Range("180000", "180099", "inst_coutts"),
    Range("200000", "209999", "inst_barclays"),
    Range("230580", "230580", "inst_metro"),
    Range("231470", "231470", "inst_wise"),
    Range("300000", "399999", "inst_lloyds"),
    Range("400000", "404699", "inst_hsbc"),
    Range("404700", "404799", "inst_first_direct"),
    Range("404800", "499999", "inst_hsbc"),
    Range("500000", "608299", "inst_natwest"),
    Range("608371", "608371", "inst_starling"),
    Range("720000", "729999", "inst_santander"),  # Alliance & Leicester
    Range("800000", "809999", "inst_bank_of_scotland"),
    Range("820000", "829999", "inst_virgin_money"),  # Clydesdale Bank
    Range("830000", "839999", "inst_rbs"),
    Range("870000", "879999", "inst_tsb"),
)

_BY_CODE: Final[Mapping[str, str]] = MappingProxyType(
    {bank.bic[:4]: bank.id for bank in BANKS if bank.bic is not None and bank.id != "inst_tide"}
    | {"BARC": "inst_barclays", "MIDL": "inst_hsbc"}  # before retail banks stood apart, and in IBANs still
)
"""Banks by the four letters that begin a BIC and stand in a British IBAN; at ClearBank are accounts of many firms."""


def bank_of_sort_code(sort_code: str) -> str | None:
    """The bank of six digits; None where no range holds them."""
    if len(sort_code) != _LENGTH:
        return None
    return next((one.bank_id for one in RANGES if one.first <= sort_code <= one.last), None)


def bank_of(*, sort_code: str | None, iban: str | None, bic: str | None) -> str | None:
    """The bank of an account by its numbers; None where none of them tells.

    What names the bank by its letters goes before a range, but for a bank that has no BIC of its own.
    """
    british = iban if iban is not None and iban.startswith(_GB) and len(iban) >= len("GB00BANKSSSSSS") else None
    sort_code = sort_code or (british[8:14] if british is not None else None)
    by_range = None if sort_code is None else bank_of_sort_code(sort_code)
    code = bic[:4] if bic is not None and bic[4:6] == _GB else (british[4:8] if british is not None else None)
    by_code = None if code is None else _BY_CODE.get(code)
    if by_code is None or (by_range is not None and BY_ID[by_range].bic is None):
        return by_range
    return by_code


def bank_called(name: str | None, profile: str | None) -> str | None:
    """The bank by the name that a file gives it, or by the profile of its CSV; None where several have that."""
    named = [bank.id for bank in BANKS if name is not None and _short(name) == _short(bank.name)]
    of_profile = [bank.id for bank in BANKS if profile is not None and profile in bank.profiles]
    found = named or of_profile
    return found[0] if len(found) == 1 else None


def _short(name: str) -> str:
    """`HSBC` of HSBC UK, `Lloyds` of Lloyds Bank."""
    return name.strip().casefold().removesuffix(" plc").removesuffix(" uk").removesuffix(" bank")
