"""The pages of API keys: made and shown once, rotated, revoked, and what each was used for."""

import secrets
from dataclasses import replace
from typing import Any

import pytest

from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.clock import DAY, HOUR, MINUTE, Instant
from gatewayd.console.developers import key_form, key_view
from gatewayd.console.developers.key_form import Around
from gatewayd.contract.holding import Held
from gatewayd.contract.scopes import KEY_SCOPES
from gatewayd.identity import audit
from gatewayd.identity.key_format import RANDOM_BYTES, checksum_ok
from gatewayd.identity.keys import api_keys, key_uses
from gatewayd.identity.keys.api_keys import ApiKey, NewKey
from gatewayd.identity.keys.key_uses import KeyUse
from gatewayd.identity.people import memberships
from gatewayd.identity.sign_in import sessions
from gatewayd.identity.tokens.authentication import ApiKeyVerifier, Authenticator
from tests.console.reading import Document, Element
from tests.console.visiting import EMAIL, Answer, Browser, Site
from tests.contract.rows import OPERATIONS
from tests.support.store import START, make_caller

PAGE, NEW = "/developers/keys", "/developers/keys/new"
BOB = "bob@example.com"


async def make(site: Site, name: str = "Till", user_id: str = "", **values: Any) -> str:
    new = NewKey(name=name, user_id=user_id or site.user_id, **{"scopes": ("vault:read",), **values})
    random = secrets.token_bytes(RANDOM_BYTES)
    return await site.store.write(lambda tx: api_keys.create(tx, new, random, audit.OPERATOR).id, site.org_id)


async def keys_of(site: Site) -> list[ApiKey]:
    return await site.store.read(api_keys.list_keys, site.org_id)


async def key_of(site: Site, key_id: str) -> ApiKey:
    return await site.store.read(lambda tx: api_keys.get(tx, key_id), site.org_id)


async def sign_in(site: Site, email: str) -> Browser:
    browser = site.browser()
    await browser.sign_in(email=email)
    return browser


async def bob(site: Site) -> tuple[str, Browser]:
    """A member, and their browser."""
    user_id = await site.add_user(BOB, site.org_id)
    return user_id, await sign_in(site, BOB)


def secret_of(page: Document) -> str:
    """The key that a page shows."""
    (found,) = [each for each in page.root.all("span") if "secret" in each.attributes.get("class", "").split()]
    return next(found.all("code")).text


async def submit(browser: Browser, **values: str | list[str]) -> Answer:
    given: dict[str, str | list[str]] = {"name": "Till", "scope": ["vault:read"], **values}
    return await browser.submit(await browser.open(NEW), NEW, **given)


async def admitted(site: Site, text: str) -> Any:
    authenticator = Authenticator((ApiKeyVerifier(),))
    return await site.store.read(lambda tx: authenticator.authenticate(tx, text, "203.0.113.7"))


def rows_of(table: Element) -> dict[str, list[str]]:
    """The rows of a table of keys by their names, without how the keys begin."""
    (body,) = table.all("tbody")
    return {next(row.all("th")).text: [cell.text for cell in row.all("td")][1:] for row in body.all("tr")}


# -- making one


async def test_a_key_is_made_and_shown_in_the_answer(site: Site) -> None:
    browser = await site.signed_in()
    page = await browser.open(NEW)
    assert "Create key" in page.buttons()
    answer = await submit(browser, scope=["vault:read", "accounting:read"], networks="203.0.113.0/24\n2001:db8::1")
    assert (answer.status, answer.page.heading) == (200, "Copy your key")
    key = secret_of(answer.page)
    assert checksum_ok(key)
    assert "the only page that shows the key" in answer.page.text
    (made,) = await keys_of(site)
    assert (made.name, made.scopes, made.role) == ("Till", ["accounting:read", "vault:read"], None)
    assert made.networks == ["203.0.113.0/24", "2001:db8::1/128"]
    assert made.expires_at == key_end(365)
    assert (await admitted(site, key)).user_id == site.user_id
    (act, *_) = await site.store.read(audit.list_entries, site.org_id)
    assert (act.actor, act.action, act.subject) == (site.user_id, "key.created", made.id)


