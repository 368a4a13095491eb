"""`gatewayd accept-clock`: what was dated by a clock that was ahead is known, and the clock is right now."""

import argparse
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.clock import EARLIEST_NOW, to_wire

if TYPE_CHECKING:
    from gatewayd.store import WriteTx
    from gatewayd.store.latest_change import LatestChange


def add_commands(subparsers: Subparsers) -> None:
    """Add `accept-clock`."""
    summary = "be ready though changes are dated ahead of the clock, which is right"
    add_command(subparsers, "accept-clock", summary, accept, json=True)


def accept(arguments: argparse.Namespace, context: Context) -> int:
    """Only while the clock is behind, and for the changes that there are: one that leaps again is told again."""
    from gatewayd.identity import audit
    from gatewayd.store import latest_change

    now = context.clock.now()
    if now < EARLIEST_NOW:
        raise CommandError(f"it is not {to_wire(now)}: the clock was never set")

    def work(tx: "WriteTx") -> "LatestChange":
        change = latest_change.find(tx, shared=bool(context.store_settings.url))
        if not change.ahead_of(now):
            raise CommandError(f"it is {to_wire(now)}, and the clock is not behind: there is nothing to accept")
        latest_change.accept(tx)
        subject = to_wire(change.latest)
        audit.record(tx, audit.Act(actor=audit.OPERATOR, action="clock.accepted", subject=subject, org_id=None))
        return change

    latest = to_wire(context.write(work).latest)
    sentence = f"It is {to_wire(now)}. What is dated until {latest} stays as it is, and no longer hinders readiness."
    print_result(arguments, {"now": to_wire(now), "latestChange": latest}, [sentence])
    return 0
