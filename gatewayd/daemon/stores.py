"""Opens the daemon's store with everything in it whole: what a migration has left to compute is computed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gatewayd.areas.assets.pools import reconciling
from gatewayd.clock import Clock
from gatewayd.config import Config
from gatewayd.daemon.restored_store import open_decided_store
from gatewayd.errors import Problem
from gatewayd.http1.log import Log
from gatewayd.store import Store


@asynccontextmanager
async def open_whole_store(config: Config, clock: Clock, log: Log) -> AsyncIterator[Store]:
    """As `open_decided_store`. Nobody is let in meanwhile, and no heartbeat waits for the writer."""
    async with open_decided_store(config, clock, log) as store:
        if (upgraded := store.upgraded) is not None and upgraded.copy is not None:
            log.info("migrated", before=upgraded.before, after=upgraded.after, copy=str(upgraded.copy))
        await _compute_holdings(store, log)
        yield store


async def _compute_holdings(store: Store, log: Log) -> None:
    """What cannot be computed stays marked, and the daemon starts: `gatewayd verify` tells of what is wrong.

    Raises `StoreFailure`.
    """
    for org_id in await store.read(reconciling.organizations_outdated):
        try:
            done = await store.write(reconciling.compute_outdated, org_id)
        except Problem as error:
            log.error("holdings_not_computed", organization=org_id, exc_info=error)
        else:
            log.info(
                "holdings_computed_anew",
                organization=org_id,
                holdings=done.holdings,
                instruments=done.instruments,
            )
            for gain in done.closed:
                log.warning("closed_gain_changed", organization=org_id, **gain._asdict())