def key_end(days: int) -> int:
    """The end of the day that is so many days ahead."""
    return ((START + days * DAY) // DAY + 1) * DAY


async def test_a_reload_of_the_answer_shows_the_same_key_and_makes_no_second(site: Site) -> None:
    browser = await site.signed_in()
    form = await browser.open(NEW)
    first = await browser.submit(form, NEW, name="Till", scope="vault:read")
    again = await browser.submit(form, NEW, name="Till", scope="vault:read")
    assert (again.status, secret_of(again.page)) == (200, secret_of(first.page))
    assert len(await keys_of(site)) == 1
    other = await browser.submit(form, NEW, name="Till", scope="vault:write")
    assert secret_of(other.page) != secret_of(first.page)
    assert len(await keys_of(site)) == 2


async def test_another_session_with_the_same_form_makes_another_key(site: Site) -> None:
    one, two = await site.signed_in(), await site.signed_in()
    form = {"name": "Till", "scope": "vault:read", "key": "same"}
    first = await one.submit(await one.open(NEW), NEW, **form)
    second = await two.submit(await two.open(NEW), NEW, **form)
    assert secret_of(first.page) != secret_of(second.page)


async def test_the_answer_says_when_the_key_has_ended_since(site: Site) -> None:
    browser = await site.signed_in()
    form = await browser.open(NEW)
    await browser.submit(form, NEW, name="Till", scope="vault:read")
    (made,) = await keys_of(site)
    await site.store.write(lambda tx: api_keys.revoke(tx, made.id, site.user_id), site.org_id)
    again = await browser.submit(form, NEW, name="Till", scope="vault:read")
    assert "This key has ended since" in again.page.problem
    assert len(await keys_of(site)) == 1


async def test_a_key_of_the_organization(site: Site) -> None:
    answer = await submit(await site.signed_in(), owner="member")
    (made,) = await keys_of(site)
    assert (made.role, made.user_id) == ("member", site.user_id)
    caller = await admitted(site, secret_of(answer.page))
    assert (caller.user_id, caller.role) == (None, "member")
    page = await (await site.signed_in()).open(f"{PAGE}/{made.id}")
    assert "has the rights of a member, and goes on when people leave" in page.text
    assert f"20 Nov 2026 by {EMAIL}" in page.text


async def test_one_that_opens_everything_has_to_be_asked_for(site: Site) -> None:
    browser = await site.signed_in()
    assert (await submit(browser, scope=[], everything="true", ends="")).status == 200
    (made,) = await keys_of(site)
    assert (made.full_access, made.expires_at) == (True, None)
    assert "Everything but taxes" in (await browser.open(PAGE)).text


@pytest.mark.parametrize(
    ("wrong", "field", "message"),
    [
        ({"scope": []}, "scopes", "Tick what the key may do."),
        ({"everything": "true"}, "scopes", "Tick either everything, or what the key may do."),
        ({"scope": ["vault:eat"]}, "scopes", "No scope 'vault:eat' of a key."),
        ({"scope": [], "everything": "true", "owner": "admin"}, "scopes", "has at least one scope"),
        ({"name": " "}, "name", ""),
        ({"ends": "2026-11-19"}, "ends", "The expiry must lie ahead."),
        ({"ends": "soon"}, "ends", "Give a day, such as 2027-04-05, or nothing."),
        ({"ends": "9999-12-31"}, "ends", "Give a day, such as 2027-04-05, or nothing."),
        ({"networks": "home"}, "networks", ""),
        ({"owner": "owner"}, "owner", "Choose whose key it is."),
        ({"first": "soon"}, "first", "Give a day, such as 2027-04-05, or nothing."),
        ({"last": "2026-02-30"}, "last", "Give a day, such as 2027-04-05, or nothing."),
        ({"first": "2026-04-06", "last": "2026-04-05"}, "last", "It is before the first day, 2026-04-06."),
        ({"first": "2026-04-06", "scope": ["vault:write"]}, "scopes", "A key that is held reads alone"),
        ({"last": "2026-04-06", "scope": [], "everything": "true"}, "scopes", "without full access"),
    ],
)
async def test_what_is_wrong_stands_at_its_field_and_the_rest_is_kept(
    site: Site, wrong: dict[str, str | list[str]], field: str, message: str
) -> None:
    answer = await submit(await site.signed_in(), **wrong)
    assert answer.status == 422
    (told,) = [each for each in answer.page.root.all("p") if each.attributes.get("id") == f"{field}-error"]
    assert message in told.text
    assert answer.page.problem != ""
    kept = {each.attributes["name"]: each.attributes.get("value", "") for each in answer.page.root.all("input")}
    assert kept["name"] == wrong.get("name", "Till")
    assert await keys_of(site) == []


async def test_all_that_is_wrong_is_said_at_once(site: Site) -> None:
    answer = await submit(await site.signed_in(), name="", scope=[], ends="soon", networks="home")
    told = {each.attributes.get("id") for each in answer.page.root.all("p")}
    assert {"name-error", "scopes-error", "ends-error", "networks-error"} <= told


async def test_a_member_makes_keys_of_their_own_alone(site: Site) -> None:
    user_id, browser = await bob(site)
    page = await browser.open(NEW)
    assert "Belongs to" not in page.text
    assert (await submit(browser)).status == 200
    refused = await submit(browser, owner="admin")
    assert (refused.status, "Owners and admins alone" in refused.page.problem) == (422, True)
    assert [key.user_id for key in await keys_of(site)] == [user_id]


async def test_whoever_makes_one_has_signed_in_lately(site: Site) -> None:
    browser = await site.signed_in()
    form = await browser.open(NEW)
    key_id = await make(site)
    site.clock.advance(16 * MINUTE)
    for path in (NEW, f"{PAGE}/{key_id}/rotate"):
        assert "again=1" in (await browser.get(path)).location
    assert "again=1" in (await browser.submit(form, NEW, name="Till", scope="vault:read")).location
    assert len(await keys_of(site)) == 1


async def test_a_key_is_made_in_the_organization_of_the_form(site: Site) -> None:
    elm = await site.add_org("Elm", site.user_id)
    browser = await site.signed_in()
    form = await browser.open(f"{NEW}?organization={elm}")
    await browser.open(f"{PAGE}?organization={site.org_id}")
    answer = await browser.submit(form, NEW, name="Till", scope="vault:read")
    assert answer.status == 200
    assert await keys_of(site) == []
    assert [key.name for key in await site.store.read(api_keys.list_keys, elm)] == ["Till"]


# -- looking


def test_every_scope_has_an_area_with_a_name() -> None:
    shown = key_form.shown(key_form.blank(START), Around("Oak", {}, True), None)
    offered = [option.value for field in shown.scopes for option in field.options]
    assert sorted(offered) == sorted(KEY_SCOPES)
    words = key_view.in_words(["vault:read", "accounting:write", "accounting:read"])
    assert words == ["Accounting: read, write", "Documents: read"]


async def test_the_list_says_what_each_key_opens_and_how_it_stands(site: Site) -> None:
    user_id, _ = await bob(site)
    await make(site, "Till", expires_at=Instant(START + 30 * DAY), networks=("10.0.0.0/8",))
    await make(site, "Warehouse", role="admin", scopes=("tax:read", "vault:read"))
    await make(site, "Phone", user_id)
    ended = await make(site, "Old")
    await site.store.write(lambda tx: api_keys.revoke(tx, ended, site.user_id), site.org_id)
    await site.store.write(lambda tx: memberships.remove(tx, user_id, "operator"), site.org_id)
    page = await (await site.signed_in()).open(PAGE)
    live, over = page.root.all("table")
    assert rows_of(live) == {
        "Phone": ["Documents: read", BOB, "Never", "Its maker has left"],
        "Warehouse": ["Documents: read; Taxes: read; Taxes wait for approval", "The organization", "Never", "Works"],
        "Till": ["Documents: read", EMAIL, "Never", "Until 20 Dec 2026"],
    }
    assert rows_of(over) == {"Old": ["Documents: read", EMAIL, "Never", "Revoked 20 Nov 2026"]}
    assert "1 ended" in page.text


async def test_a_member_sees_their_own(site: Site) -> None:
    user_id, browser = await bob(site)
    theirs, others = await make(site, "Phone", user_id), await make(site, "Till")
    organizations = await make(site, "Warehouse", role="member")
    page = await browser.open(PAGE)
    assert list(rows_of(next(page.root.all("table")))) == ["Phone"]
    assert (await browser.get(f"{PAGE}/{theirs}")).status == 200
    for key_id in (others, organizations, "key_none"):
        for path in ("", "/rotate", "/revoke"):
            assert (await browser.get(f"{PAGE}/{key_id}{path}")).status == 404


async def test_a_stranger_sees_none(site: Site) -> None:
    user_id = await site.add_user(BOB)
    key_id, browser = await make(site), await sign_in(site, BOB)
    assert "You belong to no organization yet." in (await browser.open(PAGE)).text
    assert (await browser.get(NEW)).status == 404
    assert (await browser.get(f"{PAGE}/{key_id}")).status == 404
    form = {"csrf": (await browser.open("/account")).token, "key": "x", "name": "x", "scope": "vault:read"}
    assert (await browser.post(NEW, {**form, "organization": site.org_id})).status == 404
    for path in ("rotate", "revoke"):
        assert (await browser.post(f"{PAGE}/{key_id}/{path}", form)).status == 404
    assert [key.revoked_at for key in await keys_of(site)] == [None]
    await site.add_org("Elm", user_id)
    for path in (PAGE, NEW):
        assert (await browser.get(f"{path}?organization={site.org_id}")).status == 404


async def test_what_a_key_was_used_for_stands_on_its_page(site: Site) -> None:
    key_id = await make(site)
    browser = await site.signed_in()
    assert "Nothing in the last 90 days." in (await browser.open(f"{PAGE}/{key_id}")).text
    counts = {KeyUse(key_id, "vault.listDocuments"): 3, KeyUse(key_id, "vault.gone"): 1}
    await site.store.write(lambda tx: key_uses.add(tx, counts))
    site.clock.advance(DAY)
    await site.store.write(lambda tx: key_uses.add(tx, {KeyUse(key_id, "vault.gone"): 4}))
    page = await (await site.signed_in()).open(f"{PAGE}/{key_id}")
    table = list(page.root.all("table"))[-1]
    search, listing = [[cell.text for cell in row.all("td")] for row in table.all("tr")][1:]
    assert search == ["vault.gone", "5", "20 Nov 2026", "just now"]
    assert listing == ["vault.listDocuments", "3", "20 Nov 2026", "1 day ago"]
    assert [cell.text for cell in table.all("th")][-2:] == [
        "What this server does no more",
        "List the documents of all folders",
    ]
    figures = [[cell.text for cell in row.all("th", "td")] for row in next(page.root.all("table")).all("tr")]
    assert figures[-2:] == [["20 Nov 2026", "4"], ["21 Nov 2026", "4"]]


# -- held to legal entities and days


async def people(site: Site, *names: str) -> list[str]:
    """Legal entities of the organization."""
    caller = make_caller(site.org_id)
    wanted = [CreateLegalEntity(name=name, type="individual") for name in names]
    return await site.store.write(lambda tx: [create_legal_entity(tx, caller, each).id for each in wanted], site.org_id)


async def test_a_key_is_held_to_legal_entities_by_name_and_to_days(site: Site) -> None:
    ann, ben = await people(site, "Ann Oak", "Ben Oak")
    browser = await site.signed_in()
    page = await browser.open(NEW)
    offered = [each for each in page.root.all("input") if each.attributes.get("name") == "entity"]
    assert [each.attributes["value"] for each in offered] == [ann, ben]
    assert "Ann Oak" in page.text
    answer = await submit(browser, entity=[ann], first="2026-04-06", last="2027-04-05")
    held = Held(entities=frozenset({ann}), first="2026-04-06", last="2027-04-05")
    assert (await admitted(site, secret_of(answer.page))).held == held
    (made,) = await keys_of(site)
    shown = (await browser.open(f"{PAGE}/{made.id}")).text
    assert "What is Ann Oak's" in shown
    assert "Days from 6 Apr 2026 to 5 Apr 2027" in shown
    assert "Ben Oak" not in shown


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        ("2026-04-06", None, "Days from 6 Apr 2026 on"),
        (None, "2026-04-05", "Days up to 5 Apr 2026"),
    ],
)
async def test_the_page_of_a_key_says_which_days(site: Site, first: str | None, last: str | None, said: str) -> None:
    key_id = await make(site, held=Held(entities=None, first=first, last=last))
    assert said in (await (await site.signed_in()).open(f"{PAGE}/{key_id}")).text


