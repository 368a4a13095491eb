"""What people do on the pages."""

import time

import pyotp
from playwright.sync_api import Locator, Page, expect

from tests.browser.place import PASSWORD


def fill_in(page: Page, email: str, password: str = PASSWORD) -> None:
    """The form that asks who it is."""
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def sign_in(page: Page, email: str) -> None:
    """From nothing to the overview."""
    page.goto("/sign-in")
    fill_in(page, email)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Hello")


def heading(page: Page, text: str) -> None:
    """Wait for the page with that heading."""
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def reach(page: Page, wanted: Locator) -> None:
    """Go there with the tabulator, as who has no mouse does."""
    for _ in range(150):
        if wanted.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"nobody comes to {wanted} by keyboard")


def press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    """Go there by keyboard, and press a key."""
    reach(page, wanted)
    page.keyboard.press(key)


def write(page: Page, label: str, text: str) -> None:
    """Go to a field by keyboard, and type."""
    reach(page, page.get_by_label(label, exact=True))
    page.keyboard.type(text)


def write_first(page: Page, label: str, text: str) -> None:
    """Type into the field that a page begins in. A browser gives it the focus a moment after the page is there."""
    expect(page.get_by_label(label, exact=True)).to_be_focused()
    page.keyboard.type(text)


def now_code(secret: str, steps: int = 0) -> str:
    """What the app shows, or will in so many steps."""
    return pyotp.TOTP(secret).at(int(time.time()) + 30 * steps)


def turn_on(page: Page) -> tuple[str, list[str]]:
    """Set the authenticator app up; answers its secret and the recovery codes."""
    page.goto("/account")
    page.get_by_role("link", name="Set up").click()
    expect(page.get_by_alt_text("QR code of the key below")).to_be_visible()
    secret = page.locator("code").inner_text().replace(" ", "")
    page.get_by_label("Code").fill(now_code(secret))
    page.get_by_role("button", name="Turn on").click()
    heading(page, "Keep these recovery codes")
    return secret, page.locator("li code").all_inner_texts()
