"""`/developers/apps`: what is connected to the account, and its end."""

from quart import Quart, Response, render_template, request
from werkzeug.exceptions import NotFound

from gatewayd.console.browser import see, signed_in, value
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.contract.scopes import meaning
from gatewayd.errors import Problem
from gatewayd.identity.clients import grant_lists, grants


class Applications:
    """The page of connected apps."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store
        self._clock = parts.clock

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", "/developers/apps", self.show)
        add_page(app, "POST", "/developers/apps/revoke", self.revoke)

    async def show(self) -> str:
        _, user = signed_in()
        apps = await self._store.read(lambda tx: grant_lists.of_user(tx, user.id))
        now = self._clock.now()
        live = [app for app in apps if app.revoked_at is None and app.expires_at > now]
        ended = [app for app in apps if app not in live]
        return await render_template("apps.html", live=live, ended=ended, meaning=meaning)

    async def revoke(self) -> Response:
        """At once: the next request of the app is refused."""
        _, user = signed_in()
        grant_id = value(await request.form, "id", 64)
        try:
            await self._store.write(lambda tx: grants.revoke_own(tx, grant_id, user.id))
        except Problem:
            raise NotFound from None
        return see("/developers/apps")
