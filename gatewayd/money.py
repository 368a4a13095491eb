"""Decimals and money: strings on the wire, minor units inside, never a float (domain model §0.2)."""

import functools
import re
from decimal import Decimal
from typing import Final, NewType, Self

Minor = NewType("Minor", int)
"""An amount in the currency's minor unit: pence for GBP, yen for JPY."""

AMOUNT_PATTERN = r"^-?[0-9]{1,13}(\.[0-9]{1,4})?$"  # [0-9]: \d is every script's digits to Python
DECIMAL_PATTERN = r"^-?[0-9]{1,13}(\.[0-9]{1,12})?$"
CREDITS_PATTERN = r"^-?[0-9]{1,12}(\.[0-9]{1,6})?$"
MICRO: Final = 1_000_000
"""Of which a credit has so many: credits are kept as whole numbers of millionths (domain model B8)."""

_AMOUNT = re.compile(AMOUNT_PATTERN)
_CREDITS = re.compile(CREDITS_PATTERN)
_DECIMAL = re.compile(DECIMAL_PATTERN)

_TWO_DIGITS = """
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE
CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR
KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB
PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY
TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG
"""
_NO_DIGITS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
_THREE_DIGITS = "BHD IQD JOD KWD LYD OMR TND"
_EXPONENTS = {  # ISO 4217, active codes
    **dict.fromkeys(_TWO_DIGITS.split(), 2),
    **dict.fromkeys(_NO_DIGITS.split(), 0),
    **dict.fromkeys(_THREE_DIGITS.split(), 3),
}
CURRENCIES = frozenset(_EXPONENTS)


def exponent(currency: str) -> int:
    """How many fraction digits the currency has. Raises `KeyError` for an unknown code."""
    return _EXPONENTS[currency]


def is_decimal(text: str) -> bool:
    """True for a quantity, price or rate: at most 13 whole and 12 fraction digits, no exponent, no plus sign."""
    return _DECIMAL.fullmatch(text) is not None


def is_amount(text: str) -> bool:
    """True for an amount of money: at most 13 whole and 4 fraction digits."""
    return _AMOUNT.fullmatch(text) is not None


@functools.lru_cache(maxsize=4096)  # rents are the same few amounts, and every history of them is read at once
def to_minor(text: str, currency: str) -> Minor:
    """The amount in minor units.

    Raises `ValueError` when the text is no decimal, or has more fraction digits than the currency (`1.005` GBP).
    """
    if not is_amount(text):
        raise ValueError("an amount is a decimal string such as 1234.50")
    scaled = Decimal(text).scaleb(_EXPONENTS[currency])
    if scaled != scaled.to_integral_value():
        digits = _EXPONENTS[currency]
        takes = f"at most {digits} digits after the point" if digits else "no digits after the point"
        raise ValueError(f"{currency} has {takes}: {text} has more")
    return Minor(int(scaled))


@functools.lru_cache(maxsize=4096)  # an invoice has the same few amounts again and again
def from_minor(amount: int, currency: str) -> str:
    """The wire form, padded to the currency's exponent: `1234.50`."""
    digits = _EXPONENTS[currency]
    if amount >= 1000 and digits:  # nothing to pad: at most three fraction digits
        text = str(amount)
        return f"{text[:-digits]}.{text[-digits:]}"
    if digits == 0:
        return str(amount)
    sign = "-" if amount < 0 else ""
    text = str(abs(amount)).rjust(digits + 1, "0")
    return f"{sign}{text[:-digits]}.{text[-digits:]}"


@functools.lru_cache(maxsize=1024)  # most quantities, prices and rates are of a few hundred
def canonical(text: str) -> str:
    """The canonical form of a decimal: no leading or trailing zeros, no negative zero: `07.50` is `7.5`."""
    plain = f"{Decimal(text):f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain == "-0" else plain


class Credits(int):
    """Credits as a whole number of millionths. In JSON it is the text of `credits_text`; sums are plain `int`."""

    __slots__ = ()


def to_credits(text: str) -> Credits:
    """The credits of a decimal of at most 12 whole and 6 fraction digits. Raises `ValueError` for any other text."""
    if _CREDITS.fullmatch(text) is None:
        raise ValueError("credits are a decimal string such as 12.5")
    return Credits(int(Decimal(text).scaleb(6)))


def credits_text(amount: int) -> str:
    """The wire form of so many millionths, without trailing zeros: `12.5`."""
    units, rest = divmod(abs(amount), MICRO)
    fraction = f"{rest:06d}".rstrip("0")
    return f"{'-' if amount < 0 else ''}{units}{'.' if fraction else ''}{fraction}"


class Money:
    """An exact amount of one currency; `minor` is in its minor unit. In JSON it is the text of `str`.

    Amounts of one currency add, subtract and compare; of two currencies they raise `ValueError`.
    """

    __slots__ = ("currency", "minor")

    def __init__(self, minor: int, currency: str) -> None:
        self.minor = minor
        self.currency = currency

    @classmethod
    def of(cls, text: str, currency: str) -> Self:
        """The amount of a decimal. Raises `ValueError` as `to_minor` does."""
        return cls(to_minor(text, currency), currency)

    def __str__(self) -> str:
        return from_minor(self.minor, self.currency)

    def __repr__(self) -> str:
        return f"Money({self}, {self.currency})"

    def __bool__(self) -> bool:
        return self.minor != 0

    def __add__(self, other: Self) -> Self:
        return type(self)(self.minor + self._same(other), self.currency)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.minor - self._same(other), self.currency)

    def __lt__(self, other: Self) -> bool:
        return self.minor < self._same(other)

    def __le__(self, other: Self) -> bool:
        return self.minor <= self._same(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and (self.minor, self.currency) == (other.minor, other.currency)

    def __hash__(self) -> int:
        return hash((self.minor, self.currency))

    def _same(self, other: Self) -> int:
        if other.currency != self.currency:
            raise ValueError(f"{self.currency} and {other.currency} do not add up")
        return other.minor


def half_up(numerator: int, denominator: int) -> int:
    """The quotient as a whole number, halves away from zero (VATREC12030). The denominator is above zero."""
    quotient = (2 * abs(numerator) + denominator) // (2 * denominator)
    return quotient if numerator >= 0 else -quotient
