"""Components with a pointer, keys and no script. How they look: `test_every_look.py`."""

from typing import Final

from playwright.sync_api import ViewportSize, expect

from gatewayd.console.components.gallery import LONG_NAME
from tests.browser.axe import faults_of
from tests.browser.conftest import Visit
from tests.browser.place import Place
from tests.browser.walking import heading, sign_in

NARROW: Final = ViewportSize(width=390, height=900)
MAX_LOOK_BYTES: Final = 40_000
"""Of style and script together."""
FIRMS: Final = ("Larch & Daughters", LONG_NAME, *(f"Firm {number} Ltd" for number in range(6)))


def test_style_and_script_are_small(place: Place) -> None:
    names = ("style.css", "forms.js", "passkeys.js")
    assert sum(len(place.running.client.get(f"/static/{name}").content) for name in names) < MAX_LOOK_BYTES


def test_rows_are_ticked_and_counted(place: Place, visit: Visit) -> None:
    page, _ = visit()
    sign_in(page, place.person())
    page.goto("/gallery/list")
    page.get_by_label("Select INV-1003").check()
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.get_by_label("Select all").check()
    expect(page.get_by_text("50 selected")).to_be_visible()
    page.get_by_label("Select INV-1004").uncheck()
    expect(page.get_by_text("49 selected")).to_be_visible()


def test_what_is_long_is_narrowed_and_copied(place: Place, visit: Visit) -> None:
    page, _ = visit(permissions=["clipboard-read", "clipboard-write"])
    sign_in(page, place.person())
    page.goto("/gallery")
    client = page.get_by_label("Client", exact=True)
    page.get_by_label("Narrow Client").fill("oak")
    expect(client.locator("option")).to_have_text(["Choose one", "Oak Joinery 1", "Oak Joinery 7", "Oak Joinery 13"])
    page.get_by_label("Narrow Client").fill("elm 4")  # the only one is chosen
    expect(client).to_have_value("client-4")
    page.get_by_role("button", name="Copy the link").click()
    expect(page.get_by_role("button", name="Copy the link")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "https://books.example/i/3kd9"


def test_the_organization_is_switched_by_keys(place: Place, visit: Visit) -> None:
    page, _ = visit()
    email = place.person()
    place.let_into(email, *FIRMS)
    sign_in(page, email)
    page.goto("/gallery")
    page.locator(".switch summary").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Larch & Daughters").focus()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Larch & Daughters")).to_be_hidden()
    expect(page.locator(".switch summary")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Larch & Daughters").press("Enter")
    expect(page.locator(".switch summary")).to_contain_text("Larch & Daughters")
    heading(page, "Gallery")


def test_everything_is_there_without_a_script(place: Place, visit: Visit) -> None:
    page, _ = visit(java_script_enabled=False, viewport=NARROW)
    email = place.person()
    place.let_into(email, *FIRMS)
    sign_in(page, email)
    page.goto("/gallery")
    expect(page.get_by_role("button", name="Copy the link")).to_be_hidden()
    expect(page.get_by_label("Select all")).to_be_hidden()
    expect(page.get_by_label("Narrow Client")).to_be_hidden()
    page.get_by_label("Client", exact=True).select_option(label="Elm 4")
    expect(page.get_by_role("link", name="Usage")).to_be_hidden()
    page.get_by_text("Menu", exact=True).click()
    page.get_by_role("link", name="Usage").click()
    heading(page, "Usage")
    page.locator(".switch summary").click()
    page.get_by_role("button", name="Firm 3 Ltd").click()
    expect(page.locator(".switch summary")).to_contain_text("Firm 3 Ltd")


def test_a_key_leads_to_the_search(place: Place, visit: Visit) -> None:
    page, _ = visit()
    sign_in(page, place.person())
    made = place.running.client.post(
        "/api/rpc/clients", headers={"Authorization": f"Bearer {place.firm.key}"}, json={"name": "Rowan <i>Ltd</i>"}
    )
    assert made.status_code in (200, 201), made.text
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    page.keyboard.type("rowan/")
    expect(page.get_by_role("searchbox", name="Search")).to_have_value("rowan/")
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    heading(page, "Search")
    expect(page.get_by_role("rowheader", name="Rowan <i>Ltd</i>")).to_be_visible()
    assert faults_of(page) == []
