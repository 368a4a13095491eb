"""CSV exports of brokers, by their headings. Each has its source; one without is not added (Domain E).

A file is a profile's when it has all of `headings`, in whatever order and among others: brokers add columns. Where
`is_whole`, it has no others, as its headings are such as many files have. Of several headings for one column the first
that the file has counts: brokers rename them.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Literal, NamedTuple

from gatewayd.statements.csv_headings import folded
from gatewayd.statements.shapes import Mapping as ColumnMapping

_DAY_FIRST = "dd/mm/yyyy"

Signs = Literal["sure", "some", "none"]
"""What the signs of a profile's amounts say: `sure`, that what goes out has a minus, always; `some`, that a minus goes
out and what has none may do either; `none`, nothing of money."""


class Profile(NamedTuple):
    """A broker's export: how it is known and read, where and when that was seen."""

    name: str
    broker: str
    headings: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]  # by the fields of a mapping
    source: str
    seen: str  # year and month of the source
    flags: Mapping[str, Any] = {}
    currency: str | None = "GBP"  # where no column says; None: the account's
    signs: Signs = "some"
    is_whole: bool = False

    def lacks(self, found: AbstractSet[str]) -> int:
        """How many of its headings are not among these folded ones."""
        return sum(folded(heading) not in found for heading in self.headings)


PROFILES = (
    Profile(
        name="trading_212",
        broker="Trading 212",
        headings=("Action", "ISIN", "Ticker", "No. of shares", "Price / share"),
        columns={
            "date": ("Time", "Time (UTC)"),
            "type": ("Action",),
            "isin": ("ISIN",),
            "symbol": ("Ticker",),
            "instrument": ("Name",),
            "quantity": ("No. of shares",),
            "price": ("Price / share",),
            "price_currency": ("Currency (Price / share)",),
            "exchange_rate": ("Exchange rate",),
            "amount": ("Total", "Total (GBP)", "Total (EUR)", "Total (USD)"),
            "currency": ("Currency (Total)",),
            "transaction_id": ("ID",),
            "description": ("Action", "Notes"),
            "fees": (
                *("Currency conversion fee", "Currency conversion fee (GBP)", "Transaction fee"),
                *("Transaction fee (GBP)", "Finra fee", "Finra fee (GBP)"),
            ),
            "taxes": (
                *("Withholding tax", "Stamp duty reserve tax", "Stamp duty (GBP)", "Stamp duty reserve tax (GBP)"),
                "French transaction tax",
            ),
        },
        source="github.com/KapJI/capital-gains-calculator tests/trading212/data 6fe1bbb, 4f0cb16, c69ea55 (splits)",
        seen="2026-08",
    ),
    Profile(
        name="freetrade",
        broker="Freetrade",
        headings=("Title", "Type", "Timestamp", "Account Currency", "Total Amount", "Buy / Sell", "Ticker", "ISIN"),
        columns={
            "date": ("Timestamp",),
            "type": ("Type",),
            "direction": ("Buy / Sell",),
            "isin": ("ISIN",),
            "symbol": ("Ticker",),
            "instrument": ("Title",),
            "quantity": ("Quantity",),
            "price": ("Price per Share in Account Currency",),
            "amount": ("Total Amount",),
            "currency": ("Account Currency",),
            "original_amount": ("Dividend Net Distribution Amount",),
            "original_currency": ("Instrument Currency",),
            "fees": ("FX Fee Amount",),
            "taxes": ("Stamp Duty", "Dividend Withheld Tax Amount"),
            "ex_date": ("Dividend Ex Date",),
            "transaction_id": ("Order ID",),
            "description": ("Type", "Title"),
        },
        source="github.com/KapJI/capital-gains-calculator tests/freetrade/data/transactions.csv 0f279f4",
        seen="2026-08",
    ),
    Profile(
        name="hargreaves_lansdown",
        broker="Hargreaves Lansdown",
        headings=("Trade date", "Settle date", "Reference", "Description", "Unit cost (p)", "Quantity", "Value (£)"),
        columns={
            "date": ("Trade date",),
            "value_date": ("Settle date",),
            "type": ("Reference",),
            "transaction_id": ("Reference",),
            "description": ("Description",),
            "quantity": ("Quantity",),
            "price": ("Unit cost (p)",),
            "amount": ("Value (£)",),
        },
        flags={"date_format": _DAY_FIRST, "pence": True},
        source="github.com/KapJI/capital-gains-calculator tests/hl/data/inputs/hl-transaction-summary.csv a723c6c; "
        "github.com/thomas-mcdonald/snowball-hl src/transaction.py 24ff72c",
        seen="2026-08",
        signs="sure",
    ),
    Profile(
        name="aj_bell",
        broker="AJ Bell",
        headings=("Date", "Description", "Receipt (GBP)", "Payment (GBP)", "Balance (GBP)"),
        columns={
            "date": ("Date",),
            "value_date": ("Settlement date",),
            "description": ("Description",),
            "paid_in": ("Receipt (GBP)",),
            "paid_out": ("Payment (GBP)",),
            "transaction_id": ("Reference",),
        },
        flags={"date_format": _DAY_FIRST},
        source="github.com/tomK8/portfolio-bench "
        "src/main/java/com/pension/parser/AJBellCashStatementParser.java a2dc60b",
        seen="2026-07",
    ),
    Profile(
        name="interactive_investor",
        broker="interactive investor",
        headings=("Date", "Settlement Date", "Symbol", "Sedol", "Description", "Reference", "Debit", "Credit"),
        columns={
            "date": ("Date",),
            "value_date": ("Settlement Date",),
            "symbol": ("Symbol",),
            "sedol": ("Sedol",),
            "quantity": ("Quantity",),
            "price": ("Price",),
            "description": ("Description",),
            "transaction_id": ("Reference",),
            "paid_out": ("Debit",),
            "paid_in": ("Credit",),
        },
        flags={"date_format": _DAY_FIRST},
        source="github.com/alexpung/UK-Investment-tax-calculator "
        "UnitTest/Test/Parser/InteractiveInvestorCsvParseControllerTest.cs 12ba3b9",
        seen="2026-08",
    ),
    Profile(
        name="vanguard",
        broker="Vanguard UK",
        headings=("Date", "Details", "Amount", "Balance"),
        columns={"date": ("Date",), "description": ("Details",), "amount": ("Amount",)},
        flags={"date_format": _DAY_FIRST},
        source="github.com/KapJI/capital-gains-calculator tests/vanguard/data/report.csv 5c1f6a5, "
        "cash_investment_report.csv 3724be7",
        seen="2026-08",
        signs="sure",
        is_whole=True,
    ),
    Profile(
        name="ibkr_history",
        broker="Interactive Brokers",
        headings=("Date", "Account", "Description", "Transaction Type", "Symbol", "Quantity", "Price", "Net Amount"),
        columns={
            "date": ("Date",),
            "type": ("Transaction Type",),
            "symbol": ("Symbol",),
            "instrument": ("Description",),
            "quantity": ("Quantity",),
            "amount": ("Net Amount",),
            "fees": ("Commission",),
            "description": ("Transaction Type", "Description"),
        },
        source="github.com/KapJI/capital-gains-calculator tests/interactive_brokers/data/test_basic.csv 6c44fb4",
        seen="2026-08",
        signs="sure",
        currency=None,  # all amounts are in the base currency of the account
    ),
)

