"""The people of an organization: who sees them, who changes them, and what ends with a membership."""

from pathlib import Path

import pytest

from gatewayd.console.browser import RECENT
from gatewayd.contract.caller import Role
from gatewayd.identity import audit
from gatewayd.identity.keys import calendar_feeds
from gatewayd.identity.people import invitations, memberships, users
from gatewayd.identity.people.invitations import NewInvitation
from gatewayd.identity.sign_in import sessions
from gatewayd.mail.notices import Mailing
from gatewayd.store import ReadTx, WriteTx
from tests.console.granting import grant
from tests.console.reading import Document
from tests.console.visiting import EMAIL, ISSUER, Browser, Site, open_site

BOB, DAN = "bob@example.com", "dan@example.com"


async def add(site: Site, email: str, role: Role, org_id: str | None = None) -> str:
    user_id = await site.add_user(email)
    await site.store.write(lambda tx: memberships.add(tx, user_id, role, "operator"), org_id or site.org_id)
    return user_id


async def role_of(site: Site, user_id: str) -> Role | None:
    def look(tx: ReadTx) -> Role | None:
        return memberships.role_of(tx, user_id) if memberships.is_member(tx, user_id) else None

    return await site.store.read(look, site.org_id)


async def signed_in_as(site: Site, email: str) -> Browser:
    browser = site.browser()
    await browser.sign_in(email=email)
    return browser


def names(page: Document, path: str) -> list[str]:
    """Where links of the page lead that begin so."""
    return [each for each in page.links() if each.startswith(path)]


# -- the list


async def test_the_list_has_everybody_with_role_and_last_visit(site: Site) -> None:
    bob = await add(site, BOB, "member")
    await (await signed_in_as(site, BOB)).get("/")
    page = await (await site.signed_in()).open("/members")
    assert page.heading == "People"
    assert all(text in page.text for text in ("Ann Oak (you)", EMAIL, BOB, "Owner", "Member"))
    assert page.text.count("Not lately") == 0
    assert len(names(page, "/members/remove?")) == 1  # not oneself
    assert any(bob in each for each in names(page, "/members/remove?"))
    assert len(names(page, "/members/leave?")) == 1


async def test_a_member_sees_the_list_and_changes_nothing(site: Site) -> None:
    await add(site, BOB, "member")
    await site.store.write(lambda tx: invitations.make(tx, NewInvitation(DAN, "member", site.user_id)), site.org_id)
    browser = await signed_in_as(site, BOB)
    page = await browser.open("/members")
    assert EMAIL in page.text
    assert DAN not in page.text  # who is invited is for who may invite
    assert names(page, "/members/remove?") == names(page, "/members/role?") == names(page, "/members/invite") == []
    for path in (f"/members/role?user={site.user_id}", f"/members/remove?user={site.user_id}", "/members/invite"):
        assert (await browser.get(path)).status == 403
    token = (await browser.open("/account")).token
    for path in (f"/members/role?user={site.user_id}", f"/members/remove?user={site.user_id}"):
        assert (await browser.post(path, {"csrf": token, "role": "member"})).status == 403
    assert (
        await browser.post("/members/invite", {"csrf": token, "email": "x@example.com", "role": "member"})
    ).status == 403
    assert await role_of(site, site.user_id) == "owner"


