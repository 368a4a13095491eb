"""An app is connected, used and disconnected, in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import PHONE
from tests.browser.conftest import Visit
from tests.browser.place import CALLBACK, LEADING_ON, PASSWORD, App, Place
from tests.browser.test_looks import Camera
from tests.browser.walking import fill_in, heading, sign_in, write_first


def test_the_whole_story(place: Place, app: App, visit: Visit) -> None:
    page, _ = visit()
    page.goto(app.address())
    heading(page, "Sign in")
    fill_in(page, place.person())
    heading(page, "Choose an account")
    page.get_by_role("button", name="Continue").click()
    heading(page, "Allow access?")
    expect(page.get_by_text("this computer (127.0.0.1)").first).to_be_visible()
    page.get_by_label("accounting:write").uncheck()
    page.get_by_role("button", name="Allow").click()
    heading(page, "Landed")
    answer = app.answer()
    assert (answer["state"], answer["iss"]) == (app.state, place.url)
    tokens = app.redeem(answer["code"])
    assert set(tokens["scope"].split()) == {"openid", "accounting:read", "offline_access"}
    assert app.call(tokens["access_token"]) == 200
    assert app.call(tokens["access_token"], "POST") == 403  # opted out of
    fresh = app.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    assert app.call(fresh["access_token"]) == 200
    page.goto(f"{place.url}/developers/apps")
    expect(page.get_by_text("calls itself Sprout")).to_be_visible()
    page.get_by_role("link", name="Revoke").click()
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("status")).to_have_text("The app was disconnected.")
    expect(page.get_by_text("No app is connected.")).to_be_visible()
    for token in (tokens, fresh):
        assert app.call(token["access_token"]) == 401


def test_the_chooser_appears_again_and_deny_is_told(place: Place, app: App, visit: Visit) -> None:
    page, _ = visit()
    sign_in(page, place.person())
    page.goto(app.address())
    heading(page, "Choose an account")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Deny").click()
    heading(page, "Landed")
    answer = app.answer()
    assert answer["error"] == "access_denied"
    assert (answer["state"], answer["iss"]) == (app.state, place.url)


def test_another_account_can_be_used(place: Place, app: App, visit: Visit) -> None:
    page, _ = visit()
    sign_in(page, place.person())
    other = place.person("Bob Elm")
    page.goto(app.address())
    page.get_by_role("link", name="Use another account").click()
    fill_in(page, other)
    heading(page, "Choose an account")
    expect(page.get_by_text(other)).to_be_visible()


def test_by_the_keyboard_alone(place: Place, app: App, visit: Visit) -> None:
    page, _ = visit()
    page.goto(app.address(scope="accounting:read"))
    write_first(page, "Email", place.person())
    page.keyboard.press("Tab")
    write_first(page, "Password", PASSWORD)
    page.keyboard.press("Enter")
    heading(page, "Choose an account")
    names = []
    for _ in range(4):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.textContent.trim()"))
    assert names == ["Skip to the page", "gatewayd", "Continue", "Use another account"]
    page.get_by_role("button", name="Continue").press("Enter")
    heading(page, "Allow access?")


def test_two_clicks_are_one(place: Place, app: App, visit: Visit) -> None:
    page, _ = visit()
    sign_in(page, place.person())
    page.goto(app.address())
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Allow").dblclick()
    heading(page, "Landed")
    assert "code" in app.answer()


def test_going_back_after_the_answer(place: Place, app: App, visit: Visit) -> None:
    page, complaints = visit()
    sign_in(page, place.person())
    page.goto(app.address())
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Allow").click()
    heading(page, "Landed")
    page.go_back()
    heading(page, "That did not work")
    expect(page.get_by_text("answered already")).to_be_visible()
    complaints.took(400)


def test_an_app_that_leads_on_to_a_page_elsewhere(place: Place, app: App, visit: Visit) -> None:
    """Browsers hold that redirect to the form's policy too."""
    page, _ = visit()
    sign_in(page, place.person())
    app.redirect_uri = app.redirect_uri.replace(CALLBACK, LEADING_ON)
    page.goto(app.address())
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Allow").click()
    heading(page, "Landed")
    assert page.url.endswith("/made")
    assert "code" in app.answer()


@pytest.mark.parametrize("scripted", [True, False])
def test_of_several_organizations_the_button_names_the_chosen_one(
    place: Place, app: App, visit: Visit, scripted: bool
) -> None:
    page, _ = visit(java_script_enabled=scripted, viewport=PHONE)
    email = place.person()
    place.let_into(email, *(f"Client firm {number}" for number in range(1, 9)))
    page.goto(app.address())
    fill_in(page, email)
    page.get_by_role("button", name="Continue").click()
    heading(page, "Allow access?")
    button = page.get_by_role("button", name="Allow")
    expect(button).to_have_text("Allow")
    button.click()  # the browser itself asks for a choice
    heading(page, "Allow access?")
    page.get_by_label("Client firm 4").check()
    expect(button).to_have_text("Allow for Client firm 4")
    Camera(page, axe=scripted)("consent-organizations")
    if scripted:
        button.click()
    else:  # the browser presses the first button of the form, whatever is seen of it
        page.get_by_label("Client firm 4").press("Enter")
    heading(page, "Landed")
    tokens = app.redeem(app.answer()["code"])
    page.goto(f"{place.url}/developers/apps")
    expect(page.get_by_role("definition").filter(has_text="Client firm 4")).to_be_visible()
    assert app.call(tokens["access_token"]) == 200


def test_without_javascript(place: Place, app: App, visit: Visit) -> None:
    page, _ = visit(java_script_enabled=False)
    page.goto(app.address())
    fill_in(page, place.person())
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Allow").click()
    heading(page, "Landed")
    assert app.call(app.redeem(app.answer()["code"])["access_token"]) == 200
    page.goto(f"{place.url}/account/passkeys/add")
    expect(page.get_by_text("Adding a passkey needs JavaScript")).to_be_visible()
    expect(page.get_by_role("button", name="Add passkey")).to_be_hidden()
    page.get_by_role("link", name="Sign out").click()
    page.get_by_role("button", name="Sign out").click()
    heading(page, "Sign in")
    expect(page.get_by_role("button", name="Use a passkey")).to_be_hidden()
