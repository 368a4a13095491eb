"""One row of a broker's CSV as one transaction, by its mapping."""

import re
from collections.abc import Sequence
from decimal import Decimal

from msgspec import structs

from gatewayd.money import canonical
from gatewayd.statements.amounts import parse_decimal
from gatewayd.statements.shapes import Instrument, Trade, TradeType
from gatewayd.statements.text import cleaned
from gatewayd.statements.trades.columns import Columns, TradeRow
from gatewayd.statements.trades.csv_money import CASH_IN, Worth, major, minor_of, money_of
from gatewayd.statements.trades.csv_plan import Plan
from gatewayd.statements.trades.profiles import signs_of
from gatewayd.statements.trades.words import Details, details_of, name_of, symbol_of, takes_back, type_of

_OWN_ID = re.compile(r".*[0-9].*")  # `INTEREST` and `FPC` stand in a column of references too
_OF_INSTRUMENT: frozenset[TradeType] = frozenset(
    {"buy", "sell", "dividend", "distribution", "return_of_capital", "stock_dividend", "transfer_in", "transfer_out"}
)
_OF_QUANTITY: frozenset[TradeType] = frozenset({"buy", "sell", "stock_dividend", "transfer_in", "transfer_out"})
_DECIMALS = Decimal("1e-12")


class RowReader:
    """Makes transactions of rows."""

    def __init__(self, plan: Plan) -> None:
        self._columns = Columns(plan)
        self._currency = plan.currency

    def row(self, cells: Sequence[str]) -> TradeRow:
        """The cells by what they are."""
        return TradeRow(self._columns, cells)

    def split_half(self, row: TradeRow) -> tuple[Instrument, str, Decimal]:
        """Instrument, date and quantity of a row that is one half of a split. Raises `ValueError`."""
        quantity = row.number("quantity")
        if not quantity or quantity < 0:
            raise ValueError("it has no quantity")
        instrument = _instrument(row, Details())
        if instrument is None:
            raise ValueError("it names no share or fund")
        return instrument, row.date, quantity

    def trade(self, at: int, row: TradeRow) -> Trade:
        """The transaction of a row. Raises `ValueError` with a sentence."""
        text = row.description
        if takes_back(text):
            raise ValueError(f"it takes back an earlier row ({text[:60]}): reverse that transaction")
        if row.is_contract:
            raise ValueError("it is of a contract for difference, which is not kept")
        details = details_of(row.detail)
        quantity = row.number("quantity")
        if quantity is None and details.quantity is not None:
            quantity = parse_decimal(details.quantity)
        instrument = _instrument(row, details)
        type_ = _type(row, details, instrument if quantity else None)
        worth = _worth_of(row, type_, quantity, self._currency)
        type_ = _by_sign(type_, worth)
        if type_ in _OF_INSTRUMENT and instrument is None:
            raise ValueError("it names no share or fund")
        if type_ in _OF_QUANTITY and not quantity:
            raise ValueError("it has no quantity")
        if type_ == "stock_dividend":
            worth = worth._replace(cash=0, fees=0, taxes=0)
        money = money_of(type_, worth)
        rate, rate_currency = _rate_of(row, worth.currency)
        number = row.cell("transaction_id")
        keeps_price = type_ in _OF_INSTRUMENT and money.price is not None
        return Trade(
            line=at,
            type=type_,
            date=row.date,
            time=row.time,
            settlement_date=row.other_date("value_date"),
            ex_date=row.other_date("ex_date") if type_ in ("dividend", "distribution") else None,
            currency=worth.currency,
            description=text,
            instrument=_named(instrument, type_),
            quantity=_plain(abs(quantity)) if quantity and type_ in _OF_INSTRUMENT else None,
            unit_price=_plain(money.price) if keeps_price and money.price is not None else None,
            gross=money.gross,
            fees=money.fees,
            taxes=money.taxes,
            fx_rate=rate,
            fx_currency=rate_currency,
            record_id=number if _OWN_ID.fullmatch(number) else None,
        )


