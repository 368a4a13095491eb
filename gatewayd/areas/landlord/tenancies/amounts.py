"""Amounts of a request, in the tenancy's currency. Pure."""

from gatewayd.errors import invalid_field
from gatewayd.money import Money


def amount_of(path: str, text: str, currency: str) -> Money:
    """The amount of a field. Raises `Problem` `validation_failed` where the currency has no such one, or below 0."""
    try:
        amount = Money.of(text, currency)
    except ValueError as error:
        raise invalid_field(path, "invalid_decimal", f"{error}.") from None
    if amount.minor < 0:
        raise invalid_field(path, "out_of_range", "The amount is below zero.")
    return amount
