"""What a row of a Flex query of Interactive Brokers is: a trade, cash, a split or a transfer (Domain E).

Attributes are read by their names alone, whichever a query was made with: Interactive Brokers adds some every year.
Chosen: dates with slashes are refused, as nothing in the file says which is the day and which the month.
"""

import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import NamedTuple
from xml.etree.ElementTree import Element

from gatewayd.money import canonical
from gatewayd.statements.amounts import parse_decimal
from gatewayd.statements.dates import parse_iso_date
from gatewayd.statements.shapes import Ignored, Instrument, Refused, Trade, TradeType
from gatewayd.statements.text import cleaned
from gatewayd.statements.trades.csv_money import major, minor_of
from gatewayd.statements.trades.reasons import reason_of

REPEATED = frozenset({"SUMMARY", "ORDER", "CLOSED_LOT", "SYMBOL_SUMMARY", "ASSET_SUMMARY"})
_SUMMARIES = frozenset({"Order", "Lot", "SymbolSummary", "AssetSummary"})
_HELD = frozenset({"STK", "FUND", "BOND", ""})  # an empty category: a query that does not show it
_CASH: Mapping[str, tuple[TradeType, TradeType]] = {  # what comes in, what goes out
    "dividends": ("dividend", "dividend"),
    "payment in lieu of dividends": ("dividend", "dividend"),
    "withholding tax": ("tax", "tax"),
    "871(m) withholding": ("tax", "tax"),
    "broker interest received": ("interest", "fee"),
    "broker interest paid": ("interest", "fee"),
    "bond interest received": ("interest", "fee"),
    "bond interest paid": ("interest", "fee"),
    "deposits/withdrawals": ("deposit", "withdrawal"),
    "deposits & withdrawals": ("deposit", "withdrawal"),
    "deposits": ("deposit", "withdrawal"),
    "withdrawals": ("deposit", "withdrawal"),
    "other fees": ("fee", "fee"),
    "broker fees": ("fee", "fee"),
    "commission adjustments": ("fee", "fee"),
    "other income": ("deposit", "withdrawal"),
}
_TELLING: Mapping[str, tuple[str, ...]] = {
    "Trade": ("buySell",),
    "CashTransaction": ("type",),
    "Transfer": ("type", "direction", "account"),
}
"""What tells people what an element is, before its description."""
_SPLIT = re.compile(r".*\bSPLIT\s+(?P<new>[0-9]{1,9})\s+FOR\s+(?P<old>[0-9]{1,9})\b.*", re.IGNORECASE | re.DOTALL)
_DAY = re.compile(r"(?P<year>[0-9]{4})-?(?P<month>[0-9]{2})-?(?P<day>[0-9]{2})(?![0-9])")
_TIME = re.compile(r"[;, T](?P<hour>[01][0-9]|2[0-3]):?(?P<minute>[0-5][0-9]):?(?P<second>[0-5][0-9])")
_ONE = re.compile(r"1(\.0+)?")


class ReportCurrency(NamedTuple):
    """The base currency of the account, to which the rates of the file are.

    `is_told`: the file says so. Else it is that of the account here, which serves for what names no currency, and the
    rates are left out.
    """

    currency: str
    is_told: bool


def base_of(named: str, ones: AbstractSet[str], ours: str) -> ReportCurrency:
    """The base currency: as the file names it, else that of rows whose rate is 1.

    `ones` are the currencies of rows with that rate (`is_one`), `ours` is the currency of the account here.
    """
    if named:
        return ReportCurrency(named, True)
    return ReportCurrency(next(iter(ones)), True) if len(ones) == 1 else ReportCurrency(ours, False)


def is_one(rate: str) -> bool:
    """Whether a rate is that of the base currency to itself."""
    return _ONE.fullmatch(rate.strip()) is not None


def told(read: "Read | None", element: Element, ordinal: int, base: ReportCurrency) -> Trade | Refused | Ignored:
    """What a row is: a summary is the same money once more, and what nothing reads is of another list."""
    if element.tag in _SUMMARIES or element.get("levelOfDetail", "").upper() in REPEATED:
        return Ignored(line=ordinal, kind="total")
    if read is None:
        return Ignored(line=ordinal, kind="list")
    try:
        return read(element, ordinal, base)
    except (ValueError, ArithmeticError) as error:
        return Refused(line=ordinal, reason=reason_of(error))


