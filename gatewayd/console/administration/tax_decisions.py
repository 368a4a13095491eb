"""`/admin/tax`: instance administrators decide who has access to the tax operations (Spec §5, rule 4)."""

from collections.abc import Callable
from typing import Final, NamedTuple

from quart import Quart, Response, render_template, request
from werkzeug.exceptions import BadRequest, NotFound

from gatewayd.console.addresses import ADMIN, ADMIN_TAX
from gatewayd.console.administration.administrators import administrator
from gatewayd.console.books.tax_view import who
from gatewayd.console.browser import flash, see, value
from gatewayd.console.pages import add_page, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.errors import Problem
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.people import organizations
from gatewayd.store import ReadTx, WriteTx
from gatewayd.tax import approvals
from gatewayd.tax.approvals import REASON_MAX, Approved, Standing, Subject, TaxRequest

SHOWN: Final = 100  # Chosen: of each list
Work = Callable[[WriteTx], bool]
"""Decides, and answers whether that was still possible."""

_STALE: Final = (
    "This was decided meanwhile, or something else is declared now. Nothing was done: look at it as it stands here."
)
_NO_REASON: Final = "Write why: whoever asked reads it."


class Card(NamedTuple):
    """A key or app with who it is. `organization` is empty for an app, `hosts` for a key."""

    subject: Subject
    name: str
    organization: str
    hosts: list[str]
    scopes: list[str]


class Waiting(NamedTuple):
    """What waits for a decision."""

    card: Card
    request: TaxRequest
    asked_by: str


class Open(NamedTuple):
    """What has access. `decided_by` is empty where that is not known."""

    card: Card
    standing: Standing
    decided_by: str


class TaxDecisions:
    """The page on which access is decided."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", ADMIN, self.enter)
        add_page(app, "GET", ADMIN_TAX, self.show)
        add_page(app, "POST", f"{ADMIN_TAX}/approve", self.approve)
        add_page(app, "POST", f"{ADMIN_TAX}/refuse", self.refuse)
        add_page(app, "POST", f"{ADMIN_TAX}/withdraw", self.withdraw)

    async def enter(self) -> Response:
        """Taxes are all that is administered here yet."""
        administrator()
        return see(ADMIN_TAX)

    async def show(self) -> str:
        administrator()
        return await self._page("")

    async def _page(self, problem: str) -> str:
        def look(tx: ReadTx) -> dict[str, object]:
            requests, approved = approvals.list_requests(tx), approvals.list_approved(tx)
            return {
                "waiting": [_waiting(tx, each) for each in requests[:SHOWN]],
                "approved": [_open(tx, each) for each in approved[:SHOWN]],
                "more_waiting": max(0, len(requests) - SHOWN),
                "more_approved": max(0, len(approved) - SHOWN),
            }

        seen = await self._store.read(look)
        return await render_template("administration/tax.html", problem=problem, reason_max=REASON_MAX, **seen)

    async def approve(self) -> Response | tuple[str, int]:
        """At once: the next request is let through."""
        user, form = administrator(), await request.form
        subject, shown = _subject(form.get("kind"), value(form, "subject")), value(form, "request", 64)

        def work(tx: WriteTx) -> bool:
            if approvals.standing(tx, subject).status == "approved":
                return True  # the second of two clicks
            if not _still(tx, subject, shown):
                return False
            approvals.approve(tx, subject, None, user.id)
            return True

        return await self._decided(work, "Tax access was approved: it counts from the next request on.")

    async def refuse(self) -> Response | tuple[str, int]:
        user, form = administrator(), await request.form
        subject, shown = _subject(form.get("kind"), value(form, "subject")), value(form, "request", 64)
        reason = value(form, "reason", 2 * REASON_MAX).strip()
        if not reason:
            return await self._page(_NO_REASON), 422

        def work(tx: WriteTx) -> bool:
            if approvals.standing(tx, subject).status == "refused":
                return True
            if not _still(tx, subject, shown):
                return False
            approvals.refuse(tx, subject, reason, user.id)
            return True

        return await self._decided(work, "Tax access was refused, with your reason.")

    async def withdraw(self) -> Response | tuple[str, int]:
        """At once: the next request is refused."""
        user, form = administrator(), await request.form
        subject = _subject(form.get("kind"), value(form, "subject"))
        reason = value(form, "reason", 2 * REASON_MAX).strip() or None

        def work(tx: WriteTx) -> bool:
            if approvals.standing(tx, subject).status == "approved":
                approvals.refuse(tx, subject, reason, user.id)
            return True

        return await self._decided(work, "Tax access was withdrawn: the next request is refused.")

    async def _decided(self, work: Work, said: str) -> Response | tuple[str, int]:
        try:
            done = await self._store.write(work)
        except Problem as problem:
            if problem.code == "not_found":
                raise NotFound from None
            return await self._page(sentence(problem)), 422
        if not done:
            return await self._page(_STALE), 409
        flash("success", said)
        return see(ADMIN_TAX)


def _subject(kind: str | None, subject_id: str) -> Subject:
    if kind not in ("key", "client"):
        raise BadRequest("The form is not complete.")
    return Subject("key" if kind == "key" else "client", subject_id)


def _still(tx: ReadTx, subject: Subject, shown: str) -> bool:
    """Whether what waits is what was looked at: nobody approves a declaration that they have not read.

    `shown` is the request's id, empty for a key that asks by its scopes alone.
    """
    waiting = approvals.find_request(tx, subject)
    return waiting is not None and (waiting.id or "") == shown


def _waiting(tx: ReadTx, request: TaxRequest) -> Waiting:
    card = _card(tx, Subject(request.kind, request.subject), request.name, request.org_id, request.scopes)
    return Waiting(card, request, who(tx, request.requested_by))


def _open(tx: ReadTx, approved: Approved) -> Open:
    card = _card(tx, approved.subject, approved.name, approved.org_id, approved.scopes)
    by = approved.standing.by
    return Open(card, approved.standing, "" if by is None else who(tx, by))


def _card(tx: ReadTx, subject: Subject, name: str, org_id: str | None, scopes: list[str]) -> Card:
    client = oauth_clients.find(tx, subject.id) if subject.kind == "client" else None
    return Card(
        subject=subject,
        name=name,
        organization="" if org_id is None else organizations.get(tx, org_id).name,
        hosts=[] if client is None else client.all_hosts,  # what is approved is open to all of them
        scopes=scopes,
    )
