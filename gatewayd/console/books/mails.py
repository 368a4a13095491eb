"""`/sales/mails`: what was mailed to clients, what became of it, and once more what did not arrive."""

from collections.abc import Sequence
from typing import Final

from quart import Quart, render_template

from gatewayd.clock import Clock, from_wire
from gatewayd.console.addresses import INVOICES, MAILS
from gatewayd.console.browser import flash, see
from gatewayd.console.components.shapes import Action, EmptyState, TimelineEntry, Tone
from gatewayd.console.operations.calls import Operations
from gatewayd.console.operations.lists import JsonObject, facts, members_of
from gatewayd.console.operations.pages import ListPage, OperationPages, Page, QuestionPage
from gatewayd.console.operations.request_fields import Wording
from gatewayd.console.pages import add_page

LIST: Final = ListPage(
    operation="accounting.listMails",
    title="Mails to clients",
    text="Invoices, quotes and reminders that were mailed, the newest first.",
    address=MAILS,
    columns={"subject": "", "recipient": "To", "status": "", "attempts": "", "createdAt": "When"},
    filters=("status", "kind", "recipient"),
    wording={"kind": Wording("With"), "recipient": Wording("To", "An address.")},
    href=lambda row: f"{MAILS}/{row['id']}",
    empty=EmptyState(
        sentence="Here stands what was mailed to your clients, and whether it arrived.",
        action=Action("See the invoices", INVOICES),
    ),
)
RESEND: Final = QuestionPage(operation="accounting.resendMail", button="Send again", back=MAILS)

_FACTS: Final = {
    "recipient": "To",
    "status": "",
    "attempts": "",
    "lastError": "Error",
    "createdAt": "Written",
    "nextAttemptAt": "Next attempt",
    "completedAt": "Over",
}
_OUTCOMES: Final[dict[str, tuple[str, Tone]]] = {
    "sent": ("The server took it", "success"),
    "retried": ("Not taken, to be tried again", "warning"),
    "failed": ("Not taken", "danger"),
    "bounced": ("Nothing is taken for this address", "danger"),
    "interrupted": ("Cut short on our side", "warning"),
}


class Mails:
    """The pages of mails to clients."""

    def __init__(self, operations: Operations, pages: OperationPages, clock: Clock) -> None:
        self._operations = operations
        self._clock = clock
        self._list = pages.list_of(LIST)
        self._resend = pages.question_of(RESEND)
        self._facts = members_of(operations.row("accounting.getMail").response, _FACTS)

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        one = f"{MAILS}/<mail_id>"
        add_page(app, "GET", MAILS, self._list.show)
        add_page(app, "GET", one, self.show)
        add_page(app, "GET", f"{one}/resend", self.ask_resend)
        add_page(app, "POST", f"{one}/resend", self.resend)

    async def show(self, mail_id: str) -> str:
        found = await self._find(mail_id)
        of_invoice = found["kind"] != "quote"  # quotes have no page
        return await render_template(
            "books/mail.html",
            mail=found,
            facts=facts(self._facts, found),
            paper=f"{INVOICES}/{found['paperId']}" if of_invoice else "",
            address=f"{MAILS}/{mail_id}",
            entries=_timeline(found["attemptLog"]),
            now=self._clock.now(),
        )

    async def ask_resend(self, mail_id: str) -> str:
        return await self._resend.show(*_question(await self._find(mail_id)), back=f"{MAILS}/{mail_id}")

    async def resend(self, mail_id: str) -> Page:
        async def then(_: JsonObject) -> Page:
            flash("success", "The mail waits to be sent again.")
            return see(f"{MAILS}/{mail_id}")

        return await self._resend.submit(then, {"mailId": mail_id}, *_question(await self._find(mail_id)))

    async def _find(self, mail_id: str) -> JsonObject:
        found: JsonObject = await self._operations.call("accounting.getMail", {"mailId": mail_id})
        return found


def _question(mail: JsonObject) -> tuple[str, Sequence[str]]:
    """What is asked, and what will happen."""
    said = f"{mail['recipient']} gets the mail as it was written. To another address you send the paper itself again."
    return f"Send “{mail['subject']}” again?", [said]


def _timeline(attempts: Sequence[JsonObject]) -> list[TimelineEntry]:
    """The attempts that have ended, the latest first."""
    entries = []
    for attempt in reversed(attempts):
        text, tone = _OUTCOMES[attempt["outcome"]]
        said = " ".join(str(each) for each in (attempt["code"], attempt["answer"]) if each is not None)
        told = f"{text}: {said}" if said else text
        entries.append(TimelineEntry(at=from_wire(attempt["begunAt"]), text=told, tone=tone))
    return entries
