"""Names to addresses: getaddrinfo(3) in threads of its own, one lookup for a name at a time.

Where no name server answers, a lookup holds its thread for half a minute, and nothing ends it sooner. So it outlives
whoever asked for it: others who ask meanwhile wait for the same answer, and are refused at once where it is overdue.
A failure may be remembered for a while, and names whose last lookup failed share a quarter of the threads, so that
those that answer find one. An answer is kept for nobody who asks later: the next connection looks the name up anew.
"""

import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

import trio

LOOKUP_THREADS: Final = 64  # Chosen: own threads, so that dead name servers hold up nothing but lookups
FAILING_SHARE: Final = 4  # Chosen: at most a quarter of the threads goes to names whose last lookup failed
OVERDUE_SECONDS: Final = 5.0  # Chosen: what resolv.conf(5) gives one name server; who asks later does not wait
FAILURE_SECONDS: Final = 30.0  # Chosen: the first wait between attempts (Spec §8): each of them asks anew
FAILURES_MAX: Final = 1024  # Chosen: the name that failed longest ago is forgotten first

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]  # host, port -> addresses in preference order; raises OSError


class Answer(NamedTuple):
    """What came of a lookup: addresses in preference order, or why there are none."""

    addresses: Sequence[str]
    failure: str | None


Report = Callable[[Answer], None]
StartLookup = Callable[[str, Report], None]
"""Starts to look up a host, and calls the report on the event loop's thread, once."""


class _Failure(NamedTuple):
    """Why the last lookup of a name failed, and when, on trio's clock."""

    why: str
    at: float


@dataclass(slots=True, eq=False)
class _Lookup:
    """One lookup and how many wait for it. `begun_at` is None while it waits for a thread."""

    host: str
    waiting: int = 0
    begun_at: float | None = None
    answer: Answer | None = None
    answered: trio.Event = field(default_factory=trio.Event)


def look_up(host: str) -> Answer:
    """The addresses of a host in the system's preference order (RFC 6724). Blocks."""
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:  # ValueError: no name can be encoded like that
        return Answer((), str(error))
    return Answer([str(sockaddr[0]) for *_, sockaddr in entries], None)


def start_in_thread(host: str, report: Report, look_up: Callable[[str], Answer] = look_up) -> None:
    """Look up in a thread that nobody waits for. Raises RuntimeError where the system has no thread left."""
    token = trio.lowlevel.current_trio_token()

    def run() -> None:
        answer = Answer((), "the lookup broke off")
        try:
            answer = look_up(host)
        finally:
            with suppress(trio.RunFinishedError):  # the daemon has ended meanwhile
                token.run_sync_soon(report, answer)

    trio.lowlevel.start_thread_soon(run, lambda result: result.unwrap())


class SystemResolver:
    """Looks names up as the system does. Belongs to the event loop's thread."""

    def __init__(
        self,
        start: StartLookup = start_in_thread,
        threads: int = LOOKUP_THREADS,
        failure_seconds: float = FAILURE_SECONDS,
    ) -> None:
        """`failure_seconds`: for how long a failure is the answer to whoever asks; 0: the next one looks anew."""
        self._failure_seconds = failure_seconds
        self._start = start
        self._threads = threads
        self._lookups: dict[str, _Lookup] = {}  # in the order in which they were asked for
        self._failures: dict[str, _Failure] = {}  # the last one at the end

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """Addresses in preference order. Raises OSError. Whoever is cancelled leaves the lookup to the others."""
        self._refuse_hopeless(host)
        lookup = self._lookups.get(host)
        if lookup is None:
            lookup = self._lookups[host] = _Lookup(host)
            self._begin_waiting()
        answer = await self._answer_of(lookup)
        if answer.failure is not None:
            raise OSError(answer.failure)
        return answer.addresses

    def _refuse_hopeless(self, host: str) -> None:
        """Raise OSError where the name has just failed, or its lookup is overdue."""
        now = trio.current_time()
        failure, lookup = self._failures.get(host), self._lookups.get(host)
        if failure is not None and now - failure.at < self._failure_seconds:
            raise OSError(f"{failure.why} ({now - failure.at:.0f} s ago)")
        if lookup is not None and lookup.begun_at is not None and now - lookup.begun_at >= OVERDUE_SECONDS:
            raise OSError(f"no name server has answered for {now - lookup.begun_at:.0f} s")

    async def _answer_of(self, lookup: _Lookup) -> Answer:
        lookup.waiting += 1
        try:
            await lookup.answered.wait()
        finally:
            lookup.waiting -= 1
            if lookup.waiting == 0 and lookup.begun_at is None and lookup.answer is None:
                del self._lookups[lookup.host]  # it found no thread in time, and nobody is left who wants it
        assert lookup.answer is not None
        return lookup.answer

    def _begin_waiting(self) -> None:
        """Begin the lookups for which there is a thread, longest waiting first."""
        for lookup in [waiting for waiting in self._lookups.values() if waiting.begun_at is None]:
            if self._has_thread_for(lookup):
                lookup.begun_at = trio.current_time()
                try:
                    self._start(lookup.host, partial(self._finish, lookup))
                except RuntimeError as error:
                    self._end(lookup, Answer((), str(error)))

    def _has_thread_for(self, lookup: _Lookup) -> bool:
        begun = [other.host for other in self._lookups.values() if other.begun_at is not None]
        if lookup.host not in self._failures:
            return len(begun) < self._threads
        failing = sum(host in self._failures for host in begun)
        return len(begun) < self._threads and failing < max(1, self._threads // FAILING_SHARE)

    def _finish(self, lookup: _Lookup, answer: Answer) -> None:
        self._end(lookup, answer)
        self._begin_waiting()

    def _end(self, lookup: _Lookup, answer: Answer) -> None:
        del self._lookups[lookup.host]
        self._failures.pop(lookup.host, None)
        if answer.failure is not None:
            self._failures[lookup.host] = _Failure(answer.failure, trio.current_time())
            if len(self._failures) > FAILURES_MAX:
                del self._failures[next(iter(self._failures))]
        lookup.answer = answer
        lookup.answered.set()
