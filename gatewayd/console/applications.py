"""`/developers/apps`: what is connected to the account, and its end."""

from typing import Final

from quart import Quart, Response, render_template, request
from werkzeug.exceptions import NotFound

from gatewayd.console.addresses import APPS
from gatewayd.console.browser import flash, here, see, signed_in
from gatewayd.console.pages import add_page, confirm
from gatewayd.console.parts import ConsoleParts
from gatewayd.contract.scopes import meaning
from gatewayd.errors import Problem
from gatewayd.identity.clients import grant_lists, grants
from gatewayd.identity.clients.grant_lists import GrantSummary

REVOKE: Final = f"{APPS}/revoke"


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
        return await render_template("apps.html", live=live, ended=ended, meaning=meaning)

    async def ask_to_revoke(self) -> str:
        app = await self._asked()
        consequences = [
            f"It does nothing for you in {app.organization} any more, from its next request on.",
            "It has to be connected again before it can. What it did stays.",
        ]
        return await confirm(f"Revoke {', '.join(app.hosts)}?", consequences, here(), "Revoke", APPS)

    async def revoke(self) -> Response:
        """At once: the next request of the app is refused."""
        _, user = signed_in()
        app = await self._asked()
        try:
            await self._store.write(lambda tx: grants.revoke_own(tx, app.grant_id, user.id))
        except Problem:
            raise NotFound from None
        flash("success", f"{', '.join(app.hosts)} was revoked: it does nothing for you in {app.organization} any more.")
        return see(APPS)

    async def _asked(self) -> GrantSummary:
        """The connected app that the address names. Raises `NotFound`, also for one that has ended."""
        _, user = signed_in()
        grant_id, now = request.args.get("id", ""), self._clock.now()
        for each in await self._store.read(lambda tx: grant_lists.of_user(tx, user.id)):
            if each.grant_id == grant_id and each.revoked_at is None and each.expires_at > now:
                return each
        raise NotFound
