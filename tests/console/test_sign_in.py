"""Signing in: by password, code and passkey, and on to where one wanted to go."""

import pytest
from soft_webauthn import SoftWebauthnDevice

from gatewayd.clock import MINUTE
from gatewayd.console.browser import local_path
from gatewayd.identity.people import users
from gatewayd.identity.sign_in import passkeys, sessions, throttling
from gatewayd.identity.sign_in.passkeys import RelyingParty
from gatewayd.identity.sign_in.passwords import Passwords
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.identity.sign_in.sign_in import NewSession, SignIn, WrongCredentials
from gatewayd.identity.sign_in.throttling import Limits
from tests.console.visiting import ATTEMPTS, EMAIL, ISSUER, PASSWORD, Answer, Browser, Site
from tests.identity.test_passkeys import CHALLENGE, as_json, options_of
from tests.support.passwords import quick_hasher

PARTY = RelyingParty(id="books.example", origin=ISSUER, name="gatewayd")


async def test_the_form_has_the_names_that_people_know(site: Site) -> None:
    page = await site.browser().open("/sign-in")
    assert (page.title, page.heading) == ("Sign in · gatewayd", "Sign in")
    email, password = page.field_named("Email"), page.field_named("Password")
    assert (email.attributes["type"], password.attributes["type"]) == ("email", "password")
    assert (email.attributes["autocomplete"], password.attributes["autocomplete"]) == (
        "username webauthn",
        "current-password",
    )
    assert page.buttons() == ["Sign in", "Use a passkey"]
    assert "hidden" in page.form("/sign-in/passkey").attributes  # until the script has found that it works
    order = [each.attributes["id"] for each in page.form("/sign-in").all("input") if "id" in each.attributes]
    assert order == ["email", "password"]


async def test_a_right_password_leads_on(site: Site) -> None:
    browser = site.browser()
    assert (await browser.get("/account")).location == "/sign-in?next=%2Faccount"
    answer = await browser.sign_in(next_path="/account")
    assert answer.location == "/account"
    assert (await browser.follow(answer)).page.heading == "Account"
    token = browser.cookies["__Host-session"]
    found = await site.store.read(lambda tx: sessions.find(tx, token))
    assert found is not None
    assert (found.user_id, found.methods) == (site.user_id, ("pwd",))


@pytest.mark.parametrize(("email", "password"), [(EMAIL, "wrong"), ("bob@example.com", PASSWORD)])
async def test_what_is_wrong_is_not_told_apart(site: Site, email: str, password: str) -> None:
    answer = await site.browser().sign_in(password, email)
    assert (answer.status, answer.page.problem) == (422, "The address or the password is not right.")
    field = answer.page.field_named("Email")
    assert (field.attributes["value"], field.attributes["aria-describedby"]) == (email, "problem")
    assert "value" not in answer.page.field_named("Password").attributes


async def test_too_many_tries_lock_for_a_while(site: Site) -> None:
    browser = site.browser()
    for _ in range(ATTEMPTS):
        assert (await browser.sign_in("wrong")).status == 422
    answer = await browser.sign_in()
    assert (answer.status, answer.headers["Retry-After"]) == (429, "60")
    assert answer.page.problem == "Too many tries. Wait 1 minute, or sign in with a passkey."
    site.clock.advance(MINUTE)
    assert (await browser.sign_in()).location == "/"


async def test_a_browser_that_signed_in_before_passes_the_lock(site: Site) -> None:
    known, stranger = await site.signed_in(), site.browser()
    first = known.cookies["__Host-device"]
    for _ in range(ATTEMPTS):
        await stranger.sign_in("wrong")
    assert (await stranger.sign_in()).status == 429
    known_here = await known.open("/sign-in?again=1")
    assert (await known.submit(known_here, "/sign-in", email=EMAIL, password=PASSWORD)).location == "/"
    assert known.cookies["__Host-device"] != first
    assert (await stranger.sign_in()).status == 429


