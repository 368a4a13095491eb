"""Checks of a billing client's numbers: form and check digits, by country. Pure."""

import re

from gatewayd import check_digits
from gatewayd.contract.countries import EUROPEAN_UNION

_COMPANY_NUMBER = re.compile(r"^(\d{8}|[A-Z]{2}\d{6})$", re.ASCII)  # Companies House
_FOREIGN_NUMBER = re.compile(r"^[A-Z0-9]{2,20}$", re.ASCII)
_SEPARATORS = re.compile(r"[\s.\-/]+")
_GREECE = "EL"  # its VAT numbers do not bear the ISO code
_BRITISH = frozenset({"GB", "XI", "GD", "HA"})  # Northern Ireland, government departments, health authorities
_UNITED_KINGDOM = frozenset({"GB", "IM"})  # for VAT the Isle of Man is part of it
_MEMBERS = EUROPEAN_UNION | {_GREECE}


def vat_number(text: str, country_code: str) -> str | None:
    """The number as it is kept, or None where it is not valid.

    British numbers of clients in the United Kingdom are kept as bare digits; others bear the letters of their country.
    A number without letters is one of `country_code`. Outside the United Kingdom and the European Union only the form
    is checked.
    """
    compact = _SEPARATORS.sub("", text).upper()
    if compact[:2] in _BRITISH or (country_code in _UNITED_KINGDOM and compact[:1].isdigit()):
        number = _british(compact)
        foreign = number is not None and number.isdigit() and country_code not in _UNITED_KINGDOM
        return f"GB{number}" if foreign else number
    member = _GREECE if country_code == "GR" else country_code
    if compact[:2] not in _MEMBERS and member in _MEMBERS:
        compact = member + compact
    if compact[:2] in _MEMBERS:
        return check_digits.european_vat(compact)
    return compact if _FOREIGN_NUMBER.match(compact) else None


def with_country(number: str, country_code: str) -> str:
    """The VAT number of a client with the letters of its country, which a British one is kept without."""
    return f"GB{number}" if number[:1].isdigit() and country_code in _UNITED_KINGDOM else number


def is_british(number: str, country_code: str) -> bool:
    """True for a VAT number of the United Kingdom, as it is kept for a client of that country."""
    return country_code in _UNITED_KINGDOM if number[:1].isdigit() else number[:2] in _BRITISH


def company_number(text: str, country_code: str) -> str | None:
    """The number as it is kept, or None. Companies House numbers have eight characters; leading zeros are restored.

    Outside the United Kingdom any number of up to 20 letters and digits will do.
    """
    compact = _SEPARATORS.sub("", text).upper()
    if country_code != "GB":
        return compact if _FOREIGN_NUMBER.match(compact) else None
    if compact.isdigit():
        compact = compact.rjust(8, "0")
    return compact if _COMPANY_NUMBER.match(compact) else None


def folded(name: str) -> str:
    """A name as duplicates are compared: case-folded, with single spaces."""
    return " ".join(name.casefold().split())


def _british(compact: str) -> str | None:
    digits = check_digits.british_vat(compact)
    return "XI" + digits if digits is not None and compact.startswith("XI") else digits
