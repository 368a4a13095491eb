"""The account chooser and the consent: who it is, what the app may do, and every way in which that goes wrong."""

from urllib.parse import parse_qs, urlsplit

import pytest

from gatewayd.clock import HOUR, SECOND, Instant
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.people import memberships
from gatewayd.identity.sign_in import sessions
from gatewayd.identity.tokens import authorization_codes, authorizations
from tests.console.reading import Document, fields_of
from tests.console.visiting import EMAIL, ISSUER, MCP, PASSWORD, POLICY, Answer, Browser, Site

GONE = "This request has expired or was answered already."


def choose(handle: str) -> str:
    return f"/oauth/choose?request={handle}"


async def reach_consent(browser: Browser, handle: str) -> Answer:
    """Through the chooser, signed in already."""
    page = await browser.open(choose(handle))
    return await browser.follow(await browser.submit(page, "/oauth/choose"))


async def consent_page(browser: Browser, handle: str) -> Document:
    answer = await reach_consent(browser, handle)
    assert answer.status == 200
    return answer.page


async def allow(browser: Browser, page: Document, **values: str | list[str]) -> Answer:
    return await browser.submit(page, "/oauth/consent", decision="allow", **values)


async def granted(site: Site, answer: Answer) -> authorization_codes.CodeState:
    """The code that a browser takes back to its client."""
    state = await site.store.read(lambda tx: authorization_codes.read_code(tx, answer.sent_back["code"]))
    assert state is not None
    return state


async def test_from_signed_out_to_the_code(site: Site) -> None:
    handle = await site.ask(login_hint=EMAIL)
    browser = site.browser()
    to_sign_in = await browser.get(choose(handle))
    assert parse_qs(urlsplit(to_sign_in.location).query) == {"next": [choose(handle)], "email": [EMAIL]}
    form = (await browser.follow(to_sign_in)).page
    to_choose = await browser.submit(form, "/sign-in", password=PASSWORD)
    assert to_choose.location == choose(handle)
    chooser = (await browser.follow(to_choose)).page
    assert (chooser.heading, chooser.buttons()) == ("Choose an account", ["Continue"])
    assert EMAIL in chooser.text
    assert "app.example" in chooser.text
    page = (await browser.follow(await browser.submit(chooser, "/oauth/choose"))).page
    assert (page.heading, page.buttons()) == ("Allow access?", ["Allow for Oak & Son", "Deny"])
    for shown in ("app.example", "Sprout", "nobody has checked the name", EMAIL, "Oak & Son"):
        assert shown in page.text
    assert "View invoices, quotes, counterparties, transactions and reports." in page.text
    assert "This includes properties, tenants and their guarantors, rents and mortgages;" in page.text
    answer = await allow(browser, page)
    assert answer.location.startswith("https://app.example/callback?")
    assert set(answer.sent_back) == {"code", "state", "iss"}
    assert (answer.sent_back["state"], answer.sent_back["iss"]) == ("s/1 &", ISSUER)
    state = await granted(site, answer)
    assert (state.grant.user_id, state.grant.org_id) == (site.user_id, site.org_id)
    assert state.grant.scopes == {"openid", "offline_access", "accounting:read", "accounting:write"}


async def test_what_a_client_learns_of_a_person_is_said_and_can_be_left_out(site: Site) -> None:
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask(scope="openid profile email"))
    assert "See your name." in page.text
    assert "See your e-mail address." in page.text
    state = await granted(site, await allow(browser, page, scope=["openid", "profile"]))
    assert state.grant.scopes == {"openid", "profile"}


async def test_the_chooser_appears_though_somebody_is_signed_in(site: Site) -> None:
    browser = await site.signed_in()
    handle = await site.ask()
    assert (await browser.get(f"/oauth/consent?request={handle}")).location == choose(handle)
    page = await browser.open(choose(handle))
    assert [each for each in page.links() if each.startswith("/sign-in?")] == [
        f"/sign-in?next=%2Foauth%2Fchoose%3Frequest%3D{handle}&again=1"
    ]


async def test_scopes_can_be_opted_out_of_one_by_one(site: Site) -> None:
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask())
    boxes = [value for name, value in fields_of(page.form("/oauth/consent")) if name == "scope"]
    assert boxes == ["openid", "offline_access", "accounting:read", "accounting:write"]
    answer = await allow(browser, page, scope=boxes[:-1])
    assert (await granted(site, answer)).grant.scopes == set(boxes[:-1])


async def test_more_than_was_asked_for_is_never_granted(site: Site) -> None:
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask(scope="accounting:read"))
    answer = await allow(browser, page, scope=["accounting:read", "banking:read", "tax:write"])
    assert (await granted(site, answer)).grant.scopes == {"accounting:read"}


