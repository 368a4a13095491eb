"""The page of what is open to the outside, by who made it, and its end."""

import secrets

from gatewayd.access.kinds import KINDS, every
from gatewayd.console.developers import open_access
from gatewayd.console.developers.open_access import AFTERWARDS
from gatewayd.identity import audit
from gatewayd.identity.clients import grants
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys, calendar_feeds
from gatewayd.identity.people import memberships, users
from gatewayd.store import ReadTx, WriteTx
from tests.console.granting import grant
from tests.console.reading import Document
from tests.console.visiting import EMAIL, Answer, Browser, Site

PAGE, END = "/developers/access", "/developers/access/end"
BOB = "bob@example.com"


async def key(site: Site, name: str, user_id: str, org_id: str = "", role: api_keys.KeyRole | None = None) -> str:
    new = api_keys.NewKey(name=name, user_id=user_id, scopes=("vault:read",) if role else (), role=role)

    def work(tx: WriteTx) -> str:
        return api_keys.create(tx, new, secrets.token_bytes(RANDOM_BYTES), audit.OPERATOR).id

    return await site.store.write(work, org_id or site.org_id)


async def feed(site: Site, user_id: str | None) -> str:
    wanted = calendar_feeds.NewFeed("Deadlines", None, user_id, user_id or audit.OPERATOR)
    return await site.store.write(lambda tx: calendar_feeds.create(tx, wanted)[0].id, site.org_id)


async def bob(site: Site) -> str:
    return await site.add_user(BOB, site.org_id)


async def sign_in(site: Site, email: str) -> Browser:
    browser = site.browser()
    await browser.sign_in(email=email)
    return browser


async def still_open(site: Site) -> set[str]:
    def look(tx: ReadTx) -> set[str]:
        return {opening.id for _, opening in every(tx)}

    return await site.store.read(look, site.org_id)


def sections(page: Document) -> dict[str, list[str]]:
    """What stands under each maker: the names of the things."""
    return {
        next(each.all("h3")).text: [row.text for row in each.all("th") if row.attributes["scope"] == "row"]
        for each in page.root.all("section")
    }


def lines(page: Document) -> list[list[str]]:
    rows = [row for body in page.root.all("tbody") for row in body.all("tr")]
    return [[cell.text for cell in row.all("th", "td") if cell.attributes.get("class") != "tick"] for row in rows]


async def test_what_is_open_stands_by_who_made_it(site: Site) -> None:
    user_id = await bob(site)
    await key(site, "Till", user_id)
    await key(site, "Shop", site.user_id)
    await grant(site)
    await feed(site, user_id)
    await feed(site, None)
    await key(site, "Warehouse", site.user_id, role="member")
    page = await (await site.signed_in()).open(PAGE)
    assert page.heading == "Open access"
    assert sections(page) == {
        EMAIL: ["app.example", "Shop"],
        BOB: ["Deadlines", "Till"],
        "The organization itself": ["Warehouse"],
        "Whoever runs this server": ["Deadlines"],
    }
    assert ["app.example", "connected app", "20 Nov 2026", "never", "20 Dec 2026"] in lines(page)
    assert ["Shop", "API key", "20 Nov 2026", "never", "never"] in lines(page)
    assert ["Deadlines", "calendar feed", "20 Nov 2026", "not recorded", "never"] in lines(page)
    assert "1 calendar feed, 1 API key" in page.text
    (nav,) = page.root.all("nav")
    current = [each.text for each in nav.all("a") if each.attributes.get("aria-current") == "page"]
    assert current == ["Open access"]


async def said(browser: Browser, answer: Answer) -> str:
    """What the page says that an answer leads to; it is said once."""
    text = (await browser.follow(answer)).page.text
    assert " ended." not in (await browser.follow(answer)).page.text.partition("What works without")[0]
    return text