async def test_a_key_that_is_held_to_nothing_says_so(site: Site) -> None:
    key_id = await make(site)
    assert "Nothing: all that it opens" in (await (await site.signed_in()).open(f"{PAGE}/{key_id}")).text


async def test_what_another_organizations_is_is_not_offered_and_not_taken(site: Site) -> None:
    user_id, _ = await bob(site)
    other = await site.add_org("Elm", user_id)
    caller, wanted = make_caller(other), CreateLegalEntity(name="Elm Person", type="individual")
    theirs = await site.store.write(lambda tx: create_legal_entity(tx, caller, wanted).id, other)
    browser = await site.signed_in()
    page = await browser.open(NEW)
    assert "Legal entities" not in [each.text for each in page.root.all("legend")]
    form = {"csrf": page.token, "name": "Till", "scope": "vault:read", "key": "one", "entity": theirs}
    assert (await browser.post(NEW, form)).status == 422
    assert await keys_of(site) == []


# -- another in its place


async def test_a_key_is_rotated_and_the_one_before_goes_on(site: Site) -> None:
    key_id, browser = await make(site), await site.signed_in()
    path = f"{PAGE}/{key_id}/rotate"
    form = await browser.open(path)
    answer = await browser.submit(form, path, overlap="1h")
    assert (answer.status, answer.page.heading) == (200, "Copy your key")
    assert "goes on until 20 Nov 2026" in answer.page.text
    old = await key_of(site, key_id)
    assert (await admitted(site, secret_of(answer.page))).credential_id == old.replaced_by
    assert old.expires_at == site.clock.now() + HOUR
    again = await browser.submit(form, path, overlap="1h")
    assert secret_of(again.page) == secret_of(answer.page)
    assert len(await keys_of(site)) == 2
    assert "Replaced byAnother key" in (await browser.open(f"{PAGE}/{key_id}")).text
    other = await browser.post(path, {"csrf": form.token, "key": "other", "overlap": "0"})
    assert (other.status, "rotated already" in other.page.problem) == (422, True)