async def test_allowing_nothing_is_asked_about(site: Site) -> None:
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask())
    answer = await allow(browser, page, scope=[])
    assert (answer.status, answer.page.problem) == (422, "Check at least one thing that the app may do, or deny.")
    assert [name for name, _ in fields_of(answer.page.form("/oauth/consent"))].count("scope") == 0
    assert (await allow(browser, answer.page, scope="openid")).sent_back["code"]


async def test_deny_tells_the_client(site: Site) -> None:
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask())
    answer = await browser.submit(page, "/oauth/consent", decision="deny")
    assert answer.sent_back == {
        "error": "access_denied",
        "error_description": "the person said no",
        "state": "s/1 &",
        "iss": ISSUER,
    }
    again = await browser.submit(page, "/oauth/consent", decision="deny")
    assert (again.status, GONE in again.page.text) == (400, True)


async def test_restricted_scopes_are_left_out_with_the_reason(site: Site) -> None:
    client = await site.register()
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask(client, scope="accounting:read tax:read"))
    assert "need the approval of whoever runs this server" in page.text
    assert ("scope", "tax:read") not in fields_of(page.form("/oauth/consent"))
    work = oauth_clients.set_tax_approval
    approved = await site.store.write(lambda tx: work(tx, client.id, "vendor says so", "operator"))
    page = await consent_page(browser, await site.ask(approved, scope="accounting:read tax:read"))
    assert ("scope", "tax:read") in fields_of(page.form("/oauth/consent"))


# -- organizations


async def test_the_organization_is_picked(site: Site) -> None:
    second = await site.add_org("Elm Ltd", site.user_id)
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask())
    choices = [each for each in page.form("/oauth/consent").all("input") if each.attributes.get("type") == "radio"]
    assert [each.attributes["value"] for each in choices] == [site.org_id, second]
    assert page.buttons() == ["Allow", "Allow for Oak & Son", "Allow for Elm Ltd", "Allow", "Deny"]  # two are seen
    answer = await allow(browser, page, organization=second)
    assert (await granted(site, answer)).grant.org_id == second


async def test_a_button_of_another_organization_than_is_chosen_allows_nothing(site: Site) -> None:
    """Without the style sheet every button is seen, whatever is chosen."""
    second = await site.add_org("Elm Ltd", site.user_id)
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask())
    two = await browser.submit(page, "/oauth/consent", organization=second, allow=site.org_id, scope="openid")
    assert (two.status, two.page.problem) == (422, "You chose one organization and allowed another. Choose again.")
    assert (chosen(two.page), await site.store.read(lambda tx: tx.value("SELECT count(*) FROM grants"))) == ([], 0)
    answer = await browser.submit(two.page, "/oauth/consent", organization=second, allow=second)
    assert (await granted(site, answer)).grant.org_id == second


def chosen(page: Document) -> list[str]:
    """The organizations that would be sent."""
    return [value for name, value in fields_of(page.form("/oauth/consent")) if name == "organization"]


async def test_of_several_organizations_none_is_chosen_beforehand_and_a_choice_is_kept(site: Site) -> None:
    second = await site.add_org("Elm Ltd", site.user_id)
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask())
    assert chosen(page) == []
    none = await allow(browser, page)
    assert (none.status, none.page.problem) == (422, "Choose the organization that the app may work for.")
    assert chosen(none.page) == []
    nothing = await allow(browser, none.page, organization=second, scope=[])
    assert (nothing.status, chosen(nothing.page)) == (422, [second])
    answer = await allow(browser, nothing.page, scope="openid")
    assert (await granted(site, answer)).grant.org_id == second


async def test_scopes_are_kept_where_the_organization_is_missing(site: Site) -> None:
    await site.add_org("Elm Ltd", site.user_id)
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask())
    answer = await allow(browser, page, scope=["openid", "accounting:read"])
    kept = [value for name, value in fields_of(answer.page.form("/oauth/consent")) if name == "scope"]
    assert kept == ["openid", "accounting:read"]


async def test_without_an_organization_nothing_can_be_allowed(site: Site) -> None:
    await site.add_user("bob@example.com")
    browser = site.browser()
    await browser.sign_in(email="bob@example.com")
    page = await consent_page(browser, await site.ask())
    assert page.problem == "You belong to no organization yet, so there is nothing to give access to."
    (button,) = [each for each in page.root.all("button") if each.text == "Allow"]
    assert "disabled" in button.attributes
    assert (await allow(browser, page)).status == 422
    assert (await browser.submit(page, "/oauth/consent", decision="deny")).sent_back["error"] == "access_denied"


