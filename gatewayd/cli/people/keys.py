"""`gatewayd key`: API keys."""

import argparse
import datetime
import ipaddress
from typing import TYPE_CHECKING

from gatewayd.cli.context import Context
from gatewayd.cli.output import note, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.people.user_access import check_enabled, find_user
from gatewayd.clock import DAY, HOUR, Instant, to_wire
from gatewayd.contract.scopes import KEY_SCOPES, RESTRICTED, ordered

if TYPE_CHECKING:
    from gatewayd.contract.holding import Held
    from gatewayd.identity.keys.api_keys import ApiKey, CreatedKey
    from gatewayd.store import WriteTx

EXPIRES_DAYS_MAX = 3_650  # Chosen
OVERLAP_HOURS_MAX = 720  # Chosen: 30 days
OVERLAP_HOURS = 24  # Chosen: as for webhook secrets


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of API keys."""
    group = add_group(subparsers, "key", "API keys")
    command = add_command(group, "create", "make a key; it is shown this once", create, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--user", required=True, metavar="EMAIL", help="the member whose role the key has")
    command.add_argument("--name", required=True)
    command.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="SCOPE",
        choices=ordered(KEY_SCOPES),
        help="may be given again; none: legacy full access",
    )
    command.add_argument("--expires-days", type=whole_number(1, EXPIRES_DAYS_MAX), metavar="D", help="never by default")
    command.add_argument(
        "--role",
        choices=("admin", "member"),
        help="the key belongs to the organization, has this role and does not end with the member",
    )
    command.add_argument(
        "--network", action="append", default=[], type=_network, metavar="CIDR", help="where it may be used from"
    )
    command.add_argument(
        "--legal-entity",
        action="append",
        default=[],
        metavar="ID",
        help="the key reads what is this legal entity's alone; may be given again",
    )
    command.add_argument("--from", type=_day, dest="first", metavar="DAY", help="and nothing of an earlier day")
    command.add_argument("--to", type=_day, dest="last", metavar="DAY", help="and nothing of a later day")
    command = add_command(group, "list", "list the keys, newest first", list_all, json=True)
    command.add_argument("--org", metavar="ID", help="only those of this organization")
    command = add_command(group, "uses", "what a key was used for in 90 days, the latest first", list_uses, json=True)
    command.add_argument("id", metavar="ID")
    command = add_command(group, "revoke", "end a key now", revoke, json=True)
    command.add_argument("id", metavar="ID")
    command = add_command(group, "rotate", "make a successor; the old key goes on for a while", rotate, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument(
        "--overlap-hours",
        type=whole_number(0, OVERLAP_HOURS_MAX),
        default=OVERLAP_HOURS,
        metavar="H",
        help="default 24",
    )


def create(arguments: argparse.Namespace, context: Context) -> int:
    import secrets

    from gatewayd.identity import audit
    from gatewayd.identity.key_format import RANDOM_BYTES
    from gatewayd.identity.keys import api_keys
    from gatewayd.identity.people import organizations

    def work(tx: "WriteTx") -> "CreatedKey":
        organizations.get(tx, tx.org_id)
        user = find_user(tx, arguments.user)
        check_enabled(user)
        days = arguments.expires_days
        new = api_keys.NewKey(
            name=arguments.name,
            user_id=user.id,
            scopes=arguments.scope,
            networks=arguments.network,
            expires_at=None if days is None else Instant(tx.now + days * DAY),
            role=arguments.role,
            held=_held(arguments),
        )
        return api_keys.create(tx, new, secrets.token_bytes(RANDOM_BYTES), audit.OPERATOR)

    made = context.write(work, arguments.org)
    _show(arguments, made)
    if not made.scopes:
        note("no scopes were chosen: this legacy key opens everything but tax")
    if RESTRICTED & set(made.scopes):
        note("the tax scopes have no effect until an instance administrator approves them")
    return 0


def list_all(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity.keys import api_keys
    from gatewayd.identity.people import organizations

    if arguments.org is None:
        keys = context.read(api_keys.list_all)
    else:
        context.read(lambda tx: organizations.get(tx, arguments.org))
        keys = context.read(api_keys.list_keys, arguments.org)
    rows = [_cells(key) for key in keys]
    columns = ("id", "organization", "name", "key", "of", "scopes", "held to", "last used", "ends")
    print_list(arguments, keys, columns, rows)
    return 0


def list_uses(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity.keys import api_keys, key_uses

    org_id = context.read(lambda tx: api_keys.organization_of(tx, arguments.id))
    uses = context.read(lambda tx: key_uses.by_operation(tx, arguments.id), org_id)
    rows = [
        (use.operation, str(use.times), str(use.days), to_wire(use.first_at)[:10], to_wire(use.last_at)[:16])
        for use in uses
    ]
    print_list(arguments, uses, ("operation", "times", "days", "first", "last"), rows)
    return 0


def revoke(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.identity.keys import api_keys

    org_id = context.read(lambda tx: api_keys.organization_of(tx, arguments.id))
    key = context.write(lambda tx: api_keys.revoke(tx, arguments.id, audit.OPERATOR), org_id)
    document = {"id": key.id, "revokedAt": key.revoked_at}
    print_result(arguments, document, [f"The key {key.id} ({key.name}) is revoked."])
    return 0


def rotate(arguments: argparse.Namespace, context: Context) -> int:
    import secrets

    from gatewayd.identity import audit
    from gatewayd.identity.key_format import RANDOM_BYTES
    from gatewayd.identity.keys import api_keys

    org_id = context.read(lambda tx: api_keys.organization_of(tx, arguments.id))
    random = secrets.token_bytes(RANDOM_BYTES)
    overlap = arguments.overlap_hours * HOUR
    made = context.write(lambda tx: api_keys.rotate(tx, arguments.id, overlap, random, audit.OPERATOR), org_id)
    _show(arguments, made)
    return 0


def _show(arguments: argparse.Namespace, made: "CreatedKey") -> None:
    scopes = " ".join(made.scopes) or "LEGACY FULL ACCESS"
    print_result(arguments, made, [made.key, f"{made.id}: {scopes}", "The key is not shown again."])


def _cells(key: "ApiKey") -> tuple[str, ...]:
    ends = "never" if key.expires_at is None else to_wire(key.expires_at)[:10]
    if key.revoked_at is not None:
        ends = f"revoked {to_wire(key.revoked_at)[:10]}"
    scopes = "LEGACY FULL ACCESS" if key.full_access else " ".join(key.scopes)
    belongs = "its maker" if key.role is None else f"organization ({key.role})"
    return (key.id, key.org_id, key.name, key.hint, belongs, scopes, _held_to(key), key.last_used or "never", ends)


def _held_to(key: "ApiKey") -> str:
    days = [] if key.held_from is None else [f"from {key.held_from}"]
    days += [] if key.held_to is None else [f"to {key.held_to}"]
    return " ".join([*(key.held_entities or ()), *days]) or "nothing"


def _held(arguments: argparse.Namespace) -> "Held | None":
    """What the key is to be held to."""
    from gatewayd.contract.holding import Held

    entities = frozenset(arguments.legal_entity) or None
    if entities is None and arguments.first is None and arguments.last is None:
        return None
    return Held(entities=entities, first=arguments.first, last=arguments.last)


def _day(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day, such as 2027-04-05") from None


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
