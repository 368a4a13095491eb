"""Each row of a broker's file or of one of prices is told: as a transaction, a price, ignored or refused.

Rows are counted here by the lines of the file, and never by its parser.
"""

import csv
import io
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.statements.reading import read
from gatewayd.statements.shapes import (
    PRICE_LIMITS,
    FileKind,
    Hints,
    Ignored,
    Limits,
    Mapping,
    PriceLine,
    Refused,
    Trade,
    Unreadable,
)
from tests.importing import broker_files as files
from tests.importing import more_broker_files as more

GENERIC = """\
Trade Date,Action,Ticker,Quantity,Price,Commission,Stamp Duty,Amount,Currency
13/01/2025,Buy,ABC,100,2.50,5.00,1.25,256.25,GBP
14/01/2025,Sell,ABC,40,"3.00",5.00,,115.00,GBP
15/01/2025,Dividend,ABC,,,,,12.34,GBP
16/01/2025,Deposit,,,,,,"1,000.00",GBP
17/01/2025,Fee,,,,,,4.99,GBP
Total,,,,,,,1.00,
"""
MAPPING = Mapping(
    date="Trade Date",
    type="Action",
    symbol="Ticker",
    quantity="Quantity",
    price="Price",
    fees=("Commission",),
    taxes=("Stamp Duty",),
    amount="Amount",
    currency="Currency",
    date_format="dd/mm/yyyy",
)
PRICES = """\
date,isin,price,currency
2026-10-01,GB00BH4HKS39,81.22,GBX
2026-10-01,US0378331005,"1,220.50",USD
2026-10-01,USD/GBP,0.76,
2026-10-02,GB00BH4HKS39,82,GBp
2026-10-02,EUR/GBP,0.86,GBP
"""
BARE_PRICES = PRICES.partition("\n")[2]
IBKR_HISTORY = """\
Date,Account,Description,Transaction Type,Symbol,Quantity,Price,Gross Amount,Commission,Net Amount
2026-01-15,U***1,APPLE INC,Buy,AAPL,10,150.25,-1502.5,-1.5,-1504
2026-01-20,U***1,AAPL(US0378331005) Cash Dividend USD 0.25 per Share,Dividend,AAPL,-,-,2.5,-,2.5
2026-01-20,U***1,AAPL(US0378331005) US Tax,Foreign Tax Withholding,AAPL,-,-,-0.38,-,-0.38
2026-01-22,U***1,Electronic Fund Transfer,Deposit,-,-,-,1000,-,1000
"""
BROKERS = {
    "trading_212": (files.TRADING_212, None),
    "freetrade": (files.FREETRADE, None),
    "hargreaves_lansdown": (files.HARGREAVES_LANSDOWN, None),
    "aj_bell": (files.AJ_BELL, None),
    "interactive_investor": (files.INTERACTIVE_INVESTOR, None),
    "vanguard": (files.VANGUARD, None),
    "ibkr_history": (IBKR_HISTORY, None),
    "schwab": (more.SCHWAB, None),
    "investengine": (more.INVESTENGINE, None),
    "degiro": (more.DEGIRO, None),
    "etoro": (more.ETORO, None),
    "coinbase": (more.COINBASE, None),
    "flex_csv": (more.FLEX_CSV, None),
    "generic": (GENERIC, MAPPING),
}
ROW_OF_A_REPORT = re.compile(r"<(Trade|CashTransaction|CorporateAction|Transfer|OpenPosition|Lot)\b")
BROKEN = ("", "n/a", "2024-13-45", "31/02/2024", "1O", "12,5", "-", '"', 'a"b', "=1+1", "Total", "1e5", "-0", "Balance")


def told(content: str, mapping: Mapping | None = None, kind: FileKind = "broker") -> list[int]:
    """The lines of all that is told of the file."""
    limits = PRICE_LIMITS if kind == "prices" else Limits()
    hints = Hints(file_name="x.csv", kind=kind, mapping=mapping, currency="GBP", limits=limits)
    found = list(read(io.BytesIO(content.encode()), hints))
    for one in found:
        assert not isinstance(one, Refused) or one.reason
    return sorted(one.line for one in found if isinstance(one, Trade | PriceLine | Refused | Ignored))


