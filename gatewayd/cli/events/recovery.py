"""`gatewayd webhook recover`, and what it shares with the other commands of webhooks."""

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.cli.time_arguments import TIME_FORMS, time_argument

if TYPE_CHECKING:
    from gatewayd.contract.operation import Operation


def add_commands(group: Subparsers) -> None:
    """Add `recover` to the group of webhooks."""
    command = add_command(group, "recover", "send again what did not arrive since a time", recover, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument(
        "--since", required=True, type=time_argument, metavar="TIME", help=f"events recorded since {TIME_FORMS}"
    )
    command.add_argument("--until", type=time_argument, metavar="TIME", help="events recorded before")
    command.add_argument(
        "--event", action="append", metavar="KIND", help="only events of this kind; may be given again"
    )
    command.add_argument(
        "--status",
        action="append",
        metavar="STATUS",
        help="only where the last delivery was exhausted or cancelled, or missed: there was none; may be given again",
    )
    command.add_argument(
        "--per-second", type=whole_number(1, 1000), default=10, metavar="N", help="how fast, 10 by default"
    )
    command.add_argument("--dry-run", action="store_true", help="count, and send nothing")


def recover(arguments: argparse.Namespace, context: Context) -> int:
    """Call the operation until it has gone through all events."""
    total: dict[str, Any] = {"matched": 0, "recovered": 0, "dryRun": arguments.dry_run}
    total |= {"firstDueAt": None, "lastDueAt": None}
    for answer in _recover_all(arguments, context):
        total["recovered"] += answer["recovered"]
        total["matched"] += answer["matched" if arguments.dry_run else "recovered"]
        total["firstDueAt"] = total["firstDueAt"] or answer["firstDueAt"]
        total["lastDueAt"] = answer["lastDueAt"] or total["lastDueAt"]
        if sys.stderr.isatty():
            print(f"\r{total['matched']} so far", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    total["remaining"] = total["matched"] - total["recovered"]
    print_result(arguments, total, [_sentence(total)])
    return 0


def _recover_all(arguments: argparse.Namespace, context: Context) -> Iterator[dict[str, Any]]:
    values: dict[str, object] = {"id": arguments.id, "events": arguments.event, "statuses": arguments.status}
    values |= {"perSecond": arguments.per_second, "dryRun": arguments.dry_run, **time_range_values(arguments, context)}
    answer: dict[str, Any] | None = None
    while answer is None or answer["goOnAfter"] is not None:
        answer = run_on_subscription(context, "webhooks.recover", values)
        yield answer
        values["after"] = answer["goOnAfter"]


def _sentence(total: dict[str, Any]) -> str:
    if total["dryRun"]:
        return f"{total['matched']} events did not arrive and would be sent again."
    if total["recovered"] == 0:
        return "There is nothing to send again."
    return f"{total['recovered']} events are sent again, from {total['firstDueAt']} to {total['lastDueAt']}."


def run_on_subscription(context: Context, operation_id: str, values: dict[str, object]) -> dict[str, Any]:
    """Run an operation on the subscription that `values` name."""
    from gatewayd.webhooks import subscriptions

    org_id = context.read(lambda tx: subscriptions.SUBSCRIPTIONS.organization_of(tx, str(values["id"])))
    return run_operation(context, webhook_operation(context, operation_id), org_id, values)


def time_range_values(arguments: argparse.Namespace, context: Context) -> dict[str, object]:
    """`--since` and `--until` as requests name them; None where they were not given."""
    now = context.clock.now()
    given = {"since": arguments.since, "until": arguments.until}
    return {name: None if one is None else one.wire(now) for name, one in given.items()}


def webhook_operation(context: Context, operation_id: str) -> "Operation":
    """An operation of webhooks, under the settings of this command."""
    from gatewayd import webhooks
    from gatewayd.webhooks.settings import settings_from

    settings = settings_from(context.config.webhooks)
    attempts, days = settings.retry.max_attempts, context.config.webhooks.retention_days
    return operation_of(webhooks.AREA, operation_id, webhooks.handlers(settings.policy, attempts, days))
