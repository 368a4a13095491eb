"""A circuit breaker: while the upstream is down nobody waits for it, and one request at a time finds out. Pure."""

from typing import Final

FAILURES_MAX: Final = 5  # Chosen: in a row
OPEN_SECONDS: Final = 10.0  # Chosen: from the last failure to the first probe


class Breaker:
    """Closed until `failures_max` calls in a row have failed; then open for `open_seconds`; then half open.

    Half open, one probe is let through: its success closes the breaker, its failure opens it again. Times are seconds
    of one monotonic clock.
    """

    def __init__(self, failures_max: int = FAILURES_MAX, open_seconds: float = OPEN_SECONDS) -> None:
        self._failures_max = failures_max
        self._open_seconds = open_seconds
        self._failures = 0
        self._open = False
        self._probe_at = 0.0
        self._probing = False

    @property
    def is_open(self) -> bool:
        """True from the last of the failures until a call succeeds."""
        return self._open

    def enter(self, now: float) -> float:
        """0: the call may be made, and its end must be told. Else the seconds until it is worth asking again."""
        if not self.is_open:
            return 0.0
        if now < self._probe_at:
            return self._probe_at - now
        if self._probing:
            return self._open_seconds
        self._probing = True
        return 0.0

    def succeeded(self) -> None:
        """The upstream answered, whatever it said."""
        self._failures = 0
        self._open = False
        self._probing = False

    def failed(self, now: float) -> None:
        """There was no answer."""
        self._failures += 1
        if self.is_open or self._failures >= self._failures_max:
            self._open = True
            self._probe_at = now + self._open_seconds
        self._probing = False

    def abandoned(self) -> None:
        """The call ended before anything was learnt."""
        self._probing = False
