"""The daemon makes calendars that are missing, and moves them on with the tax year."""

import io
from pathlib import Path

import trio
from trio.testing import MockClock

from gatewayd.clock import SettableClock, from_wire
from gatewayd.config import load
from gatewayd.daemon.daemon import Daemon, Surroundings
from gatewayd.store import ReadTx, WriteTx
from tests.daemon.instance import Instance, until

_YEARS = "SELECT count(id) FROM periods WHERE org_id = :org_id AND type = 'financial_year' AND end_date > :end"
_FORGET = ("DELETE FROM obligations", "DELETE FROM periods", "DELETE FROM calendars")
BEFORE = "2027-04-05T22:30:00Z"  # half an hour before the 6th begins in London
HOUR = 3600.0


async def test_entities_of_before_and_the_new_tax_year(tmp_path: Path, mock_clock: MockClock) -> None:
    """A database in which there is a company and no calendar, as an older program leaves it."""
    instance = Instance(tmp_path)
    firm = await trio.to_thread.run_sync(instance.firm)

    def forget(tx: WriteTx) -> None:
        for sql in _FORGET:
            tx.run(sql)

    await trio.to_thread.run_sync(instance.write, forget)
    clock = SettableClock(from_wire(BEFORE), mock_clock.current_time)
    daemon = Daemon(load(instance.config, {}), Surroundings(log_stream=io.StringIO(), clock=clock))

    def years_after(end: str) -> int:
        def work(tx: ReadTx) -> int:
            return int(tx.value(_YEARS, end=end))

        return instance.read(work, firm.org_id)

    async with trio.open_nursery() as nursery:
        await nursery.start(daemon.run)
        await trio.to_thread.run_sync(until, lambda: years_after("2027-04-05"))
        assert await trio.to_thread.run_sync(years_after, "2029-12-31") == 0
        mock_clock.jump(HOUR)
        await trio.to_thread.run_sync(until, lambda: years_after("2029-12-31"))
        daemon.stop()
