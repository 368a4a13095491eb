"""A link for a new password, by mail: the same answer to everybody, and a link for who has the address."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gatewayd.clock import HOUR, MINUTE, SECOND, Instant
from gatewayd.identity import audit
from gatewayd.identity.people import users
from gatewayd.identity.sign_in import throttling
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.identity.sign_in.throttling import Limits, Locked
from gatewayd.mail import outbox
from gatewayd.mail.letters import Letter
from gatewayd.mail.notices import Mailing
from gatewayd.store import ReadTx
from tests.console.visiting import EMAIL, ISSUER, Site, open_site

NEW = "another good password"
FORGOTTEN = "/sign-in/forgotten"


@pytest.fixture
async def mailing_site(database_image: bytes, tmp_path: Path) -> AsyncIterator[Site]:
    """The pages where mail is sent."""
    async with open_site(tmp_path, database_image, mailing=Mailing(ISSUER)) as opened:
        yield opened


def letters(tx: ReadTx) -> list[Letter]:
    rows = tx.rows("SELECT id, letter_sealed FROM mails ORDER BY id")
    opened = [outbox.open_letter(tx, id_, sealed) for id_, sealed in rows]
    return [letter for letter in opened if letter is not None]


async def ask(site: Site, email: str) -> str:
    browser = site.browser()
    answer = await browser.submit(await browser.open(FORGOTTEN), FORGOTTEN, email=email)
    assert answer.status == 200
    return answer.page.text.replace(email, "…")


async def test_a_link_is_mailed_that_sets_a_new_password(mailing_site: Site) -> None:
    site = mailing_site
    page = await site.browser().open("/sign-in")
    assert FORGOTTEN in page.links()
    await ask(site, EMAIL.upper())
    [letter] = await site.store.read(letters)
    assert letter.action is not None
    found = re.fullmatch(f"{re.escape(ISSUER)}(/sign-in/reset/[\\w-]+)", letter.action.url)
    assert found is not None
    browser = site.browser()
    answer = await browser.submit(await browser.open(found[1]), found[1], new=NEW)
    assert answer.status == 303
    assert (await site.browser().get(found[1])).status == 404  # it worked once


async def test_the_link_ends_after_an_hour(mailing_site: Site) -> None:
    await ask(mailing_site, EMAIL)
    [letter] = await mailing_site.store.read(letters)
    assert letter.action is not None
    path = letter.action.url.removeprefix(ISSUER)
    mailing_site.clock.advance(HOUR - SECOND)
    assert (await mailing_site.browser().get(path)).status == 200
    mailing_site.clock.advance(2 * SECOND)
    assert (await mailing_site.browser().get(path)).status == 404


async def test_everybody_is_answered_alike(mailing_site: Site) -> None:
    site = mailing_site
    known = await ask(site, EMAIL)
    assert await ask(site, "nobody@example.com") == known
    assert await ask(site, "no address") == known
    assert len(await site.store.read(letters)) == 1
    entries = await site.store.read(audit.list_all)
    assert [(each.action, each.actor) for each in entries[:3]] == [
        ("network.reset_asked", "nobody"),
        ("network.reset_asked", "nobody"),
        ("user.reset_asked", "nobody"),
    ]
    assert "nobody@example.com" not in repr(entries)  # people type passwords there


async def test_three_an_hour_are_sent_to_one_account(mailing_site: Site) -> None:
    for _ in range(5):
        await ask(mailing_site, EMAIL)
    assert len(await mailing_site.store.read(letters)) == 3
    mailing_site.clock.advance(HOUR + MINUTE)
    await ask(mailing_site, EMAIL)
    assert len(await mailing_site.store.read(letters)) == 4


async def test_who_is_disabled_or_has_no_password_gets_none(mailing_site: Site) -> None:
    site = mailing_site
    await site.store.write(lambda tx: users.remove_password(tx, site.user_id, audit.OPERATOR))
    await ask(site, EMAIL)
    assert await site.store.read(letters) == []


async def test_without_mail_the_page_says_whom_to_ask(site: Site) -> None:
    page = await site.browser().open(FORGOTTEN)
    assert "This server sends no mail. Whoever runs it can make a link" in page.text
    assert page.buttons() == []


async def test_a_network_asks_so_often_and_then_waits(database_image: bytes, tmp_path: Path) -> None:
    async with open_site(tmp_path, database_image, mailing=Mailing(ISSUER)) as site:
        visitor = Visitor(user_agent="Firefox", address="203.0.113.9")
        limits = Limits(attempts=1)
        for _ in range(throttling.NETWORK_FACTOR):
            await site.store.write(lambda tx: throttling.note_asked(tx, visitor, limits))
        with pytest.raises(Locked) as locked:
            await site.store.write(lambda tx: throttling.note_asked(tx, visitor, limits))
        assert locked.value.until == site.store.now() + HOUR
        elsewhere = Visitor(user_agent="Firefox", address="198.51.100.9")
        await site.store.write(lambda tx: throttling.note_asked(tx, elsewhere, limits))
        site.clock.advance(HOUR)
        await site.store.write(lambda tx: throttling.note_asked(tx, visitor, limits))  # halved


async def test_who_asks_too_often_is_told_when_to_come_again(
    mailing_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    until = Instant(mailing_site.clock.now() + HOUR)

    def refuse(*_: object) -> None:
        raise Locked(until)

    monkeypatch.setattr(throttling, "note_asked", refuse)
    browser = mailing_site.browser()
    answer = await browser.submit(await browser.open(FORGOTTEN), FORGOTTEN, email=EMAIL)
    assert answer.status == 429
    assert "Too many links" in answer.page.text
    assert await mailing_site.store.read(letters) == []
