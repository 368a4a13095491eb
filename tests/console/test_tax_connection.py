"""An organization is connected to the tax authority by its pages, and disconnected; what goes wrong changes nothing."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest
import trio

from gatewayd.areas.legal_entities import operations as legal_entities
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity, GetLegalEntity
from gatewayd.clock import SECOND, from_wire
from gatewayd.contract.wire import encode
from gatewayd.identity.people import memberships
from gatewayd.identity.sign_in import sessions
from gatewayd.store import ReadTx, WriteTx
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.sign_ins import LIFE
from gatewayd.tax.settings import TaxSettings
from tests.console.taxing import PAGE, Line, connect, lines, token
from tests.console.visiting import ISSUER, POLICY, SECONDS, Answer, Browser, Site, open_site
from tests.support.store import START, make_caller
from tests.tax.recording import Recorded, Stream, Upstream, answer, hang, hang_up, saying, upstream

BACK = f"{PAGE}/connected"
GRANTED = {"access_token": "planted-a", "refresh_token": "planted-r", "expires_in": 14400, "scope": "read:vat"}


@asynccontextmanager
async def opened(tmp_path: Path, image: bytes, seconds: float = 20.0) -> AsyncIterator[tuple[Site, Upstream]]:
    """The pages of a server that asks the authority itself, and the authority's token endpoint."""
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    with trio.fail_after(SECONDS):
        async with upstream() as server:
            settings = TaxSettings(
                mode="hmrc",
                upstream=server.url,
                client_id="app",
                client_secret_file=str(secret),
                timeout_seconds=seconds,
            )
            server.script = saying(answer(json.dumps(GRANTED).encode()))
            async with open_site(tmp_path, image, settings) as site:
                yield site, server


async def begin(browser: Browser) -> str:
    """Press the button; answers the state that went along."""
    sent = await browser.submit(await browser.open(PAGE), f"{PAGE}/connect")
    return sent.sent_back["state"]


async def come_back(browser: Browser, **answered: str) -> Answer:
    """As the authority sends the browser."""
    return await browser.get(f"{BACK}?{urlencode(answered)}")


async def connection(site: Site) -> connections.Standing | None:
    return await site.store.read(connections.standing, site.org_id)


async def entity(site: Site, entity_id: str = "") -> dict[str, object]:
    """A legal entity of Ann's organization; without an id a new one."""
    caller = make_caller(site.org_id)

    def create(tx: WriteTx) -> bytes:
        request = CreateLegalEntity(name="Oak", type="sole_trader", nino="AB123456C")
        return encode(legal_entities.create_legal_entity(tx, caller, request))

    def get(tx: ReadTx) -> bytes:
        return bytes(legal_entities.get_legal_entity(tx, caller, GetLegalEntity(id=entity_id)))

    made = await (site.store.read(get, site.org_id) if entity_id else site.store.write(create, site.org_id))
    found: dict[str, object] = json.loads(made)
    return found


