"""`python -m tests.daemon.fast_clock serve ...`: gatewayd on a machine whose clock is five seconds ahead."""

import sys
from typing import Final

import gatewayd.cli
from gatewayd.clock import SECOND, Instant, SystemClock

AHEAD: Final = 5 * SECOND


class FastClock(SystemClock):
    """The clock of such a machine."""

    def now(self) -> Instant:
        return Instant(super().now() + AHEAD)


if __name__ == "__main__":
    gatewayd.cli.SystemClock = FastClock  # type: ignore[misc]
    sys.exit(gatewayd.cli.main())
