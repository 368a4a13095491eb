"""No more mail of deadlines: by the link of one, by a mail program, and on the account page."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.mail import digests
from gatewayd.mail.notices import Mailing
from tests.console.visiting import ISSUER, Site, open_site

INSERT = "INSERT INTO mail_unsubscribes (hash, user_id, created_at) VALUES (:hash, :user_id, :now)"


@pytest.fixture
async def mailing_site(database_image: bytes, tmp_path: Path) -> AsyncIterator[Site]:
    """The pages where mail is sent."""
    async with open_site(tmp_path, database_image, mailing=Mailing(ISSUER)) as opened:
        yield opened


async def link(site: Site) -> str:
    token = make_token()
    await site.store.write(lambda tx: tx.run(INSERT, hash=hash_token(token), user_id=site.user_id))
    return f"{digests.UNSUBSCRIBE}/{token}"


async def wants(site: Site) -> bool:
    return await site.store.read(lambda tx: digests.wants_deadlines(tx, site.user_id))


async def test_looking_ends_nothing_and_the_button_does(mailing_site: Site) -> None:
    address, browser = await link(mailing_site), mailing_site.browser()
    page = await browser.open(address)
    assert await wants(mailing_site)
    answer = await browser.submit(page, address)
    assert answer.status == 200
    assert "You get no more mail of deadlines" in answer.page.text
    assert not await wants(mailing_site)


async def test_a_mail_program_ends_it_with_one_post(mailing_site: Site) -> None:
    """RFC 8058 §3.2: no cookies, nothing but the one field, from wherever the program runs."""
    address, program = await link(mailing_site), mailing_site.browser()
    one_click = [("List-Unsubscribe", "One-Click")]
    assert (await program.post(address, [("a", "b")], Origin="https://mail.example")).status == 403
    assert await wants(mailing_site)
    answer = await program.post(address, one_click, Origin="https://mail.example")
    assert answer.status == 200
    assert not await wants(mailing_site)
    assert (await program.post(address, one_click)).status == 200  # again is no fault
    assert (await program.post(f"{digests.UNSUBSCRIBE}/x", one_click)).status == 404
    assert (await program.post("/sign-in/forgotten", one_click, Origin="https://mail.example")).status == 403


async def test_a_link_of_nobody_is_dead(mailing_site: Site) -> None:
    answer = await mailing_site.browser().get(f"{digests.UNSUBSCRIBE}/nobodys")
    assert answer.status == 404
    assert "The mail is old" in answer.page.text


async def test_the_account_page_chooses(mailing_site: Site) -> None:
    browser = await mailing_site.signed_in()
    answer = await browser.submit(await browser.open("/account"), "/account/mail", deadlines=[])
    assert "You get no mail of deadlines." in (await browser.follow(answer)).page.text
    assert not await wants(mailing_site)
    answer = await browser.submit(await browser.open("/account"), "/account/mail", deadlines="1")
    assert "once a day at most" in (await browser.follow(answer)).page.text
    assert await wants(mailing_site)


async def test_without_mail_there_is_nothing_to_choose(site: Site) -> None:
    browser = await site.signed_in()
    assert b"/account/mail" not in (await browser.get("/account")).body
