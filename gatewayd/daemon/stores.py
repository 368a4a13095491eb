"""Opens the daemon's store with everything in it whole: what a migration has left to compute is computed.

One that was restored from a backup is not opened before the operator has decided what holds.
"""

import contextlib
import ctypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from gatewayd.areas.accounting.invoices import numbers
from gatewayd.areas.assets.pools import reconciling
from gatewayd.clock import Clock, from_wire
from gatewayd.config import Config
from gatewayd.errors import Problem
from gatewayd.following import reactions
from gatewayd.http1.log import Log
from gatewayd.identity import audit
from gatewayd.mail.notices import mailing_of
from gatewayd.store import Store, StoreFailure, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.files.restored import Decision, find_restored, mark
from gatewayd.store.rows import removals
from gatewayd.store.settings import StoreSettings
from gatewayd.vault_files import places


@asynccontextmanager
async def open_decided_store(config: Config, clock: Clock, log: Log) -> AsyncIterator[Store]:
    """As `open_store`, after what was decided of a restore is done, which is before anybody is let in.

    Raises `StoreFailure`, also where nothing was decided, or `MigrationError`.
    """
    directory = Path(config.store.directory)
    restored = find_restored(directory)
    if restored is not None and restored.decision is None:
        raise StoreFailure(
            f"{directory} was restored from a backup of {restored.backup_made_at}: sessions, keys, grants, links, feeds"
            " and subscriptions that were ended since live again, and invoice numbers would be given again; decide with"
            " gatewayd after-restore --end-everything or --keep-access, and perhaps --numbers-after N"
        )
    following = partial(reactions, mailing_of(config.mail, config.server.public_url))
    async with open_store(StoreSettings.of(config.store), clock, Path(config.store.key_file), following) as store:
        if restored is not None and restored.decision is not None and not restored.done:
            decision = restored.decision
            made_at, restored_at = from_wire(restored.backup_made_at), from_wire(restored.restored_at)
            await store.write(lambda tx: removals.note_restore(tx, made_at, restored_at))
            ended = await store.write(lambda tx: _carry_out(tx, decision))
            mark(directory, replace(restored, done=True))  # killed before it, the same is done again: nothing is left
            log.warning("restore_decided", access=decision.access, numbers_after=decision.numbers_after, **ended)
        await places.claim(store)
        yield store


def _carry_out(tx: WriteTx, decision: Decision) -> dict[str, int]:
    """How much of each kind was ended."""
    if decision.numbers_after is not None:
        numbers.go_on_after(tx, decision.numbers_after)
    if decision.access == "keep":
        return {}
    from gatewayd.access import deprovisioning  # and with it passkeys: heavy, and needed once in a store's life

    ended = deprovisioning.end_access_of_all(tx, audit.OPERATOR)
    return {
        "session_count": ended.sessions,
        "sign_in_link_count": ended.sign_in_links,
        "key_count": ended.keys,
        "grant_count": ended.grants,
        "document_link_count": ended.document_links,
        "upload_url_count": ended.upload_urls,
        "feed_count": ended.feeds,
        "subscription_count": ended.subscriptions,
        "invitation_count": ended.invitations,
    }


@asynccontextmanager
async def open_whole_store(config: Config, clock: Clock, log: Log) -> AsyncIterator[Store]:
    """As `open_decided_store`. Nobody is let in meanwhile, and no heartbeat waits for the writer."""
    async with open_decided_store(config, clock, log) as store:
        if (upgraded := store.upgraded) is not None and upgraded.copy is not None:
            log.info("migrated", before=upgraded.before, after=upgraded.after, copy=str(upgraded.copy))
        await _compute_holdings(store, log)
        if upgraded is not None:
            _give_back_memory()
        yield store


def _give_back_memory() -> None:
    """Give back to the system what a migration needed and nothing uses any more, where the C library is glibc."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


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
