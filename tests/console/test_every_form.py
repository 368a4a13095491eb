"""Every form there is, by the routes of the application: sent from elsewhere, and by everybody who was not given it."""

import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit

import pytest

from gatewayd.identity.people import users
from gatewayd.identity.sign_in import sessions
from gatewayd.store.settings import DATABASE_NAME
from tests.console.crawling import Form, crawl, rule_at
from tests.console.visiting import ISSUER, Answer, Browser, form_with_file
from tests.console.whole_site import ELSEWHERE, FILTERED, MEMBER, OF_THE_FIRM, OWNER, PEOPLE, WholeSite, open_whole_site
from tests.contract.conftest import Seeded

pytestmark = pytest.mark.sqlite_only("whether anything was written is told by SQLite's data_version")

STRANGER, HALFWAY = "a stranger", "who has not given the code yet"
TABLES: Final = """
SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%' AND name <> 'update_clock' ORDER BY name
"""
"""All but when somebody last wrote, be it nothing."""
BY_SCRIPTS: Final = "/options"
"""How addresses end that a script asks before it sends the form whose address stands before that."""
FROM_ELSEWHERE: Final[tuple[dict[str, str], ...]] = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": f"{ISSUER}.evil.example"},
    {"Origin": "http://books.example:8080"},
    {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site", "Origin": ISSUER},
)
"""What browsers say of a form that another site sends."""


@dataclass(frozen=True)
class Given:
    """A form, to whom it was given, and what their forms carry."""

    form: Form
    browser: Browser
    email: str
    token: str


@dataclass
class Watched:
    """The site, and what is stored."""

    whole: WholeSite
    connection: sqlite3.Connection
    version: int = 0
    rows: int = 0

    def is_as_before(self) -> bool:
        """Whether all rows are what they were the last time. They are read only where somebody has written since."""
        version = int(self.connection.execute("PRAGMA data_version").fetchone()[0])
        if version == self.version:
            return True
        tables = [name for (name,) in self.connection.execute(TABLES).fetchall()]
        rows = hash(tuple(row for each in tables for row in self.connection.execute(f"SELECT * FROM {each}")))
        same, self.version, self.rows = rows == self.rows, version, rows
        return same


@pytest.fixture
async def watched(demo: Seeded, tmp_path: Path) -> AsyncIterator[Watched]:
    async with open_whole_site(demo, tmp_path) as whole:
        with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as connection:
            yield Watched(whole, connection)


async def all_forms(whole: WholeSite) -> dict[tuple[str, str], Given]:
    """The forms by who was given them and where they go. Each route that takes one is among them."""
    forms: dict[tuple[str, str], Given] = {}
    for email, browser, starts in visitors(whole):
        seen = await crawl(whole.site.app, browser, *starts, signed_in=email in PEOPLE)
        for form in seen.forms.values():
            path = urlsplit(form.action).path
            for action in (form.action, f"{path}{BY_SCRIPTS}"):
                if rule_at(whole.site.app, action, "POST") is not None:
                    given = form if action == form.action else Form(action, ())
                    forms[email, action] = Given(given, browser, email, dict(form.fields)["csrf"])
    reached = {rule.rule for _, action in forms if (rule := rule_at(whole.site.app, action, "POST")) is not None}
    there = {rule.rule for rule in whole.site.app.url_map.iter_rules() if "POST" in (rule.methods or ())}
    assert there - reached == set(), "no page that is shown has a form for these"
    return forms


def visitors(whole: WholeSite) -> Iterator[tuple[str, Browser, list[str]]]:
    """Who looks for forms, and from where on."""
    asked = [whole.unlinked["/oauth/choose"], whole.unlinked["/oauth/consent"]]
    for email in PEOPLE:
        more = {OWNER: asked, ELSEWHERE: [whole.invitation]}
        filtered = FILTERED if email in OF_THE_FIRM else ()
        yield email, whole.browsers[email], ["/", *filtered, *more.get(email, ())]
    of_strangers = [address for rule, address in whole.unlinked.items() if rule.startswith("/sign-in")]
    of_strangers.append(whole.unlinked["/i/<token>"])
    yield STRANGER, whole.stranger, of_strangers
    yield HALFWAY, whole.halfway, ["/sign-in/code"]


def filled(form: Form, token: str | None) -> list[tuple[str, str]]:
    """What it sends with that token, or without any."""
    rest = [each for each in form.fields if each[0] != "csrf"]
    return rest if token is None else [*rest, ("csrf", token)]


