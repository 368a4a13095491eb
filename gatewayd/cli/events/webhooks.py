"""`gatewayd webhook`: subscriptions and their deliveries."""

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from gatewayd.cli.context import Context
from gatewayd.cli.events import listen
from gatewayd.cli.output import note, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.cli.time_arguments import TIME_FORMS, time_argument

if TYPE_CHECKING:
    from gatewayd.contract.operation import Operation

STATUSES: Final = "pending, retrying, succeeded, exhausted or cancelled"


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of webhooks."""
    group = add_group(subparsers, "webhook", "webhook subscriptions and their deliveries")
    _add_subscription_commands(group)
    command = add_command(
        group, "deliveries", "list the deliveries of a subscription, newest first", list_deliveries, json=True
    )
    command.add_argument("id", metavar="ID")
    command.add_argument("--status", action="append", metavar="STATUS", help=f"{STATUSES}; may be given again")
    command.add_argument("--event", metavar="KIND", help="only events of this kind")
    command.add_argument("--since", type=time_argument, metavar="TIME", help=f"made since {TIME_FORMS}")
    command.add_argument("--until", type=time_argument, metavar="TIME", help="made before")
    command.add_argument("--limit", type=whole_number(1, 100), default=50, help="how many at most, 50 by default")
    command = add_command(group, "delivery", "show a delivery with its body and its attempts", show, json=True)
    command.add_argument("id", metavar="DELIVERY")
    command = add_command(group, "resend", "send a finished delivery again", resend, json=True)
    command.add_argument("id", metavar="DELIVERY")
    command = add_command(group, "test", "send a test event to a subscription", send_test, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--event", metavar="KIND", help="one of its kinds, the first by default")
    _add_recovery(group)
    listen.add_commands(group)


def _add_subscription_commands(group: Subparsers) -> None:
    command = add_command(group, "create", "subscribe a receiver to events", create, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--url", required=True, help="where events are posted")
    command.add_argument("--event", required=True, action="append", metavar="KIND", help="may be given again")
    command = add_command(group, "list", "list the subscriptions of an organization", list_all, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command = add_command(group, "update", "change a subscription", update, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--url", help="where events are posted from now on")
    command.add_argument("--event", action="append", metavar="KIND", help="instead of its kinds; may be given again")
    switch = command.add_mutually_exclusive_group()
    switch.add_argument("--enable", action="store_true", help="send what waits, and what comes")
    switch.add_argument("--disable", action="store_true", help="let deliveries wait")
    command.add_argument("--rotate-secret", action="store_true", help="a new secret; the old one signs for a day more")
    command.add_argument("--end-rotation", action="store_true", help="the old secret signs no more")
    command = add_command(group, "delete", "delete a subscription and cancel what waits", delete, json=True)
    command.add_argument("id", metavar="ID")


def create(arguments: argparse.Namespace, context: Context) -> int:
    """The signing secret is printed this once."""
    values = {"url": arguments.url, "events": arguments.event}
    made = run_operation(context, webhook_operation(context, "webhooks.create"), arguments.org, values)
    lines = [
        f"Made the subscription {made['id']} of {made['url']}",
        f"Its signing secret, shown this once: {made['secret']}",
    ]
    print_result(arguments, made, lines)
    return 0


def list_all(arguments: argparse.Namespace, context: Context) -> int:
    documents = _run_list(context, "webhooks.list", arguments.org, {"limit": 100})
    rows = [
        (each["id"], each["url"], " ".join(each["events"]), "yes" if each["enabled"] else str(each["disabledReason"]))
        for each in documents
    ]
    print_list(arguments, documents, ("id", "url", "events", "enabled"), rows)
    return 0


def update(arguments: argparse.Namespace, context: Context) -> int:
    """A new secret is printed this once."""
    from gatewayd.webhooks.subscribers.subscriptions import MISSED_COUNTED

    values: dict[str, object] = {"id": arguments.id, "url": arguments.url, "events": arguments.event}
    if arguments.enable or arguments.disable:
        values["enabled"] = arguments.enable
    values |= {"rotateSecret": arguments.rotate_secret, "endRotation": arguments.end_rotation}
    changed = run_on_subscription(context, "webhooks.update", values)
    state = "enabled" if changed["enabled"] else f"disabled ({changed['disabledReason']})"
    lines = [f"The subscription {changed['id']} of {changed['url']} is {state}."]
    if "secret" in changed:
        lines.append(f"Its new signing secret, shown this once: {changed['secret']}")
    print_result(arguments, changed, lines)
    missed = changed.get("missed", 0)
    if missed:
        hint = f"gatewayd webhook recover {changed['id']} --since {changed['missedSince']}"
        count = f"{missed}{' or more' if missed >= MISSED_COUNTED else ''}"
        note(f"events that did not arrive before: {count}; {hint} sends them again")
    return 0


def delete(arguments: argparse.Namespace, context: Context) -> int:
    removed = run_on_subscription(context, "webhooks.remove", {"id": arguments.id})
    print_result(arguments, removed, [f"The subscription {arguments.id} is deleted."])
    return 0


def list_deliveries(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.webhooks.subscribers import subscriptions

    org_id = context.read(lambda tx: subscriptions.SUBSCRIPTIONS.organization_of(tx, arguments.id))
    values = {name: getattr(arguments, name) for name in ("id", "status", "event", "limit")}
    values |= time_range_values(arguments, context)
    documents = _run_list(context, "webhooks.listDeliveries", org_id, values)
    columns = ("id", "event", "status", "attempts", "responseCode", "lastError", "lastAttemptAt", "nextAttemptAt")
    rows = [tuple("" if each[name] is None else str(each[name]) for name in columns) for each in documents]
    print_list(arguments, documents, columns, rows)
    return 0


def show(arguments: argparse.Namespace, context: Context) -> int:
    """Its record, its body, and a line for each attempt."""
    values: dict[str, object] = {"id": arguments.id, "include": ["attempts"]}
    document = _run_on_delivery(context, "webhooks.getDelivery", values)
    print_result(arguments, document, _delivery_lines(document))
    return 0


def resend(arguments: argparse.Namespace, context: Context) -> int:
    made = _run_on_delivery(context, "webhooks.resendDelivery", {"id": arguments.id})
    print_result(arguments, made, [f"It is sent again as {made['id']}."])
    return 0


def send_test(arguments: argparse.Namespace, context: Context) -> int:
    values = {"id": arguments.id, "event": arguments.event}
    made = run_on_subscription(context, "webhooks.sendTest", values)
    print_result(arguments, made, [f"A test event {made['event']} is on its way as {made['id']}."])
    return 0


def _delivery_lines(document: dict[str, Any]) -> list[str]:
    """A delivery in lines for people."""
    import msgspec

    lines = [
        f"{document['id']}: {document['event']} to {document['subscriptionId']}, {document['status']}",
        f"Body: {msgspec.json.encode(document['payload']).decode()}",
    ]
    if document["replayedFrom"] is not None:
        lines.append(f"Repeats {document['replayedFrom']}")
    lines += [f"Repeated by {delivery_id}" for delivery_id in document["replays"]]
    for attempt in document["attemptLog"]:
        answer = attempt["error"] or attempt["responseCode"]
        if "bodyError" in attempt:
            answer = f"{answer}, its body: {attempt['bodyError']}"
        took = "" if attempt["durationMs"] is None else f", {attempt['durationMs']} ms"
        lines.append(f"Attempt {attempt['attempt']} at {attempt['startedAt']}: {answer}{took}")
    return lines


def _run_on_delivery(context: Context, operation_id: str, values: dict[str, object]) -> dict[str, Any]:
    """Run an operation on the delivery that `values` name."""
    from gatewayd.webhooks import deliveries

    org_id = context.read(lambda tx: deliveries.org_of(tx, str(values["id"])))
    return run_operation(context, webhook_operation(context, operation_id), org_id, values)


def _run_list(context: Context, operation_id: str, org_id: str, values: dict[str, object]) -> list[dict[str, Any]]:
    page = run_operation(context, webhook_operation(context, operation_id), org_id, values)
    documents: list[dict[str, Any]] = page["data"]
    return documents


def _add_recovery(group: Subparsers) -> None:
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
    from gatewayd.webhooks.subscribers import subscriptions

    org_id = context.read(lambda tx: subscriptions.SUBSCRIPTIONS.organization_of(tx, str(values["id"])))
    return run_operation(context, webhook_operation(context, operation_id), org_id, values)


def time_range_values(arguments: argparse.Namespace, context: Context) -> dict[str, object]:
    """`--since` and `--until` as requests name them; None where they were not given."""
    now = context.clock.now()
    arguments_by_name = {"since": arguments.since, "until": arguments.until}
    return {name: None if argument is None else argument.wire(now) for name, argument in arguments_by_name.items()}


def webhook_operation(context: Context, operation_id: str) -> "Operation":
    """An operation of webhooks, under the settings of this command."""
    from gatewayd import webhooks
    from gatewayd.webhooks.settings import settings_from

    settings = settings_from(context.config.webhooks)
    attempts, days = settings.retry.max_attempts, context.config.webhooks.retention_days
    return operation_of(webhooks.AREA, operation_id, webhooks.handlers(settings.policy, attempts, days))
