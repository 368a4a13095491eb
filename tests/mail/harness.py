"""A store on disk, the dispatcher, and mails to be sent."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trio

from gatewayd.clock import SettableClock, SystemClock
from gatewayd.leases.holder import Holder
from gatewayd.mail import outbox
from gatewayd.mail.dispatcher import MailDispatcher, MailParts
from gatewayd.mail.letters import Action, Letter
from gatewayd.mail.outbox import Mail, NewMail
from gatewayd.mail.settings import MailSettings
from gatewayd.mail.smtp import SmtpServer
from gatewayd.store import Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from tests.support.store import START

SECONDS = 60.0
LINK = "https://books.example/sign-in/reset/4bT8yzQ2pLxVn0aWc7RkUe5dGh1iJm3o"
_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :name, :now)"


def mail_settings(port: int, **changes: Any) -> MailSettings:
    values: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": port,
        "security": "none",
        "ca_file": None,
        "user": "",
        "password_file": "",
        "sender": "books@gatewayd.example",
        "sender_name": "Oak & Son",
        "greeting": "localhost",
        "timeout_seconds": 10.0,
        "retry_hours": 48,
        "organization_per_hour": 0,
        "recipient_per_hour": 0,
        "retention_days": 90,
        "first_retry_seconds": 0.05,
        "retry_cap_seconds": 1.0,
        "first_pause_seconds": 0.2,
    }
    return MailSettings(**{**values, **changes})


def letter(subject: str = "Set a new password", **changes: Any) -> Letter:
    values: dict[str, Any] = {
        "subject": subject,
        "paragraphs": ("Somebody asked for a new password for your account.",),
        "action": Action("Set a new password", LINK),
        "reason": "You get this because somebody asked for it.",
    }
    return Letter(**{**values, **changes})


def new_mail(recipient: str, org_id: str | None = None, **changes: Any) -> NewMail:
    return NewMail(
        **{"kind": "password_reset", "org_id": org_id, "recipient": recipient, "letter": letter(), **changes}
    )


class Events:
    """A log that is looked at."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, object]]] = []

    def debug(self, event: str, **values: object) -> None:
        self.lines.append((event, values))

    info = warning = error = debug

    def __contains__(self, event: str) -> bool:
        return any(line[0] == event for line in self.lines)


@dataclass
class Post:
    """What a test of sending works with."""

    store: Store
    holder: Holder
    clock: SettableClock | SystemClock
    log: Events = field(default_factory=Events)

    async def org(self, name: str = "Oak & Son") -> str:
        def add(tx: WriteTx) -> str:
            id_ = tx.new_id("org")
            tx.run(_ADD_ORG, id=id_, name=name)
            return id_

        return await self.store.write(add)

    async def queue(self, *mails: NewMail) -> list[str]:
        return await self.store.write(lambda tx: [outbox.queue(tx, each) for each in mails])

    async def find(self, id_: str) -> Mail:
        found = await self.store.read(lambda tx: outbox.find(tx, id_))
        assert found is not None
        return found

    async def until(self, id_: str, done: Callable[[Mail], bool] = lambda mail: mail.due_at is None) -> Mail:
        with trio.fail_after(SECONDS):
            while not done(mail := await self.find(id_)):
                await trio.sleep(0.02)
        return mail

    @asynccontextmanager
    async def sending(self, settings: MailSettings) -> AsyncIterator[MailDispatcher]:
        server = SmtpServer(settings)
        parts = MailParts(
            store=self.store,
            server=server,
            holder=self.holder.id,
            clock=self.clock,
            settings=settings,
            log=self.log,
            fraction=lambda: 0.0,
        )
        dispatcher = MailDispatcher(parts)
        async with trio.open_nursery() as nursery:
            await nursery.start(dispatcher.run)
            yield dispatcher
            nursery.cancel_scope.cancel()
        await server.aclose()


@asynccontextmanager
async def post(directory: Path, clock: SettableClock | SystemClock | None = None) -> AsyncIterator[Post]:
    clock = clock or SystemClock()
    async with open_store(StoreSettings(directory=directory), clock) as store:
        yield Post(store, Holder(store, "test"), clock)


__all__ = ["LINK", "START", "Events", "Post", "letter", "mail_settings", "new_mail", "post"]
