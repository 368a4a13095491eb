"""What goes on beside the requests: wake-ups, housekeeping, and the heartbeat."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import trio

from gatewayd.areas.accounting.invoices import overdue
from gatewayd.areas.landlord import reminders
from gatewayd.areas.vault import trash
from gatewayd.bundles.engine import Bundles
from gatewayd.clock import DAY, Instant
from gatewayd.daemon import mailing, recurring
from gatewayd.daemon.health import Health
from gatewayd.daemon.organization_end import end_marked
from gatewayd.daemon.rounds import Rounds, attempted
from gatewayd.http1.log import Log
from gatewayd.identity.keys import key_uses
from gatewayd.importing.engine import Importing
from gatewayd.ledger.credits import booking
from gatewayd.ledger.obligations import obligations, schedule
from gatewayd.logs import LogWriter
from gatewayd.mail.notices import Mailing
from gatewayd.performing import idempotency
from gatewayd.provider import Provider, note_use
from gatewayd.service_manager import Notifier
from gatewayd.store import Store
from gatewayd.store.files.directory import Tenure
from gatewayd.store.rows import removals
from gatewayd.tax import engine
from gatewayd.vault_files.places import OK
from gatewayd.vault_files.receiving import Receiving
from gatewayd.webhooks.queue.retention import Retention

HOUSEKEEPING_SECONDS: Final = 60.0
LOG_SECONDS: Final = 2.0  # Chosen: how long a stop waits for a log that nobody reads


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundParts:
    """What the background works on.

    `due_soon_days` is how long before a due date it is told, `trash_days` how long a deleted document can be restored,
    `mail_days` how long it is kept which mails were sent. `mailing` None: no mail is sent.
    """

    store: Store
    provider: Provider
    importing: Importing
    bundles: Bundles
    receiving: Receiving
    tenure: Tenure
    retention: Retention
    rounds: Rounds
    notifier: Notifier
    log: Log
    due_soon_days: int
    trash_days: int
    mail_days: int
    mailing: Mailing | None


@asynccontextmanager
async def open_background(parts: BackgroundParts) -> AsyncIterator[Health]:
    """The background for the length of the block; at the end of a good stop the store is tidied once more.

    Raises `StoreFailure`, in a group where the writer ended: a daemon that cannot write ends too, and is started anew.
    """
    store, health = parts.store, Health(parts.store, parts.notifier, parts.log)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(store.watch_other_processes)
        nursery.start_soon(store.writer_end.watch)
        nursery.start_soon(_keep_house, parts, health)
        nursery.start_soon(_keep_calendars, parts, health)
        nursery.start_soon(_tell_deadlines, parts, health)
        nursery.start_soon(_make_invoices, parts, health)
        nursery.start_soon(_end_organizations, parts)
        nursery.start_soon(health.files.run)
        await nursery.start(health.beat)
        nursery.start_soon(_recover, parts)
        if parts.tenure.interrupted:
            nursery.start_soon(health.check_integrity, parts.tenure)
        yield health
        nursery.cancel_scope.cancel()
    await attempted(_note_use(store, parts.provider), parts.log)
    if health.clock.deletes:
        await attempted(_sweep_keys(store), parts.log)


async def close_log(writer: LogWriter) -> None:
    """Let what waits be written, and leave behind what is stuck: a log that nobody reads may not hold the daemon."""
    with trio.CancelScope(shield=True):
        await trio.to_thread.run_sync(writer.close, LOG_SECONDS, limiter=trio.CapacityLimiter(1))


async def _keep_house(parts: BackgroundParts, health: Health) -> None:
    store, provider, done = parts.store, parts.provider, parts.rounds.done
    while True:
        await trio.sleep(HOUSEKEEPING_SECONDS)
        await done("use of credentials written down", _note_use(store, provider))
        if not health.clock.deletes:
            continue
        await done("idempotency keys forgotten", _sweep_keys(store))
        await done("notes of deletions forgotten", _forget_removals(store))
        # Not at a stop, which may not wait for them.
        await done("sessions, tokens and audit log swept", provider.keep_house())
        await done("events and deliveries swept", parts.retention.sweep(store))
        await done("tax calls swept", engine.keep_house(store))
        await done("mails swept", mailing.keep_house(store, parts.mail_days))
        await done("imported files swept", parts.importing.keep_house())
        await done("trash emptied", _purge_trash(store, parts.trash_days))
        await done("credits booked", _book_credits(store))
        if health.files.state == OK:  # else the rest would wait behind a share that hangs
            await done("uploads swept", parts.receiving.keep_house())
            await done("sealed periods swept", parts.bundles.keep_house())


async def _end_organizations(parts: BackgroundParts) -> None:
    """Delete those that are marked for it, one after the other."""
    while True:
        await parts.rounds.done("organizations deleted", end_marked(parts.store, parts.log))
        await trio.sleep(HOUSEKEEPING_SECONDS)


async def _recover(parts: BackgroundParts) -> None:
    """Go on with imports that a kill has interrupted."""
    await attempted(parts.importing.recover(), parts.log)


async def _keep_calendars(parts: BackgroundParts, health: Health) -> None:
    """Make the calendars of entities that an older program left without one, and move all on with the tax year.

    Not by a clock that may have leapt: it would make those of years that are far away.
    """
    while True:
        if health.clock.deletes:
            await parts.rounds.done("calendars moved on", _refresh_calendars(parts.store))
        await trio.sleep(HOUSEKEEPING_SECONDS)


async def _refresh_calendars(store: Store) -> None:
    """Refresh what is behind, some entities at a time. Raises `StoreFailure`."""
    while await store.read(schedule.is_behind):
        await store.write(schedule.refresh_some)


async def _tell_deadlines(parts: BackgroundParts, health: Health) -> None:
    """Tell of what comes near and what has passed, at the start, at midnight, and as things change.

    Chosen: there is a look for it each minute, which an index answers, so that a clock that is set, a machine that
    slept and a change by another process need nothing of their own.
    """
    while True:
        if health.clock.deletes:  # not by a clock that may have leapt: what was told cannot be taken back
            await parts.rounds.done("deadlines told", _tell_all(parts.store, parts.due_soon_days))
        await trio.sleep(HOUSEKEEPING_SECONDS)


async def _tell_all(store: Store, days: int) -> None:
    """Tell of everything, some rows at a time. Raises `StoreFailure`."""
    while not await store.read(lambda tx: obligations.is_silent(tx, days)):
        await store.write(lambda tx: obligations.tell_some(tx, days))
    while not await store.read(reminders.is_silent):
        await store.write(reminders.tell_some)
    while not await store.read(overdue.is_silent):
        await store.write(overdue.tell_some)


async def _make_invoices(parts: BackgroundParts, health: Health) -> None:
    """Make what recurring invoices are due, at the start, at midnight, and as they come to be.

    Not by a clock that may have leapt: what was issued cannot be taken back. Chosen: a look each minute, as for
    deadlines.
    """
    while True:
        if health.clock.deletes:
            await parts.rounds.done("recurring invoices made", recurring.make_due(parts.store, parts.mailing))
        await trio.sleep(HOUSEKEEPING_SECONDS)


async def _purge_trash(store: Store, days: int) -> None:
    """Delete for good what has lain in the trash for so long. Raises `StoreFailure`."""
    before = Instant(store.now() - days * DAY)
    while await store.write(lambda tx: trash.purge_some(tx, before)) == trash.PURGED_AT_ONCE:
        pass


async def _book_credits(store: Store) -> None:
    """Book what has fallen due of credits, an organization at a time. Raises `StoreFailure`."""
    while (org_id := await store.read(booking.organization_with_due)) is not None:
        await store.write(booking.book_what_is_due, org_id)


async def _note_use(store: Store, provider: Provider) -> None:
    """Write down which credentials were used, and what keys were used for. Raises `StoreFailure`."""
    use = provider.authenticator.use
    due = use.due(Instant(store.now()))
    if due:
        await store.write(lambda tx: note_use(tx, due))
        use.written(due)
    counts = provider.key_uses.due()
    if counts:
        await store.write(lambda tx: key_uses.add(tx, counts))
        provider.key_uses.written(counts)


async def _forget_removals(store: Store) -> None:
    """Forget what was deleted 90 days ago."""
    before = Instant(store.now() - removals.KEPT)
    await store.sweep(lambda tx: removals.forget_some(tx, before), removals.FORGOTTEN_AT_ONCE)


async def _sweep_keys(store: Store) -> None:
    """Sweep the idempotency keys that have expired. Raises `StoreFailure`."""
    while await store.write(idempotency.sweep) == idempotency.SWEEP_ROWS:
        pass
