"""A process that imports slowly into an account, and prints the run's status, and before it that others took it over.

Arguments: directory, account, file, seconds of a lease.
"""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import trio

from gatewayd.clock import SystemClock
from gatewayd.following import reactions
from gatewayd.importing.engine import Importing, open_importing
from gatewayd.importing.parts import ImportParts
from gatewayd.importing.runs import Order
from gatewayd.leases.holder import Holder
from gatewayd.store import Store
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from tests.importing.conftest import DEADLINE, ORG, ImportLog
from tests.importing.test_interrupted import SMALL
from tests.support.statement_files import read_parts, received
from tests.support.watched_store import WatchedStore

PAUSE_SECONDS = 0.02  # before each write, so that there is time to stop in the midst of it


class SlowStore(WatchedStore):
    async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
        await trio.sleep(PAUSE_SECONDS)
        return await write()


class ToldLog(ImportLog):
    def warning(self, event: str, **values: object) -> None:
        print(event, flush=True)


async def main(*arguments: str) -> None:
    directory, account, path, seconds = arguments
    log = ToldLog()
    settings = StoreSettings(directory=Path(directory), busy_timeout_seconds=DEADLINE)
    async with open_store(settings, SystemClock(), reactions=reactions) as store, trio.open_nursery() as nursery:
        holder = Holder(store, seconds=float(seconds), renew_seconds=float(seconds) / 3)
        nursery.start_soon(holder.run)
        parts = ImportParts(
            store=cast(Store, SlowStore(store)),
            holder=holder,
            directory=Path(directory),
            read_apart=read_parts,
            log=log,
            max_bytes=1 << 24,
            sizes=SMALL,
            patience=DEADLINE,
        )
        async with open_importing(parts) as importing:
            await bring(importing, account, Path(path))
        nursery.cancel_scope.cancel()
    assert log.logged == []


async def bring(importing: Importing, account: str, path: Path) -> None:
    order = Order(kind="bank", account_id=account, file_name="a.csv", format=None, mapping=None, preview=False)
    run = await importing.import_file(ORG, order, received(path.parent, path.read_bytes()))
    print(run.status, flush=True)


if __name__ == "__main__":
    trio.run(main, *sys.argv[1:])
