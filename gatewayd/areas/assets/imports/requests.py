"""A row of a broker's file as the transaction that would be entered by hand. Pure."""

import datetime
from typing import Final

from gatewayd.areas.assets.books.instruments import Ratio
from gatewayd.areas.assets.instruments.shapes import InlineInstrument
from gatewayd.areas.assets.transactions.shapes import CreateTransaction
from gatewayd.money import from_minor
from gatewayd.statements.shapes import Instrument, Trade, TradeType

ACQUIRING: Final[frozenset[TradeType]] = frozenset({"buy", "transfer_in", "stock_dividend"})
DISPOSING: Final[frozenset[TradeType]] = frozenset({"sell", "transfer_out"})
_CASH: Final[dict[TradeType, int]] = {
    "buy": -1,
    "sell": 1,
    "deposit": 1,
    "withdrawal": -1,
    "dividend": 1,
    "distribution": 1,
    "return_of_capital": 1,
    "interest": 1,
    "fee": -1,
    "tax": -1,
}


def request_of(trade: Trade, account_id: str, base_currency: str) -> CreateTransaction:
    """The request that enters a row. The file's rate counts where it is the one to the portfolio's currency."""
    has_money = trade.gross is not None or trade.fees > 0 or trade.taxes > 0
    is_foreign = has_money and trade.currency != base_currency
    return CreateTransaction(
        account_id=account_id,
        type=trade.type,
        trade_date=datetime.date.fromisoformat(trade.date),
        instrument=None if trade.instrument is None else inline(trade.instrument),
        quantity=trade.quantity,
        unit_price=trade.unit_price,
        gross_amount=None if trade.gross is None else from_minor(trade.gross, trade.currency),
        fees=_amount_text(trade.fees, trade.currency),
        taxes=_amount_text(trade.taxes, trade.currency),
        currency=trade.currency if has_money else None,
        fx_rate=trade.fx_rate if is_foreign and trade.fx_currency == base_currency else None,
        settlement_date=_date_of(trade.settlement_date),
        ex_date=_date_of(trade.ex_date),
        trade_time=trade.time,
        split_ratio=None if trade.split is None else Ratio(numerator=trade.split[0], denominator=trade.split[1]),
        notes=trade.description or None,
    )


def inline(instrument: Instrument) -> InlineInstrument:
    """The instrument by what the file calls it."""
    return InlineInstrument(
        isin=instrument.isin,
        sedol=instrument.sedol,
        figi=instrument.figi,
        cusip=instrument.cusip,
        symbol=instrument.symbol,
        name=instrument.name,
    )


def net_of(trade: Trade) -> int:
    """The effect on cash, in minor units of the trade's currency."""
    return _CASH.get(trade.type, 0) * (trade.gross or 0) - trade.fees - trade.taxes


def rank_of(trade: Trade) -> int:
    """Its place within a day, so that nothing is sold before it was bought."""
    if trade.type == "split":
        return 0
    return 1 if trade.type in ACQUIRING else 2


def _amount_text(minor: int, currency: str) -> str | None:
    return from_minor(minor, currency) if minor else None


def _date_of(text: str | None) -> datetime.date | None:
    return None if text is None else datetime.date.fromisoformat(text)
