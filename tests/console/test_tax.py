"""The page of tax access: what stands there, and asking for access."""

from pathlib import Path

import pytest

from gatewayd.clock import DAY
from gatewayd.console.books.tax_access import ORGANIZATIONS_SHOWN
from gatewayd.console.books.tax_view import CALLS_SHOWN
from gatewayd.contract.caller import Role
from gatewayd.identity.clients import grant_lists
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import memberships
from gatewayd.tax import approvals
from gatewayd.tax.approvals import ATTESTATION_MAX, Subject
from gatewayd.tax.settings import TaxSettings
from tests.console.granting import grant
from tests.console.reading import Document
from tests.console.taxing import (
    DECLARED,
    PAGE,
    Line,
    approve,
    ask,
    called,
    connect,
    key,
    lines,
    request,
    standing,
    token,
)
from tests.console.visiting import Browser, Site, open_site

BOB = "bob@example.com"


async def bob(site: Site) -> tuple[str, Browser]:
    """A member of Ann's organization, signed in."""
    user_id = await site.add_user(BOB, site.org_id)
    browser = site.browser()
    await browser.sign_in(email=BOB)
    return user_id, browser


async def connected_app(site: Site) -> str:
    """The id of an app that Ann has connected."""
    await grant(site)
    (connected,) = await site.store.read(grant_lists.of_org, site.org_id)
    return connected.client_id


def rows(page: Document) -> list[list[str]]:
    """The cells of every table."""
    return [[cell.text for cell in row.all("th", "td")] for row in page.root.all("tr") if list(row.all("td"))]


def choices(page: Document) -> list[str]:
    return [each.attributes["value"] for each in page.root.all("option")]


# -- what stands there


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (TaxSettings(), "has no way to a tax authority"),
        (TaxSettings(mode="sandbox"), "answers with made-up figures"),
        (TaxSettings(mode="forward", upstream="https://tax.example/x"), "another service, tax.example,"),
        (TaxSettings(mode="hmrc", upstream="https://api.service.hmrc.gov.uk"), "has yet to register it there"),
        (
            TaxSettings(mode="hmrc", upstream="https://test-api.service.hmrc.gov.uk", client_id="app"),
            "the test service of the tax authority",
        ),
    ],
)
async def test_each_mode_is_said_in_a_sentence(
    tmp_path: Path, database_image: bytes, settings: TaxSettings, words: str
) -> None:
    async with open_site(tmp_path, database_image, settings) as site:
        page = await (await site.signed_in()).open(PAGE)
    assert words in page.text
    assert ("Connect" in page.buttons()) is settings.connects


async def test_what_access_is_and_how_everything_stands(site: Site) -> None:
    approved, refused = await key(site, "tax:read", name="Till"), await key(site, name="Old")
    await key(site, "tax:read", "tax:write", name="New")
    await key(site, name="Legacy")
    await key(site, "accounting:read", name="Shop")
    revoked = await key(site, "tax:read", name="Gone")
    await site.store.write(lambda tx: api_keys.revoke(tx, revoked, "operator"), site.org_id)
    await approve(site, Subject("key", approved))
    await site.store.write(lambda tx: approvals.refuse(tx, Subject("key", refused), "No <terms>", "operator"))
    page = await (await site.signed_in()).open(PAGE)
    assert page.heading == "Tax access"
    assert "tax:write Submit filings to the tax authority on the user's behalf." in page.text
    assert [(row[0], row[2]) for row in rows(page)] == [
        ("Legacy", "Not asked"),
        ("New", "Waiting since 20 Nov 2026; nothing is declared yet"),
        ("Old", "Refused 20 Nov 2026: No <terms>"),
        ("Till", "Approved 20 Nov 2026"),
    ]
    assert "1 more was made without a tax scope" in page.text
    assert len(choices(page)) == 3
    assert f"key:{approved}" not in choices(page)


async def test_the_last_calls(site: Site) -> None:
    browser = await site.signed_in()
    assert "No tax operation was called yet." in (await browser.open(PAGE)).text
    await called(site, 0)
    await called(site, 1, 403, "tax_not_connected")
    await called(site, 2, 0)
    found = rows(await browser.open(PAGE))
    assert [row[1:] for row in found] == [
        ["List VAT obligations, by their start", "the caller had gone", "corr-2"],
        ["List VAT obligations, by their start", "403 tax_not_connected", "none"],
        ["List VAT obligations, by their start", "200", "corr-0"],
    ]
    assert found[0][0] == "20 Nov 2026, 09:30 UTC"
    for number in range(CALLS_SHOWN):
        await called(site, 100 + number)
    found = rows(await browser.open(PAGE))
    assert (len(found), found[0][3]) == (CALLS_SHOWN, f"corr-{99 + CALLS_SHOWN}")


async def test_somebody_of_no_organization(site: Site) -> None:
    await site.add_user(BOB)
    browser = site.browser()
    await browser.sign_in(email=BOB)
    assert "You belong to no organization yet." in (await browser.open(PAGE)).text


