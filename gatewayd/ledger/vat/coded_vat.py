"""The VAT that a code says is in an amount, or is accounted for on it (Domain B5, C4). Pure; minor units, half up."""

from decimal import Decimal

from gatewayd.ledger.vat import vat_rates
from gatewayd.ledger.vat.vat_rates import AllocationVatCode
from gatewayd.money import half_up

_MOST_OFF = 10  # Chosen: of minor units; more is no matter of rounding


def within(code: AllocationVatCode, amount: int, date: str) -> int | None:
    """The VAT that stands in a gross amount at the rate of an ISO date; None where the code had no rate."""
    percent = vat_rates.rate_within(code, date)
    if percent is None:
        return None
    numerator, denominator = percent.as_integer_ratio()
    return half_up(amount * numerator, 100 * denominator + numerator)


def tolerance(vat: int) -> int:
    """How far what a bill prints may be off from the VAT of its total.

    What is printed binds, and each line that is rounded alone is off by half a penny at most (Domain C4). Chosen: a
    penny, and another for each pound of VAT, up to ten.
    """
    return min(_MOST_OFF, 1 + vat // 100) if vat else 0


def accounted(code: AllocationVatCode, value: int, date: str) -> int:
    """The VAT that a customer accounts for on a purchase of this value, at the rate of an ISO date."""
    percent = vat_rates.purchase_rate_on(code, date) or Decimal(0)
    numerator, denominator = percent.as_integer_ratio()
    return half_up(value * numerator, 100 * denominator)
