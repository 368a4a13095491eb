"""A file comes into an account: what is added, what is there already, and what is said of it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import trio

from gatewayd.areas.banking.accounts.operations import get_account_details, update_account
from gatewayd.areas.banking.accounts.shapes import BankAccount, GetAccountDetails, UpdateAccount
from gatewayd.areas.banking.imports.operations import list_import_rows
from gatewayd.areas.banking.statements.coverage import GetCoverage, get_coverage
from gatewayd.errors import Problem
from gatewayd.importing.bank import moves
from gatewayd.importing.parts import SIZES, Sizes
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports.import_shapes import ListImportRows
from gatewayd.statements.shapes import Hints, Ignored, Mapping, Part, Proposal, Refused, Unreadable
from gatewayd.store import Store
from tests.importing.conftest import DEADLINE, ORG, Bank, OpenBank, step_of
from tests.support.statement_files import closed, file_of, line, opened, read_parts, statement
from tests.support.store import make_caller
from tests.support.wire import shown

COFFEE = line(2, "2026-03-02", -320, "COSTA COFFEE 12")
SECOND_COFFEE = line(3, "2026-03-02", -320, "COSTA COFFEE 12")
RENT = line(4, "2026-03-05", 120000, "RENT FLAT 2")
MARCH = [COFFEE, SECOND_COFFEE, RENT]


async def account_of(bank: Bank, account_id: str) -> BankAccount:
    request = GetAccountDetails(account_id=account_id)
    return await bank.store.read(lambda tx: get_account_details(tx, make_caller(ORG), request), ORG)


# -- in


async def test_a_file_is_imported_whole(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        run = await bank.bring(account, statement(MARCH, opening=1000, closing=120360))
        assert (run.status, run.rows, run.added, run.duplicates, run.refused_rows) == ("applied", 3, 3, 0, 0)
        assert (run.from_date, run.to_date, run.balanced) == ("2026-03-02", "2026-03-05", True)
        found = await bank.listed(account)
        assert [(one["amount"], one["direction"], one["bookingDate"]) for one in found] == [
            ("1200.00", "in", "2026-03-05"),
            ("-3.20", "out", "2026-03-02"),
            ("-3.20", "out", "2026-03-02"),
        ]
        assert {one["importId"] for one in found} == {run.id}
        assert len({one["fingerprint"] for one in found}) == 3
        after = await account_of(bank, account)
        assert (after.last_import_id, after.coverage.from_date, after.coverage.to_date) == (
            run.id,
            "2026-03-02",
            "2026-03-05",
        )
        assert [(one.type, one.amount, one.as_of) for one in after.balances] == [
            ("closing_booked", "1203.60", "2026-03-05")
        ]


async def test_nothing_is_left_of_the_file(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, statement(MARCH))
        assert list((bank.directory / "imports").iterdir()) == []
        assert await bank.leases() == []


async def test_the_same_file_again_changes_nothing(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        first = await bank.bring(account, statement(MARCH))
        again = await bank.bring(account, statement(MARCH))
        assert (again.id, again.rows, again.added, again.duplicates) == (first.id, 3, 0, 3)
        assert again.first_imported_at == first.applied_at
        # What was staged is cleared away behind the answer.
        now = await bank.run(first.id)
        assert msgspec.structs.replace(now, moved_to=None) == msgspec.structs.replace(first, moved_to=None)
        assert len(await bank.listed(account)) == 3


async def test_a_statement_that_overlaps_adds_only_what_is_new(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, statement(MARCH))
        run = await bank.bring(account, statement([RENT, line(5, "2026-03-09", -5000, "SHELL")]))
        assert (run.added, run.duplicates) == (1, 1)
        assert await bank.amounts(account) == ["-50.00", "1200.00", "-3.20", "-3.20"]


async def test_a_third_coffee_of_the_day_comes_later(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, statement(MARCH))
        third = line(4, "2026-03-02", -320, "COSTA COFFEE 12")
        run = await bank.bring(account, statement([COFFEE, SECOND_COFFEE, third]))
        assert (run.added, run.duplicates) == (1, 2)
        assert len({one["fingerprint"] for one in await bank.listed(account)}) == 4


async def test_the_same_days_in_another_format_are_there_once(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        with_ids = [
            line(1, "2026-03-02", -320, "CARD PAYMENT TO COSTA", fit_id="A1"),
            line(2, "2026-03-02", -320, "CARD PAYMENT TO COSTA", fit_id="A2"),
            line(3, "2026-03-05", 120000, "FASTER PAYMENT M LEE", fit_id="A3"),
        ]
        await bank.bring(account, statement(with_ids, format="ofx"))
        run = await bank.bring(account, statement([*MARCH, line(5, "2026-03-05", -999, "AMAZON")]))
        assert (run.added, run.duplicates) == (1, 3)


async def test_a_booked_line_takes_the_place_of_the_pending_one(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, statement([line(1, None, -4500, "SHELL 1234", value_date="2026-03-01")]))
        (pending,) = await bank.listed(account, status="pending")
        run = await bank.bring(account, statement([line(1, "2026-03-04", -4500, "SHELL 1234 LEEDS")]))
        assert (run.added, run.replaced) == (0, 1)
        (booked,) = await bank.listed(account)
        assert (booked["id"], booked["status"], booked["bookingDate"]) == (pending["id"], "booked", "2026-03-04")
        assert (booked["version"], booked["importId"]) == (2, run.id)
        undone = await bank.importing.undo(ORG, run.id, "bank")
        assert undone.status == "reverted"
        (again,) = await bank.listed(account)
        assert {**again, "updatedAt": "", "version": 0} == {**pending, "updatedAt": "", "version": 0}


async def test_a_pending_line_whose_own_import_is_undone_does_not_come_back(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        first = await bank.bring(account, statement([line(1, None, -4500, "SHELL 1234", value_date="2026-03-01")]))
        booked = await bank.bring(account, statement([line(1, "2026-03-04", -4500, "SHELL 1234 LEEDS")]))
        await bank.importing.undo(ORG, first.id, "bank")
        assert await bank.amounts(account) == ["-45.00"]
        await bank.importing.undo(ORG, booked.id, "bank")
        assert await bank.listed(account) == []


async def test_a_pending_line_eight_days_before_is_another(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, statement([line(1, None, -4500, "SHELL", value_date="2026-03-01")]))
        run = await bank.bring(account, statement([line(1, "2026-03-09", -4500, "SHELL")]))
        assert (run.added, run.replaced) == (1, 0)


async def test_a_statement_that_does_not_add_up_is_marked_and_leaves_a_gap(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, statement([line(1, "2026-01-31", -100)], opening=500, closing=400))
        wrong = await bank.bring(account, statement([line(1, "2026-02-10", -100)], opening=400, closing=200))
        await bank.bring(account, statement([line(1, "2026-03-02", 50)], opening=200, closing=250))
        assert wrong.balanced is False
        found = await bank.store.read_later(
            lambda tx: get_coverage(tx, make_caller(ORG), GetCoverage(account_id=account)), ORG
        )
        told = shown(found)
        assert told["gaps"] == [{"fromDate": "2026-02-01", "toDate": "2026-03-01"}]
        assert told["ledger"] == {
            "asOf": "2026-03-02",
            "statementBalance": "2.50",
            "ledgerBalance": "3.50",
            "difference": "1.00",
        }
        assert [one["balanced"] for one in told["statements"]] == [True, False, True]


async def test_what_becomes_of_the_rows_adds_up_to_them(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, statement([COFFEE]))
        told = [Ignored(line=1, kind="balance"), Ignored(line=8, kind="total"), Ignored(line=9, kind="total")]
        parts = [opened(), *MARCH, Refused(line=6, reason="no date", statement=0), *told, closed(MARCH)]
        run = await bank.bring(account, file_of(parts))
        assert (run.rows, run.added, run.duplicates, run.ignored_rows, run.refused_rows) == (7, 2, 1, 3, 1)
        assert [(one.kind, one.rows, one.first_line) for one in run.ignored] == [("balance", 1, 1), ("total", 2, 8)]


async def test_lines_in_another_currency_are_refused(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        run = await bank.bring(account, statement([COFFEE, line(3, "2026-03-02", 100, currency="EUR")]))
        assert (run.added, run.refused_rows) == (1, 1)
        assert run.refused[0].reason == "It is in EUR, and the account in GBP."


async def close_march(bank: Bank, entity: str) -> None:
    await bank.store.write(lambda tx: period_locks.close(tx, entity, "2026-03-01", "2026-03-03"), ORG)


async def test_rows_in_a_closed_period_are_refused(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        entity = await bank.entity()
        account = await bank.account(legal_entity_id=entity)
        await bank.bring(account, statement([COFFEE]))
        await close_march(bank, entity)
        run = await bank.bring(account, statement([COFFEE, line(3, "2026-03-03", -1), RENT]))
        assert (run.added, run.duplicates, run.refused_rows) == (1, 1, 1)
        reason = "The period that holds 2026-03-03 is closed, or being closed: once it is open, import the file again."
        assert [(one.line, one.reason) for one in run.refused] == [(3, reason)]


async def test_both_ends_of_a_closed_period_are_closed(open_bank: OpenBank) -> None:
    """1 to 3 March."""
    async with open_bank() as bank:
        entity = await bank.entity()
        account = await bank.account(legal_entity_id=entity)
        await close_march(bank, entity)
        days = ("2026-02-28", "2026-03-01", "2026-03-03", "2026-03-04")
        run = await bank.bring(account, statement([line(2 + i, day, -1 - i) for i, day in enumerate(days)]))
        assert [one.line for one in run.refused] == [3, 4]
        assert await bank.amounts(account) == ["-0.04", "-0.01"]


async def test_the_same_file_brings_what_was_refused_once_the_period_is_open(open_bank: OpenBank) -> None:
    """And nothing twice; while the period is closed, the file is there as far as it can be."""
    async with open_bank() as bank:
        entity = await bank.entity()
        account = await bank.account(legal_entity_id=entity)
        await close_march(bank, entity)
        run = await bank.bring(account, statement(MARCH))
        assert (run.added, run.refused_rows) == (1, 2)
        assert (await bank.bring(account, statement(MARCH))).id == run.id
        await bank.store.write(lambda tx: period_locks.reopen(tx, entity, "2026-03-01", "2026-03-03"), ORG)
        again = await bank.bring(account, statement(MARCH))
        assert (again.added, again.duplicates, again.refused_rows) == (2, 1, 0)
        assert await bank.amounts(account) == ["1200.00", "-3.20", "-3.20"]
        assert (await bank.bring(account, statement(MARCH))).id == again.id


async def test_what_is_being_closed_takes_the_same_file_by_override(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        entity = await bank.entity()
        account = await bank.account(legal_entity_id=entity)
        await bank.store.write(lambda tx: period_locks.begin_closing(tx, entity, "2026-03-01", "2026-03-03"), ORG)
        run = await bank.bring(account, statement(MARCH))
        assert (run.added, run.refused_rows) == (1, 2)
        again = await bank.bring(account, statement(MARCH), overrides_closing=True)
        assert (again.added, again.duplicates) == (2, 1)


# -- preview


async def test_a_preview_adds_nothing_until_it_is_applied(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.bring(account, statement([RENT]))
        preview = await bank.bring(account, statement([*MARCH]), preview=True)
        assert (preview.status, preview.added, preview.duplicates) == ("previewed", 2, 1)
        assert len(await bank.listed(account)) == 1
        request = ListImportRows(import_id=preview.id, limit=2)
        page = await bank.store.read(lambda tx: list_import_rows(tx, make_caller(ORG), request), ORG)
        assert [(one["action"], one["line"]) for one in shown(page)] == [("add", 2), ("add", 3)]
        following = msgspec.structs.replace(request, cursor=page.next_cursor)
        page = await bank.store.read(lambda tx: list_import_rows(tx, make_caller(ORG), following), ORG)
        (one,) = shown(page)
        assert (one["action"], one["reason"], page.next_cursor) == ("duplicate", "It is there.", None)
        applied = await bank.importing.apply(ORG, preview.id, "bank")
        assert (applied.status, applied.added) == ("applied", 2)
        assert len(await bank.listed(account)) == 3


async def test_a_preview_is_compared_anew_when_it_is_applied(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        preview = await bank.bring(account, statement(MARCH), preview=True)
        other = await bank.bring(account, statement([COFFEE, RENT]))
        assert other.added == 2
        applied = await bank.importing.apply(ORG, preview.id, "bank")
        assert (applied.added, applied.duplicates) == (1, 2)
        await bank.importing.undo(ORG, other.id, "bank")
        assert len(await bank.listed(account)) == 1


async def test_what_was_there_at_the_preview_and_is_gone_comes_in(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        other = await bank.bring(account, statement([COFFEE, RENT]))
        preview = await bank.bring(account, statement(MARCH), preview=True)
        assert (preview.added, preview.duplicates) == (1, 2)
        await bank.importing.undo(ORG, other.id, "bank")
        applied = await bank.importing.apply(ORG, preview.id, "bank")
        assert (applied.added, applied.duplicates) == (3, 0)
        assert await bank.amounts(account) == ["1200.00", "-3.20", "-3.20"]


async def test_a_preview_is_applied_once(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        preview = await bank.bring(account, statement(MARCH), preview=True)
        await bank.importing.apply(ORG, preview.id, "bank")
        with pytest.raises(Problem) as caught:
            await bank.importing.apply(ORG, preview.id, "bank")
        assert caught.value.code == "invalid_state"


async def test_a_preview_that_nobody_applies_is_given_up(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        preview = await bank.bring(account, statement(MARCH), preview=True)
        bank.clock.advance(8 * 86_400 * 1_000_000)
        await bank.importing.keep_house()
        run = await bank.run(preview.id)
        assert (run.status, run.moved_to) == ("failed", None)
        assert run.error is not None
        assert await bank.staged(preview.id) == 0


# -- out


async def test_undoing_takes_out_exactly_what_was_added(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        first = await bank.bring(account, statement([COFFEE], opening=1000, closing=680))
        second = await bank.bring(account, statement(MARCH, opening=1000, closing=120360))
        undone = await bank.importing.undo(ORG, second.id, "bank")
        assert undone.status == "reverted"
        assert [one["importId"] for one in await bank.listed(account)] == [first.id]
        after = await account_of(bank, account)
        assert (after.last_import_id, after.balances[0].amount) == (first.id, "6.80")
        assert after.coverage.to_date == "2026-03-02"
        again = await bank.bring(account, statement(MARCH, opening=1000, closing=120360))
        assert (again.id != second.id, again.added) == (True, 2)


async def test_a_file_whose_lines_went_with_another_import_comes_anew(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        first = await bank.bring(account, statement(MARCH, format="ofx"))
        same = await bank.bring(account, statement(MARCH))
        assert (same.added, same.duplicates) == (0, 3)
        await bank.importing.undo(ORG, first.id, "bank")
        assert await bank.listed(account) == []
        again = await bank.bring(account, statement(MARCH))
        assert (again.id != same.id, again.added) == (True, 3)


async def test_what_is_allocated_is_not_taken_out(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        run = await bank.bring(account, statement(MARCH))
        await bank.allocate_one(account)
        with pytest.raises(Problem) as caught:
            await bank.importing.undo(ORG, run.id, "bank")
        assert caught.value.code == "invalid_state"
        assert len(await bank.listed(account)) == 3


async def test_what_lies_in_a_closed_period_is_not_taken_out(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        entity = await bank.entity()
        account = await bank.account(legal_entity_id=entity)
        run = await bank.bring(account, statement(MARCH))
        await close_march(bank, entity)
        with pytest.raises(Problem) as caught:
            await bank.importing.undo(ORG, run.id, "bank")
        assert caught.value.code == "period_closed"


async def test_the_refusal_tells_a_period_that_is_being_closed_from_a_closed_one(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        entity = await bank.entity()
        account = await bank.account(legal_entity_id=entity)
        run = await bank.bring(account, statement(MARCH))
        days = ("2026-03-01", "2026-03-03")
        states = []
        for lock in (period_locks.begin_closing, period_locks.close):
            await bank.store.write(lambda tx, lock=lock: lock(tx, entity, *days), ORG)  # type: ignore[misc]
            with pytest.raises(Problem) as caught:
                await bank.importing.undo(ORG, run.id, "bank")
            states.append((caught.value.code, caught.value.extra["state"], caught.value.extra["date"]))
        assert states == [("period_closed", "closing", "2026-03-02"), ("period_closed", "closed", "2026-03-02")]


async def test_only_what_is_applied_can_be_undone(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        run = await bank.bring(account, statement(MARCH))
        await bank.importing.undo(ORG, run.id, "bank")
        with pytest.raises(Problem) as caught:
            await bank.importing.undo(ORG, run.id, "bank")
        assert caught.value.code == "invalid_state"


# -- what is refused


async def test_a_file_that_is_no_statement_leaves_a_run_that_failed(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        with pytest.raises(Problem) as caught:
            await bank.bring(account, file_of([opened(), *MARCH]) + b"PK\x03\x04")
        assert caught.value.message == "The file cannot be read: line 5: This is no statement."
        run = await bank.run(str(caught.value.extra["importId"]))
        assert (run.status, run.error) == ("failed", "line 5: This is no statement.")
        assert await bank.staged(run.id) == 0
        assert await bank.listed(account) == []


async def test_a_closed_account_takes_no_imports(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        request = UpdateAccount(account_id=account, status="closed")
        await bank.store.write(lambda tx: update_account(tx, make_caller(ORG), request), ORG)
        with pytest.raises(Problem) as caught:
            await bank.bring(account, statement(MARCH))
        assert caught.value.code == "invalid_state"


async def test_two_imports_into_one_account_at_once(open_bank: OpenBank) -> None:
    goes_on, begun = trio.Event(), trio.Event()

    async def held(path: Path, hints: Hints) -> AsyncIterator[list[Part]]:
        begun.set()
        await goes_on.wait()
        async for batch in read_parts(path, hints):
            yield batch

    async with open_bank(held) as bank, trio.open_nursery() as nursery:
        account, other = await bank.account(), await bank.account()
        nursery.start_soon(bank.bring, account, statement(MARCH))
        await begun.wait()
        with pytest.raises(Problem) as caught:
            await bank.bring(account, statement([RENT]))
        assert caught.value.code == "invalid_state"
        goes_on.set()
        assert (await bank.bring(other, statement([RENT]))).added == 1


# -- columns that nobody knows

_MAPPING = Mapping(date="When", amount="How much", description=("What",), date_format="dd/mm/yyyy")
_PROPOSAL = Proposal(headings=("When", "How much", "What"), rows=(("01/02/2026", "1.00", "x"),), mapping=_MAPPING)


async def read_mapped(path: Path, hints: Hints) -> AsyncIterator[list[Part]]:
    """Knows the columns only where it is told."""
    if hints.mapping is None:
        raise Unreadable(None, "Nobody knows these columns.", _PROPOSAL)
    async for batch in read_parts(path, hints):
        yield batch


async def test_unknown_columns_are_asked_for_and_then_remembered(open_bank: OpenBank) -> None:
    async with open_bank(read_mapped) as bank:
        account, other = await bank.account(), await bank.account()
        asked = await bank.bring(account, statement(MARCH))
        assert (asked.status, asked.rows) == ("uploaded", 0)
        assert asked.proposal is not None
        assert asked.proposal.headings == ["When", "How much", "What"]
        told = await bank.bring(account, statement(MARCH), mapping=_MAPPING)
        assert (told.status, told.added) == ("applied", 3)
        assert told.mapping is not None
        assert told.mapping.date_format == "dd/mm/yyyy"
        assert (await bank.bring(other, statement([RENT]))).added == 1


# -- what goes wrong with us


async def test_a_fault_of_ours_ends_one_import_and_nothing_else(open_bank: OpenBank) -> None:
    async def broken(path: Path, hints: Hints) -> AsyncIterator[list[Part]]:
        if hints.file_name == "bad.csv":
            raise LookupError("a fault of the reader")
        async for batch in read_parts(path, hints):
            yield batch

    async with open_bank(broken) as bank:
        account = await bank.account()
        with pytest.raises(Problem) as caught:
            await bank.bring(account, statement(MARCH), file_name="bad.csv")
        assert caught.value.code == "internal_error"
        assert isinstance(bank.log.claim("import_failed")["exc_info"], LookupError)
        assert (await bank.bring(account, statement(MARCH))).status == "applied"


async def test_a_request_is_answered_before_a_slow_import_ends(open_bank: OpenBank) -> None:
    goes_on = trio.Event()

    async def held(path: Path, hints: Hints) -> AsyncIterator[list[Part]]:
        await goes_on.wait()
        async for batch in read_parts(path, hints):
            yield batch

    async with open_bank(held, patience=0.01) as bank:
        account = await bank.account()
        run = await bank.bring(account, statement(MARCH))
        assert (run.status, run.stage) == ("uploaded", "reading")
        assert list(bank.directory.glob("incoming-*")) == []  # it was moved, and is there though its request has ended
        goes_on.set()
        with trio.fail_after(DEADLINE):
            while (await bank.run(run.id)).status != "applied":
                await bank.store.write_behind(lambda tx: None)  # behind what the engine waits for
                await trio.lowlevel.checkpoint()  # a write cannot be cancelled
        assert len(await bank.listed(account)) == 3


@pytest.mark.parametrize("sizes", [SIZES, Sizes(at_once=1, chunk=1)])
async def test_a_period_that_is_closed_while_rows_come_in_keeps_them_out(open_bank: OpenBank, sizes: Sizes) -> None:
    """Between the comparison and the last transaction, of a large import too."""
    entities: list[str] = []

    class Closing:
        def __init__(self, store: Store) -> None:
            self._store = store

        async def write(self, work: Any, org_id: str | None = None) -> Any:
            if entities and step_of(work) in (moves.apply_whole, moves.begin_hidden):
                entity = entities.pop()
                await self._store.write(lambda tx: period_locks.close(tx, entity, "2026-03-01", "2026-03-03"), ORG)
            return await self._store.write(work, org_id)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._store, name)

    async with open_bank(sizes=sizes, watch=lambda store: cast(Store, Closing(store))) as bank:
        entities.append(await bank.entity())
        account = await bank.account(legal_entity_id=entities[0])
        run = await bank.bring(account, statement(MARCH))
        assert entities == []
        assert (run.status, run.added, run.refused_rows) == ("applied", 1, 2)
        assert await bank.amounts(account) == ["1200.00"]


# -- what it is for


async def test_rules_allocate_what_an_import_brings(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.rule("coffee")
        run = await bank.bring(account, statement(MARCH))
        assert (run.status, run.stage) == ("applied", None)
        left = {one["description"]: one["unallocatedAmount"] for one in await bank.listed(account)}
        assert left == {COFFEE.description: "0.00", RENT.description: "1200.00"}


async def test_rules_allocate_nothing_of_a_preview(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        await bank.rule("coffee")
        run = await bank.bring(account, statement(MARCH), preview=True)
        assert (run.status, run.stage, await bank.listed(account)) == ("previewed", None, [])
