"""`gatewayd unlock` and `gatewayd user unlock`: letting in again who failed to sign in too often."""

import argparse
from ipaddress import ip_network
from typing import TYPE_CHECKING

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.cli.people.user_access import find_user

if TYPE_CHECKING:
    from gatewayd.identity.people.users import User
    from gatewayd.identity.sign_in.throttling import Network
    from gatewayd.store import WriteTx


def add_unlock(group: Subparsers) -> None:
    """Add `unlock` to a group: it stands beside the people, and by itself."""
    command = add_command(group, "unlock", "let in again who failed to sign in too often", unlock, json=True)
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("email", metavar="EMAIL", nargs="?", help="an account that is locked")
    which.add_argument("--network", metavar="NET", type=_network, help="an address or a network that became slow")


def unlock(arguments: argparse.Namespace, context: Context) -> int:
    """Forget the failed sign-ins; where nothing was locked nothing changes."""
    return _unlock_user(arguments, context) if arguments.network is None else _unlock_network(arguments, context)


def _unlock_user(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.identity.sign_in import throttling

    def work(tx: "WriteTx") -> "tuple[User, bool]":
        user = find_user(tx, arguments.email)
        unlocked = throttling.unlock(tx, user.email)
        if unlocked:
            act = audit.Act(actor=audit.OPERATOR, action="user.unlocked", subject=user.id, org_id=None)
            audit.record(tx, act)
        return user, unlocked

    user, unlocked = context.write(work)
    outcome = "can try to sign in again." if unlocked else "had no failures: nothing was locked."
    print_result(arguments, {"id": user.id, "email": user.email, "unlocked": unlocked}, [f"{user.email} {outcome}"])
    return 0


def _unlock_network(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.identity.sign_in import throttling

    def work(tx: "WriteTx") -> list[str]:
        unlocked = throttling.unlock_network(tx, arguments.network)
        for network in unlocked:
            audit.record(tx, audit.Act(actor=audit.OPERATOR, action="network.unlocked", subject=network, org_id=None))
        return unlocked

    unlocked = context.write(work)
    lines = [f"{network} starts anew." for network in unlocked]
    document = {"network": str(arguments.network), "unlocked": unlocked}
    print_result(arguments, document, lines or [f"{arguments.network} had no failures: nothing was locked."])
    return 0


def _network(text: str) -> "Network":
    """A network, or one address; bits beside the network's are passed over."""
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no address and no network, such as 192.0.2.0/24") from None
