"""Whatever is done to a bank's file: each of its rows is added, there already, replaced, ignored or refused."""

import contextlib

import pytest
import trio
from hypothesis import given, note, settings
from hypothesis import strategies as st

from gatewayd.errors import Problem
from tests.importing.conftest import ORG, Bank, OpenBank
from tests.importing.test_remembered_columns import read_here
from tests.statements.mutilated import WRITERS, Mutilated, Writer, mutilated

_COUNT = "SELECT count(id) FROM bank_transactions WHERE org_id = :org_id AND account_id = :account_id"


async def count(bank: Bank, account: str) -> int:
    return int(await bank.store.read_later(lambda tx: tx.value(_COUNT, account_id=account), ORG))


async def check(bank: Bank, account: str, file: Mutilated) -> None:
    """Import the file into an account that has those before it."""
    before = await count(bank, account)
    run = None
    with contextlib.suppress(Problem):
        run = await bank.bring(account, file.text.encode(), mapping=file.writer.mapping)
    if run is None or run.proposal is not None:
        assert await count(bank, account) == before
        return
    told = (run.added, run.duplicates, run.replaced, run.ignored_rows, run.refused_rows)
    assert (run.status, run.rows, sum(told)) == ("applied", file.rows, file.rows), (told, file.done)
    assert (len(run.refused), sum(one.rows for one in run.ignored)) == (run.refused_rows, run.ignored_rows)
    assert all(one.reason for one in run.refused)
    assert await count(bank, account) == before + run.added


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)
async def test_each_row_of_a_mutilated_file_is_told(open_bank: OpenBank, writer: Writer) -> None:
    """One account takes them all, so that rows are there already and pending ones are replaced."""
    async with open_bank(read_here) as bank:
        account = await bank.account()

        @given(data=st.data())
        @settings(max_examples=6, deadline=None)
        def import_one(data: st.DataObject) -> None:
            file = data.draw(mutilated(writer))
            note(file.text)
            trio.from_thread.run(check, bank, account, file)

        await trio.to_thread.run_sync(import_one)
