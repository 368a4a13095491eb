"""One-time links: to sign in, and to set a new password."""

import pytest

from gatewayd.clock import HOUR, MINUTE
from gatewayd.identity import audit
from gatewayd.identity.clients import grants
from gatewayd.identity.people import users
from gatewayd.identity.sign_in import one_time_links
from gatewayd.identity.sign_in.one_time_links import Purpose
from tests.console.granting import grant
from tests.console.visiting import ATTEMPTS, EMAIL, Site

NEW = "another good password"


async def link(site: Site, purpose: Purpose) -> str:
    """The path of a link of Ann's."""
    token = await site.store.write(lambda tx: one_time_links.make(tx, site.user_id, purpose))
    return f"/sign-in/{'link' if purpose == 'sign_in' else 'reset'}/{token}"


async def test_a_link_signs_in_once(site: Site) -> None:
    path = await link(site, "sign_in")
    browser, late = site.browser(), site.browser()
    await browser.get(path, "HEAD")  # whatever looks ahead uses nothing up
    page, other = await browser.open(path), await late.open(path)
    assert (page.buttons(), EMAIL in page.text) == (["Continue"], True)
    answer = await browser.submit(page, path)
    assert answer.location == "/account"
    assert (await browser.follow(answer)).status == 200
    again = await late.submit(other, path)
    assert (again.status, again.page.heading) == (404, "This link does not work any more")
    assert (await late.get(path)).status == 404


async def test_a_link_stands_for_the_password_alone(site: Site) -> None:
    secret, _ = await site.second_factor()
    path = await link(site, "sign_in")
    browser = site.browser()
    answer = await browser.submit(await browser.open(path), path)
    assert answer.location == "/sign-in/code?next=%2Faccount"
    page = (await browser.follow(answer)).page
    assert (await browser.submit(page, "/sign-in/code", code=site.code(secret))).location == "/account"


@pytest.mark.parametrize(("purpose", "life"), [("sign_in", 30 * MINUTE), ("reset_password", 24 * HOUR)])
async def test_links_grow_old(site: Site, purpose: Purpose, life: int) -> None:
    path = await link(site, purpose)
    browser = site.browser()
    page = await browser.open(path)
    site.clock.advance(life)
    assert (await browser.get(path)).status == 404
    answer = await browser.post(path, {"csrf": page.token, "new": NEW})
    assert answer.status == 404


async def test_a_link_is_for_its_purpose(site: Site) -> None:
    reset, sign_in = await link(site, "reset_password"), await link(site, "sign_in")
    browser = site.browser()
    assert (await browser.get(reset.replace("/reset/", "/link/"))).status == 404
    assert (await browser.get(sign_in.replace("/link/", "/reset/"))).status == 404
    assert (await browser.get("/sign-in/reset/x")).status == 404


async def test_a_new_password_by_link(site: Site) -> None:
    before = await site.signed_in()
    grant_id, other = await grant(site), await link(site, "sign_in")
    path = await link(site, "reset_password")
    stranger = site.browser()
    for _ in range(ATTEMPTS):
        await stranger.sign_in("wrong")
    browser = site.browser()
    page = await browser.open(path)
    assert (page.heading, EMAIL in page.text) == ("Choose a new password", True)
    refused = await browser.submit(page, path, new="short")
    assert (refused.status, refused.page.problem) == (422, "A password has 10 to 1024 characters.")
    answer = await browser.submit(refused.page, path, new=NEW)
    assert answer.location == "/sign-in?next=%2F&again=1&email=ann%40example.com"
    assert "The password was set. Sign in with it." in (await browser.follow(answer)).page.text
    assert "__Host-session" not in browser.cookies
    assert (await before.get("/account")).status == 303
    assert await site.store.read(lambda tx: grants.find_live(tx, grant_id)) is None
    assert (await browser.get(other)).status == 404
    assert (await browser.sign_in(NEW)).location == "/"  # the lock of the account is gone as well
    assert (await browser.submit(page, path, new=NEW + "!")).status == 403  # the page was another session's
    assert (await browser.get(path)).status == 404
    (entry,) = [each for each in await site.store.read(audit.list_all) if each.action == "user.password_reset"]
    assert entry.actor == site.user_id


async def test_a_reset_in_the_browser_of_another_leaves_them_signed_in(site: Site) -> None:
    await site.add_user("bob@example.com", site.org_id)
    browser = site.browser()
    await browser.sign_in(email="bob@example.com")
    path = await link(site, "reset_password")
    assert (await browser.submit(await browser.open(path), path, new=NEW)).status == 303
    assert (await browser.get("/account")).status == 200
    user = await site.store.read(lambda tx: users.get(tx, site.user_id))
    assert user.email == EMAIL
