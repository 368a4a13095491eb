"""HTTP/2 peers that send what is not in order, or too much of what is: the connection ends, and leaves no traceback."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Awaitable, Callable

import h2.errors
import h2.events
import hpack
import pytest
import trio
from hyperframe.frame import (
    DataFrame,
    Frame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from gatewayd.http1.http2 import BURST, PER_SECOND, FrameBudget, PeerFault, is_peers_fault, reason_of
from tests.http1.peers import RunningServer, echo, open_server, until
from tests.http1.test_http2 import Http2Peer, alive, http2_peer
from tests.http1.test_http2 import tls as tls

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FLOODS: dict[str, Callable[[int], list[Frame]]] = {
    "ping": lambda n: [PingFrame(0, opaque_data=b"12345678")],
    "settings": lambda n: [SettingsFrame(0)],
    "priority": lambda n: [PriorityFrame(1001, stream_weight=n % 256)],
    "empty data": lambda n: [DataFrame(1)],
}


def written(*frames: Frame) -> bytes:
    return b"".join(frame.serialize() for frame in frames)


async def end_of(peer: Http2Peer) -> int | None:
    """The code of the GOAWAY that ends a connection; None: it ends without."""
    code = None
    try:
        while data := await peer.stream.receive_some(65536):
            for event in peer.h2.receive_data(data):
                if isinstance(event, h2.events.ConnectionTerminated):
                    code = int(event.error_code or 0)
    except (trio.BrokenResourceError, h2.exceptions.ProtocolError):
        pass
    return code


async def send_raw(peer: Http2Peer, data: bytes) -> None:
    try:
        await peer.stream.send_all(data)
    except trio.BrokenResourceError:
        return  # the door has closed already


@pytest.mark.parametrize("kind", FLOODS)
async def test_a_flood_ends_its_connection_with_goaway(tls: dict[str, object], kind: str) -> None:
    async with open_server(echo, **tls) as running:
        async with http2_peer(running) as peer:
            await peer.ask("POST", end=False)
            frames = [frame for n in range(2 * int(BURST)) for frame in FLOODS[kind](n)]
            async with trio.open_nursery() as nursery:
                nursery.start_soon(send_raw, peer, written(*frames))
                assert await end_of(peer) == h2.errors.ErrorCodes.ENHANCE_YOUR_CALM
        await unharmed(running)


async def test_streams_that_are_opened_and_reset_end_it_too(tls: dict[str, object]) -> None:
    async with open_server(echo, **tls) as running:
        async with http2_peer(running) as peer:
            for _ in range(int(BURST) + 50):
                number = peer.h2.get_next_available_stream_id()
                head = [(":method", "POST"), (":path", "/"), (":scheme", "https"), (":authority", "door")]
                peer.h2.send_headers(number, head)
                peer.h2.reset_stream(number)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(send_raw, peer, peer.h2.data_to_send())
                await end_of(peer)
        await unharmed(running)


async def test_what_a_browser_does_is_no_flood(tls: dict[str, object]) -> None:
    async with open_server(echo, **tls) as running, http2_peer(running) as peer:
        for n in range(150):
            peer.h2.ping(b"12345678")
            number = await peer.ask(path=f"/{n}")
            peer.h2.prioritize(number, weight=16)
            assert (await peer.answer(number))[0] == "200"
        assert running.log.errors == []


async def too_many_streams(peer: Http2Peer) -> None:
    peer.h2.remote_settings.max_concurrent_streams = 2**31 - 1
    for _ in range(150):
        await peer.ask("POST", end=False)


async def data_for_a_stream_that_was_answered(peer: Http2Peer) -> None:
    number = await peer.ask()
    await peer.answer(number)
    await send_raw(peer, written(DataFrame(number, data=b"more"), DataFrame(number, data=b"and more")))


async def data_behind_a_reset(peer: Http2Peer) -> None:
    number = await peer.ask("POST", end=False)
    await send_raw(peer, written(DataFrame(number, data=b"a"), RstStreamFrame(number), DataFrame(number, data=b"b")))


async def data_for_a_stream_that_never_was(peer: Http2Peer) -> None:
    await send_raw(peer, written(DataFrame(99, data=b"a")))


async def a_block_of_headers_that_is_none(peer: Http2Peer) -> None:
    frame = HeadersFrame(peer.h2.get_next_available_stream_id(), data=b"\xff" * 50)
    frame.flags |= {"END_HEADERS", "END_STREAM"}
    await send_raw(peer, written(frame))


async def a_window_that_overflows(peer: Http2Peer) -> None:
    number = await peer.ask("POST", end=False)
    peer.h2.increment_flow_control_window(2**31 - 1 - 65_535, number)
    await peer.flush()
    peer.h2.reset_stream(number)
    await peer.flush()


async def priorities_of_a_thousand_streams(peer: Http2Peer) -> None:
    await send_raw(peer, written(*(PriorityFrame(2 * n + 1001, stream_weight=1) for n in range(1_100))))


async def priorities_in_a_circle(peer: Http2Peer) -> None:
    number = await peer.ask("POST", end=False)
    await send_raw(
        peer,
        written(
            PriorityFrame(number, depends_on=number + 2, stream_weight=1, exclusive=True),
            PriorityFrame(number + 2, depends_on=number, stream_weight=255, exclusive=True),
            PriorityFrame(number + 2, depends_on=number + 2, stream_weight=1),
        ),
    )


Fault = Callable[[Http2Peer], Awaitable[None]]
FAULTS: tuple[Fault, ...] = (
    too_many_streams,
    data_for_a_stream_that_was_answered,
    data_behind_a_reset,
    priorities_of_a_thousand_streams,
    priorities_in_a_circle,
    data_for_a_stream_that_never_was,
    a_block_of_headers_that_is_none,
    a_window_that_overflows,
)


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_is_not_in_order_leaves_no_traceback(
    tls: dict[str, object], fault: Callable[[Http2Peer], Awaitable[None]]
) -> None:
    async with open_server(echo, **tls) as running:
        async with http2_peer(running) as peer:
            with contextlib.suppress(trio.BrokenResourceError, EOFError):
                await fault(peer)
                assert await peer.answer(await peer.ask()) is not None  # it may be ended, or go on
        await unharmed(running)


def chance_frame(chance: random.Random) -> Frame:
    """A frame of any kind, for one of the first streams."""
    number = 2 * chance.randrange(4) + 1
    flags = chance.choice(([], ["END_STREAM"]))
    made: list[Callable[[], Frame]] = [
        lambda: DataFrame(number, data=bytes(chance.randrange(3)), flags=flags),
        lambda: RstStreamFrame(number),
        lambda: PriorityFrame(number, depends_on=2 * chance.randrange(4) + 1, stream_weight=1),
        lambda: WindowUpdateFrame(number * chance.randrange(2), window_increment=chance.choice((0, 1, 2**31 - 1))),
        lambda: HeadersFrame(number, data=HEAD, flags=["END_HEADERS", *flags]),
        lambda: SettingsFrame(0, settings={SettingsFrame.INITIAL_WINDOW_SIZE: chance.choice((0, 1, 65_535))}),
    ]
    return chance.choice(made)()


HEAD = hpack.Encoder().encode([(":method", "POST"), (":path", "/"), (":scheme", "https"), (":authority", "door")])


@pytest.mark.parametrize("seed", range(3))
async def test_frames_by_chance_leave_no_traceback(tls: dict[str, object], seed: int) -> None:
    chance = random.Random(seed)
    short = dict.fromkeys(("body_idle_timeout_seconds", "write_timeout_seconds", "linger_seconds"), 0.3)
    async with open_server(echo, **short, **tls) as running:
        for _ in range(30):
            async with http2_peer(running) as peer:
                for _ in range(chance.randrange(1, 6)):
                    frames = [chance_frame(chance) for _ in range(chance.randrange(1, 8))]
                    await send_raw(peer, written(*frames))
                    await trio.lowlevel.checkpoint()
        await unharmed(running)


async def unharmed(running: RunningServer) -> None:
    await until(lambda: running.server.open_connections == 0)
    await alive(running)
    assert running.log.errors == []
    assert running.server.counters.connection_errors == 0


# -- the budget


def test_a_budget_comes_back_with_time() -> None:
    ping = written(PingFrame(0, opaque_data=b"12345678"))
    budget = FrameBudget(0.0)
    assert budget.allows(PREFACE + ping * int(BURST), 0.0)
    assert not budget.allows(ping, 0.0)
    assert budget.allows(ping * int(PER_SECOND - 1), 1.0)
    assert not budget.allows(ping * 2, 1.0)


@pytest.mark.parametrize("size", [1, 2, 7, 10, 4096])
def test_frames_are_seen_however_they_are_cut(size: int) -> None:
    counted = [PingFrame(0, opaque_data=b"12345678"), SettingsFrame(0, settings={1: 2}), RstStreamFrame(3)]
    answers = PingFrame(0, opaque_data=b"12345678", flags=["ACK"]), SettingsFrame(0, flags=["ACK"])
    others = [*answers, DataFrame(1, data=bytes(300)), DataFrame(1, flags=["END_STREAM"])]
    stream = PREFACE + written(*(counted + others) * 7)
    budget = FrameBudget(0.0)
    for start in range(0, len(stream), size):
        assert budget.allows(stream[start : start + size], 0.0)
    assert budget._left == BURST - 21


def test_only_what_libraries_raise_of_a_peer_is_its_fault() -> None:
    with pytest.raises(KeyError) as ours:
        raise KeyError(1)
    assert not is_peers_fault(ours.value)
    fault = PeerFault("too much")
    assert is_peers_fault(ExceptionGroup("", [fault, ExceptionGroup("", [fault])]))
    assert not is_peers_fault(ExceptionGroup("", [fault, ours.value]))
    assert reason_of(ExceptionGroup("", [fault, ours.value])) == "PeerFault: too much, KeyError: 1"