def _trade(element: Element, ordinal: int, base: ReportCurrency) -> Trade:
    category = element.get("assetCategory", "")
    if category == "CASH":
        raise ValueError("it exchanges currencies, which is not kept: enter a withdrawal and a deposit")
    if category not in _HELD:
        raise ValueError(f"it is of the category {category!r}, which is not kept")
    quantity = _number(element, "quantity")
    if not quantity:
        raise ValueError("it has no quantity")
    side = element.get("buySell", "").upper()
    if "(CA" in side or side not in ("", "BUY", "SELL"):
        raise ValueError(f"it takes back an earlier trade ({element.get('buySell')}): reverse that transaction")
    type_: TradeType = "sell" if side == "SELL" or (not side and quantity < 0) else "buy"
    currency = major(element.get("currency", ""))[0]
    price = _number(element, "tradePrice")
    proceeds = _number(element, "proceeds")
    if proceeds is None and price is not None:
        proceeds = price * quantity * (_number(element, "multiplier") or 1)
    if proceeds is None:
        raise ValueError("it has no price and no proceeds")
    if element.get("ibCommissionCurrency", currency) not in ("", currency):
        raise ValueError(f"its commission is in {element.get('ibCommissionCurrency')}, and it is in {currency}")
    gross = minor_of(abs(proceeds), currency)
    agrees = price is not None and minor_of(abs(price * quantity), currency) == gross
    return Trade(
        line=ordinal,
        type=type_,
        date=_day(element, "tradeDate", "dateTime", "reportDate"),
        time=_time(element, "dateTime"),
        settlement_date=_day_or_none(element, "settleDateTarget"),
        currency=currency,
        description=_description_text(element),
        instrument=_instrument(element),
        quantity=_plain(abs(quantity)),
        unit_price=_plain(abs(price)) if agrees and price is not None else None,
        gross=gross,
        fees=minor_of(abs(_number(element, "ibCommission") or Decimal(0)), currency),
        taxes=minor_of(abs(_number(element, "taxes") or Decimal(0)), currency),
        record_id=element.get("transactionID") or element.get("tradeID") or None,
        fx_rate=_rate(element, currency, base),
        fx_currency=base.currency or None,
    )


def _cash(element: Element, ordinal: int, base: ReportCurrency) -> Trade:
    kind = element.get("type", "")
    types = _CASH.get(kind.casefold())
    if types is None:
        raise ValueError(f"it is not known what {kind[:60]!r} is" if kind else "it does not say what it is")
    currency = major(element.get("currency", ""))[0]
    amount = _number(element, "amount")
    if amount is None:
        raise ValueError("it has no amount")
    type_ = types[0] if amount > 0 else types[1]
    outwards = type_ in ("tax", "fee", "withdrawal")
    if outwards == (amount > 0):
        raise ValueError(f"it takes back an earlier {type_}: reverse that transaction")
    instrument = _instrument(element)
    if type_ == "dividend" and instrument is None:
        raise ValueError("it names no share or fund")
    return Trade(
        line=ordinal,
        type=type_,
        date=_day(element, "settleDate", "dateTime", "reportDate"),
        ex_date=_day_or_none(element, "exDate") if type_ == "dividend" else None,
        currency=currency,
        description=_description_text(element),
        instrument=instrument if type_ in ("dividend", "tax", "interest", "fee") else None,
        gross=minor_of(abs(amount), currency),
        record_id=element.get("transactionID") or None,
        fx_rate=_rate(element, currency, base),
        fx_currency=base.currency or None,
    )


def _action(element: Element, ordinal: int, base: ReportCurrency) -> Trade:
    """A split; other actions are told of, for people to enter."""
    text = element.get("actionDescription") or element.get("description") or ""
    match = _SPLIT.fullmatch(text)
    if match is None or int(match["new"]) == 0 or int(match["old"]) == 0:
        raise ValueError(f"it is an action that has to be entered by hand ({cleaned(text)[:100]})")
    instrument = _instrument(element)
    if instrument is None:
        raise ValueError("it names no share or fund")
    return Trade(
        line=ordinal,
        type="split",
        date=_day(element, "dateTime", "reportDate"),
        currency=major(element.get("currency", "") or base.currency)[0],
        description=_description_text(element),
        instrument=instrument,
        split=(int(match["new"]), int(match["old"])),
        record_id=element.get("transactionID") or element.get("actionID") or None,
    )