async def test_nothing_open_is_said(site: Site) -> None:
    assert "Nothing is open." in (await (await site.signed_in()).open(PAGE)).text
    await site.add_user(BOB)
    assert "You belong to no organization yet." in (await (await sign_in(site, BOB)).open(PAGE)).text


async def test_it_ends_once_that_is_confirmed(site: Site) -> None:
    shop, till = await key(site, "Shop", site.user_id), await key(site, "Till", site.user_id)
    browser = await site.signed_in()
    asked = (await browser.submit(await browser.open(PAGE), END, id=shop)).page
    assert asked.heading == "End this API key?"
    assert "Shop" in asked.text
    assert "Whatever uses the key is refused." in asked.text
    assert f"{PAGE}?organization={site.org_id}" in asked.links()
    assert await still_open(site) == {shop, till}
    done = await browser.submit(asked, END)
    assert done.location == f"{PAGE}?organization={site.org_id}"
    page = (await browser.follow(done)).page
    assert "1 thing was ended." in page.text
    assert sections(page) == {EMAIL: ["Till"]}
    assert await still_open(site) == {till}
    acts = await site.store.read(audit.list_all)
    assert (site.user_id, "key.revoked", shop) in [(act.actor, act.action, act.subject) for act in acts]


async def test_several_of_several_kinds_end_together(site: Site) -> None:
    ids = [await key(site, "Shop", site.user_id), await feed(site, site.user_id), await grant(site)]
    kept = await key(site, "Till", site.user_id)
    browser = await site.signed_in()
    asked = (await browser.submit(await browser.open(PAGE), END, id=ids)).page
    assert asked.heading == "End these 3?"
    for kind in ("api_key", "calendar_feed", "connected_app"):
        assert AFTERWARDS[kind] in asked.text
    assert "3 things were ended." in await said(browser, await browser.submit(asked, END))
    assert await still_open(site) == {kept}


async def test_all_that_somebody_opened_ends_at_once(site: Site) -> None:
    """Also what is not shown; what came meanwhile is asked about again."""
    user_id = await bob(site)
    own = await key(site, "Shop", site.user_id)
    for number in range(open_access.OF_EACH + 3):
        await key(site, f"Till {number}", user_id)
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    assert len(sections(page)[BOB]) == open_access.OF_EACH
    (more,) = [each for each in page.links() if f"maker={user_id}" in each]
    assert len(sections(await browser.open(more))[BOB]) == open_access.OF_EACH + 3
    form = {"csrf": page.token, "organization": site.org_id, "maker": user_id, "all": "yes"}
    asked = (await browser.post(END, form)).page
    assert asked.heading == "End these 13?"
    assert BOB in asked.text
    late = await key(site, "Late", user_id)
    again = (await browser.submit(asked, END)).page
    assert again.heading == "End these 14?"
    assert late in await still_open(site)
    assert "14 things were ended." in await said(browser, await browser.submit(again, END))
    assert await still_open(site) == {own}


async def test_what_ended_meanwhile_is_no_fault(site: Site) -> None:
    shop = await key(site, "Shop", site.user_id)
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    asked = (await browser.submit(page, END, id=shop)).page
    await site.store.write(lambda tx: api_keys.revoke(tx, shop, audit.OPERATOR), site.org_id)
    assert "That had ended already." in await said(browser, await browser.submit(asked, END))
    assert "That had ended already." in await said(browser, await browser.submit(page, END, id=shop))


async def test_nothing_ticked_is_told(site: Site) -> None:
    shop = await key(site, "Shop", site.user_id)
    browser = await site.signed_in()
    answer = await browser.submit(await browser.open(PAGE), END)
    assert (answer.status, answer.page.problem) == (422, "Tick what is to end.")
    assert await still_open(site) == {shop}