async def test_signing_out_leaves_the_browser_known_and_a_new_password_leaves_no_other(site: Site) -> None:
    here, there, stranger = await site.signed_in(), await site.signed_in(), site.browser()
    page = await here.open("/account")
    new = "a-second-quiet-evening"
    assert (await here.submit(page, "/account/password", current=PASSWORD, new=new)).location == "/account"
    await here.submit(await here.open("/sign-out"), "/sign-out")
    for _ in range(ATTEMPTS):
        await stranger.sign_in("wrong")
    assert (await there.sign_in(new)).status == 429
    assert (await here.sign_in(new)).location == "/"


async def test_two_hundred_wrong_passwords_of_others_keep_nobody_out(site: Site) -> None:
    """215 from one address for accounts that nobody has, and the owner comes from elsewhere, and from there."""
    crowd = Visitor(user_agent="Test", address="203.0.113.9")
    limits = Limits(10)
    for n in range(215):
        email = f"user{n}@example.com"
        await site.store.write(lambda tx, email=email: throttling.note_try(tx, email, crowd, limits))
    sign_in = SignIn(site.store, Passwords(quick_hasher()), limits)
    for address in ("198.51.100.1", crowd.address):
        elsewhere = Visitor(user_agent="Test", address=address)
        assert isinstance(await sign_in.with_password(EMAIL, PASSWORD, elsewhere), NewSession)
    with pytest.raises(WrongCredentials):
        await sign_in.with_password(EMAIL, "a typo", crowd)
    with pytest.raises(throttling.Locked) as caught:
        await sign_in.with_password(EMAIL, PASSWORD, crowd)
    assert caught.value.until - site.clock.now() == throttling.SLOW_PAUSE == MINUTE
    site.clock.advance(MINUTE)
    assert isinstance(await sign_in.with_password(EMAIL, PASSWORD, crowd), NewSession)


async def test_whoever_is_signed_in_goes_on(site: Site) -> None:
    browser = await site.signed_in()
    assert (await browser.get("/sign-in?next=/account")).location == "/account"
    page = await browser.open("/sign-in?next=/account&again=1&email=a%40b.example")
    assert page.field_named("Email").attributes["value"] == "a@b.example"


async def test_a_new_session_has_a_new_token_and_ends_the_one_before(site: Site) -> None:
    browser = site.browser()
    await browser.open("/sign-in")
    passing = browser.cookies["__Host-visit"]
    await browser.sign_in()
    first = browser.cookies["__Host-session"]
    await browser.sign_in()
    second = browser.cookies["__Host-session"]
    assert len({passing, first, second}) == 3
    assert await site.store.read(lambda tx: sessions.find(tx, first)) is None
    assert len(await site.store.read(lambda tx: sessions.of_user(tx, site.user_id))) == 1


# -- the code


async def test_a_second_factor_asks_for_its_code(site: Site) -> None:
    secret, codes = await site.second_factor()
    browser = site.browser()
    answer = await browser.sign_in(next_path="/developers/apps")
    assert answer.location == "/sign-in/code?next=%2Fdevelopers%2Fapps"
    assert "__Host-session" not in browser.cookies
    page = (await browser.follow(answer)).page
    assert page.field_named("Code").attributes["autocomplete"] == "one-time-code"
    assert page.buttons() == ["Continue"]
    wrong = await browser.submit(page, "/sign-in/code", code="000000")
    assert (wrong.status, wrong.page.problem.startswith("That code is not right")) == (422, True)
    right = await browser.submit(wrong.page, "/sign-in/code", code=site.code(secret))
    assert right.location == "/developers/apps"
    assert "__Host-half" not in browser.cookies
    other = site.browser()
    page = (await other.follow(await other.sign_in())).page
    assert (await other.submit(page, "/sign-in/code", code=codes[0].upper())).location == "/"
    third = site.browser()
    page = (await third.follow(await third.sign_in())).page
    assert (await third.submit(page, "/sign-in/code", code=codes[0])).status == 422


