"""Whether the daemon is well: the store is asked once a second, and the service manager hears of it."""

import math
from typing import Final

import trio

from gatewayd.http1.log import Log
from gatewayd.service_manager import Notifier
from gatewayd.store import Store, StoreFailure

BEAT_SECONDS: Final = 1.0  # Chosen: how often the store is asked whether it answers
READY_SECONDS: Final = 2.0  # Chosen: how long it may take before the daemon is not ready


class Health:
    """What was found out at the last beat, so that asking for it often costs the store nothing."""

    def __init__(self, store: Store, notifier: Notifier, log: Log) -> None:
        self._store = store
        self._notifier = notifier
        self._log = log
        self.store_answers = False

    async def beat(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Ask the store whether it answers, and for as long as it does tell the service manager that all is well."""
        notifier = self._notifier
        interval = notifier.watchdog_seconds or math.inf
        ping_at = 0.0 if notifier.watchdog_seconds else math.inf
        self.store_answers = await _answers(self._store)
        task_status.started()
        while True:
            if self.store_answers and trio.current_time() >= ping_at:
                notifier.watchdog()
                ping_at = trio.current_time() + interval
            await trio.sleep(min(BEAT_SECONDS, interval / 2))
            self._note(await _answers(self._store))

    def _note(self, answers: bool) -> None:
        if answers != self.store_answers:
            log = self._log.info if answers else self._log.error
            log("store_answers_again" if answers else "store_does_not_answer")
        self.store_answers = answers


async def _answers(store: Store) -> bool:
    """True when a read and an empty commit come back in time."""
    try:
        with trio.fail_after(READY_SECONDS):
            await store.read(lambda tx: tx.value("SELECT 1"))
            await store.check_writer()
    except (trio.TooSlowError, StoreFailure):
        return False
    return True
