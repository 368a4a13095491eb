"""The end of a writer that nobody asked for: told from its thread to the loop."""

import contextlib

import trio

from gatewayd.store.failures import StoreFailure


class WriterEnd:
    """Made on the loop's thread, of one store."""

    def __init__(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._met = trio.Event()
        self._error: BaseException | None = None

    def tell(self, error: BaseException) -> None:
        """On the writer's thread, which ends with `error`."""
        self._error = error
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._met.set)

    async def watch(self) -> None:
        """Runs until cancelled. Raises `StoreFailure` once the writer has ended so: it will write nothing any more."""
        await self._met.wait()
        raise StoreFailure("the writer ended") from self._error
