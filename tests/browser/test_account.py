"""Second factor, passkeys and sessions, in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.place import Place
from tests.browser.walking import fill_in, heading, now_code, sign_in, turn_on


def test_the_second_factor(place: Place, visit: Visit) -> None:
    email = place.person()
    page, _ = visit()
    sign_in(page, email)
    secret, codes = turn_on(page)
    other, complaints = visit()
    other.goto("/sign-in")
    fill_in(other, email)
    heading(other, "Enter the code")
    other.get_by_label("Code").fill("000000")
    other.get_by_role("button", name="Continue").click()
    expect(other.get_by_role("alert")).to_contain_text("That code is not right")
    complaints.took(422)
    other.get_by_label("Code").fill(now_code(secret, 1))  # the present one has proved the app
    other.get_by_role("button", name="Continue").click()
    expect(other.get_by_role("heading", level=1)).to_contain_text("Hello")
    third, _ = visit()
    third.goto("/sign-in")
    fill_in(third, email)
    third.get_by_label("Code").fill(codes[3])
    third.get_by_role("button", name="Continue").click()
    expect(third.get_by_role("heading", level=1)).to_contain_text("Hello")
    third.goto("/account")
    expect(third.get_by_text("9 recovery codes left")).to_be_visible()
    third.get_by_role("link", name="Turn off").click()
    heading(third, "Turn the authenticator app off?")
    third.get_by_role("button", name="Turn off").click()
    expect(third.get_by_role("status")).to_have_text("The authenticator app is off.")
    expect(third.get_by_role("link", name="Set up")).to_be_visible()


def with_authenticator(page: Page) -> None:
    """A device that verifies its person, and says yes."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def test_a_passkey_is_added_and_signs_in(place: Place, visit: Visit) -> None:
    page, _ = visit()
    sign_in(page, place.person())
    with_authenticator(page)
    page.goto("/account")
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Name of the device").fill("Laptop")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("status")).to_have_text("The passkey Laptop was added. It signs you in from now on.")
    expect(page.get_by_role("rowheader", name="Laptop", exact=True)).to_be_visible()
    page.goto("/sign-out")
    page.get_by_role("button", name="Sign out").click()
    heading(page, "Sign in")
    page.goto("/sign-in?next=/account")
    page.get_by_role("button", name="Use a passkey").click()
    heading(page, "Account")
    page.get_by_role("link", name="Remove Laptop").click()
    page.get_by_role("button", name="Remove passkey").click()
    expect(page.get_by_text("None yet.")).to_be_visible()
    page.goto("/sign-out")
    page.get_by_role("button", name="Sign out").click()


def test_a_passkey_that_was_removed_signs_nobody_in(place: Place, visit: Visit) -> None:
    page, complaints = visit()
    sign_in(page, place.person())
    with_authenticator(page)
    page.goto("/account/passkeys/add")
    page.get_by_role("button", name="Add passkey").click()
    page.get_by_role("link", name="Remove This device").click()
    page.get_by_role("button", name="Remove passkey").click()
    expect(page.get_by_text("None yet.")).to_be_visible()
    page.goto("/sign-in?again=1")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.locator("#problem")).to_contain_text("This passkey is not known here")
    complaints.took(422)


def test_signing_out_everywhere_else(place: Place, visit: Visit) -> None:
    email = place.person()
    here, _ = visit()
    there, _ = visit()
    sign_in(here, email)
    sign_in(there, email)
    here.goto("/account")
    here.get_by_role("link", name="Sign out everywhere else").click()
    here.get_by_role("button", name="Sign out everywhere else").click()
    expect(here.get_by_role("status")).to_have_text("1 other browser is signed out.")
    expect(here.get_by_role("link", name="Sign out everywhere else")).to_have_count(0)
    there.goto("/account")
    heading(there, "Sign in")


def test_a_form_of_a_session_that_is_over(place: Place, visit: Visit) -> None:
    email = place.person()
    page, _ = visit()
    sign_in(page, email)
    page.goto("/account")
    second = page.context.new_page()
    second.goto("/sign-out")
    second.get_by_role("button", name="Sign out").click()
    heading(second, "Sign in")
    page.get_by_label("Present password").fill("correct horse battery")
    page.get_by_label("New password").fill("another good password")
    page.get_by_role("button", name="Change password").click()
    heading(page, "Sign in")
    fill_in(page, email)
    heading(page, "Account")


def test_a_link_to_a_new_password(place: Place, visit: Visit) -> None:
    email = place.person()
    made = place.instance.run("user", "reset-password", email, "--json")
    assert made.returncode == 0, made.stderr
    link = made.stdout.split('"link":"')[1].split('"')[0]
    page, complaints = visit()
    page.goto(link)
    heading(page, "Choose a new password")
    page.get_by_label("New password").fill("another good password")
    page.get_by_role("button", name="Set password").click()
    heading(page, "Sign in")
    fill_in(page, email, "another good password")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Hello")
    page.goto(link)
    heading(page, "This link does not work any more")
    complaints.took(404)


# -- passkeys that do not come about


FAILURES = {
    "NotAllowedError": "It was cancelled, or took too long. Try again.",
    "InvalidStateError": "This device has a passkey of yours already: nothing was added.",
    "NotSupportedError": "This device cannot make a passkey that is good enough.",
    "UnknownError": "The passkey was not added. Try again.",
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_said_in_words(place: Place, visit: Visit, name: str) -> None:
    page, _ = visit()
    sign_in(page, place.person())
    page.add_init_script(f"navigator.credentials.create = async () => {{ throw new DOMException('no', '{name}'); }};")
    page.goto("/account/passkeys/add")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("alert")).to_contain_text(FAILURES[name])


def test_a_device_that_has_one_already_says_so(place: Place, visit: Visit) -> None:
    """As the browser itself finds it, by what the server excludes."""
    page, _ = visit()
    sign_in(page, place.person())
    with_authenticator(page)
    page.goto("/account/passkeys/add")
    page.get_by_role("button", name="Add passkey").click()
    page.wait_for_url("**/account#passkeys")
    page.goto("/account/passkeys/add")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("alert")).to_have_text(FAILURES["InvalidStateError"])


def test_at_another_address_than_its_own_passkeys_say_where(place: Place, visit: Visit) -> None:
    page, complaints = visit()
    page.goto(place.url.replace("localhost", "127.0.0.1") + "/sign-in")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.locator("form.passkey .problem")).to_have_text(
        f"Passkeys work at {place.url} alone. Open that address, and try again there."
    )
    complaints.said.clear()


def test_who_was_signed_out_meanwhile_comes_back_to_the_question(place: Place, visit: Visit) -> None:
    email = place.person()
    page, _ = visit()
    sign_in(page, email)
    secret, _ = turn_on(page)
    page.goto("/account/second-factor/off")
    page.context.clear_cookies()
    page.get_by_role("button", name="Turn off").click()
    heading(page, "Sign in")
    fill_in(page, email)
    page.get_by_label("Code").fill(now_code(secret, 1))
    page.get_by_role("button", name="Continue").click()
    heading(page, "Turn the authenticator app off?")
    page.get_by_role("button", name="Turn off").click()
    expect(page.get_by_role("status")).to_have_text("The authenticator app is off.")


def test_recovery_codes_are_printed_by_a_button(place: Place, visit: Visit) -> None:
    page, _ = visit()
    sign_in(page, place.person())
    page.add_init_script("window.print = () => { document.title = 'printed'; };")
    turn_on(page)
    page.get_by_role("button", name="Print").click()
    expect(page).to_have_title("printed")
