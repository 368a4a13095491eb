"""Which requests go on with a download of a link that was counted: everything else is counted anew.

A download that was counted gives each byte once. Where an answer broke off, the rest of it may be asked for again, from
where it came to, or a little before: of what was on its way nobody knows. So a count never gives more than twice the
bytes, and without a break not one of them twice. All that is known stands in memory: after a restart of the daemon a
client that goes on is counted once more.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import trio

IN_FLIGHT_BYTES: Final = 16 << 20  # Chosen: what sockets and proxies hold of an answer that breaks off
KNOWN_MAX: Final = 10_000  # Chosen: of links whose last download is remembered, a few hundred bytes each
LASTS_SECONDS: Final = 24 * 3600.0  # Chosen: for who goes on the next morning
FATE_SECONDS: Final = 0.5  # Chosen: how long it takes to hear that a peer broke off what was sent to its end


class Piece(NamedTuple):
    """What an answer sends: `length` bytes from `start` on, of `size` that the document has."""

    start: int
    length: int
    size: int


@dataclass
class _Transfer:
    """A download that was counted. `promised` is what of it was to be sent and was not taken back, in bytes.

    `reach` is behind the last byte that was sent. `open` counts answers under way, `unknown` those that were sent to
    their end and may not have arrived.
    """

    began: float
    promised: int = 0
    reach: int = 0
    broken: bool = False
    open: int = 0
    unknown: int = 0
    known: trio.Event = field(default_factory=trio.Event)

    def takes(self, piece: Piece) -> bool:
        """Whether a piece goes on with it."""
        if piece.start == 0:
            return False
        if self.promised + piece.length <= piece.size:
            return True
        if self.promised + piece.length > 2 * piece.size:
            return False
        return (self.broken and piece.start >= self.reach - IN_FLIGHT_BYTES) or (
            self.open > 0 and piece.start >= self.reach
        )


class Sending:
    """One answer, as what is known of it comes in. It is called by whoever sends."""

    def __init__(self, transfer: _Transfer, piece: Piece) -> None:
        self._transfer, self._piece = transfer, piece
        self._sent = 0
        transfer.promised += piece.length
        transfer.open += 1

    def sent(self, count: int) -> None:
        """So many bytes more were handed to the connection."""
        self._sent += count
        self._transfer.reach = max(self._transfer.reach, self._piece.start + self._sent)

    def ended(self) -> None:
        """Nothing more is sent."""
        transfer = self._transfer
        transfer.open -= 1
        if self._sent < self._piece.length:
            transfer.promised -= self._piece.length - self._sent
            transfer.broken = True
        else:
            transfer.unknown += 1
            transfer.known = trio.Event()

    def settle(self, arrived: bool) -> None:
        """Whether the peer took what was sent to its end."""
        transfer = self._transfer
        if self._sent < self._piece.length:
            return
        transfer.broken = transfer.broken or not arrived
        transfer.unknown -= 1
        if not transfer.unknown:
            transfer.known.set()


class LinkTransfers:
    """The last download of each link that was counted."""

    def __init__(self, now: Callable[[], float] = trio.current_time) -> None:
        self._now = now
        self._transfers: OrderedDict[str, _Transfer] = OrderedDict()

    async def going_on(self, link_id: str, piece: Piece) -> Sending | None:
        """The answer that sends a piece as part of a download that was counted; None: it is to be counted."""
        transfer = self._find(link_id)
        if transfer is None:
            return None
        if not transfer.takes(piece) and piece.start and transfer.unknown:
            with trio.move_on_after(FATE_SECONDS):
                await transfer.known.wait()
        return Sending(transfer, piece) if transfer.takes(piece) else None

    def counted(self, link_id: str, piece: Piece) -> Sending:
        """The answer that begins a download, which was counted."""
        transfer = self._transfers[link_id] = _Transfer(self._now())
        self._transfers.move_to_end(link_id)
        if len(self._transfers) > KNOWN_MAX:
            self._transfers.popitem(last=False)
        return Sending(transfer, piece)

    def _find(self, link_id: str) -> _Transfer | None:
        transfer = self._transfers.get(link_id)
        if transfer is not None and self._now() - transfer.began > LASTS_SECONDS:
            del self._transfers[link_id]
            return None
        return transfer
