"""Account identifiers as they stand in files, taken apart."""

import functools
import re
from typing import NamedTuple

_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_BIC = re.compile(r"[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?")
_SORT_CODE = re.compile(r"[0-9]{6}")
_BOTH = re.compile(r"(?P<sort>[0-9]{6})(?P<account>[0-9]{8})")

_LONGEST = 128


class Identifiers(NamedTuple):
    """What one account goes by. Each is None where the file does not say."""

    sort_code: str | None = None
    account_number: str | None = None
    iban: str | None = None
    bic: str | None = None


def identifiers(account: str, bank: str = "") -> Identifiers:
    """Those of an account field, and of a bank field beside it where the format has one.

    `20-00-00 12345678`, `'20-00-00` beside `12345678`, `20000012345678`, an IBAN, `BARCGB22/GB29...`.
    """
    return _identifiers(account[:_LONGEST], bank[:_LONGEST])


@functools.lru_cache(maxsize=256)  # each row of a CSV may name its account
def _identifiers(account: str, bank: str) -> Identifiers:
    sort_code = bic = iban = None
    for text in (bank, *account.split("/")[:-1]):
        plain = compact(text)
        if _SORT_CODE.fullmatch(plain):
            sort_code = plain
        elif _BIC.fullmatch(plain):
            bic = plain
    number = compact(account.split("/")[-1])
    if match := _IBAN.match(number):
        iban, number = match[0], ""
    elif (match := _BOTH.fullmatch(number)) and sort_code in (None, match["sort"]):
        sort_code, number = match["sort"], match["account"]
    return Identifiers(sort_code, number or None, iban, bic)


def compact(text: str) -> str:
    """The text in capitals, without the spaces, hyphens and apostrophes that it is written with."""
    return re.sub(r"[\s'’\-]", "", text).upper()


def masked_card(number: str) -> str:
    """The last four digits of a card: a whole number is nobody's to keep."""
    return "*" * max(0, len(number) - 4) + number[-4:]
