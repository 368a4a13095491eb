"""What `gatewayd doctor` checks, looked at by the daemon itself: on threads, side by side, for some seconds at most."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import trio

from gatewayd.clock import Clock
from gatewayd.config import Config
from gatewayd.console.instance import Finding
from gatewayd.doctor.advice import advice_about
from gatewayd.doctor.examined import Examined
from gatewayd.http1.log import Log
from gatewayd.store import Store

if TYPE_CHECKING:
    from gatewayd.doctor.checks import Check
    from gatewayd.store import ReadTx

EXAMINE_SECONDS: Final = 4.0  # Chosen: as long as somebody waits for a page
THREADS: Final = 4  # Chosen: what hangs has one until it ends, so that looking again and again makes no more of them
T = TypeVar("T")


class OwnInstance(Examined):
    """The instance that a daemon serves, read by the store that it has open. For a thread that trio started."""

    def __init__(
        self, config: Callable[[], Config], environ: Mapping[str, str], clock: Clock, root: Path, store: Store
    ) -> None:
        """`config` answers the settings that hold now."""
        super().__init__(environ, clock, root)
        self._config = config
        self._store = store

    @property
    def config(self) -> Config:
        return self._config()

    def read(self, work: "Callable[[ReadTx], T]", org_id: str | None = None) -> T:
        return trio.from_thread.run(self._store.read_later, work, org_id)


class Examination:
    """The checks of one daemon. For its event loop."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._threads = trio.CapacityLimiter(THREADS)

    async def run(self, examined: Examined, seconds: float = EXAMINE_SECONDS) -> list[Finding]:
        """All findings in the order of the checks. What has not ended in time is "unknown", and left to itself."""
        from gatewayd.doctor.checks import CHECKS  # a daemon whose pages nobody opens does without

        found: dict[str, list[Finding]] = {}
        with trio.move_on_after(seconds):
            async with trio.open_nursery() as nursery:
                for check in CHECKS:
                    nursery.start_soon(self._look, check, examined, found)
        late = f"It could not be found out within {seconds:g} seconds. On the machine, gatewayd doctor waits longer."
        return [
            finding for check in CHECKS for finding in found.get(check.about, [Finding(check.about, "unknown", late)])
        ]

    async def _look(self, check: "Check", examined: Examined, found: dict[str, list[Finding]]) -> None:
        try:
            found[check.about] = await trio.to_thread.run_sync(
                partial(_findings, check, examined), limiter=self._threads, abandon_on_cancel=True
            )
        except Exception as error:  # noqa: BLE001 - the border of a check: the others are told all the same
            self._log.error("check_failed", check=check.about, exc_info=error)
            found[check.about] = [Finding(check.about, "unknown", "The check itself failed; the log says how.")]


def _findings(check: "Check", examined: Examined) -> list[Finding]:
    """On a thread."""
    return [
        Finding(each.about, "well", each.sentence)
        if each.well
        else Finding(each.about, "wrong", each.sentence, advice_about(each.about))
        for each in check.look(examined)
    ]
