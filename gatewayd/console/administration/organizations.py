"""`/admin/organizations`: those of the instance, suspended and resumed."""

from typing import Final

from quart import Quart, render_template, request

from gatewayd.console.addresses import ADMIN_AUDIT, ADMIN_ORGANIZATIONS
from gatewayd.console.administration.administrators import (
    PAGE_ROWS,
    Found,
    Heading,
    Page,
    administrator,
    asked_of,
    or_not_found,
    show_list,
)
from gatewayd.console.browser import flash, see, value
from gatewayd.console.components.shapes import Action, Cell, Column, EmptyState, Field, Row, Table, Tone
from gatewayd.console.pages import Question, add_page, ask, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.errors import Problem
from gatewayd.identity.people import organizations, suspensions
from gatewayd.identity.people.organizations import Organization
from gatewayd.identity.people.suspensions import REASON_MAX
from gatewayd.store import ReadTx

_COLUMNS: Final = (Column("Name"), Column("State", "badge"), Column("Reason"), Column("Made", "date"))
_HEADING: Final = Heading(
    "Organizations",
    "All of this instance. Nobody acts for one that is suspended, and it keeps everything.",
    EmptyState(sentence="There is no organization yet.", command='gatewayd org create --name "Oak & Son"'),
)


class AllOrganizations:
    """The pages of the instance's organizations."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        one = f"{ADMIN_ORGANIZATIONS}/<org_id>"
        add_page(app, "GET", ADMIN_ORGANIZATIONS, self.show)
        add_page(app, "GET", f"{one}/suspend", self.show_suspend)
        add_page(app, "POST", f"{one}/suspend", self.suspend)
        add_page(app, "GET", f"{one}/resume", self.ask_resume)
        add_page(app, "POST", f"{one}/resume", self.resume)

    async def show(self) -> str:
        administrator()
        asked, before = asked_of("q"), request.args.get("before") or None
        found = await self._store.read(lambda tx: organizations.list_page(tx, asked.get("q"), before, PAGE_ROWS + 1))
        rows = [_row(each) for each in found[:PAGE_ROWS]]
        fields = [Field(name="q", label="Name", value=asked.get("q", ""))]
        table = Table(caption="Organizations", columns=_COLUMNS, rows=rows)
        older = rows[-1].id if len(found) > PAGE_ROWS else None
        return await show_list(_HEADING, Found(table, fields, asked, older))

    async def show_suspend(self, org_id: str) -> str:
        administrator()
        return await self._form(org_id, "", "")

    async def suspend(self, org_id: str) -> Page:
        user, reason = administrator(), value(await request.form, "reason", 2 * REASON_MAX).strip()
        try:
            made = await self._store.write(lambda tx: suspensions.suspend(tx, org_id, reason or None, user.id))
        except Problem as problem:
            return await self._form(org_id, reason, sentence(or_not_found(problem))), problem.status
        flash("success", f"{made.name} is suspended.")
        return see(ADMIN_ORGANIZATIONS)

    async def _form(self, org_id: str, reason: str, error: str) -> str:
        found = await self._store.read(lambda tx: _get(tx, org_id))
        text = (
            "Keys, apps, links and feeds are refused from the next request on, and webhooks wait, until it is resumed."
        )
        hint = "Whoever is refused reads it."
        field = Field(
            name="reason", label="Reason", kind="textarea", value=reason, hint=hint, error=error, most=REASON_MAX
        )
        return await render_template(
            "form.html",
            page={"title": f"Suspend {found.name}", "text": text, "button": "Suspend organization"},
            fields=[field],
            hidden=(),
            back=ADMIN_ORGANIZATIONS,
            problem="",
            has_errors=bool(error),
        )

    async def ask_resume(self, org_id: str) -> str:
        administrator()
        return await ask(await self._resuming(org_id))

    async def resume(self, org_id: str) -> Page:
        user = administrator()
        try:
            made = await self._store.write(lambda tx: suspensions.resume(tx, org_id, user.id))
        except Problem as problem:
            text = sentence(or_not_found(problem))
            return await ask(await self._resuming(org_id), text), problem.status
        flash("success", f"{made.name} is resumed.")
        return see(ADMIN_ORGANIZATIONS)

    async def _resuming(self, org_id: str) -> Question:
        found = await self._store.read(lambda tx: _get(tx, org_id))
        said = "Whoever was let in before it was suspended is let in again, and webhooks that waited are sent."
        return Question(f"Resume {found.name}", [said], "Resume organization", ADMIN_ORGANIZATIONS)


def _get(tx: ReadTx, org_id: str) -> Organization:
    """Raises `NotFound`."""
    try:
        return organizations.get(tx, org_id)
    except Problem as problem:
        raise or_not_found(problem) from None


def _row(found: Organization) -> Row:
    one = f"{ADMIN_ORGANIZATIONS}/{found.id}"
    state, tone = _state(found)
    actions = [Action("Log", f"{ADMIN_AUDIT}?organization={found.id}")]
    if found.deleting_since is None:
        suspended = found.suspended_at is not None
        actions.insert(0, Action("Resume", f"{one}/resume") if suspended else Action("Suspend", f"{one}/suspend"))
    cells = (
        Cell(text=found.name),
        Cell(text=state, tone=tone),
        Cell(text=found.suspended_reason or ""),
        Cell(at=found.created_at),
    )
    return Row(id=found.id, label=found.name, cells=cells, actions=actions)


def _state(found: Organization) -> tuple[str, Tone]:
    if found.deleting_since is not None:
        return "being deleted", "danger"
    return ("suspended", "warning") if found.suspended_at is not None else ("active", "success")
