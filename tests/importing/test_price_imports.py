"""Imports of prices and rates: good rows are taken, bad ones told, and the same file again changes nothing."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from gatewayd.areas.assets.books.instruments import INSTRUMENTS
from gatewayd.areas.assets.instruments.shapes import InlineInstrument
from gatewayd.areas.assets.instruments.upserting import find_or_create
from gatewayd.areas.assets.prices.shapes import PriceImport
from gatewayd.errors import Problem
from gatewayd.importing.parts import ReadApart
from gatewayd.importing.prices import ROWS_AT_ONCE, PriceImporting
from gatewayd.statements.shapes import Hints, Part, Unreadable
from gatewayd.store import Store, StoreFailure, WriteTx
from tests.importing.conftest import ORG, OpenBank
from tests.support.inline_reading import read_inline
from tests.support.statement_files import received

VODAFONE, APPLE = "GB00BH4HKS39", "US0378331005"
FILE = f"""date,identifier,price,currency
2026-10-01,{VODAFONE},81.22,GBX
2026-10-01,XNAS:AAPL,220.5,USD
2026-10-01,USD/GBP,0.76,
"""
_SELECT = """
SELECT 'price', instrument_id, date, price, currency, source FROM asset_prices WHERE org_id = :org_id
UNION ALL
SELECT 'rate', currency, date, rate, base_currency, source FROM exchange_rates WHERE org_id = :org_id
ORDER BY 1, 2, 3
"""

Bring = Callable[[str | bytes], Awaitable[PriceImport]]


def instruments(tx: WriteTx) -> dict[str, str]:
    given = (
        InlineInstrument(isin=VODAFONE, symbol="VOD", name="Vodafone"),
        InlineInstrument(isin=APPLE, symbol="AAPL", exchange_mic="XNAS", currency="USD"),
    )
    return {one.isin or "": find_or_create(tx, one, "", "GBP").id for one in given}


async def stored(store: Store) -> list[tuple[Any, ...]]:
    return await store.read(lambda tx: tx.rows(_SELECT), ORG)


def bring_into(store: Store, directory: Path, read_apart: ReadApart = read_inline) -> Bring:
    importing = PriceImporting(store, read_apart, 1 << 20)

    async def bring(content: str | bytes) -> PriceImport:
        raw = content.encode() if isinstance(content, str) else content
        with trio.fail_after(120):
            return await importing.bring(ORG, "prices.csv", received(directory, raw))

    return bring


async def test_prices_and_rates_come_in_once(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        ids = await bank.store.write(instruments, ORG)
        bring = bring_into(bank.store, bank.directory)
        told = await bring(FILE)
        assert (told.rows, told.added, told.duplicates, told.replaced, told.refused) == (3, 3, 0, 0, [])
        prices = sorted([("price", ids[VODAFONE], "0.8122", "GBP"), ("price", ids[APPLE], "220.5", "USD")])
        after = await stored(bank.store)
        assert [(row[0], row[1], row[3], row[4]) for row in after] == [*prices, ("rate", "USD", "0.76", "GBP")]
        assert {row[2] for row in after} == {"2026-10-01"}
        again = await bring(FILE)
        assert (again.added, again.duplicates, again.replaced) == (0, 3, 0)
        assert await stored(bank.store) == after
        shown = await bank.store.read(lambda tx: INSTRUMENTS.get(tx, ids[VODAFONE]), ORG)
        assert (shown.last_price, shown.last_price_date, shown.price_source) == ("0.8122", "2026-10-01", "import")


async def test_another_file_replaces_and_the_same_file_does_not_contradict_itself(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        await bank.store.write(instruments, ORG)
        bring = bring_into(bank.store, bank.directory)
        await bring(FILE)
        other = f"date,isin,price\n2026-10-01,{VODAFONE},2\n2026-10-01,{VODAFONE},3\n"
        told = await bring(other)
        assert (told.replaced, told.refused_rows, told.refused[0].line) == (1, 1, 3)
        after = await stored(bank.store)
        again = await bring(other)
        assert (again.duplicates, again.replaced, again.refused_rows) == (1, 0, 1)
        assert await stored(bank.store) == after


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("2026-10-01,GB0005405286,1,GBP", "there is no instrument 'GB0005405286'"),
        (f"2026-10-01,{VODAFONE},1,XYZ", "'XYZ' is no currency"),
        (f"2026-11-21,{VODAFONE},1,GBP", "2026-11-21 is still to come"),
        ("2026-10-01,USD/XXX,1,", "'XXX' is no currency"),
        ("2026-10-01,USD/USD,1,", "'USD/USD' cannot have the rate 1"),
        ("2026-10-01,USD/GBP,0,", "'USD/GBP' cannot have the rate 0"),
        ("2026-10-01,USD/GBP,1,EUR", "a rate of USD/GBP is in GBP, not in 'EUR'"),
    ],
)
async def test_a_bad_row_is_told_and_the_others_are_taken(open_bank: OpenBank, row: str, reason: str) -> None:
    async with open_bank() as bank:
        await bank.store.write(instruments, ORG)
        told = await bring_into(bank.store, bank.directory)(f"{FILE}{row}\n2026-10-02,VOD,82,GBX\n")
        assert [(one.line, one.reason) for one in told.refused] == [(5, reason)]
        assert (told.added, told.refused_rows) == (4, 1)


async def test_what_becomes_of_rows_adds_up_to_those_of_the_file(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        await bank.store.write(instruments, ORG)
        bring = bring_into(bank.store, bank.directory)
        await bring(FILE)
        headings, first = FILE.splitlines()[:2]
        more = f"{headings}\n{first}\nn/a,{VODAFONE},1,GBP\n2026-10-02,{VODAFONE},1,234.50,GBP\n"
        told = await bring(f"{FILE}\n{more}2026-10-03,{VODAFONE},83,GBX\n")
        assert (told.rows, told.added, told.duplicates, told.ignored_rows, told.refused_rows) == (8, 1, 4, 1, 2)
        assert [(one.kind, one.first_line) for one in told.ignored] == [("heading", 6)]
        assert [(one.line, one.reason) for one in told.refused] == [
            (8, "it has no date"),
            (9, "it has 5 columns instead of 4"),
        ]


async def test_a_long_file_comes_in_by_pieces_and_shows_the_latest_price(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        ids = await bank.store.write(instruments, ORG)
        days = [
            f"{year}-{month:02}-{day:02}" for year in (2024, 2025) for month in range(1, 13) for day in range(1, 29)
        ]
        assert len(days) > 3 * ROWS_AT_ONCE
        lines = [f"{day},{VODAFONE},{number}," for number, day in enumerate(days)]
        told = await bring_into(bank.store, bank.directory)("date,isin,price,currency\n" + "\n".join(lines))
        assert (told.rows, told.added) == (len(days), len(days))
        shown = await bank.store.read(lambda tx: INSTRUMENTS.get(tx, ids[VODAFONE]), ORG)
        assert (shown.last_price, shown.last_price_date) == (str(len(days) - 1), "2025-12-28")


async def test_what_is_no_file_of_prices_is_refused(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        for content in (b"%PDF-1.7", b"", b"name,colour\nOak,green\n"):
            with pytest.raises(Problem) as caught:
                await bring_into(bank.store, bank.directory)(content)
            assert [(one.path, one.code) for one in caught.value.errors] == [("file", "unreadable_file")]
        assert await stored(bank.store) == []


async def test_what_was_read_before_the_reader_died_is_there_when_it_comes_again(open_bank: OpenBank) -> None:
    async def dying(path: Path, hints: Hints) -> AsyncIterator[list[Part]]:
        (batch,) = [one async for one in read_inline(path, hints)]
        yield batch[:2]
        raise Unreadable(None, "reading it takes more memory than it may have")

    async with open_bank() as bank:
        await bank.store.write(instruments, ORG)
        with pytest.raises(Problem, match="more memory than it may have") as caught:
            await bring_into(bank.store, bank.directory, dying)(FILE)
        assert [(one.path, one.code) for one in caught.value.errors] == [("file", "unreadable_file")]
        assert len(await stored(bank.store)) == 2
        told = await bring_into(bank.store, bank.directory)(FILE)
        assert (told.added, told.duplicates) == (1, 2)


async def test_a_file_that_is_gone_is_no_fault_of_its_sender(open_bank: OpenBank) -> None:
    async def gone(path: Path, hints: Hints) -> AsyncIterator[list[Part]]:
        path.unlink()
        yield [part async for batch in read_inline(path, hints) for part in batch]

    async with open_bank() as bank:
        with pytest.raises(StoreFailure, match="No such file"):
            await bring_into(bank.store, bank.directory, gone)(FILE)


async def test_another_organizations_instruments_get_no_price(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        await bank.store.write(
            lambda tx: tx.run("INSERT INTO organizations (id, name, created_at) VALUES ('org_z', 'Z', :now)")
        )
        await bank.store.write(instruments, "org_z")
        told = await bring_into(bank.store, bank.directory)(f"date,isin,price\n2026-10-01,{VODAFONE},1\n")
        assert (told.added, told.refused_rows) == (0, 1)


async def test_published_rates_come_in_with_where_they_are_from(open_bank: OpenBank) -> None:
    """HMRC's holds for its month, and the European Central Bank's for its day."""
    hmrc = "Country/Territories,Currency,Currency Code,Currency Units per £1,Start Date,End Date\n"
    async with open_bank() as bank:
        bring = bring_into(bank.store, bank.directory)
        told = await bring(f"{hmrc}USA,Dollar,USD,1.3125,01/11/2026,30/11/2026\n")
        assert (told.added, told.refused_rows) == (1, 0)
        told = await bring("CURRENCY,CURRENCY_DENOM,TIME_PERIOD,OBS_VALUE\nGBP,EUR,2026-11-19,0.8712\n")
        assert (told.added, told.refused_rows) == (1, 0)
        assert await stored(bank.store) == [
            ("rate", "EUR", "2026-11-19", "0.8712", "GBP", "import"),
            ("rate", "GBP", "2026-11-01", "1.3125", "USD", "hmrc"),
        ]
