"""Inviting, joining, giving a role, removing and leaving, in a real browser: without a script, and by keyboard."""

import pytest
from playwright.sync_api import Locator, Page, expect

from gatewayd.identity.people import users
from tests.browser.conftest import Visit
from tests.browser.place import PASSWORD, Place
from tests.browser.test_account import with_authenticator
from tests.browser.test_looks import Camera
from tests.browser.walking import fill_in, heading, sign_in


def invite(page: Page, email: str, role: str = "member") -> str:
    """The link, as it is shown once."""
    page.goto("/members")
    page.get_by_role("link", name="Invite somebody").click()
    page.get_by_label("Address").fill(email)
    page.get_by_label("Role").select_option(role)
    page.get_by_role("button", name="Make invitation").click()
    heading(page, f"Invitation of {email}")
    return page.locator("code").inner_text()


def find(page: Page, name: str) -> Locator:
    """A link of a person's row, on whichever page of the list, as somebody finds it who goes on by keyboard."""
    wanted = page.get_by_role("link", name=name)
    while not wanted.count():
        with page.expect_navigation():
            press(page, "Next page")
    return wanted.last


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_somebody_is_invited_joins_and_is_removed(place: Place, visit: Visit, *, scripts: bool) -> None:
    host, _ = visit(java_script_enabled=scripts)
    guest, complaints = visit(java_script_enabled=scripts)
    sign_in(host, place.person())
    email = place.person("Zed").replace("zed-", "guest-")
    link = invite(host, email)
    guest.goto(link)
    expect(guest.get_by_role("heading", level=1)).to_contain_text("Join ")
    guest.get_by_label("Your name").first.fill("Gil Guest")
    guest.get_by_label("Password").fill("short-but" if scripts else "password123")
    if not scripts:  # with them the browser itself asks for more characters
        guest.get_by_role("button", name="Make an account and join").click()
        expect(guest.get_by_role("alert")).to_be_visible()
        complaints.took(422)
    guest.get_by_label("Password").fill(PASSWORD)
    guest.get_by_role("button", name="Make an account and join").click()
    heading(guest, "People")
    expect(guest.get_by_role("status")).to_contain_text("You joined ")
    host.goto("/members")
    find(host, "Change role Gil Guest").click()
    host.get_by_label("Role").select_option("admin")
    host.get_by_role("button", name="Change role").click()
    expect(host.get_by_role("status")).to_have_text("Gil Guest is an administrator now.")
    find(host, "Remove Gil Guest").click()
    heading(host, "Remove Gil Guest?")
    expect(host.get_by_text("They belong to nothing else")).to_be_visible()
    host.get_by_role("button", name="Remove").click()
    expect(host.get_by_role("status")).to_contain_text("Gil Guest was removed.")
    guest.goto("/members")
    heading(guest, "Sign in")
    guest.goto(link)
    heading(guest, "This link does not work any more")
    complaints.took(404)


def test_an_account_is_made_with_a_passkey(place: Place, visit: Visit) -> None:
    host, _ = visit()
    sign_in(host, place.person())
    link = invite(host, place.person("Zed").replace("zed-", "keyed-"))
    guest, _ = visit()
    with_authenticator(guest)
    guest.goto(link)
    guest.get_by_label("Your name").last.fill("Kay Keyed")
    guest.get_by_role("button", name="Make an account with a passkey and join").click()
    heading(guest, "People")
    guest.goto("/sign-out")
    guest.get_by_role("button", name="Sign out").click()
    guest.goto("/sign-in?next=/members")
    guest.get_by_role("button", name="Use a passkey").click()
    heading(guest, "People")


def test_who_has_an_account_signs_in_and_joins(place: Place, visit: Visit) -> None:
    """And leaves again, by keyboard alone."""
    host, _ = visit()
    sign_in(host, place.person())
    email = place.person("Zed").replace("zed-", "elm-")

    def add(tx: object) -> None:
        from tests.browser.place import HASHED

        users.create(tx, users.NewUser(email=email, name="Ed Elm", password_hash=HASHED), "operator")  # type: ignore[arg-type]

    place.instance.write(add)
    guest, _ = visit()
    guest.goto(invite(host, email))
    guest.get_by_role("link", name=f"Sign in as {email}").click()
    fill_in(guest, email)
    press(guest, "Join ")
    heading(guest, "People")
    find(guest, "Leave Ed Elm")
    press(guest, "Leave Ed Elm")
    press(guest, "Leave")
    expect(guest.get_by_role("heading", level=1)).to_contain_text("Sign in")


def press(page: Page, name: str) -> None:
    """Go to what is called so by the Tab key, and press Enter."""
    page.get_by_role("button", name=name).or_(page.get_by_role("link", name=name)).first.wait_for()
    for _ in range(80):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
        )
        if str(focused).startswith(name):
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"no {name} within reach of the Tab key")


def test_what_forms_answer_fits(place: Place, visit: Visit) -> None:
    page, complaints = visit(reduced_motion="reduce")
    sign_in(page, place.person("Wilhelmina Ottoline Featherstonehaugh-Cholmondeley"))
    take = Camera(page)
    invite(page, "a-very-long-address-of-somebody-who-is-invited@a-long-name-of-a-firm.example.com")
    take("members-invited")
    page.goto("/sign-in/invitation/x")
    take("invitation-dead")
    complaints.took(404)
