"""What keeps other sites and other programs out, and how errors look."""

import json
import re
from typing import Any

import pytest

from gatewayd.console.browser import FORM_BYTES, FORM_TYPE
from gatewayd.identity.sign_in import sessions
from gatewayd.store import StoreFailure
from tests.console.visiting import EMAIL, ISSUER, PASSWORD, Browser, Site
from tests.support.scopes import request_of

FORM = {"email": EMAIL, "password": PASSWORD, "next": "/"}
INVOICES = ["new", "x/change", "x/delete", "x/issue", "x/payment", "x/void"]
WEBHOOKS = ["new", "x/change", "x/recover", "x/remove", "x/rotate", "x/test", "deliveries/x/resend"]
POSTS = [
    "/account/password",
    "/account/second-factor",
    "/account/second-factor/off",
    "/account/recovery-codes",
    "/account/passkeys/add",
    "/account/passkeys/add/options",
    "/account/passkeys/remove",
    "/account/sessions/end",
    "/account/sessions/end-all",
    "/admin/clients/new",
    "/admin/clients/x/remove",
    "/admin/clients/x/rotate",
    "/admin/organizations/x/resume",
    "/admin/organizations/x/suspend",
    "/admin/people/x/disable",
    "/admin/people/x/enable",
    "/admin/people/x/reset",
    "/admin/people/x/unlock",
    "/admin/tax/approve",
    "/admin/tax/refuse",
    "/admin/tax/withdraw",
    "/books/entities/new",
    "/books/entities/x",
    "/books/entities/x/end",
    "/developers/access/end",
    "/developers/apps/revoke",
    "/developers/keys/new",
    "/developers/keys/x/revoke",
    "/developers/keys/x/rotate",
    "/developers/tax/connect",
    "/developers/tax/disconnect",
    "/developers/tax/request",
    *(f"/developers/webhooks/{page}" for page in WEBHOOKS),
    "/members/invite",
    "/members/invitations/revoke",
    "/members/leave",
    "/members/remove",
    "/members/role",
    "/oauth/choose",
    "/oauth/consent",
    "/organization",
    "/sales/clients/new",
    "/sales/clients/x",
    "/sales/clients/x/end",
    "/documents",
    *(f"/documents/x/{page}" for page in ("change", "restore", "star", "trash")),
    *(f"/sales/invoices/{page}" for page in INVOICES),
    "/sign-out",
]
ENTRIES = ["/sign-in", "/sign-in/code", "/sign-in/passkey", "/sign-in/passkey/options", "/sign-in/link/x"]
ENTRIES += ["/sign-in/reset/x", "/sign-in/invitation/x", "/sign-in/invitation/x/new"]
ENTRIES += ["/sign-in/invitation/x/passkey", "/sign-in/invitation/x/passkey/options"]
PRIVATE = ["/", "/account", "/account/second-factor", "/developers/apps"]
PRIVATE += ["/developers/access", "/developers/tax", "/developers/tax/connected", "/admin", "/admin/tax"]
PRIVATE += ["/members", "/members/invite", "/members/invitations/revoke", "/members/leave", "/members/remove"]
PRIVATE += ["/members/role", "/account/passkeys/add", "/account/passkeys/remove", "/account/sessions/end-all"]
PRIVATE += ["/account/sessions/end"]
PRIVATE += ["/account/second-factor/off", "/account/recovery-codes", "/developers/apps/revoke"]
PRIVATE += ["/developers/keys", "/developers/keys/new", "/developers/keys/x", "/developers/keys/x/rotate"]
PRIVATE += [
    "/developers/keys/x/revoke",
    "/developers/access",
    "/developers/tax",
    "/developers/tax/connected",
    "/admin",
    "/admin/tax",
    "/admin/health",
    "/admin/jobs",
    "/admin/backups",
]


async def test_the_server_is_told_who_is_signed_in(site: Site) -> None:
    """Their forms have more time to arrive, and their connections are not ended for those of strangers."""
    stranger, browser = site.browser(), await site.signed_in()
    await stranger.get("/sign-in")
    await browser.get("/account")
    assert (stranger.request.admitted, browser.request.admitted) == (False, True)


