"""Signing out, also where a client asks for it."""

from urllib.parse import urlencode

from gatewayd.identity.sign_in import sessions
from tests.console.visiting import POLICY, Site

BACK = "https://app.example/bye"


async def test_signing_out_asks_first(site: Site) -> None:
    browser = await site.signed_in()
    token = browser.cookies["__Host-session"]
    page = await browser.open("/sign-out")
    assert (page.heading, page.buttons()) == ("Sign out?", ["Sign out"])
    assert (await browser.get("/account")).status == 200
    answer = await browser.submit(page, "/sign-out")
    assert answer.location == "/sign-in"
    assert "You are signed out." in (await browser.follow(answer)).page.text
    assert "You are signed out." not in (await browser.open("/sign-in")).text  # it is said once
    assert "__Host-session" not in browser.cookies
    assert await site.store.read(lambda tx: sessions.find(tx, token)) is None
    assert (await browser.get("/sign-out")).location == "/sign-in"
    assert (await browser.submit(page, "/sign-out")).location == "/sign-in?next=%2F"  # the page of before


async def test_a_client_gets_the_browser_back(site: Site) -> None:
    client = await site.register(post_logout_redirect_uris=[BACK])
    query = urlencode({"client_id": client.id, "post_logout_redirect_uri": BACK, "state": "a b"})
    browser = await site.signed_in()
    answer = await browser.get(f"/sign-out?{query}")
    assert answer.headers["Content-Security-Policy"] == f"{POLICY} https:"
    assert "You will then be sent back to app.example." in answer.page.text
    assert (await browser.submit(answer.page, "/sign-out")).location == f"{BACK}?state=a%20b"
    page = await browser.open(f"/sign-out?{query}")  # signed out already: nobody is sent without a word
    assert page.heading == "You are signed out"
    assert f"{BACK}?state=a%20b" in page.links()


async def test_nobody_is_sent_where_no_client_registered(site: Site) -> None:
    client = await site.register(post_logout_redirect_uris=[BACK])
    browser = await site.signed_in()
    for given in ({"client_id": client.id, "post_logout_redirect_uri": "https://evil.example"}, {"client_id": "x"}):
        query = urlencode({"post_logout_redirect_uri": BACK, **given})
        answer = await browser.get(f"/sign-out?{query}")
        assert (answer.status, answer.page.heading) == (400, "That did not work")
    page = await browser.open("/sign-out")
    form = {"csrf": page.token, "client_id": client.id, "post_logout_redirect_uri": "https://evil.example"}
    assert (await browser.post("/sign-out", form)).status == 400
