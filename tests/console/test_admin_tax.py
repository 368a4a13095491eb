"""Instance administrators decide who has access to taxes; nobody else finds the page."""

import pytest
import trio

from gatewayd.clock import SECOND
from gatewayd.console.administration.tax_decisions import SHOWN
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys
from gatewayd.tax import approvals
from gatewayd.tax.approvals import BY_OPERATOR, REASON_MAX, Subject
from tests.console.administering import administrator
from tests.console.reading import Document
from tests.console.taxing import ADMIN, DECLARED, Line, approve, ask, key, lines, standing, token
from tests.console.visiting import Answer, Browser, Site


def cards(page: Document) -> list[str]:
    return [each.text for each in page.root.all("h3")]


async def decide(browser: Browser, how: str, subject: Subject, **values: str) -> Answer:
    """Post a decision, whether or not the page offers it."""
    form = {"csrf": await token(browser), "kind": subject.kind, "subject": subject.id, "request": "", "reason": "No."}
    return await browser.post(f"{ADMIN}/{how}", {**form, **values})


async def test_others_find_nothing(site: Site) -> None:
    subject = Subject("key", await key(site, "tax:read"))
    browser = await site.signed_in()  # an owner, but not of the instance
    for path in ("/admin", ADMIN):
        answer = await browser.get(path)
        assert (answer.status, answer.page.heading) == (404, "There is nothing here")
    for how in ("approve", "refuse", "withdraw"):
        assert (await decide(browser, how, subject)).status == 404
    page = await browser.open("/")
    assert not any(link.startswith("/admin") for link in page.links())
    assert (await standing(site, subject)).status == "pending"
    assert await lines(site) == []


async def test_the_way_there(site: Site) -> None:
    _, browser = await administrator(site)
    assert (await browser.get("/admin")).location == ADMIN
    page = await browser.open(ADMIN)
    assert page.heading == "Tax approvals"
    assert "Nothing waits for a decision." in page.text
    assert "No key and no app has tax access." in page.text
    assert ADMIN in page.links()
    assert "wait" not in (await browser.open("/")).text
    await key(site, "tax:read")
    assert "1 request for tax access waits for your decision." in (await browser.open("/")).text
    await key(site, "tax:read")
    assert "2 requests for tax access wait for your decision." in (await browser.open("/")).text


async def test_what_waits_stands_there_the_oldest_first_with_what_is_declared(site: Site) -> None:
    old = Subject("key", await key(site, name="Old"))
    for name in ("Second", "Third"):
        site.clock.advance(SECOND)
        await key(site, "tax:read", name=name)
    client = await site.register("https://app.example/back", name="Sprout <b>")
    site.clock.advance(SECOND)
    await ask(site, Subject("client", client.id))
    site.clock.advance(SECOND)
    await ask(site, old)
    _, browser = await administrator(site)
    page = await browser.open(ADMIN)
    assert cards(page) == ["Second", "Third", "Sprout <b>", "Old"]
    declared = ["".join(str(part) for part in each.children) for each in page.root.all("blockquote")]
    assert declared == [DECLARED, DECLARED]  # word for word, line by line
    assert page.text.count("Nothing is declared. Whoever approves it answers for it.") == 2
    for shown in ("Oak & Son", "app.example", client.id, old.id, "by ann@example.com"):
        assert shown in page.text


async def test_approve_then_withdraw(site: Site) -> None:
    subject = Subject("key", await key(site, "tax:read"))
    await ask(site, subject)
    user_id, browser = await administrator(site)
    page = await browser.open(ADMIN)
    answer = await browser.submit(page, f"{ADMIN}/approve")
    assert answer.location == ADMIN
    assert "Tax access was approved" in (await browser.follow(answer)).page.text
    found = await standing(site, subject)
    assert (found.status, found.attestation, found.by) == ("approved", DECLARED, user_id)
    opened = await site.store.read(lambda tx: api_keys.get(tx, subject.id).effective_scopes, site.org_id)
    assert opened == ["tax:read"]
    page = await browser.open(ADMIN)
    assert "Nothing waits for a decision." in page.text
    assert "20 Nov 2026 by root@example.com" in page.text
    assert DECLARED.partition("\n")[0] in page.text
    assert (await browser.submit(page, f"{ADMIN}/withdraw", reason=" Terms broken. ")).location == ADMIN
    found = await standing(site, subject)
    assert (found.status, found.reason, found.by) == ("refused", "Terms broken.", user_id)
    assert cards(await browser.open(ADMIN)) == []
    assert await lines(site) == [
        Line(site.user_id, "key.tax_requested", subject.id, site.org_id),
        Line(user_id, "key.tax_approved", subject.id, site.org_id),
        Line(user_id, "key.tax_withdrawn", subject.id, site.org_id),
    ]


async def test_refuse(site: Site) -> None:
    subject = Subject("client", (await site.register()).id)
    await ask(site, subject)
    user_id, browser = await administrator(site)
    page = await browser.open(ADMIN)
    answer = await browser.submit(page, f"{ADMIN}/refuse", reason="  ")
    assert (answer.status, answer.page.problem) == (422, "Write why: whoever asked reads it.")
    assert (await browser.submit(page, f"{ADMIN}/refuse", reason="Who are you?")).location == ADMIN
    found = await standing(site, subject)
    assert (found.status, found.reason, found.attestation) == ("refused", "Who are you?", DECLARED)
    assert (await lines(site))[1:] == [Line(user_id, "client.tax_refused", subject.id, None)]


