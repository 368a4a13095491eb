"""The loop of a task that sends what waits in a table: claim, attempt, record, again. Mail and webhooks are sent by it.

One loop writes. Each of its rounds is one transaction that records every attempt that has ended and begins as many as
there is room for; while it is being committed, more attempts end, and the next round takes them together. One task
makes each attempt, which was recorded and counted as begun before anybody was spoken to.

Cancelled, it claims nothing more and gives attempts under way `stop_seconds` to end. One that does not is recorded as
interrupted and is due at once; one that cannot even be recorded is due when its lease ends.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, Generic, Protocol, TypeVar

import trio

from gatewayd.clock import SECOND, Clock, Instant
from gatewayd.store import StoreFailure, WriteTx

C = TypeVar("C")
"""One attempt that is recorded as begun and now has to be made."""
E = TypeVar("E")
"""What became of one, to be recorded."""
T = TypeVar("T")

LOOK_AGAIN_SECONDS: Final = 15.0  # Chosen: longest wait between looks, so that a clock set forward is noticed
STORE_PAUSE_SECONDS: Final = 1.0  # Chosen: between tries while the disk is full or the database is locked


class Outbox(Protocol):
    """What the loop needs of the store."""

    async def write(self, work: Callable[[WriteTx], T]) -> T: ...

    def topic(self, name: str) -> trio.Event: ...


class SendingLoop(ABC, Generic[C, E]):
    """The one reader of its table in this process. Another process may run one on the same database."""

    def __init__(self, store: Outbox, topic: str, clock: Clock, stop_seconds: float) -> None:
        """`topic` is announced when there is more to send."""
        self._store = store
        self._topic = topic
        self._clock = clock
        self._stop_seconds = stop_seconds
        self._claims: dict[str, C] = {}  # by what is sent
        self._ended: list[E] = []
        self._wake_up = trio.Event()
        self.running = False

    @property
    def in_flight(self) -> int:
        """Attempts under way."""
        return len(self._claims)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Send until cancelled."""
        try:
            async with trio.open_nursery() as nursery:
                loop_scope = trio.CancelScope()
                nursery.start_soon(self._wake_on_more, self._store.topic(self._topic), loop_scope)
                self.running = True
                task_status.started()
                await self._run_loop(loop_scope)
        finally:
            self.running = False
            with trio.CancelScope(shield=True):
                await self._record_remaining()

    # -- what is sent, and how

    @abstractmethod
    def _id_of(self, claim: C) -> str:
        """The id of what is sent."""

    @abstractmethod
    async def _record_and_claim(self, ended: list[E]) -> tuple[Sequence[C], Instant | None]:
        """Record attempts and claim what is due; when to look again, None: only once something changes.

        Raises `StoreFailure` when the store could do neither.
        """

    @abstractmethod
    async def _record_last(self, ended: list[E]) -> None:
        """Record attempts, as the loop ends. Raises `StoreFailure`."""

    @abstractmethod
    def _not_recorded(self, error: StoreFailure, waiting: int, *, last: bool) -> None:
        """Tell that the store failed; it is tried again, but for the `last` time."""

    @abstractmethod
    async def _send(self, claim: C) -> E:
        """Make one attempt, within a deadline of its own."""

    @abstractmethod
    def _end_by_stop(self, claim: C, began: float) -> E:
        """The end of an attempt that our stop interrupted; `began` on trio's clock."""

    @abstractmethod
    def _end_by_error(self, claim: C, error: Exception, began: float) -> E:
        """The end of an attempt that failed on our side."""

    @abstractmethod
    async def _sweep(self) -> None:
        """Close what was left open for the next attempt for too long."""

    def _seconds_until(self, instant: Instant | None) -> float:
        """How long to wait for an instant at which something is due."""
        if instant is None:
            return LOOK_AGAIN_SECONDS
        return min(max(0.0, (instant - self._clock.now()) / SECOND), LOOK_AGAIN_SECONDS)

    # -- the loop

    async def _wake_on_more(self, announced: trio.Event, loop_scope: trio.CancelScope) -> None:
        """Wake the loop when the store has more to send. Runs until cancelled, and then ends the loop."""
        try:
            while True:
                await announced.wait()
                announced = self._store.topic(self._topic)  # before the look that follows: none is missed between
                self._wake_up.set()
        finally:
            loop_scope.cancel()

    async def _run_loop(self, loop_scope: trio.CancelScope) -> None:
        """Loop until `loop_scope` is cancelled; attempts that are under way then have `stop_seconds` to end."""
        with trio.CancelScope(shield=True) as grace:
            async with trio.open_nursery() as attempts:
                with loop_scope:
                    await self._loop(attempts)
                grace.deadline = trio.current_time() + self._stop_seconds

    async def _loop(self, attempts: trio.Nursery) -> None:
        while True:
            self._wake_up = trio.Event()
            ended, self._ended = self._ended, []
            try:
                claims, next_due = await self._record_and_claim(ended)
            except StoreFailure as error:
                self._ended[:0] = ended
                self._not_recorded(error, len(self._ended), last=False)
                await trio.sleep(STORE_PAUSE_SECONDS)
                continue
            for claim in claims:
                self._claims[self._id_of(claim)] = claim
                attempts.start_soon(self._attempt, claim)
            attempts.start_soon(self._sweep)
            with trio.move_on_after(self._seconds_until(next_due)):
                await self._wake_up.wait()
            await trio.lowlevel.checkpoint()  # so that what ends together is recorded together

    async def _attempt(self, claim: C) -> None:
        began = trio.current_time()
        try:
            ended = await self._send(claim)
        except trio.Cancelled:
            self._end(claim, self._end_by_stop(claim, began))
            raise
        except Exception as error:  # noqa: BLE001 - one attempt fails, the rest go on
            ended = self._end_by_error(claim, error, began)
        self._end(claim, ended)

    def _end(self, claim: C, ended: E) -> None:
        del self._claims[self._id_of(claim)]
        self._ended.append(ended)
        self._wake_up.set()

    async def _record_remaining(self) -> None:
        if not self._ended:
            return
        try:
            await self._record_last(self._ended)
        except StoreFailure as error:
            self._not_recorded(error, len(self._ended), last=True)
            return
        self._ended = []
