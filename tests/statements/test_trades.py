"""Brokers' files are read into transactions: what each row says, and what is refused of it."""

import io

import pytest

from gatewayd.statements.reading import read
from gatewayd.statements.shapes import Hints, Ignored, Limits, Mapping, Opened, Refused, Trade, Unreadable
from gatewayd.statements.trades.profiles import broker_profiles, profile_of
from gatewayd.statements.trades.words import details_of, type_of
from tests.importing import broker_files as files


def parts(content: str | bytes, mapping: Mapping | None = None, **limits: int) -> list[object]:
    data = content.encode() if isinstance(content, str) else content
    hints = Hints(file_name="x.csv", kind="broker", mapping=mapping, currency="GBP", limits=Limits(**limits))
    return list(read(io.BytesIO(data), hints))


def trades(content: str | bytes, mapping: Mapping | None = None) -> list[Trade]:
    return [one for one in parts(content, mapping) if isinstance(one, Trade)]


def refused(content: str | bytes) -> list[tuple[int, str]]:
    return [(one.line, one.reason) for one in parts(content) if isinstance(one, Refused)]


HEADINGS = "Trade Date,Action,Ticker,Quantity,Price,Commission,Stamp Duty,Amount,Currency\n"


@pytest.mark.parametrize(
    ("row", "money"),
    [
        ("13/01/2025,Buy,A,100,2.50,5.00,1.25,256.25,GBP", (25000, 500, 125)),  # what was paid, costs included
        ("13/01/2025,Buy,A,100,2.50,5.00,1.25,250.00,GBP", (25000, 500, 125)),  # the price of all, without costs
        ("13/01/2025,Buy,A,100,2.50,5.00,1.25,(256.25),GBP", (25000, 500, 125)),
        ("13/01/2025,Sell,A,100,2.50,5.00,0,245.00,GBP", (25000, 500, 0)),
        ("13/01/2025,Sell,A,-100,2.50,-5.00,,245.00,GBP", (25000, 500, 0)),
        ('13/01/2025,Buy,A,"1,000",2.50,,,"2,505.00",GBP', (250000, 500, 0)),  # no costs are named: they differ by 5.00
        ("13/01/2025,Buy,A,3,33.333,,,99.99,GBP", (9999, 0, 0)),  # a price that is rounded
        ("13/01/2025,Buy,A,100,2.50,5.00,1.25,,GBP", (25000, 500, 125)),
        ("13/01/2025,Buy,A,100,250p,,,250.00,GBP", (25000, 0, 0)),
        ("13/01/2025,Buy,A,100,2.50,,,250.00,GBX", (250, 0, 0)),  # pence
        ("13/01/2025,Dividend,A,100,,,,12.34,USD", (1234, 0, 0)),
        ("13/01/2025,Fee,,,,,,4.99,GBP", (499, 0, 0)),
    ],
)
def test_what_a_row_comes_to(row: str, money: tuple[int, int, int]) -> None:
    (found,) = trades(HEADINGS + row + "\n")
    assert (found.gross, found.fees, found.taxes) == money


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("13/01/2025,Buy,,100,2.50,,,250.00,GBP", "It names no share or fund."),
        ("13/01/2025,Buy,A,,2.50,,,250.00,GBP", "It has no quantity."),
        ("13/01/2025,Hold,A,1,2.50,,,250.00,GBP", "It is not known what 'Hold' is: the words of a mapping may say it."),
        (
            "13/01/2025,Dividend,A,,,,,-5.00,GBP",
            "Money goes out, and it is a dividend: does it take back an earlier one?",
        ),
        ("13/01/2025,Buy,A,1,2.50,,,2.50,QQQ", "'QQQ' is no currency."),
        ("13/01/2025,Buy,A,1,2;50,,,2.50,GBP", "'2;50' is no number."),
        ("13/01/2025,Sell,A,1,2.50,9.00,,,GBP", None),
        ("13/01/2025,Buy,A,1,2.50,9.00,,2.00,GBP", None),
    ],
)
def test_what_a_row_is_refused_for(row: str, reason: str | None) -> None:
    found = refused(HEADINGS + row + "\n")
    assert found == ([] if reason is None else [(2, reason)])


@pytest.mark.parametrize("name", ["GBX", "GBp", "gbx", "GBPX", "pence"])
def test_pence_quotes_are_kept_in_pounds(name: str) -> None:
    """Of the cash as of the price, whose currency may be told beside it."""
    (found,) = trades(HEADINGS + f"13/01/2025,Buy,A,100,250,,,25000,{name}\n")
    assert (found.currency, found.gross, found.unit_price) == ("GBP", 25000, "2.5")
    headings = "Trade Date,Action,Ticker,Quantity,Price,Price Currency,Amount,Currency\n"
    (found,) = trades(headings + f"13/01/2025,Buy,A,100,250,{name},250.00,GBP\n")
    assert (found.currency, found.gross, found.unit_price) == ("GBP", 25000, "2.5")


