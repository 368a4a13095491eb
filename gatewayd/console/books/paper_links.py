"""`/i/<token>`: an invoice or a quote as its client sees it, by a link and without signing in.

A GET shows and downloads, a POST accepts or declines a quote. Who looks first is noted as the client, unless they are
signed in to the organization whose paper it is. What only fetches ahead (HEAD, prefetch) is not.
"""

from contextlib import AbstractContextManager
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final, NamedTuple

import trio
from quart import Quart, Response, g, render_template, request

from gatewayd.console.addresses import PAPERS
from gatewayd.console.browser import flash, optional, see, value, visit
from gatewayd.console.components import words
from gatewayd.console.components.shapes import Cell, Column, Row, Table, Tone
from gatewayd.console.pages import add_page, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.errors import Problem
from gatewayd.money import Money
from gatewayd.papers.public import PublicPapers, Shown
from gatewayd.store import StoreFailure

COST: Final = 1  # of the rate limit
PDF_COST: Final = 10  # Chosen
NAME_MAX: Final = 160
REASON_MAX: Final = 500
_ADDRESS: Final = f"{PAPERS}/<token>"
_BADGES: Final[dict[str, tuple[str, Tone]]] = {
    "issued": ("To be paid", "information"),
    "sent": ("To be paid", "information"),
    "part_paid": ("Paid in part", "information"),
    "paid": ("Paid", "success"),
    "void": ("Void", "danger"),
    "accepted": ("Accepted", "success"),
    "invoiced": ("Accepted", "success"),
    "declined": ("Declined", "neutral"),
    "expired": ("Expired", "warning"),
}
_GONE: Final = {
    "replaced": "Whoever sent it to you has another.",
    "deleted": "What it showed is not there any more.",
}
_NOTHING: Final = "The address may be mistyped, or what it led to is gone."
Page = tuple[str, int]


class _Sums(NamedTuple):
    """What is paid, taken off by credit notes, and still due, in words; empty: nothing."""

    paid: str
    credited: str
    due: str


class PaperLinks:
    """The pages of one paper."""

    def __init__(self, parts: ConsoleParts, papers: PublicPapers) -> None:
        self._log = parts.log
        self._papers = papers

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", _ADDRESS, self.show)
        add_page(app, "GET", f"{_ADDRESS}/<any(invoice, quote):_kind>.pdf", self.pdf)
        add_page(app, "POST", f"{_ADDRESS}/accept", self.accept)
        add_page(app, "POST", f"{_ADDRESS}/decline", self.decline)

    async def show(self, token: str) -> Page:
        with self._charged(COST):
            shown = await self._papers.look(token)
            if shown is not None and shown.paper is not None:
                await self._note_view(shown)
            return await _page(token, shown)

    async def pdf(self, token: str, _kind: str) -> Response | Page:
        with self._charged(PDF_COST):
            shown = await self._papers.look(token)
            if shown is None or shown.paper is None or shown.status == "void":
                return await _page(token, shown)
            file = await self._papers.pdf(shown)
        response = Response(file.content, mimetype=file.media_type)
        g.referrer_policy = "no-referrer"
        response.headers["Content-Disposition"] = f'attachment; filename="{file.name}"'
        return response

    async def accept(self, token: str) -> Response | Page:
        with self._charged(COST):
            return await self._answer(token, "accept")

    async def decline(self, token: str) -> Response | Page:
        with self._charged(COST):
            return await self._answer(token, "decline")

    async def _answer(self, token: str, what: str) -> Response | Page:
        form = await request.form
        name, reason = value(form, "name", NAME_MAX).strip(), optional(form, "reason", REASON_MAX).strip()
        shown = await self._papers.look(token)
        if shown is None or shown.paper is None or shown.paper.kind != "quote":
            return await _page(token, None)
        if not name:
            return await _page(token, shown, "Say who you are.", what)
        try:
            if what == "accept":
                await self._papers.accept(shown, name)
            else:
                await self._papers.decline(shown, name, reason or None)
        except Problem as problem:
            return await _page(token, await self._papers.look(token), sentence(problem), what)
        flash("success", "You accepted the quote." if what == "accept" else "You declined the quote.")
        return see(f"{PAPERS}/{token}")

    async def _note_view(self, shown: Shown) -> None:
        own = any(each.id == shown.org_id for each, _ in visit().belongs)
        ahead = "prefetch" in f"{request.headers.get('Sec-Purpose', '')}{request.headers.get('Purpose', '')}"
        if own or ahead or request.method != "GET":
            return
        try:
            await self._papers.note_view(shown)
        except StoreFailure as error:  # a full disk keeps nobody from looking
            self._log.error("view_not_recorded", exc_info=error)

    def _charged(self, cost: int) -> AbstractContextManager[None]:
        """One request, to the network that it comes from. Raises `Problem` `rate_limited`."""
        client = request.scope.get("client")
        network = _network(client[0] if client else "")
        return self._papers.limits.charged(f"papers of {network}", cost, trio.current_time())


