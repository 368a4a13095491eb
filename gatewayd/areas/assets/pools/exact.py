"""Exact figures of holdings as text and back. Pure.

A cost is an int of 1e-20 currency units (`COST_UNIT`): an amount in minor units at a rate of 12 fraction digits has at
most 16. What a part of a cost is, is rounded down to such a unit, and what leaves is subtracted from what was there, so
that nothing is ever lost. Quantities are fractions: `100/3`.
"""

from decimal import Decimal
from fractions import Fraction

from gatewayd.money import exponent, half_up

COST_PLACES = 20
COST_UNIT = 10**COST_PLACES
_NOISE = 10 ** (COST_PLACES - 12)  # Chosen: 0.004999999999999999 of a penny's half is that half (decision 0022)


_UNWRITTEN = {0: "0", 1: "1"}  # these very texts are defaults of `Inputs` and `Outcome`, and left out


def cost_of(text: str) -> int:
    """The cost of a decimal text, which has at most 20 places."""
    sign, text = (-1, text[1:]) if text[0] == "-" else (1, text)
    integer, _, fraction = text.partition(".")
    return sign * int(integer + fraction.ljust(COST_PLACES, "0"))


def cost_text(cost: int) -> str:
    """The shortest decimal text of a cost."""
    if not cost:
        return _UNWRITTEN[0]
    if cost % COST_UNIT == 0:
        return str(cost // COST_UNIT)
    digits = str(abs(cost)).rjust(COST_PLACES + 1, "0")
    sign = "-" if cost < 0 else ""
    return f"{sign}{digits[:-COST_PLACES]}.{digits[-COST_PLACES:].rstrip('0')}"


def cost_of_amount(minor: int, currency: str, fx_rate: str) -> int:
    """What an amount in minor units of a currency is in the base currency, at `fx_rate` of it for 1 of the currency."""
    scaled = int(Decimal(fx_rate).scaleb(12))  # a rate has at most 12 fraction digits, a currency at most 4
    unit: int = 10 ** (COST_PLACES - 12 - exponent(currency))
    return minor * scaled * unit


def quantity_of(text: str) -> Fraction:
    """The quantity of a text: a whole number, a decimal or a fraction."""
    if "/" in text:
        numerator, _, denominator = text.partition("/")
        return Fraction(int(numerator), int(denominator))
    integer, point, fraction = text.partition(".")
    return Fraction(int(integer + fraction), 10 ** len(fraction)) if point else Fraction(int(integer))


def quantity_text(quantity: Fraction) -> str:
    """The text of a quantity: a decimal where it is one of at most 12 places, else `100/3`."""
    denominator = quantity.denominator
    if denominator == 1:
        return _UNWRITTEN.get(quantity.numerator) or str(quantity.numerator)
    if 10**12 % denominator:
        return f"{quantity.numerator}/{denominator}"
    digits = str(abs(quantity.numerator) * (10**12 // denominator)).rjust(13, "0")
    sign = "-" if quantity < 0 else ""
    return f"{sign}{digits[:-12]}.{digits[-12:].rstrip('0')}"


def minor_of(cost: int, currency: str) -> int:
    """A cost in minor units, rounded half up (away from zero) after its noise beyond 12 places is gone."""
    return half_up(half_up(cost, _NOISE), 10 ** (12 - exponent(currency)))


def part(cost: int, quantity: int, total: int) -> int:
    """What `quantity` of a `total` above 0 costs, rounded down; all of it costs all."""
    return cost * quantity // total