async def test_members_see_and_end_what_is_their_own(site: Site) -> None:
    user_id = await bob(site)
    shop, till = await key(site, "Shop", site.user_id), await key(site, "Till", user_id)
    operators = await feed(site, None)
    browser = await sign_in(site, BOB)
    page = await browser.open(PAGE)
    assert sections(page) == {BOB: ["Till"]}
    form = {"csrf": page.token, "organization": site.org_id}
    for agreed in ({}, {"agreed": "1"}):
        for id_ in (shop, operators):
            assert (await browser.post(END, {**form, **agreed, "id": id_})).status == 404
        for maker in (site.user_id, audit.OPERATOR):
            answer = await browser.post(END, {**form, **agreed, "all": "yes", "maker": maker})
            assert "That had ended already." in await said(browser, answer)
    assert (await browser.get(f"{PAGE}?organization={site.org_id}&maker={site.user_id}")).status == 404
    assert await still_open(site) == {shop, till, operators}
    asked = (await browser.post(END, {**form, "id": till})).page
    assert "1 thing was ended." in await said(browser, await browser.submit(asked, END))
    assert await still_open(site) == {shop, operators}


async def test_other_organizations_are_not_reached(site: Site) -> None:
    theirs = await site.add_org("Elm Ltd", await site.add_user(BOB))
    member = await site.store.read(lambda tx: users.find(tx, BOB))
    assert member is not None
    till = await key(site, "Till", member.id, theirs)
    browser = await site.signed_in()
    for query in (f"organization={theirs}", "organization=org_none", f"maker={member.id}"):
        assert (await browser.get(f"{PAGE}?{query}")).status == 404
    token = (await browser.open("/account")).token
    for more in ({"id": till}, {"all": "yes", "maker": member.id}):
        for agreed in ({}, {"agreed": "1"}):
            answer = await browser.post(END, {"csrf": token, "organization": theirs, **more, **agreed})
            assert answer.status == 404
    answer = await browser.post(END, {"csrf": token, "organization": site.org_id, "id": till, "agreed": "1"})
    assert "That had ended already." in await said(browser, answer)
    await site.store.read(lambda tx: api_keys.get(tx, till), theirs)
    assert await site.store.read(lambda tx: [opening.id for _, opening in every(tx)], theirs) == [till]


async def test_each_of_ones_organizations_has_a_list(site: Site) -> None:
    elm = await site.add_org("Elm Ltd", site.user_id)
    await key(site, "Till", site.user_id, elm)
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    assert elm in [button.attributes.get("value") for button in page.form("/organization").all("button")]
    assert sections(await browser.open(f"{PAGE}?organization={elm}")) == {EMAIL: ["Till"]}


async def test_what_is_left_of_somebody_who_is_gone_stands_first(site: Site) -> None:
    """As a database of before may have it: whoever goes now leaves nothing."""
    user_id = await bob(site)
    await key(site, "Shop", site.user_id)
    await feed(site, user_id)
    await site.store.write(lambda tx: memberships.remove(tx, user_id, audit.OPERATOR), site.org_id)
    page = await (await site.signed_in()).open(PAGE)
    assert list(sections(page)) == [BOB, EMAIL]
    assert page.text.count("They cannot sign in here any more.") == 1


async def test_forms_of_no_page_are_refused(site: Site) -> None:
    browser = await site.signed_in()
    token = (await browser.open("/account")).token
    form = [("csrf", token), ("organization", site.org_id)]
    too_many = [("id", f"key_{number}") for number in range(open_access.OF_ONE + 1)]
    assert (await browser.post(END, [*form, *too_many])).status == 400
    assert (await browser.post(END, [*form, ("id", "k" * 65)])).status == 400
    assert (await browser.post(END, [("csrf", token), ("id", "key_x")])).status == 400


async def test_an_app_that_ended_is_told_as_ended(site: Site) -> None:
    grant_id = await grant(site)
    browser = await site.signed_in()
    asked = (await browser.submit(await browser.open(PAGE), END, id=grant_id)).page
    await browser.submit(asked, END)
    assert await site.store.read(lambda tx: grants.find_live(tx, grant_id)) is None


def test_every_kind_says_what_its_end_means() -> None:
    assert set(AFTERWARDS) == {kind.name for kind in KINDS}
