"""The account: password, authenticator app, passkeys and sessions, and who may change them."""

import json

import pytest
from soft_webauthn import SoftWebauthnDevice

from gatewayd.clock import MINUTE, SECOND
from gatewayd.console.browser import RECENT
from gatewayd.identity.clients import grants
from gatewayd.identity.sign_in import one_time_links, passkeys, second_factors, sessions
from gatewayd.identity.sign_in.second_factors import PROPOSAL_LIFE
from tests.console.granting import grant
from tests.console.visiting import ATTEMPTS, EMAIL, ISSUER, PASSWORD, Browser, Site
from tests.identity.test_passkeys import as_json, options_of

NEW = "another good password"
AGAIN = "/sign-in?next=%2Faccount&again=1&email=ann%40example.com"


# -- password


async def test_changing_the_password(site: Site) -> None:
    browser, other = await site.signed_in(), await site.signed_in()
    grant_id = await grant(site)
    link = await site.store.write(lambda tx: one_time_links.make(tx, site.user_id, "sign_in"))
    before = browser.cookies["__Host-session"]
    page = await browser.open("/account")
    assert page.field_named("New password").attributes["autocomplete"] == "new-password"
    answer = await browser.submit(page, "/account/password", current=PASSWORD, new=NEW)
    assert answer.location == "/account"
    assert browser.cookies["__Host-session"] != before
    assert "The password was set. Every other browser is signed out" in (await browser.follow(answer)).page.text
    assert (await other.get("/account")).status == 303
    assert await site.store.read(lambda tx: grants.find_live(tx, grant_id)) is None
    assert await site.store.read(lambda tx: one_time_links.find(tx, link, "sign_in")) is None
    assert (await other.sign_in()).status == 422
    assert (await other.sign_in(NEW)).location == "/"


@pytest.mark.parametrize(
    ("current", "new", "problem"),
    [
        ("wrong", NEW, "The present password is not right."),
        (PASSWORD, "short", "A password has 10 to 1024 characters."),
    ],
)
async def test_a_refused_change_says_why(site: Site, current: str, new: str, problem: str) -> None:
    browser = await site.signed_in()
    page = await browser.open("/account")
    answer = await browser.submit(page, "/account/password", current=current, new=new)
    assert (answer.status, answer.page.problem) == (422, problem)
    assert (await site.browser().sign_in()).location == "/"


async def test_guessing_the_present_password_is_throttled(site: Site) -> None:
    browser = await site.signed_in()
    page = await browser.open("/account")
    tries = 2 * ATTEMPTS + 1  # those of the known device, those of the account, and one too many
    answers = [await browser.submit(page, "/account/password", current="wrong", new=NEW) for _ in range(tries)]
    assert [answer.status for answer in answers] == [422] * 2 * ATTEMPTS + [429]
    assert answers[-1].headers["Retry-After"] == "60"


async def test_a_first_password_needs_no_other_but_a_fresh_sign_in(site: Site) -> None:
    user_id = await site.add_user("bob@example.com", site.org_id, password_hash=None)
    token = await site.store.write(lambda tx: one_time_links.make(tx, user_id, "sign_in"))
    browser = site.browser()
    await browser.submit(await browser.open(f"/sign-in/link/{token}"), f"/sign-in/link/{token}")
    page = await browser.open("/account")
    assert "You have none yet." in page.text
    assert "Set password" in page.buttons()
    site.clock.advance(RECENT + 1)
    late = await browser.submit(page, "/account/password", new=NEW)
    assert late.location.startswith("/sign-in?next=%2Faccount&again=1")
    site.clock.advance(-RECENT - 1)
    assert (await browser.submit(page, "/account/password", new=NEW)).location == "/account"
    assert (await site.browser().sign_in(NEW, "bob@example.com")).location == "/"
    page = await browser.open("/account")
    assert "Change password" in page.buttons()
    assert (await browser.post("/account/password", {"csrf": page.token, "new": NEW + "!"})).status == 400


