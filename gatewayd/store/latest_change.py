"""The newest change against the clock: whether something was dated by a clock that was ahead, and who knows of it."""

from typing import Final, NamedTuple, cast

from gatewayd.clock import MINUTE, SECOND, Instant
from gatewayd.store.transactions import ReadTx, WriteTx

BEHIND_MAX: Final = 2 * SECOND  # Chosen: a correction of the clock may be as large
SHARED_BEHIND_MAX: Final = 10 * SECOND
"""Chosen: by as much the clocks of several hosts may differ: a lease of 30 s is put off each 10 s."""
GROWTH_MAX: Final = MINUTE  # Chosen: each change adds a microsecond while the clock is behind, and more is a new leap

_SELECT: Final = "SELECT latest, accepted_latest, accepted_at FROM update_clock WHERE id = 1"
_ACCEPT: Final = "UPDATE update_clock SET accepted_latest = latest, accepted_at = :now WHERE id = 1"


class LatestChange(NamedTuple):
    """The newest `updatedAt`; and what it was when an operator last said that the clock was right, and when.

    `tolerated`: by how much it may be ahead of a clock, microseconds.
    """

    latest: Instant
    accepted_latest: Instant = Instant(0)
    accepted_at: Instant = Instant(0)
    tolerated: int = BEHIND_MAX

    def ahead_of(self, now: Instant) -> int:
        """By how much it is ahead of a clock that says `now`, microseconds; 0 for what is tolerated."""
        ahead = self.latest - now
        return ahead if ahead > self.tolerated else 0

    def is_accepted(self, now: Instant) -> bool:
        """Whether the operator knows: nothing was dated further ahead since, and the clock has not gone back again."""
        return self.latest - self.accepted_latest <= GROWTH_MAX and now >= self.accepted_at - self.tolerated


def find(tx: ReadTx, *, shared: bool) -> LatestChange:
    """As it stands. `shared`: daemons of several hosts work with the database, each by a clock of its own."""
    row = cast("tuple[int, int, int]", tx.row(_SELECT))
    latest, accepted_latest, accepted_at = map(Instant, row)
    tolerated = SHARED_BEHIND_MAX if shared else BEHIND_MAX
    return LatestChange(latest, accepted_latest, accepted_at, tolerated)


def accept(tx: WriteTx) -> None:
    """The clock is right, and what was dated ahead of it stays as it is."""
    tx.run(_ACCEPT)