async def test_every_form_is_in_these_lists(site: Site) -> None:
    posted = {rule.rule for rule in site.app.url_map.iter_rules() if "POST" in (rule.methods or ())}
    assert {re.sub("<[^>]+>", "x", path) for path in posted} == {*POSTS, *ENTRIES}


@pytest.mark.parametrize("path", [*POSTS, *ENTRIES])
async def test_a_form_without_its_token_does_nothing(site: Site, path: str) -> None:
    browser = await site.signed_in()
    for token in ("", "x", "é" * 64, sessions.csrf_token("x")):
        answer = await browser.post(path, {**FORM, "csrf": token})
        assert (answer.status, answer.page.heading) == (403, "Nothing was done")
    assert (await browser.get("/account")).status == 200


@pytest.mark.parametrize("path", POSTS)
async def test_a_form_of_somebody_who_is_not_signed_in_leads_to_the_sign_in(site: Site, path: str) -> None:
    answer = await site.browser().post(path, FORM)
    assert answer.location.startswith("/sign-in?next=%2F")
    browser = site.browser()
    token = (await browser.open("/sign-in")).token
    if path != "/sign-out":
        answer = await browser.post(path, {"csrf": token, "request": "x"})
        assert answer.status == (400 if path.startswith("/oauth") else 303)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://books.example.evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site", "Origin": ISSUER},
    ],
)
async def test_a_form_of_another_site_is_refused_though_it_has_the_token(site: Site, headers: dict[str, str]) -> None:
    browser = site.browser()
    token = (await browser.open("/sign-in")).token
    answer = await browser.post("/sign-in", {**FORM, "csrf": token}, **headers)
    assert (answer.status, "another site" in answer.page.text) == (403, True)


@pytest.mark.parametrize(
    "headers", [{}, {"Origin": ISSUER}, {"Origin": "http://localhost"}, {"Sec_Fetch_Site": "none"}]
)
async def test_a_form_of_this_site_is_taken(site: Site, headers: dict[str, str]) -> None:
    browser = site.browser()
    token = (await browser.open("/sign-in")).token
    assert (await browser.post("/sign-in", {**FORM, "csrf": token}, **headers)).status == 303


async def test_a_token_is_of_one_browser(site: Site) -> None:
    one, other = site.browser(), site.browser()
    token = (await one.open("/sign-in")).token
    await other.open("/sign-in")
    assert (await other.post("/sign-in", {**FORM, "csrf": token})).status == 403


async def test_two_tabs(site: Site) -> None:
    browser = site.browser()
    second = await browser.open("/sign-in?next=/developers/apps")
    await browser.sign_in()
    answer = await browser.submit(second, "/sign-in", email=EMAIL, password=PASSWORD)
    assert (answer.status, "in another tab you have signed in or out" in answer.page.text) == (403, True)
    assert "/developers/apps" in answer.page.links()  # where it was to lead


@pytest.mark.parametrize("path", PRIVATE)
async def test_private_pages_lead_to_the_sign_in_and_back(site: Site, path: str) -> None:
    answer = await site.browser().get(f"{path}?a=b%26c")
    assert answer.location == "/sign-in?next=" + path.replace("/", "%2F") + "%3Fa%3Db%2526c"
    assert answer.body == b""


async def test_forged_and_ended_sessions_are_none(site: Site) -> None:
    browser = await site.signed_in()
    await site.store.write(lambda tx: sessions.end_all(tx, site.user_id))
    assert (await browser.get("/account")).status == 303
    for cookie in ("__Host-session=x", "__Host-session=", "session=x", "__Host-session=%00; __Host-visit=%ff"):
        answer = await Browser(site).get("/account", Cookie=cookie)
        assert answer.status == 303


# -- sizes, kinds and methods


async def test_a_huge_form_is_refused(site: Site) -> None:
    answer = await site.browser().post("/sign-in", {"email": "x" * FORM_BYTES})
    assert (answer.status, answer.page.heading) == (413, "That is too much")


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=x", "text/plain", ""])
async def test_what_is_no_form_is_refused(site: Site, kind: str) -> None:
    answer = await site.browser().post("/sign-in", {}, Content_Type=kind)
    assert (answer.status, answer.page.heading) == (415, "That did not work")