async def send(browser: Browser, form: Form, token: str | None, **headers: str) -> Answer:
    """Post it with that token, or without any, as a browser does: with a file where it holds one."""
    sent = filled(form, token)
    if form.holds_file and "Content_Type" not in headers:
        return await browser.post_parts(form.action, form_with_file(sent, "a.txt", b"text"), **headers)
    return await browser.post(form.action, sent, **headers)


def one_of_each_route(whole: WholeSite, forms: dict[tuple[str, str], Given]) -> Iterable[Given]:
    """What is asked before a page is called is asked of every form alike."""
    routes = {}
    for given in forms.values():
        rule = rule_at(whole.site.app, given.form.action, "POST")
        assert rule is not None
        routes[rule.rule] = given
    return routes.values()


def is_of_oneself(form: Form) -> bool:
    """Whether it names nothing: whoever sends it, it is about them."""
    return not form.names and "?" not in form.action and not any(part.count("_") for part in form.action.split("/"))


async def test_no_form_is_taken_from_elsewhere_nor_as_a_link_nor_of_a_stranger(watched: Watched) -> None:
    whole = watched.whole
    forms = await all_forms(whole)
    others = (await (await whole.site.signed_in(MEMBER)).open("/account")).token  # another browser of one of them
    stranger = next(given.token for given in forms.values() if given.email == STRANGER)
    watched.is_as_before()
    for given in one_of_each_route(whole, forms):
        await refused_with_a_wrong_token(given, others)
        await refused_from_elsewhere(given)
        await not_taken_as_a_link(whole, given)
        if given.email in PEOPLE and not given.form.action.startswith("/sign-in"):
            for token in (None, given.token, stranger):
                answer = await send(whole.stranger, given.form, token, Origin=ISSUER)
                assert answer.location.startswith("/sign-in"), given
        assert watched.is_as_before(), given


async def refused_with_a_wrong_token(given: Given, others: str) -> None:
    nearly = given.token[:-1] + ("0" if given.token[-1] != "0" else "1")
    for token in (None, "", nearly, "é" * 64, sessions.csrf_token("x"), others):
        if token != given.token:
            answer = await send(given.browser, given.form, token, Origin=ISSUER)
            assert (answer.status, answer.page.heading) == (403, "Nothing was done"), (given, token)


async def refused_from_elsewhere(given: Given) -> None:
    """With the right token."""
    for headers in FROM_ELSEWHERE:
        answer = await send(given.browser, given.form, given.token, **headers)
        assert (answer.status, "another site" in answer.page.text) == (403, True), (given, headers)
    for kind in ("application/json", "text/plain", "" if given.form.holds_file else "multipart/form-data; boundary=x"):
        assert (await send(given.browser, given.form, given.token, Content_Type=kind)).status == 415, (given, kind)


async def not_taken_as_a_link(whole: WholeSite, given: Given) -> None:
    """An address that takes forms alone says so; at another stands the form itself, or the question before it."""
    action = given.form.action
    query = urlencode([each for each in filled(given.form, given.token) if each[1].isalnum()])
    answer = await given.browser.get(f"{action}{'&' if '?' in action else '?'}{query}")
    if rule_at(whole.site.app, action) is None:
        assert (answer.status, answer.headers["Allow"]) == (405, "OPTIONS, POST"), given


async def test_no_form_is_taken_of_whom_it_was_not_given_to(watched: Watched) -> None:
    """Ids and all, with a token of their own: nobody does more than their pages offer."""
    whole = watched.whole
    forms = await all_forms(whole)
    tokens = {given.email: given.token for given in forms.values()}
    ids = {user.email: user.id for user in await whole.site.store.read(users.list_all)}
    asked = 0
    watched.is_as_before()
    for (email, action), given in forms.items():
        if action.startswith(("/sign-in", "/oauth")):
            continue
        for other in PEOPLE:
            theirs = forms.get((other, action))
            if other == email or is_of_oneself(given.form) or ids[other] in action:  # everybody may leave
                continue
            if theirs is not None and theirs.form.names == given.form.names:
                continue
            answer = await send(whole.browsers[other], given.form, tokens[other], Origin=ISSUER)
            asked += 1
            told = (email, other, action, answer.status)
            assert watched.is_as_before(), told
            assert answer.status in (303, 400, 403, 404, 409, 422), told
    assert asked > len(PEOPLE) * 20
