"""`/developers/apps`: what is connected to the account, and its end."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from quart import Quart, Response, render_template, request
from werkzeug.exceptions import NotFound

from gatewayd.console.addresses import APPS
from gatewayd.console.browser import flash, see, signed_in, value
from gatewayd.console.components.shapes import Cell, Column, Row, Table
from gatewayd.console.components.words import day
from gatewayd.console.pages import PAGE_ROWS, Question, add_page, ask, page_of, with_query
from gatewayd.console.parts import ConsoleParts
from gatewayd.contract.scopes import meaning
from gatewayd.errors import Problem
from gatewayd.identity.clients import grant_lists, grants
from gatewayd.identity.clients.grant_lists import GrantSummary
from gatewayd.identity.clients.grants import RevokedReason
from gatewayd.store import ReadTx

REVOKE: Final = f"{APPS}/revoke"
WHY: Final[Mapping[RevokedReason, str]] = {
    "user": "You revoked it",
    "client": "The app ended it",
    "operator": "Whoever runs this server ended it",
    "code_replayed": "Its code was used twice: somebody may have copied it",
    "refresh_reused": "Its token was used twice: somebody may have copied it",
    "password_changed": "The password was changed",
    "member_removed": "You left the organization",
}
"""Why a connection ended, as its person is told."""
_THIS_COMPUTER: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class ShownApp(NamedTuple):
    """An app that is connected, by where it is, and what is so of it."""

    app: GrantSummary
    name: str
    facts: list[tuple[str, Cell]]


class Applications:
    """The page of connected apps."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store
        self._clock = parts.clock

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", APPS, self.show)
        add_page(app, "GET", REVOKE, self.ask_to_revoke)
        add_page(app, "POST", REVOKE, self.revoke)

    async def show(self) -> str:
        _, user = signed_in()
        apps = await self._store.read(lambda tx: grant_lists.of_user(tx, user.id))
        now = self._clock.now()
        live = [app for app in apps if app.revoked_at is None and app.expires_at > now]
        ended = [app for app in apps if app not in live]
        after = request.args.get("after", "")[:64]
        of_page, following = page_of(live, after, lambda app: app.grant_id)
        return await render_template(
            "people/apps.html",
            live=[ShownApp(app, place_of(app), _facts(app)) for app in of_page],
            ended=_ended(ended[:PAGE_ROWS]),
            ended_count=len(ended),
            revoke=REVOKE,
            first_href=APPS if after else "",
            next_href=with_query(APPS, {"after": following}) if following else "",
        )

    async def ask_to_revoke(self) -> str:
        """What the end of a connection means. Raises `NotFound` for one that is not the visitor's, or has ended."""
        _, user = signed_in()
        grant_id = request.args.get("id", "")

        def look(tx: ReadTx) -> GrantSummary:
            found = (app for app in grant_lists.of_user(tx, user.id) if app.grant_id == grant_id)
            app = next(found, None)
            if app is None or app.revoked_at is not None:
                raise NotFound
            return app

        app = await self._store.read(look)
        question = Question(
            title=f"Revoke {place_of(app)}?",
            consequences=[
                f"The app is refused from its next request on. It acts for you in {app.organization} no more.",
                "What it made stays. You can connect it again.",
            ],
            action=REVOKE,
            button="Revoke",
            back=APPS,
            hidden=[("id", grant_id)],
        )
        return await ask(question)

    async def revoke(self) -> Response:
        """At once: the next request of the app is refused."""
        _, user = signed_in()
        grant_id = value(await request.form, "id", 64)
        try:
            await self._store.write(lambda tx: grants.revoke_own(tx, grant_id, user.id))
        except Problem:
            raise NotFound from None
        flash("success", "The app was disconnected.")
        return see(APPS)


def place_of(app: GrantSummary) -> str:
    """Where an app is, which is how people know it: its name is only what it calls itself."""
    return ", ".join(_place(host) for host in app.hosts)


def _place(host: str) -> str:
    if host in _THIS_COMPUTER:
        return f"this computer ({host})"
    return f"an app on this device ({host})" if host.endswith(":") else host


def _facts(app: GrantSummary) -> list[tuple[str, Cell]]:
    return [
        ("Organization", Cell(text=app.organization)),
        *([("Used at", Cell(text=app.resource))] if app.resource else []),
        ("Connected", Cell(at=app.connected_at, kind="moment")),
        ("Last used", Cell(text=day(app.last_used_day) if app.last_used_day else "Not since it was connected")),
        ("Ends", Cell(at=app.expires_at, kind="date")),
        ("May", Cell(items=[meaning(scope) for scope in app.scopes])),
    ]


def _ended(apps: Sequence[GrantSummary]) -> Table:
    rows = [
        Row(
            cells=[
                Cell(text=place_of(app)),
                Cell(text=app.organization),
                Cell(at=app.connected_at),
                Cell(at=app.revoked_at or app.expires_at),
                Cell(text="It ran out" if app.revoked_reason is None else WHY[app.revoked_reason]),
            ]
        )
        for app in apps
    ]
    columns = [
        Column("App"),
        Column("Organization"),
        Column("Connected", "date"),
        Column("Ended", "date"),
        Column("Why"),
    ]
    return Table(caption="Connections that have ended", columns=columns, rows=rows)