async def test_many_organizations(site: Site) -> None:
    ids = [await site.add_org(f"Firm {number}", site.user_id) for number in range(ORGANIZATIONS_SHOWN + 1)]
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    assert len(list(page.root.all("section"))) == ORGANIZATIONS_SHOWN
    last = f"{PAGE}?organization={ids[-1]}"
    assert last in page.links()
    page = await browser.open(last)
    assert [each.text for each in page.root.all("h2")] == [f"Firm {ORGANIZATIONS_SHOWN}"]
    assert PAGE in page.links()
    stranger = await site.add_user("eve@example.com")
    elsewhere = await site.add_org("Elm Ltd", stranger)
    for org_id in (elsewhere, "org_x", ""):
        assert (await browser.get(f"{PAGE}?organization={org_id}")).status == 404


# -- asking


async def test_asking_is_recorded_word_for_word_with_one_line(site: Site) -> None:
    subject = Subject("key", await key(site, name="Legacy"))
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    field = page.field_named("Attestation")
    assert (field.tag, field.attributes["maxlength"], "required" in field.attributes) == ("textarea", "4000", True)
    typed = DECLARED.replace("\n", "\r\n")  # as browsers send it
    answer = await browser.submit(page, f"{PAGE}/request", subject=f"key:{subject.id}", attestation=typed)
    assert answer.location == f"{PAGE}?organization={site.org_id}"
    assert "Tax access was asked for." in (await browser.follow(answer)).page.text
    found = await standing(site, subject)
    assert (found.status, found.attestation, found.by) == ("pending", DECLARED, site.user_id)
    assert await lines(site) == [Line(site.user_id, "key.tax_requested", subject.id, site.org_id)]
    page = (await browser.follow(answer)).page
    assert [row[2] for row in rows(page)] == ["Waiting since 20 Nov 2026"]


async def test_asking_twice_is_asking_once_unless_something_else_is_declared(site: Site) -> None:
    subject = Subject("key", await key(site, "tax:read"))
    browser = await site.signed_in()
    for _ in range(2):
        assert (await request(browser, site, subject)).status == 303
    assert len(await lines(site)) == 1
    assert (await request(browser, site, subject, "Something else.")).status == 303
    assert (await standing(site, subject)).attestation == "Something else."
    assert len(await lines(site)) == 2
    assert len(await site.store.read(approvals.list_requests)) == 1


@pytest.mark.parametrize(
    ("declared", "status", "words"),
    [
        ("", 422, "Write what is declared"),
        (" \r\n\t", 422, "Write what is declared"),
        ("x" * (ATTESTATION_MAX + 1), 422, "At most 4000 characters."),
        ("x" * (3 * ATTESTATION_MAX + 1), 400, "not complete"),
    ],
)
async def test_what_is_declared_is_wanted_and_has_a_limit(site: Site, declared: str, status: int, words: str) -> None:
    first, second = await key(site, "tax:read"), await key(site, "tax:read")
    browser = await site.signed_in()
    answer = await request(browser, site, Subject("key", first), declared)
    assert (answer.status, words in answer.page.text) == (status, True)
    assert await lines(site) == []
    if status == 422:
        (chosen,) = [each for each in answer.page.root.all("option") if "selected" in each.attributes]
        assert chosen.attributes["value"] == f"key:{first}" != f"key:{second}"
        assert answer.page.field_named("Attestation").text == declared.strip()
        assert answer.page.field_named("Attestation").attributes["aria-describedby"].startswith("problem ")


async def test_the_longest_declaration_of_the_widest_characters_fits(site: Site) -> None:
    subject = Subject("key", await key(site, "tax:read"))
    browser = await site.signed_in()
    declared = "🧾" * ATTESTATION_MAX
    answer = await request(browser, site, subject, declared)
    assert answer.status == 303
    assert (await standing(site, subject)).attestation == declared


async def test_for_what_is_not_there_nobody_asks(site: Site) -> None:
    stranger = await site.add_user("eve@example.com")
    elsewhere = await site.add_org("Elm Ltd", stranger)
    foreign = await key(site, "tax:read", org_id=elsewhere, user_id=stranger)
    useless, revoked = await key(site, "accounting:read"), await key(site, "tax:read")
    await site.store.write(lambda tx: api_keys.revoke(tx, revoked, "operator"), site.org_id)
    client = await site.register(name="Unused")
    browser = await site.signed_in()
    for subject in (
        Subject("key", foreign),
        Subject("key", "key_x"),
        Subject("key", useless),
        Subject("key", revoked),
        Subject("client", client.id),
        Subject("client", "app_x"),
    ):
        assert (await request(browser, site, subject)).status == 404, subject
    form = {"csrf": await token(browser), "attestation": DECLARED, "subject": f"key:{foreign}"}
    for org_id in (elsewhere, "org_x"):
        assert (await browser.post(f"{PAGE}/request", {**form, "organization": org_id})).status == 404
    assert (await browser.post(f"{PAGE}/request", form)).status == 400
    assert await lines(site) == []


