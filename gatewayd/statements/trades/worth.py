"""What a row of a broker's CSV says of money: what moved, its price, its costs and its rate of exchange."""

from collections.abc import Sequence
from decimal import Decimal

from gatewayd.money import canonical
from gatewayd.statements.shapes import TradeType
from gatewayd.statements.trades.columns import TradeRow
from gatewayd.statements.trades.csv_money import CASH_IN, Worth, major, minor_of
from gatewayd.statements.trades.profiles import signs_of

_DECIMALS = Decimal("1e-12")


def worth_of(row: TradeRow, type_: TradeType, quantity: Decimal | None, currency: str | None) -> Worth:
    """What the row says of its worth; `currency` is that of rows without one. Raises `ValueError`."""
    cash, is_signed = cash_of(row) if _has_cash(row) else (None, False)
    price, price_currency = _price(row)
    named = row.cell("currency")
    told, per_major = major(named) if named else (currency, 1)
    cash = None if cash is None else cash / per_major
    if price is not None and price_currency is None and not _is_pence(row):
        price /= per_major
    if cash is None and price_currency is not None:
        told = price_currency
    if told is None:
        raise ValueError("it names no currency")
    per_unit = price if price_currency in (None, told) else None
    foreign = _foreign(row, type_, cash, quantity)
    if type_ not in ("buy", "sell"):
        per_unit = None  # of a dividend, brokers write it before or after tax
    return Worth(
        currency=told,
        cash=None if cash is None else minor_of(cash, told),
        is_signed=is_signed,
        quantity=None if quantity is None else abs(quantity),
        price=per_unit,
        fees=_costs(row, row.columns.fees, named or told, foreign),
        taxes=_costs(row, row.columns.taxes, named or told, foreign),
    )


def cash_of(row: TradeRow) -> tuple[Decimal, bool]:
    """What moved, and whether its sign is certain. Raises `ValueError`."""
    if not row.has("amount"):
        inwards, out = row.number("paid_in"), row.number("paid_out")
        if inwards and out:
            raise ValueError("it was both paid in and paid out")
        return (inwards or Decimal(0)) - abs(out or Decimal(0)), True
    cash = row.number("amount") or Decimal(0)
    signs = signs_of(row.columns.mapping.profile)
    if signs == "none":
        return abs(cash), False
    if row.columns.mapping.negate:
        cash = -cash
    return cash, cash < 0 or signs == "sure"


def rate_of(row: TradeRow, currency: str) -> tuple[str | None, str | None]:
    """What 1 of the currency of the cash is in that of the price, where the row tells. Raises `ValueError`."""
    rate = row.number("exchange_rate")
    named = row.cell("price_currency")
    if not rate or rate <= 0 or not named:
        return None, None
    told, per_major = major(named)
    if told == currency:
        return None, None
    return plain((rate / per_major).quantize(_DECIMALS)), told


def plain(number: Decimal) -> str:
    """The number as it is kept: at most 12 fraction digits."""
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -12:
        number = number.quantize(_DECIMALS)
    return canonical(f"{number:f}")


def _has_cash(row: TradeRow) -> bool:
    return any(row.cell(name) for name in ("amount", "paid_in", "paid_out"))


def _price(row: TradeRow) -> tuple[Decimal | None, str | None]:
    """The price of a unit in the major unit of its currency; None for the latter: that of the cash."""
    text = row.cell("price")
    price = row.parsed(text.rstrip("pP ")) if text else None
    named = row.cell("price_currency")
    currency, per_major = major(named) if named else (None, 100 if _is_pence(row) else 1)
    return (None if price is None else abs(price) / per_major), currency


def _is_pence(row: TradeRow) -> bool:
    """Whether a price without a currency of its own is in pence."""
    return row.columns.mapping.pence or row.cell("price").lower().endswith("p")


def _foreign(row: TradeRow, type_: TradeType, cash: Decimal | None, quantity: Decimal | None) -> Decimal | None:
    """What 1 of the currency of the price is in that of the cash; None: the row does not tell.

    A dividend tells it by what was paid in both: its price is after tax, as Trading 212 has it.
    """
    rate = row.number("exchange_rate")
    if rate and rate > 0:
        return 1 / rate
    if type_ not in CASH_IN or not cash:
        return None
    paid = row.number("original_amount")
    price, _ = _price(row)
    if paid is None and price is not None and quantity is not None:
        paid = price * quantity
    return abs(cash) / paid if paid else None


def _costs(row: TradeRow, columns: Sequence[tuple[int, int | None]], named: str, foreign: Decimal | None) -> int:
    """What some costs come to, in minor units of the currency of this name, in which are those that name none."""
    total = 0
    currency, _ = major(named)
    for at, currency_at in columns:
        text = row.cell_at(at)
        amount = abs(row.parsed(text)) if text else Decimal(0)
        if amount:
            told, per_major = major(row.cell_at(currency_at) or named)
            amount /= per_major
            if told != currency:
                if foreign is None:
                    raise ValueError(f"a cost is in {told}, and nothing tells what that is in {currency}")
                amount *= foreign * (100 if _price_is_pence(row) and told == "GBP" else 1)
        total += minor_of(amount, currency)
    return total


def _price_is_pence(row: TradeRow) -> bool:
    named = row.cell("price_currency")
    return bool(named) and major(named)[1] == 100