def behind_headings(content: str, first: str) -> tuple[list[str], list[str]]:
    """The lines up to the headings, which begin with `first`, and those behind them."""
    lines = content.splitlines()
    at = next(at for at, line in enumerate(lines) if line.lstrip("\ufeff").startswith(first)) + 1
    return lines[:at], lines[at:]


def is_row(line: str) -> bool:
    """Whether anything stands on the line: a quotation mark that is open does."""
    return line.count('"') % 2 == 1 or any(cell.strip() for cell in next(csv.reader([line]), []))


@st.composite
def mutilated(draw: st.DrawFn, content: str, first: str) -> tuple[str, list[int]]:
    """The file with some of its rows damaged, and the lines on which it has rows."""
    head, body = behind_headings(content, first)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(body) - 1))
        body = draw(st.sampled_from(DAMAGES))(draw, body, at)
    lines = [*head, *body]
    return "\n".join(lines) + "\n", [at for at, line in enumerate(lines, 1) if at > len(head) and is_row(line)]


def _cell(draw: st.DrawFn, body: list[str], at: int) -> list[str]:
    """One cell holds something else."""
    cells = body[at].split(",")
    cells[draw(st.integers(0, len(cells) - 1))] = draw(st.sampled_from(BROKEN))
    return [*body[:at], ",".join(cells), *body[at + 1 :]]


def _twice(draw: st.DrawFn, body: list[str], at: int) -> list[str]:
    """A row stands there twice."""
    return [*body[: at + 1], *body[at:]]


def _quote(draw: st.DrawFn, body: list[str], at: int) -> list[str]:
    """A quotation mark too many."""
    place = draw(st.integers(0, len(body[at])))
    return [*body[:at], f'{body[at][:place]}"{body[at][place:]}', *body[at + 1 :]]


def _cut(draw: st.DrawFn, body: list[str], at: int) -> list[str]:
    """A row that ends before its time."""
    return [*body[:at], body[at][: draw(st.integers(0, len(body[at])))], *body[at + 1 :]]


def _more(draw: st.DrawFn, body: list[str], at: int) -> list[str]:
    """A cell too many."""
    return [*body[:at], f"{body[at]},{draw(st.sampled_from(BROKEN))}", *body[at + 1 :]]


def _text(draw: st.DrawFn, body: list[str], at: int) -> list[str]:
    """A line of something else."""
    return [*body[:at], draw(st.sampled_from(("A note at the end", "Total,1.00", ",,,", ""))), *body[at:]]


Damage = Callable[[st.DrawFn, list[str], int], list[str]]
DAMAGES: tuple[Damage, ...] = (_cell, _cell, _twice, _quote, _cut, _more, _text)


@pytest.mark.parametrize("name", BROKERS)
@given(data=st.data())
def test_each_row_of_a_brokers_file_is_told_once(name: str, data: st.DataObject) -> None:
    content, mapping = BROKERS[name]
    content, rows = data.draw(mutilated(content, FIRST[name]))
    try:
        found = told(content, mapping)
    except Unreadable as error:
        if error.proposal is None:  # else it asks what its dates are
            raise
    else:
        assert found == rows


FIRST = {
    "trading_212": "Action",
    "freetrade": "Title",
    "hargreaves_lansdown": "Trade date",
    "aj_bell": "Date",
    "interactive_investor": "Date",
    "vanguard": "Date",
    "ibkr_history": "Date",
    "schwab": '"Date"',
    "investengine": "Security",
    "degiro": "Date",
    "etoro": "Date",
    "coinbase": "ID",
    "flex_csv": '"HEADER"',
    "generic": "Trade Date",
}
"""How the line of headings begins."""


@given(data=st.data())
def test_each_row_of_a_file_of_prices_is_told_once(data: st.DataObject) -> None:
    content, rows = data.draw(mutilated(PRICES, "date"))
    assert told(content, kind="prices") == rows


