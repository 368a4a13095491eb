"""Hypercorn's connection of HTTP/2, with a budget of frames, and what of its exceptions is the peer's doing.

Hypercorn 0.18 lets some that a peer brings about come out: streams that were closed meanwhile, or never opened. Which
they are is known by where they were raised: the application's own end within its request.
"""

from collections.abc import Iterator
from types import TracebackType
from typing import Final

import trio
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.h2 import H2Protocol
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer

from gatewayd.http1.http2_frames import FrameBudget

_ENHANCE_YOUR_CALM: Final = 11  # RFC 9113 §7
_LIBRARIES: Final = ("hypercorn", "h2", "hpack", "hyperframe", "priority")


class PeerFault(Exception):
    """The peer has sent what ends its connection."""


def is_peers_fault(error: BaseException) -> bool:
    """Whether nothing of an exception is anybody's doing but the peer's."""
    return all(isinstance(one, PeerFault) or _room_of(one.__traceback__) in _LIBRARIES for one in _single(error))


def reason_of(error: BaseException) -> str:
    """What is said of it in one line."""
    return ", ".join(f"{type(one).__name__}: {one}" for one in _single(error))


def _single(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _single(one)
    else:
        yield error


def _room_of(traceback: TracebackType | None) -> str:
    """The package of the code that raised."""
    name = ""
    while traceback is not None:
        name = str(traceback.tb_frame.f_globals.get("__name__", ""))
        traceback = traceback.tb_next
    return name.partition(".")[0]


class Http2Connection(TCPServer):
    """Hypercorn's connection, which would otherwise keep the socket of a departed peer for the keep-alive time."""

    _peer_left = False

    async def _read_data(self) -> None:
        budget = FrameBudget(trio.current_time())
        while data := await self._next():
            if not budget.allows(data, trio.current_time()):
                await self._say_goodbye(_ENHANCE_YOUR_CALM)
                raise PeerFault("it sends more frames than it may beside its requests")
            await self.protocol.handle(RawData(data))
        await self.protocol.handle(RawData(b""))
        await self.protocol.handle(Closed())
        self._peer_left = True
        await self.idle_task.stop()

    async def _next(self) -> bytes:
        """What the peer sends next; empty when it is gone."""
        try:
            return bytes(await self.stream.receive_some(MAX_RECV))
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            return b""

    async def _say_goodbye(self, code: int) -> None:
        """GOAWAY (RFC 9113 §6.8), as far as the peer takes it."""
        protocol = self.protocol.protocol
        assert isinstance(protocol, H2Protocol)
        protocol.connection.close_connection(code)
        await self.protocol_send(RawData(protocol.connection.data_to_send()))

    async def protocol_send(self, event: Event) -> None:
        # A stream that ends only now would start the keep-alive time anew.
        if not (self._peer_left and isinstance(event, Updated)):
            await super().protocol_send(event)
