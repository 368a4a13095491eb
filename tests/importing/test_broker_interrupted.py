"""A process that is ended at any moment of a broker's import: the next one goes on, and nothing comes in twice."""

from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.errors import Problem
from gatewayd.importing.parts import Sizes
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.store import Store
from tests.importing.brokerage import Brokerage, Open, opener
from tests.importing.conftest import DEADLINE, ORG
from tests.importing.test_interrupted import FIND_RUN, EndingStore
from tests.support.watched_store import WatchedStore

SMALL = Sizes(at_once=15, chunk=10)  # three rows at once, else two in each transaction
HEADER = "Trade Date,Action,Ticker,Quantity,Price,Fees,Reference\n"
BEFORE = HEADER + "01/01/2025,Buy,ABC,100,1.00,0.00,B1\n"
LARGE = HEADER + "".join(
    f"{13 + n % 9}/01/2025,{'Sell' if n % 3 == 2 else 'Buy'},{'ABC' if n % 2 else 'DEF'},10,{1 + n}.00,1.00,R{n}\n"
    for n in range(12)
)


@pytest.fixture
def open_brokerage(database_image: bytes, tmp_path: Path) -> Open:
    return opener(database_image, tmp_path)


def by_content(books: dict[str, list[Any]]) -> list[Any]:
    """What transactions came to, whatever their ids."""
    return sorted((row[1:] for row in books["rows"]), key=str)


async def ended(open_brokerage: Open, writes: int, act: Any) -> None:
    """Act, and be ended behind so many writes."""
    scope = trio.CancelScope()
    async with open_brokerage(sizes=SMALL):
        with scope:
            async with open_brokerage(
                sizes=SMALL, watch=lambda store: cast(Store, EndingStore(store, writes, scope))
            ) as one:
                await act(one)


async def gone_on_with(one: Brokerage) -> ImportRunRow:
    """The largest run, once it has been looked after."""
    await one.importing.recover()
    run_id = str(await one.store.read_later(lambda tx: tx.value(FIND_RUN), ORG))
    with trio.fail_after(DEADLINE):
        while (run := await one.run(run_id)).stage is not None:
            await one.store.write_behind(lambda tx: None)  # behind what the engine waits for
            await trio.lowlevel.checkpoint()
    return run


@pytest.mark.parametrize("writes", range(1, 30, 2))
async def test_an_import_that_is_ended_is_applied_or_failed(open_brokerage: Open, writes: int) -> None:
    async with open_brokerage(sizes=SMALL) as one:
        account, other = await one.account(), await one.account(name="Compared")
        await one.bring(account, BEFORE)
        before = by_content(await one.books())
        await one.bring(other, BEFORE)
        whole = await one.bring(other, LARGE)
        assert (whole.status, whole.refused_rows) == ("applied", 0)
        expected, cash = await one.positions(other), await one.cash(other)
        await one.undo(whole)
        first = await one.run(whole.id)
        assert first.status == "reverted"
    await ended(open_brokerage, writes, lambda one: one.bring(account, LARGE + "\n"))
    async with open_brokerage(sizes=SMALL) as one:
        run = await gone_on_with(one)
        assert run.status in ("applied", "failed")
        if run.status == "applied":
            assert (run.added, run.refused_rows) == (12, 0)
            assert await one.positions(account) == expected
            assert await one.cash(account) == cash
            again = await one.bring(account, LARGE + "\n\n")
            assert (again.added, again.duplicates) == (0, 12)
        else:
            assert len(await one.listed(account)) == len(before)


@pytest.mark.parametrize("writes", range(1, 14, 2))
async def test_undoing_that_is_ended_is_gone_on_with(open_brokerage: Open, writes: int) -> None:
    async with open_brokerage(sizes=SMALL) as one:
        account = await one.account()
        await one.bring(account, BEFORE)
        before = await one.books()
        run = await one.bring(account, LARGE)
        assert (run.status, run.added) == ("applied", 12)
    await ended(open_brokerage, writes, lambda one: one.undo(run))
    async with open_brokerage(sizes=SMALL) as one:
        left = await gone_on_with(one)
        if left.status == "applied":
            left = await one.undo(left)
        assert left.status == "reverted"
        assert await one.books() == before


