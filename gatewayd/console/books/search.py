"""`/search`: what holds some words, of legal entities to documents.

Each is asked by the operation of its own list, with the person's rights; what they may not see is not asked twice.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from quart import Quart, render_template, request

from gatewayd.clock import Clock
from gatewayd.console.addresses import CLIENTS, ENTITIES, INVOICES, SEARCH
from gatewayd.console.browser import optional, organization
from gatewayd.console.components.shapes import Cell, Column, Row, Table
from gatewayd.console.developers.usage import left
from gatewayd.console.operations.calls import Operations
from gatewayd.console.operations.lists import listed
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.errors import Problem

WORDS_MAX: Final = 200
SHOWN: Final = 5  # Chosen: of each; the list of its own has the rest
LEAST: Final = 2  # Chosen: characters; one letter is in nearly everything, and instruments take no fewer


class Source(NamedTuple):
    """A list in which is looked: what it is called, the operation, its columns by their names on the wire.

    `address` is where the pages of its rows are; empty: they have none.
    """

    title: str
    operation: str
    columns: Mapping[str, str]
    address: str = ""


SOURCES: Final = (
    Source("Legal entities", "legalEntity.getLegalEntities", {"name": "", "type": "", "companyNumber": ""}, ENTITIES),
    Source("Clients", "accounting.listClients", {"name": "", "email": "", "companyNumber": ""}, CLIENTS),
    Source(
        "Invoices",
        "accounting.listInvoices",
        {"number": "", "reference": "", "issueDate": "Issued", "status": "", "grossTotal": "Total"},
        INVOICES,
    ),
    Source("Properties", "landlord.listProperties", {"name": "", "type": "", "use": ""}),
    Source("Tenants", "landlord.listTenants", {"name": "", "email": "", "phone": "", "status": ""}),
    Source(
        "Bank lines",
        "banking.listTransactions",
        {"description": "", "counterpartyName": "Other party", "date": "", "amount": ""},
    ),
    Source("Instruments", "assets.searchInstruments", {"name": "", "symbol": "", "isin": "ISIN", "currency": ""}),
)
_DOCUMENTS: Final = "vault.searchDocuments"


class Found(NamedTuple):
    """What was found in one place. `more`: whether there is more than is shown."""

    title: str
    table: Table
    more: bool


class SearchPage:
    """The page that the box at the top of every page leads to."""

    def __init__(self, parts: ConsoleParts, operations: Operations) -> None:
        self._store = parts.store
        self._clock: Clock = parts.clock
        self._operations = operations

    def add_to(self, app: Quart) -> None:
        """Put the page where it belongs."""
        add_page(app, "GET", SEARCH, self.show)

    async def show(self) -> str:
        """Raises `NotFound` for who belongs to no organization, `BadRequest` for more text than the box takes."""
        org_id = organization().id
        text = optional(request.args, "q", WORDS_MAX).strip()
        metered = await self._store.read(lambda tx: left(tx, org_id) is not None)
        found = []
        if len(text) >= LEAST:
            found = [each for source in SOURCES if (each := await self._in_list(source, text)) is not None]
            if (not metered or "documents" in request.args) and (more := await self._in_documents(text)) is not None:
                found.append(more)
        return await render_template("books/search.html", q=text, least=LEAST, found=found, metered=metered)

    async def _in_list(self, source: Source, text: str) -> Found | None:
        """None: nothing there, or nothing that this person may see."""
        answer = await self._asked(source.operation, {"q": text, "limit": str(SHOWN + 1)})
        rows = answer.get("data", [])
        if not rows:
            return None
        shape = listed(self._operations.row(source.operation).response, source.title, source.columns)
        href = (lambda row: f"{source.address}/{row['id']}") if source.address else None
        return Found(source.title, shape.table(rows[:SHOWN], self._clock.now(), href), len(rows) > SHOWN)

    async def _in_documents(self, text: str) -> Found | None:
        """By words alone: a search by meaning costs more than a box should that is typed into all day."""
        answer = await self._asked(_DOCUMENTS, {"q": text, "mode": "text", "limit": SHOWN + 1})
        rows = [
            Row(cells=[Cell(text=each["document"]["name"]), Cell(text=" … ".join(s["text"] for s in each["snippets"]))])
            for each in answer.get("data", [])
        ]
        table = Table(caption="Documents", columns=[Column("Name"), Column("Passage")], rows=rows[:SHOWN])
        return Found("Documents", table, len(rows) > SHOWN) if rows else None

    async def _asked(self, operation: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Its answer; empty where it is refused, as to whoever has used all credits, or takes longer words."""
        try:
            answer: Mapping[str, Any] = await self._operations.call(operation, values)
        except Problem:
            return {}
        return answer
