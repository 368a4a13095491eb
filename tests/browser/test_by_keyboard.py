"""By keyboard alone, and without scripts: who signs in with a second factor, allows an app, invites and removes.

Keys are in `test_keys.py`, webhooks in `test_webhooks.py`.
"""

from typing import Final

from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import Visit
from tests.browser.place import PASSWORD, App, Place
from tests.browser.walking import heading, now_code, press, reach, sign_in, write, write_first

NARROW: Final = ViewportSize(width=390, height=900)
RING: Final = """() => {
  const style = getComputedStyle(document.activeElement);
  return [style.outlineStyle, parseFloat(style.outlineWidth), style.outlineColor, document.activeElement.outerHTML];
}"""
MOST: Final = 200
"""More presses of the tabulator than any of the pages takes."""


def enter(page: Page, email: str) -> None:
    write_first(page, "Email", email)
    page.keyboard.press("Tab")
    write_first(page, "Password", PASSWORD)
    page.keyboard.press("Enter")


def test_a_second_factor_is_set_up_asked_for_and_an_app_is_allowed(place: Place, app: App, visit: Visit) -> None:
    email = place.person()
    page, _ = visit(java_script_enabled=False)
    page.goto("/sign-in")
    enter(page, email)
    press(page, page.get_by_role("link", name="Account of"))
    press(page, page.get_by_role("link", name="Set up"))
    heading(page, "Set up an authenticator app")
    secret = page.locator("code.secret").inner_text().replace(" ", "")
    write_first(page, "Code", now_code(secret))
    page.keyboard.press("Enter")
    heading(page, "Keep these recovery codes")
    press(page, page.get_by_role("link", name="Sign out"))
    press(page, page.get_by_role("button", name="Sign out"))
    heading(page, "Sign in")
    page.goto(app.address(scope="openid accounting:read"))
    enter(page, email)
    heading(page, "Enter the code")
    write_first(page, "Code", now_code(secret, 1))
    page.keyboard.press("Enter")
    heading(page, "Choose an account")
    press(page, page.get_by_role("button", name="Continue"))
    heading(page, "Allow access?")
    press(page, page.get_by_role("button", name="Allow"))
    heading(page, "Landed")
    assert app.call(app.redeem(app.answer()["code"])["access_token"]) == 200


def test_somebody_is_invited_joins_and_is_removed(place: Place, visit: Visit) -> None:
    host, _ = visit(java_script_enabled=False)
    sign_in(host, place.person())
    email = place.person("Zed").replace("zed-", "kept-")
    press(host, host.get_by_role("navigation").get_by_role("link", name="People"))
    press(host, host.get_by_role("link", name="Invite somebody"))
    write(host, "Address", email)
    press(host, host.get_by_role("button", name="Make invitation"))
    heading(host, f"Invitation of {email}")
    guest, _ = visit(java_script_enabled=False)
    guest.goto(host.locator("code").inner_text())
    reach(guest, guest.get_by_label("Your name").first)
    guest.keyboard.type("Ivy Invited")
    write(guest, "Password", PASSWORD)
    guest.keyboard.press("Enter")
    expect(guest.get_by_role("status")).to_contain_text("You joined ")
    host.goto("/members")
    for_ivy = host.get_by_role("row").filter(has_text=email)
    press(host, for_ivy.get_by_role("link", name="Remove"))
    heading(host, "Remove Ivy Invited?")
    press(host, host.get_by_role("button", name="Remove"))
    expect(host.get_by_role("status")).to_contain_text("Ivy Invited was removed.")
    guest.reload()
    heading(guest, "Sign in")


def test_the_menu_of_phones_and_the_way_past_it(place: Place, visit: Visit) -> None:
    page, _ = visit(java_script_enabled=False, viewport=NARROW)
    sign_in(page, place.person())
    expect(page.get_by_role("link", name="Webhooks", exact=True)).to_be_hidden()
    press(page, page.locator(".menu summary"))
    press(page, page.get_by_role("navigation").get_by_role("link", name="Webhooks"))
    heading(page, "Webhooks")
    expect(page.get_by_role("navigation").get_by_role("link", name="Webhooks")).to_be_hidden()
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the page")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("main").get_by_role("link", name="Create subscription").first).to_be_focused()


def test_what_has_the_focus_is_seen_in_the_light_and_in_the_dark(place: Place, visit: Visit) -> None:
    """Every place where the keyboard comes has a ring, and the keyboard comes to the end of the page."""
    page, _ = visit()
    sign_in(page, place.person())
    for path in ("/", "/gallery", "/members"):
        for scheme in ("light", "dark"):
            page.goto(path)
            page.emulate_media(color_scheme="light" if scheme == "light" else "dark", reduced_motion="reduce")
            seen = []
            for _ in range(MOST):
                page.keyboard.press("Tab")
                if page.evaluate("document.activeElement === document.body"):
                    break
                style, width, colour, html = page.evaluate(RING)
                assert style != "none", (path, scheme, html)
                assert width >= 2, (path, scheme, html)
                seen.append((colour, html))
            assert 10 < len(seen) < MOST, path
            assert len({colour for colour, _ in seen}) == 1, path
