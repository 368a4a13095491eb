"""`python -m tests.daemon.set_clock serve ...`: gatewayd on a machine whose clock is ahead by `CLOCK_AHEAD_SECONDS`."""

import os
import sys

import gatewayd.cli
from gatewayd.clock import SECOND, Instant, SystemClock


class SetClock(SystemClock):
    """The clock of such a machine."""

    def now(self) -> Instant:
        return Instant(super().now() + int(os.environ["CLOCK_AHEAD_SECONDS"]) * SECOND)


if __name__ == "__main__":
    gatewayd.cli.SystemClock = SetClock  # type: ignore[misc]
    sys.exit(gatewayd.cli.main())