async def test_codes_are_throttled_as_passwords_are(site: Site) -> None:
    await site.second_factor()
    browser = site.browser()
    page = (await browser.follow(await browser.sign_in())).page
    answers = [await browser.submit(page, "/sign-in/code", code="000000") for _ in range(ATTEMPTS + 1)]
    assert [answer.status for answer in answers] == [422] * ATTEMPTS + [429]
    assert answers[-1].headers["Retry-After"] == "60"


async def test_without_the_first_step_there_is_no_second(site: Site) -> None:
    secret, _ = await site.second_factor()
    browser = site.browser()
    assert (await browser.get("/sign-in/code?next=/account")).location == "/sign-in?next=%2Faccount"
    page = await browser.open("/sign-in")
    assert (await browser.post("/sign-in/code", {"csrf": page.token, "code": site.code(secret)})).status == 422


# -- passkeys


async def with_passkey(browser: Browser, device: SoftWebauthnDevice) -> Answer:
    """Sign in with the device, as the page's script does."""
    page = await browser.open("/sign-in?next=/account")
    asked = await browser.post("/sign-in/passkey/options", {"csrf": page.token})
    assert asked.headers["Content-Type"] == "application/json"
    answer = as_json(device.get(options_of(asked.body.decode()), ISSUER))
    return await browser.submit(page, "/sign-in/passkey", credential=answer)


async def test_a_passkey_signs_in_without_a_password(site: Site) -> None:
    device = SoftWebauthnDevice()
    user = await site.store.read(lambda tx: users.get(tx, site.user_id))
    made = as_json(device.create(options_of(passkeys.registration_options(PARTY, user, [], CHALLENGE)), ISSUER))
    await site.store.write(lambda tx: passkeys.register(tx, PARTY, user.id, "Laptop", made, CHALLENGE))
    assert (await with_passkey(site.browser(), device)).location == "/account"
    (session,) = await site.store.read(lambda tx: sessions.of_user(tx, user.id))
    assert session.methods == ("hwk",)  # this device does not verify the person


async def test_a_passkey_that_nobody_registered_is_refused(site: Site) -> None:
    device = SoftWebauthnDevice()
    device.cred_init("books.example", b"nobody")
    answer = await with_passkey(site.browser(), device)
    assert (answer.status, answer.page.problem) == (422, "This passkey is not known here, or took too long.")
    assert [event for event, _ in site.log.told] == ["passkey_refused"]


@pytest.mark.parametrize("credential", ["", "{}", "[]", '{"response": {"clientDataJSON": "eA"}}'])
async def test_what_is_no_answer_of_a_device_is_refused(site: Site, credential: str) -> None:
    browser = site.browser()
    page = await browser.open("/sign-in")
    assert (await browser.submit(page, "/sign-in/passkey", credential=credential)).status == 422


# -- where to go on


@pytest.mark.parametrize(
    "path", ["/", "/account", "/account#passkeys", "/oauth/choose?request=x%20y", "/developers/apps"]
)
def test_pages_are_gone_on_to(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        *("", "account", "//evil.example", "//evil.example/account", "/\\evil.example", "https://evil.example", "///x"),
        *("javascript:alert(1)", "/account\n", "/\taccount", "//[", "/api/auth/oauth2/authorize?client_id=x", "/nope"),
    ],
)
def test_nobody_is_sent_elsewhere(path: str) -> None:
    assert local_path(path) == "/"


async def test_the_form_leads_nowhere_else_either(site: Site) -> None:
    answer = await site.browser().sign_in(next_path="https://evil.example/")
    assert answer.location == "/"
    browser = site.browser()
    page = await browser.open("/sign-in")
    sent = await browser.submit(page, "/sign-in", email=EMAIL, password=PASSWORD, next="//evil.example")
    assert sent.location == "/"