async def test_what_is_approved_is_not_asked_for_again(site: Site) -> None:
    subject = Subject("key", await key(site, "tax:read"))
    browser = await site.signed_in()
    await approve(site, subject)
    answer = await request(browser, site, subject)
    assert (answer.status, "has access already" in answer.page.problem) == (422, True)
    assert "There is nothing to ask for now." in answer.page.text
    assert (await standing(site, subject)).status == "approved"


# -- members


async def test_a_member_asks_for_their_own_keys_alone(site: Site) -> None:
    anns = Subject("key", await key(site, "tax:read", name="Anns"))
    user_id, browser = await bob(site)
    own = Subject("key", await key(site, "tax:read", name="Bobs", user_id=user_id))
    page = await browser.open(PAGE)
    assert [row[0] for row in rows(page)] == ["Bobs"]
    assert "Your API keys" in page.text
    assert (await request(browser, site, anns)).status == 404
    assert (await request(browser, site, own)).status == 303
    assert await lines(site) == [Line(user_id, "key.tax_requested", own.id, site.org_id)]


@pytest.mark.parametrize("role", ["admin", "owner"])
async def test_owners_and_admins_ask_for_everybodys(site: Site, role: Role) -> None:
    anns = Subject("key", await key(site, "tax:read"))
    user_id, browser = await bob(site)
    await site.store.write(lambda tx: memberships.change_role(tx, user_id, role, "operator"), site.org_id)
    assert (await request(browser, site, anns)).status == 303
    assert (await standing(site, anns)).by == user_id


async def test_a_member_who_was_removed_asks_for_nothing(site: Site) -> None:
    user_id, browser = await bob(site)
    own = Subject("key", await key(site, "tax:read", user_id=user_id))
    await site.store.write(lambda tx: memberships.remove(tx, user_id, "operator"), site.org_id)
    assert (await request(browser, site, own)).status == 404


# -- apps


async def test_apps_stand_there_as_keys_do(site: Site) -> None:
    client_id = await connected_app(site)
    subject = Subject("client", client_id)
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    assert [row[1:] for row in rows(page)] == [["Sprout", "Not asked"]]
    answer = await browser.submit(page, f"{PAGE}/request", subject=f"client:{client_id}", attestation=DECLARED)
    assert answer.status == 303
    assert await lines(site) == [Line(site.user_id, "client.tax_requested", client_id, None)]
    await approve(site, subject)
    page = await browser.open(PAGE)
    assert "Approved 20 Nov 2026. Connect the app again" in rows(page)[0][2]
    assert choices(page) == []


async def test_nobody_replaces_what_another_declared_of_an_app(site: Site) -> None:
    """It is everybody's: people of other organizations see that it waits, and no more."""
    client_id = await connected_app(site)
    await ask(site, Subject("client", client_id), DECLARED, "usr_elsewhere")
    browser = await site.signed_in()
    page = await browser.open(PAGE)
    assert rows(page)[0][2] == "Waiting since 20 Nov 2026"
    assert DECLARED not in page.text
    assert choices(page) == []
    answer = await request(browser, site, Subject("client", client_id), "Mine.")
    assert (answer.status, "Somebody else has asked" in answer.page.text) == (422, True)
    assert (await standing(site, Subject("client", client_id))).attestation == DECLARED


async def test_an_app_of_somebody_else_is_for_owners_and_admins(site: Site) -> None:
    client_id = await connected_app(site)
    _, browser = await bob(site)
    page = await browser.open(PAGE)
    assert "No app is connected." in page.text
    assert (await request(browser, site, Subject("client", client_id))).status == 404


async def test_whoever_approves_an_app_sees_every_host_that_it_may_send_people_to(site: Site) -> None:
    client = await site.register(*(f"https://host{number}.example/" for number in range(9)))
    await ask(site, Subject("client", client.id))
    await site.add_user("root@example.com", admin=True)
    browser = site.browser()
    await browser.sign_in(email="root@example.com")
    text = (await browser.open("/admin/tax")).text
    assert [f"host{number}.example" in text for number in range(9)] == [True] * 9


# -- the overview


async def test_a_connection_that_ends_is_told_on_the_overview(site: Site) -> None:
    browser = await site.signed_in()
    assert "tax authority" not in (await browser.open("/")).text
    await connect(site, expires_in=31 * 86_400)
    assert "tax authority" not in (await browser.open("/")).text
    site.clock.advance(DAY)
    assert "The connection of Oak & Son to the tax authority ends on 21 Dec 2026." in (await browser.open("/")).text
    assert "The connection ends on 21 Dec 2026." in (await browser.open(PAGE)).text
    site.clock.advance(30 * DAY)
    page = await (await site.signed_in()).open("/")
    assert "to the tax authority ended on 21 Dec 2026." in page.text
    _, member = await bob(site)
    assert "tax authority" not in (await member.open("/")).text
