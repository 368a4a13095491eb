"""Leases where daemons on several machines share a database: one holder at a time, and nothing is written over it."""

import threading
import time
from pathlib import Path

from gatewayd.clock import SECOND, Instant, SettableClock
from gatewayd.daemon.holding import open_daemons_holder
from gatewayd.leases import rows
from gatewayd.leases.rows import LEASE_SECONDS, LeaseLost
from gatewayd.store import WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.postgres.connections import open_connection
from gatewayd.store.settings import StoreSettings
from tests.support.postgres import Server
from tests.support.several_daemons import Work, several_daemons
from tests.support.store import START

ORG = "org_1"
_WAITING = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def taking(subject: str, holder: str) -> Work:
    def take(tx: WriteTx) -> bool:
        return rows.take(tx, subject, holder, LEASE_SECONDS)

    return take


def await_waiting(address: str) -> None:
    """Wait until a session waits for a row that another one has."""
    connection, deadline, pause = open_connection(address, 60), time.monotonic() + 60, threading.Event()
    while not connection.execute(_WAITING).get:
        assert time.monotonic() < deadline
        pause.wait(0.01)
    connection.close()


def test_of_daemons_that_take_a_lease_at_once_one_has_it(postgresql: Server) -> None:
    clocks = [SettableClock(Instant(START + number * 5 * SECOND)) for number in range(3)]
    with several_daemons(postgresql, clocks=clocks) as daemons:
        asked = [[taking(f"import:{number}", f"daemon:{each}") for number in range(20)] for each in range(3)]
        done = daemons.at_once(*asked, org_id=ORG)
    assert all([done[number], done[number + 20], done[number + 40]].count(True) == 1 for number in range(20))


def test_what_was_required_holds_until_the_commit(postgresql: Server) -> None:
    """The fence reads its row and does not lock it: it holds since the pulse puts writing transactions in a row.

    The other daemon's clock is past the lease. It takes it while the holder's transaction, which has looked, is open:
    its own begins behind the holder's commit.
    """
    looked, order = threading.Event(), list[str]()

    def work(tx: WriteTx) -> None:
        rows.require(tx, "import:1", "daemon:a")
        looked.set()
        await_waiting(daemons.address)
        assert order == []
        rows.require(tx, "import:1", "daemon:a")
        order.append("written")

    def take(tx: WriteTx) -> bool:
        order.append("taken")
        return rows.take(tx, "import:1", "daemon:b", LEASE_SECONDS)

    late = SettableClock(Instant(START + round(LEASE_SECONDS + 1) * SECOND))
    with several_daemons(postgresql, clocks=(SettableClock(START), late)) as daemons:
        daemons.write(taking("import:1", "daemon:a"), ORG)

        def take_over() -> None:
            assert looked.wait(60)
            assert daemons.write(take, ORG, by=1) is True

        other = threading.Thread(target=take_over)
        other.start()
        daemons.write(work, ORG)
        other.join(60)
        (lost,) = daemons.at_once([lambda tx: rows.require(tx, "import:1", "daemon:a")], org_id=ORG)
    assert order == ["written", "taken"]
    assert isinstance(lost, LeaseLost)


async def test_daemons_on_one_database_know_of_each_other(postgresql: Server, tmp_path: Path) -> None:
    """As the daemon opens them; on SQLite there is nobody to know of."""
    name = postgresql.new_database()
    counts: list[list[int]] = [[], []]
    settings = [StoreSettings(directory=tmp_path / each, url=postgresql.address(name)) for each in "ab"]
    async with (
        open_store(settings[0], SettableClock(START), tmp_path / "instance.key") as one,
        open_store(settings[1], SettableClock(START), tmp_path / "instance.key") as other,
        open_daemons_holder(one) as first,
    ):
        first.daemons.tell(counts[0].append)
        async with open_daemons_holder(other) as second:
            second.daemons.tell(counts[1].append)
            await first.daemons.look()
            assert (await first.daemons.wait_seconds(), await second.daemons.wait_seconds() > 0) == (0.0, True)
        await first.daemons.look()
    postgresql.drop(name)
    assert counts == [[1, 2, 1], [2]]
    async with open_store(StoreSettings(directory=tmp_path / "c"), SettableClock(START)) as alone:
        async with open_daemons_holder(alone) as holder:
            assert (holder.daemons.count, await holder.daemons.wait_seconds()) == (1, 0.0)
        assert await alone.read(lambda tx: tx.value("SELECT count(*) FROM leases")) == 0
