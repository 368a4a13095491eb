"""What a row of a broker's CSV comes to: what moved in cash, and how much of that were fees and taxes."""

from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from gatewayd.money import CURRENCIES, exponent
from gatewayd.statements.shapes import TradeType

PENCE = frozenset({"GBX", "GBp", "GBPX", "GBPENCE", "PENCE"})
_COSTS_SHARE = Decimal("0.25")  # Chosen: what is more than this of a trade, and than `_COSTS_MAX`, are no costs
_COSTS_MAX = 60_00
CASH_OUT: frozenset[TradeType] = frozenset({"buy", "withdrawal", "fee", "tax"})
CASH_IN: frozenset[TradeType] = frozenset(
    {"sell", "deposit", "dividend", "distribution", "return_of_capital", "interest"}
)


class Worth(NamedTuple):
    """What a row says of its worth. `cash` has a sign where the file's direction is certain; minor units.

    `price` is per unit in the currency of the cash; None: not told, or in another currency.
    """

    currency: str
    cash: int | None
    is_signed: bool
    quantity: Decimal | None
    price: Decimal | None
    fees: int
    taxes: int


class Money(NamedTuple):
    """Gross amount, fees and taxes in minor units, and the price per unit where it agrees with the gross amount."""

    gross: int
    fees: int
    taxes: int
    price: Decimal | None


def minor_of(amount: Decimal, currency: str) -> int:
    """The amount in minor units, rounded half up."""
    return int(amount.scaleb(exponent(currency)).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def major(currency: str) -> tuple[str, int]:
    """The currency of which this is a name, and how many of what is counted are one of it: pence are 100 to a pound.

    Raises `ValueError` for what is no currency.
    """
    name = currency.strip()
    if name in PENCE or name.upper() in PENCE:
        return "GBP", 100
    if name.upper() not in CURRENCIES:
        raise ValueError(f"{name[:20]!r} is no currency")
    return name.upper(), 1


def money_of(type_: TradeType, worth: Worth) -> Money:
    """What the row comes to. Raises `ValueError` with a sentence.

    Cash is what moved, costs included: a purchase of 100.00 with 1.50 of fees cost 101.50. Where the file names no
    costs, what differs from quantity x price are fees; where it does and cash is quantity x price, cash is without.
    """
    _refuse_direction(type_, worth)
    expected = None
    if worth.price is not None and worth.quantity is not None:
        expected = minor_of(worth.price * worth.quantity, worth.currency)
    costs = worth.fees + worth.taxes
    sign = 1 if type_ in CASH_OUT else -1
    if worth.cash is None:
        if expected is None:
            raise ValueError("it has no amount")
        return Money(expected, worth.fees, worth.taxes, worth.price)
    cash = abs(worth.cash)
    if type_ in ("fee", "tax", "deposit", "withdrawal"):
        return Money(cash, 0, 0, None)
    gross = cash - sign * costs
    if expected is not None and costs and abs(cash - expected) < abs(gross - expected):
        gross = cash  # what the file calls its amount is without costs
    if gross < 0:
        raise ValueError("its fees and taxes are more than its amount")
    if costs or type_ not in ("buy", "sell") or expected is None:
        return Money(gross, worth.fees, worth.taxes, worth.price if expected == gross else None)
    return _with_costs_found(sign, cash, expected, worth.price)


def _with_costs_found(sign: int, cash: int, expected: int, price: Decimal | None) -> Money:
    """The money of a trade whose costs are known by what its cash differs from its price alone."""
    difference = sign * (cash - expected)
    if 0 <= difference <= max(_COSTS_MAX, int(expected * _COSTS_SHARE)):
        return Money(expected, difference, 0, price)
    return Money(cash, 0, 0, None)  # its price is rounded, or of another currency


def _refuse_direction(type_: TradeType, worth: Worth) -> None:
    """Raises `ValueError` for money that goes the other way than the type says: it takes back an earlier row."""
    if worth.cash is None or not worth.is_signed or worth.cash == 0:
        return
    wrong = (worth.cash > 0 and type_ in CASH_OUT) or (worth.cash < 0 and type_ in CASH_IN)
    if wrong:
        way = "comes in" if worth.cash > 0 else "goes out"
        raise ValueError(f"money {way}, and it is a {type_.replace('_', ' ')}: does it take back an earlier one?")
