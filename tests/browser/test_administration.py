"""Who runs the server suspends and resumes, disables a person, registers a client and reads of it in the audit log."""

import secrets

import pytest
from playwright.sync_api import expect

from gatewayd.identity import audit
from gatewayd.identity.people import organizations, users
from tests.browser.axe import faults_of
from tests.browser.conftest import Visit
from tests.browser.place import HASHED, Place
from tests.browser.walking import heading, press, sign_in


def administrator(place: Place) -> str:
    """Somebody who runs the server and belongs to no organization; answers the address."""
    email = f"root-{secrets.token_hex(4)}@example.com"
    new = users.NewUser(email=email, name="Root Elm", password_hash=HASHED, instance_admin=True)
    place.instance.write(lambda tx: users.create(tx, new, audit.OPERATOR))
    return email


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_an_organization_is_suspended_and_resumed(place: Place, visit: Visit, *, scripts: bool) -> None:
    name = f"Ash & Ash {secrets.token_hex(4)}"
    place.instance.write(lambda tx: organizations.create(tx, name, audit.OPERATOR))
    page, _ = visit(java_script_enabled=scripts)
    sign_in(page, administrator(place))
    page.get_by_role("navigation").get_by_role("link", name="Organizations").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Filter").click()
    row = page.get_by_role("row").filter(has_text=name)
    row.get_by_role("link", name="Suspend").click()
    page.get_by_label("Reason").fill("The bill of October.")
    page.get_by_role("button", name="Suspend organization").click()
    expect(page.get_by_role("status")).to_have_text(f"{name} is suspended.")
    row.get_by_role("link", name="Resume").click()
    page.get_by_role("button", name="Resume organization").click()
    expect(page.get_by_role("status")).to_have_text(f"{name} is resumed.")
    row.get_by_role("link", name="Log").click()
    heading(page, "Audit log")
    expect(page.get_by_role("row").filter(has_text="The bill of October.")).to_have_count(1)


def test_a_person_is_disabled_and_signed_out_by_keyboard(place: Place, visit: Visit) -> None:
    page, _ = visit(java_script_enabled=False)
    sign_in(page, administrator(place))
    email = place.person("Dee Disabled")
    theirs, _ = visit()
    sign_in(theirs, email)
    press(page, page.get_by_role("navigation").get_by_role("link", name="People"))
    page.get_by_label("E-mail or name").focus()
    page.keyboard.type(email)
    page.keyboard.press("Enter")
    press(page, page.get_by_role("link", name=f"Disable {email}"))
    heading(page, f"Disable {email}")
    press(page, page.get_by_role("button", name="Disable"))
    expect(page.get_by_role("status")).to_contain_text(email)
    theirs.reload()
    heading(theirs, "Sign in")


def test_a_client_of_ones_own_is_registered_and_its_secret_is_shown_once(place: Place, visit: Visit) -> None:
    name = f"Till {secrets.token_hex(4)}"
    page, _ = visit()
    sign_in(page, administrator(place))
    page.goto("/admin/clients/new")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Redirect").fill("https://till.example/callback")
    page.get_by_role("button", name="Register client").click()
    expect(page.locator(".secret code")).to_be_visible()
    assert faults_of(page) == []
    secret = page.locator(".secret code").inner_text()
    page.goto("/admin/clients")
    expect(page.get_by_role("rowheader", name=name)).to_be_visible()
    assert secret not in page.content()
    page.get_by_role("link", name=f"Remove {name}").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("rowheader", name=name)).to_have_count(0)
