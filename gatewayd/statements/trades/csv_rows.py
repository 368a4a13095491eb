"""One row of a broker's CSV as one transaction, by its mapping."""

import re
from collections.abc import Sequence
from decimal import Decimal

from msgspec import structs

from gatewayd.money import canonical
from gatewayd.statements.amounts import parse_decimal
from gatewayd.statements.csv_headings import folded
from gatewayd.statements.dates import is_date, parse_date
from gatewayd.statements.shapes import Column, Instrument, Trade, TradeType
from gatewayd.statements.text import cleaned
from gatewayd.statements.trades.csv_money import CASH_IN, Worth, major, minor_of, money_of
from gatewayd.statements.trades.csv_plan import Plan, place_of
from gatewayd.statements.trades.words import Details, details_of, takes_back, type_of

_NOTHING = frozenset({"", "-", "n/a", "na", "none", "null", "not available"})
_TIME = re.compile(r"[T\s]\s*([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_OWN_ID = re.compile(r".*[0-9].*")  # `INTEREST` and `FPC` stand in a column of references too
_OF_INSTRUMENT: frozenset[TradeType] = frozenset(
    {"buy", "sell", "dividend", "distribution", "return_of_capital", "stock_dividend", "transfer_in", "transfer_out"}
)
_OF_QUANTITY: frozenset[TradeType] = frozenset({"buy", "sell", "stock_dividend", "transfer_in", "transfer_out"})
_SIGNED_PROFILES = frozenset({"hargreaves_lansdown", "vanguard", "ibkr_history"})  # what goes out has a minus, always
_CURRENCY_OF_COST = {"dividend withheld tax amount": "instrument currency"}  # elsewhere `Currency (...)`
_DECIMALS = Decimal("1e-12")
_COLUMNS = (
    *("date", "value_date", "type", "direction", "isin", "sedol", "symbol", "instrument", "quantity", "price"),
    *("price_currency", "amount", "paid_in", "paid_out", "currency", "transaction_id", "exchange_rate", "ex_date"),
    *("original_amount", "original_currency"),
)


class RowReader:
    """Makes transactions of rows."""

    def __init__(self, plan: Plan) -> None:
        self._mapping = plan.mapping
        self._currency = plan.currency
        self._headings = plan.headings
        self._by_heading = {folded(heading): at for at, heading in reversed(list(enumerate(plan.headings)))}
        self._places = {name: self._place(getattr(plan.mapping, name)) for name in _COLUMNS}
        self._description = [self._place(column) for column in plan.mapping.description]
        self._fees = [self._cost(column) for column in plan.mapping.fees]
        self._taxes = [self._cost(column) for column in plan.mapping.taxes]

    def _place(self, column: Column | None) -> int | None:
        return place_of(column, self._headings)

    def _cost(self, column: Column) -> tuple[int, int | None]:
        """Where a fee or tax stands, and its currency."""
        at = self._place(column)
        assert at is not None
        heading = folded(self._headings[at]) if at < len(self._headings) else ""
        return at, self._by_heading.get(_CURRENCY_OF_COST.get(heading, f"currency ({heading})"))

    def is_no_transaction(self, cells: Sequence[str]) -> bool:
        """True for blank rows, headings that are repeated, balances and totals: they have no date, or no more."""
        filled = [cell for cell in cells if cell.strip()]
        return len(filled) < 2 or not is_date(self._cell(cells, "date")) or self._is_balance(cells)

    def _is_balance(self, cells: Sequence[str]) -> bool:
        text = self._text(cells).casefold().strip("* ")
        return text.startswith("balance ") or text in ("monthly_statement", "tax_certificate")

    def word(self, cells: Sequence[str]) -> str:
        """What the row calls its type, as the broker writes it."""
        return self._cell(cells, "type")

    def split_half(self, cells: Sequence[str]) -> tuple[Instrument | None, str, Decimal]:
        """Instrument, date and quantity of a row that is one half of a split. Raises `ValueError`."""
        quantity = self._number(cells, "quantity")
        if not quantity:
            raise ValueError("it has no quantity")
        return self._instrument(cells, Details()), self._date(cells), quantity

    def trade(self, at: int, cells: Sequence[str]) -> Trade:
        """The transaction of a row. Raises `ValueError` with a sentence."""
        text = self._text(cells)
        if takes_back(text):
            raise ValueError(f"it takes back an earlier row ({text[:60]}): reverse that transaction")
        details = details_of(cleaned(self._cell_of(cells, self._description[-1]) if self._description else ""))
        quantity = self._number(cells, "quantity")
        if quantity is None and details.quantity is not None:
            quantity = parse_decimal(details.quantity)
        instrument = self._instrument(cells, details)
        type_ = self._type(cells, details, instrument if quantity else None)
        worth = self._worth(cells, type_, quantity)
        type_ = _by_sign(type_, worth)
        if type_ in _OF_INSTRUMENT and instrument is None:
            raise ValueError("it names no share or fund")
        if type_ in _OF_QUANTITY and not quantity:
            raise ValueError("it has no quantity")
        if type_ == "stock_dividend":
            worth = worth._replace(cash=0, fees=0, taxes=0)
        money = money_of(type_, worth)
        rate, rate_currency = self._rate(cells, worth.currency)
        number = self._cell(cells, "transaction_id")
        keeps_price = type_ in _OF_INSTRUMENT and money.price is not None
        return Trade(
            line=at,
            type=type_,
            date=self._date(cells),
            time=_time_in(self._cell(cells, "date")),
            settlement_date=self._other_date(cells, "value_date"),
            ex_date=self._other_date(cells, "ex_date") if type_ in ("dividend", "distribution") else None,
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

    def _type(self, cells: Sequence[str], details: Details, traded: Instrument | None) -> TradeType:
        word = self._cell(cells, "type")
        if word == "FREESHARE_ORDER":
            return "stock_dividend"  # Chosen: acquired for nothing, as no money moved
        side = self._cell(cells, "direction")
        found = type_of(side) if side else None
        if found is None and word:
            found = type_of(word)
        if found is None and traded is not None and self._places["type"] is None and details.type is None:
            found = "buy" if self._cash(cells)[0] < 0 else "sell"
        found = found or details.type
        if traded is not None and self._is_ledger_trade(cells, found):
            found = "buy" if self._cash(cells)[0] < 0 else "sell"
        if found is None:
            name = word or self._text(cells)
            raise ValueError(f"it is not known what {name[:60]!r} is" if name else "it does not say what it is")
        return found

    def _is_ledger_trade(self, cells: Sequence[str], found: TradeType | None) -> bool:
        """Whether a row without a type is a trade by what else it has: a fund may have `Dividend` in its name."""
        told = self._places["type"] is None and self._places["quantity"] is not None
        return told and found not in ("buy", "sell") and self._number(cells, "price") is not None

    def _instrument(self, cells: Sequence[str], details: Details) -> Instrument | None:
        name = cleaned(self._cell(cells, "instrument")) or details.name
        found = Instrument(
            isin=self._cell(cells, "isin").upper() or details.isin,
            sedol=self._cell(cells, "sedol").upper() or None,
            symbol=self._cell(cells, "symbol").upper() or details.symbol,
            name=name[:200] if name else None,
        )
        return None if found == Instrument() else found

    # -- what it is worth

    def _worth(self, cells: Sequence[str], type_: TradeType, quantity: Decimal | None) -> Worth:
        cash, is_signed = self._cash(cells) if self._has_cash(cells) else (None, False)
        price, price_currency = self._price(cells)
        named = self._cell(cells, "currency")
        currency, per_major = major(named) if named else (self._currency, 1)
        cash = None if cash is None else cash / per_major
        if price is not None and price_currency is None and not self._is_pence(cells):
            price /= per_major
        if cash is None and price_currency is not None:
            currency = price_currency
        if currency is None:
            raise ValueError("it names no currency")
        per_unit = price if price_currency in (None, currency) else None
        foreign = self._foreign(cells, type_, cash, quantity)
        if type_ not in ("buy", "sell"):
            per_unit = None  # of a dividend, brokers write it before or after tax
        return Worth(
            currency=currency,
            cash=None if cash is None else minor_of(cash, currency),
            is_signed=is_signed,
            quantity=None if quantity is None else abs(quantity),
            price=per_unit,
            fees=self._costs(cells, self._fees, named or currency, foreign),
            taxes=self._costs(cells, self._taxes, named or currency, foreign),
        )

    def _has_cash(self, cells: Sequence[str]) -> bool:
        return any(self._cell(cells, name) for name in ("amount", "paid_in", "paid_out"))

    def _cash(self, cells: Sequence[str]) -> tuple[Decimal, bool]:
        """What moved, and whether its sign is certain."""
        if self._places["amount"] is None:
            inwards, out = self._number(cells, "paid_in"), self._number(cells, "paid_out")
            if inwards and out:
                raise ValueError("it was both paid in and paid out")
            return (inwards or Decimal(0)) - abs(out or Decimal(0)), True
        cash = self._number(cells, "amount") or Decimal(0)
        if self._mapping.negate:
            cash = -cash
        return cash, cash < 0 or self._mapping.profile in _SIGNED_PROFILES

    def _price(self, cells: Sequence[str]) -> tuple[Decimal | None, str | None]:
        """The price of a unit in the major unit of its currency; None for the latter: that of the cash."""
        text = self._cell(cells, "price")
        price = self._parsed(text.rstrip("pP ")) if text else None
        named = self._cell(cells, "price_currency")
        currency, per_major = major(named) if named else (None, 100 if self._is_pence(cells) else 1)
        return (None if price is None else abs(price) / per_major), currency

    def _is_pence(self, cells: Sequence[str]) -> bool:
        """Whether a price without a currency of its own is in pence."""
        return self._mapping.pence or self._cell(cells, "price").lower().endswith("p")

    def _foreign(
        self, cells: Sequence[str], type_: TradeType, cash: Decimal | None, quantity: Decimal | None
    ) -> Decimal | None:
        """What 1 of the currency of the price is in that of the cash; None: the row does not tell.

        A dividend tells it by what was paid in both: its price is after tax, as Trading 212 has it.
        """
        rate = self._number(cells, "exchange_rate")
        if rate and rate > 0:
            return 1 / rate
        if type_ not in CASH_IN or not cash:
            return None
        paid = self._number(cells, "original_amount")
        price, _ = self._price(cells)
        if paid is None and price is not None and quantity is not None:
            paid = price * quantity
        return abs(cash) / paid if paid else None

    def _costs(
        self, cells: Sequence[str], columns: Sequence[tuple[int, int | None]], named: str, foreign: Decimal | None
    ) -> int:
        """What some costs come to, in minor units of the currency of this name, in which are those that name none."""
        total = 0
        currency, _ = major(named)
        for at, currency_at in columns:
            text = self._cell_of(cells, at)
            amount = abs(self._parsed(text)) if text else Decimal(0)
            if amount:
                told, per_major = major(self._cell_of(cells, currency_at) or named)
                amount /= per_major
                if told != currency:
                    if foreign is None:
                        raise ValueError(f"a cost is in {told}, and nothing tells what that is in {currency}")
                    amount *= foreign * (100 if self._price_is_pence(cells) and told == "GBP" else 1)
            total += minor_of(amount, currency)
        return total

    def _price_is_pence(self, cells: Sequence[str]) -> bool:
        named = self._cell(cells, "price_currency")
        return bool(named) and major(named)[1] == 100

    def _rate(self, cells: Sequence[str], currency: str) -> tuple[str | None, str | None]:
        """What 1 of the currency of the cash is in that of the price, where the row tells."""
        rate = self._number(cells, "exchange_rate")
        named = self._cell(cells, "price_currency")
        if not rate or rate <= 0 or not named:
            return None, None
        told, per_major = major(named)
        if told == currency:
            return None, None
        return _plain((rate / per_major).quantize(_DECIMALS)), told

    # -- cells

    def _date(self, cells: Sequence[str]) -> str:
        return parse_date(self._cell(cells, "date"), self._mapping.date_format or "")

    def _other_date(self, cells: Sequence[str], name: str) -> str | None:
        text = self._cell(cells, name)
        return parse_date(text, self._mapping.date_format or "") if is_date(text) else None

    def _text(self, cells: Sequence[str]) -> str:
        """The description, for people."""
        texts = (self._cell_of(cells, at) for at in self._description)
        return cleaned(" ".join(text for text in texts if text))[:500]

    def _number(self, cells: Sequence[str], name: str) -> Decimal | None:
        text = self._cell(cells, name)
        return self._parsed(text) if text else None

    def _parsed(self, text: str) -> Decimal:
        return parse_decimal(text, decimal_comma=self._mapping.decimal_comma)

    def _cell(self, cells: Sequence[str], name: str) -> str:
        return self._cell_of(cells, self._places[name])

    def _cell_of(self, cells: Sequence[str], at: int | None) -> str:
        text = cells[at].strip().strip("'") if at is not None and at < len(cells) else ""
        return "" if text.casefold() in _NOTHING else text


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


def _time_in(text: str) -> str | None:
    found = _TIME.search(text)
    return ":".join(part for part in found.groups() if part) if found else None


def _plain(number: Decimal) -> str:
    """The number as it is kept: at most 12 fraction digits."""
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -12:
        number = number.quantize(_DECIMALS)
    return canonical(f"{number:f}")
