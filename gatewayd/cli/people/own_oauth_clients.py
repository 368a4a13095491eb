"""`gatewayd client add` and its neighbours: the OAuth clients that whoever runs the instance registers."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command, whole_number
from gatewayd.cli.people.keys import OVERLAP_HOURS, OVERLAP_HOURS_MAX
from gatewayd.clock import HOUR
from gatewayd.contract.scopes import ALL_SCOPES, ordered

if TYPE_CHECKING:
    from gatewayd.identity.clients.own_clients import Kind, RegisteredClient
    from gatewayd.store import WriteTx

KEYS_BYTES_MAX = 64 * 1024  # Chosen


def add_commands(group: Subparsers) -> None:
    """Add the commands to those of OAuth clients."""
    command = add_command(group, "add", "register an OAuth client; its secret is shown this once", add, json=True)
    command.add_argument("name", metavar="NAME", help="what people see where they allow it something")
    command.add_argument(
        "--redirect-uri", action="append", required=True, metavar="URI", help="may be given again; any port on loopback"
    )
    command.add_argument(
        "--post-logout-redirect-uri", action="append", default=[], metavar="URI", help="where people go who sign out"
    )
    command.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="SCOPE",
        choices=ordered(ALL_SCOPES),
        help="the most that it may be granted, may be given again; none: whatever people allow",
    )
    kinds = command.add_mutually_exclusive_group()
    kinds.add_argument("--confidential", action="store_true", help="with a secret, for a program on a server")
    kinds.add_argument(
        "--keys", metavar="FILE", help="with its own keys (private_key_jwt): the public ones, a JWK Set in JSON"
    )
    command = add_command(
        group, "rotate-secret", "make a new secret; the one before goes on for a while", rotate, json=True
    )
    command.add_argument("id", metavar="ID")
    command.add_argument(
        "--overlap-hours",
        type=whole_number(0, OVERLAP_HOURS_MAX),
        default=OVERLAP_HOURS,
        metavar="H",
        help="default 24",
    )
    command = add_command(group, "set-keys", "give an OAuth client with keys other ones", keys, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("keys", metavar="FILE", help="a JWK Set in JSON; while keys change, with both")
    command = add_command(
        group, "remove", "end an OAuth client that was added, with its secrets and grants, now", remove, json=True
    )
    command.add_argument("id", metavar="ID")


def add(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.identity.clients import own_clients

    kind: Kind = "secret" if arguments.confidential else "keys" if arguments.keys else "public"
    new = own_clients.NewClient(
        name=arguments.name,
        redirect_uris=arguments.redirect_uri,
        kind=kind,
        scopes=arguments.scope,
        post_logout_redirect_uris=arguments.post_logout_redirect_uri,
        keys=_read_keys(arguments.keys) if arguments.keys else None,
    )
    made = context.write(lambda tx: own_clients.register(tx, new, audit.OPERATOR))
    _show(arguments, made, f"The client {made.client.id} ({made.client.name}) is registered.")
    return 0


def rotate(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.identity.clients import own_clients

    overlap = arguments.overlap_hours * HOUR
    made = context.write(lambda tx: own_clients.rotate_secret(tx, arguments.id, overlap, audit.OPERATOR))
    hours = arguments.overlap_hours
    before = f"goes on for {hours} hour{'' if hours == 1 else 's'}" if hours else "has ended"
    _show(arguments, made, f"The secret of {made.client.name} before this one {before}.")
    return 0


def keys(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.identity.clients import own_clients

    given = _read_keys(arguments.keys)
    client = context.write(lambda tx: own_clients.set_keys(tx, arguments.id, given, audit.OPERATOR))
    count = len((client.metadata.jwks or {})["keys"])
    print_result(arguments, {"id": client.id, "keys": count}, [f"The client {client.id} ({client.name}) has new keys."])
    return 0


def remove(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.identity.clients import grant_lists, own_clients

    def work(tx: "WriteTx") -> tuple[str, int]:
        live = [grant for grant in grant_lists.of_client(tx, arguments.id) if grant.revoked_at is None]
        return own_clients.remove(tx, arguments.id, audit.OPERATOR).name, len(live)

    name, ended = context.write(work)
    document = {"id": arguments.id, "removed": True, "grantsEnded": ended}
    print_result(arguments, document, [f"The client {arguments.id} ({name}) is removed; grants ended: {ended}."])
    return 0


def _read_keys(path: str) -> dict[str, object]:
    """The JWK Set in a file. Raises `CommandError`."""
    import msgspec

    try:
        with Path(path).open("rb") as file:
            return msgspec.json.decode(file.read(KEYS_BYTES_MAX), type=dict[str, object])
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise CommandError(f"{path} is no JSON object") from None


def _show(arguments: argparse.Namespace, made: "RegisteredClient", first: str) -> None:
    client = made.client
    document: dict[str, object] = {
        "id": client.id,
        "name": client.name,
        "redirectUris": client.metadata.redirect_uris,
        "authentication": client.metadata.token_endpoint_auth_method,
        "scopes": (client.metadata.scope or "").split(),
    }
    lines = [first]
    if made.secret is not None:
        document["secret"] = made.secret
        lines += [made.secret, "The secret is not shown again."]
    print_result(arguments, document, lines)
