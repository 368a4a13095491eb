"""Whether the daemon is well: store and clock are looked at once a second, and the service manager hears of it."""

import math
from functools import partial
from typing import Final

import trio

from gatewayd.clock import Instant
from gatewayd.daemon.clock_watch import ClockWatch
from gatewayd.http1.log import Log
from gatewayd.service_manager import Notifier
from gatewayd.store import Store, StoreFailure, latest_change
from gatewayd.store.database import LARGE_BYTES
from gatewayd.store.files.directory import Tenure

BEAT_SECONDS: Final = 1.0  # Chosen: how often the store is asked whether it answers
READY_SECONDS: Final = 2.0  # Chosen: how long it may take before the daemon is not ready
FAULTS_TOLD: Final = 5
IDLE_SECONDS: Final = 30.0  # Chosen: after so long without a write one is made, to know that the disk takes it


class Health:
    """What was found out at the last beat, so that asking for it often costs the store nothing."""

    def __init__(self, store: Store, notifier: Notifier, log: Log) -> None:
        self.clock = ClockWatch(log)
        self.store_answers = True
        self.serving = trio.Event()
        self._store = store
        self._notifier = notifier
        self._log = log
        self._fault: str | None = None
        self._refused = False
        self._changes = 0
        self._written_at = -math.inf

    @property
    def store(self) -> str:
        """`ok`, or what is wrong, to be read after "the store": from when it is met until a look finds it over."""
        return (self._fault or self._store.fault or "ok") if self.store_answers else "does not answer"

    async def beat(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Look, and for as long as the store answers tell the service manager that all is well.

        A store that answers that the disk is full is no reason to end the daemon: it still reads.
        """
        notifier = self._notifier
        interval = notifier.watchdog_seconds or math.inf
        ping_at = 0.0 if notifier.watchdog_seconds else math.inf
        await self.look()
        task_status.started()
        while True:
            if self.store_answers and trio.current_time() >= ping_at:
                notifier.watchdog()
                ping_at = trio.current_time() + interval
            await trio.sleep(min(BEAT_SECONDS, interval / 2))
            await self.look()

    async def look(self) -> None:
        """Find out how it is, and log what has changed."""
        self._note(await self._answers())
        self._note_fault()

    def _note(self, answers: bool) -> None:
        if answers != self.store_answers:
            log = self._log.info if answers else self._log.error
            log("store_answers_again" if answers else "store_does_not_answer")
        self.store_answers = answers

    def _note_fault(self) -> None:
        """Log what is wrong with the store when it begins, changes and ends."""
        fault = self._store.fault
        if fault is not None and fault != self._fault:
            self._log.error("store_is_unwell", store=fault)
        elif fault is None and self._fault is not None:
            self._log.info("store_is_well_again")
        self._fault, self._refused = fault, self._store.refuses_writes

    async def _answers(self) -> bool:
        """True when a read and a commit come back in time, be it with what is wrong."""
        try:
            with trio.fail_after(READY_SECONDS):
                change = await self._store.read(partial(latest_change.find, shared=self._store.is_shared))
                self.clock.look(Instant(self._store.now()), change)
                await self._check_writer()
        except trio.TooSlowError:
            return False
        except StoreFailure:
            return self._store.fault is not None
        return True

    async def _check_writer(self) -> None:
        """Write much after a write that failed, until that succeeds; nothing where others write; else little, seldom.

        On a disk that is nearly full others' small writes may succeed while large ones fail.
        """
        now, changes = trio.current_time(), self._store.changes
        if changes != self._changes:
            self._changes, self._written_at = changes, now
        if self._refused or self._store.refuses_writes:
            await self._store.check_writer(LARGE_BYTES)
        elif now - self._written_at >= IDLE_SECONDS:
            await self._store.check_writer(0)
            self._changes, self._written_at = self._store.changes, now
        else:
            await self._store.check_writer()

    async def check_integrity(self, tenure: Tenure) -> None:
        """Look for damage after a run that was interrupted, once requests are answered; damage makes us not ready."""
        await self.serving.wait()
        began = trio.current_time()
        try:
            faults = await self._store.find_damage()
        except StoreFailure as error:
            self._log.error("database_not_checked", exc_info=error)
            return
        if faults:
            self._log.error("database_damaged", faults=faults[:FAULTS_TOLD], count=len(faults))
        elif faults is not None:
            tenure.interrupted = False
            self._log.info("database_checked", seconds=round(trio.current_time() - began, 3))