# -- authenticator app


async def test_turning_the_authenticator_app_on_and_off(site: Site) -> None:
    browser = await site.signed_in()
    assert "/account/second-factor" in (await browser.open("/account")).links()
    page = await browser.open("/account/second-factor")
    (picture,) = page.root.all("img")
    assert picture.attributes["src"].startswith("data:image/svg+xml")
    secret = "".join(next(page.root.all("code")).text.split())
    assert (await browser.open("/account/second-factor")).text == page.text  # loaded again, it is the same
    wrong = await browser.submit(page, "/account/second-factor", code="000000")
    assert (wrong.status, wrong.page.problem.startswith("That code is not right")) == (422, True)
    codes = (await browser.submit(page, "/account/second-factor", code=site.code(secret))).page
    assert len(list(next(codes.root.all("main")).all("li"))) == second_factors.RECOVERY_CODES
    assert (await browser.get("/account/second-factor")).location == "/account"
    account = await browser.open("/account")
    assert "10 recovery codes left" in account.text
    assert {"/account/recovery-codes", "/account/second-factor/off"} <= set(account.links())
    renew = await browser.open("/account/recovery-codes")
    assert "The codes that you have now stop working: 10 that are left." in renew.text
    assert "10 recovery codes left" in (await browser.open("/account")).text  # asking does nothing
    renewed = await browser.submit(renew, "/account/recovery-codes")
    assert renewed.page.text != codes.text
    off = await browser.open("/account/second-factor/off")
    assert off.heading == "Turn the authenticator app off?"
    answer = await browser.submit(off, "/account/second-factor/off")
    assert "The authenticator app is off." in (await browser.follow(answer)).page.text
    assert not await site.store.read(lambda tx: second_factors.is_on(tx, site.user_id))
    for path in ("/account/recovery-codes", "/account/second-factor/off"):
        assert (await browser.get(path)).location == "/account"
    assert (await browser.submit(renew, "/account/recovery-codes")).location == "/account"


async def test_recovery_codes_say_whose_they_are_and_since_when(site: Site) -> None:
    browser = await site.signed_in()
    await site.second_factor()
    page = (await browser.submit(await browser.open("/account/recovery-codes"), "/account/recovery-codes")).page
    assert f"Ann Oak, {EMAIL}, at {ISSUER}. Made 20 Nov 2026." in page.text


async def test_a_secret_waits_for_its_code_for_a_while(site: Site) -> None:
    browser = await site.signed_in()
    page = await browser.open("/account/second-factor")
    secret = "".join(next(page.root.all("code")).text.split())
    site.clock.advance(PROPOSAL_LIFE)
    await browser.sign_in()
    page = await browser.open("/account")
    answer = await browser.post("/account/second-factor", {"csrf": page.token, "code": site.code(secret)})
    assert answer.location == "/account/second-factor"
    assert not await site.store.read(lambda tx: second_factors.is_on(tx, site.user_id))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/account/second-factor"),
        ("POST", "/account/second-factor"),
        ("POST", "/account/second-factor/off"),
        ("POST", "/account/recovery-codes"),
        ("GET", "/account/second-factor/off"),
        ("GET", "/account/recovery-codes"),
        ("POST", "/account/passkeys/add/options"),
        ("GET", "/account/passkeys/add"),
        ("POST", "/account/passkeys/add"),
        ("GET", "/account/passkeys/remove?id=x"),
        ("POST", "/account/passkeys/remove?id=x"),
    ],
)
async def test_what_changes_how_one_gets_in_needs_a_fresh_sign_in(site: Site, method: str, path: str) -> None:
    """And comes back to the very question."""
    browser = await site.signed_in()
    token = (await browser.open("/account")).token
    site.clock.advance(RECENT + 1)
    answer = await (browser.get(path) if method == "GET" else browser.post(path, {"csrf": token}))
    assert answer.sent_back == {"next": path.removesuffix("/options"), "again": "1", "email": EMAIL}
    page = (await browser.follow(answer)).page
    assert page.heading == "Sign in again"
    assert "Nothing has been changed yet, and you come back to where you were." in page.text
    wrong = await browser.submit(page, "/sign-in", password="wrong")
    assert (wrong.status, wrong.page.heading) == (422, "Sign in again")
    assert (await browser.submit(wrong.page, "/sign-in", password=PASSWORD)).location == path.removesuffix("/options")


