"""`/docs`: the API reference, drawn in the browser from `/openapi.json`. It fetches nothing from elsewhere."""

from typing import Final

from quart import Quart, render_template

from gatewayd.console.addresses import DOCS
from gatewayd.console.browser import allow_styles
from gatewayd.console.pages import add_page

THEMES: Final = (
    "sha256-56Ph23MXZvE0Fm5vsseYLb0YVfbbtYUzgZr0LSmubpY=",
    "sha256-SUwbHntTqVGqcmKhRrXbrWH11E/tCQyG8u5bSm7UaY0=",
)
"""The style sheets that RapiDoc 9.3.8 makes of the attributes in the template, light and dark; browsers name others."""


class Reference:
    """The page that metadata names as documentation. Anybody may read it, as they may the description itself."""

    def add_to(self, app: Quart) -> None:
        """Put the page where it belongs."""
        add_page(app, "GET", DOCS, self.show)

    async def show(self) -> str:
        """Chosen: what draws it may style what it draws, for the page holds no form and nobody's data."""
        allow_styles(*THEMES)
        return await render_template("docs.html")