def _transfer(element: Element, ordinal: int, base: ReportCurrency) -> Trade:
    """Cash or a holding that comes from another account, or goes to one.

    The elements are as in github.com/csingley/ibflex tests/test_types.py.

    Chosen: of a holding only what it was is told, for `positionAmount` is what it was worth on the day and not what it
    cost. To move what is one's own is no disposal (Domain C5.7), which only who knows the other account can say.
    """
    category = element.get("assetCategory", "")
    cash = _number(element, "cashTransfer")
    if category == "CASH" or (cash and not _number(element, "quantity")):
        return _moved_cash(element, ordinal, base, cash or Decimal(0))
    if category not in _HELD:
        raise ValueError(f"it is of the category {category!r}, which is not kept")
    quantity = _number(element, "quantity")
    if not quantity:
        raise ValueError("it has no quantity")
    direction = element.get("direction", "").upper() or ("IN" if quantity > 0 else "OUT")
    if direction not in ("IN", "OUT"):
        raise ValueError(f"it does not say which way it goes ({direction[:20]})")
    instrument = _instrument(element)
    if instrument is None:
        raise ValueError("it names no share or fund")
    return Trade(
        line=ordinal,
        type="transfer_in" if direction == "IN" else "transfer_out",
        date=_day(element, "date", "dateTime", "reportDate"),
        currency=major(element.get("currency", "") or base.currency)[0],
        description=_description_text(element),
        instrument=instrument,
        quantity=_plain(abs(quantity)),
        record_id=element.get("transactionID") or None,
    )


def _moved_cash(element: Element, ordinal: int, base: ReportCurrency, amount: Decimal) -> Trade:
    currency = major(element.get("currency", ""))[0]
    if not amount:
        raise ValueError("it has no amount")
    return Trade(
        line=ordinal,
        type="deposit" if amount > 0 else "withdrawal",
        date=_day(element, "date", "dateTime", "reportDate"),
        currency=currency,
        description=_description_text(element),
        gross=minor_of(abs(amount), currency),
        record_id=element.get("transactionID") or None,
        fx_rate=_rate(element, currency, base),
        fx_currency=base.currency or None,
    )


Read = Callable[[Element, int, ReportCurrency], Trade]
READERS: Mapping[str, Read] = {
    "Trade": _trade,
    "CashTransaction": _cash,
    "CorporateAction": _action,
    "Transfer": _transfer,
}


def _instrument(element: Element) -> Instrument | None:
    name = cleaned(element.get("description", ""))
    is_named = element.tag in ("Trade", "Transfer")
    instrument = Instrument(
        isin=element.get("isin") or None,
        sedol=element.get("sedol") or None,
        figi=element.get("figi") or None,
        cusip=element.get("cusip") or None,
        symbol=element.get("symbol") or None,
        name=name[:200] if name and is_named else None,  # elsewhere it tells what happened
    )
    return None if instrument == Instrument() else instrument


def _rate(element: Element, currency: str, base: ReportCurrency) -> str | None:
    """What 1 of the currency is in the base currency of the account; None: it is that, or nothing tells."""
    rate = _number(element, "fxRateToBase")
    is_other = rate is not None and rate > 0 and currency != base.currency
    return _plain(rate) if rate is not None and is_other and base.is_told else None


def _number(element: Element, name: str) -> Decimal | None:
    text = element.get(name, "").strip()
    return None if text in ("", "-", "--", "N/A") else parse_decimal(text)


def _day(element: Element, *names: str) -> str:
    """The first of these dates that is told. Raises `ValueError`."""
    for name in names:
        if (day := _day_or_none(element, name)) is not None:
            return day
    raise ValueError("it has no date")


def _day_or_none(element: Element, name: str) -> str | None:
    text = element.get(name, "").strip()
    if not text:
        return None
    match = _DAY.match(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} does not say which is the day: have the query write dates as yyyy-MM-dd")
    return parse_iso_date(f"{match['year']}-{match['month']}-{match['day']}", text)


def _time(element: Element, name: str) -> str | None:
    match = _TIME.search(element.get(name, ""))
    return f"{match['hour']}:{match['minute']}:{match['second']}" if match else None


def _description_text(element: Element) -> str:
    words = (element.get(name, "") for name in (*_TELLING.get(element.tag, ()), "description"))
    return cleaned(" ".join(word for word in words if word))[:500]


def _plain(number: Decimal) -> str:
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -12:
        number = number.quantize(Decimal("1e-12"))
    return canonical(f"{number:f}")
