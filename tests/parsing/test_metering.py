"""What reading documents costs an organization with a plan: by page, once, and nothing for what fails."""

import trio

from gatewayd.store import WriteTx
from tests.parsing.conftest import ORG, OTHER, Archive, OpenArchive
from tests.support import purses
from tests.support.document_reading import FakeReader

PAGE, MEGABYTE = 2_000_000, 500_000


def sell(tx: WriteTx) -> None:
    purses.price(tx, "vault.parse", PAGE, unit="page")
    purses.price(tx, "vault.parse", MEGABYTE, unit="mb")


async def on_plan(archive: Archive, amount: int) -> None:
    """Let the organization have a plan and so many millionths, and reading have its prices."""

    def begin(tx: WriteTx) -> None:
        sell(tx)
        purses.put_on_plan(tx)
        purses.leave(tx, amount)

    await archive.store.write(begin, ORG)


async def charged(archive: Archive, org: str = ORG) -> list[tuple[str, int]]:
    return await archive.store.read(purses.charged, org)


async def left(archive: Archive) -> tuple[int, int]:
    """The balance, and what of it is held."""
    return await archive.store.read(lambda tx: (purses.balance(tx), purses.held(tx)), ORG)


async def test_each_page_that_was_read_is_charged_once(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        await on_plan(archive, 100 * PAGE)
        document_id = await archive.add("one\ftwo\fthree")
        await archive.ended(document_id)
        assert await charged(archive) == [("vault.parse", 3 * PAGE + MEGABYTE)]
        assert await archive.store.read(purses.subjects, ORG) == [("document", document_id)]
        await archive.reparse(document_id)
        await archive.ended(document_id, attempt=2)
        assert await charged(archive) == [("vault.parse", 3 * PAGE + MEGABYTE)] * 2
        assert await left(archive) == (100 * PAGE - 2 * (3 * PAGE + MEGABYTE), 0)


async def test_while_it_is_read_what_it_may_cost_is_held(open_archive: OpenArchive) -> None:
    going_on, go_on = trio.Event(), trio.Event()

    async def wait(name: str) -> None:
        going_on.set()
        await go_on.wait()

    async with open_archive(FakeReader(wait=wait)) as archive:
        await on_plan(archive, 5 * PAGE)
        document_id = await archive.add("one")
        await going_on.wait()
        assert await left(archive) == (5 * PAGE, 5 * PAGE), "a thousand pages are more than there is"
        go_on.set()
        await archive.ended(document_id)
        assert await left(archive) == (4 * PAGE - MEGABYTE, 0)


async def test_what_cannot_be_read_costs_nothing(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        await on_plan(archive, 5 * PAGE)
        for text in ("fails:encrypted", "fails:damaged", "breaks"):
            archive.log.logged.clear()
            await archive.ended(await archive.add(text))
        archive.log.logged.clear()
        assert await charged(archive) == []
        assert await left(archive) == (5 * PAGE, 0)


async def test_who_cannot_pay_for_a_page_is_told_so_and_nothing_is_read(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        await on_plan(archive, PAGE + MEGABYTE - 1)
        shown = await archive.ended(await archive.add("one"))
        assert (shown.parse.status, shown.parse.error_code) == ("failed", "insufficient_credits")
        assert archive.reader.read_names == []
        assert await left(archive) == (PAGE + MEGABYTE - 1, 0)
        await archive.store.write(lambda tx: purses.grant(tx, 1), ORG)
        await archive.reparse(shown.id)
        assert (await archive.ended(shown.id, attempt=2)).parse.status == "succeeded"
        assert await left(archive) == (0, 0)


async def test_who_has_no_plan_pays_nothing(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        await archive.store.write(sell, OTHER)
        shown = await archive.ended(await archive.add("one", org=OTHER), OTHER)
        assert shown.parse.status == "succeeded"
        assert await charged(archive, OTHER) == []


async def test_a_stop_gives_back_what_is_held(open_archive: OpenArchive) -> None:
    going_on = trio.Event()

    async def wait(name: str) -> None:
        going_on.set()
        await trio.sleep_forever()

    async with open_archive(FakeReader(wait=wait)) as archive:
        await on_plan(archive, 5 * PAGE)
        document_id = await archive.add("one")
        await going_on.wait()
    async with open_archive() as archive:
        assert (await archive.ended(document_id, attempt=2)).parse.status == "succeeded"
        assert await left(archive) == (4 * PAGE - MEGABYTE, 0)
