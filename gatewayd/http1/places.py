"""The places at the door: how many connections there may be, how many of one network, and who has to go for a newcomer.

Nobody can shut the door to the others: a network that has its share gives a place of its own for a new one, and when
all places are taken, whoever holds most gives one. First go those whom no application has admitted, whatever they are
at (a handshake, half a head, a body that does not come, an answer that is not read, nothing at all); then those that
are idle, longest first. A connection with a request under way of somebody who is known goes for nobody.

A quarter is left to strangers, though: where they have less, an idle connection goes for one more of them, or newcomers
would only take each other's place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeVar

import trio

from gatewayd.http1.log import Log

T = TypeVar("T")

STRANGER, KNOWN, BUSY = range(3)

SHARE: Final = 4  # Chosen: one network has at most a quarter of the places, strangers at least a quarter of any
SHARE_LEAST: Final = 16  # Chosen: two browsers and a few programs, however few places there are
REPORT_SECONDS: Final = 60.0


class Occupant(Protocol):
    """What a place is held for, once its handshake is done."""

    phase_began: float

    @property
    def standing(self) -> int:
        """STRANGER: waits for a peer that was never admitted; KNOWN: for one that was; BUSY: does not wait for it."""
        ...


class Place:
    """The place of one connection, which ends when `scope` is cancelled. `network` None: of a trusted proxy."""

    __slots__ = ("_places", "known", "network", "occupant", "scope")

    def __init__(self, places: Places, network: str | None) -> None:
        self._places = places
        self.network = network
        # An application has once admitted a request of it.
        self.known = False
        self.occupant: Occupant | None = None
        self.scope = trio.CancelScope()

    @property
    def standing(self) -> int:
        """What the connection is at."""
        return STRANGER if self.occupant is None else self.occupant.standing

    def note_admitted(self) -> None:
        """The application knows who sent a request of the connection, now or before."""
        if not self.known:
            self._places.note_known(self)


_Held = dict[Place, None]  # in the order they came, or were admitted


class Places:
    """Who holds the places of one server. `limit` may be set until the first is taken."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.taken = 0
        # Connections that were ended for others, and those closed unheard because their network had its share.
        self.ended = 0
        self.turned_away = 0
        # By network; those of trusted proxies under None, and never among the strangers.
        self._strangers: dict[str, _Held] = {}
        self._known: dict[str | None, _Held] = {}
        self._stranger_count = 0
        self._unknown_of_proxies: _Held = {}
        # Who goes for the next newcomer, since `has_room` was asked.
        self._going: Place | None = None
        self._reported = (0, 0)
        self._report_due = 0.0

    @property
    def share(self) -> int:
        """How many places one network may hold."""
        return min(self.limit, max(SHARE_LEAST, self.limit // SHARE))

    def has_room(self) -> bool:
        """Whether there is a place for a newcomer, or somebody to go for it."""
        self._going = None if self.taken < self.limit else self._who_goes()
        return self.taken < self.limit or self._going is not None

    def take(self, network: str | None) -> Place | None:
        """The place of a newcomer, for which another may have to go: right after `has_room` said that there is one.

        None: turn it away, since its network has its share and uses all of it.
        """
        if network is not None and self._count(network) >= self.share:
            own = self._who_goes_of(network)
            if own is None:
                self.turned_away += 1
                return None
            self._end(own)
        elif self._going is not None:
            self._end(self._going)
        place = Place(self, network)
        if network is None:
            self._unknown_of_proxies[place] = None
        else:
            self._strangers.setdefault(network, {})[place] = None
            self._stranger_count += 1
        self.taken += 1
        return place

    def note_known(self, place: Place) -> None:
        """Count a stranger among the known. A place that was given away meanwhile stays gone."""
        if self._remove(place):
            self._known.setdefault(place.network, {})[place] = None
        place.known = True

    def leave(self, place: Place) -> None:
        """Free a place, if it was not taken from it already."""
        if self._remove(place):
            self.taken -= 1

    def end_one(self) -> None:
        """End whoever goes first; nobody, where all are busy."""
        place = self._who_goes()
        if place is not None:
            self._end(place)

    def report(self, log: Log, now: float) -> None:
        """Say that places were short, if they were: at once, then at most every `REPORT_SECONDS`."""
        counts = self.ended, self.turned_away
        if counts == self._reported or now < self._report_due:
            return
        ended, turned_away = counts[0] - self._reported[0], counts[1] - self._reported[1]
        self._reported, self._report_due = counts, now + REPORT_SECONDS
        most_from = max({*self._strangers, *self._known} - {None}, key=self._count, default=None)
        log.warning(
            "connections_crowded",
            ended=ended,
            turned_away=turned_away,
            open_connections=self.taken,
            limit=self.limit,
            most_from=most_from,
            most=self._count(most_from),
        )

    def _count(self, network: str | None) -> int:
        strangers = self._unknown_of_proxies if network is None else self._strangers.get(network, _NOBODY)
        return len(strangers) + len(self._known.get(network, _NOBODY))

    def _remove(self, place: Place) -> bool:
        """Whether it was there."""
        network = place.network
        if not place.known and network is not None:
            removed = _removed(self._strangers, network, place)
            self._stranger_count -= removed
            return removed
        if place.known:
            return _removed(self._known, network, place)
        return self._unknown_of_proxies.pop(place, _ABSENT) is None

    def _end(self, place: Place) -> None:
        """Its place is free at once; the connection itself is gone a turn of the loop later."""
        self.leave(place)
        self.ended += 1
        place.scope.cancel()

    def _who_goes_of(self, network: str) -> Place | None:
        strangers, known = self._strangers.get(network, _NOBODY), self._known.get(network, _NOBODY)
        if len(strangers) > self.share // SHARE:
            return _waiting(strangers) or _longest_idle(known)
        return _longest_idle(known) or _waiting(strangers)

    def _who_goes(self) -> Place | None:
        """Of strangers whoever has most of them, of the idle whoever holds most; those of proxies stand for many."""
        if self._stranger_count > self.limit // SHARE:
            first = _of_most(self._strangers, _waiting) or _of_most(self._known, _longest_idle)
        else:
            first = _of_most(self._known, _longest_idle) or _of_most(self._strangers, _waiting)
        return first or _waiting(self._unknown_of_proxies)


_NOBODY: _Held = {}
_ABSENT: Final = object()


def _removed(by_network: dict[T, _Held], network: T, place: Place) -> bool:
    held = by_network.get(network, _NOBODY)
    if place not in held:
        return False
    del held[place]
    if not held:
        del by_network[network]
    return True


def _of_most(by_network: Mapping[T, _Held], choose: Callable[[_Held], Place | None]) -> Place | None:
    """Whom the network gives that holds most, or else the next; mostly nobody asks for the next."""
    if not by_network:
        return None
    place = choose(max(by_network.values(), key=len))
    if place is not None:
        return place
    chosen = (choose(held) for held in sorted(by_network.values(), key=len, reverse=True))
    return next((place for place in chosen if place is not None), None)


def _waiting(held: _Held) -> Place | None:
    """The oldest that waits for its peer."""
    return next((place for place in held if place.standing != BUSY), None)


def _longest_idle(held: _Held) -> Place | None:
    idle = [(place.occupant.phase_began, place) for place in held if place.occupant and place.standing == KNOWN]
    return min(idle, key=lambda pair: pair[0])[1] if idle else None