# -- passkeys


async def add_passkey(browser: Browser, device: SoftWebauthnDevice, name: str = "Laptop") -> str:
    """As the page's script does; answers where it leads, or what is wrong."""
    page = await browser.open("/account/passkeys/add")
    asked = await browser.post("/account/passkeys/add/options", {"csrf": page.token})
    answer = as_json(device.create(options_of(asked.body.decode()), ISSUER))
    done = await browser.submit(page, "/account/passkeys/add", name=name, credential=answer)
    return done.location if done.status == 303 else done.page.problem


async def test_adding_and_removing_a_passkey(site: Site) -> None:
    browser = await site.signed_in()
    assert "/account/passkeys/add" in (await browser.open("/account")).links()
    page = await browser.open("/account/passkeys/add")
    assert page.field_named("Name of the device").attributes["maxlength"] == "160"
    assert await add_passkey(browser, SoftWebauthnDevice(), "<b>Laptop</b>") == "/account#passkeys"
    page = await browser.open("/account")
    assert "The passkey <b>Laptop</b> was added." in page.text
    (known,) = await site.store.read(lambda tx: passkeys.of_user(tx, site.user_id))
    asked = await browser.post("/account/passkeys/add/options", {"csrf": page.token})
    assert len(json.loads(asked.body)["excludeCredentials"]) == 1
    (way,) = [each for each in page.links() if each.startswith("/account/passkeys/remove?")]
    question = await browser.open(way)
    assert question.heading == "Remove the passkey <b>Laptop</b>?"
    assert "It is your last one: a password signs you in from then on." in question.text
    assert len(await site.store.read(lambda tx: passkeys.of_user(tx, site.user_id))) == 1
    answer = await browser.submit(question, way)
    assert answer.location == "/account#passkeys"
    assert "The passkey <b>Laptop</b> was removed." in (await browser.open("/account")).text
    assert await site.store.read(lambda tx: passkeys.of_user(tx, site.user_id)) == []
    assert (await browser.submit(question, way)).status == 404
    assert known.name == "<b>Laptop</b>"


async def test_nobody_removes_the_passkey_of_another(site: Site) -> None:
    await site.add_user("bob@example.com", site.org_id)
    ann, bob = await site.signed_in(), site.browser()
    await bob.sign_in(email="bob@example.com")
    await add_passkey(ann, SoftWebauthnDevice())
    (way,) = [each for each in (await ann.open("/account")).links() if each.startswith("/account/passkeys/remove?")]
    token = (await bob.open("/account")).token
    for path in (way, "/account/passkeys/remove", "/account/passkeys/remove?id=%25"):
        assert (await bob.get(path)).status == 404
        assert (await bob.post(path, {"csrf": token})).status == 404
    assert len(await site.store.read(lambda tx: passkeys.of_user(tx, site.user_id))) == 1


async def test_who_has_nothing_but_a_passkey_is_warned(site: Site) -> None:
    user_id = await site.add_user("bob@example.com", site.org_id, password_hash=None)
    token = await site.store.write(lambda tx: one_time_links.make(tx, user_id, "sign_in"))
    browser = site.browser()
    await browser.submit(await browser.open(f"/sign-in/link/{token}"), f"/sign-in/link/{token}")
    await add_passkey(browser, SoftWebauthnDevice())
    (way,) = [each for each in (await browser.open("/account")).links() if each.startswith("/account/passkeys/remove?")]
    assert "Set a password first." in (await browser.open(way)).text


