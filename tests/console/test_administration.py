"""The pages of administration: organizations, people, OAuth clients, the audit log. Nobody else finds them."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio
from joserfc.jwk import ECKey

from gatewayd.clock import DAY, MINUTE
from gatewayd.console.administration.administrators import PAGE_ROWS
from gatewayd.identity import audit
from gatewayd.identity.audit import Act, Action
from gatewayd.identity.clients import client_secrets, own_clients
from gatewayd.identity.clients.own_clients import NewClient
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.identity.sign_in import sessions
from gatewayd.store import WriteTx
from tests.console.administering import ROOT, administrator
from tests.console.reading import Document
from tests.console.visiting import EMAIL, PASSWORD, Browser, Site

HTML_MOST = 40_000
CALLBACK = "https://till.example/callback"


def names(page: Document) -> list[str]:
    """What the rows of the table are called."""
    return [each.text for each in page.root.all("th") if each.attributes.get("scope") == "row"]


def row_of(page: Document, name: str) -> str:
    return next(each.text for each in page.root.all("tr") if each.text.startswith(name))


def next_page(page: Document) -> str | None:
    return next((each.attributes["href"] for each in page.root.all("a") if each.attributes.get("rel") == "next"), None)


async def token(browser: Browser) -> str:
    return (await browser.open("/account")).token


async def actions(site: Site, prefix: str = "") -> list[str]:
    found = await site.store.read(lambda tx: audit.list_all(tx, 1000))
    return [entry.action for entry in reversed(found) if entry.action.startswith(prefix)]


async def client_of(site: Site, name: str = "Till") -> str:
    new = NewClient(name=name, redirect_uris=[CALLBACK], kind="secret")
    return (await site.store.write(lambda tx: own_clients.register(tx, new, "operator"))).client.id


# -- who


def admin_rules(site: Site, method: str) -> list[str]:
    rules = [rule for rule in site.app.url_map.iter_rules() if rule.rule.startswith("/admin")]
    return [rule.rule for rule in rules if method in (rule.methods or ())]


@pytest.mark.parametrize("role", ["owner", "admin", "member"])
async def test_others_find_none_of_them(site: Site, role: Any) -> None:
    client_id = await client_of(site)
    other = await site.add_user("bob@example.com")
    await site.store.write(lambda tx: memberships.add(tx, other, role, "operator"), site.org_id)
    browser = site.browser()
    await browser.sign_in(email="bob@example.com")
    ids = {"org_id": site.org_id, "user_id": site.user_id, "client_id": client_id}

    def address(rule: str) -> str:
        return re.sub("<([^>]+)>", lambda found: ids[found[1]], rule)

    asked = admin_rules(site, "GET")
    assert len(asked) > 8
    for rule in asked:
        assert (await browser.get(address(rule))).status == 404, rule
    form = {"csrf": await token(browser), "reason": "x", "name": "x", "redirectUris": CALLBACK, "kind": "secret"}
    before = await actions(site)
    for rule in admin_rules(site, "POST"):
        assert (await browser.post(address(rule), {**form, "kind": "key", "subject": "x", "request": ""})).status == 404
        assert (await site.browser().get(address(rule))).status in (303, 405)
    assert await actions(site) == before
    page = await browser.open("/")
    assert not any(link.startswith("/admin") for link in page.links())


async def test_an_administrator_finds_them_in_the_rail(site: Site) -> None:
    _, browser = await administrator(site)
    links = (await browser.open("/")).links()
    for address in ("organizations", "people", "clients", "tax", "health", "jobs", "backups", "audit"):
        assert f"/admin/{address}" in links
        assert (await browser.get(f"/admin/{address}")).status == 200


async def test_what_gives_access_asks_who_it_is_once_more(site: Site) -> None:
    _, browser = await administrator(site)
    client_id = await client_of(site)
    site.clock.advance(16 * MINUTE)
    person = f"/admin/people/{site.user_id}"
    for path in (f"{person}/reset", f"{person}/disable", "/admin/clients/new", f"/admin/clients/{client_id}/rotate"):
        answer = await browser.get(path)
        assert answer.location.startswith("/sign-in?next=%2Fadmin%2F")
        answer = await browser.post(path, {"csrf": await token(browser)})
        assert answer.location.startswith("/sign-in?next=%2Fadmin%2F")
    assert (await browser.get("/admin/people")).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/admin/organizations/org_x/suspend",
        "/admin/organizations/org_x/resume",
        "/admin/people/usr_x/disable",
        "/admin/people/usr_x/reset",
        "/admin/clients/app_x/rotate",
        "/admin/clients/app_x/remove",
    ],
)
async def test_what_is_not_there_is_not_found(site: Site, path: str) -> None:
    _, browser = await administrator(site)
    assert (await browser.get(path)).status == 404
    assert (await browser.post(path, {"csrf": await token(browser), "reason": ""})).status == 404


# -- lists


async def fill(site: Site, make: Callable[[WriteTx, int], object], count: int) -> None:
    def work(tx: WriteTx) -> None:
        for number in range(count):
            make(tx, number)

    await site.store.write(work)


def add_organization(tx: WriteTx, number: int) -> None:
    organizations.create(tx, f"{number:04} " + "Very long name of a firm " * 6, "operator")


def add_person(tx: WriteTx, number: int) -> None:
    users.create(tx, users.NewUser(email=f"person{number}@long-name-of-a-firm.example", name="N" * 100), "operator")


def add_client(tx: WriteTx, number: int) -> None:
    uris = [f"https://host{number}-{each}.example/callback" for each in range(3)]
    own_clients.register(tx, NewClient(name=f"{number} {'App' * 40}", redirect_uris=uris, kind="secret"), "operator")


def add_entry(tx: WriteTx, number: int) -> None:
    detail: audit.Detail = {"userAgent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 " * 3}
    audit.record(tx, Act(actor="operator", action="clock.accepted", subject=f"x{number}", org_id=None, detail=detail))


@pytest.mark.parametrize(
    ("address", "make"),
    [
        ("/admin/organizations", add_organization),
        ("/admin/people", add_person),
        ("/admin/clients", add_client),
        ("/admin/audit", add_entry),
    ],
)
async def test_long_lists_come_in_pages_of_bounded_weight(
    site: Site, address: str, make: Callable[[WriteTx, int], object]
) -> None:
    _, browser = await administrator(site)
    await fill(site, make, 2 * PAGE_ROWS + 5)
    seen: list[str] = []
    at: str | None = address
    pages = 0
    while at is not None:
        answer = await browser.get(at)
        assert (answer.status, answer.page.faults) == (200, [])
        assert len(answer.body) < HTML_MOST, len(answer.body)
        found = names(answer.page)
        assert len(found) <= PAGE_ROWS
        seen += found
        pages += 1
        at = next_page(answer.page)
        if pages > 1:
            assert address in answer.page.links()
    assert pages == 3
    if address != "/admin/audit":  # whose rows are called by their moment
        assert len(seen) == len(set(seen))


async def test_lists_are_narrowed_by_name(site: Site) -> None:
    _, browser = await administrator(site)
    await site.add_org("100% Elm_Tree", site.user_id)
    assert names(await browser.open("/admin/organizations?q=elm_t")) == ["100% Elm_Tree"]
    assert names(await browser.open("/admin/organizations?q=0%25")) == ["100% Elm_Tree"]
    assert names(await browser.open("/admin/organizations?q=e_m")) == []
    assert names(await browser.open("/admin/people?q=ANN%40")) == [EMAIL]
    assert names(await browser.open("/admin/people?q=root")) == [ROOT]
    nobody = await browser.open("/admin/people?q=zzz")
    assert "Nothing here" in nobody.text
    assert "/admin/people" in nobody.links()


async def test_an_empty_list_says_what_to_do(site: Site) -> None:
    _, browser = await administrator(site)
    page = await browser.open("/admin/clients")
    assert "You have registered no client." in page.text
    assert "gatewayd client add" in page.text


# -- organizations


async def test_an_organization_is_suspended_and_resumed(site: Site) -> None:
    user_id, browser = await administrator(site)
    one = f"/admin/organizations/{site.org_id}"
    form = await browser.open(f"{one}/suspend")
    assert form.heading == "Suspend Oak & Son"
    answer = await browser.submit(form, f"{one}/suspend", reason=" The invoice of March is not paid. ")
    listed = await browser.follow(answer)
    assert "Oak & Son is suspended." in listed.page.text
    row = row_of(listed.page, "Oak & Son")
    assert ("suspended" in row, "The invoice of March is not paid." in row) == (True, True)
    assert await site.store.read(lambda tx: organizations.is_suspended(tx, site.org_id))
    question = await browser.open(f"{one}/resume")
    listed = await browser.follow(await browser.submit(question, f"{one}/resume"))
    assert "active" in row_of(listed.page, "Oak & Son")
    found = await site.store.read(lambda tx: audit.list_entries(tx), site.org_id)
    assert [(entry.action, entry.actor) for entry in found[:2]] == [
        ("organization.resumed", user_id),
        ("organization.suspended", user_id),
    ]


async def test_a_reason_that_is_too_long_is_told_beside_it(site: Site) -> None:
    _, browser = await administrator(site)
    one = f"/admin/organizations/{site.org_id}/suspend"
    answer = await browser.post(one, {"csrf": await token(browser), "reason": "x" * 1001})
    assert (answer.status, "At most 1000 characters." in answer.page.text) == (422, True)
    assert not await site.store.read(lambda tx: organizations.is_suspended(tx, site.org_id))


async def test_one_that_is_being_deleted_is_not_resumed(site: Site) -> None:
    _, browser = await administrator(site)
    await site.store.write(lambda tx: organizations.note_deletion(tx, site.org_id))
    page = await browser.open("/admin/organizations")
    assert "being deleted" in row_of(page, "Oak & Son")
    one = f"/admin/organizations/{site.org_id}/resume"
    answer = await browser.post(one, {"csrf": await token(browser)})
    assert (answer.status, "does not come back" in answer.page.problem) == (409, True)


# -- people


async def test_somebody_is_disabled_and_enabled(site: Site) -> None:
    _, browser = await administrator(site)
    theirs = await site.signed_in()
    one = f"/admin/people/{site.user_id}"
    question = await browser.open(f"{one}/disable")
    assert question.heading == f"Disable {EMAIL}"
    assert "Oak & Son has no other owner." in question.text
    listed = await browser.follow(await browser.submit(question, f"{one}/disable"))
    assert f"{EMAIL} is disabled." in listed.page.text
    assert "disabled" in row_of(listed.page, EMAIL)
    assert (await theirs.get("/account")).status == 303
    assert f"{one}/reset" not in listed.page.links()
    refused = await browser.post(f"{one}/reset", {"csrf": await token(browser)})
    assert (refused.status, "is disabled" in refused.page.problem) == (409, True)
    question = await browser.open(f"{one}/enable")
    listed = await browser.follow(await browser.submit(question, f"{one}/enable"))
    assert "active" in row_of(listed.page, EMAIL)
    acts = await actions(site, "user.")
    assert (acts.count("user.disabled"), acts[-1]) == (1, "user.enabled")
    again = await browser.follow(await browser.post(f"{one}/enable", {"csrf": await token(browser)}))
    assert f"{EMAIL} was not disabled." in again.page.text


async def test_nobody_disables_themselves(site: Site) -> None:
    user_id, browser = await administrator(site)
    one = f"/admin/people/{user_id}/disable"
    answer = await browser.submit(await browser.open(one), one)
    assert (answer.status, "cannot disable yourself" in answer.page.problem) == (409, True)
    assert await site.store.read(lambda tx: users.is_enabled(tx, user_id))


async def test_a_link_sets_a_new_password_once_and_is_recorded(site: Site) -> None:
    _, browser = await administrator(site)
    one = f"/admin/people/{site.user_id}/reset"
    answer = await browser.submit(await browser.open(one), one)
    assert answer.status == 200
    (link,) = [each.text for each in answer.page.root.all("code")]
    path = urlsplit(link).path
    assert path.startswith("/sign-in/reset/")
    assert (await site.browser().get(path)).status == 200
    second = await browser.submit(await browser.open(one), one)
    assert second.status == 200
    assert "not work" in (await site.browser().get(path)).page.text or (await site.browser().get(path)).status != 200
    assert await actions(site, "user.reset") == ["user.reset_link_made"] * 2


async def test_who_is_locked_is_unlocked(site: Site) -> None:
    _, browser = await administrator(site)
    stranger = site.browser()
    for _ in range(3):
        await stranger.sign_in("wrong")
    page = await browser.open("/admin/people")
    assert "locked" in row_of(page, EMAIL)
    one = f"/admin/people/{site.user_id}/unlock"
    assert one in page.links()
    listed = await browser.follow(await browser.submit(await browser.open(one), one))
    assert f"{EMAIL} can try to sign in again." in listed.page.text
    assert (await stranger.sign_in(PASSWORD)).status == 303
    assert "user.unlocked" in await actions(site, "user.")
    again = await browser.follow(await browser.post(one, {"csrf": await token(browser)}))
    assert "was not locked" in again.page.text


# -- OAuth clients


async def test_a_client_is_registered_rotated_and_removed(site: Site) -> None:
    user_id, browser = await administrator(site)
    form = await browser.open("/admin/clients/new")
    answer = await browser.submit(
        form,
        "/admin/clients/new",
        name="Till",
        redirectUris=f"{CALLBACK}\nhttp://localhost/x",
        kind="secret",
        scopes=["crm:read"],
    )
    client_id, secret = [each.text for each in answer.page.root.all("code")]
    client = await site.store.read(lambda tx: own_clients.get(tx, client_id))
    assert (client.metadata.redirect_uris, client.metadata.scope) == ([CALLBACK, "http://localhost/x"], "crm:read")
    assert await site.store.read(lambda tx: client_secrets.matches(tx, client_id, secret))
    listed = await browser.open("/admin/clients")
    assert secret not in listed.text
    assert ("secret" in row_of(listed, "Till"), "till.example" in row_of(listed, "Till")) == (True, True)
    one = f"/admin/clients/{client_id}"
    answer = await browser.submit(await browser.open(f"{one}/rotate"), f"{one}/rotate")
    _, second = [each.text for each in answer.page.root.all("code")]
    for each in (secret, second):
        assert await site.store.read(lambda tx: client_secrets.matches(tx, client_id, each))  # noqa: B023
    gone = await browser.follow(await browser.submit(await browser.open(f"{one}/remove"), f"{one}/remove"))
    assert "Till was removed." in gone.page.text
    assert names(gone.page) == []
    assert (await browser.get(f"{one}/rotate")).status == 404
    found = await site.store.read(audit.list_all)
    acts = [(entry.action, entry.actor) for entry in reversed(found) if entry.subject == client_id]
    assert acts == [(f"client.{each}", user_id) for each in ("registered", "secret_rotated", "revoked")]


async def test_what_is_wrong_stands_beside_its_field(site: Site) -> None:
    _, browser = await administrator(site)
    form = await browser.open("/admin/clients/new")
    answer = await browser.submit(
        form, "/admin/clients/new", name="Till", redirectUris="ftp://till.example/", kind="secret"
    )
    assert answer.status == 422
    field = answer.page.field_named("Redirect URIs")
    assert field.attributes["aria-invalid"] == "true"
    assert "ftp://till.example/" in field.text
    answer = await browser.submit(form, "/admin/clients/new", name="Till", redirectUris=CALLBACK, kind="keys", keys="{")
    assert (answer.status, "JWK Set" in answer.page.text) == (422, True)
    unknown = {"csrf": form.token, "name": "Till", "redirectUris": CALLBACK, "kind": "x", "key": "k"}
    assert (await browser.post("/admin/clients/new", unknown)).status == 400
    assert await actions(site, "client.") == []


async def test_the_same_form_registers_one_client(site: Site) -> None:
    """A double click, or a reload of what it answered: the secret is shown to the first sending alone."""
    _, browser = await administrator(site)
    form = await browser.open("/admin/clients/new")
    filled = {"name": "<b>Till</b> & Sons", "redirectUris": CALLBACK, "kind": "secret"}
    first = await browser.submit(form, "/admin/clients/new", **filled)
    client_id, secret = [each.text for each in first.page.root.all("code")]
    again = (await browser.follow(await browser.submit(form, "/admin/clients/new", **filled))).page
    assert f"<b>Till</b> & Sons was registered already. Its client id is {client_id}." in again.text
    assert "if you lost it, make a new one" in again.text
    assert secret not in again.text
    assert names(again) == ["<b>Till</b> & Sons"]
    other = await browser.submit(form, "/admin/clients/new", **{**filled, "name": "Desk"})
    assert (other.status, "sent before, with other values" in str(other.page.problem)) == (409, True)
    second = await browser.submit(other.page, "/admin/clients/new")
    assert client_id not in [each.text for each in second.page.root.all("code")]
    assert sorted(names(await browser.open("/admin/clients"))) == ["<b>Till</b> & Sons", "Desk"]
    assert await actions(site, "client.") == ["client.registered"] * 2


async def test_two_sendings_at_once_register_one_client(site: Site) -> None:
    _, browser = await administrator(site)
    form = await browser.open("/admin/clients/new")
    statuses: list[int] = []

    async def send() -> None:
        filled = {"name": "Till", "redirectUris": CALLBACK, "kind": "secret"}
        statuses.append((await browser.submit(form, "/admin/clients/new", **filled)).status)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        nursery.start_soon(send)
    assert sorted(statuses) == [200, 303]
    assert names(await browser.open("/admin/clients")) == ["Till"]


async def test_what_was_wrong_is_sent_again_from_the_same_form(site: Site) -> None:
    _, browser = await administrator(site)
    form = await browser.open("/admin/clients/new")
    wrong = await browser.submit(form, "/admin/clients/new", name="App", redirectUris="ftp://x/", kind="public")
    assert wrong.status == 422
    done = await browser.submit(wrong.page, "/admin/clients/new", redirectUris=CALLBACK)
    assert "App is registered." in (await browser.follow(done)).page.text


async def test_two_forms_register_two_clients(site: Site) -> None:
    _, browser = await administrator(site)
    for _ in range(2):
        form = await browser.open("/admin/clients/new")
        await browser.submit(form, "/admin/clients/new", name="Till", redirectUris=CALLBACK, kind="public")
    assert names(await browser.open("/admin/clients")) == ["Till", "Till"]


@pytest.mark.parametrize("kind", ["keys", "public"])
async def test_one_without_a_secret_is_named_by_its_id(site: Site, kind: str) -> None:
    _, browser = await administrator(site)
    keys = json.dumps({"keys": [ECKey.generate_key().as_dict(private=False)]})
    form = await browser.open("/admin/clients/new")
    answer = await browser.submit(form, "/admin/clients/new", name="App", redirectUris=CALLBACK, kind=kind, keys=keys)
    listed = await browser.follow(answer)
    assert "Its client id is app_" in listed.page.text
    assert kind in row_of(listed.page, "App")
    assert "New secret" not in listed.page.text


async def test_a_client_with_all_the_secrets_that_it_may_have_is_told(site: Site) -> None:
    _, browser = await administrator(site)
    one = f"/admin/clients/{await client_of(site)}/rotate"
    for _ in range(client_secrets.LIVE_MAX - 1):
        assert (await browser.submit(await browser.open(one), one)).status == 200
    answer = await browser.submit(await browser.open(one), one)
    assert (answer.status, "secrets that serve" in answer.page.problem) == (409, True)


# -- the audit log


async def add(site: Site, action: Action, subject: str, actor: str = "operator", org_id: str | None = None) -> None:
    act = Act(actor=actor, action=action, subject=subject, org_id=org_id)
    await site.store.write(lambda tx: audit.record(tx, act))


async def listed_acts(browser: Browser, query: str) -> list[str]:
    page = await browser.open(f"/admin/audit?{query}")
    cells = [each for each in page.root.all("td") if each.attributes.get("data-label") == "What"]
    return [each.text for each in cells]


async def test_the_log_shows_sign_ins_with_names(site: Site) -> None:
    await site.signed_in()
    await site.browser().sign_in("wrong")
    _, browser = await administrator(site)
    page = await browser.open("/admin/audit")
    assert "user signed in" in page.text
    assert "user sign in failed" in page.text
    assert EMAIL in page.text
    assert "nobody knows" in page.text
    assert "whoever runs this server" in page.text
    assert site.user_id not in page.text


async def test_the_log_is_narrowed(site: Site) -> None:
    _, browser = await administrator(site)
    site.clock.advance(DAY)
    await add(site, "key.created", "key_1", site.user_id, site.org_id)
    await add(site, "key.revoked", "key_1")
    assert await listed_acts(browser, "what=key.") == ["key revoked", "key created"]
    assert await listed_acts(browser, f"who={EMAIL}") == ["key created"]
    assert await listed_acts(browser, "about=key_1&what=key.revoked") == ["key revoked"]
    assert await listed_acts(browser, f"organization={site.org_id}&what=key.") == ["key created"]
    assert await listed_acts(browser, "who=operator&what=key.&from=2999-01-01") == []
    day = (await browser.open("/admin/audit?what=key.")).root
    (today, *_) = [each.attributes["datetime"][:10] for each in day.all("time")]
    assert await listed_acts(browser, f"what=key.&from={today}&to={today}") == ["key revoked", "key created"]
    chosen = await browser.open(f"/admin/audit?organization={site.org_id}")
    assert "Oak & Son" in chosen.field_named("Organization").text


@pytest.mark.parametrize(("query", "status"), [("from=soon", 400), ("to=9999-99-99", 400), ("what=users", 422)])
async def test_an_address_that_nobody_made_is_refused(site: Site, query: str, status: int) -> None:
    _, browser = await administrator(site)
    assert (await browser.get(f"/admin/audit?{query}")).status == status


async def test_signing_out_is_in_the_log(site: Site) -> None:
    browser = await site.signed_in()
    await browser.submit(await browser.open("/sign-out"), "/sign-out")
    other = await site.signed_in()
    (session,) = await site.store.read(lambda tx: sessions.of_user(tx, site.user_id))
    await other.post("/account/sessions/end", {"csrf": await token(other), "id": session.id})
    assert await actions(site, "user.signed") == ["user.signed_in", "user.signed_out"] * 2
