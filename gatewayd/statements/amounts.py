"""Amounts as banks write them: `1,234.56`, `1.234,56`, `(123.45)`, `123.45-`, `12.50 CR`, `£5`, pence."""

import re
from collections.abc import Iterable
from decimal import Decimal

from gatewayd.money import CURRENCIES, exponent

_PLAIN = re.compile(r"-?[0-9]{1,13}\.[0-9]{2}")
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2012\u2013\u2010\u2011\ufe63\uff0d", "-"))
_SPACES = re.compile(r"[\s'’]+")  # behind thousands too: 1 234,56 and 1'234.56
_MARKED = re.compile(
    r"""(?P<open>\()? (?P<sign>[-+])? (?:(?P<before>[A-Z]{3}|[£$€¥])(?P<sign2>[-+])?)?
        (?P<number>[0-9.,]*[0-9][0-9.,]*)
        (?P<after>[A-Z]{3}|[£$€¥])? (?P<sign3>[-+])? (?P<close>\))? (?P<mark>CR|DR|OD|C|D)? \.?""",
    re.VERBOSE,
)
_WITH_POINT = re.compile(r"(?P<whole>[0-9]{1,3}(,[0-9]{3})+|[0-9]*)(\.(?P<fraction>[0-9]*))?")
_WITH_COMMA = re.compile(r"(?P<whole>[0-9]{1,3}(\.[0-9]{3})+|[0-9]*)(,(?P<fraction>[0-9]*))?")
_COMMA_IS_DECIMAL = re.compile(r"[^,]*,[0-9]{1,2}(?![0-9,.]).*")
_POINT_IS_DECIMAL = re.compile(r"[^.]*\.([0-9]{1,2}|[0-9]{4,})(?![0-9,.]).*")
_SCIENTIFIC = re.compile(r"-?[0-9](\.[0-9]{1,20})?E-[0-9]{1,2}")
_LONGEST = 64  # what is longer is no amount, and costs no time
_WHOLE_DIGITS = 13  # as amounts of the API


def parse_amount(text: str, currency: str, *, decimal_comma: bool = False, pence: bool = False) -> int:
    """The signed amount in minor units of the currency. A minus, brackets, DR and OD make it negative.

    `pence`: the number counts minor units already. Raises `ValueError` with a sentence for what is no amount, has more
    fraction digits than the currency, or contradicts itself.
    """
    if _PLAIN.fullmatch(text) and not decimal_comma and not pence and currency in _HUNDREDTHS:
        return int(text.replace(".", ""))
    match = _marked(text)
    if match is None or (match["open"] is None) != (match["close"] is None):
        raise ValueError(f"{text.strip()[:40]!r} is no amount")
    written = _written_digits(match["number"], text, decimal_comma)
    minor = _minor(written, text, 0 if pence else exponent(currency))
    return -minor if _is_negative(match, text) else minor


def _marked(text: str) -> re.Match[str] | None:
    return _MARKED.fullmatch(_SPACES.sub("", text.translate(_MINUS)).upper()) if len(text) <= _LONGEST else None


def parse_decimal(text: str, *, decimal_comma: bool = False) -> Decimal:
    """The signed number, with whatever fraction it has: `1,234.5678`, `(12.5)`, `£5.38`, `-2.6E-4`.

    Raises `ValueError` with a sentence for what is no number, or one of more than 13 whole digits.
    """
    if _SCIENTIFIC.fullmatch(text.strip()):
        return Decimal(text.strip())
    match = _marked(text)
    if match is None or (match["open"] is None) != (match["close"] is None):
        raise ValueError(f"{text.strip()[:40]!r} is no number")
    whole_digits, fraction = _written_digits(match["number"], text, decimal_comma)
    if len(whole_digits.lstrip("0")) > _WHOLE_DIGITS:
        raise ValueError(f"{text.strip()[:40]!r} has more than {_WHOLE_DIGITS} digits before the decimal sign")
    number = Decimal(f"{whole_digits or '0'}.{fraction or '0'}")
    return -number if _is_negative(match, text) else number


_HUNDREDTHS = frozenset(currency for currency in CURRENCIES if exponent(currency) == 2)


def is_amount_text(text: str) -> bool:
    """True for what could be an amount, with a point or with a comma."""
    match = _marked(text)
    return match is not None and any(p.fullmatch(match["number"]) for p in (_WITH_POINT, _WITH_COMMA))


def has_decimal_comma(text: str) -> bool:
    """True for an amount that can only be read with a decimal comma: `12,5`, `1.234,56`."""
    number = _SPACES.sub("", text)
    return _COMMA_IS_DECIMAL.fullmatch(number) is not None


def show_decimal_comma(texts: Iterable[str]) -> bool:
    """Whether more of these amounts can only be read with a decimal comma than with a point: one may be a slip."""
    commas = points = 0
    for text in texts:
        commas += has_decimal_comma(text)
        points += _POINT_IS_DECIMAL.fullmatch(_SPACES.sub("", text)) is not None
    return commas > points


def _written_digits(number: str, text: str, decimal_comma: bool) -> tuple[str, str]:
    """The digits before and behind the decimal sign."""
    match = (_WITH_COMMA if decimal_comma else _WITH_POINT).fullmatch(number)
    if match is None:
        hint = "with a decimal point" if decimal_comma else "with a decimal comma"
        other = (_WITH_POINT if decimal_comma else _WITH_COMMA).fullmatch(number)
        raise ValueError(f"{text.strip()[:40]!r} is no amount" + (f", unless it is {hint}" if other else ""))
    return match["whole"].replace(".", "").replace(",", ""), match["fraction"] or ""


def _minor(written: tuple[str, str], text: str, digits: int) -> int:
    whole_digits, fraction = written
    if fraction[digits:].strip("0"):
        raise ValueError(f"{text.strip()[:40]!r} has more than {digits} fraction digits")
    if len(whole_digits.lstrip("0")) > _WHOLE_DIGITS:
        raise ValueError(f"{text.strip()[:40]!r} has more than {_WHOLE_DIGITS} digits before the decimal sign")
    return int((whole_digits + fraction[:digits].ljust(digits, "0")) or "0")


def _is_negative(match: re.Match[str], text: str) -> bool:
    """Brackets and DR may stand with a minus: both say the same. CR beside a minus contradicts."""
    signs = {sign for sign in (match["sign"], match["sign2"], match["sign3"]) if sign}
    if match["open"]:
        signs.add("-")
    if match["mark"]:
        signs.add("+" if match["mark"] in ("CR", "C") else "-")
    if len(signs) > 1:
        raise ValueError(f"{text.strip()[:40]!r} says both in and out")
    return "-" in signs
