"""`/`: who you are, where, and what needs attention."""

from collections.abc import Sequence

from quart import Quart, render_template

from gatewayd.clock import DAY
from gatewayd.console.books.tax_view import attention
from gatewayd.console.books.tiles import Tiles
from gatewayd.console.browser import signed_in, visit
from gatewayd.console.components.shapes import Cell, Column, Row, Table
from gatewayd.console.developers.usage import left
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.contract.caller import Role
from gatewayd.identity.clients import grant_lists
from gatewayd.identity.people import memberships, organizations
from gatewayd.identity.people.organizations import Organization
from gatewayd.identity.sign_in import passkeys, second_factors
from gatewayd.store import ReadTx
from gatewayd.tax import approvals


class Home:
    """The first page."""

    def __init__(self, parts: ConsoleParts, tiles: Tiles) -> None:
        self._tiles = tiles
        self._store = parts.store
        self._clock = parts.clock

    def add_to(self, app: Quart) -> None:
        """Put the page where it belongs."""
        add_page(app, "GET", "/", self.show)

    async def show(self) -> str:
        _, user = signed_in()

        def look(tx: ReadTx) -> dict[str, object]:
            belongs = [(organizations.get(tx, each.org_id), each.role) for each in memberships.of_user(tx, user.id)]
            apps = grant_lists.of_user(tx, user.id)
            protected = second_factors.is_on(tx, user.id) or bool(passkeys.of_user(tx, user.id))
            return {
                "organizations_table": _table(belongs),
                "apps": sum(1 for app in apps if app.revoked_at is None and app.expires_at > tx.now),
                "protected": protected,
                "waiting": len(approvals.list_requests(tx)) if user.instance_admin else 0,
                "credits": [
                    (organization, balance)
                    for organization, _ in belongs
                    if (balance := left(tx, organization.id)) is not None
                ],
                "connections": attention(tx, [(organization.id, role) for organization, role in belongs]),
                "reused": [
                    app
                    for app in apps
                    if app.revoked_reason in ("refresh_reused", "code_replayed")
                    and app.revoked_at is not None
                    and tx.now - app.revoked_at < 14 * DAY
                ],
            }

        seen = await self._store.read(look)
        return await render_template("books/home.html", user=user, **seen, **await self._of_organization())

    async def _of_organization(self) -> dict[str, object]:
        """What there is to tell of the chosen one; nothing of one that nobody acts for."""
        chosen, now = visit().chosen, self._clock.now()
        if chosen is None or chosen.suspended_at is not None:
            return {"tiles": [], "steps": [], "suspended": chosen}
        steps = await self._tiles.first_steps(chosen.created_at, now)
        return {"tiles": await self._tiles.shown(now), "steps": steps, "suspended": None}


def _table(belongs: Sequence[tuple[Organization, Role]]) -> Table:
    rows = [Row(cells=[Cell(text=each.name), Cell(text=role), Cell(text=each.id)]) for each, role in belongs]
    columns = [Column("Name"), Column("Your role"), Column("Id", "code")]
    return Table(caption="Your organizations", columns=columns, rows=rows)
