"""The money of a transaction: its gross amount, its effect on cash, and both in the base currency. Pure.

Everything is exact until it is rounded, once, to whole minor units.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from gatewayd.areas.assets.transactions.rules import TAKES
from gatewayd.areas.assets.transactions.shapes import CreateTransaction
from gatewayd.errors import FieldError, Problem
from gatewayd.ledger.exchange import exchange_rates
from gatewayd.ledger.exchange.exchange_rates import FxRateSource, Pair
from gatewayd.money import Money, canonical, exponent, half_up, to_minor

_TOLERANCE = Fraction(5, 1000)
_MAX_MAJOR = 10**13
"""Chosen: an amount has 13 whole digits on the wire, given or computed."""


class Rate(NamedTuple):
    """The currency of a transaction's amounts, and what 1 of it is in the portfolio's.

    `source` and `date` say where the rate is from; None: it is 1, or there is none.
    """

    currency: str
    base_currency: str
    fx_rate: str
    source: FxRateSource | None = None
    date: str | None = None


class Amounts(NamedTuple):
    """What a transaction comes to. `gross` None: it has no amount of its own, such as a split."""

    gross: Money | None
    fees: Money
    taxes: Money
    net: Money
    gross_base: Money | None
    remaining: Money | None


def rate_errors(request: CreateTransaction, rate: Rate) -> Iterator[FieldError]:
    """What is wrong with the rate that was given, or with there being none."""
    currency, base_currency = rate.currency, rate.base_currency
    if currency != base_currency and rate.source is None:
        what = f"The amounts are in {currency} and the portfolio is in {base_currency}"
        yield FieldError("fxRate", "required", exchange_rates.unknown(what, Pair(currency, base_currency)))
    if currency == base_currency and request.fx_rate is not None and canonical(request.fx_rate) != "1":
        message = f"The amounts and the portfolio are in {currency}: the rate is 1, or left out."
        yield FieldError("fxRate", "conflict", message)


def amount_errors(request: CreateTransaction, rate: Rate) -> Iterator[FieldError]:
    """Amounts that their currency does not have, or that are too large to keep."""
    texts = (
        ("grossAmount", request.gross_amount),
        ("fees", request.fees),
        ("taxes", request.taxes),
        ("remainingValue", request.remaining_value),
    )
    for path, text in texts:
        if text is not None:
            try:
                to_minor(text, rate.currency)
            except ValueError as error:
                yield FieldError(path, "invalid_decimal", f"{error}.")
    gross = _gross_amount(request, rate.currency)
    if gross is not None and gross >= _MAX_MAJOR:
        yield FieldError("grossAmount", "out_of_range", "It has more than 13 whole digits.")
    elif gross is not None and gross * Fraction(rate.fx_rate) >= _MAX_MAJOR:
        message = f"It has more than 13 whole digits in {rate.base_currency}."
        yield FieldError("fxRate", "out_of_range", message)


def refuse_mismatch(request: CreateTransaction, currency: str) -> None:
    """Raises `Problem` `amount_mismatch` where quantity x unitPrice is not the gross amount (Domain A3).

    Chosen: they may differ by a minor unit *or* by 0.5 % of the amount, whichever is more: prices are rounded, which is
    pennies on a small trade and pounds on a large one, while a pence price taken for pounds, a digit that is wrong or a
    fee in a small trade's amount is off by more than both.
    """
    if request.quantity is None or request.unit_price is None or request.gross_amount is None:
        return
    product = Fraction(request.quantity) * Fraction(request.unit_price)
    gross = Fraction(request.gross_amount)
    least = Fraction(1, 10 ** exponent(currency))
    if abs(product - gross) > max(least, _TOLERANCE * gross):
        units = half_up(*_in_minor(product, currency).as_integer_ratio())
        raise Problem(
            "amount_mismatch",
            f"quantity x unitPrice is {Money(units, currency)}, and grossAmount is {request.gross_amount}: give one of"
            " them, or make them agree.",
            extra={"computed": str(Money(units, currency))},
        )


def amounts(request: CreateTransaction, rate: Rate) -> Amounts:
    """What a request that is valid comes to. Half a minor unit is rounded up."""
    gross = _gross_amount(request, rate.currency)
    minor = 0 if gross is None else half_up(*_in_minor(gross, rate.currency).as_integer_ratio())
    fees, taxes = (Money.of(text or "0", rate.currency) for text in (request.fees, request.taxes))
    net = TAKES[request.type].cash * minor - fees.minor - taxes.minor
    rounded = None if gross is None else Money(minor, rate.currency)
    remaining = None if request.remaining_value is None else Money.of(request.remaining_value, rate.currency)
    return Amounts(rounded, fees, taxes, Money(net, rate.currency), in_base(rounded, rate), remaining)


def in_base(amount: Money | None, rate: Rate) -> Money | None:
    """An amount in the base currency, half a minor unit rounded up; None stays None."""
    if amount is None:
        return None
    exact = Fraction(amount.minor, 10 ** exponent(amount.currency)) * Fraction(rate.fx_rate)
    return Money(half_up(*_in_minor(exact, rate.base_currency).as_integer_ratio()), rate.base_currency)


def _gross_amount(request: CreateTransaction, currency: str) -> Fraction | None:
    """The amount as given, or the quantity at its price; in major units."""
    if request.gross_amount is not None:
        return Fraction(request.gross_amount)
    if request.quantity is None or request.unit_price is None:
        return None
    return Fraction(request.quantity) * Fraction(request.unit_price)


def _in_minor(amount: Fraction, currency: str) -> Fraction:
    return amount * Fraction(10) ** exponent(currency)
