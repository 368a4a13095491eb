"""What forms answer and what has figures, on a phone, a tablet and a desk. Every page: `test_every_look.py`."""

import os
import secrets
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Page, expect

from gatewayd.clock import DAY, Instant
from gatewayd.identity import audit
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys, calendar_feeds
from gatewayd.identity.people import memberships, users
from gatewayd.ledger.credits import usage
from gatewayd.ledger.credits.usage import Used
from gatewayd.money import MICRO, Credits
from gatewayd.store import WriteTx
from tests.browser.axe import faults_of
from tests.browser.chromium import DESK, PHONE, TABLET
from tests.browser.conftest import Visit
from tests.browser.place import App, Place
from tests.browser.walking import fill_in, heading, turn_on
from tests.support import purses

SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
PICTURES = os.environ.get("GATEWAYD_SCREENSHOTS")
"""The folder for pictures of all pages, for people to look at."""
ALL_SCOPES = "openid offline_access entities:read accounting:read accounting:write banking:read webhooks:read tax:read"


class Camera:
    """Looks whether each page fits a phone, a tablet and a desk, and takes pictures of it where they are asked for."""

    def __init__(self, page: Page, *, axe: bool = True) -> None:
        """`axe` false: the page has no scripts, or draws what is not of this project."""
        self._page = page
        self._axe = axe

    def __call__(self, title: str) -> None:
        for size in (PHONE, TABLET, DESK):
            self._page.set_viewport_size(size)
            wide, seen = self._page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert wide <= seen, f"{title}: {wide} px on {seen}"
            scheme = SCHEMES[size is DESK]
            self._page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # colours are there at once
            if self._axe and size is not TABLET:
                assert faults_of(self._page) == [], title
            if PICTURES is not None:
                self._photograph(Path(PICTURES, f"{title}-{size['width']}"))

    def _photograph(self, path: Path) -> None:
        for scheme in SCHEMES:
            self._page.emulate_media(color_scheme=scheme)
            self._page.screenshot(path=f"{path}-{scheme}.png", full_page=True)


def test_what_forms_answer_fits(place: Place, app: App, visit: Visit) -> None:
    page, complaints = visit()
    take = Camera(page)
    email = place.person()
    page.goto(app.address(scope=ALL_SCOPES))
    fill_in(page, email, "wrong")
    page.get_by_role("alert").first.wait_for()
    complaints.took(422)
    take("sign-in-wrong")
    fill_in(page, email)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Allow").click()
    app.redeem(app.answer()["code"])
    page.goto(f"{place.url}/account/second-factor")
    take("account-second-factor")
    turn_on(page)
    take("recovery-codes")


def test_usage_fits(place: Place, visit: Visit) -> None:
    page, _ = visit()
    email = place.person()
    place.let_into(email, "Larch & Daughters")

    def spend(tx: WriteTx) -> None:
        user = users.find(tx, email)
        assert user is not None
        larch = next(each.org_id for each in memberships.of_user(tx, user.id) if each.org_id != place.firm.org_id)
        tx.bind(larch)
        purses.put_on_plan(tx, name="Shared box", included_credits=Credits(1_000 * MICRO))
        for day in range(28):
            at = Instant(tx.now - day * DAY)
            usage.add(tx, "accounting.createInvoice", at, Used((day * 37 % 11) * MICRO, day * 37 % 11))
            usage.add(tx, "tax.forward", at, Used(day % 4 * 2_500_000, day % 4))

    place.instance.write(spend)
    page.goto("/sign-in")
    fill_in(page, email)
    page.get_by_role("main").get_by_role("link", name="Usage").click()
    heading(page, "Usage")
    assert page.get_by_role("img").count() == 2
    page.get_by_text("Figures", exact=True).first.click()
    Camera(page)("developers-usage")


LONG_NAME = "Rechnungsweiterleitungsschnittstellenbenutzerzugang" * 3
"""Without a place at which a line could be broken."""


def test_open_access_fits(place: Place, visit: Visit) -> None:
    """With many rows, long names, and somebody who is gone; and it ends with two clicks and without scripts."""
    page, _ = visit(java_script_enabled=False)
    email, colleague, gone = place.person(), place.person("Bartholomew Featherstonehaugh"), place.person("Cy Ash")
    names = ["Till", "Shop on the corner of the long street, second till from the left", LONG_NAME]
    place.let_into(email, "Larch & Daughters")

    def give(tx: WriteTx) -> str:
        ids = {each: known(users.find(tx, each)) for each in (email, colleague, gone)}
        larch = next(each.org_id for each in memberships.of_user(tx, ids[email]) if each.org_id != place.firm.org_id)
        tx.bind(larch)
        for each in (colleague, gone):
            memberships.add(tx, ids[each], "member", audit.OPERATOR)
        for number in range(36):
            name = names[number] if number < len(names) else f"Till {number}"
            new = api_keys.NewKey(name=name, user_id=ids[email if number % 4 else colleague])
            api_keys.create(tx, new, secrets.token_bytes(RANDOM_BYTES), audit.OPERATOR)
        for each in (gone, colleague):
            wanted = calendar_feeds.NewFeed("Telephone", None, ids[each], ids[each])
            calendar_feeds.create(tx, wanted)
        memberships.remove(tx, ids[gone], audit.OPERATOR)
        calendar_feeds.create(tx, calendar_feeds.NewFeed(LONG_NAME, None, None, audit.OPERATOR))
        return larch

    larch = place.instance.write(give)
    take = Camera(page, axe=False)
    page.goto("/sign-in")
    fill_in(page, email)
    page.goto(f"/developers/access?organization={larch}")
    take("developers-access")
    page.get_by_role("link", name=f"All of {email}").click()
    heading(page, "Open access")
    take("developers-access-one")
    page.get_by_label("Select Till 5", exact=True).check()
    page.get_by_label(LONG_NAME).check()
    page.get_by_role("button", name="End what is ticked").click()
    heading(page, "End these 2?")
    take("developers-access-end")
    page.get_by_role("button", name="End them").click()
    expect(page.get_by_role("status")).to_have_text("2 things were ended.")
    take("developers-access-ended")


def known(user: users.User | None) -> str:
    assert user is not None
    return user.id