async def test_a_key_is_rotated_without_overlap(site: Site) -> None:
    key_id, browser = await make(site), await site.signed_in()
    path = f"{PAGE}/{key_id}/rotate"
    answer = await browser.submit(await browser.open(path), path, overlap="0")
    assert "is refused from now on." in answer.page.text


async def test_nobody_rotates_what_acts_for_somebody_else(site: Site) -> None:
    user_id, browser = await bob(site)
    theirs = await make(site, "Phone", user_id)
    ann = await site.signed_in()
    assert (await ann.get(f"{PAGE}/{theirs}")).status == 200
    assert (await ann.get(f"{PAGE}/{theirs}/rotate")).status == 404
    form = {"csrf": (await ann.open("/account")).token, "key": "x"}
    assert (await ann.post(f"{PAGE}/{theirs}/rotate", form)).status == 404
    assert (await browser.get(f"{PAGE}/{theirs}/rotate")).status == 200
    assert len(await keys_of(site)) == 1


async def test_whoever_leads_rotates_what_is_the_organizations(site: Site) -> None:
    carol = await site.add_user("carol@example.com", site.org_id)
    await site.store.write(lambda tx: memberships.change_role(tx, carol, "admin", "operator"), site.org_id)
    key_id, browser = await make(site, role="member"), await sign_in(site, "carol@example.com")
    path = f"{PAGE}/{key_id}/rotate"
    assert (await browser.submit(await browser.open(path), path)).status == 200


