"""`/docs`: the API reference, drawn in the browser from `/openapi.json`. It fetches nothing from elsewhere."""

from quart import Quart, render_template

from gatewayd.console.addresses import DOCS
from gatewayd.console.browser import allow_styles
from gatewayd.console.pages import add_page


class Reference:
    """The page that metadata names as documentation. Anybody may read it, as they may the description itself."""

    def add_to(self, app: Quart) -> None:
        """Put the page where it belongs."""
        add_page(app, "GET", DOCS, self.show)

    async def show(self) -> str:
        """Chosen: what draws it may style what it draws, for style sheets here can load nothing from elsewhere.

        Its editor writes sheets of its own as it goes, which no hash names beforehand (decision 0031).
        """
        allow_styles()
        return await render_template("developers/docs.html")
