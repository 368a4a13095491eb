"""Identifiers: a prefix that says what the thing is, then a ULID, so that ids sort by the time they were made."""

import threading
from collections.abc import Callable

from gatewayd.clock import Clock

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base32, lower case
_PAIRS = tuple(high + low for high in _ALPHABET for low in _ALPHABET)
_RANDOM_BITS = 80
ULID_LENGTH = 26
ULID_BYTES = 16
_DIGITS = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")  # as `int` reads them
_SHIFTS = tuple(range(5 * (ULID_LENGTH - 2), -1, -10))  # bits, of two characters at a time
_MILLISECONDS = range(1 << 48)  # what a ULID can tell
_AHEAD_MAX = 2_000  # Chosen: milliseconds by which ids may be ahead of a clock that was set back


class IdSource:
    """Makes ids that never repeat, and within one process go backwards only with the clock. Callable from any thread.

    `random_bytes` is injected (`secrets.token_bytes` outside tests). Within one millisecond, and where the clock is
    corrected by up to two seconds, the random part counts up instead of being drawn again. Where the clock is set back
    by more they follow it: an id tells when its row was made, and ranges of time are ranges of ids.
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
            ahead = (self._last >> _RANDOM_BITS) - millisecond
            if ahead < 0 or ahead > _AHEAD_MAX:
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


def packed(id_: str) -> bytes:
    """The ULID of an id, in 16 bytes."""
    return int(id_[-ULID_LENGTH:].translate(_DIGITS), 32).to_bytes(ULID_BYTES)


def unpacked(prefix: str, ulid: bytes) -> str:
    """The id that was `packed`."""
    return f"{prefix}_{_base32(int.from_bytes(ulid))}"


def _base32(value: int) -> str:
    pairs = _PAIRS
    return "".join([pairs[value >> shift & 1023] for shift in _SHIFTS])
