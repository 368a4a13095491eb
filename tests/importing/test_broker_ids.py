"""What has an id of the broker comes in once; what has it and differs is told, in one file and across files."""

from pathlib import Path

import pytest

from tests.importing.brokerage import Open, opener
from tests.importing.conftest import ORG

HEADINGS = "Trade Date,Action,Ticker,Quantity,Price,Amount,Reference\n"
BOUGHT = "13/01/2025,Buy,ABC,10,2.00,20.00,T-1\n"
ELSE = "14/01/2025,Buy,ABC,5,2.00,10.00,T-2\n"


@pytest.fixture
def open_brokerage(database_image: bytes, tmp_path: Path) -> Open:
    return opener(database_image, tmp_path)


async def test_the_same_row_twice_in_a_file_comes_in_once(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        preview = await one.bring(account, HEADINGS + BOUGHT + ELSE + BOUGHT, preview=True)
        assert (preview.rows, preview.added, preview.duplicates, preview.refused_rows) == (3, 2, 1, 0)
        rows = await one.rows(preview)
        assert [(row["action"], row["reason"]) for row in rows] == [
            ("add", None),
            ("add", None),
            ("duplicate", "Line 2 is the same, with the same id."),
        ]
        run = await one.importing.apply(ORG, preview.id, "broker")
        assert (run.added, run.duplicates) == (2, 1)
        assert await one.positions(account) == {"ABC": ("15", "30.00")}
        again = await one.bring(account, HEADINGS + BOUGHT + ELSE + BOUGHT + "\n")
        assert (again.added, again.duplicates) == (0, 3)


async def test_rows_of_one_id_that_differ_are_told(open_brokerage: Open) -> None:
    """Nobody knows which is right: the first comes in, the other is refused."""
    async with open_brokerage() as one:
        account = await one.account()
        other = BOUGHT.replace(",10,2.00,20.00", ",12,2.00,24.00")
        run = await one.bring(account, HEADINGS + BOUGHT + other + BOUGHT.replace("13/01", "15/01"))
        assert (run.added, run.duplicates, run.refused_rows) == (1, 0, 2)
        assert [(line.line, line.reason) for line in run.refused] == [
            (3, "Line 2 has the same id and differs in quantity, grossAmount: which of them is right?"),
            (4, "Line 2 has the same id and differs in tradeDate: which of them is right?"),
        ]
        assert await one.positions(account) == {"ABC": ("10", "20.00")}


async def test_two_types_of_one_id_are_two(open_brokerage: Open) -> None:
    """A dividend and the tax on it, on one day or on two, whichever of them was there before."""
    dividend = "20/01/2025,Dividend,ABC,,,5.00,D-1\n"
    tax = "21/01/2025,Withholding tax,ABC,,,0.75,D-1\n"
    async with open_brokerage() as one:
        account = await one.account()
        assert (await one.bring(account, HEADINGS + dividend)).added == 1
        run = await one.bring(account, HEADINGS + tax + dividend)
        assert (run.added, run.duplicates, run.supposed) == (1, 1, [])
        again = await one.bring(account, HEADINGS + dividend + tax)
        assert (again.added, again.duplicates) == (0, 2)
        assert await one.cash(account) == {"GBP": "4.25"}


async def test_what_is_there_and_differs_is_told_and_stays(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        await one.bring(account, HEADINGS + BOUGHT + ELSE)
        changed = HEADINGS + BOUGHT.replace("20.00", "21.00") + ELSE
        for preview in (True, False):
            run = await one.bring(account, changed, preview=preview)
            assert (run.added, run.duplicates, run.refused_rows) == (0, 2, 0)
            rows = await one.rows(run)
            assert [(row["action"], row["differs"]) for row in rows] == [("duplicate", ["fees"]), ("duplicate", [])]
            assert rows[0]["reason"] == "It is there, with the same id, and differs in fees: what is there stays."
            assert [(said.field, said.reason) for said in run.supposed] == [
                (
                    "transactionId",
                    "The row on line 2 is there already by the broker's id, but for amounts or days: "
                    "what is there stays.",
                )
            ]
        assert await one.positions(account) == {"ABC": ("15", "30.00")}


async def test_an_id_whose_type_was_read_otherwise_is_not_entered_twice(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        await one.bring(account, HEADINGS + "20/01/2025,Interest,,,,5.00,I-1\n")
        run = await one.bring(account, HEADINGS + "20/01/2025,Deposit,,,,5.00,I-1\n")
        assert (run.added, run.duplicates) == (0, 1)
        assert (await one.rows(run))[0]["differs"] == ["type"]
