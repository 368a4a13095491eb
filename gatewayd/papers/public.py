"""Papers for whoever has their link: what one says now, its PDF, and the answer to a quote.

A stranger learns of one paper what its client may know, and of the organization nothing else. Whoever has a link can
ask as often as they like: a paper is made by one child for all of them, and the others wait.
"""

from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple, Protocol

from gatewayd.areas.accounting import answering, paper_links
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.quotes.rows import QUOTES
from gatewayd.contract.given_files import WrittenFile
from gatewayd.money import Money
from gatewayd.papers import contents
from gatewayd.papers.engine import Papers
from gatewayd.papers.paper import Paper
from gatewayd.shares import Shares
from gatewayd.store import ReadTx, Store

AT_ONCE: Final = 1  # Chosen: beside those of the API; what is issued is made once and kept
WAIT_SECONDS: Final = 20.0  # Chosen
OPEN: Final = ("issued", "sent", "part_paid")


class Shown(NamedTuple):
    """What is at an address. `paper` None: it is not there any more, as `status` says: `replaced`, `deleted`.

    `paid` and `credited` are what was paid and taken off of an invoice, `due` what is still to be paid. `said` has the
    texts of the paper in their order, by the names of `layout.of_paper`.
    """

    org_id: str
    id: str
    status: str
    paper: Paper | None = None
    said: dict[str, Any] | None = None
    paid: Money | None = None
    credited: Money | None = None
    due: Money | None = None
    due_date: str = ""
    is_overdue: bool = False
    viewed: bool = False
    answered_by: str | None = None
    answered_on: str | None = None


class Limits(Protocol):
    """What holds who asks to a rate."""

    def charged(self, address: str, cost: int, now: float) -> AbstractContextManager[None]: ...


class PublicPapers:
    """The papers of one store, as those see them who have a link. `limits` hold who asks to a rate."""

    def __init__(self, store: Store, papers: Papers, limits: Limits) -> None:
        self._store = store
        self._papers = papers
        self.limits = limits
        self.shares = Shares("papers of links", AT_ONCE, wait_seconds=WAIT_SECONDS)

    async def look(self, token: str) -> Shown | None:
        """What a token opens; None: nothing, or of an organization that is suspended. Raises `StoreFailure`."""
        shown = await self._store.read(lambda tx: _look(tx, token))
        if shown is None or shown.paper is None:
            return shown
        from gatewayd.papers import layout  # not before the first is looked at: it draws codes too
        from gatewayd.papers.country_names import country_names

        return shown._replace(said=layout.of_paper(shown.paper, country_names()))

    async def note_view(self, shown: Shown) -> None:
        """Keep that the client has seen it. Raises `StoreFailure`."""
        if not shown.viewed:
            await self._store.write(lambda tx: answering.note_view(tx, shown.id), shown.org_id)

    async def pdf(self, shown: Shown) -> WrittenFile:
        """Raises `Problem` as `Papers.pdf` does."""
        async with self.shares.place(shown.org_id):
            return await self._papers.to_send(shown.org_id, shown.id)

    async def accept(self, shown: Shown, name: str) -> None:
        """Raises `Problem` `invalid_state`, and `StoreFailure`."""
        await self._store.write(lambda tx: answering.accept(tx, shown.id, name), shown.org_id)

    async def decline(self, shown: Shown, name: str, reason: str | None) -> None:
        """Raises `Problem` `invalid_state`, and `StoreFailure`."""
        await self._store.write(lambda tx: answering.decline(tx, shown.id, name, reason), shown.org_id)


def _look(tx: ReadTx, token: str) -> Shown | None:
    opened = paper_links.find(tx, token)
    if opened is None:
        return None
    if opened.ended:
        return Shown(opened.org_id, opened.about, "replaced")
    tx.bind(opened.org_id)
    invoice = INVOICES.find(tx, opened.about)
    if invoice is not None:
        overdue = invoice.status in OPEN and invoice.balance_due.minor > 0 and invoice.due_date < tx.today
        return Shown(
            opened.org_id,
            invoice.id,
            invoice.status,
            contents.of_invoice(tx, invoice.id).paper,
            paid=invoice.paid_total,
            credited=invoice.credited_total,
            due=invoice.balance_due,
            due_date=invoice.due_date,
            is_overdue=overdue,
            viewed=invoice.viewed_at is not None,
        )
    quote = QUOTES.find(tx, opened.about)
    if quote is None:
        return Shown(opened.org_id, opened.about, "deleted")
    return Shown(
        opened.org_id,
        quote.id,
        quote.status,
        contents.of_quote(tx, quote.id).paper,
        due_date=quote.valid_until,
        viewed=quote.viewed_at is not None,
        answered_by=quote.answered_by,
        answered_on=quote.accepted_date,
    )
