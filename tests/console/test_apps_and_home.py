"""The overview, and the connected apps with their end."""

from typing import get_args

from gatewayd.clock import DAY
from gatewayd.console.navigation import shelves
from gatewayd.console.people.applications import REVOKE, WHY, place_of
from gatewayd.identity.clients import grants
from gatewayd.identity.clients.grant_lists import GrantSummary
from gatewayd.identity.clients.grants import RevokedReason
from gatewayd.identity.people import memberships
from tests.console.granting import grant
from tests.console.visiting import EMAIL, Site
from tests.support.store import START


async def test_the_overview_says_where_one_is(site: Site) -> None:
    browser = await site.signed_in()
    page = await browser.open("/")
    assert page.heading == "Hello, Ann Oak"
    for shown in (EMAIL, "Oak & Son", "owner", site.org_id, "No app can act for you."):
        assert shown in page.text
    assert "A password alone protects your account." in page.text
    (nav,) = page.root.all("nav")
    seen = [entry.href for shelf in shelves("owner", instance_admin=False) for entry in shelf.entries]
    assert [each.attributes["href"] for each in nav.all("a")] == seen
    assert [each.text for each in nav.all("a") if "aria-current" in each.attributes] == ["Overview"]
    assert {"/account", "/sign-out"} <= set(page.links())
    assert next(page.root.all("a")).attributes["href"] == "#main"  # the first stop of the keyboard
    await site.second_factor()
    await grant(site)
    page = await browser.open("/")
    assert "A password alone" not in page.text
    assert "1 app can act for you." in page.text


async def test_somebody_of_no_organization_is_told_so(site: Site) -> None:
    await site.add_user("bob@example.com")
    browser = site.browser()
    await browser.sign_in(email="bob@example.com")
    assert "You belong to none yet." in (await browser.open("/")).text


async def test_a_copied_token_is_a_warning(site: Site) -> None:
    browser = await site.signed_in()
    grant_id = await grant(site)
    await site.store.write(lambda tx: grants.revoke(tx, grant_id, "refresh_reused", "app_x"))
    assert "The connection of app.example was ended on 20 Nov 2026" in (await browser.open("/")).text
    site.clock.advance(14 * DAY)
    assert "Somebody may have copied it." not in (await (await site.signed_in()).open("/")).text


async def test_connected_apps_and_their_end(site: Site) -> None:
    browser = await site.signed_in()
    assert "No app is connected." in (await browser.open("/developers/apps")).text
    grant_id = await grant(site)
    await site.store.write(lambda tx: grants.note_use(tx, [grant_id]))
    page = await browser.open("/developers/apps")
    for shown in ("app.example", "calls itself Sprout", "Oak & Son", "20 Nov 2026, 09:30 UTC", "20 Dec 2026"):
        assert shown in page.text
    assert "Create and update invoices, quotes, counterparties and transactions." in page.text
    (question,) = [each for each in page.links() if each.startswith(REVOKE)]
    asked = await browser.open(question)
    assert (asked.heading, asked.buttons()) == ("Revoke app.example?", ["Revoke"])
    assert "It acts for you in Oak & Son no more." in asked.text
    assert await site.store.read(lambda tx: grants.find_live(tx, grant_id)) is not None
    answer = await browser.submit(asked, REVOKE)
    assert await site.store.read(lambda tx: grants.find_live(tx, grant_id)) is None
    page = (await browser.follow(answer)).page
    assert "The app was disconnected." in page.text
    assert "No app is connected." in page.text
    (cells,) = [[cell.text for cell in row.all("th", "td")] for row in list(page.root.all("tr"))[1:]]
    assert cells == ["app.example", "Oak & Son", "20 Nov 2026", "20 Nov 2026", "You revoked it"]
    assert (await browser.get(question)).status == 404


def test_every_reason_is_said_in_words() -> None:
    assert set(WHY) == set(get_args(RevokedReason))


def test_an_app_is_known_by_where_it_is() -> None:
    app = GrantSummary(
        grant_id="grt_x",
        org_id="org_x",
        organization="Oak & Son",
        user_id="usr_x",
        client_id="app_x",
        client_name="My bank",
        hosts=("localhost", "app:", "a.example"),
        scopes=(),
        connected_at=START,
        last_used_day=None,
        expires_at=START,
        revoked_at=None,
        revoked_reason=None,
        resource=None,
    )
    assert place_of(app) == "this computer (localhost), an app on this device (app:), a.example"


async def test_nobody_revokes_what_another_granted(site: Site) -> None:
    await site.add_user("bob@example.com", site.org_id)
    browser = site.browser()
    await browser.sign_in(email="bob@example.com")
    grant_id = await grant(site)
    token = (await browser.open("/account")).token
    for given in (grant_id, "grt_x"):
        answer = await browser.post("/developers/apps/revoke", {"csrf": token, "id": given})
        assert answer.status == 404
        assert (await browser.get(f"{REVOKE}?id={given}")).status == 404
    assert await site.store.read(lambda tx: grants.find_live(tx, grant_id)) is not None
    assert "No app is connected." in (await browser.open("/developers/apps")).text


async def test_a_removed_member_sees_that_the_app_was_ended(site: Site) -> None:
    second = await site.add_org("Elm Ltd", site.user_id)
    bob = await site.add_user("bob@example.com")
    await site.store.write(lambda tx: memberships.add(tx, bob, "owner", "operator"), second)
    await grant(site, second)
    await site.store.write(lambda tx: memberships.remove(tx, site.user_id, "operator"), second)
    page = await (await site.signed_in()).open("/developers/apps")
    assert "Elm Ltd" in page.text
    assert "You left the organization" in page.text
