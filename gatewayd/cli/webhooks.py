"""`gatewayd webhook`: subscriptions and what became of their deliveries."""

import argparse
from typing import TYPE_CHECKING, Any

from gatewayd.cli.acting import act, operation_of
from gatewayd.cli.output import print_list, print_made
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.session import Session

if TYPE_CHECKING:
    from gatewayd.contract.operation import Area


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of webhooks."""
    group = add_group(subparsers, "webhook", "webhook subscriptions and their deliveries")
    command = add_command(group, "create", "subscribe a receiver to events", create, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--url", required=True, help="where events are posted")
    command.add_argument("--event", required=True, action="append", metavar="KIND", help="may be given again")
    command = add_command(group, "list", "list the subscriptions of an organization", list_all, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command = add_command(group, "deliveries", "list the deliveries of a subscription, newest first", sent, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--limit", type=whole_number(1, 100), default=50, help="how many at most, 50 by default")


def create(arguments: argparse.Namespace, session: Session) -> int:
    """The signing secret is printed this once."""
    from gatewayd.webhooks.subscriptions import CreatedSubscription

    values = {"url": arguments.url, "events": arguments.event}
    made = act(session, operation_of(_area(session), "webhooks.create"), arguments.org, values)
    assert isinstance(made, CreatedSubscription)
    lines = [f"Made the subscription {made.id} of {made.url}", f"Its signing secret, shown this once: {made.secret}"]
    print_made(arguments, made, lines)
    return 0


def list_all(arguments: argparse.Namespace, session: Session) -> int:
    documents = _listed(session, "webhooks.list", arguments.org, {"limit": 100})
    rows = [
        (each["id"], each["url"], " ".join(each["events"]), "yes" if each["enabled"] else str(each["disabledReason"]))
        for each in documents
    ]
    print_list(arguments, documents, ("id", "url", "events", "enabled"), rows)
    return 0


def sent(arguments: argparse.Namespace, session: Session) -> int:
    from gatewayd.webhooks import subscriptions

    org_id = session.read(lambda tx: subscriptions.org_of(tx, arguments.id))
    values = {"id": arguments.id, "limit": arguments.limit}
    documents = _listed(session, "webhooks.listDeliveries", org_id, values)
    columns = ("id", "event", "status", "attempts", "responseCode", "lastError", "lastAttemptAt", "nextAttemptAt")
    rows = [tuple("" if each[name] is None else str(each[name]) for name in columns) for each in documents]
    print_list(arguments, documents, columns, rows)
    return 0


def _listed(session: Session, operation_id: str, org_id: str, values: dict[str, object]) -> list[dict[str, Any]]:
    import msgspec

    from gatewayd.contract.pages import Listing

    listing = act(session, operation_of(_area(session), operation_id), org_id, values)
    assert isinstance(listing, Listing)
    return msgspec.json.decode(listing.data, type=list[dict[str, Any]])


def _area(session: Session) -> "Area":
    from gatewayd import webhooks
    from gatewayd.webhooks.settings import settings_from

    settings = settings_from(session.config.webhooks)
    return webhooks.area(settings.policy, settings.retry.max_attempts)
