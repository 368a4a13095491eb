"""`/organization`: of which of their organizations somebody sees the pages.

The choice is a cookie, which counts as far as its owner still belongs there. A form says for which organization it was
made, and is done for that one: two tabs never write into each other's books.
"""

from typing import Final

from quart import Quart, Response, request
from werkzeug.exceptions import NotFound

from gatewayd.console.browser import Browser, local_path, see, signed_in, value, visit
from gatewayd.console.pages import add_page

ADDRESS: Final = "/organization"


class ChoiceOfOrganization:
    """Where the switcher of every page leads."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def add_to(self, app: Quart) -> None:
        """Put it where it belongs."""
        add_page(app, "POST", ADDRESS, self.choose)

    async def choose(self) -> Response:
        """Go on as a member of another organization. Raises `NotFound` for one that is not the visitor's."""
        signed_in()
        form = await request.form
        org_id = value(form, "id", 64)
        if org_id not in (organization.id for organization, _ in visit().belongs):
            raise NotFound
        response = see(local_path(form.get("next", "/")))
        self._browser.remember_organization(response, org_id)
        return response
