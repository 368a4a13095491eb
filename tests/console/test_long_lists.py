"""Lists of keys and apps: a page at a time, each row on one page, and what has ended by how much it is."""

import secrets
from collections.abc import Awaitable, Callable

import pytest

from gatewayd.console.pages import PAGE_ROWS, page_of
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys
from gatewayd.store import WriteTx
from tests.console.granting import grant
from tests.console.reading import Document
from tests.console.visiting import Browser, Site


def test_rows_are_cut_into_pages() -> None:
    rows = [str(number) for number in range(2 * PAGE_ROWS)]
    first, following = page_of(rows, "", str)
    assert (list(first), following) == (rows[:PAGE_ROWS], rows[PAGE_ROWS - 1])
    second, following = page_of(rows, following, str)
    assert (list(second), following) == (rows[PAGE_ROWS:], "")
    assert page_of(rows, "gone", str) == page_of(rows, "", str)
    assert page_of(rows[:1], "", str) == (rows[:1], "")
    assert page_of(rows, rows[-1], str) == ([], "")


async def keys(site: Site) -> str:
    def make(tx: WriteTx) -> None:
        for number in range(PAGE_ROWS + 3):
            new = api_keys.NewKey(name=f"Till {number:02}", user_id=site.user_id)
            api_keys.create(tx, new, secrets.token_bytes(RANDOM_BYTES), "operator")

    await site.store.write(make, site.org_id)
    return "/developers/keys"


async def apps(site: Site) -> str:
    for number in range(PAGE_ROWS + 3):
        await grant(site, name=f"Till {number:02}")
    return "/developers/apps"


def named(page: Document) -> list[str]:
    """Which tills a page names, each as often as it is a row."""
    return [name for name in (f"Till {number:02}" for number in range(PAGE_ROWS + 3)) if name in page.text]


async def follow(browser: Browser, page: Document, label: str) -> Document:
    (address,) = [each.attributes["href"] for each in page.root.all("a") if each.text == label]
    return await browser.open(address)


@pytest.mark.parametrize("fill", [keys, apps])
async def test_each_is_on_one_page(site: Site, fill: Callable[[Site], Awaitable[str]]) -> None:
    address = await fill(site)
    browser = await site.signed_in()
    first = await browser.open(address)
    second = await follow(browser, first, "Next page")
    assert (len(named(first)), len(named(second))) == (PAGE_ROWS, 3)
    assert set(named(first)) & set(named(second)) == set()
    assert "Next page" not in second.text
    assert named(await follow(browser, second, "First page")) == named(first)


async def test_of_keys_that_have_ended_the_latest_are_shown_and_all_are_counted(site: Site) -> None:
    await keys(site)

    def end(tx: WriteTx) -> None:
        for key in api_keys.list_keys(tx):
            api_keys.revoke(tx, key.id, "operator")

    await site.store.write(end, site.org_id)
    page = await (await site.signed_in()).open("/developers/keys")
    assert f"{PAGE_ROWS + 3} ended" in page.text
    assert "3 more: gatewayd key list names them." in page.text
    assert len(named(page)) == PAGE_ROWS
