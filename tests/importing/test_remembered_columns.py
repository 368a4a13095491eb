"""How a CSV was read is remembered, for files with the same headings and no others (Domain E)."""

from collections.abc import AsyncIterator
from pathlib import Path

from gatewayd.statements.reading import read
from gatewayd.statements.shapes import Hints, Mapping, Part
from tests.importing.conftest import Bank, OpenBank

SHARED = Mapping(date="Date", description=("Description",), amount="Amount", date_format="dd/mm/yyyy")
BARE = Mapping(header_row=None, date=0, amount=1, balance=2, description=(3,), date_format="dd/mm/yyyy")


async def read_here(path: Path, hints: Hints) -> AsyncIterator[list[Part]]:
    """What the child does, without one."""
    with path.open("rb") as file:
        yield list(read(file, hints))


async def told(bank: Bank, content: str, mapping: Mapping) -> str:
    """An account into which a file came that had been asked about: in euros, of which nothing is supposed."""
    account = await bank.account(currency="EUR")
    assert (await bank.bring(account, content.encode())).proposal is not None
    assert (await bank.bring(account, content.encode(), mapping=mapping)).status == "applied"
    return account


async def test_the_same_headings_may_be_separated_and_written_otherwise(open_bank: OpenBank) -> None:
    async with open_bank(read_here) as bank:
        await told(bank, "Date,Description,Amount\n13/03/2026,Timber,-40.00\n", SHARED)
        for content in (
            "Date\tDescription\tAmount\n14/03/2026\tTimber\t-1234.56\n",
            "Date;Description;Amount\n14/03/2026;Timber;-1.234,56\n",
            "Account:,Current\n\nDate,Description,Amount\n14/03/2026,Timber,-1234.56\n",
            "Date,Description,Amount\n2026-03-14,Timber,-1234.56\n",
            "Date,Description,Amount\n03/14/2026,Timber,-1234.56\n",
        ):
            other = await bank.account(currency="EUR")
            run = await bank.bring(other, content.encode())
            assert (run.status, run.refused) == ("applied", [])
            assert [(one["bookingDate"], one["amount"]) for one in await bank.listed(other)] == [
                ("2026-03-14", "-1234.56")
            ]


async def test_an_order_of_dates_that_was_told_holds_where_the_file_leaves_it_open(open_bank: OpenBank) -> None:
    async with open_bank(read_here) as bank:
        await told(bank, "Date,Description,Amount\n13/03/2026,Timber,-40.00\n", SHARED)
        other = await bank.account(currency="EUR")
        await bank.bring(other, b"Date,Description,Amount\n03/04/2026,Timber,-40.00\n")
        assert [one["bookingDate"] for one in await bank.listed(other)] == ["2026-04-03"]


async def test_columns_without_headings_are_asked_for_in_every_account(open_bank: OpenBank) -> None:
    """Another bank has something else where the first had the amount; balances do not bear it out."""
    async with open_bank(read_here) as bank:
        account = await told(bank, "13/03/2026,-5.00,100.00,Timber\n", BARE)
        again = await bank.bring(account, b"14/03/2026,7.00,107.00,Sale\n")
        assert (again.status, again.added) == ("applied", 1)
        other = await bank.account(currency="EUR")
        asked = await bank.bring(other, b"13/03/2026,900.00,-50.00,Rent\n14/03/2026,800.00,7.00,Sale\n")
        assert (asked.status, asked.added) == ("uploaded", 0)
