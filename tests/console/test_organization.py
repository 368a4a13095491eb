"""Which organization pages are of, what they say once, and operations that they call for the person who is there."""

from gatewayd.console import flashes
from gatewayd.console.flashes import Flash
from tests.console.visiting import Browser, Site

COOKIE = "__Host-organization"


async def choose(browser: Browser, org_id: str, next_path: str = "/") -> str:
    page = await browser.open("/account")
    answer = await browser.post("/organization", {"csrf": page.token, "id": org_id, "next": next_path})
    return answer.location if answer.status == 303 else str(answer.status)


async def test_the_choice_is_remembered_and_only_of_ones_own(site: Site) -> None:
    other = await site.add_org("Elm & Daughter", site.user_id)
    strange = await site.add_org("Not hers", await site.add_user("bob@example.com"))
    browser = await site.signed_in()
    assert COOKIE not in browser.cookies
    assert await choose(browser, other, "/developers/apps") == "/developers/apps"
    assert browser.cookies[COOKIE] == other
    assert await choose(browser, strange) == "404"
    assert await choose(browser, "nothing") == "404"
    assert browser.cookies[COOKIE] == other
    assert await choose(browser, site.org_id, "//elsewhere.example/") == "/"


async def test_flashes_are_of_one_session_and_of_bounded_length() -> None:
    said = [Flash("success", "Saved."), Flash("danger", "é" * 900)]
    sealed = flashes.sealed_flashes(said, "token")
    assert flashes.kept_flashes(sealed, "token") == [said[0], Flash("danger", "é" * flashes.TEXT_MAX)]
    assert flashes.kept_flashes(sealed, "another") == []
    for broken in ("", "x", "%%%", sealed[:-4], "A" + sealed):
        assert flashes.kept_flashes(broken, "token") == []
    many = [Flash("success", str(number)) for number in range(5)]
    assert flashes.kept_flashes(flashes.sealed_flashes(many, "token"), "token") == many[-3:]
    assert len(flashes.sealed_flashes([Flash("danger", "\U0001f600" * 900)] * 3, "token")) < 4_000