def test_totals_and_blank_lines_are_no_transactions() -> None:
    rows = "13/01/2025,Buy,A,1,2.50,,,2.50,GBP\n\nTotal,,,,,,,2.50,\n,,,,,,,,\n"
    assert [one.line for one in trades(HEADINGS + rows)] == [2]
    assert refused(HEADINGS + rows) == []


def test_dates_are_read_as_the_file_shows() -> None:
    us = trades("Date,Action,Ticker,Quantity,Price\n1/2/2025,Buy,A,1,1\n1/13/2025,Buy,A,1,1\n")
    assert [one.date for one in us] == ["2025-01-02", "2025-01-13"]
    uk = trades("Date,Action,Ticker,Quantity,Price\n1/2/2025,Buy,A,1,1\n13/1/2025,Buy,A,1,1\n")
    assert [one.date for one in uk] == ["2025-02-01", "2025-01-13"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding: str) -> None:
    content = "Date,Action,Name,Quantity,Price (£)\n13/01/2025,Buy,Crédit Agricole,1,£1.50\n"
    (found,) = trades(content.encode(encoding))
    assert found.instrument is not None
    assert (found.instrument.name, found.gross, found.unit_price) == ("Crédit Agricole", 150, "1.5")


def test_a_split_without_its_other_half_is_refused() -> None:
    headings = "Action,Time,ISIN,Ticker,No. of shares,Price / share,Currency (Price / share),Total,Currency (Total)\n"
    open_ = "Stock split open,2024-07-15T07:00:00.009+00:00,US0378331005,A,{},1,GBP,10,GBP\n"
    close = "Stock split close,2024-07-15T07:00:00.000+00:00,US0378331005,A,{},1,GBP,10,GBP\n"
    assert refused(headings + open_.format(10)) == [(2, "It is one half of a split, and the file has not the other.")]
    (found,) = trades(headings + open_.format("5.8565544") + close.format("0.9760924"))
    assert (found.type, found.split, found.date) == ("split", (6, 1), "2024-07-15")
    (found,) = trades(headings + close.format(90) + open_.format(10))
    assert found.split == (1, 9)


def test_a_file_with_more_rows_than_may_be_is_unreadable() -> None:
    row = "13/01/2025,Buy,A,1,2.50,,,2.50,GBP\n"
    with pytest.raises(Unreadable, match="more than 3 rows"):
        parts(HEADINGS + row * 4, lines=3)


def test_columns_that_nobody_knows_are_asked_for() -> None:
    with pytest.raises(Unreadable) as caught:
        parts("When,What,How many\n13/01/2025,Buy,3\n")
    assert caught.value.proposal is not None
    asked = {doubt.field for doubt in caught.value.proposal.doubts}
    assert asked == {"date", "type", "quantity", "instrument", "amount"}
    mapping = Mapping(date="When", type="What", quantity="How many", symbol=3, price=4, date_format="dd/mm/yyyy")
    (found,) = trades("When,What,How many,,\n13/01/2025,Buy,3,VOD,1.50\n", mapping)
    assert (found.quantity, found.gross) == ("3", 450)


def test_every_profile_is_found_by_its_headings_and_has_its_source() -> None:
    for profile in broker_profiles():
        assert profile_of(profile.headings) is profile
        assert "github.com/" in profile.source
        assert len(profile.seen) == len("2026-08")


ETORO = "Date,Type,Details,Amount,Units,Realized Equity Change,Realized Equity,Balance,Position ID,Asset type,NWA"


def test_a_profile_takes_no_other_brokers_file() -> None:
    """Vanguard's four headings are those of many files, and its export has no others."""
    vanguard = "Date,Details,Amount,Balance"
    assert named(vanguard) == "vanguard"
    assert named(f"{vanguard},") == "vanguard"
    assert named(f"{vanguard},Reference") is None
    assert named(ETORO) == "etoro"


def named(headings: str) -> str | None:
    found = profile_of(headings.split(","))
    return None if found is None else found.name


def test_one_heading_that_nobody_knows_loses_no_other() -> None:
    """That of the date, and one that a broker renamed."""
    with pytest.raises(Unreadable) as caught:
        parts(HEADINGS.replace("Trade Date", "When it was") + "13/01/2025,Buy,A,100,2.50,5.00,1.25,256.25,GBP\n")
    asked = caught.value.proposal
    assert asked is not None
    assert [(doubt.field, doubt.choices) for doubt in asked.doubts] == [("date", ("When it was",))]
    known = asked.mapping
    assert (known.date, known.type, known.symbol, known.quantity) == ("When it was", "Action", "Ticker", "Quantity")
    assert (known.price, known.fees, known.taxes, known.amount) == ("Price", ("Commission",), ("Stamp Duty",), "Amount")

    renamed = "Action,Time,ISIN,Ticker,Shares held back,Price / share,Currency (Price / share),Total,Currency (Total)\n"
    with pytest.raises(Unreadable) as caught:
        parts(renamed + "Market buy,2024-05-02 14:30:05,US0378331005,AAPL,10,150.00,USD,1201.80,GBP\n")
    asked = caught.value.proposal
    assert asked is not None
    assert [doubt.field for doubt in asked.doubts] == ["quantity"]
    assert (asked.mapping.profile, asked.mapping.price_currency) == ("trading_212", "Currency (Price / share)")


