"""`gatewayd doctor`, of the machine's clock: whether it was set, and whether what is stored was dated ahead of it."""

from collections.abc import Iterator
from functools import partial

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.doctor.database import is_readable
from gatewayd.cli.doctor.findings import Finding
from gatewayd.cli.instance.clock import EARLIEST_NOW
from gatewayd.clock import SECOND, to_wire


def clock(context: Context) -> Iterator[Finding]:
    """Which of two clocks was wrong cannot be known from within: the operator has to say."""
    from gatewayd.store import StoreFailure, latest_change
    from gatewayd.store.failures import MigrationError

    about, now = "clock", context.clock.now()
    if now < EARLIEST_NOW:
        yield Finding(about, False, f"It was never set: it says {to_wire(now)}.")
        return
    try:
        known = is_readable(context)
        change = context.read(partial(latest_change.find, shared=bool(context.store_settings.url))) if known else None
    except (CommandError, MigrationError, StoreFailure):
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
