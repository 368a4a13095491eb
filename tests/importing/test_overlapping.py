"""Imports that overlap, or hold parts of days: coverage names the days whose lines are all there (Domain B6)."""

import pytest

from gatewayd.areas.banking.accounts.shapes import DateRange
from gatewayd.areas.banking.statements import statement_gaps
from gatewayd.areas.banking.statements.coverage import GetCoverage, get_coverage
from gatewayd.importing.parts import SIZES, Sizes
from tests.importing.conftest import ORG, Bank, OpenBank
from tests.support.statement_files import closed, file_of, line, opened
from tests.support.store import make_caller

SIZES_OF_BOTH_KINDS = [SIZES, Sizes(at_once=1, chunk=1)]


def month(first: str, last: str, *days: str) -> bytes:
    """A statement of these days, with a line on some of them, whose amount follows from the day."""
    lines = [line(n, day, -int(day.replace("-", "")), f"SHOP {day}") for n, day in enumerate(days, 2)]
    return file_of([opened(from_date=first, to_date=last), *lines, closed(lines)])


MARCH = month("2026-03-01", "2026-03-31", "2026-03-02", "2026-03-20", "2026-03-25")
LATER = month("2026-03-15", "2026-04-14", "2026-03-20", "2026-03-25", "2026-04-03")
APRIL = month("2026-04-01", "2026-04-30", "2026-04-03", "2026-04-20")


async def covered(bank: Bank, account: str) -> tuple[str | None, str | None, list[tuple[str, str]]]:
    """The first and last day, and the gaps between them: as the account and its coverage tell them alike."""
    told = await bank.store.read_later(
        lambda tx: get_coverage(tx, make_caller(ORG), GetCoverage(account_id=account)), ORG
    )
    return told.from_date, told.to_date, [_days(gap) for gap in told.gaps]


def _days(gap: DateRange) -> tuple[str, str]:
    return gap.from_date, gap.to_date


@pytest.mark.parametrize("sizes", SIZES_OF_BOTH_KINDS)
async def test_days_whose_lines_went_with_the_other_import_are_missing(open_bank: OpenBank, sizes: Sizes) -> None:
    async with open_bank(sizes=sizes) as bank:
        account = await bank.account()
        march = await bank.bring(account, MARCH)
        later = await bank.bring(account, LATER)
        assert (later.added, later.duplicates) == (1, 2)
        assert await covered(bank, account) == ("2026-03-01", "2026-04-14", [])
        await bank.importing.undo(ORG, march.id, "bank")
        assert [one["bookingDate"] for one in await bank.listed(account)] == ["2026-04-03"]
        missing = [("2026-03-20", "2026-03-20"), ("2026-03-25", "2026-03-25")]
        assert await covered(bank, account) == ("2026-03-15", "2026-04-14", missing)


async def test_the_first_import_again_covers_its_days(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        march = await bank.bring(account, MARCH)
        await bank.bring(account, LATER)
        await bank.importing.undo(ORG, march.id, "bank")
        assert (await bank.bring(account, MARCH)).added == 3
        assert await covered(bank, account) == ("2026-03-01", "2026-04-14", [])


async def test_the_other_file_again_covers_its_days(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        march = await bank.bring(account, MARCH)
        await bank.bring(account, LATER)
        await bank.importing.undo(ORG, march.id, "bank")
        again = await bank.bring(account, LATER)
        assert (again.added, again.duplicates) == (2, 1)
        assert await covered(bank, account) == ("2026-03-15", "2026-04-14", [])


async def test_undoing_the_later_one_takes_nothing_from_the_first(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, MARCH)
        later = await bank.bring(account, LATER)
        await bank.importing.undo(ORG, later.id, "bank")
        assert await covered(bank, account) == ("2026-03-01", "2026-03-31", [])


async def test_of_three_only_what_rested_on_the_middle_one_is_missing(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, MARCH)
        later = await bank.bring(account, LATER)
        april = await bank.bring(account, APRIL)
        assert april.duplicates == 1
        await bank.importing.undo(ORG, later.id, "bank")
        assert await covered(bank, account) == ("2026-03-01", "2026-04-30", [("2026-04-03", "2026-04-03")])
        await bank.importing.undo(ORG, april.id, "bank")
        assert await covered(bank, account) == ("2026-03-01", "2026-03-31", [])


async def test_where_duplicates_are_not_kept_each_day_of_the_lines_is_missing(
    open_bank: OpenBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statement_gaps, "DUPLICATES_KEPT", 1)
    async with open_bank() as bank:
        account = await bank.account()
        march = await bank.bring(account, MARCH)
        await bank.bring(account, LATER)
        await bank.importing.undo(ORG, march.id, "bank")
        missing = [("2026-03-20", "2026-03-20"), ("2026-03-25", "2026-03-25")]
        assert await covered(bank, account) == ("2026-03-15", "2026-04-14", missing)


# -- reports within the day


async def test_an_interim_report_covers_no_day_and_tells_no_balance(open_bank: OpenBank) -> None:
    line_of_today = line(2, "2026-03-02", -4500, "SHELL 12")
    report = closed([line_of_today], 10000, 5500, is_interim=True)
    async with open_bank() as bank:
        account = await bank.account()
        run = await bank.bring(account, file_of([opened(format="camt052"), line_of_today, report]))
        assert (run.status, run.format, run.added, run.balanced) == ("applied", "camt052", 1, None)
        assert await covered(bank, account) == (None, None, [])
        assert await bank.amounts(account) == ["-45.00"]


async def test_the_statement_takes_the_place_of_an_interim_report(open_bank: OpenBank) -> None:
    pending = line(2, None, -4500, "SHELL 12", value_date="2026-03-02")
    booked = line(2, "2026-03-03", -4500, "SHELL 12")
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, file_of([opened(format="mt942"), pending, closed([pending], is_interim=True)]))
        assert [one["status"] for one in await bank.listed(account)] == ["pending"]
        run = await bank.bring(account, file_of([opened(format="mt940"), booked, closed([booked])]))
        assert (run.added, run.replaced) == (0, 1)
        assert [one["status"] for one in await bank.listed(account)] == ["booked"]
        assert await covered(bank, account) == ("2026-03-03", "2026-03-03", [])