# -- what it is


def _type(row: TradeRow, details: Details, traded: Instrument | None) -> TradeType:
    """What the mapping says, else what the broker's words mean. Raises `ValueError`."""
    if row.meaning is not None and row.meaning != "excluded":
        return row.meaning
    word = row.cell("type")
    if word == "FREESHARE_ORDER":
        return "stock_dividend"  # Chosen: acquired for nothing, as no money moved
    side = row.cell("direction")
    trade_type = type_of(side) if side else None
    if trade_type is None and word:
        trade_type = type_of(word)
    if trade_type is None and traded is not None and not row.has("type") and details.type is None:
        trade_type = _side(row)
    trade_type = trade_type or details.type
    if traded is not None and _is_ledger_trade(row, trade_type):
        trade_type = _side(row)
    if trade_type is None:
        name = word or row.description
        if not name:
            raise ValueError("it does not say what it is")
        raise ValueError(f"it is not known what {name[:60]!r} is: the words of a mapping may say it")
    return trade_type


def _side(row: TradeRow) -> TradeType:
    """Whether units were bought or sold, by the way their money went. Raises `ValueError` where none did."""
    cash, _ = _cash_of(row)
    if not cash:
        raise ValueError("it does not say whether it was bought or sold, and no money shows it")
    return "buy" if cash < 0 else "sell"


def _is_ledger_trade(row: TradeRow, trade_type: TradeType | None) -> bool:
    """Whether a row without a type is a trade by what else it has: a fund may have `Dividend` in its name."""
    told = not row.has("type") and row.has("quantity")
    return told and trade_type not in ("buy", "sell") and row.number("price") is not None


def _instrument(row: TradeRow, details: Details) -> Instrument | None:
    told, isin = name_of(cleaned(row.cell("instrument")))
    name = told or details.name
    instrument = Instrument(
        isin=row.cell("isin").upper() or isin or details.isin,
        sedol=row.cell("sedol").upper() or None,
        symbol=symbol_of(row.cell("symbol").upper()) or details.symbol,
        name=name[:200] if name else None,
    )
    return None if instrument == Instrument() else instrument


def _named(instrument: Instrument | None, type_: TradeType) -> Instrument | None:
    """The instrument that a row is about. Trades tell its name; in other rows that text may be something else."""
    if instrument is None or type_ in _OF_QUANTITY:
        return instrument
    bare = structs.replace(instrument, name=None)
    if bare != Instrument() and type_ in (*_OF_INSTRUMENT, "tax", "interest"):
        return bare
    return instrument if type_ in _OF_INSTRUMENT else None


def _by_sign(type_: TradeType, worth: Worth) -> TradeType:
    """Money that goes the other way: a deposit that goes out is a withdrawal, and interest that does was charged."""
    if worth.cash is None or not worth.is_signed or worth.cash == 0:
        return type_
    if type_ == "deposit" and worth.cash < 0:
        return "withdrawal"
    if type_ == "withdrawal" and worth.cash > 0:
        return "deposit"
    return "fee" if type_ == "interest" and worth.cash < 0 else type_


# -- what it says of money


def _worth_of(row: TradeRow, type_: TradeType, quantity: Decimal | None, currency: str | None) -> Worth:
    """What the row says of its worth; `currency` is that of rows without one. Raises `ValueError`."""
    cash, is_signed = _cash_of(row) if _has_cash(row) else (None, False)
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


def _cash_of(row: TradeRow) -> tuple[Decimal, bool]:
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


def _rate_of(row: TradeRow, currency: str) -> tuple[str | None, str | None]:
    """What 1 of the currency of the cash is in that of the price, where the row tells. Raises `ValueError`."""
    rate = row.number("exchange_rate")
    named = row.cell("price_currency")
    if not rate or rate <= 0 or not named:
        return None, None
    told, per_major = major(named)
    if told == currency:
        return None, None
    return _plain((rate / per_major).quantize(_DECIMALS)), told


def _plain(number: Decimal) -> str:
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
