"""The pages of an invitation: with an account, without one, and for somebody else."""

import pytest
from soft_webauthn import SoftWebauthnDevice

from gatewayd.contract.caller import Role
from gatewayd.identity.people import invitations, memberships, users
from gatewayd.identity.people.invitations import NewInvitation
from gatewayd.identity.sign_in import passkeys
from gatewayd.store import ReadTx
from tests.console.visiting import ISSUER, PASSWORD, Site
from tests.identity.test_passkeys import as_json, options_of

BOB = "bob@example.com"
DEAD = (404, "This link does not work any more")


async def invite(site: Site, email: str = BOB, role: Role = "admin") -> str:
    """The path of an invitation of Ann's."""
    wanted = NewInvitation(email, role, site.user_id)
    made = await site.store.write(lambda tx: invitations.make(tx, wanted), site.org_id)
    return f"/sign-in/invitation/{made[1]}"


async def roles(site: Site) -> dict[str, Role]:
    def look(tx: ReadTx) -> dict[str, Role]:
        return {users.get(tx, each.user_id).email: each.role for each in memberships.list_members(tx)}

    return await site.store.read(look, site.org_id)


async def test_who_has_no_account_makes_one_and_is_in(site: Site) -> None:
    path = await invite(site)
    browser, late = site.browser(), site.browser()
    await browser.get(path, "HEAD")  # whatever looks ahead uses nothing up
    page, other = await browser.open(path), await late.open(path)
    assert page.heading == "Join Oak & Son"
    assert "Ann Oak invites bob@example.com to join Oak & Son as an administrator." in page.text
    answer = await browser.submit(page, f"{path}/new", name="Bob Elm", new="a long enough password")
    assert answer.location == "/members"
    assert (await roles(site))[BOB] == "admin"
    assert (await browser.get("/account")).status == 200
    assert (await site.browser().sign_in("a long enough password", BOB)).location == "/"
    again = await late.submit(other, f"{path}/new", name="Eve", new="a long enough password")
    assert (again.status, again.page.heading) == DEAD
    assert (await late.get(path)).status == 404


@pytest.mark.parametrize(
    ("name", "password", "problem"),
    [
        ("Bob", "short", "A password has 10 to 1024 characters."),
        (" ", "a long enough password", "A name has 1 to 160 characters."),
    ],
)
async def test_what_is_wrong_is_said_and_uses_nothing_up(site: Site, name: str, password: str, problem: str) -> None:
    path = await invite(site)
    browser = site.browser()
    answer = await browser.submit(await browser.open(path), f"{path}/new", name=name, new=password)
    assert (answer.status, answer.page.problem) == (422, problem)
    assert answer.page.field_named("Your name").attributes["value"] == name
    answer = await browser.submit(answer.page, f"{path}/new", name="Bob", new="a long enough password")
    assert answer.location == "/members"


async def test_an_account_with_a_passkey_alone(site: Site) -> None:
    path = await invite(site)
    browser, device = site.browser(), SoftWebauthnDevice()
    page = await browser.open(path)
    assert page.has_form(f"{path}/passkey")
    given = await browser.post(f"{path}/passkey/options", {"csrf": page.token})
    credential = as_json(device.create(options_of(given.body.decode()), ISSUER))
    forged = await browser.submit(page, f"{path}/passkey", name="Bob", credential=credential.replace("a", "b"))
    assert (forged.status, "could not be added" in forged.page.problem) == (422, True)
    assert BOB not in await roles(site)
    answer = await browser.submit(forged.page, f"{path}/passkey", name="Bob", credential=credential)
    assert answer.location == "/members"
    user = await site.store.read(lambda tx: users.find(tx, BOB))
    assert user is not None
    (passkey,) = await site.store.read(lambda tx: passkeys.of_user(tx, user.id))
    assert passkey.user_id == user.id
    assert (await browser.get("/account")).status == 200
    assert (await site.browser().sign_in(email=BOB)).status == 422  # there is no password


