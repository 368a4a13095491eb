"""`/admin/audit`: what was done, by whom and when; and who signed in, or could not."""

import datetime
from typing import Final

from quart import Quart, request
from werkzeug.exceptions import BadRequest

from gatewayd.clock import DAY, Instant, from_wire
from gatewayd.console.addresses import ADMIN_AUDIT
from gatewayd.console.administration.administrators import (
    PAGE_ROWS,
    Found,
    Heading,
    administrator,
    asked_of,
    name_of_actor,
    show_list,
)
from gatewayd.console.components.shapes import Cell, Column, EmptyState, Field, Option, Row, Table
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.identity import audit_search
from gatewayd.identity.audit import ACTIONS
from gatewayd.identity.audit_search import AuditPage, NamedEntry, Sought
from gatewayd.store import ReadTx

_AREAS: Final = tuple(dict.fromkeys(action.partition(".")[0] for action in ACTIONS))


def words_of_action(action: str) -> str:
    """`user.signed_in` as people read it."""
    return action.replace(".", " ").replace("_", " ")


_WHAT: Final = (
    Option("", "Anything"),
    *(Option(f"{area}.", f"{area}: all of it") for area in _AREAS),
    *(Option(action, words_of_action(action)) for action in sorted(ACTIONS)),
)
_COLUMNS: Final = (
    Column("When", "moment"),
    Column("What"),
    Column("By"),
    Column("About"),
    Column("Organization"),
    Column("More"),
)
_HEADING: Final = Heading(
    "Audit log",
    "What was done to organizations, people and credentials, and who signed in or could not. Newest first, in UTC.",
    EmptyState(sentence="Nothing was recorded yet.", command="gatewayd audit --json"),
)


class AuditLog:
    """The page of the audit log."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store

    def add_to(self, app: Quart) -> None:
        """Put the page where it belongs."""
        add_page(app, "GET", ADMIN_AUDIT, self.show)

    async def show(self) -> str:
        administrator()
        asked = asked_of("who", "about", "what", "organization", "from", "to")
        before = request.args.get("before") or None
        sought = Sought(
            org_id=asked.get("organization"),
            actor=asked.get("who"),
            subject=asked.get("about"),
            action=asked.get("what"),
            since=_day(asked.get("from"), 0),
            until=_day(asked.get("to"), DAY),
        )

        def look(tx: ReadTx) -> tuple[AuditPage, str | None]:
            name = None if sought.org_id is None else audit_search.name_of(tx, sought.org_id)
            return audit_search.find(tx, sought, before, PAGE_ROWS), name

        page, organization = await self._store.read(look)
        rows = [_row(entry) for entry in page.entries]
        table = Table(caption="Entries of the audit log", columns=_COLUMNS, rows=rows)
        return await show_list(_HEADING, Found(table, _fields(asked, organization), asked, page.older))


def _fields(asked: dict[str, str], organization: str | None) -> list[Field]:
    fields = [
        Field(name="who", label="By", value=asked.get("who", ""), hint="An e-mail address, or operator."),
        Field(name="about", label="About", value=asked.get("about", ""), hint="An e-mail address, or an id."),
        Field(name="what", label="What", kind="select", options=_WHAT, value=asked.get("what", "")),
        Field(name="from", label="From", kind="date", value=asked.get("from", "")),
        Field(name="to", label="To", kind="date", value=asked.get("to", "")),
    ]
    if "organization" in asked:  # from the page of organizations: a choice of one
        chosen = asked["organization"]
        options = (Option("", "All"), Option(chosen, organization or chosen))
        fields.append(Field(name="organization", label="Organization", kind="select", options=options, value=chosen))
    return fields


def _row(entry: NamedEntry) -> Row:
    return Row(
        id=entry.id,
        cells=(
            Cell(at=entry.at),
            Cell(text=words_of_action(entry.action)),
            Cell(text=name_of_actor(entry.actor, entry.actor_name)),
            Cell(text=entry.subject_name or entry.subject),
            Cell(text=entry.org_name or entry.org_id or ""),
            Cell(text=audit_search.words_of(entry.detail)),
        ),
    )


def _day(text: str | None, later: int) -> Instant | None:
    """The first instant of a day in UTC, or so much later. Raises `BadRequest`."""
    if text is None:
        return None
    try:
        date = datetime.date.fromisoformat(text)
        return Instant(from_wire(f"{date.isoformat()}T00:00:00Z") + later)
    except (ValueError, OverflowError):
        raise BadRequest("The address names a day that there is not.") from None
