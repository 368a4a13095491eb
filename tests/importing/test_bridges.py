"""Days that no file holds: what joins bridges them, a person says what a file covers, or what an account held."""

import datetime
from typing import Any

import pytest

from gatewayd.areas.banking.statements.coverage import (
    GetCoverage,
    balance_now,
    get_coverage,
    remove_stated_balance,
    state_balance,
)
from gatewayd.areas.banking.statements.kept_statements import SaidRange
from gatewayd.areas.banking.statements.stated_balances import RemoveStatedBalance, StateBalance
from gatewayd.errors import Problem
from gatewayd.importing.parts import SIZES, Sizes
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.imports import bank_statements
from tests.importing.conftest import ORG, Bank, OpenBank
from tests.support.statement_files import line, statement
from tests.support.store import make_caller
from tests.support.wire import shown

QUARTER = DateRange("2026-01-01", "2026-03-31")


def export(*lines: tuple[str, int], opening: int | None = None) -> bytes:
    """An ordinary export: a line for each day and amount, with balances where it begins with one."""
    found = [line(at, day, amount, f"SHOP {day}") for at, (day, amount) in enumerate(lines, 2)]
    closing = None if opening is None else opening + sum(amount for _, amount in lines)
    return statement(found, opening=opening, closing=closing)


JANUARY = export(("2026-01-05", 100_00), ("2026-01-28", -12_00), opening=792_00)  # ends at 880.00
FEBRUARY = export(("2026-02-03", -80_00), ("2026-02-27", 10_00), opening=880_00)  # ends at 810.00
MARCH = export(("2026-03-02", 5_00), ("2026-03-20", -15_00), opening=810_00)  # ends at 800.00


async def coverage(bank: Bank, account: str) -> dict[str, Any]:
    request = GetCoverage(account_id=account)
    told = await bank.store.read_later(lambda tx: get_coverage(tx, make_caller(ORG), request), ORG)
    found: dict[str, Any] = shown(told)
    return found


async def state(bank: Bank, account: str, day: str, balance: str, **values: Any) -> dict[str, Any]:
    date = datetime.date.fromisoformat(day)
    request = StateBalance(account_id=account, date=date, balance=balance, **values)
    made = await bank.store.write(lambda tx: state_balance(tx, make_caller(ORG), request), ORG)
    found: dict[str, Any] = shown(made)
    return found


async def left(bank: Bank, account: str, whole: DateRange = QUARTER) -> tuple[list[tuple[str, str]], int]:
    """What keeps a period open: the days that are missing, and the mistakes."""
    return await bank.store.read(
        lambda tx: (
            [(first, last) for first, last in bank_statements.missing(tx, account, whole)],
            bank_statements.mistakes(tx, account, whole),
        ),
        ORG,
    )


# -- what joins


@pytest.mark.parametrize("sizes", [SIZES, Sizes(at_once=0, chunk=1)])
async def test_exports_that_join_bridge_the_days_between(open_bank: OpenBank, sizes: Sizes) -> None:
    async with open_bank(sizes=sizes) as bank:
        account = await bank.account()
        for content in (JANUARY, MARCH):
            await bank.bring(account, content)
        gap = {"fromDate": "2026-01-29", "toDate": "2026-03-01"}
        assert (await coverage(bank, account))["gaps"] == [gap]
        await bank.bring(account, FEBRUARY)
        told = await coverage(bank, account)
        assert (told["fromDate"], told["toDate"], told["gaps"]) == ("2026-01-05", "2026-03-20", [])
        assert [one["fromDate"] for one in told["bridges"]] == ["2026-01-29", "2026-02-28"]
        assert told["ledger"]["difference"] == "0.00"


async def test_an_export_that_does_not_join_leaves_its_days_missing(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, JANUARY)
        await bank.bring(account, export(("2026-02-03", -80_00), opening=879_99))
        told = await coverage(bank, account)
        assert (told["gaps"], told["bridges"]) == ([{"fromDate": "2026-01-29", "toDate": "2026-02-02"}], [])


