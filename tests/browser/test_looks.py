"""Every page on a phone and on a desk: nothing sticks out."""

import os
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Page

from tests.browser.chromium import DESK, PHONE
from tests.browser.conftest import Visit
from tests.browser.place import App, Place
from tests.browser.walking import fill_in, heading, turn_on

SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
PICTURES = os.environ.get("GATEWAYD_SCREENSHOTS")
"""The folder for pictures of all pages, for people to look at."""
ALL_SCOPES = "openid offline_access entities:read accounting:read accounting:write banking:read webhooks:read tax:read"


class Camera:
    """Looks whether each page fits a phone and a desk, and takes pictures of it where they are asked for."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def __call__(self, title: str) -> None:
        for size in (PHONE, DESK):
            self._page.set_viewport_size(size)
            wide, seen = self._page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert wide <= seen, f"{title}: {wide} px on {seen}"
            if PICTURES is not None:
                self._photograph(Path(PICTURES, f"{title}-{size['width']}"))

    def _photograph(self, path: Path) -> None:
        for scheme in SCHEMES:
            self._page.emulate_media(color_scheme=scheme)
            self._page.screenshot(path=f"{path}-{scheme}.png", full_page=True)


def test_pages_fit(place: Place, app: App, visit: Visit) -> None:
    page, complaints = visit()
    take = Camera(page)
    email = place.person()
    page.goto(app.address(scope=ALL_SCOPES))
    take("sign-in")
    fill_in(page, email, "wrong")
    page.get_by_role("alert").first.wait_for()
    complaints.took(422)
    take("sign-in-wrong")
    fill_in(page, email)
    take("choose")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Allow").wait_for()
    take("consent")
    page.get_by_role("button", name="Allow").click()
    app.redeem(app.answer()["code"])
    for path in ("/", "/developers/apps", "/account", "/account/second-factor", "/sign-out"):
        page.goto(f"{place.url}{path}")
        take(path.strip("/").replace("/", "-") or "home")
    turn_on(page)
    take("recovery-codes")
    page.goto(f"{place.url}/account")
    take("account-protected")
    page.goto(f"{place.url}/account/nothing")
    complaints.took(404)
    take("error")
    page.context.clear_cookies()
    page.goto("/sign-in")
    fill_in(page, email)
    heading(page, "Enter the code")
    take("code")
