"""`gatewayd doctor`, of the machine's clock: whether it was set, and whether what is stored was dated ahead of it."""

from collections.abc import Iterator
from functools import partial

from gatewayd.clock import EARLIEST_NOW, SECOND, to_wire
from gatewayd.doctor.database import is_readable
from gatewayd.doctor.examined import Examined, OutOfReach
from gatewayd.doctor.findings import Finding


def clock(examined: Examined) -> Iterator[Finding]:
    """Which of two clocks was wrong cannot be known from within: the operator has to say."""
    from gatewayd.store import StoreFailure, latest_change
    from gatewayd.store.failures import MigrationError

    about, now = "clock", examined.clock.now()
    if now < EARLIEST_NOW:
        yield Finding(about, False, f"It was never set: it says {to_wire(now)}.")
        return
    try:
        known = is_readable(examined)
        change = examined.read(partial(latest_change.find, shared=bool(examined.store_settings.url))) if known else None
    except (OutOfReach, MigrationError, StoreFailure):
        change = None  # the check of the database says so
    ahead = 0 if change is None else change.ahead_of(now)
    if change is None or not ahead:
        yield Finding(about, True, f"It says {to_wire(now)}.")
        return
    behind = f"It says {to_wire(now)}, and is {ahead // SECOND} s behind the latest change, of {to_wire(change.latest)}"
    if change.is_accepted(now):
        yield Finding(about, True, f"{behind}, which was accepted.")
    else:
        yield Finding(about, False, f"{behind}: put it right, or if it is, say so with gatewayd accept-clock.")