async def test_the_whole_way(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        before = await entity(site)
        site.clock.advance(SECOND)
        browser = await site.signed_in()
        shown = await browser.get(PAGE)
        assert shown.headers["Content-Security-Policy"] == f"{POLICY} https:"
        assert "Not connected" in shown.page.text
        sent = await browser.submit(shown.page, f"{PAGE}/connect")
        address = urlsplit(sent.location)
        assert (address.scheme, address.netloc, address.path) == ("https", "www.tax.service.gov.uk", "/oauth/authorize")
        asked = dict(parse_qsl(address.query))
        assert asked == {
            "response_type": "code",
            "client_id": "app",
            "scope": "read:vat read:self-assessment",
            "redirect_uri": ISSUER + BACK,
            "state": asked["state"],
        }
        assert server.requests == []
        came = await come_back(browser, code="c/1 +", state=asked["state"])
        assert came.location == f"{PAGE}?organization={site.org_id}"
        assert "The tax authority is connected." in (await browser.follow(came)).page.text
        assert parse_qs(server.request.body.decode()) == {
            "grant_type": ["authorization_code"],
            "code": ["c/1 +"],
            "redirect_uri": [ISSUER + BACK],
            "client_id": ["app"],
            "client_secret": ["s3cret"],
        }
        page = (await browser.follow(came)).page
        assert "since 20 Nov 2026, by ann@example.com" in page.text
        assert "Until20 May 2028" in page.text
        assert page.buttons()[0] == "Disconnect"
        assert "planted" not in page.text
        assert await lines(site) == [Line(site.user_id, "tax.connected", site.org_id, site.org_id)]
        after = await entity(site, str(before["id"]))
    assert before["taxConnection"] == {"vat": False, "itsa": False, "expiresAt": None}
    assert after["taxConnection"] == {"vat": True, "itsa": False, "expiresAt": "2028-05-20T09:30:01.000Z"}
    assert (after["version"], after["updatedAt"]) == (2, "2026-11-20T09:30:01.000Z")


async def test_a_scope_that_is_not_answered_is_the_one_that_was_asked_for(
    tmp_path: Path, database_image: bytes
) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        server.script = saying(answer(b'{"access_token":"a","refresh_token":"b"}'))
        browser = await site.signed_in()
        await come_back(browser, code="good", state=await begin(browser))
        assert "ForVAT and Income Tax" in (await browser.open(PAGE)).text
        kept = await site.store.read(connections.find, site.org_id)
    assert kept is not None
    assert kept.scope == "read:vat read:self-assessment"


# -- what goes wrong


async def nothing_came_of_it(site: Site, answered: Answer, status: int, words: str) -> None:
    assert (answered.status, words in answered.page.problem) == (status, True), answered.page.text
    assert "Nothing was changed" in answered.page.problem
    assert await connection(site) is None
    assert await lines(site) == []


@pytest.mark.parametrize(
    ("answered", "words"),
    [
        ({"error": "access_denied"}, "Access was not allowed"),
        ({"error": "access_denied", "code": "good"}, "Access was not allowed"),
        ({"error": "<script>" * 100}, "did not let you in"),
        ({"code": ""}, "does not accept"),
        ({"code": "x" * 3000}, "does not accept"),
        ({}, "does not accept"),
    ],
)
async def test_without_a_code_nothing_is_asked(
    tmp_path: Path, database_image: bytes, answered: dict[str, str], words: str
) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        browser = await site.signed_in()
        came = await come_back(browser, **answered, state=await begin(browser))
        await nothing_came_of_it(site, came, 422, words)
    assert server.requests == []


FAILURES = {
    "refused": (saying(answer(b'{"error":"invalid_grant"}', "400 Bad Request")), 422, "does not accept"),
    "down": (hang_up, 502, "cannot be asked now"),
    "failing": (saying(answer(b"{}", "500 X")), 502, "cannot be asked now"),
    "no tokens": (saying(answer(b'{"access_token":"a b"}')), 502, "cannot be asked now"),
    "slow": (hang, 504, "did not answer in time"),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_an_authority_that_gives_nothing(tmp_path: Path, database_image: bytes, failure: str) -> None:
    script, status, words = FAILURES[failure]
    async with opened(tmp_path, database_image, 0.3) as (site, server):
        server.script = script
        browser = await site.signed_in()
        state = await begin(browser)
        await nothing_came_of_it(site, await come_back(browser, code="good", state=state), status, words)
        await nothing_came_of_it(site, await come_back(browser, code="good", state=state), 400, "no sign-in")


async def test_a_secret_that_cannot_be_read_is_ours(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path, database_image) as (site, _):
        browser = await site.signed_in()
        state = await begin(browser)
        (tmp_path / "secret").unlink()
        await nothing_came_of_it(site, await come_back(browser, code="good", state=state), 503, "not set up")
        ((event, _),) = site.log.errors
        site.log.errors.clear()
    assert event == "tax_connect_failed"


async def test_a_state_counts_once(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        browser = await site.signed_in()
        state = await begin(browser)
        assert (await come_back(browser, code="good", state=state)).status == 303
        again = await come_back(browser, code="good", state=state)
        assert (again.status, "no sign-in that you began" in again.page.problem) == (400, True)
        assert len(await lines(site)) == 1
    assert len(server.requests) == 1


async def test_two_at_once_are_two_sign_ins_and_one_state_is_one(tmp_path: Path, database_image: bytes) -> None:
    statuses: list[int] = []
    async with opened(tmp_path, database_image) as (site, server):
        browser = await site.signed_in()
        states = [await begin(browser), await begin(browser)]
        give, both_asked = server.script, trio.Event()

        async def script(stream: Stream, request: Recorded) -> None:
            if len(server.requests) == 2:
                both_asked.set()
            await both_asked.wait()  # who came later would find the other's connection, and not ask
            await give(stream, request)

        server.script = script

        async def back(state: str) -> None:
            statuses.append((await come_back(browser, code="good", state=state)).status)

        async with trio.open_nursery() as nursery:
            for state in (*states, *states):
                nursery.start_soon(back, state)
        assert len(await lines(site)) == 1  # neither had agreed to lose what the other connected
    assert sorted(statuses) == [303, 400, 400, 409]
    assert len(server.requests) == 2


@pytest.mark.parametrize("state", ["", "x", "\0", "é" * 5000])
async def test_a_state_that_nobody_gave_out(tmp_path: Path, database_image: bytes, state: str) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        browser = await site.signed_in()
        await begin(browser)
        for more in ({"code": "good"}, {"error": "access_denied"}):
            await nothing_came_of_it(site, await come_back(browser, state=state, **more), 400, "no sign-in")
    assert server.requests == []


async def test_the_state_of_another_session_is_none_and_stays_theirs(tmp_path: Path, database_image: bytes) -> None:
    """Else somebody could have a stranger connect the stranger's taxes to their own organization, or the reverse."""
    async with opened(tmp_path, database_image) as (site, server):
        browser, other = await site.signed_in(), await site.signed_in()
        await site.add_user("bob@example.com")
        stranger = site.browser()
        await stranger.sign_in(email="bob@example.com")
        state = await begin(browser)
        for each in (other, stranger):
            await nothing_came_of_it(site, await come_back(each, code="good", state=state), 400, "no sign-in")
        assert server.requests == []
        assert (await come_back(browser, code="good", state=state)).status == 303


async def test_after_ten_minutes_it_is_too_late(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        browser = await site.signed_in()
        state = await begin(browser)
        site.clock.advance(LIFE + 1)
        await nothing_came_of_it(site, await come_back(browser, code="good", state=state), 400, "no sign-in")
    assert server.requests == []


async def test_who_was_signed_out_meanwhile_signs_in_and_begins_anew(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        browser = await site.signed_in()
        state = await begin(browser)
        await site.store.write(lambda tx: sessions.end_all(tx, site.user_id))
        came = await come_back(browser, code="good", state=state)
        assert came.location.startswith("/sign-in?next=%2Fdevelopers%2Ftax%2Fconnected")
        await browser.sign_in()
        await nothing_came_of_it(site, await come_back(browser, code="good", state=state), 400, "no sign-in")
    assert server.requests == []


# -- who may


async def test_owners_and_admins_connect_and_disconnect(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        await site.add_user("bob@example.com", site.org_id)
        member = site.browser()
        await member.sign_in(email="bob@example.com")
        assert "Owners and admins of the organization connect it." in (await member.open(PAGE)).text
        elsewhere = await site.add_org("Elm Ltd", await site.add_user("eve@example.com"))
        browser = await site.signed_in()
        for visitor, org_id, status in ((member, site.org_id, 403), (browser, elsewhere, 404), (browser, "x", 404)):
            form = {"csrf": await token(visitor), "organization": org_id, "confirmed": "yes"}
            for path in ("connect", "disconnect"):
                assert (await visitor.post(f"{PAGE}/{path}", form)).status == status
        assert await connection(site) is None
    assert server.requests == []


async def test_who_leads_no_more_when_they_come_back_connects_nothing(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        user_id = await site.add_user("bob@example.com", site.org_id)
        await site.store.write(lambda tx: memberships.change_role(tx, user_id, "admin", "operator"), site.org_id)
        browser = site.browser()
        await browser.sign_in(email="bob@example.com")
        states = [await begin(browser), await begin(browser)]
        await site.store.write(lambda tx: memberships.change_role(tx, user_id, "member", "operator"), site.org_id)
        assert (await come_back(browser, code="good", state=states[0])).status == 403
        await site.store.write(lambda tx: memberships.remove(tx, user_id, "operator"), site.org_id)
        assert (await come_back(browser, code="good", state=states[1])).status == 404
        assert await connection(site) is None
    assert server.requests == []


async def test_who_is_demoted_while_the_authority_answers_connects_nothing(
    tmp_path: Path, database_image: bytes
) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        user_id = await site.add_user("bob@example.com", site.org_id)
        await site.store.write(lambda tx: memberships.change_role(tx, user_id, "admin", "operator"), site.org_id)
        browser = site.browser()
        await browser.sign_in(email="bob@example.com")
        state = await begin(browser)

        async def demote(stream: Stream, request: Recorded) -> None:
            await site.store.write(lambda tx: memberships.change_role(tx, user_id, "member", "operator"), site.org_id)
            await stream.send_all(answer(json.dumps(GRANTED).encode()))

        server.script = demote
        assert (await come_back(browser, code="good", state=state)).status == 403
        assert await connection(site) is None
        assert await lines(site) == []


async def test_where_nothing_is_to_be_connected_the_button_is_not_there(site: Site) -> None:
    browser = await site.signed_in()
    assert not (await browser.open(PAGE)).has_form(f"{PAGE}/connect")
    assert (await browser.get(PAGE)).headers["Content-Security-Policy"] == POLICY
    form = {"csrf": await token(browser), "organization": site.org_id}
    assert (await browser.post(f"{PAGE}/connect", form)).status == 404


# -- several grants


async def test_a_company_and_a_person_are_connected_by_sign_ins_of_their_own(
    tmp_path: Path, database_image: bytes
) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        person = str((await entity(site))["id"])
        browser = await site.signed_in()
        await come_back(browser, code="good", state=await begin(browser))
        own = {**GRANTED, "access_token": "planted-own", "scope": "read:self-assessment"}
        server.script = saying(answer(json.dumps(own).encode()))
        form = {"csrf": await token(browser), "organization": site.org_id, "entity": person}
        sent = await browser.post(f"{PAGE}/connect", form)
        await come_back(browser, code="good", state=dict(parse_qsl(urlsplit(sent.location).query))["state"])
        kept = [await site.store.read(lambda tx, of=of: connections.find(tx, of), site.org_id) for of in (None, person)]
        assert [each and each.access for each in kept] == ["planted-a", "planted-own"]
        page = await browser.open(PAGE)
        assert "Whose taxesOak" in page.text
        assert (await entity(site, person))["taxConnection"] == {
            "vat": False,
            "itsa": True,
            "expiresAt": "2028-05-20T09:30:00.000Z",
        }
        gone = {**form, "confirmed": "yes"}
        assert (await browser.post(f"{PAGE}/disconnect", gone)).status == 303
        assert await connection(site) is not None
        assert (await entity(site, person))["taxConnection"] == {
            "vat": True,
            "itsa": False,
            "expiresAt": "2028-05-20T09:30:00.000Z",
        }
        assert [line.subject for line in await lines(site)] == [site.org_id, person, person]


async def test_replacing_asks_first_and_what_was_not_agreed_to_stays(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path, database_image) as (site, server):
        await connect(site)
        before = await connection(site)
        browser = await site.signed_in()
        form = {"csrf": await token(browser), "organization": site.org_id}
        question = (await browser.post(f"{PAGE}/connect", form)).page
        assert (question.heading, question.buttons()) == ("Replace the connection?", ["Replace"])
        sent = await browser.submit(question, f"{PAGE}/connect")
        site.clock.advance(SECOND)
        await connect(site)  # somebody else, while the browser is at the authority
        came = await come_back(browser, code="good", state=sent.sent_back["state"])
        assert (came.status, "meanwhile" in came.page.problem) == (409, True)
        assert server.requests == []
        agreed = await browser.submit((await browser.post(f"{PAGE}/connect", form)).page, f"{PAGE}/connect")
        assert (await come_back(browser, code="good", state=agreed.sent_back["state"])).status == 303
        after = await connection(site)
    assert before is not None
    assert after is not None
    assert (before.by, after.by) == ("operator", site.user_id)


async def test_an_entity_of_another_organization_is_none(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path, database_image) as (site, _):
        theirs = await site.add_org("Elm Ltd", await site.add_user("eve@example.com"))
        request = CreateLegalEntity(name="Elm", type="sole_trader")
        made = await site.store.write(
            lambda tx: legal_entities.create_legal_entity(tx, make_caller(theirs), request), theirs
        )
        browser = await site.signed_in()
        for of in (made.id, "ent_none"):
            form = {"csrf": await token(browser), "organization": site.org_id, "entity": of}
            assert (await browser.post(f"{PAGE}/connect", form)).status == 404


# -- the end


async def test_disconnecting_asks_first(site: Site) -> None:
    await connect(site)
    browser = await site.signed_in()
    question = (await browser.submit(await browser.open(PAGE), f"{PAGE}/disconnect")).page
    assert (question.heading, question.buttons()) == ("Disconnect Oak & Son?", ["Disconnect"])
    assert f"{PAGE}?organization={site.org_id}" in question.links()
    assert await connection(site) is not None
    for _ in range(2):
        done = await browser.submit(question, f"{PAGE}/disconnect")
        assert done.location == f"{PAGE}?organization={site.org_id}"
        assert "The connection to the tax authority was ended." in (await browser.follow(done)).page.text
    assert await connection(site) is None
    assert await lines(site) == [
        Line("operator", "tax.connected", site.org_id, site.org_id),
        Line(site.user_id, "tax.disconnected", site.org_id, site.org_id),
    ]


async def test_a_connection_that_is_over_is_made_anew(tmp_path: Path, database_image: bytes) -> None:
    async with opened(tmp_path, database_image) as (site, _):
        await connect(site)
        before = await connection(site)
        assert before is not None
        assert before.granted.expires_at == from_wire("2028-05-20T09:30:00Z")
        browser = await site.signed_in()
        assert "Connect" not in (await browser.open(PAGE)).buttons()
        site.clock.advance(before.granted.expires_at - START)
        browser = await site.signed_in()
        page = await browser.open(PAGE)
        assert "The connection ended on 20 May 2028" in page.text
        assert "by whoever runs this server" in page.text
        await come_back(browser, code="good", state=await begin(browser))
        after = await connection(site)
    assert after is not None
    assert (after.by, after.since) == (site.user_id, before.granted.expires_at)
    assert after.granted.expires_at == from_wire("2029-11-20T09:30:00Z")