async def test_a_challenge_for_a_passkey_is_for_who_has_no_account(site: Site) -> None:
    await site.add_user(BOB)
    path = await invite(site)
    browser = site.browser()
    token = (await browser.open("/sign-in")).token
    assert (await browser.post(f"{path}/passkey/options", {"csrf": token})).status == 404
    assert (await browser.post("/sign-in/invitation/x/passkey/options", {"csrf": token})).status == 404


async def test_who_has_an_account_signs_in_and_joins(site: Site) -> None:
    await site.add_user(BOB)
    path = await invite(site, "BOB@example.com", "member")
    browser = site.browser()
    page = await browser.open(path)
    assert not page.has_form(f"{path}/new")
    (way,) = [each for each in page.links() if each.startswith("/sign-in?")]
    page = await browser.open(way)
    assert page.field_named("Email").attributes["value"] == "BOB@example.com"
    answer = await browser.submit(page, "/sign-in", password=PASSWORD)
    assert answer.location == path
    page = (await browser.follow(answer)).page
    assert page.buttons() == ["Join Oak & Son"]
    assert (await browser.submit(page, path)).location == "/members"
    assert (await roles(site))[BOB] == "member"
    assert (await browser.submit(page, path)).status == 404


async def test_it_is_for_nobody_else(site: Site) -> None:
    """Neither for who is signed in as another, nor by a form that their page does not have."""
    await site.add_user("eve@example.com")
    await site.add_user(BOB)
    path = await invite(site)
    browser = site.browser()
    await browser.sign_in(email="eve@example.com")
    page = await browser.open(path)
    assert "for whom this invitation is not" in page.text
    assert not page.has_form(path)
    answer = await browser.post(path, {"csrf": (await browser.open("/account")).token})
    assert (answer.status, answer.page.problem) == (422, f"This invitation is for {BOB}.")
    assert "eve@example.com" not in await roles(site)


async def test_who_is_signed_in_as_another_may_make_the_account(site: Site) -> None:
    """They are told that they are signed out of the one they are in, and they are."""
    path = await invite(site)
    browser = await site.signed_in()
    page = await browser.open(path)
    assert "Making another account signs you out of that one here." in page.text
    answer = await browser.submit(page, f"{path}/new", name="Bob", new="a long enough password")
    assert BOB in (await browser.open("/account")).text
    assert (answer.location, await roles(site)) == ("/members", {"ann@example.com": "owner", BOB: "admin"})


async def test_nobody_makes_a_second_account_of_an_address(site: Site) -> None:
    path = await invite(site)
    browser = site.browser()
    page = await browser.open(path)
    await site.add_user(BOB)
    answer = await browser.submit(page, f"{path}/new", name="Bob", new="a long enough password")
    assert (answer.status, "already" in answer.page.problem) == (422, True)
    assert BOB not in await roles(site)


async def test_a_stranger_is_led_to_the_sign_in_and_back(site: Site) -> None:
    path = await invite(site)
    browser = site.browser()
    token = (await browser.open(path)).token
    answer = await browser.post(path, {"csrf": token})
    assert answer.location == f"/sign-in?next={path.replace('/', '%2F')}"


async def test_a_member_is_told_so(site: Site) -> None:
    path = await invite(site)
    await site.add_user(BOB, site.org_id)
    browser = site.browser()
    await browser.sign_in(email=BOB)
    page = await browser.open(path)
    assert ("You belong to it already." in page.text, page.has_form(path)) == (True, False)
    assert (await browser.post(path, {"csrf": (await browser.open("/account")).token})).status == 422
    assert (await roles(site))[BOB] == "member"


async def test_what_ended_says_so_at_every_way_in(site: Site) -> None:
    path = await invite(site)
    browser = site.browser()
    page = await browser.open(path)
    (made,) = await site.store.read(invitations.list_invitations, site.org_id)
    await site.store.write(lambda tx: invitations.revoke(tx, made.id, site.user_id), site.org_id)
    for answer in (
        await browser.get(path),
        await browser.submit(page, f"{path}/new", name="Bob", new="a long enough password"),
        await browser.submit(page, f"{path}/passkey", name="Bob", credential="{}"),
    ):
        assert (answer.status, answer.page.heading) == DEAD
    assert BOB not in await roles(site)
