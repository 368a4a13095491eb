"""Identifiers of the tax authority and the companies register: pure checks of form and check digits."""

import re

from gatewayd import check_digits

_COMPANY_NUMBER = re.compile(r"\d{8}|[A-Z]{2}\d{6}", re.ASCII)
_NINO = re.compile(r"[A-Z]{2}\d{6}[A-D]", re.ASCII)
VRN_DIGITS = 9  # not the forms of branches, departments and health authorities, which file no returns of their own
_NINO_NEVER_ISSUED = frozenset({"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"})  # HMRC NIM39110
_NINO_NEVER_FIRST = frozenset("DFIQUV")
_NINO_NEVER_SECOND = frozenset("DFIQUVO")


def vat_number(text: str) -> str | None:
    """The nine digits of a valid VAT registration number, without GB; None if it is not one."""
    digits = check_digits.british_vat(text)
    return digits if digits is not None and len(digits) == VRN_DIGITS else None


def nino(text: str) -> str | None:
    """A National Insurance number in upper case without spaces; None if it is not one."""
    compact = text.replace(" ", "").upper()
    if not _NINO.fullmatch(compact) or compact[:2] in _NINO_NEVER_ISSUED:
        return None
    if compact[0] in _NINO_NEVER_FIRST or compact[1] in _NINO_NEVER_SECOND:
        return None
    return compact


def company_number(text: str) -> str | None:
    """A company number of eight characters; leading zeros are restored. None if it is not one."""
    compact = text.replace(" ", "").upper()
    if compact.isdigit():
        compact = compact.rjust(8, "0")
    return compact if _COMPANY_NUMBER.fullmatch(compact) else None
