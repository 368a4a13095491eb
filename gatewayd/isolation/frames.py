"""What a child says to its parent: frames of bytes, each behind its length."""

import math
from collections.abc import Awaitable, Callable
from typing import Final

import trio

LENGTH_BYTES: Final = 4
_CHUNK: Final = 64 * 1024


class FramesBroken(Exception):
    """The child ended within a frame, or told a length that it may not have."""


class FramesLate(Exception):
    """The child took longer to say its frames than it may."""


def framed(body: bytes) -> bytes:
    """The body behind its length."""
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


class FrameStream:
    """The frames of a child. `_left`: how many seconds it has still to answer; what its parent does is not counted."""

    def __init__(
        self, receive_some: Callable[[int], Awaitable[bytes | bytearray]], largest: int, seconds: float = math.inf
    ) -> None:
        self._receive_some = receive_some
        self._largest = largest
        self._left = seconds
        self._buffer = bytearray()

    async def next(self) -> bytes | None:
        """The body of the next frame; None when there are no more. Raises `FramesBroken`, `FramesLate`."""
        if not await self._filled(LENGTH_BYTES):
            if self._buffer:
                raise FramesBroken
            return None
        length = int.from_bytes(self._buffer[:LENGTH_BYTES], "big")
        if length > self._largest or not await self._filled(LENGTH_BYTES + length):
            raise FramesBroken
        body = bytes(self._buffer[LENGTH_BYTES : LENGTH_BYTES + length])
        del self._buffer[: LENGTH_BYTES + length]
        return body

    async def _filled(self, size: int) -> bool:
        """Wait until that many bytes are there; False when the child says no more."""
        while len(self._buffer) < size:
            began = trio.current_time()
            with trio.move_on_after(self._left) as scope:
                chunk = await self._receive_some(_CHUNK)
            self._left -= trio.current_time() - began
            if scope.cancelled_caught:
                raise FramesLate
            if not chunk:
                return False
            self._buffer += chunk
        return True
