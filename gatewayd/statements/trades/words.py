"""What brokers call their transactions, in a column of types or in a description (Domain B3)."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from gatewayd.money import CURRENCIES
from gatewayd.statements.shapes import TradeType

TYPES: Mapping[str, TradeType] = {
    # Trading 212
    "market buy": "buy",
    "limit buy": "buy",
    "stop buy": "buy",
    "stop limit buy": "buy",
    "market sell": "sell",
    "limit sell": "sell",
    "stop sell": "sell",
    "stop limit sell": "sell",
    "stock distribution": "stock_dividend",
    "interest on cash": "interest",
    "lending interest": "interest",
    "spending cashback": "deposit",
    "card credit": "deposit",
    "card debit": "withdrawal",
    "new card cost": "fee",
    # Freetrade
    "top_up": "deposit",
    "special_dividend": "dividend",
    "interest_from_cash": "interest",
    # Interactive Brokers' transaction history
    "payment in lieu": "dividend",
    "credit interest": "interest",
    "debit interest": "fee",
    "foreign tax withholding": "tax",
    "other fee": "fee",
    "sales tax": "tax",
    # Charles Schwab
    "reinvest shares": "buy",
    "cash dividend": "dividend",
    "qualified dividend": "dividend",
    "non-qualified div": "dividend",
    "special dividend": "dividend",
    "special qual div": "dividend",
    "special non qual div": "dividend",
    "pr yr cash div": "dividend",
    "reinvest dividend": "dividend",
    "qual div reinvest": "dividend",
    "pr yr div reinvest": "dividend",
    "long term cap gain": "distribution",
    "short term cap gain": "distribution",
    "long term cap gain reinvest": "distribution",
    "short term cap gain reinvest": "distribution",
    "bank interest": "interest",
    "bond interest": "interest",
    "margin interest": "fee",
    "nra tax adj": "tax",
    "nra withholding": "tax",
    "foreign tax paid": "tax",
    "service fee": "fee",
    "adr mgmt fee": "fee",
    "advisor fee": "fee",
    "moneylink transfer": "deposit",
    "moneylink deposit": "deposit",
    "internal transfer": "deposit",
    "funds received": "deposit",
    "wire received": "deposit",
    "wire funds received": "deposit",
    "wire sent": "withdrawal",
    "wire funds": "withdrawal",
    # eToro
    "open position": "buy",
    "position closed": "sell",
    "interest payment": "interest",
    "withdraw request": "withdrawal",
    "withdraw fee": "fee",
    "withdrawal conversion fee": "fee",
    "overnight fee": "fee",
    "rollover fee": "fee",
    "sdrt": "tax",
    # Hargreaves Lansdown's references
    "manage fee": "fee",
    "fpc": "deposit",
    "card web": "deposit",
    # anybody's
    "buy": "buy",
    "bought": "buy",
    "purchase": "buy",
    "reinvestment": "buy",
    "sell": "sell",
    "sold": "sell",
    "sale": "sell",
    "redemption": "sell",
    "dividend": "dividend",
    "dividends": "dividend",
    "div": "dividend",
    "distribution": "distribution",
    "return of capital": "return_of_capital",
    "interest": "interest",
    "gross interest": "interest",
    "deposit": "deposit",
    "contribution": "deposit",
    "subscription": "deposit",
    "withdrawal": "withdrawal",
    "fee": "fee",
    "fees": "fee",
    "commission": "fee",
    "charge": "fee",
    "tax": "tax",
    "withholding tax": "tax",
    "stamp duty": "tax",
    "transfer in": "transfer_in",
    "transfer out": "transfer_out",
    "stock dividend": "stock_dividend",
}

_ORDERS = re.compile(r"(?P<side>buy|sell)\s*-\s*(market|limit|stop)\b.*|advanced? trade (?P<advanced>buy|sell)", re.I)
_STARTS: tuple[tuple[str, TradeType], ...] = (
    (r"dividend \(return of capital\)", "return_of_capital"),
    (r"(div\b|dividend|property income)", "dividend"),
    (r"(cash account interest|gross interest|interest\b|.*\bcredit interest\b)", "interest"),
    (r"(shares custody charge|account (charge|fee)|fx charge|etf dealing fee|.*\bservice (plan )?fee)", "fee"),
    (r"(.*\bmanagement fee|fee transfer|.*\b(platform|custody|trading|admin(istration)?) fee)", "fee"),
    (r"(payment by|cash withdrawal|withdrawal)", "withdrawal"),
    (r"(regular deposit|deposit|faster payment in|debit card payment|direct debit|subscription)", "deposit"),
    (r"(electronic fund transfer|.*\bsubscription\b|.*\breceipt\b|pension contribution|tax relief)", "deposit"),
    (r"(cash transfer|transfer (between|from))", "deposit"),
)
_TRADED = re.compile(
    r"(?P<word>bought|purchase|buy|sold|sale|sell|redemption|dividend)\s+(?P<quantity>[0-9,]*\.?[0-9]+)\s+"
    r"(?P<name>\S.*?)(?:\s*\((?P<symbol>[0-9A-Z./]{1,12})\))?\s*",
    re.IGNORECASE,
)
_OF_SYMBOL = re.compile(r"DIV: (?P<symbol>[^. ]+)\.\S+ @ .*")
_BEFORE_AT = re.compile(r"(?P<name>\S.*?)\s+[0-9,]*\.?[0-9]+\s*@\s*[0-9,]*\.?[0-9]+\s*")
_ISIN = re.compile(r"[^ ()]{1,16}\((?P<isin>[A-Z]{2}[A-Z0-9]{9}[0-9])\) .*")
_TAKEN_BACK = re.compile(r"(reversal of|cancel(led|lation)?\b)", re.IGNORECASE)
_HL_ORDER = re.compile(r"(?P<side>[BS])[0-9]{4,}")


_NAMED_ISIN = re.compile(r"(?P<name>\S.*?)\s*/\s*ISIN\s+(?P<isin>[A-Z]{2}[A-Z0-9]{9}[0-9])")  # InvestEngine's
_PAIRED = re.compile(r"(?P<symbol>[^/\s]+)/(?P<currency>[A-Z]{3})")  # eToro's


class Details(NamedTuple):
    """What a description tells. None: it does not."""

    type: TradeType | None = None
    quantity: str | None = None
    name: str | None = None
    symbol: str | None = None
    isin: str | None = None


def type_of(word: str) -> TradeType | None:
    """The type that a word of a broker's own for it means: `Market buy`, `TOP_UP`, `Dividend (Ordinary)`, `B30208`."""
    text = " ".join(word.split())
    known = TYPES.get(text.casefold())
    if known is not None:
        return known
    order = _HL_ORDER.fullmatch(text)
    if order is not None:
        return "buy" if order["side"] == "B" else "sell"
    traded = _ORDERS.fullmatch(text)
    if traded is not None:
        return TYPES[(traded["side"] or traded["advanced"]).casefold()]
    return next((type_ for pattern, type_ in _STARTS if re.match(pattern, text, re.IGNORECASE)), None)