async def test_a_client_is_approved_and_withdrawn_without_a_reason(site: Site) -> None:
    subject = Subject("client", (await site.register()).id)
    await ask(site, subject)
    user_id, browser = await administrator(site)
    await browser.submit(await browser.open(ADMIN), f"{ADMIN}/approve")
    assert (await standing(site, subject)).status == "approved"
    await browser.submit(await browser.open(ADMIN), f"{ADMIN}/withdraw", reason="")
    assert (await standing(site, subject)).reason is None
    assert (await lines(site))[1:] == [
        Line(user_id, "client.tax_approved", subject.id, None),
        Line(user_id, "client.tax_withdrawn", subject.id, None),
    ]


async def test_a_key_that_asks_by_its_scopes_is_answered_for_by_whoever_approves(site: Site) -> None:
    subject = Subject("key", await key(site, "tax:read"))
    _, browser = await administrator(site)
    assert (await browser.submit(await browser.open(ADMIN), f"{ADMIN}/approve")).status == 303
    assert (await standing(site, subject)).attestation == BY_OPERATOR


# -- twice, too late, and not at all


@pytest.mark.parametrize(("how", "end"), [("approve", "approved"), ("refuse", "refused"), ("withdraw", "refused")])
async def test_two_clicks_are_one(site: Site, how: str, end: str) -> None:
    subject = Subject("key", await key(site, "tax:read"))
    _, browser = await administrator(site)
    if how == "withdraw":
        await approve(site, subject)
    page = await browser.open(ADMIN)
    before = len(await lines(site))
    statuses: list[int] = []

    async def click() -> None:
        statuses.append((await browser.submit(page, f"{ADMIN}/{how}", reason="No.")).status)

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(click)
    assert statuses == [303, 303]
    assert (await standing(site, subject)).status == end
    assert len(await lines(site)) == before + 1


async def test_nobody_approves_what_they_have_not_read(site: Site) -> None:
    subject = Subject("key", await key(site, "tax:read"))
    _, browser = await administrator(site)
    bare = await browser.open(ADMIN)
    await ask(site, subject, "We comply.")
    read = await browser.open(ADMIN)
    await ask(site, subject, "We comply with nothing.")
    for page in (bare, read):
        for how in ("approve", "refuse"):
            answer = await browser.submit(page, f"{ADMIN}/{how}", reason="No.")
            assert (answer.status, "Nothing was done" in answer.page.problem) == (409, True)
            assert "We comply with nothing." in answer.page.text
    assert (await standing(site, subject)).status == "pending"


async def test_what_one_approved_another_does_not_refuse_unseen(site: Site) -> None:
    subject = Subject("key", await key(site, "tax:read"))
    _, browser = await administrator(site)
    page = await browser.open(ADMIN)
    await approve(site, subject)
    assert (await browser.submit(page, f"{ADMIN}/refuse", reason="No.")).status == 409
    assert (await standing(site, subject)).status == "approved"


async def test_what_was_revoked_meanwhile_waits_no_more(site: Site) -> None:
    subject = Subject("key", await key(site, "tax:read"))
    await ask(site, subject)
    _, browser = await administrator(site)
    page = await browser.open(ADMIN)
    await site.store.write(lambda tx: api_keys.revoke(tx, subject.id, "operator"), site.org_id)
    assert (await browser.submit(page, f"{ADMIN}/approve")).status == 409
    assert cards(await browser.open(ADMIN)) == []


@pytest.mark.parametrize("how", ["approve", "refuse", "withdraw"])
async def test_whom_is_not_there(site: Site, how: str) -> None:
    _, browser = await administrator(site)
    for subject in (Subject("key", "key_x"), Subject("client", "app_x")):
        assert (await decide(browser, how, subject)).status == 404
    assert (await decide(browser, how, Subject("key", "key_x"), kind="user")).status == 400
    assert (await browser.post(f"{ADMIN}/{how}", {"csrf": await token(browser)})).status == 400
    assert await lines(site) == []


async def test_a_reason_has_a_limit(site: Site) -> None:
    subject = Subject("key", await key(site, "tax:read"))
    _, browser = await administrator(site)
    assert (await decide(browser, "refuse", subject, reason="x" * (REASON_MAX + 1))).status == 422
    await approve(site, subject)
    assert (await decide(browser, "withdraw", subject, reason="x" * (REASON_MAX + 1))).status == 422
    assert (await standing(site, subject)).status == "approved"
    assert (await decide(browser, "withdraw", subject, reason="x" * (2 * REASON_MAX + 1))).status == 400


async def test_long_lists_end_with_how_many_more_there_are(site: Site) -> None:
    for _ in range(SHOWN + 2):
        await key(site, "tax:read")
    _, browser = await administrator(site)
    page = await browser.open(ADMIN)
    assert len(cards(page)) == SHOWN
    assert "2 more, asked later." in page.text


async def test_a_key_that_follows_an_approved_one_says_so(site: Site) -> None:
    subject = Subject("key", await key(site, "tax:read", name="Till"))
    await approve(site, subject)
    made = await site.store.write(
        lambda tx: api_keys.rotate(tx, subject.id, 0, bytes(RANDOM_BYTES), "operator"), site.org_id
    )
    site.clock.advance(SECOND)
    _, browser = await administrator(site)
    page = await browser.open(ADMIN)
    assert cards(page) == ["Till"]  # the old one does not work any more
    assert made.id in page.text
    assert "with the key that it followed" in page.text
    assert [each.subject.id for each in await site.store.read(approvals.list_approved)] == [made.id]