async def test_a_large_import_that_something_needs_since_stays_whole(open_brokerage: Open) -> None:
    async with open_brokerage(sizes=SMALL) as one:
        account = await one.account()
        run = await one.bring(account, LARGE)
        sale = {"instrument": {"symbol": "DEF"}, "quantity": "1", "unitPrice": "3"}
        held = await one.positions(account)
        await one.enter(accountId=account, type="sell", tradeDate="2025-02-01", **{**sale, "quantity": held["DEF"][0]})
        before = await one.books()
        with pytest.raises(Exception, match="would leave"):
            await one.undo(run)
        assert await one.books() == before
        assert (await one.run(run.id)).status == "applied"


async def test_what_is_closed_while_an_import_is_undone_stays(open_brokerage: Open) -> None:
    """January is closed once some of it has left; reopened, the rest leaves too."""
    closed = ("2025-01-01", "2025-01-31")
    async with open_brokerage(sizes=SMALL) as one:

        class Closing(WatchedStore):
            async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
                result = await write()
                if 0 < len((await one.books())["rows"]) < 12:
                    await one.store.write(lambda tx: period_locks.close(tx, one.entity, *closed), ORG)
                return result

        account = await one.account()
        run = await one.bring(account, LARGE)
        async with open_brokerage(sizes=SMALL, watch=lambda store: cast(Store, Closing(store))) as other:
            with pytest.raises(Problem, match="is closed"):
                await other.undo(run)
        left = await one.run(run.id)
        assert (left.status, left.stage) == ("reverting", None)
        assert "is closed" in (left.error or "")
        assert 0 < len(await one.listed(account)) < 12
        with pytest.raises(Problem, match="is closed"):
            await one.undo(left)
        await one.store.write(lambda tx: period_locks.reopen(tx, one.entity, *closed), ORG)
        assert (await one.undo(left)).status == "reverted"
        assert await one.listed(account) == []


async def test_no_write_of_a_large_import_is_long(open_brokerage: Open) -> None:
    """Nor of one that is undone: at most two rows at a time come and go here."""
    counts: list[int] = [0]

    class Watching(WatchedStore):
        async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
            result = await write()
            counts.append(len((await outside.books())["rows"]))
            return result

    async with open_brokerage(sizes=SMALL) as outside:
        account = await outside.account()
        async with open_brokerage(sizes=SMALL, watch=lambda store: cast(Store, Watching(store))) as one:
            run = await one.bring(account, LARGE)
            assert max(counts) == run.added == 12
            await one.undo(run)
    assert counts[-1] == 0
    assert {abs(later - sooner) for sooner, later in pairwise(counts)} <= {
        0,
        1,
        2,
    }  # a slow machine writes one at a time


TRADES = st.lists(
    st.tuples(
        st.integers(1, 28),
        st.sampled_from(["Buy", "Sell", "Dividend", "Deposit", "Fee"]),
        st.sampled_from(["ABC", "DEF", "GHI"]),
        st.integers(1, 50),
        st.integers(1, 999),
    ),
    min_size=1,
    max_size=14,
)


def file_of(trades: list[tuple[int, str, str, int, int]]) -> str:
    lines = [
        f"{day:02}/06/2025,{what},{ticker},{quantity},{quantity * pence / 100:.2f}\n"
        for day, what, ticker, quantity, pence in trades
    ]
    return "Trade Date,Action,Ticker,Quantity,Amount\n13/06/2025,Deposit,,,1000.00\n" + "".join(lines)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TRADES, TRADES, st.sampled_from([SMALL, Sizes()]))
def test_undoing_leaves_what_was_before_whatever_came(
    database_image: bytes,
    tmp_path_factory: pytest.TempPathFactory,
    first: list[tuple[int, str, str, int, int]],
    second: list[tuple[int, str, str, int, int]],
    sizes: Sizes,
) -> None:
    folder = tmp_path_factory.mktemp("random")

    async def play() -> None:
        async with opener(database_image, folder)(sizes=sizes) as one:
            account = await one.account()
            await one.bring(account, file_of(first))
            before = await one.books()
            run = await one.bring(account, file_of(second) + "\n")
            assert run.rows == run.added + run.duplicates + run.refused_rows
            assert len(await one.listed(account)) == len(before["rows"]) + run.added
            again = await one.bring(account, file_of(second) + "\n\n")
            assert again.added == 0
            if again.id != run.id:
                await one.undo(again)
            await one.undo(run)
            assert await one.books() == before

    trio.run(play)
