"""The rate limit of an upstream, and the short queue of those who wait for it. Pure."""

from typing import Final

QUEUE_SECONDS: Final = 2.0  # Domain model §D3: the longest that a call waits here
AUTHORITY_INTERVAL_SECONDS: Final = 1 / 3  # §D3: three requests a second for one application


class RateLimit:
    """Gives each call the moment at which it may be sent. Times are seconds of one monotonic clock."""

    def __init__(self, interval_seconds: float, queue_seconds: float = QUEUE_SECONDS) -> None:
        """`interval_seconds` stand between two calls; 0: they only wait where the upstream has asked for it."""
        self._interval = interval_seconds
        self.queue_seconds = queue_seconds
        self._next = 0.0

    def reserve(self, now: float) -> float | None:
        """Seconds to wait before the call; None: the queue is full, and nothing was reserved."""
        at = max(now, self._next)
        if at - now > self.queue_seconds:
            return None
        self._next = at + self._interval
        return at - now

    def hold(self, now: float, seconds: float) -> None:
        """The upstream has asked for patience: for that long no call is sent.

        Chosen: never longer than the queue. Its limit may be another organization's, and asking again finds out.
        """
        self._next = max(self._next, now + min(seconds, self.queue_seconds))

    def wait_seconds(self, now: float) -> float:
        """How long the queue is."""
        return max(0.0, self._next - now)