@pytest.mark.parametrize(("day", "bridges"), [("2026-03-01", 1), ("2026-03-02", 0)])
async def test_statements_alone_bridge_a_month(open_bank: OpenBank, day: str, bridges: int) -> None:
    """From 28 January, 31 days are up to 28 February."""
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, JANUARY)
        await bank.bring(account, export((day, -80_00), opening=880_00))
        assert len((await coverage(bank, account))["bridges"]) == bridges


async def test_nothing_held_bridges_nothing(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, export(("2026-01-05", 100), ("2026-01-28", -100), opening=0))
        await bank.bring(account, export(("2026-02-03", 50), opening=0))
        assert (await coverage(bank, account))["gaps"] == [{"fromDate": "2026-01-29", "toDate": "2026-02-02"}]
        await state(bank, account, "2026-02-02", "0")
        assert (await coverage(bank, account))["gaps"] == []


async def test_an_undone_export_takes_its_bridges_along(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        for content in (JANUARY, MARCH):
            await bank.bring(account, content)
        february = await bank.bring(account, FEBRUARY)
        await bank.importing.undo(ORG, february.id, "bank")
        told = await coverage(bank, account)
        assert (told["gaps"], told["bridges"]) == ([{"fromDate": "2026-01-29", "toDate": "2026-03-01"}], [])


async def test_days_whose_lines_are_gone_are_not_bridged(open_bank: OpenBank) -> None:
    """Two lines that cancel each other came with an import that is undone: the balances agree, and prove nothing."""
    async with open_bank() as bank:
        account = await bank.account()
        lines = [("2026-01-10", 500), ("2026-01-12", -500)]
        first = await bank.bring(account, export(*lines, opening=1000))
        await bank.bring(account, export(("2026-01-05", 100), *lines, ("2026-01-28", -100), opening=900))
        await bank.importing.undo(ORG, first.id, "bank")
        gaps = [(one["fromDate"], one["toDate"]) for one in (await coverage(bank, account))["gaps"]]
        assert gaps == [("2026-01-10", "2026-01-10"), ("2026-01-12", "2026-01-12")]


# -- what a file covers


async def test_the_days_of_a_file_are_said(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        run = await bank.bring(account, export(("2026-01-05", 100)), covers=SaidRange("2026-01-01", "2026-01-31"))
        assert (run.from_date, run.to_date) == ("2026-01-01", "2026-01-31")
        assert await left(bank, account, DateRange("2026-01-01", "2026-01-31")) == ([], 0)


async def test_they_are_said_of_a_file_that_came_before(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, export(("2026-01-05", 100)))
        run = await bank.bring(account, export(("2026-01-05", 100)), covers=SaidRange(None, "2026-01-31"))
        assert (run.added, run.to_date, run.first_imported_at == run.applied_at) == (0, "2026-01-31", True)
        told = await coverage(bank, account)
        assert (told["fromDate"], told["toDate"]) == ("2026-01-05", "2026-01-31")


async def test_a_file_without_lines_covers_what_is_said(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, statement([]), covers=SaidRange(*QUARTER))
        assert await left(bank, account) == ([], 0)


@pytest.mark.parametrize(
    ("first", "last", "mistakes"),
    [
        ("2026-01-06", None, [("fromDate", "out_of_range")]),
        (None, "2026-01-27", [("toDate", "out_of_range")]),
        ("2026-01-06", "2026-01-27", [("fromDate", "out_of_range"), ("toDate", "out_of_range")]),
        ("2026-02-01", "2026-01-31", [("toDate", "date_order")]),
        (None, "2026-11-21", [("toDate", "out_of_range")]),
    ],
)
@pytest.mark.parametrize("again", [False, True])
async def test_a_range_that_the_file_contradicts_is_refused(
    open_bank: OpenBank, first: str | None, last: str | None, mistakes: list[tuple[str, str]], again: bool
) -> None:
    """It is 20 November."""
    async with open_bank() as bank:
        account = await bank.account()
        if again:
            await bank.bring(account, JANUARY)
        with pytest.raises(Problem) as caught:
            await bank.bring(account, JANUARY, covers=SaidRange(first, last))
        assert [(one.path, one.code) for one in caught.value.errors] == mistakes
        assert len(await bank.listed(account)) == (2 if again else 0)


# -- what an account held


async def test_a_quarter_of_ordinary_exports_is_covered(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        for content in (JANUARY, FEBRUARY, MARCH):
            await bank.bring(account, content)
        assert await left(bank, account) == ([("2026-01-01", "2026-01-04"), ("2026-03-21", "2026-03-31")], 0)
        first = await state(bank, account, "2025-12-31", "792.00")
        last = await state(bank, account, "2026-03-31", "800.00", note="Statement 12")
        assert await left(bank, account) == ([], 0)
        assert last["check"] == {"countedBalance": "800.00", "difference": "0.00"}
        assert first["check"] == {"countedBalance": "792.00", "difference": "0.00"}
        assert [one["date"] for one in (await coverage(bank, account))["statedBalances"]] == [
            "2026-03-31",
            "2025-12-31",
        ]


async def test_exports_without_balances_are_covered_by_two_that_are_stated(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, export(("2026-01-05", 100_00), ("2026-01-28", -12_00)))
        await bank.bring(account, export(("2026-03-20", 1_00)))
        assert (await state(bank, account, "2025-12-31", "10.00"))["check"] is None
        wrong = await state(bank, account, "2026-03-31", "98.00")
        assert wrong["check"] == {"countedBalance": "99.00", "difference": "-1.00"}
        missing = [("2026-01-01", "2026-01-04"), ("2026-01-29", "2026-03-19"), ("2026-03-21", "2026-03-31")]
        assert await left(bank, account) == (missing, 1)
        right = await state(bank, account, "2026-03-31", "99.00")
        assert (right["id"], right["version"]) == (wrong["id"], 2)
        assert await left(bank, account) == ([], 0)


async def test_a_balance_that_the_lines_contradict_is_told_where_it_stands(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        for content in (JANUARY, FEBRUARY, MARCH):
            await bank.bring(account, content)
        made = await state(bank, account, "2026-02-10", "700.00")
        assert made["check"] == {"countedBalance": "800.00", "difference": "-100.00"}
        assert (await left(bank, account))[1] == 1
        assert (await left(bank, account, DateRange("2026-03-01", "2026-03-31")))[1] == 0


async def test_what_was_stated_is_taken_back(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, JANUARY)
        made = await state(bank, account, "2025-12-31", "792.00")
        assert (await coverage(bank, account))["fromDate"] == "2026-01-01"

        async def remove(version: int) -> None:
            request = RemoveStatedBalance(balance_id=made["id"], expected_version=version)
            await bank.store.write(lambda tx: remove_stated_balance(tx, make_caller(ORG), request), ORG)

        with pytest.raises(Problem) as caught:
            await remove(2)
        assert caught.value.code == "version_conflict"
        await remove(1)
        told = await coverage(bank, account)
        assert (told["fromDate"], told["statedBalances"]) == ("2026-01-05", [])


async def test_a_day_to_come_cannot_be_stated(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        with pytest.raises(Problem) as caught:
            await state(bank, account, "2026-11-21", "1.00")
        assert [(one.path, one.code) for one in caught.value.errors] == [("date", "out_of_range")]
        with pytest.raises(Problem) as caught:
            await state(bank, account, "2026-11-19", "1.005")
        assert [(one.path, one.code) for one in caught.value.errors] == [("balance", "invalid_decimal")]


async def test_a_stated_balance_is_what_an_account_holds_from_then_on(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, export(("2026-01-05", 100_00), ("2026-01-28", -12_00)))
        await state(bank, account, "2026-01-20", "500.00")
        assert str(await bank.store.read(lambda tx: balance_now(tx, account), ORG)) == "488.00"