# -- its end


async def test_a_key_is_revoked_once_that_is_confirmed(site: Site) -> None:
    key_id, browser = await make(site), await site.signed_in()
    assert f"{PAGE}/{key_id}/revoke" in (await browser.open(f"{PAGE}/{key_id}")).links()
    asked = await browser.open(f"{PAGE}/{key_id}/revoke")
    assert (asked.heading, asked.buttons()) == ("Revoke Till?", ["Revoke"])
    assert "It was never used." in asked.text
    assert (await key_of(site, key_id)).revoked_at is None
    done = await browser.submit(asked, f"{PAGE}/{key_id}/revoke")
    assert "The key Till was revoked." in (await browser.follow(done)).page.text
    assert "was revoked" not in (await browser.open(PAGE)).text
    revoked = (await key_of(site, key_id)).revoked_at
    assert revoked is not None
    site.clock.advance(MINUTE)
    await browser.submit(asked, f"{PAGE}/{key_id}/revoke")
    assert (await key_of(site, key_id)).revoked_at == revoked
    assert (await browser.get(f"{PAGE}/{key_id}/revoke")).status == 404


async def test_owners_revoke_what_others_made(site: Site) -> None:
    user_id, _ = await bob(site)
    key_id, browser = await make(site, "Phone", user_id), await site.signed_in()
    await browser.submit(await browser.open(f"{PAGE}/{key_id}/revoke"), f"{PAGE}/{key_id}/revoke")
    assert (await key_of(site, key_id)).revoked_at is not None