def test_a_mapping_says_what_words_mean() -> None:
    """Alone it says no more: the columns are those of the profile or of the proposal."""
    words = Mapping(words={"Staking Income": "interest", "card verification": "excluded", "Hold": "buy"})
    rows = (
        "13/01/2025,Staking income,A,,,,,5.00,GBP\n"
        "14/01/2025,Hold,A,2,2.50,,,5.00,GBP\n"
        "15/01/2025,Card Verification,,,,,,1.00,GBP\n"
        "16/01/2025,Airdrop,A,2,,,,,GBP\n"
    )
    found = parts(HEADINGS + rows, words)
    assert [(one.line, one.type, one.gross) for one in found if isinstance(one, Trade)] == [
        (2, "interest", 500),
        (3, "buy", 500),
    ]
    assert [(one.line, one.kind) for one in found if isinstance(one, Ignored)] == [(4, "excluded")]
    assert [one.line for one in found if isinstance(one, Refused)] == [5]


def test_a_mapping_says_what_a_profile_does_not_know() -> None:
    words = Mapping(words={"Result adjustment": "deposit"})
    found = parts(files.TRADING_212, words)
    assert not [one for one in found if isinstance(one, Refused)]
    assert [(one.line, one.type, one.gross) for one in found if isinstance(one, Trade)][-1] == (11, "deposit", 75)


@pytest.mark.parametrize(
    ("word", "type_"),
    [
        ("Market buy", "buy"),
        ("Stop limit sell", "sell"),
        ("Dividend (Ordinary)", "dividend"),
        ("Dividend (Return of capital)", "return_of_capital"),
        ("B302087054", "buy"),
        ("S302087055", "sell"),
        ("TOP_UP", "deposit"),
        ("Payment by Faster - One-off withdrawal Faster", "withdrawal"),
        ("Account charge for shares - Jun 2026", "fee"),
        ("Gross interest to 30/06/26", "interest"),
        ("Card purchase", None),
        ("BUY - MARKET", "buy"),
        ("SELL - STOP LIMIT", "sell"),
        ("Advanced Trade Sell", "sell"),
        ("Advance Trade Buy", "buy"),
        ("Staking Income", None),
        ("", None),
    ],
)
def test_words_of_brokers(word: str, type_: str | None) -> None:
    assert type_of(word) == type_


@pytest.mark.parametrize(
    ("account", "cash", "rate"),
    [
        ('<AccountInformation currency="GBP"/>', 'currency="GBP" fxRateToBase="1"', "0.8"),
        ("", 'currency="GBP" fxRateToBase="1"', "0.8"),
        ("", 'currency="EUR" fxRateToBase="0.86"', None),
        ("", 'currency="USD" fxRateToBase="1"', None),
    ],
)
def test_rates_of_a_report_are_to_the_base_currency_that_it_tells(account: str, cash: str, rate: str | None) -> None:
    report = f"""<FlexQueryResponse><FlexStatements><FlexStatement accountId="U1">{account}
        <Trades><Trade currency="USD" fxRateToBase="0.8" assetCategory="STK" symbol="AAPL" tradeDate="20260115"
            buySell="BUY" quantity="10" tradePrice="150" proceeds="-1500"/></Trades>
        <CashTransactions><CashTransaction {cash} type="Deposits" dateTime="20260102" amount="3000"/></CashTransactions>
        </FlexStatement></FlexStatements></FlexQueryResponse>"""
    bought = trades(report)[0]
    assert (bought.fx_rate, bought.currency, bought.gross) == (rate, "USD", 150000)


def test_descriptions_of_brokers() -> None:
    assert details_of("Bought 1,550 Foo ETF (FOO)")[:4] == ("buy", "1,550", "Foo ETF", "FOO")
    assert details_of("Sold .9232 U.S. Equity Index Fund - Accumulation")[1:3] == (
        ".9232",
        "U.S. Equity Index Fund - Accumulation",
    )
    assert details_of("DIV: FOO.XLON.GB @ GBP 0.4106").symbol == "FOO"
    assert details_of("VT(US9220427424) Cash Dividend USD 0.50 per Share").isin == "US9220427424"


def test_a_flex_query_of_several_accounts_is_unreadable() -> None:
    content = '<FlexQueryResponse><FlexStatement accountId="A"/><FlexStatement accountId="B"/></FlexQueryResponse>'
    with pytest.raises(Unreadable, match="several accounts"):
        parts(content)


def test_dates_of_a_flex_query_that_could_be_two_are_refused() -> None:
    cash = '<CashTransaction type="Deposits" amount="1" currency="GBP" dateTime="{}"/>'
    content = f"<FlexQueryResponse>{cash.format('01/02/2026')}{cash.format('2026-02-01;101500')}</FlexQueryResponse>"
    found = parts(content)
    assert isinstance(found[0], Opened)
    assert isinstance(found[1], Refused)
    assert "yyyy-MM-dd" in found[1].reason
    assert isinstance(found[2], Trade)
    assert found[2].date == "2026-02-01"