def details_of(description: str) -> Details:
    """What a description tells: `Bought 1,550 Foo ETF (FOO)`, `DIV: FOO.XLON.GB @ GBP 0.41`, `Foo ETF 10 @ 25.00`."""
    text = " ".join(description.split())
    traded = _TRADED.fullmatch(text)
    if traded is not None:
        return Details(TYPES[traded["word"].casefold()], traded["quantity"], traded["name"], traded["symbol"])
    paid = _OF_SYMBOL.fullmatch(text)
    if paid is not None:
        return Details("dividend", symbol=paid["symbol"])
    named, numbered = _BEFORE_AT.fullmatch(text), _ISIN.fullmatch(text)
    name = named["name"].rstrip(" :") if named else None
    return Details(type_of(text), name=name, isin=numbered["isin"] if numbered else None)


def name_of(text: str) -> tuple[str, str | None]:
    """The name and the ISIN of `Foo ETF / ISIN IE00BK5BQT80`; None: it is a name alone."""
    match = _NAMED_ISIN.fullmatch(text)
    return (text, None) if match is None else (match["name"], match["isin"])


def symbol_of(text: str) -> str:
    """The symbol of `NKE/USD`, which names the currency too."""
    match = _PAIRED.fullmatch(text)
    return match["symbol"] if match is not None and match["currency"] in CURRENCIES else text


def takes_back(description: str) -> bool:
    """Whether a row says that it takes back an earlier one."""
    return _TAKEN_BACK.match(description.strip()) is not None
