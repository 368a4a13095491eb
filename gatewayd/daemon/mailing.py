"""Mail in the daemon: the task that sends what waits, where a server is set."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from gatewayd.clock import DAY, Clock, Instant
from gatewayd.http1.log import Log
from gatewayd.leases.holder import Holder
from gatewayd.mail import outbox
from gatewayd.mail.settings import MailSettings
from gatewayd.store import Store

if TYPE_CHECKING:
    from gatewayd.mail.dispatcher import Attach, MailDispatcher


@asynccontextmanager
async def sending_mail(
    holder: Holder, settings: MailSettings | None, clock: Clock, log: Log, attach: "Attach | None" = None
) -> AsyncIterator["MailDispatcher | None"]:
    """Sends for the length of the block; None, and nothing is sent, where no server is set.

    `attach` gives the papers that go with letters.
    """
    if settings is None:
        yield None
        return
    # What writes and sends letters is 2 MB, which a daemon without mail does not take.
    from gatewayd.mail.dispatcher import MailDispatcher, MailParts
    from gatewayd.mail.smtp import SmtpServer

    server = SmtpServer(settings)
    parts = MailParts(
        store=holder.store, server=server, holder=holder.id, clock=clock, settings=settings, log=log, attach=attach
    )
    dispatcher = MailDispatcher(parts)
    try:
        async with trio.open_nursery() as nursery:
            await nursery.start(dispatcher.run)
            yield dispatcher
            nursery.cancel_scope.cancel()  # it takes its time: mails under way may end first
    finally:
        with trio.CancelScope(shield=True):  # each session has its bound
            await server.aclose()


async def keep_house(store: Store, retention_days: int) -> None:
    """Delete what is past its retention, and forget what those said that were given up. Raises `StoreFailure`."""
    now = store.now()
    old, unsent = Instant(now - retention_days * DAY), Instant(now - outbox.LETTER_KEPT)
    await store.sweep(lambda tx: outbox.sweep(tx, old), outbox.SWEEP_ROWS)
    await store.sweep(lambda tx: outbox.forget_letters(tx, unsent), outbox.SWEEP_ROWS)
