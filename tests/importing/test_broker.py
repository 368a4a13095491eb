"""Brokers' files come into an account: what is held and earned by them is known to the penny."""

from pathlib import Path
from typing import Any

import pytest

from gatewayd.areas.assets.books.instruments import INSTRUMENTS
from gatewayd.errors import Problem
from gatewayd.importing.operations import mapping_of
from gatewayd.ledger.calendar import period_locks
from gatewayd.statements.shapes import Mapping
from tests.importing import broker_files as files
from tests.importing.brokerage import Open, opener
from tests.importing.conftest import ORG


@pytest.fixture
def open_brokerage(database_image: bytes, tmp_path: Path) -> Open:
    return opener(database_image, tmp_path)


def income(listed: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Type, day, gross, taxes and net of what was earned."""
    names = ("type", "tradeDate", "grossAmount", "taxes", "netAmount")
    return [tuple(one[name] for name in names) for one in listed if one["type"] in ("dividend", "interest")]


GENERIC = """\
Trade Date,Action,Ticker,Quantity,Price,Commission,Amount
13/01/2025,Buy,ABC,100,2.50,5.00,255.00
14/01/2025,Sell,ABC,40,3.00,5.00,115.00
"""


# -- to the penny


async def test_an_export_of_trading_212(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.TRADING_212)
        assert (run.status, run.profile, run.rows, run.added) == ("applied", "trading_212", 10, 8)
        assert [(line.line, line.reason) for line in run.refused] == [
            (11, "It is not known what 'Result adjustment' is: the words of a mapping may say it.")
        ]
        # 1201.80 x 6/10; a split of 1 for 10 leaves the cost, stamp duty of 3.50 included
        expected = {"AAPL": ("6", "721.08"), "VOD": ("100", "703.50")}
        assert await one.positions(account) == expected
        assert await one.positions(one.entity) == expected
        # 10000 - 1201.80 - 703.50 + 499.21 + 1.60 + 0.04 - 2000
        assert await one.cash(account) == {"GBP": "6595.55"}
        listed = await one.listed(account)
        # what was paid is after tax, as its price is: 0.36 of 2.40 USD withheld is 0.28 of 1.88
        assert income(listed) == [
            ("interest", "2024-07-02", "0.04", "0.00", "0.04"),
            ("dividend", "2024-07-01", "1.88", "0.28", "1.60"),
        ]
        sale = next(row for row in listed if row["type"] == "sell")
        assert (sale["grossAmount"], sale["fees"], sale["netAmount"]) == ("500.00", "0.79", "499.21")
        assert {row["source"] for row in listed} == {"import"}
        assert {row["importId"] for row in listed} == {run.id}


async def test_an_export_of_freetrade(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.FREETRADE)
        assert (run.profile, run.added, run.refused_rows) == ("freetrade", 5, 0)
        # the free share cost nothing
        assert await one.positions(account) == {"NDAQ": ("2.05011185", "139.79")}
        assert await one.cash(account) == {"GBP": "870.16"}
        assert income(await one.listed(account)) == [
            ("dividend", "2023-12-22", "1.09", "0.16", "0.93"),
            ("interest", "2023-10-16", "9.02", "0.00", "9.02"),
        ]


async def test_an_export_of_hargreaves_lansdown_in_its_encoding(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.HARGREAVES_LANSDOWN.encode("cp1252"))
        assert (run.profile, run.added, run.refused_rows) == ("hargreaves_lansdown", 5, 0)
        # 80011.95 x 3000/4000
        assert await one.positions(account) == {"Foo Developed World ETF": ("3000", "60008.96")}
        # 90000 - 80011.95 + 24988.05 + 3.87 - 4.05
        assert await one.cash(account) == {"GBP": "34975.92"}
        fees = {row["type"]: row["fees"] for row in await one.listed(account) if row["type"] in ("buy", "sell")}
        assert fees == {"buy": "11.95", "sell": "11.95"}


async def test_a_cash_statement_of_aj_bell(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.AJ_BELL.encode("utf-16"))
        assert (run.profile, run.added, run.refused_rows) == ("aj_bell", 5, 0)
        # 76.85 x 60/100
        assert await one.positions(account) == {"VODAFONE GROUP ORD": ("60", "46.11")}
        assert await one.cash(account) == {"GBP": "-41.41"}


async def test_an_export_of_interactive_investor(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.INTERACTIVE_INVESTOR)
        assert (run.profile, run.added, run.refused_rows) == ("interactive_investor", 5, 0)
        assert await one.positions(account) == {"BT.A": ("5168", "9998.15"), "VHYL": ("10", "462.95")}
        # 20000 - 4.99 - 462.95 + 41.36 - 9998.15
        assert await one.cash(account) == {"GBP": "9575.27"}


async def test_a_report_of_vanguard(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.VANGUARD)
        assert (run.profile, run.added, run.refused_rows) == ("vanguard", 7, 1)
        assert run.refused[0].line == 12
        # 14982.06 x 1500/1550
        assert await one.positions(account) == {"FOO": ("1500", "14498.77")}
        assert await one.cash(account) == {"GBP": "479.89"}


async def test_a_flex_query_of_interactive_brokers(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.FLEX, file_name="flex.xml")
        assert (run.format, run.profile, run.added, run.refused_rows) == ("ibkr_flex", "ibkr_flex", 5, 1)
        # (1502.50 + 1.50) x 0.8, in four times as many
        assert await one.positions(account) == {"AAPL": ("40", "1203.20")}
        assert await one.cash(account) == {"GBP": "3000.00", "USD": "-1501.88"}
        bought = next(row for row in await one.listed(account) if row["type"] == "buy")
        assert (bought["fxRate"], bought["grossBase"], bought["tradeTime"]) == ("0.8", "1202.00", "10:30:45")


async def test_holdings_that_other_brokers_sent_or_got(open_brokerage: Open) -> None:
    """A Flex query tells what they were worth, which is not what they cost: they are refused until a transfer between
    the accounts says so, and then they are there. Nothing is gained by it, and the pool keeps its cost.
    """
    async with open_brokerage() as one:
        account, other = await one.account(), await one.account(name="Other broker")
        aapl = {"instrument": {"symbol": "AAPL", "isin": "US0378331005", "currency": "USD"}}
        bought = {"quantity": "10", "grossAmount": "1000", "currency": "USD", "fxRate": "0.75"}
        await one.enter(accountId=other, type="buy", tradeDate="2025-05-01", **aapl, **bought)
        run = await one.bring(account, files.FLEX_TRANSFERS, file_name="flex.xml")
        assert (run.added, run.duplicates, run.refused_rows) == (1, 0, 5)
        reasons = [line.reason for line in run.refused]
        assert reasons[0] == "It sells 4, and 0 are held."
        assert reasons[1].startswith("What comes in has a cost: that of the account it comes from, counterAccountId")
        assert reasons[2].startswith("What goes to somebody else is disposed of: at what worth?")
        assert reasons[3:] == ["It is of the category 'OPT', which is not kept.", "It has no quantity."]
        assert await one.cash(account) == {"GBP": "-100.00"}

        moved = {"type": "transfer_in", "tradeDate": "2026-01-10", "quantity": "10", "counterAccountId": other}
        await one.enter(accountId=account, **aapl, **moved)
        back = {"type": "transfer_in", "tradeDate": "2026-01-25", "quantity": "3", "counterAccountId": account}
        await one.enter(accountId=other, **aapl, **back)
        again = await one.bring(account, files.FLEX_TRANSFERS, file_name="flex.xml")
        assert (again.added, again.duplicates, again.refused_rows) == (1, 3, 2)
        # 1000 x 0.75 for ten
        assert await one.positions(account) == {"AAPL": ("3", "225.00")}
        assert await one.positions(other) == {"AAPL": ("3", "225.00")}
        assert await one.positions(one.entity) == {"AAPL": ("6", "450.00")}
        # 800 x 0.8 - 4 x 75
        assert [day[5] for day in (await one.books())["days"] if day[0] == one.entity] == [None, 340_00]


async def test_any_other_csv_whose_columns_leave_no_doubt(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, GENERIC)
        assert (run.profile, run.added) == (None, 2)
        assert await one.positions(account) == {"ABC": ("60", "153.00")}
        assert await one.cash(account) == {"GBP": "-140.00"}


async def test_a_mapping_is_asked_for_once(open_brokerage: Open) -> None:
    file = "Date,Action,Ticker,Quantity,Price\n02/01/2025,Buy,ABC,100,2.50\n"
    async with open_brokerage() as one:
        account = await one.account()
        asked = await one.bring(account, file)
        assert (asked.status, asked.stage) == ("uploaded", None)
        assert asked.proposal is not None
        assert [doubt.field for doubt in asked.proposal.doubts] == ["dateFormat"]
        mapping: Mapping = asked.proposal.mapping.as_told()
        run = await one.bring(account, file, mapping=mapping)
        assert (run.status, run.from_date) == ("applied", "2025-01-02")
        later = await one.bring(account, file.replace("02/01", "03/01"))
        assert (later.status, later.from_date) == ("applied", "2025-01-03")


async def test_what_a_word_means_is_said_for_a_file_that_is_there(open_brokerage: Open) -> None:
    """What was refused comes in, and nothing else twice."""
    async with open_brokerage() as one:
        account = await one.account()
        assert (await one.bring(account, files.TRADING_212)).refused_rows == 1
        words = mapping_of('{"words":{"Result adjustment":"deposit"}}')
        run = await one.bring(account, files.TRADING_212, mapping=words)
        assert (run.added, run.duplicates, run.ignored_rows, run.refused_rows) == (1, 8, 1, 0)
        assert run.mapping is not None
        assert run.mapping.words == {"Result adjustment": "deposit"}
        with pytest.raises(Problem) as caught:
            mapping_of('{"words":{"Airdrop":"manna"}}')
        assert [error.path for error in caught.value.errors] == ["mapping"]


# -- what is there already


async def test_the_same_file_again_adds_nothing(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        first = await one.bring(account, files.TRADING_212)
        books = await one.books()
        assert (await one.bring(account, files.TRADING_212)).id == first.id
        again = await one.bring(account, files.TRADING_212 + "\n")
        assert (again.added, again.duplicates) == (0, 8)
        assert await one.books() == books


async def test_an_overlapping_export_adds_what_is_new(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        header, *lines = files.HARGREAVES_LANSDOWN.splitlines(keepends=True)[5:]
        await one.bring(account, header + "".join(lines[2:]))
        run = await one.bring(account, header + "".join(lines))
        assert (run.added, run.duplicates) == (2, 3)
        assert await one.positions(account) == {"Foo Developed World ETF": ("3000", "60008.96")}


async def test_two_equal_rows_of_a_day_are_two(open_brokerage: Open) -> None:
    twice = "Trade Date,Action,Ticker,Quantity,Price\n" + "13/01/2025,Buy,ABC,10,2.50\n" * 2
    async with open_brokerage() as one:
        account = await one.account()
        assert (await one.bring(account, twice)).added == 2
        run = await one.bring(account, twice + "13/01/2025,Buy,ABC,10,2.50\n")
        assert (run.added, run.duplicates) == (1, 2)
        assert await one.positions(account) == {"ABC": ("30", "75.00")}


async def test_what_was_entered_by_hand_is_there(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        await one.enter(
            accountId=account,
            type="buy",
            tradeDate="2025-01-13",
            instrument={"symbol": "ABC"},
            quantity="100",
            unitPrice="2.5",
            fees="5.00",
        )
        run = await one.bring(account, GENERIC)
        assert (run.added, run.duplicates) == (1, 1)
        assert await one.positions(account) == {"ABC": ("60", "153.00")}


# -- what is refused


async def test_a_line_that_cannot_come_in_is_refused_with_its_reason(open_brokerage: Open) -> None:
    rows = [
        "Trade Date,Action,ISIN,Ticker,Quantity,Price,Currency",
        "13/01/2025,Buy,GB00BH4HKS39,VOD,100,0.70,GBP",
        "14/01/2025,Sell,GB00BH4HKS39,VOD,101,0.70,GBP",
        "15/01/2025,Buy,GB00BH4HKS38,VOD2,100,0.70,GBP",
        "16/01/2012,Buy,US0378331005,AAPL,1,150,USD",
        "17/01/2025,Exercise,US0378331005,AAPL,1,150,GBP",
        "18/01/2025,Buy,,,1,150,GBP",
        "19/01/2025,Buy,GB00BH4HKS39,VOD,1O,0.70,GBP",
        "20/01/2027,Buy,GB00BH4HKS39,VOD,1,0.70,GBP",
        "21/01/2025,Buy,GB00BH4HKS39,VOD,,0.70,GBP",
        "22/01/2025,Buy,GB00BH4HKS39,VOD,5,0.70,XXX",
    ]
    async with open_brokerage() as one:
        account = await one.account()
        preview = await one.bring(account, "\n".join(rows) + "\n", preview=True)
        assert (preview.status, preview.added, preview.refused_rows) == ("previewed", 1, 9)
        reasons = {line.line: line.reason for line in preview.refused}
        assert reasons[3] == "It sells 101, and 100 are held."
        assert reasons[4] == "This is not a valid ISIN: check its digits."
        assert "what is 1 USD in GBP?" in reasons[5]
        assert reasons[6] == "It is not known what 'Exercise' is: the words of a mapping may say it."
        assert reasons[7] == "It names no share or fund."
        assert reasons[8] == "'1O' is no number."
        assert reasons[9].startswith("It lies ahead, and what is to come is not booked: expected ")
        assert reasons[10] == "It has no quantity."
        assert reasons[11] == "'XXX' is no currency."
        assert await one.listed(account) == []
        run = await one.importing.apply(ORG, preview.id, "broker")
        assert (run.status, run.added, run.refused) == ("applied", 1, preview.refused)
        assert await one.positions(account) == {"VOD": ("100", "70.00")}


async def test_what_becomes_of_rows_adds_up_to_those_of_the_file(open_brokerage: Open) -> None:
    """A day that cannot be read, one that is there already, the headings once more, a half of a split, and a total."""
    head, *body = files.TRADING_212.splitlines()
    undated = body[1].replace("2024-05-02 14:30:05.123", "2024-13-45")
    total = "Total" + "," * head.count(",")
    async with open_brokerage() as one:
        account = await one.account()
        await one.bring(account, "\n".join([head, body[0]]) + "\n")
        for preview in (True, False):
            run = await one.bring(account, "\n".join([head, *body, undated, head, total]) + "\n", preview=preview)
            assert run.rows == len(body) + 3 == 13
            assert (run.added, run.duplicates, run.replaced, run.ignored_rows, run.refused_rows) == (7, 1, 0, 3, 2)
            assert [(kind.kind, kind.rows, kind.first_line) for kind in run.ignored] == [
                ("split_half", 1, 8),
                ("heading", 1, 13),
                ("total", 1, 14),
            ]
            assert [line.line for line in run.refused] == [11, 12]


async def test_a_preview_leaves_nothing_behind(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.FREETRADE, preview=True)
        rows = await one.rows(run)
        assert [(row["type"], row["action"]) for row in rows][:2] == [("dividend", "add"), ("interest", "add")]
        assert rows[2]["grossAmount"] == "139.16"
        found = await one.store.read_later(lambda tx: tx.rows(f"{INSTRUMENTS.select} AND symbol = 'NDAQ'"), ORG)
        assert found == []
        assert await one.listed(account) == []


async def test_a_sale_of_what_came_in_before_is_covered(open_brokerage: Open) -> None:
    """Also across a split that the file tells of."""
    async with open_brokerage() as one:
        account = await one.account()
        await one.bring(account, files.FLEX, file_name="flex.xml")
        sold = "Trade Date,Action,ISIN,Quantity,Amount\n30/01/2026,Sell,US0378331005,40,900.00\n"
        assert (await one.bring(account, sold + "30/01/2026,Sell,US0378331005,1,10.00\n")).refused_rows == 1
        assert await one.positions(account) == {}


async def test_the_same_file_brings_what_was_refused_once_it_fits(open_brokerage: Open) -> None:
    """A sale of what nobody had bought yet. Once all is there, the same file is no work."""
    sold = "Trade Date,Action,Ticker,Quantity,Amount\n10/01/2025,Buy,ABC,2,4.00\n30/01/2025,Sell,DEF,5,9.00\n"
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, sold)
        assert (run.added, run.refused_rows) == (1, 1)
        bought = {"instrument": {"symbol": "DEF"}, "quantity": "5", "unitPrice": "1"}
        await one.enter(accountId=account, type="buy", tradeDate="2025-01-02", **bought)
        again = await one.bring(account, sold)
        assert (again.added, again.duplicates, again.refused_rows) == (1, 1, 0)
        assert (await one.bring(account, sold)).id == again.id


async def test_what_lies_in_a_closed_period_is_refused(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, GENERIC)
        await one.store.write(lambda tx: period_locks.close(tx, one.entity, "2025-01-01", "2025-01-31"), ORG)
        again = await one.bring(account, GENERIC + "15/01/2025,Buy,ABC,1,2.50,0.00,2.50\n")
        assert (again.added, again.duplicates) == (0, 2)
        assert "closed" in again.refused[0].reason
        with pytest.raises(Problem) as caught:
            await one.undo(run)
        assert caught.value.code == "period_closed"


async def test_what_has_changed_since_the_preview_counts(open_brokerage: Open) -> None:
    """A row that was to come in does not fit any more, one that was there has gone, and one that did not fit does."""
    rows = [
        "Trade Date,Action,Ticker,Quantity,Price",
        "13/01/2025,Buy,ABC,10,2.50",
        "13/02/2025,Buy,ABC,20,2.50",
        "13/03/2025,Buy,DEF,5,1.00",
        "14/03/2025,Sell,GHI,5,1.00",
    ]
    async with open_brokerage() as one:
        account = await one.account()
        there = await one.bring(account, "\n".join([rows[0], rows[3]]) + "\n")
        preview = await one.bring(account, "\n".join(rows) + "\n", preview=True)
        assert (preview.added, preview.duplicates, preview.refused_rows) == (2, 1, 1)
        await one.undo(there)
        bought = {"instrument": {"symbol": "GHI"}, "quantity": "7", "unitPrice": "1"}
        await one.enter(accountId=account, type="buy", tradeDate="2025-03-01", **bought)
        await one.store.write(lambda tx: period_locks.close(tx, one.entity, "2025-01-01", "2025-01-31"), ORG)
        run = await one.importing.apply(ORG, preview.id, "broker")
        assert (run.status, run.added, run.duplicates) == ("applied", 3, 0)
        assert [line.line for line in run.refused] == [2]
        assert "closed" in run.refused[0].reason
        expected = {"ABC": ("20", "50.00"), "DEF": ("5", "5.00"), "GHI": ("2", "2.00")}
        assert await one.positions(account) == expected


async def test_a_period_that_is_being_closed_takes_what_overrides_that(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        await one.store.write(lambda tx: period_locks.begin_closing(tx, one.entity, "2025-01-01", "2025-01-31"), ORG)
        preview = await one.bring(account, GENERIC, preview=True)
        assert (preview.added, preview.refused_rows) == (0, 2)
        assert "being closed" in preview.refused[0].reason
        run = await one.importing.apply(ORG, preview.id, "broker", overrides_closing=True)
        assert (run.status, run.added, run.refused_rows) == ("applied", 2, 0)
        with pytest.raises(Problem) as caught:
            await one.undo(run)
        assert (caught.value.code, caught.value.extra["state"]) == ("period_closed", "closing")
        assert (await one.undo(run, overrides_closing=True)).status == "reverted"
        assert (await one.bring(account, GENERIC, overrides_closing=True)).added == 2


async def test_a_file_of_something_else_is_told_what_it_is(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        for content, said in (
            ("OFXHEADER:100\n<OFX>", "no list of a broker's transactions"),
            ('<?xml version="1.0"?><Other/>', "no list of a broker's transactions"),
            ('<!DOCTYPE a [<!ENTITY b "c">]><FlexQueryResponse>&b;</FlexQueryResponse>', "document type"),
            ("<FlexQueryResponse><FlexStatements>", "cut off"),
            ("%PDF-1.7", "PDF"),
        ):
            with pytest.raises(Problem) as caught:
                await one.bring(account, content)
            assert said in caught.value.message, content
        assert await one.listed(account) == []


# -- out


async def test_undoing_leaves_what_was_before(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        await one.bring(account, GENERIC)
        before = await one.books()
        for file in (files.TRADING_212, files.VANGUARD, files.FLEX):
            run = await one.bring(account, file)
            assert await one.books() != before
            assert (await one.undo(run)).status == "reverted"
            assert await one.books() == before


async def test_what_was_sold_since_cannot_be_taken_out(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, GENERIC)
        sale = {"instrument": {"symbol": "ABC"}, "quantity": "60", "unitPrice": "3"}
        sold = await one.enter(accountId=account, type="sell", tradeDate="2025-02-01", **sale)
        before = await one.books()
        with pytest.raises(Problem) as caught:
            await one.undo(run)
        assert caught.value.code == "insufficient_quantity"
        assert await one.books() == before
        reversal = {"reversesTransactionId": sold.id}
        await one.enter(accountId=account, type="reversal", tradeDate="2025-02-01", **reversal)
        assert (await one.undo(run)).status == "reverted"
        assert await one.positions(account) == {}


async def test_a_transaction_that_was_reversed_stays_with_its_import(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, GENERIC)
        sold = next(row for row in await one.listed(account) if row["type"] == "sell")
        await one.enter(
            accountId=account, type="reversal", tradeDate=sold["tradeDate"], reversesTransactionId=sold["id"]
        )
        with pytest.raises(Problem) as caught:
            await one.undo(run)
        assert caught.value.code == "invalid_state"
        again = await one.bring(account, GENERIC + "\n")
        assert (again.added, again.duplicates) == (0, 2)


async def test_an_account_that_is_closed_takes_no_file(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        await one.store.write(lambda tx: tx.run(_CLOSE, id=account), ORG)
        with pytest.raises(Problem) as caught:
            await one.bring(account, GENERIC)
        assert caught.value.code == "invalid_state"


_CLOSE = "UPDATE asset_accounts SET status = 'closed' WHERE id = :id"


async def test_an_import_of_the_other_kind_is_not_found(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, GENERIC)
        with pytest.raises(Problem) as caught:
            await one.importing.undo(ORG, run.id, "bank")
        assert caught.value.code == "not_found"
