"""The rate limit of an upstream, and the short queue of those who wait for it, in which organizations take turns. Pure.

    enter -> Turn --advance--> given, or refused
                  --another organization's that the queue has no room for otherwise--> refused

The queue is shared out: where it is full, who has most turns in it gives up the latest to an organization that would
still have fewer. So as many turns as one organization may ask for, another waits for one of them at most.

Where several daemons serve, each has its share of the limit, which is the application's.

A circuit breaker stands before it: while the upstream is down nobody waits, and one request at a time finds out.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

QUEUE_SECONDS: Final = 2.0  # Domain model §D3: the longest that a call waits here
AUTHORITY_INTERVAL_SECONDS: Final = 1 / 3  # §D3: three requests a second for one application
FAILURES_MAX: Final = 5  # Chosen: in a row
OPEN_SECONDS: Final = 10.0  # Chosen: from the last failure to the first probe


def interval_of_one(interval_seconds: float, daemons: int) -> float:
    """The seconds between two calls of one of so many daemons, so that all together keep to the interval of one.

    Chosen: whole calls a second, rounded down, while each has one. So whichever second is looked at, and however the
    daemons' calls fall together in it, it has no more than a single daemon's. Of three a second two daemons have one
    each. Beyond one a second each, what is kept is the mean.
    """
    if daemons == 1 or interval_seconds == 0:
        return interval_seconds
    each = round(1 / interval_seconds) // daemons
    return max(1 / each, interval_seconds * daemons) if each else interval_seconds * daemons


@dataclass(slots=True, eq=False)
class Turn:
    """A place in the queue. `granted` None: it waits still. `decide` is called once, when that is settled."""

    org_id: str
    last_at: float
    """After this instant nobody waits for it."""
    decide: Callable[[], object]
    granted: bool | None = None

    def settle(self, granted: bool) -> None:
        """Say what becomes of it."""
        self.granted = granted
        self.decide()


@dataclass(slots=True)
class _Line:
    """Those who wait for the same limit: the turns of each organization, whose turn is the next one first."""

    next_at: float = 0.0
    waiting: OrderedDict[str, deque[Turn]] = field(default_factory=OrderedDict)

    def count(self) -> int:
        return sum(map(len, self.waiting.values()))

    def add(self, turn: Turn) -> None:
        self.waiting.setdefault(turn.org_id, deque()).append(turn)

    def take(self) -> Turn:
        """The next turn; its organization goes behind the others."""
        org_id, turns = self.waiting.popitem(last=False)
        turn = turns.popleft()
        if turns:
            self.waiting[org_id] = turns
        return turn

    def remove(self, turn: Turn) -> None:
        turns = self.waiting[turn.org_id]
        turns.remove(turn)
        if not turns:
            del self.waiting[turn.org_id]

    def make_room(self, org_id: str) -> bool:
        """Refuse the latest turn of the organization with most, where `org_id` would have fewer with one more."""
        longest = max(self.waiting.values(), key=len, default=deque())
        if len(longest) <= len(self.waiting.get(org_id, ())) + 1:
            return False
        latest = longest[-1]
        self.remove(latest)
        latest.settle(False)
        return True


class RateLimit:
    """Gives each call its turn. Times are seconds of one monotonic clock."""

    def __init__(self, interval_seconds: float, queue_seconds: float = QUEUE_SECONDS) -> None:
        """`interval_seconds` stand between two calls; 0: they only wait where the upstream has asked for it."""
        self._of_all = self._interval = interval_seconds
        self.queue_seconds = queue_seconds
        self._lines: dict[str, _Line] = {}

    def divide(self, daemons: int) -> None:
        """So many daemons call from now on."""
        self._interval = interval_of_one(self._of_all, daemons)

    def _line(self, org_id: str) -> _Line:
        """Chosen: a limit that is known is the application's, and so everybody's; one that only shows in what the
        upstream answers may be the organization's own, and the others find out by asking.
        """
        return self._lines.setdefault("" if self._interval else org_id, _Line())

    def enter(self, org_id: str, now: float, decide: Callable[[], object]) -> Turn | None:
        """A place in the queue, which may be given at once; None: it is full, and has no room for this organization."""
        line = self._line(org_id)
        self.advance(org_id, now)
        last_slot = max(now, line.next_at) + self._interval * line.count()
        if last_slot - now > self.queue_seconds and not line.make_room(org_id):
            return None
        turn = Turn(org_id, now + self.queue_seconds + self._interval / 2, decide)  # half of one: slots are summed
        if not line.waiting:
            line.next_at = max(now, line.next_at)
        line.add(turn)
        self.advance(org_id, now)
        return turn

    def advance(self, org_id: str, now: float) -> None:
        """Give the turns whose time has come, in the queue that an organization waits in, and end those that are late.

        A slot that is missed by somebody who woke late is given all the same, so that the queue keeps its pace.
        """
        line = self._line(org_id)
        while line.waiting and line.next_at <= now:
            turn = line.take()
            in_time = line.next_at <= turn.last_at
            turn.settle(in_time)
            line.next_at += self._interval if in_time else 0
        late = [turn for turns in line.waiting.values() for turn in turns if turn.last_at < line.next_at]
        for turn in late:
            line.remove(turn)
            turn.settle(False)

    def next_at(self, org_id: str) -> float:
        """When the next turn of the queue that an organization waits in is given."""
        return self._line(org_id).next_at

    def leave(self, turn: Turn) -> None:
        """Whoever waited has gone. It may be asked of a turn that is settled."""
        if turn.granted is None:
            self._line(turn.org_id).remove(turn)

    def hold(self, org_id: str, now: float, seconds: float) -> None:
        """The upstream has asked an organization for patience: for that long no call of its queue is sent.

        Chosen: never longer than the queue. Its limit may be another organization's, and asking again finds out.
        """
        line = self._line(org_id)
        line.next_at = max(line.next_at, now + min(seconds, self.queue_seconds))
        over = [
            key
            for key, other in self._lines.items()
            if other is not line and not other.waiting and other.next_at <= now
        ]
        for key in over:
            del self._lines[key]

    def wait_seconds(self, org_id: str, now: float) -> float:
        """How long the queue is that an organization would wait in."""
        line = self._line(org_id)
        return max(0.0, line.next_at - now) + self._interval * line.count()


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
