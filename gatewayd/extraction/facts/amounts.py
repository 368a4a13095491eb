"""Amounts of money as documents print them. Pure.

Noise of character recognition is undone within an amount: O for 0, l and I for 1, and blanks around its marks.
"""

import re
from decimal import Decimal
from typing import Final, NamedTuple

from gatewayd.extraction.facts.labelled import Value

_D = "[0-9OolI]"
_SIGNS: Final = {"£": "GBP", "€": "EUR", "$": "USD", "US$": "USD"}
_CODES = "GBP|EUR|USD|CHF|CAD|AUD|JPY|SEK|NOK|DKK|PLN"
_AMOUNT = re.compile(
    rf"""(?<![\w.,/-])(?P<minus>[-(]\s?)?
    (?:(?P<before>US\$|[£€$]|(?:{_CODES})(?![a-z]))\s?)?(?P<minus2>-\s?)?
    (?P<number>
        {_D}{{1,3}}(?:\s?,\s?{_D}{{3}}){{1,4}}(?:\s?\.\s?{_D}{{2}})?
        |{_D}{{1,3}}(?:\.{_D}{{3}}){{1,4}},{_D}{{2}}
        |{_D}{{1,3}}(?:[ ']{_D}{{3}}){{1,4}},{_D}{{2}}
        |{_D}{{1,9}}\s?[.,]\s?{_D}{{2}}
        |{_D}{{1,9}}
    )(?![\w%]|[.,/-]\d|\s?%)
    (?:\s?(?P<after>[£€$]|(?:{_CODES})\b)(?!\s?\d))?(?P<minus3>-|\s?CR\b)?""",
    re.VERBOSE,
)
_CLEAN = str.maketrans("OolI", "0011")


class Money(NamedTuple):
    """An amount. `currency` None: nothing beside it says which."""

    amount: Decimal
    currency: str | None


def read_money(text: str) -> list[Value[Money]]:
    """The amounts of a line, in order: numbers with two decimals, or with a currency beside them."""
    amounts = ((match.start(), _money(match)) for match in _AMOUNT.finditer(text))
    return [Value(start, money) for start, money in amounts if money is not None]


def without_money(text: str) -> str:
    """A line in which blanks stand for its amounts."""
    return _AMOUNT.sub(lambda match: match.group() if _money(match) is None else " " * len(match.group()), text)


def _money(match: re.Match[str]) -> Money | None:
    part = match.groupdict()
    number, sign = part["number"].replace(" ", "").replace("'", ""), part["before"] or part["after"]
    has_cents = len(number) > 3 and number[-3] in ".,"
    if not has_cents and sign is None:
        return None
    digits = sum(c.isdigit() for c in number)
    if digits == 0 or (sign is None and digits * 2 < len(number)):
        return None  # a word
    pounds_text, cents = (number[:-3], number[-2:]) if has_cents else (number, "00")
    pounds = pounds_text.replace(",", "").replace(".", "").translate(_CLEAN) or "0"
    amount = Decimal(f"{pounds}.{cents.translate(_CLEAN)}")
    is_negative = part["minus"] or part["minus2"] or part["minus3"]
    return Money(-amount if is_negative else amount, _SIGNS.get(sign or "", sign))