@pytest.mark.parametrize("removed_from", ["theirs", "another"])
async def test_an_organization_of_others_cannot_be_given_away(site: Site, removed_from: str) -> None:
    bob = await site.add_user("bob@example.com", site.org_id)
    other = await site.add_org("Elm Ltd", site.user_id)
    browser = site.browser()
    await browser.sign_in(email="bob@example.com")
    page = await consent_page(browser, await site.ask())
    if removed_from == "theirs":
        await site.store.write(lambda tx: memberships.remove(tx, bob, "operator"), site.org_id)
        answer = await allow(browser, page)
    else:
        answer = await allow(browser, page, organization=other)
    assert answer.status == 422
    assert await site.store.read(lambda tx: tx.value("SELECT count(*) FROM grants")) == 0


# -- whose request it is


async def test_another_session_cannot_answer(site: Site) -> None:
    await site.add_user("bob@example.com", site.org_id)
    ann, bob = await site.signed_in(), site.browser()
    await bob.sign_in(email="bob@example.com")
    handle = await site.ask()
    page = await consent_page(ann, handle)
    own = await consent_page(bob, await site.ask())
    form = [(name, value) for name, value in fields_of(page.form("/oauth/consent")) if name != "csrf"]
    for decision in ("allow", "deny"):
        answer = await bob.post("/oauth/consent", [*form, ("csrf", own.token), ("decision", decision)])
        assert (answer.status, GONE in answer.page.text) == (400, True)
    taken = await bob.post("/oauth/choose", {"csrf": own.token, "request": handle})
    assert taken.status == 400
    assert (await allow(ann, page)).sent_back["code"]


async def test_changing_the_account_on_the_way(site: Site) -> None:
    bob = await site.add_user("bob@example.com", site.org_id)
    browser = await site.signed_in()
    handle = await site.ask()
    page = await consent_page(browser, handle)
    (not_you,) = [each for each in page.links() if each.startswith("/sign-in?")]
    form = await browser.open(not_you)
    answer = await browser.submit(form, "/sign-in", email="bob@example.com", password=PASSWORD)
    assert answer.location == choose(handle)
    stale = await allow(browser, page)
    assert stale.status == 403  # the form of before was Ann's
    page = await consent_page(browser, handle)
    assert "bob@example.com" in page.text
    assert (await granted(site, await allow(browser, page))).grant.user_id == bob


# -- time


async def test_a_request_that_expires_on_the_way(site: Site) -> None:
    browser = await site.signed_in()
    handle = await site.ask()
    page = await consent_page(browser, handle)
    site.clock.advance(authorizations.REQUEST_LIFE)
    for answer in (await allow(browser, page), await browser.get(choose(handle))):
        assert (answer.status, GONE in answer.page.text) == (400, True)


async def test_a_second_answer_is_none(site: Site) -> None:
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask())
    assert (await allow(browser, page)).sent_back["code"]
    again = await allow(browser, page)
    assert (again.status, GONE in again.page.text) == (400, True)
    assert await site.store.read(lambda tx: tx.value("SELECT count(*) FROM grants")) == 1


async def test_the_session_ends_between_the_page_and_the_answer(site: Site) -> None:
    browser = await site.signed_in()
    handle = await site.ask()
    page = await consent_page(browser, handle)
    await site.store.write(lambda tx: sessions.end_all(tx, site.user_id))
    answer = await allow(browser, page)
    assert answer.location == f"/sign-in?next=%2Foauth%2Fchoose%3Frequest%3D{handle}"


async def test_a_newer_authentication_can_be_asked_for(site: Site) -> None:
    browser = await site.signed_in()
    site.clock.advance(SECOND)
    handle = await site.ask(prompt="login")
    answer = await browser.get(choose(handle))
    assert "&again=1&email=ann%40example.com" in answer.location
    form = (await browser.follow(answer)).page
    site.clock.advance(SECOND)
    assert (await browser.submit(form, "/sign-in", password=PASSWORD)).location == choose(handle)
    page = await consent_page(browser, handle)
    assert (await allow(browser, page)).sent_back["code"]


async def test_max_age_counts_from_the_sign_in(site: Site) -> None:
    browser = await site.signed_in()
    site.clock.advance(HOUR)
    assert (await browser.get(choose(await site.ask(max_age="60")))).location.startswith("/sign-in?")
    assert (await browser.get(choose(await site.ask(max_age="7200")))).status == 200


async def test_a_client_that_is_revoked_on_the_way(site: Site) -> None:
    client = await site.register()
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask(client))
    await site.store.write(lambda tx: oauth_clients.revoke(tx, client.id, "operator"))
    assert (await allow(browser, page)).status == 400


async def test_handles_that_lead_nowhere(site: Site) -> None:
    browser = await site.signed_in()
    for path in ("/oauth/choose", "/oauth/choose?request=", "/oauth/consent?request=x", "/oauth/choose?request=%00"):
        answer = await browser.get(path)
        assert (answer.status, GONE in answer.page.text) == (400, True)


