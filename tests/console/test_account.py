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
    assert (await browser.get("/account")).status == 200
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
    renewed = await browser.submit(account, "/account/recovery-codes")
    assert renewed.page.text != codes.text
    assert (await browser.submit(account, "/account/second-factor/off")).location == "/account"
    assert not await site.store.read(lambda tx: second_factors.is_on(tx, site.user_id))
    assert (await browser.submit(account, "/account/recovery-codes")).location == "/account"


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
        ("POST", "/account/passkeys/options"),
        ("POST", "/account/passkeys"),
        ("POST", "/account/passkeys/remove"),
    ],
)
async def test_what_changes_how_one_gets_in_needs_a_fresh_sign_in(site: Site, method: str, path: str) -> None:
    browser = await site.signed_in()
    token = (await browser.open("/account")).token
    site.clock.advance(RECENT + 1)
    answer = await (browser.get(path) if method == "GET" else browser.post(path, {"csrf": token}))
    back = path if path == "/account/second-factor" else "/account"  # the page of the form
    assert answer.location == AGAIN.replace("%2Faccount&", f"{back.replace('/', '%2F')}&")


# -- passkeys


async def add_passkey(browser: Browser, device: SoftWebauthnDevice, name: str = "Laptop") -> str:
    """As the page's script does; answers where it leads, or what is wrong."""
    page = await browser.open("/account")
    asked = await browser.post("/account/passkeys/options", {"csrf": page.token})
    answer = as_json(device.create(options_of(asked.body.decode()), ISSUER))
    done = await browser.submit(page, "/account/passkeys", name=name, credential=answer)
    return done.location if done.status == 303 else done.page.problem


async def test_adding_and_removing_a_passkey(site: Site) -> None:
    browser = await site.signed_in()
    page = await browser.open("/account")
    assert page.field_named("Name of the device").attributes["maxlength"] == "160"
    assert await add_passkey(browser, SoftWebauthnDevice(), "<b>Laptop</b>") == "/account#passkeys"
    page = await browser.open("/account")
    assert "Remove <b>Laptop</b>" in page.buttons()
    (known,) = await site.store.read(lambda tx: passkeys.of_user(tx, site.user_id))
    asked = await browser.post("/account/passkeys/options", {"csrf": page.token})
    assert len(json.loads(asked.body)["excludeCredentials"]) == 1
    assert (await browser.submit(page, "/account/passkeys/remove")).location == "/account#passkeys"
    assert await site.store.read(lambda tx: passkeys.of_user(tx, site.user_id)) == []
    assert known.name == "<b>Laptop</b>"


async def test_nobody_removes_the_passkey_of_another(site: Site) -> None:
    await site.add_user("bob@example.com", site.org_id)
    ann, bob = await site.signed_in(), site.browser()
    await bob.sign_in(email="bob@example.com")
    await add_passkey(ann, SoftWebauthnDevice())
    form = (await ann.open("/account")).form("/account/passkeys/remove")
    (given,) = [each.attributes["value"] for each in form.all("input") if each.attributes["name"] == "id"]
    token = (await bob.open("/account")).token
    assert (await bob.post("/account/passkeys/remove", {"csrf": token, "id": given})).status == 303
    assert len(await site.store.read(lambda tx: passkeys.of_user(tx, site.user_id))) == 1
    assert (await bob.post("/account/passkeys/remove", {"csrf": token, "id": "%"})).status in (303, 400)


async def test_a_challenge_is_for_one_person_and_one_purpose_once(site: Site) -> None:
    await site.add_user("bob@example.com", site.org_id)
    ann, bob = await site.signed_in(), site.browser()
    await bob.sign_in(email="bob@example.com")
    page = await bob.open("/account")
    asked = await bob.post("/account/passkeys/options", {"csrf": page.token})
    answer = as_json(SoftWebauthnDevice().create(options_of(asked.body.decode()), ISSUER))
    statuses = []
    for browser in (ann, bob, bob):
        page = await browser.open("/account")
        done = await browser.submit(page, "/account/passkeys", name="x", credential=answer)
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
    assert (await first.submit(page, "/account/sessions/end", id=theirs.id)).location == "/account#sessions"
    assert (await second.get("/account")).status == 303
    assert (await first.submit(page, "/account/sessions/end", id=theirs.id)).status == 404
    assert (await first.submit(page, "/account/sessions/end-all")).location == "/account#sessions"
    assert (await third.get("/account")).status == 303
    page = await first.open("/account")
    assert not page.has_form("/account/sessions/end-all")
    assert (await first.submit(page, "/account/sessions/end", id=mine.id)).location == "/sign-in"
    assert "__Host-session" not in first.cookies
    assert (await first.get("/account")).status == 303


async def test_nobody_ends_the_session_of_another(site: Site) -> None:
    await site.add_user("bob@example.com", site.org_id)
    ann, bob = await site.signed_in(), site.browser()
    await bob.sign_in(email="bob@example.com")
    (session,) = await site.store.read(lambda tx: sessions.of_user(tx, site.user_id))
    page = await bob.open("/account")
    assert (await bob.submit(page, "/account/sessions/end", id=session.id)).status == 404
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