@pytest.mark.parametrize("missing", ["email", "password"])
async def test_half_a_form_is_refused(site: Site, missing: str) -> None:
    browser = site.browser()
    form = {**FORM, "csrf": (await browser.open("/sign-in")).token}
    assert (await browser.post("/sign-in", {name: form[name] for name in form if name != missing})).status == 400
    assert (await browser.post("/sign-in", {**form, missing: "x" * 5000})).status == 400


async def test_bytes_that_are_no_text_are_refused(site: Site) -> None:
    browser = site.browser()
    client: Any = browser._client
    response = await client.post(
        "/sign-in",
        data=b"\xff\xfe=%ff%00",
        headers={"Content-Type": FORM_TYPE},
        scope_base={"request": request_of("POST", "/sign-in")},
    )
    assert response.status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE"])
async def test_other_methods_are_named_by_what_there_is(site: Site, method: str) -> None:
    answer = await site.browser().get("/sign-in", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS, POST")
    assert answer.page.heading == "Not this way"


async def test_head_is_answered_as_get_is(site: Site) -> None:
    browser = await site.signed_in()
    for path in ("/", "/account", "/developers/apps", "/sign-out", "/nothing", "/static/style.css"):
        assert (await browser.get(path, "HEAD")).status == (await browser.get(path)).status


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("/sign-in/", "/sign-in"),
        ("/account/?a=b%26c", "/account?a=b%26c"),
        ("/developers/apps//", "/developers/apps"),
        ("/docs/", "/docs"),
    ],
)
async def test_a_slash_too_many_leads_to_the_page(site: Site, path: str, there: str) -> None:
    browser = site.browser()
    assert (await browser.get(path)).location == there
    assert (await browser.get(path, "HEAD")).location == there


@pytest.mark.parametrize(
    "path",
    ["//evil.example/", "/account/nothing/", "/account/nothing", "/oauth", "/static/", "/static/x.css", "/account//x"],
)
async def test_what_is_not_there(site: Site, path: str) -> None:
    answer = await site.browser().get(path)
    assert (answer.status, answer.page.heading) == (404, "There is nothing here")


# -- files, and what fails


@pytest.mark.parametrize("name", ["style.css", "icon.svg", "passkeys.js", "forms.js"])
async def test_files_are_for_everybody(site: Site, name: str) -> None:
    answer = await site.browser().get(f"/static/{name}")
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "public, max-age=86400")
    page = await site.browser().open("/sign-in")
    named = [each.attributes.get("href") or each.attributes.get("src", "") for each in page.root.all("link", "script")]
    assert any(each.startswith(f"/static/{name}?v=") for each in named)


async def test_a_failing_store_is_said_in_a_sentence(site: Site) -> None:
    async def fail() -> str:
        raise StoreFailure("disk full at /secret/path")

    site.app.add_url_rule("/sign-in/full", view_func=fail)
    answer = await site.browser().get("/sign-in/full")
    assert (answer.status, answer.headers["Retry-After"], answer.page.heading) == (503, "1", "Not now")
    assert b"secret" not in answer.body
    ((event, values),) = site.log.errors
    assert (event, values["request_id"]) == ("page_failed", answer.headers["X-Request-Id"])
    site.log.errors.clear()


async def test_a_fault_of_ours_is_logged_and_not_shown(site: Site) -> None:
    async def fail(token: str) -> str:
        raise RuntimeError(f"secret {token}")

    site.app.add_url_rule("/sign-in/broken/<token>", view_func=fail)
    answer = await site.browser().get("/sign-in/broken/abc")
    assert (answer.status, answer.page.heading) == (500, "Something went wrong")
    assert b"secret" not in answer.body
    assert answer.headers["X-Request-Id"] in answer.page.text
    ((event, values),) = site.log.errors
    assert (event, values["page"]) == ("page_failed", "/sign-in/broken/<token>")
    assert "abc" not in json.dumps(values, default=lambda each: "")
    site.log.errors.clear()
