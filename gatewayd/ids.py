"""Identifiers: a prefix that says what the thing is, then a ULID, so that ids sort by the time they were made."""

import threading
from collections.abc import Callable

from gatewayd.clock import Clock

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base32, lower case
_PAIRS = tuple(high + low for high in _ALPHABET for low in _ALPHABET)
_RANDOM_BITS = 80
ULID_LENGTH = 26
_SHIFTS = tuple(range(5 * (ULID_LENGTH - 2), -1, -10))  # bits, of two characters at a time
_MILLISECONDS = range(1 << 48)  # what a ULID can tell


class IdSource:
    """Makes ids that never repeat and never go backwards within one process. Callable from any thread.

    `random_bytes` is injected (`secrets.token_bytes` outside tests). Within one millisecond, and while the clock
    stands still or runs backwards, the random part counts up instead of being drawn again.
    """

    def __init__(self, clock: Clock, random_bytes: Callable[[int], bytes]) -> None:
        self._clock = clock
        self._random_bytes = random_bytes
        self._last = 0
        self._lock = threading.Lock()

    def new(self, prefix: str) -> str:
        """`<prefix>_<26 characters>`, at most 64 characters in all."""
        return f"{prefix}_{_base32(self._next())}"

    def _next(self) -> int:
        millisecond = self._clock.now() // 1000
        with self._lock:
            if millisecond > self._last >> _RANDOM_BITS:
                self._last = millisecond << _RANDOM_BITS | int.from_bytes(self._random_bytes(10), "big") >> 1
            else:
                self._last += 1 + self._random_bytes(1)[0]
            return self._last


def first_at(prefix: str, instant: int) -> str:
    """The least id that can be made at `instant`, microseconds: sorts after all that were made before.

    Instants that no id can tell are taken for the nearest that one can.
    """
    millisecond = min(max(instant // 1000, _MILLISECONDS[0]), _MILLISECONDS[-1])
    return f"{prefix}_{_base32(millisecond << _RANDOM_BITS)}"


def _base32(value: int) -> str:
    pairs = _PAIRS
    return "".join([pairs[value >> shift & 1023] for shift in _SHIFTS])
