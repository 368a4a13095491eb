"""Every page there is, by the routes of the application, as everybody: who is led to it, and who can open it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest

from gatewayd.console.navigation import ENTRIES, current, shelves
from tests.console.crawling import Seen, crawl, rule_at
from tests.console.whole_site import ELSEWHERE, MEMBER, OF_THE_FIRM, OWNER, PEOPLE, ROOT, WholeSite, open_whole_site
from tests.contract.conftest import Seeded

ROLES: Final = dict(zip(PEOPLE, ("owner", "admin", "member", "owner", ""), strict=True))
FOR_EVERYBODY: Final = ("/sign-in", "/docs", "/static", "/i/")
"""How the addresses begin that open without a sign-in."""
ONES_OWN: Final = frozenset({"/account/sessions/end-all", "/developers/keys"})
"""Pages that show what is theirs to everybody, also to whom no link does: they have no such thing."""


@pytest.fixture
async def whole(demo: Seeded, tmp_path: Path) -> AsyncIterator[WholeSite]:
    async with open_whole_site(demo, tmp_path) as opened:
        yield opened


async def everything(whole: WholeSite) -> dict[str, Seen]:
    """What each of the people is shown. A link to what they may not open fails the test in here."""
    return {email: await crawl(whole.site.app, browser, "/") for email, browser in whole.browsers.items()}


def plain(address: str, org_id: str) -> str:
    """The address without the name of the firm, which is that of the page anyway."""
    parts = urlsplit(address)
    asked = [(name, text) for name, text in parse_qsl(parts.query) if (name, text) != ("organization", org_id)]
    return f"{parts.path}?{urlencode(asked)}" if asked else parts.path


async def test_every_page_is_known_and_opens_to_whom_it_is_shown_alone(whole: WholeSite) -> None:
    """A page that a link names opens; one that no link names to somebody does not open to them.

    A new page is found here by the links to it, with the demo's firm in it. One to which nothing leads stands in
    `unlinked` of `whole_site.py`; one of things that the firm has none of needs one there.
    """
    app, seen = whole.site.app, await everything(whole)
    found = {address for each in seen.values() for address in each.pages}
    linked = found | {address for each in seen.values() for address in each.shown}
    reached = {rule.rule for rule in (rule_at(app, address) for address in linked) if rule is not None}
    there = {rule.rule for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ())}
    assert there - reached - whole.unlinked.keys() == set(), "no link leads to these"
    assert whole.unlinked.keys() - there == set(), "there are no such pages"
    for email in PEOPLE:
        known = {plain(each, whole.site.org_id) for each in {*seen[email].pages, *seen[email].shown}}
        for address in sorted(found):
            named = plain(address, whole.site.org_id) if email in OF_THE_FIRM else address
            if named in known:
                continue
            answer, path = await whole.browsers[email].get(address), urlsplit(address).path
            if answer.status == 200:  # what the same page shows of theirs, and nothing of the firm
                assert path in {*ONES_OWN, *(urlsplit(each).path for each in known)}, (email, address)
                assert email in OF_THE_FIRM or "Oak & Son" not in answer.page.text, (email, address)
            elif answer.status == 303:  # there is no such thing of theirs: they are led to what there is
                leads_to = urlsplit(answer.location).path
                assert leads_to in {urlsplit(each).path for each in known}, (email, address)
            else:
                assert answer.status in (403, 404), (email, address, answer.status)


async def test_the_rail_says_who_may_open_a_page(whole: WholeSite) -> None:
    for email, role in ROLES.items():
        mine = {entry.href for shelf in shelves(role, instance_admin=email == ROOT) for entry in shelf.entries}
        for entry in ENTRIES:
            answer = await whole.browsers[email].get(entry.href)
            expected = (200,) if entry.href in mine or entry.href in ONES_OWN else (403, 404)
            assert answer.status in expected, (email, entry.href)


async def test_what_the_rail_calls_administration_is_found_by_administrators_alone(whole: WholeSite) -> None:
    seen = await crawl(whole.site.app, whole.browsers[ROOT], "/")
    administered = {entry.href for entry in ENTRIES if entry.group == "Administration"}
    pages = [address for address in seen.pages if current(urlsplit(address).path) in administered]
    assert len(pages) > len(administered)
    for address in [*pages, whole.unlinked["/admin"]]:
        for email in (*OF_THE_FIRM, ELSEWHERE):
            assert (await whole.browsers[email].get(address)).status == 404, (email, address)


async def test_strangers_are_led_to_the_sign_in_and_back(whole: WholeSite) -> None:
    seen = await everything(whole)
    addresses = {address for each in seen.values() for address in each.pages} | set(whole.unlinked.values())
    for address in sorted(addresses):
        answer = await whole.stranger.get(address)
        if address.startswith("/sign-in/code"):  # it needs the password first
            assert answer.location.startswith("/sign-in?next="), address
        elif address == "/sign-out":  # nobody comes back to that
            assert answer.location == "/sign-in"
        elif address.startswith(FOR_EVERYBODY):
            assert answer.status == 200, address
        else:
            assert answer.location == f"/sign-in?next={quote(address, safe='')}", address
            assert answer.body == b"", address


async def test_pages_to_which_nothing_leads_open_to_whom_they_are_for(whole: WholeSite) -> None:
    for email in PEOPLE:
        for rule, address in whole.unlinked.items():
            answer = await whole.browsers[email].get(address)
            if rule == "/admin":
                assert answer.status == (303 if email == ROOT else 404), (email, rule)
            elif rule == "/developers/tax/connected":  # nobody was sent from there
                assert answer.status == 400, (email, rule)
            elif rule == "/oauth/consent":  # whoever chose the account
                assert (answer.status == 200) is (email == OWNER), (email, rule)
            elif rule == "/oauth/choose":
                assert answer.status in ((200,) if email == OWNER else (200, 303, 400)), (email, rule)
            elif rule != "/sign-in/code":
                assert answer.status == 200, (email, rule)
    assert (await whole.halfway.get("/sign-in/code")).status == 200


async def test_a_member_is_told_what_leaders_do_and_not_how(whole: WholeSite) -> None:
    """Members see who is in the firm, and neither forms nor links to change it."""
    seen = await crawl(whole.site.app, whole.browsers[MEMBER], "/")
    leading = {"/members/invite", "/members/role", "/members/remove", "/members/invitations/revoke"}
    assert leading & {urlsplit(address).path for address in seen.shown} == set()
    assert leading & {urlsplit(action).path for action in seen.forms} == set()
