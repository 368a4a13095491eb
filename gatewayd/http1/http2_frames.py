"""What an HTTP/2 peer sends beside its requests: frames that cost it nothing and us an answer each are counted.

Floods of ping, settings, reset, priority and empty data (CVE-2019-9512, -9513, -9514, -9515, -9518, CVE-2023-44487) are
frames that are each in order, so that no parser refuses them.
"""

from typing import Final

BURST: Final = 400.0  # Chosen: a page of a hundred requests, each of which is given a priority and then cancelled
PER_SECOND: Final = 20.0  # Chosen: nobody cancels faster by hand

_PREFACE_BYTES: Final = 24  # RFC 9113 §3.4
_HEAD_BYTES: Final = 9  # RFC 9113 §4.1
# RFC 9113 §6. The flag is END_STREAM of DATA, and ACK of SETTINGS and PING: such frames end something, and are few.
_DATA, _PRIORITY, _RST_STREAM, _SETTINGS, _PING = 0, 2, 3, 4, 6
_ENDING: Final = 0x1


class FrameBudget:
    """How many such frames one peer may send still. Times are seconds of one monotonic clock."""

    def __init__(self, now: float) -> None:
        self._left, self._at = BURST, now
        self._skipped = _PREFACE_BYTES
        self._head = bytearray()

    def allows(self, data: bytes, now: float) -> bool:
        """Whether what came next of a connection is within the budget."""
        self._left = min(BURST, self._left + PER_SECOND * (now - self._at))
        self._at = now
        position = 0
        while position < len(data):
            if self._skipped:
                taken = min(self._skipped, len(data) - position)
                self._skipped -= taken
            else:
                taken = min(_HEAD_BYTES - len(self._head), len(data) - position)
                self._head += data[position : position + taken]
                if len(self._head) == _HEAD_BYTES:
                    self._note(self._head)
                    self._head.clear()
            position += taken
        return self._left >= 0

    def _note(self, head: bytearray) -> None:
        """The head of a frame: three bytes of length, type, flags, stream."""
        self._skipped, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        empty = kind == _DATA and not self._skipped
        if kind in (_PRIORITY, _RST_STREAM) or ((empty or kind in (_SETTINGS, _PING)) and not flags & _ENDING):
            self._left -= 1
