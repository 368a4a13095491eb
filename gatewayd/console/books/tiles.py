"""What the first page tells of an organization: what is open and due, and what a new one has not done yet.

Each figure is what an operation answers to the person who looks. Where there are more than one page of a list has, it
says so, and counts no further.
"""

import datetime
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gatewayd.clock import DAY, Instant, london_date
from gatewayd.console.addresses import CLIENTS, DOCUMENTS, ENTITIES, INVOICES, WEBHOOKS
from gatewayd.console.components import words
from gatewayd.console.components.shapes import Action, Tone
from gatewayd.console.operations.calls import Operations
from gatewayd.console.operations.request_fields import words_of
from gatewayd.ledger.calendar.titles import TITLES
from gatewayd.money import to_minor

COUNTED: Final = 100  # as many as one page of a list has
NAMED: Final = 3  # Chosen: of what a tile tells of, by name
DUE_DAYS: Final = 60  # Chosen: how far ahead deadlines and certificates are told of
SUBSCRIPTIONS_ASKED: Final = 10  # Chosen: whose deliveries are looked at
NEW_DAYS: Final = 90  # Chosen: as long as an organization is told of its first steps
OWED: Final = ("issued", "sent", "part_paid")
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One figure with what it is made of. `lines` are pairs of a name and what is said of it."""

    title: str
    figure: str
    text: str = ""
    lines: Sequence[tuple[str, str]] = ()
    tone: Tone = "neutral"
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class FirstStep:
    """Something that a new firm does first. `href` is where, as far as there is a page for it."""

    label: str
    is_done: bool
    href: str = ""


class Tiles:
    """The tiles and first steps of the organization that a page is of."""

    def __init__(self, operations: Operations) -> None:
        self._call = operations.call

    async def shown(self, now: Instant) -> list[Tile]:
        """Those that have something to tell, what is late before what is only open."""
        today = london_date(now)
        asked: tuple[Callable[[str], Awaitable[Tile | None]], ...] = (
            self._overdue,
            self._late_deadlines,
            self._failed_deliveries,
            self._certificates,
            self._open_invoices,
            self._bank_lines,
            self._deadlines,
            self._failed_documents,
        )
        return [tile for ask in asked if (tile := await ask(today)) is not None]

    async def first_steps(self, created_at: Instant, now: Instant) -> list[FirstStep]:
        """What a new organization has done and has not; empty where it is done, or no longer new."""
        if now - created_at > NEW_DAYS * DAY:
            return []
        steps = [
            FirstStep(
                "Say for whom you keep books: a legal entity",
                await self._has("legalEntity.getLegalEntities"),
                f"{ENTITIES}/new",
            ),
            FirstStep("Add a bank account", await self._has("banking.listAccounts")),
            FirstStep("Import a bank statement", await self._has("banking.listImports", status="applied")),
            FirstStep("Add a client", await self._has("accounting.listClients"), f"{CLIENTS}/new"),
            FirstStep(
                "Issue an invoice",
                await self._has("accounting.listInvoices", status=[*OWED, "paid"]),
                f"{INVOICES}/new",
            ),
        ]
        return [] if all(step.is_done for step in steps) else steps

    async def _has(self, operation: str, **values: object) -> bool:
        answer = await self._call(operation, {**values, "limit": "1"})
        return bool(answer["data"])

    # -- money

    async def _overdue(self, today: str) -> Tile | None:
        page = await self._call("accounting.listInvoices", {"status": "overdue", "limit": str(COUNTED)})
        said = [(_invoice(row), f"due {words.day(row['dueDate'])}") for row in page["data"]]
        tile = _tile("Overdue invoices", page, said, "warning", _sums(page["data"], "balanceDue"))
        return _leading(tile, "Look at overdue invoices", f"{INVOICES}?status=overdue")

    async def _open_invoices(self, today: str) -> Tile | None:
        asked = {"status": list(OWED), "dueDateFrom": today, "limit": str(COUNTED)}
        page = await self._call("accounting.listInvoices", asked)
        said = [(_invoice(row), f"due {words.day(row['dueDate'])}") for row in page["data"]]
        tile = _tile("Open invoices", page, said, "neutral", _sums(page["data"], "balanceDue"))
        return _leading(tile, "Look at invoices", INVOICES)

    async def _bank_lines(self, today: str) -> Tile | None:
        page = await self._call("banking.listTransactions", {"unallocated": "true", "limit": str(COUNTED)})
        said = [(row["description"], f"{_money(row, 'amount')} on {words.day(row['date'])}") for row in page["data"]]
        return _tile("Bank lines to explain", page, said)

    # -- days

    async def _late_deadlines(self, today: str) -> Tile | None:
        page = await self._call("obligations.list", {"status": "overdue", "limit": str(COUNTED)})
        said = [(_deadline(row), f"was due {words.day(row['dueDate'])}") for row in page["data"]]
        return _tile("Missed deadlines", page, said, "danger")

    async def _deadlines(self, today: str) -> Tile | None:
        until = datetime.date.fromisoformat(today) + datetime.timedelta(days=DUE_DAYS)
        page = await self._call("obligations.list", {"status": "open", "dueDateTo": until.isoformat()})
        soonest = sorted(page["data"], key=lambda row: str(row["dueDate"]))
        said = [(_deadline(row), words.day(row["dueDate"])) for row in soonest]
        return _tile(f"Due within {DUE_DAYS} days", page, said)

    async def _certificates(self, today: str) -> Tile | None:
        found = [
            row
            for status in ("expired", "expiring")
            for row in (await self._call("landlord.listCertificates", {"status": status, "windowDays": str(DUE_DAYS)}))[
                "data"
            ]
        ]
        said = [(_certificate(row), f"until {words.day(row['expiryDate'])}") for row in found if row["expiryDate"]]
        return _tile("Certificates that end", {"data": found, "nextCursor": None}, said, "warning")

    # -- what went wrong

    async def _failed_deliveries(self, today: str) -> Tile | None:
        subscriptions = await self._call("webhooks.list", {"limit": str(SUBSCRIPTIONS_ASKED)})
        failed: list[Json] = []
        for each in subscriptions["data"]:
            asked = {"id": each["id"], "status": "exhausted", "limit": str(COUNTED)}
            failed += [
                {**row, "url": each["url"]} for row in (await self._call("webhooks.listDeliveries", asked))["data"]
            ]
        said = [(row["event"], row["url"]) for row in failed]
        tile = _tile("Events that did not arrive", {"data": failed, "nextCursor": None}, said, "warning")
        return _leading(tile, "Look at webhooks", WEBHOOKS)

    async def _failed_documents(self, today: str) -> Tile | None:
        count = (await self._call("vault.countFailedDocuments", {}))["count"]
        tile = Tile(title="Documents that could not be read", figure=str(count), tone="warning") if count else None
        return _leading(tile, "Look at documents", DOCUMENTS)


def _tile(
    title: str, page: Json, lines: Sequence[tuple[str, str]], tone: Tone = "neutral", text: str = ""
) -> Tile | None:
    """The tile of a page of rows; None: there are none."""
    count = len(page["data"])
    if not count:
        return None
    figure = f"{count} or more" if page["nextCursor"] is not None else str(count)
    return Tile(title=title, figure=figure, text=text, lines=lines[:NAMED], tone=tone)


def _leading(tile: Tile | None, label: str, href: str) -> Tile | None:
    """The tile with where one goes on."""
    return None if tile is None else replace(tile, action=Action(label, href))


def _sums(rows: Sequence[Json], member: str) -> str:
    """What amounts come to, of each currency by itself."""
    sums: dict[str, int] = defaultdict(int)
    for row in rows:
        sums[row["currency"]] += to_minor(row[member], row["currency"])
    return ", ".join(words.money(amount, currency) for currency, amount in sorted(sums.items()))


def _money(row: Json, member: str) -> str:
    return words.money(to_minor(row[member], row["currency"]), row["currency"])


def _invoice(row: Json) -> str:
    client = (row["clientSnapshot"] or {}).get("name", "")
    return f"{row['number']} {client}, {_money(row, 'balanceDue')}"


def _deadline(row: Json) -> str:
    return str(row["name"] or TITLES[row["kind"]])


def _certificate(row: Json) -> str:
    return str(row["title"] or words_of(row["type"]))
