"""The end of an organization: all that it has is deleted, in pieces that others hardly wait for.

It was marked before, and nobody acts for it since. A kill loses nothing but time: whoever does it again goes on.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

import trio

from gatewayd.clock import Instant
from gatewayd.errors import Problem
from gatewayd.http1.log import Log
from gatewayd.identity import audit
from gatewayd.identity.people import organizations, suspensions
from gatewayd.ledger import named_files
from gatewayd.search import index, lookup
from gatewayd.store import ReadTx, Store
from gatewayd.store.erasing import OwnedTable, erase_all, erase_rows, next_keys, owned_tables
from gatewayd.store.files.at_place import blobs_at, require_marked
from gatewayd.store.files.blobs import Blobs
from gatewayd.webhooks.queue import delivery_queue

PIECE: Final = 500  # Chosen: rows of one transaction, some ten milliseconds
LOOK_SECONDS: Final = 0.5  # Chosen
FILES_AT_ONCE: Final = 200  # Chosen: that one read looks up


class Erased(NamedTuple):
    """What an organization had: rows in the database, and files that nobody else names."""

    rows: int
    files: int


async def end_marked(store: Store, log: Log) -> None:
    """Delete every organization that is marked for deletion, by the API or by a command that was killed.

    Raises `StoreFailure`.
    """
    for organization in await store.read(organizations.list_all):
        if organization.deleting_since is not None:
            with suppress(Problem):  # a command did it meanwhile
                erased = await erase(store, organization.id, audit.OPERATOR)
                log.info("organization_deleted", organization=organization.id, rows=erased.rows, files=erased.files)


def _nobody(rows: int) -> None:
    """Nobody is told."""


async def erase(store: Store, org_id: str, actor: str, told: Callable[[int], None] = _nobody) -> Erased:
    """Delete an organization that is marked for it, with its files; `told` is called with the rows of each piece.

    Raises `Problem` `not_found`, or `StoreFailure`: what was deleted before stays deleted.
    """
    organization = await store.read(lambda tx: organizations.get(tx, org_id))
    blobs, threads = blobs_at(store.place), trio.CapacityLimiter(1)
    await trio.to_thread.run_sync(require_marked, store.place, limiter=threads)
    begun = await trio.to_thread.run_sync(blobs.as_the_disk_tells, Instant(store.now()), limiter=threads)
    digests = await store.read_later(
        lambda tx: {bytes.fromhex(digest) for digest in named_files.of_organization(tx)}, org_id
    )
    await _last_deliveries(store, org_id)
    tables = owned_tables(await store.catalogue())
    rows = 0
    while gone := await _emptied(store, org_id, tables, told):  # also what ended its work meanwhile
        rows += gone
    files = await _remove_files(store, blobs, sorted(digests), begun)
    await store.write(lambda tx: suspensions.end_deletion(tx, organization, actor))
    return Erased(rows, files)


async def _last_deliveries(store: Store, org_id: str) -> None:
    """Wait for what is under way, as long as it may take: no other begins."""
    while True:
        until = await store.read_later(delivery_queue.under_way_until, org_id)
        if until is None or until <= store.now():
            return
        await trio.sleep(LOOK_SECONDS)


async def _emptied(store: Store, org_id: str, tables: list[OwnedTable], told: Callable[[int], None]) -> int:
    """Once through all; answers how many rows went."""
    rows = await _out_of_index(store, org_id, told)
    for table in tables:
        rows += await _emptied_table(store, org_id, table, told)
    return rows


async def _out_of_index(store: Store, org_id: str, told: Callable[[int], None]) -> int:
    """What is searched first: its words stand in a table that knows no organization."""
    rows, forget = 0, partial(index.forget_parts, index=lookup.index_of(is_shared=store.is_shared), count=PIECE)
    while True:
        gone, _time = await store.write_behind(forget, org_id)
        if not gone:
            return rows
        rows += gone
        told(gone)


async def _emptied_table(store: Store, org_id: str, table: OwnedTable, told: Callable[[int], None]) -> int:
    """Once through, or where rows refer to others of the table until none is left."""
    if not table.key:
        return (await store.write_behind(partial(erase_all, table=table), org_id))[0]
    rows, after = 0, None
    while True:
        keys = await store.read_later(partial(next_keys, table=table, after=after, count=PIECE), org_id)
        if keys:
            await store.write_behind(partial(erase_rows, table=table, keys=keys), org_id)
            rows, after = rows + len(keys), keys[-1]
            told(len(keys))
        elif after is None or not table.own:
            return rows
        else:
            after = None


async def _remove_files(store: Store, blobs: Blobs, digests: list[bytes], begun: Instant) -> int:
    """Delete what nobody names any more, and nobody stored again since."""
    threads, files = trio.CapacityLimiter(1), 0
    for first in range(0, len(digests), FILES_AT_ONCE):
        piece = [digest.hex() for digest in digests[first : first + FILES_AT_ONCE]]
        for sha256 in await store.read_later(partial(_unnamed, digests=piece), None):
            files += await trio.to_thread.run_sync(blobs.remove_old, sha256, begun, limiter=threads)
    return files


def _unnamed(tx: ReadTx, digests: list[str]) -> list[str]:
    return [sha256 for sha256 in digests if not named_files.is_named(tx, sha256)]
