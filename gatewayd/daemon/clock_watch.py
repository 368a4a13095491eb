"""Whether the machine's clock can be believed: it may be behind what was stored, and it may move by leaps.

Which of two clocks was wrong cannot be known from within. So dates and instants always follow the machine's, nothing is
corrected, and the operator is told, until they say that the clock is right.
"""

from typing import Final

import trio

from gatewayd.clock import HOUR, SECOND, Instant, to_wire
from gatewayd.http1.log import Log
from gatewayd.store.latest_change import LatestChange

LEAP_MIN: Final = 2 * SECOND  # Chosen
LEAP_HELD: Final = HOUR  # Chosen: leaps forward that are longer hold what deletes by age
HELD_SECONDS: Final = 3600.0  # Chosen: time to put a wrong clock right before anything is deleted by it


class ClockWatch:
    """Looks at the clock with each beat, and compares it with the newest change and with trio's."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._last: tuple[Instant, float] | None = None
        self._held_until = 0.0
        self._behind = 0

    @property
    def state(self) -> str:
        """`ok`, or what is wrong, to be read after "the clock"."""
        return f"is {self._behind // SECOND} s behind the latest change" if self._behind else "ok"

    @property
    def deletes(self) -> bool:
        """Whether what is old may be deleted: not in the hour after a leap forward of more than an hour."""
        return trio.current_time() >= self._held_until

    def look(self, now: Instant, change: LatestChange) -> None:
        """The clock says `now`, and this was the newest change."""
        self._compare_with_before(now)
        ahead = change.ahead_of(now)
        behind = 0 if change.is_accepted(now) else ahead
        if behind and not self._behind:
            self._log.error("clock_behind", seconds=behind // SECOND, latest_change=to_wire(change.latest))
        elif self._behind and not behind:
            self._log.info("clock_accepted" if ahead else "clock_caught_up")
        self._behind = behind

    def _compare_with_before(self, now: Instant) -> None:
        present = trio.current_time()
        if self._last is not None:
            before, then = self._last
            leap = now - before - round((present - then) * SECOND)
            if abs(leap) > LEAP_MIN:
                self._log.warning("clock_moved", seconds=leap // SECOND)
            if leap > LEAP_HELD:
                self._held_until = present + HELD_SECONDS
            elif leap < -LEAP_HELD:
                self._held_until = present  # it was put right
        self._last = now, present