def test_what_a_form_makes_is_its_own() -> None:
    made = {
        sessions.bytes_of_form(token, *entered)
        for token in ("a", "b")
        for entered in (("x",), ("x", ""), ("x", "y"), ("xy",), ("y", "x"))
    }
    assert (len(made), {len(each) for each in made}) == (10, {RANDOM_BYTES})


async def test_the_page_of_a_key_is_of_its_organization_whichever_was_chosen(site: Site) -> None:
    elm = await site.add_org("Elm", site.user_id)
    new = NewKey(name="Barn", user_id=site.user_id)
    made = await site.store.write(lambda tx: api_keys.create(tx, new, bytes(RANDOM_BYTES), audit.OPERATOR), elm)
    browser = await site.signed_in()
    page = await browser.open(f"{PAGE}/{made.id}")
    assert "All keys of Elm" in page.text
    asked = await browser.open(f"{PAGE}/{made.id}/revoke")
    await browser.submit(asked, f"{PAGE}/{made.id}/revoke")
    assert (await site.store.read(lambda tx: api_keys.get(tx, made.id), elm)).revoked_at is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("List portfolios, newest first, or in the order of `updatedSince`.", "List portfolios"),
        ("Get an invoice.\n\nWith its lines.", "Get an invoice"),
        (None, "crm.listLeads"),
    ],
)
def test_operations_are_named_in_few_words(text: str | None, words: str) -> None:
    def handler() -> None: ...

    handler.__doc__ = text
    row = next(each for each in OPERATIONS if each.id == "crm.listLeads")
    assert key_view.words_of(replace(row, handler=handler)) == words