async def test_a_pushed_request_is_not_taken_without_its_endpoint(site: Site) -> None:
    browser = await site.signed_in()
    handle = await site.ask()
    pending = await site.store.read(lambda tx: authorizations.load(tx, handle))
    assert pending is not None
    pushed = await site.store.write(lambda tx: authorizations.save(tx, pending.parameters, pushed=True))
    assert (await browser.get(choose(pushed))).status == 400


# -- where the answer goes

TARGETS = [
    ("https://app.example/callback", "https:", "app.example"),
    ("https://[2001:db8::1]/callback", "https:", "2001:db8::1"),
    ("http://127.0.0.1:8123/callback", "http:", "this computer (127.0.0.1)"),
    ("http://[::1]:8123/callback", "http:", "this computer (::1)"),
    ("http://localhost/callback", "http:", "this computer (localhost)"),
    ("com.example.app:/callback", "com.example.app:", "an app on this device (com.example.app:)"),
    ("vscode://vendor.app/callback", "vscode:", "an app on this device (vscode:)"),
]


@pytest.mark.parametrize(("redirect_uri", "source", "shown"), TARGETS)
async def test_the_form_may_end_at_the_client(site: Site, redirect_uri: str, source: str, shown: str) -> None:
    browser = await site.signed_in()
    client = await site.register(redirect_uri)
    answer = await reach_consent(browser, await site.ask(client))
    assert answer.headers["Content-Security-Policy"] == f"{POLICY} {source}"
    page = answer.page
    facts = next(page.root.all("dl"))
    assert [each.text for each in facts.all("dd")][1] == shown
    assert ("to a program on this computer" in page.text) is redirect_uri.startswith("http:")
    assert (await allow(browser, page)).location.startswith(f"{redirect_uri}?code=gwc_")


async def test_hosts_that_an_app_merely_registered_are_shown_nowhere(site: Site) -> None:
    """Five respectable ones before the one that gets the code."""
    respectable = [f"https://{name}.example/cb" for name in ("bank", "mail", "taxes", "post", "rail")]
    client = await site.register(*respectable, "https://evil.example/cb")
    browser = await site.signed_in()
    handle = await site.ask(client, redirect_uri="https://evil.example/cb")
    chooser = await browser.open(choose(handle))
    page = await consent_page(browser, handle)
    answer = await allow(browser, page)
    assert answer.location.startswith("https://evil.example/cb?code=")
    await site.store.write(lambda tx: tx.run("UPDATE authorization_codes SET used_at = 1"))
    assert "An app from evil.example wants to be connected." in chooser.text
    assert "An app from evil.example asks for access to your books." in page.text
    apps = await browser.open("/developers/apps")
    assert [each.text for each in apps.root.all("h2")] == ["evil.example"]
    for shown in (chooser, page, apps):
        assert not any(f"{name}.example" in shown.text for name in ("bank", "mail", "taxes", "post", "rail"))


async def test_a_document_is_named_with_where_it_leads(site: Site) -> None:
    url = "https://docs.example/client.json"
    registered = await site.register("https://docs.example/cb", "https://evil.example/cb")
    until = Instant(site.clock.now() + HOUR)
    save = oauth_clients.save_document
    client = await site.store.write(lambda tx: save(tx, url, registered.metadata, until))
    browser = await site.signed_in()
    for redirect_uri, shown in (
        ("https://docs.example/cb", "docs.example"),
        ("https://evil.example/cb", "docs.example, evil.example"),
    ):
        page = await consent_page(browser, await site.ask(client, redirect_uri=redirect_uri))
        assert f"An app from {shown} asks for access" in page.text


async def test_a_service_beside_the_api_is_named(site: Site) -> None:
    client = await site.register()
    browser = await site.signed_in()
    plain = await consent_page(browser, await site.ask(client, resource=ISSUER))
    assert MCP not in plain.text
    named = await consent_page(browser, await site.ask(client, resource=MCP))
    assert MCP in named.text
    await allow(browser, named)
    await site.store.write(lambda tx: tx.run("UPDATE authorization_codes SET used_at = 1"))
    assert MCP in (await browser.open("/developers/apps")).text


async def test_the_query_of_the_client_stays(site: Site) -> None:
    browser = await site.signed_in()
    page = await consent_page(browser, await site.ask(await site.register("https://app.example/c?tenant=a%20b")))
    answer = await allow(browser, page)
    assert answer.location.startswith("https://app.example/c?tenant=a%20b&code=gwc_")
    assert answer.sent_back["tenant"] == "a b"


async def test_what_a_client_calls_itself_is_text(site: Site) -> None:
    browser = await site.signed_in()
    client: Client = await site.register(name="<script>alert(1)</script>")
    page = await consent_page(browser, await site.ask(client))
    assert "<script>alert(1)</script>" in page.text
    assert [each.text for each in page.root.all("script")] == [""]