_MANY = 5  # Chosen: with fewer headings, one that is another makes it another file
_SEVERAL = ("description", "fees", "taxes")


def profile_of(headings: Iterable[str]) -> Profile | None:
    """The profile of a line of headings: that with most of them, or None."""
    found = {folded(heading) for heading in headings}
    found.discard("")
    matching = [
        one for one in PROFILES if not one.lacks(found) and not (one.is_whole and len(found) > len(one.headings))
    ]
    return max(matching, key=lambda profile: len(profile.headings), default=None)


def nearest_of(headings: Iterable[str]) -> Profile | None:
    """The profile of which a line of headings has all but one, as a broker may have renamed it; or None."""
    found = {folded(heading) for heading in headings}
    near = [one for one in PROFILES if len(one.headings) >= _MANY and one.lacks(found) == 1]
    return max(near, key=lambda profile: len(profile.headings), default=None)


def signs_of(name: str | None) -> Signs:
    """What the signs of the amounts of this profile say; `some` where there is none of that name."""
    return next((profile.signs for profile in PROFILES if profile.name == name), "some")


def mapping_of(profile: Profile, headings: Iterable[str], delimiter: str, header_row: int) -> ColumnMapping:
    """The profile's mapping for a file with these headings."""
    found = {folded(heading) for heading in headings}
    values: dict[str, Any] = {**profile.flags, "delimiter": delimiter, "header_row": header_row}
    for name, candidates in profile.columns.items():
        there = tuple(one for one in candidates if folded(one) in found)
        if name in _SEVERAL:
            values[name] = there
        elif there:
            values[name] = there[0]
    return ColumnMapping(**values, profile=profile.name)
