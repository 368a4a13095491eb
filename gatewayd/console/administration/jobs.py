"""`/admin/jobs`: what waits and what is under way, of all organizations; and when housekeeping was last done."""

from collections.abc import Sequence
from typing import Final

from quart import Quart, Response, render_template, request

from gatewayd.clock import Instant
from gatewayd.console.addresses import ADMIN_JOBS
from gatewayd.console.administration.administrators import administrator
from gatewayd.console.browser import flash, see, value
from gatewayd.console.components.shapes import Cell, Column, Row, Table
from gatewayd.console.instance import Deliveries, Documents, Jobs
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.mail import outbox

RESEND: Final = f"{ADMIN_JOBS}/mails/resend"
_DELIVERIES: Final = (
    Column("Organization"),
    Column("Waiting", "number"),
    Column("First due", "moment"),
    Column("Given up", "number"),
    Column("Disabled", "number"),
)
_MAILS: Final = (
    Column("Organization"),
    Column("Waiting", "number"),
    Column("First due", "moment"),
    Column("Given up in two weeks", "number"),
)
_UNSENT: Final = (Column("To"), Column("About"), Column("Organization"), Column("Why"), Column("Given up", "moment"))
_OF_PEOPLE: Final = "People's own accounts"
_DOCUMENTS: Final = (
    Column("Organization"),
    Column("To read", "number"),
    Column("Being read", "number"),
    Column("To index", "number"),
)
_IMPORTS: Final = (Column("Organization"), Column("File"), Column("State", "badge"), Column("Since", "moment"))
_LEASES: Final = (
    Column("What"),
    Column("Organization"),
    Column("Held by"),
    Column("Ends, unless renewed", "moment"),
)
_UNKNOWN: Final = (Column("Organization"), Column("Call"), Column("Broke off", "moment"))
_ROUNDS: Final = (Column("Round"), Column("State", "badge"), Column("Last done", "moment"))
_KINDS: Final = {"bank": "Bank statement", "broker": "Broker's file", "prices": "Prices"}
_LEASED: Final = {
    "daemon": "A daemon",
    "import": "An import",
    "parse": "A document that is read",
    "tax_refresh": "A token of the tax authority",
}


class JobsPage:
    """The page of queues and of what is under way."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._instance, self._clock, self._store = parts.instance, parts.clock, parts.store

    def add_to(self, app: Quart) -> None:
        """Put the page where it belongs."""
        add_page(app, "GET", ADMIN_JOBS, self.show)
        add_page(app, "POST", RESEND, self.resend)

    async def resend(self) -> Response:
        """Queue a mail anew that was given up. Where that cannot be any more, the page says so."""
        administrator()
        id_ = value(await request.form, "id", 64)
        if await self._store.write(lambda tx: outbox.resend(tx, id_)):
            flash("success", "The mail waits to be sent again.")
        else:
            flash("warning", "It cannot be sent again: it was sent, or says nothing that holds any more.")
        return see(f"{ADMIN_JOBS}#mail")

    async def show(self) -> str:
        administrator()
        jobs, now = await self._instance.jobs(), self._clock.now()
        return await render_template(
            "administration/jobs.html",
            sending=jobs.sending,
            deliveries=_deliveries_table(jobs.deliveries, now),
            documents=_documents_table(jobs.documents),
            passages=None if jobs.passages is None else _count(jobs.passages, more=jobs.more_passages).text,
            imports=_imports_table(jobs, now),
            leases=_leases_table(jobs, now),
            unknown=_unknown_table(jobs, now),
            rounds=_rounds_table(jobs, now),
            mails=_mails_table(jobs, now),
            unsent=_unsent_table(jobs, now),
            resendable=[each for each in jobs.unsent if each.can_be_resent],
            resend=RESEND,
        )


def _mails_table(jobs: Jobs, now: Instant) -> Table:
    rows = [
        Row(
            cells=(
                Cell(text=each.organization or _OF_PEOPLE),
                Cell(text=f"{each.waiting:,}"),
                Cell(at=each.first_due),
                Cell(text=f"{each.given_up:,}"),
            )
        )
        for each in jobs.mails
    ]
    return Table(caption="Mail by organization", columns=_MAILS, rows=rows, now=now)


def _unsent_table(jobs: Jobs, now: Instant) -> Table:
    rows = [
        Row(
            cells=(
                Cell(text=each.recipient),
                Cell(text=each.kind.replace("_", " ")),
                Cell(text=each.organization or _OF_PEOPLE),
                Cell(text=each.why or ""),
                Cell(at=each.at),
            )
        )
        for each in jobs.unsent
    ]
    return Table(caption="Mails that were given up", columns=_UNSENT, rows=rows, now=now)


def _count(number: int, *, more: bool) -> Cell:
    """With `more` it is the least that there is."""
    return Cell(text=f"{number:,}{'+' if more and number else ''}")


def _deliveries_table(found: Sequence[Deliveries], now: Instant) -> Table:
    rows = [
        Row(
            cells=(
                Cell(text=each.organization),
                _count(each.waiting, more=each.more),
                Cell(at=each.first_due),
                _count(each.exhausted, more=each.more),
                Cell(text=str(each.disabled)),
            )
        )
        for each in found
    ]
    return Table(caption="Webhook deliveries by organization", columns=_DELIVERIES, rows=rows, now=now)


def _documents_table(found: Sequence[Documents]) -> Table:
    rows = [
        Row(
            cells=(
                Cell(text=each.organization),
                *(_count(number, more=each.more) for number in (each.to_read, each.under_way, each.to_index)),
            )
        )
        for each in found
    ]
    return Table(caption="Documents by organization", columns=_DOCUMENTS, rows=rows)


def _imports_table(jobs: Jobs, now: Instant) -> Table:
    rows = [
        Row(
            cells=(
                Cell(text=each.organization),
                Cell(text=_KINDS.get(each.kind, each.kind)),
                Cell(text=each.stage, tone="information"),
                Cell(at=each.since),
            )
        )
        for each in jobs.imports
    ]
    return Table(caption="Imports under way", columns=_IMPORTS, rows=rows, now=now)


def _leases_table(jobs: Jobs, now: Instant) -> Table:
    rows = [
        Row(
            cells=(
                Cell(text=_LEASED.get(each.kind, each.kind)),
                Cell(text=each.organization),
                Cell(text="this daemon" if each.ours else each.holder),
                Cell(at=each.until),
            )
        )
        for each in jobs.leases
    ]
    return Table(caption="What a process works on alone", columns=_LEASES, rows=rows, now=now)


def _unknown_table(jobs: Jobs, now: Instant) -> Table:
    rows = [
        Row(cells=(Cell(text=each.organization), Cell(text=each.operation, kind="code"), Cell(at=each.since)))
        for each in jobs.unknown
    ]
    return Table(caption="Calls whose outcome is not known", columns=_UNKNOWN, rows=rows, now=now)


def _rounds_table(jobs: Jobs, now: Instant) -> Table:
    rows = [
        Row(
            cells=(
                Cell(text=name[:1].upper() + name[1:]),
                Cell(text="failed", tone="danger") if each.failed else Cell(text="done", tone="success"),
                Cell(at=each.at),
            )
        )
        for name, each in jobs.rounds.items()
    ]
    return Table(caption="Housekeeping since the start", columns=_ROUNDS, rows=rows, now=now)