async def test_pages_of_many(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatewayd.console.people.members.PER_PAGE", 2)
    for number in range(3):
        await add(site, f"p{number}@example.com", "member")
    browser = await site.signed_in()
    first = await browser.open("/members")
    (following,) = [each for each in names(first, "/members?") if "after=" in each]
    second = await browser.open(following)
    assert ("p0@example.com" in first.text, "p1@example.com" in first.text) == (True, False)
    assert ("p0@example.com" in second.text, "p2@example.com" in second.text) == (False, True)
    assert [each for each in names(second, "/members?") if "after=" in each] == []


async def test_another_organizations_people_are_not_there(site: Site) -> None:
    other = await site.add_org("Elm", await add(site, BOB, "member"))
    browser = await site.signed_in()
    dan = await add(site, DAN, "member", other)
    assert (await browser.get(f"/members?organization={other}")).status == 404
    for path in (f"/members/role?user={dan}", f"/members/remove?user={dan}"):
        assert (await browser.get(path)).status == 404
        assert (await browser.post(path, {"csrf": (await browser.open("/account")).token})).status == 404


# -- roles


async def test_an_owner_gives_another_role(site: Site) -> None:
    bob = await add(site, BOB, "member")
    browser = await site.signed_in()
    page = await browser.open(f"/members/role?user={bob}")
    assert page.heading == "Role of Ann Oak"  # everybody is called so here
    answer = await browser.submit(page, f"/members/role?user={bob}", role="admin")
    page = (await browser.follow(answer)).page
    assert ("Ann Oak is an administrator now." in page.text, await role_of(site, bob)) == (True, "admin")
    (entry,) = [
        each
        for each in await site.store.read(audit.list_entries, site.org_id)
        if each.action == "membership.role_changed"
    ]
    assert (entry.actor, entry.subject) == (site.user_id, bob)


async def test_invitations_that_the_new_role_may_not_make_end(site: Site) -> None:
    bob = await add(site, BOB, "owner")
    await site.store.write(lambda tx: invitations.make(tx, NewInvitation(DAN, "owner", bob)), site.org_id)
    browser = await site.signed_in()
    page = await browser.open(f"/members/role?user={bob}")
    answer = await browser.submit(page, f"/members/role?user={bob}", role="admin")
    assert "1 invitation of theirs ended." in (await browser.follow(answer)).page.text
    assert await site.store.read(invitations.list_invitations, site.org_id) == []


async def test_the_last_owner_stays_one(site: Site) -> None:
    browser = await site.signed_in()
    path = f"/members/role?user={site.user_id}"
    answer = await browser.submit(await browser.open(path), path, role="member")
    assert (answer.status, "keeps at least one owner" in answer.page.text) == (422, True)
    leaving = await browser.open("/members/leave")
    assert ("only owner" in leaving.text, leaving.has_form("/members/leave")) == (True, False)
    answer = await browser.post("/members/leave", {"csrf": (await browser.open("/account")).token})
    assert (answer.status, await role_of(site, site.user_id)) == (409, "owner")


async def test_an_administrator_touches_no_owner_and_makes_none(site: Site) -> None:
    await add(site, BOB, "admin")
    dan = await add(site, DAN, "member")
    browser = await signed_in_as(site, BOB)
    page = await browser.open("/members")
    assert [each for each in names(page, "/members/") if site.user_id in each] == []
    for path in (f"/members/role?user={site.user_id}", f"/members/remove?user={site.user_id}"):
        assert (await browser.get(path)).status == 403
        assert (
            await browser.post(path, {"csrf": (await browser.open("/account")).token, "role": "member"})
        ).status == 403
    path = f"/members/role?user={dan}"
    page = await browser.open(path)
    assert "An owner does" not in page.text
    answer = await browser.submit(page, path, role="owner")
    assert (answer.status, await role_of(site, dan)) == (422, "member")
    answer = await browser.submit(page, path, role="chief")
    assert (answer.status, await role_of(site, dan)) == (422, "member")
    await browser.submit(page, path, role="admin")
    assert (await role_of(site, dan), await role_of(site, site.user_id)) == ("admin", "owner")


async def test_a_role_is_given_by_who_signed_in_lately_and_the_question_comes_back(site: Site) -> None:
    bob = await add(site, BOB, "member")
    browser = await site.signed_in()
    path = f"/members/role?user={bob}"
    page = await browser.open(path)
    site.clock.advance(RECENT + 1)
    late = await browser.submit(page, path, role="admin")
    assert late.sent_back["next"] == path
    assert (await browser.get(path)).sent_back["next"] == path
    assert await role_of(site, bob) == "member"
    sign_in = (await browser.follow(late)).page
    answer = await browser.submit(sign_in, "/sign-in", password="correct horse battery")
    assert answer.location == path
    await browser.submit((await browser.follow(answer)).page, path, role="admin")
    assert await role_of(site, bob) == "admin"


# -- the end of a membership


async def feed(site: Site, user_id: str) -> None:
    wanted = calendar_feeds.NewFeed("Phone", None, user_id, user_id)
    await site.store.write(lambda tx: calendar_feeds.create(tx, wanted), site.org_id)


async def test_what_ends_is_said_before_and_after(site: Site) -> None:
    bob = await add(site, BOB, "member")
    await feed(site, bob)
    theirs = await signed_in_as(site, BOB)
    browser = await site.signed_in()
    path = f"/members/remove?user={bob}"
    page = await browser.open(path)
    assert page.heading == "Remove Ann Oak?"
    assert "1 calendar feed ends: Phone." in page.text
    assert "They belong to nothing else, and are signed out everywhere, and passkeys are removed." in page.text
    assert await role_of(site, bob) == "member"  # asking does nothing
    answer = await browser.submit(page, path)
    shown = (await browser.follow(answer)).page
    assert "Ann Oak was removed. Ended: 1 calendar feed." in shown.text
    assert BOB not in shown.text
    assert (await theirs.get("/")).status == 303
    assert (await browser.submit(page, path)).status == 404


async def test_what_can_be_is_handed_over(site: Site) -> None:
    bob = await add(site, BOB, "member")
    await feed(site, bob)
    browser = await site.signed_in()
    path = f"/members/remove?user={bob}"
    page = await browser.open(path)
    answer = await browser.submit(page, path, taker=site.user_id)
    assert "Handed over: 1." in (await browser.follow(answer)).page.text


async def test_who_takes_over_is_a_member(site: Site) -> None:
    bob, outsider = await add(site, BOB, "member"), await site.add_user(DAN)
    await feed(site, bob)
    browser = await site.signed_in()
    path = f"/members/remove?user={bob}"
    answer = await browser.submit(await browser.open(path), path, taker=outsider)
    assert (answer.status, await role_of(site, bob)) == (409, "member")


async def test_a_member_leaves(site: Site) -> None:
    bob = await add(site, BOB, "member")
    await site.add_org("Elm", bob)
    browser = await signed_in_as(site, BOB)
    page = await browser.open(f"/members/leave?organization={site.org_id}")
    assert page.heading == "Leave Oak & Son?"
    assert "signed out" not in page.text  # they belong to another
    answer = await browser.submit(page, "/members/leave")
    assert "You left Oak & Son." in (await browser.follow(answer)).page.text
    assert await role_of(site, bob) is None


async def test_leaving_is_the_way_out_of_oneself(site: Site) -> None:
    await add(site, BOB, "owner")
    browser = await site.signed_in()
    assert (await browser.get(f"/members/remove?user={site.user_id}")).location.startswith("/members/leave?")


async def test_a_form_counts_for_the_organization_that_it_was_made_for(site: Site) -> None:
    """Whichever is chosen in another tab meanwhile."""
    bob = await add(site, BOB, "member")
    elm = await site.add_org("Elm", site.user_id)
    await site.store.write(lambda tx: memberships.add(tx, bob, "member", "operator"), elm)
    browser = await site.signed_in()
    path = f"/members/remove?user={bob}"
    page = await browser.open(path)
    token = page.token
    assert (await browser.post("/organization", {"csrf": token, "id": elm, "next": "/"})).status == 303
    await browser.submit(page, path)

    def belongs(tx: ReadTx) -> list[str]:
        return [each.org_id for each in memberships.of_user(tx, bob)]

    assert await site.store.read(belongs) == [elm]


# -- invitations


async def test_an_invitation_is_shown_once_and_revoked_after_a_question(site: Site) -> None:
    browser = await site.signed_in()
    page = await browser.open("/members/invite")
    answer = await browser.submit(page, "/members/invite", email=BOB, role="admin")
    assert answer.page.heading == "Invitation of bob@example.com"
    assert "https://books.example/sign-in/invitation/gwd_inv_" in answer.page.text
    listed = await browser.open("/members")
    assert (BOB in listed.text, "gwd_inv_" in listed.text) == (True, False)
    (way,) = names(listed, "/members/invitations/revoke?")
    asked = await browser.open(way)
    assert asked.heading == "Revoke the invitation of bob@example.com?"
    assert len(await site.store.read(invitations.list_invitations, site.org_id)) == 1
    answer = await browser.submit(asked, "/members/invitations/revoke")
    assert "The invitation of bob@example.com was revoked." in (await browser.follow(answer)).page.text
    assert await site.store.read(invitations.list_invitations, site.org_id) == []
    assert (await browser.get(way)).status == 404


@pytest.mark.parametrize(
    ("email", "role", "problem"),
    [
        ("bob", "member", "Expected an address such as name@example.com."),
        (EMAIL, "member", "is a member of this organization already"),
        (BOB, "chief", "Expected one of: owner, admin, member."),
    ],
)
async def test_what_is_wrong_stands_in_the_form(site: Site, email: str, role: str, problem: str) -> None:
    browser = await site.signed_in()
    page = await browser.open("/members/invite")
    answer = await browser.submit(page, "/members/invite", email=email, role=role)
    assert (answer.status, problem in answer.page.text) == (422, True)
    assert answer.page.field_named("Address").attributes["value"] == email


async def test_an_administrator_invites_no_owner(site: Site) -> None:
    await add(site, BOB, "admin")
    browser = await signed_in_as(site, BOB)
    page = await browser.open("/members/invite")
    assert "An owner does" not in page.text
    answer = await browser.submit(page, "/members/invite", email=DAN, role="owner")
    assert (answer.status, await site.store.read(invitations.list_invitations, site.org_id)) == (422, [])


async def test_who_invites_signed_in_lately(site: Site) -> None:
    browser = await site.signed_in()
    site.clock.advance(RECENT + 1)
    assert (await browser.get("/members/invite")).sent_back["again"] == "1"


async def test_apps_that_end_are_counted_in_words(site: Site) -> None:
    await add(site, BOB, "owner")
    await grant(site)
    browser = await signed_in_as(site, BOB)
    page = await browser.open(f"/members/remove?user={site.user_id}")
    assert "1 connected app ends: " in page.text


async def test_who_is_disabled_is_said_to_be(site: Site) -> None:
    bob = await add(site, BOB, "member")

    def disable(tx: WriteTx) -> None:
        sessions.end_all(tx, bob)
        users.disable(tx, bob, "operator")

    await site.store.write(disable)
    assert "Cannot sign in" in (await (await site.signed_in()).open("/members")).text


async def test_an_invitation_is_mailed_where_mail_is_sent(database_image: bytes, tmp_path: Path) -> None:
    async with open_site(tmp_path, database_image, mailing=Mailing(ISSUER)) as site:
        browser = await site.signed_in()
        page = await browser.open("/members/invite")
        answer = await browser.submit(page, "/members/invite", email=BOB, role="admin")
        assert f"The link is on its way to {BOB}." in answer.page.text
        [(recipient, kind, org_id)] = await site.store.read(
            lambda tx: tx.rows("SELECT recipient, kind, org_id FROM mails")
        )
        assert (recipient, kind, org_id) == (BOB, "invitation", site.org_id)
