"""An account that is made for a file is there when the import is, and goes with it where that fails."""

import math
from typing import Any, cast

import pytest
import trio

from gatewayd.areas.banking.accounts.operations import update_account
from gatewayd.areas.banking.accounts.shapes import CreateAccount, UpdateAccount
from gatewayd.clock import DAY
from gatewayd.errors import Problem
from gatewayd.importing.engine import PREVIEW_DAYS
from gatewayd.importing.parts import Sizes
from gatewayd.importing.runs import Order
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.statements.shapes import Mapping, Proposal, Unreadable
from gatewayd.store import Store
from tests.importing.conftest import DEADLINE, ORG, Bank, OpenBank
from tests.importing.test_interrupted import EndingStore
from tests.support.statement_files import line, read_parts, received, statement
from tests.support.store import make_caller

SMALL = Sizes(at_once=3, chunk=2)
MARCH = statement([line(n, f"2026-03-{n:02}", -100 * n, f"SHOP {n}") for n in range(2, 10)])
CUT = MARCH + b"{"  # eight lines, and no statement in the end
WRITES_MAX = 30
COUNTS = """
SELECT (SELECT count(*) FROM bank_accounts WHERE org_id = :org_id), (SELECT count(*) FROM import_runs
    WHERE org_id = :org_id), (SELECT count(*) FROM import_rows WHERE org_id = :org_id),
    (SELECT count(*) FROM bank_statements WHERE org_id = :org_id)
"""


async def bring(bank: Bank, content: bytes, *, preview: bool = False) -> ImportRunRow:
    order = Order(
        kind="bank",
        file_name="march.csv",
        format=None,
        mapping=None,
        preview=preview,
        new_account=CreateAccount(name="Current"),
    )
    with trio.fail_after(DEADLINE):
        return await bank.importing.import_file(ORG, order, received(bank.directory, content))


async def counts(bank: Bank) -> tuple[int, ...]:
    """Accounts, runs, staged rows, statements."""
    return (await bank.store.read_later(lambda tx: tx.rows(COUNTS), ORG))[0]


async def test_the_account_is_made_with_the_import(open_bank: OpenBank) -> None:
    async with open_bank(patience=math.inf) as bank:
        run = await bring(bank, MARCH)
        assert (run.status, run.added) == ("applied", 8)
        assert len(await bank.listed(run.account_id)) == 8


async def test_a_file_that_cannot_be_read_leaves_nothing(open_bank: OpenBank) -> None:
    async with open_bank(patience=math.inf) as bank:
        for content in (b"no statement", CUT):
            with pytest.raises(Problem, match="cannot be read") as refused:
                await bring(bank, content)
            assert "importId" not in refused.value.extra
            assert (await counts(bank), await bank.leases()) == ((0, 0, 0, 0), [])


async def test_an_import_of_an_account_that_was_there_leaves_its_run(open_bank: OpenBank) -> None:
    async with open_bank() as bank:
        account = await bank.account()
        with pytest.raises(Problem, match="cannot be read") as refused:
            await bank.bring(account, CUT)
        assert (await bank.run(str(refused.value.extra["importId"]))).status == "failed"
        assert (await counts(bank))[:2] == (1, 1)


@pytest.mark.parametrize("content", [MARCH, CUT])
@pytest.mark.parametrize("writes", range(1, WRITES_MAX, 2))
async def test_of_one_that_is_ended_there_is_all_or_nothing(open_bank: OpenBank, writes: int, content: bytes) -> None:
    """By a kill behind any write; what is left over is looked after by the next process."""
    scope = trio.CancelScope()
    async with open_bank(sizes=SMALL) as outside:
        with scope:
            async with open_bank(
                sizes=SMALL, watch=lambda store: cast(Store, EndingStore(store, writes, scope)), patience=math.inf
            ) as bank:
                try:
                    await bring(bank, content)
                except Problem:
                    assert content == CUT
        async with open_bank(sizes=SMALL) as bank:
            await bank.importing.keep_house()
            with trio.fail_after(DEADLINE):
                while (found := await counts(outside)) not in ((0, 0, 0, 0), (1, 1, 0, 1)):
                    await bank.importing.keep_house()
                    await trio.lowlevel.checkpoint()
        assert content == MARCH or found == (0, 0, 0, 0)


async def test_a_preview_that_nobody_applies_goes_with_its_account(open_bank: OpenBank) -> None:
    async with open_bank(patience=math.inf) as bank:
        run = await bring(bank, MARCH, preview=True)
        assert (run.status, await counts(bank)) == ("previewed", (1, 1, 8, 1))
        bank.clock.advance(PREVIEW_DAYS * DAY + 1)
        await bank.importing.keep_house()
        assert (await counts(bank), await bank.leases()) == ((0, 0, 0, 0), [])


async def test_a_preview_that_is_applied_keeps_its_account(open_bank: OpenBank) -> None:
    async with open_bank(patience=math.inf) as bank:
        run = await bring(bank, MARCH, preview=True)
        applied = await bank.importing.apply(ORG, run.id, "bank")
        bank.clock.advance(PREVIEW_DAYS * DAY + 1)
        await bank.importing.keep_house()
        assert (applied.status, len(await bank.listed(run.account_id))) == ("applied", 8)


async def test_one_that_waits_for_a_mapping_goes_after_a_while(open_bank: OpenBank) -> None:
    proposal = Proposal(headings=("Day", "Money"), rows=(("1", "2"),), mapping=Mapping(date="Day"), doubts=())

    async def asking(path: Any, hints: Any) -> Any:
        raise Unreadable(None, "Nobody knows its columns.", proposal)
        yield

    async with open_bank(read_apart=asking, patience=math.inf) as bank:
        run = await bring(bank, MARCH)
        assert (run.status, run.stage, run.proposal is None) == ("uploaded", None, False)
        await bank.importing.keep_house()
        assert (await counts(bank))[:2] == (1, 1)
        bank.clock.advance(PREVIEW_DAYS * DAY + 1)
        await bank.importing.keep_house()
        assert await counts(bank) == (0, 0, 0, 0)


@pytest.mark.parametrize("used", ["edited", "imported"])
async def test_an_account_that_was_used_meanwhile_stays(open_bank: OpenBank, used: str) -> None:
    async with open_bank(read_apart=read_parts, patience=math.inf) as bank:
        run = await bring(bank, MARCH, preview=True)
        if used == "edited":
            request = UpdateAccount(account_id=run.account_id, name="Tax account")
            await bank.store.write(lambda tx: update_account(tx, make_caller(ORG), request), ORG)
        else:
            await bank.bring(run.account_id, statement([line(1, "2026-04-01", -100)]))
        bank.clock.advance(PREVIEW_DAYS * DAY + 1)
        await bank.importing.keep_house()
        assert (await bank.run(run.id)).status == "failed"
        assert (await counts(bank))[0] == 1
