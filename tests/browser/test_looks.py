"""Every page on a phone and on a desk, light and dark: nothing sticks out. The pictures are for people to look at."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import DESK, PHONE
from tests.browser.conftest import Visit
from tests.browser.place import App, Place
from tests.browser.walking import fill_in, heading, turn_on
from tests.daemon.instance import ROOT

PICTURES = ROOT / "build" / "screenshots"
ALL_SCOPES = "openid offline_access entities:read accounting:read accounting:write banking:read webhooks:read tax:read"


class Camera:
    """Takes a picture of each page, and looks whether it fits."""

    def __init__(self, page: Page, name: str) -> None:
        self._page = page
        self._name = name
        PICTURES.mkdir(parents=True, exist_ok=True)

    def __call__(self, title: str) -> None:
        self._page.screenshot(path=self.path_of(title), full_page=True)
        wide, seen = self._page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= seen, f"{title}: {wide} px on {seen}"

    def path_of(self, title: str) -> Path:
        return PICTURES / f"{title}-{self._name}.png"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_pages_fit(place: Place, app: App, visit: Visit, size: dict[str, int], scheme: str) -> None:
    page, complaints = visit(viewport=size, color_scheme=scheme)
    take = Camera(page, f"{size['width']}-{scheme}")
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