def _network(address: str) -> str:
    """Chosen: an address of IPv4, and of IPv6 the 64 bits that one line has."""
    try:
        known = ip_address(address)
    except ValueError:
        return ""
    return str(ip_network((known, 64), strict=False)) if isinstance(known, IPv6Address) else str(known)


async def _page(token: str, shown: Shown | None, problem: str = "", tried: str = "") -> Page:
    """What the link shows; 404 alike for whatever was never one, 410 for what was, 422 where something was wrong."""
    if shown is None:
        nothing = {"title": "There is nothing here", "text": _NOTHING, "back": "/", "request_id": g.request_id}
        return await render_template("error.html", **nothing), 404
    if shown.paper is None or shown.said is None:
        text = _GONE.get(shown.status, _GONE["deleted"])
        return await render_template("books/paper_gone.html", text=text), 410
    paper, said = shown.paper, shown.said
    is_open = paper.kind == "quote" and shown.status == "sent"
    if not is_open:  # browsers that tell nobody where a form comes from would have it refused
        g.referrer_policy = "no-referrer"
    page = await render_template(
        "books/paper.html",
        paper=paper,
        said=said,
        status=shown.status,
        badge_of=_badge(shown, is_open=is_open),
        facts=[(label, Cell(text=text)) for label, text in said["facts"]],
        lines=_lines(said),
        vat=_vat(said),
        sums=said["sums"],
        paid=_sums(shown),
        bank=[(label, Cell(text=text, kind="code")) for label, text in said["bank"]] if _is_due(shown) else [],
        answered_by=shown.answered_by,
        due_date=shown.due_date,
        is_open=is_open,
        address=f"{PAPERS}/{token}",
        file=f"{PAPERS}/{token}/{'quote' if paper.kind == 'quote' else 'invoice'}.pdf",
        name_max=NAME_MAX,
        reason_max=REASON_MAX,
        problem=problem,
        tried=tried,
    )
    return page, 422 if problem else 200


def _badge(shown: Shown, *, is_open: bool) -> tuple[str, Tone]:
    if is_open:
        return "Open", "information"
    return ("Overdue", "warning") if shown.is_overdue else _BADGES.get(shown.status, ("Draft", "neutral"))


def _is_due(shown: Shown) -> bool:
    return shown.due is not None and shown.due.minor > 0


def _sums(shown: Shown) -> _Sums:
    def told(amount: Money | None) -> str:
        return "" if amount is None or not amount.minor else words.money(amount.minor, amount.currency)

    return _Sums(told(shown.paid), told(shown.credited), told(shown.due) if _is_due(shown) else "")


def _lines(said: dict[str, list[list[str]]]) -> Table:
    columns = [Column(label, "number" if kind == "right" else "text") for label, kind in said["columns"]]
    return Table(caption="Lines", columns=columns, rows=[_row(cells) for cells in said["lines"]])


def _vat(said: dict[str, list[list[str]]]) -> Table:
    columns = (Column("VAT"), Column("Rate", "number"), Column("Net", "number"), Column("VAT charged", "number"))
    return Table(caption="VAT by rates", columns=columns, rows=[_row(cells) for cells in said["vat"]])


def _row(cells: list[str]) -> Row:
    return Row(cells=[Cell(text=cell) for cell in cells])
