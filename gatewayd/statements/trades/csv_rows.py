"""One row of a broker's CSV as one transaction, by its mapping."""

import re
from collections.abc import Sequence
from decimal import Decimal

from msgspec import structs

from gatewayd.statements.amounts import parse_decimal
from gatewayd.statements.shapes import Instrument, Trade, TradeType
from gatewayd.statements.text import cleaned
from gatewayd.statements.trades.columns import Columns, TradeRow
from gatewayd.statements.trades.csv_money import Worth, money_of
from gatewayd.statements.trades.csv_plan import Plan
from gatewayd.statements.trades.words import Details, details_of, name_of, symbol_of, takes_back, type_of
from gatewayd.statements.trades.worth import cash_of, plain, rate_of, worth_of

_OWN_ID = re.compile(r".*[0-9].*")  # `INTEREST` and `FPC` stand in a column of references too
_OF_INSTRUMENT: frozenset[TradeType] = frozenset(
    {"buy", "sell", "dividend", "distribution", "return_of_capital", "stock_dividend", "transfer_in", "transfer_out"}
)
_OF_QUANTITY: frozenset[TradeType] = frozenset({"buy", "sell", "stock_dividend", "transfer_in", "transfer_out"})


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
        worth = worth_of(row, type_, quantity, self._currency)
        type_ = _by_sign(type_, worth)
        if type_ in _OF_INSTRUMENT and instrument is None:
            raise ValueError("it names no share or fund")
        if type_ in _OF_QUANTITY and not quantity:
            raise ValueError("it has no quantity")
        if type_ == "stock_dividend":
            worth = worth._replace(cash=0, fees=0, taxes=0)
        money = money_of(type_, worth)
        rate, rate_currency = rate_of(row, worth.currency)
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
            quantity=plain(abs(quantity)) if quantity and type_ in _OF_INSTRUMENT else None,
            unit_price=plain(money.price) if keeps_price and money.price is not None else None,
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
    found = type_of(side) if side else None
    if found is None and word:
        found = type_of(word)
    if found is None and traded is not None and not row.has("type") and details.type is None:
        found = _side(row)
    found = found or details.type
    if traded is not None and _is_ledger_trade(row, found):
        found = _side(row)
    if found is None:
        name = word or row.description
        if not name:
            raise ValueError("it does not say what it is")
        raise ValueError(f"it is not known what {name[:60]!r} is: the words of a mapping may say it")
    return found


def _side(row: TradeRow) -> TradeType:
    """Whether units were bought or sold, by the way their money went. Raises `ValueError` where none did."""
    cash, _ = cash_of(row)
    if not cash:
        raise ValueError("it does not say whether it was bought or sold, and no money shows it")
    return "buy" if cash < 0 else "sell"


def _is_ledger_trade(row: TradeRow, found: TradeType | None) -> bool:
    """Whether a row without a type is a trade by what else it has: a fund may have `Dividend` in its name."""
    told = not row.has("type") and row.has("quantity")
    return told and found not in ("buy", "sell") and row.number("price") is not None


def _instrument(row: TradeRow, details: Details) -> Instrument | None:
    told, isin = name_of(cleaned(row.cell("instrument")))
    name = told or details.name
    found = Instrument(
        isin=row.cell("isin").upper() or isin or details.isin,
        sedol=row.cell("sedol").upper() or None,
        symbol=symbol_of(row.cell("symbol").upper()) or details.symbol,
        name=name[:200] if name else None,
    )
    return None if found == Instrument() else found


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
