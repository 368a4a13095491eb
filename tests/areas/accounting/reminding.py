"""Books whose clients are reminded, and the daemon's rounds over them."""

from collections.abc import Callable
from typing import ClassVar, TypeVar

import trio

from gatewayd.areas.accounting.invoices import moves
from gatewayd.clock import Instant, from_wire
from gatewayd.daemon.reminding import remind_due
from gatewayd.mail import outbox
from gatewayd.mail.letters import Letter
from gatewayd.store import ReadTx, WriteTx
from tests.areas.accounting.books import Books, Json
from tests.support.rows import CATALOGUE
from tests.support.store import MemoryStore

T = TypeVar("T")
ISSUER = "https://books.example"
EMAIL = "accounts@harbour.example"


class Killed(Exception):
    """The process ends here."""


class RoundStore:
    """A store as a round of the daemon sees it. `kills` says, for each write to come, where the process ends in it."""

    def __init__(self, store: MemoryStore, kills: list[str] | None = None) -> None:
        self.store, self.kills = store, kills or []

    def now(self) -> Instant:
        return self.store.now()

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
        return self.store.read(work, org_id)

    async def write_behind(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> tuple[T, None]:
        kill = self.kills.pop(0) if self.kills else ""

        def killed(tx: WriteTx) -> T:
            result = work(tx)
            if kill == "before commit":
                raise Killed
            return result

        result = self.store.write(killed, org_id)
        if kill == "after commit":
            raise Killed
        return result, None


class RemindingBooks(Books):
    """Books of a daemon that sends mail, with its own handlers of reminders."""

    operations: ClassVar = {
        operation.id.partition(".")[2]: operation
        for operation in CATALOGUE.operations
        if operation.area == "accounting"
    }

    def sent(self, **fields: object) -> Json:
        """An invoice of 20 November 2026 that is due on 4 December, of 100.00, marked as sent."""
        if "clientId" not in fields:
            fields["clientId"] = self.client(email=EMAIL)
        invoice = self.invoice(**{"issueDate": "2026-11-20", "dueDate": "2026-12-04", **fields})
        self.store.write(lambda tx: moves.mark_sent(tx, invoice["id"]), self.org_id)
        return self.one("getInvoice", f"invoiceId={invoice['id']}")

    def remind(self, *days: int, **fields: object) -> Json:
        """Switch reminders on, at so many days."""
        return self.post("setReminderSchedule", enabled=True, rungs=[{"days": each, **fields} for each in days])

    def at(self, moment: str) -> None:
        self.store.clock.advance(from_wire(moment) - self.store.now())

    def round(self, kills: list[str] | None = None) -> bool:
        """One round of the daemon; whether it lived to its end."""
        try:
            trio.run(remind_due, RoundStore(self.store, kills), ISSUER)
        except Killed:
            return False
        return True

    def on(self, *days: str) -> None:
        """A round at noon of each of these days."""
        for day in days:
            self.at(f"{day}T12:00:00Z")
            self.round()

    def of(self, invoice: Json) -> Json:
        return self.one("getInvoiceReminders", f"invoiceId={invoice['id']}")

    def done(self, invoice: Json) -> list[tuple[int, str, str | None, str]]:
        """Days, status, reason and date of each reminder of an invoice."""
        each = ("days", "status", "reason", "date")
        return [tuple(found[name] for name in each) for found in self.of(invoice)["reminders"]]  # type: ignore[misc]

    def mails(self) -> list[outbox.Mail]:
        """Of reminders, the oldest first."""
        found = self.store.read(lambda tx: outbox.list_of_organization(tx, None, 1000), self.org_id)
        return [mail for mail in found if mail.kind == "invoice_reminder"][::-1]

    def letter(self, mail: outbox.Mail) -> Letter:
        def work(tx: ReadTx) -> Letter | None:
            sealed = tx.value("SELECT letter_sealed FROM mails WHERE id = :id", id=mail.id)
            return outbox.open_letter(tx, mail.id, sealed)

        letter = self.store.read(work)
        assert letter is not None
        return letter
