"""Housekeeping by its rounds: each piece is done, or left to the next round, and it is known when it was."""

from collections.abc import Awaitable

from gatewayd.clock import Clock
from gatewayd.console.instance import Round
from gatewayd.http1.log import Log
from gatewayd.store import StoreFailure


class Rounds:
    """When each piece was last done since the start, in the order in which they first were."""

    def __init__(self, clock: Clock, log: Log) -> None:
        self._clock = clock
        self._log = log
        self.last: dict[str, Round] = {}

    async def done(self, name: str, work: Awaitable[object]) -> None:
        """Do it, and note when."""
        well = await attempted(work, self._log)
        self.last[name] = Round(self._clock.now(), failed=not well)


async def attempted(work: Awaitable[object], log: Log) -> bool:
    """Do it; False where the store failed, as a full disk does: then the next round does it."""
    try:
        await work
    except StoreFailure as error:
        log.error("housekeeping_failed", exc_info=error)
        return False
    return True
