"""Where the time of one exchange went."""

from typing import Final

import trio

MICROSECONDS: Final = 1_000_000


class Phases:
    """A stopwatch over named phases; also tells in which phase a deadline struck."""

    __slots__ = ("_marks", "_started")

    def __init__(self) -> None:
        self._started = trio.current_time()
        self._marks: list[tuple[str, float]] = []  # phase and when it began, in seconds of trio's clock

    @property
    def current(self) -> str:
        """The phase entered last; empty before the first."""
        return self._marks[-1][0] if self._marks else ""

    def enter(self, phase: str) -> None:
        """Ends the current phase and begins the next one."""
        self._marks.append((phase, trio.current_time()))

    def spent(self) -> tuple[tuple[str, int], ...]:
        """Phases in the order they ran, each with its microseconds; the current one up to now."""
        ends = [began for _, began in self._marks[1:]]
        ends.append(trio.current_time())
        return tuple(
            [(name, round((end - began) * MICROSECONDS)) for (name, began), end in zip(self._marks, ends, strict=False)]
        )

    def total_ms(self) -> int:
        """Milliseconds since the start."""
        return round((trio.current_time() - self._started) * 1000)
