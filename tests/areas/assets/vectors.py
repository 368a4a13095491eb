"""The worked examples of Domain C5: what is entered, and what HMRC and others say comes of it."""

from typing import NamedTuple


class Entry(NamedTuple):
    """One trade: type, date, quantity, gross and fees in pounds. Of a split the quantity is its ratio to 1."""

    type: str
    date: str
    quantity: str
    gross: str = "0"
    fees: str = "0"


class Vector(NamedTuple):
    """Trades, the gain of each day with disposals in pence, and the pool they leave: quantity, and cost in pence."""

    name: str
    entries: tuple[Entry, ...]
    gains: dict[str, int]
    left: tuple[str, str]


_HS284_3 = (
    Entry("buy", "2014-04-01", "1000", "4000", "150"),
    Entry("buy", "2017-09-01", "500", "2050", "80"),
    Entry("sell", "2018-05-01", "700", "3360", "100"),
    Entry("sell", "2019-02-01", "400", "2080", "105"),
)

VECTORS = (
    Vector("T-CGT-1", _HS284_3, {"2018-05-01": 329_33, "2019-02-01": 300_33}, ("400", "1674.67")),
    Vector(
        "T-CGT-2",
        (
            Entry("opening_position", "2015-01-01", "9500", "14250"),
            Entry("sell", "2020-08-30", "4000", "6000"),
            Entry("buy", "2020-09-11", "500", "850"),
        ),
        {"2020-08-30": -100_00},
        ("6000", "9000"),
    ),
    Vector(
        "T-CGT-3",
        (
            Entry("buy", "2015-01-01", "100", "1000"),
            Entry("buy", "2016-01-01", "50", "125000"),
            Entry("sell", "2018-01-01", "50", "300000"),
        ),
        {"2018-01-01": 258_000_00},
        ("100", "84000"),
    ),
    Vector(
        "T-CGT-4",
        (
            Entry("buy", "2018-01-01", "5000", "500"),
            Entry("sell", "2018-06-23", "1000", "800"),
            Entry("buy", "2018-06-23", "1600", "1000"),
            Entry("sell", "2018-06-23", "500", "600"),
        ),
        {"2018-06-23": 462_50},
        ("5100", "562.5"),
    ),
    Vector(
        "T-CGT-5",
        (
            Entry("buy", "2018-01-01", "2000", "1000"),
            Entry("sell", "2019-03-31", "1000", "400"),
            Entry("sell", "2019-04-20", "500", "150"),
            Entry("buy", "2019-04-21", "700", "175"),
            Entry("buy", "2019-04-28", "500", "100"),
            Entry("buy", "2019-05-01", "500", "150"),
        ),
        {"2019-03-31": 165_00, "2019-04-20": 20_00},
        ("2200", "1060"),
    ),
    Vector(
        "T-CGT-7",
        (
            Entry("buy", "2018-01-01", "14000", "200000"),
            Entry("sell", "2018-08-30", "4000", "160000"),
            Entry("buy", "2018-09-11", "500", "17500"),
        ),
        {"2018-08-30": 92_500_00},
        ("10500", "150000"),
    ),
    Vector(
        "T-CGT-9",
        (
            Entry("buy", "2018-01-01", "1000", "10000"),
            Entry("sell", "2019-12-02", "1000", "2000"),
            Entry("buy", "2019-12-10", "1000", "1900"),
        ),
        {"2019-12-02": 100_00},
        ("1000", "10000"),
    ),
    Vector(
        "T-CGT-12",
        (*_HS284_3, Entry("buy", "2019-02-25", "150", "750", "80")),
        {"2018-05-01": 329_33, "2019-02-01": 98_33},
        ("550", "2302.67"),
    ),
    Vector(
        "T-CGT-13 day 30",
        (
            Entry("buy", "2019-06-01", "10", "50"),
            Entry("sell", "2020-01-01", "10", "100"),
            Entry("buy", "2020-01-31", "10", "30"),
        ),
        {"2020-01-01": 70_00},
        ("10", "50"),
    ),
    Vector(
        "T-CGT-13 day 31",
        (
            Entry("buy", "2019-06-01", "10", "50"),
            Entry("sell", "2020-01-01", "10", "100"),
            Entry("buy", "2020-02-01", "10", "30"),
        ),
        {"2020-01-01": 50_00},
        ("10", "30"),
    ),
    Vector(
        "T-CGT-14",
        (
            Entry("buy", "2019-01-01", "20", "200"),
            Entry("split", "2019-02-01", "2"),
            Entry("sell", "2019-03-01", "40", "240"),
        ),
        {"2019-03-01": 40_00},
        ("0", "0"),
    ),
)
