"""Threads that read, each with a session of its own: what `trio.to_thread` does, at a quarter of its cost a read."""

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar, cast

import outcome
import trio

from gatewayd.store.failures import StoreFailure
from gatewayd.store.postgres.reading import Reader
from gatewayd.store.transactions import Bindings, ReadTx

T = TypeVar("T")
_NAME: Final = "gatewayd-reader"


class _Read(NamedTuple):
    """A task that waits for what `work` answers."""

    task: trio.lowlevel.Task
    work: Callable[[ReadTx], Any]
    bindings: Bindings


class ReadThreads:
    """So many of them, which take reads in the order in which they come. Made on the loop's thread."""

    def __init__(self, number: int, make: Callable[[], Reader]) -> None:
        self._make = make
        self._token = trio.lowlevel.current_trio_token()
        self._waiting: queue.SimpleQueue[_Read | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._serve, name=_NAME, daemon=True) for _ in range(number)]
        self._closed = False

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    async def run(self, work: Callable[[ReadTx], T], bindings: Bindings) -> T:
        """Run a read on one of them. A caller that is cancelled waits for its end, which is near. Raises as it does."""
        if self._closed:
            raise StoreFailure("the store is closed")
        self._waiting.put(_Read(trio.lowlevel.current_task(), work, bindings))
        return cast(T, await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.FAILED))

    def close(self) -> None:
        """End them, after what waits; each closes its session."""
        self._closed = True
        for _ in self._threads:
            self._waiting.put(None)

    def _serve(self) -> None:
        reader = self._make()
        while (read := self._waiting.get()) is not None:
            self._answer(reader, read)
            del read  # or it would be kept until the next
        reader.close()

    def _answer(self, reader: Reader, read: _Read) -> None:
        result = outcome.capture(reader.read, read.work, read.bindings)
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(trio.lowlevel.reschedule, read.task, result)