@given(data=st.data())
def test_each_row_of_a_file_of_prices_without_headings_is_told_once(data: st.DataObject) -> None:
    content, rows = data.draw(mutilated("-\n" + BARE_PRICES, "-"))
    content = content.removeprefix("-\n")
    try:
        assert told(content, kind="prices") == [at - 1 for at in rows]
    except Unreadable:
        assert not any(re.match(r"\d{4}", line) for line in content.splitlines())


@given(data=st.data())
def test_each_row_of_a_flex_report_is_told_once(data: st.DataObject) -> None:
    more = '<Lot symbol="A"/></Trades><OpenPositions><OpenPosition/></OpenPositions>'
    report = files.FLEX.replace("</Trades>", more)
    for content in (report, files.FLEX_TRANSFERS):
        pieces = re.split(r'(?<==")([^"<>]*)(?=")', content)
        for _ in range(data.draw(st.integers(0, 8))):
            at = data.draw(st.integers(0, len(pieces) // 2 - 1)) * 2 + 1
            pieces[at] = data.draw(st.sampled_from([one for one in BROKEN if '"' not in one]))
        damaged = "".join(pieces)
        assert told(damaged) == list(range(1, len(ROW_OF_A_REPORT.findall(damaged)) + 1))


def test_a_row_whose_date_cannot_be_read_is_refused_with_its_line() -> None:
    head, body = behind_headings(files.TRADING_212, "Action")
    for broken in ("2024-13-45", "n/a", ""):
        rows = [body[0].replace("2024-05-01 00:10:00.000", broken), body[1]]
        parts = list(read(io.BytesIO("\n".join([*head, *rows]).encode()), Hints(file_name="x.csv", kind="broker")))
        reasons = [(one.line, one.reason) for one in parts if isinstance(one, Refused)]
        no_date = "'2024-13-45' is no date as yyyy-mm-dd." if broken[:4].isdigit() else "It has no date."
        assert reasons == [(2, no_date)]
        assert [one.line for one in parts if isinstance(one, Trade)] == [3]


def test_what_is_no_transaction_is_told_by_its_kind() -> None:
    head, body = behind_headings(files.FREETRADE, "Title")
    width = head[-1].count(",") + 1
    more = [
        head[-1],
        ",".join(["Monthly statement", "MONTHLY_STATEMENT", "2023-12-31T00:00:00.000Z", *[""] * (width - 3)]),
        ",".join(["Total", *[""] * (width - 1)]),
        ",".join(["Total SE", "ORDER", *[""] * (width - 2)]),
    ]
    parts = list(read(io.BytesIO("\n".join([*head, *body, *more]).encode()), Hints(file_name="x.csv", kind="broker")))
    first = len(head) + len(body) + 1
    told_so = [(one.line - first, one.kind) for one in parts if isinstance(one, Ignored)]
    assert told_so == [(0, "heading"), (1, "notice"), (2, "total")]
    assert [one.line - first for one in parts if isinstance(one, Refused)] == [3]  # its day is missing


def test_a_row_of_two_halves_is_told_as_both() -> None:
    head, body = behind_headings(files.TRADING_212, "Action")
    halves = [line for line in body if line.startswith("Stock split")]
    found = read(io.BytesIO("\n".join([*head, *halves * 2]).encode()), Hints(file_name="x.csv", kind="broker"))
    parts = [one for one in found if isinstance(one, Trade | Ignored | Refused)]
    assert sorted((one.line, type(one).__name__) for one in parts) == [
        (2, "Ignored"),
        (3, "Trade"),
        (4, "Ignored"),
        (5, "Trade"),
    ]
    broken = [halves[0], halves[1].replace("100.0000000000", "0.1")]
    found = read(io.BytesIO("\n".join([*head, *broken]).encode()), Hints(file_name="x.csv", kind="broker"))
    assert [one.line for one in found if isinstance(one, Refused)] == [2, 3]
