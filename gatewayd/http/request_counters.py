"""How often each operation was answered, with what, and how fast: two look-ups and three additions for each request."""

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Final

NO_OPERATION: Final = "none"
"""The label of requests that found no operation, whatever they asked for."""
BOUNDS_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # Chosen


@dataclass(slots=True)
class OperationCounts:
    """One operation's requests: by status, by duration (a bucket per bound and one beyond), and seconds in all."""

    statuses: dict[int, int]
    buckets: list[int]
    seconds: float


class RequestCounters:
    """What the daemon answered since the start. Belongs to the event loop's thread."""

    def __init__(self) -> None:
        self._by_operation: dict[str, OperationCounts] = {}

    def note(self, operation: str, status: int, seconds: float) -> None:
        """Count one answer. `operation`: an id of the catalogue or another fixed label, never what a client sent."""
        counts = self._by_operation.get(operation)
        if counts is None:
            counts = OperationCounts({}, [0] * (len(BOUNDS_SECONDS) + 1), 0.0)
            self._by_operation[operation] = counts
        counts.statuses[status] = counts.statuses.get(status, 0) + 1
        counts.buckets[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        counts.seconds += seconds

    def copy(self) -> dict[str, OperationCounts]:
        """The counts by operation, as they are now."""
        return {
            operation: replace(counts, statuses=dict(counts.statuses), buckets=list(counts.buckets))
            for operation, counts in self._by_operation.items()
        }
