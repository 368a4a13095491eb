"""Prices in pence and other hundredths become prices in the currency itself. Pure."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from gatewayd.money import CURRENCIES, canonical

HUNDREDTHS: Final[Mapping[str, str]] = {"GBX": "GBP", "GBp": "GBP", "ZAC": "ZAR", "ILA": "ILS"}
"""What exchanges quote in hundredths of a currency: London, Johannesburg, Tel Aviv."""


class Quote(NamedTuple):
    """A price in major units of a currency of ISO 4217."""

    price: str
    currency: str


def quote(price: str, currency: str) -> Quote | None:
    """What a decimal in a currency comes to; None: there is no such currency."""
    major = HUNDREDTHS.get(currency)
    if major is not None:
        return Quote(canonical(f"{Decimal(price).scaleb(-2):f}"), major)
    return Quote(canonical(price), currency) if currency in CURRENCIES else None
