"""Amounts of a request, in the tenancy's currency. Pure."""

from typing import Final

from gatewayd.errors import invalid_field
from gatewayd.money import Money, exponent

_MOST_DIGITS: Final = 9  # Chosen: whole ones, so that what a century of weeks comes to is an amount as well


def amount_of(path: str, text: str, currency: str) -> Money:
    """The amount of a field, 0 or more.

    Raises `Problem` `validation_failed` where the currency has no such amount, or it is not one of a let.
    """
    try:
        amount = Money.of(text, currency)
    except ValueError as error:
        raise invalid_field(path, "invalid_decimal", f"{error}.") from None
    if amount.minor < 0:
        raise invalid_field(path, "out_of_range", "The amount is below zero.")
    if amount.minor >= 10 ** (_MOST_DIGITS + exponent(currency)):
        raise invalid_field(path, "out_of_range", f"The amount has more than {_MOST_DIGITS} digits before the point.")
    return amount