async def test_a_challenge_is_for_one_person_and_one_purpose_once(site: Site) -> None:
    await site.add_user("bob@example.com", site.org_id)
    ann, bob = await site.signed_in(), site.browser()
    await bob.sign_in(email="bob@example.com")
    page = await bob.open("/account")
    asked = await bob.post("/account/passkeys/add/options", {"csrf": page.token})
    answer = as_json(SoftWebauthnDevice().create(options_of(asked.body.decode()), ISSUER))
    statuses = []
    for browser in (ann, bob, bob):
        page = await browser.open("/account/passkeys/add")
        done = await browser.submit(page, "/account/passkeys/add", name="x", credential=answer)
        statuses.append(done.status)
    assert statuses == [422, 303, 422]
    assert done.page.problem == "The passkey could not be added. Try again."
    assert [fields["reason"] for _, fields in site.log.told] == [
        "the challenge is not one that was given out for this",
        "the challenge was answered before",
    ]


async def test_a_passkey_has_a_name(site: Site) -> None:
    browser = await site.signed_in()
    assert await add_passkey(browser, SoftWebauthnDevice(), " ") == "A name has 1 to 160 characters."


# -- sessions


async def test_signing_other_browsers_out(site: Site) -> None:
    first, second, third = [await site.signed_in() for _ in range(3)]
    page = await first.open("/account")
    assert page.text.count("(this one)") == 1
    mine = await site.store.read(lambda tx: sessions.find(tx, first.cookies["__Host-session"]))
    theirs = await site.store.read(lambda tx: sessions.find(tx, second.cookies["__Host-session"]))
    assert mine is not None
    assert theirs is not None
    one = f"/account/sessions/end?id={theirs.id}"
    assert one in page.links()
    question = await first.open(one)
    assert (question.heading.startswith("Sign out "), question.buttons()) == (True, ["Sign out"])
    assert "It has to sign in again." in question.text
    assert (await second.get("/account")).status == 200
    assert (await first.submit(question, one)).location == "/account#sessions"
    assert (await second.get("/account")).status == 303
    assert (await first.get(one)).status == 404
    assert (await first.submit(question, one)).status == 404
    assert "/account/sessions/end-all" in page.links()
    question = await first.open("/account/sessions/end-all")
    assert question.text.count("it has to sign in again") == 1
    assert (await third.get("/account")).status == 200
    assert (await first.submit(question, "/account/sessions/end-all")).location == "/account#sessions"
    assert (await third.get("/account")).status == 303
    page = await first.open("/account")
    assert "1 other browser is signed out." in page.text
    assert "/account/sessions/end-all" not in page.links()
    here = f"/account/sessions/end?id={mine.id}"
    question = await first.open(here)
    assert "It is this browser." in question.text
    assert (await first.submit(question, here)).location == "/sign-in"
    assert "__Host-session" not in first.cookies
    assert (await first.get("/account")).status == 303


async def test_nobody_ends_the_session_of_another(site: Site) -> None:
    await site.add_user("bob@example.com", site.org_id)
    ann, bob = await site.signed_in(), site.browser()
    await bob.sign_in(email="bob@example.com")
    (session,) = await site.store.read(lambda tx: sessions.of_user(tx, site.user_id))
    page = await bob.open("/account")
    assert (await bob.get(f"/account/sessions/end?id={session.id}")).status == 404
    assert (await bob.post("/account/sessions/end", {"csrf": page.token, "id": session.id})).status == 404
    assert (await ann.get("/account")).status == 200


async def test_a_visit_puts_off_the_end_of_the_session(site: Site) -> None:
    browser = await site.signed_in()
    for _ in range(3):
        site.clock.advance(sessions.IDLE - MINUTE)
        assert (await browser.get("/account")).status == 200
    site.clock.advance(sessions.IDLE + SECOND)
    assert (await browser.get("/account")).status == 303


async def test_the_account_says_whose_it_is(site: Site) -> None:
    page = await (await site.signed_in()).open("/account")
    assert f"Ann Oak · {EMAIL}" in page.text
