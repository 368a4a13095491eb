"""What goes on with a download that was counted, and what is another one: by the bytes that were given."""

import pytest
import trio
from trio.testing import MockClock

from gatewayd.vault_files import link_transfers
from gatewayd.vault_files.link_transfers import IN_FLIGHT_BYTES, LASTS_SECONDS, LinkTransfers, Piece

SIZE = 64 << 20
WHOLE = Piece(0, SIZE, SIZE)
LINK = "lnk_a"


def rest(start: int) -> Piece:
    return Piece(start, SIZE - start, SIZE)


def broken_at(transfers: LinkTransfers, sent: int) -> None:
    """A download that was counted, of which so many bytes left before its connection broke."""
    sending = transfers.counted(LINK, WHOLE)
    sending.sent(sent)
    sending.ended()
    sending.settle(False)


async def test_a_break_is_gone_on_from_where_it_came_to(autojump_clock: MockClock) -> None:
    transfers = LinkTransfers()
    broken_at(transfers, 40 << 20)
    assert await transfers.going_on(LINK, rest(40 << 20)) is not None


async def test_what_was_on_its_way_may_be_asked_for_again(autojump_clock: MockClock) -> None:
    transfers = LinkTransfers()
    broken_at(transfers, 40 << 20)
    assert await transfers.going_on(LINK, rest((40 << 20) - IN_FLIGHT_BYTES)) is not None
    broken_at(transfers, 40 << 20)
    assert await transfers.going_on(LINK, rest((40 << 20) - IN_FLIGHT_BYTES - 1)) is None
    assert await transfers.going_on(LINK, rest(0)) is None, "the first byte begins another one"


async def test_what_was_sent_to_its_end_and_did_not_arrive_is_gone_on_with(autojump_clock: MockClock) -> None:
    transfers = LinkTransfers()
    broken_at(transfers, SIZE)
    going_on = await transfers.going_on(LINK, rest(SIZE - 1000))
    assert going_on is not None


async def test_what_arrived_is_given_once(autojump_clock: MockClock) -> None:
    transfers = LinkTransfers()
    sending = transfers.counted(LINK, WHOLE)
    sending.sent(SIZE)
    sending.ended()
    sending.settle(True)
    assert await transfers.going_on(LINK, rest(1)) is None
    assert await transfers.going_on(LINK, rest(SIZE - 1)) is None


async def test_who_asks_at_once_waits_for_what_became_of_the_first(autojump_clock: MockClock) -> None:
    """The peer's reset comes in a moment after the last byte went out."""
    transfers = LinkTransfers()
    sending = transfers.counted(LINK, WHOLE)
    sending.sent(SIZE)
    sending.ended()

    async def hear() -> None:
        await trio.sleep(0.1)
        sending.settle(False)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hear)
        assert await transfers.going_on(LINK, rest(SIZE - 1000)) is not None


async def test_breaks_without_end_give_no_more_than_twice_the_bytes(autojump_clock: MockClock) -> None:
    transfers = LinkTransfers()
    broken_at(transfers, SIZE)
    given = SIZE
    for _ in range(100):
        going_on = await transfers.going_on(LINK, rest(SIZE - IN_FLIGHT_BYTES))
        if going_on is None:
            break
        going_on.sent(IN_FLIGHT_BYTES)
        going_on.ended()
        going_on.settle(False)
        given += IN_FLIGHT_BYTES
    assert SIZE < given <= 2 * SIZE
    assert await transfers.going_on(LINK, rest(SIZE - IN_FLIGHT_BYTES)) is None


async def test_a_transfer_is_remembered_for_a_day(autojump_clock: MockClock) -> None:
    transfers = LinkTransfers()
    broken_at(transfers, 1000)
    await trio.sleep(LASTS_SECONDS + 1)
    assert await transfers.going_on(LINK, rest(1000)) is None


async def test_so_many_links_are_remembered(autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_transfers, "KNOWN_MAX", 2)
    transfers = LinkTransfers()
    for link in ("a", "b", "c"):
        transfers.counted(link, WHOLE).ended()
    assert await transfers.going_on("a", rest(1)) is None
    assert await transfers.going_on("c", rest(1)) is not None
