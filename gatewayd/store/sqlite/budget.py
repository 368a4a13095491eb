"""How much work a read may be: counted in steps of SQLite's machine, which tell the same on a busy machine."""

import math

import trio

STEPS_PER_TICK = 4_000
STEPS_PER_MILLISECOND = 13_000  # measured on a 2-core VM over 1.4 kB rows


class Budget:
    """A progress handler that counts the steps of one read."""

    def __init__(self, milliseconds: float) -> None:
        self.limit = max(1, math.ceil(milliseconds * STEPS_PER_MILLISECOND / STEPS_PER_TICK))
        self._ticks = 0

    def restart(self) -> None:
        self._ticks = 0

    def tick(self) -> bool:
        """True interrupts the statement that is running."""
        self._ticks += 1
        return self._ticks > self.limit

    def tick_on_thread(self) -> bool:
        """The same on a thread of trio's, which also ends the read when the caller is cancelled."""
        trio.from_thread.check_cancelled()
        return self.tick()
