"""`gatewayd user disable`, `enable` and `end-sessions`, and what the commands about people share."""

import argparse
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import note, print_result
from gatewayd.cli.parser import Subparsers, add_command

if TYPE_CHECKING:
    from gatewayd.identity.deprovisioning import EndedAccess
    from gatewayd.identity.users import User
    from gatewayd.store import ReadTx, WriteTx


def add_commands(group: Subparsers) -> None:
    """Add these commands to the group of users."""
    command = add_command(group, "disable", "let a user in no more, and end all that they hold", disable, json=True)
    command.add_argument("email", metavar="EMAIL")
    command = add_command(group, "enable", "let in again who was disabled, by their password", enable, json=True)
    command.add_argument("email", metavar="EMAIL")
    command = add_command(group, "end-sessions", "sign a user out everywhere", end_sessions, json=True)
    command.add_argument("email", metavar="EMAIL")


def disable(arguments: argparse.Namespace, context: Context) -> int:
    """Chosen: the only owner of an organization too, for a stolen account must be closed at once."""
    from gatewayd.identity import audit, deprovisioning, memberships

    def work(tx: "WriteTx") -> "tuple[User, EndedAccess, list[str]]":
        user = find_user(tx, arguments.email)
        ended = deprovisioning.disable(tx, user.id, audit.OPERATOR)
        return find_user(tx, arguments.email), ended, memberships.solely_owned(tx, user.id)

    user, ended, left = context.write(work)
    document = {"id": user.id, "email": user.email, "disabledAt": user.disabled_at, "ended": ended}
    print_result(arguments, document, [f"{user.email} is disabled.", ended_in_words(ended)])
    for org_id in left:
        note(f"{org_id} has no other owner: see gatewayd member set-role")
    return 0


def enable(arguments: argparse.Namespace, context: Context) -> int:
    """What was ended stays so; for a user who is not disabled nothing changes."""
    from gatewayd.identity import audit, users

    def work(tx: "WriteTx") -> "tuple[User, bool]":
        user = find_user(tx, arguments.email)
        return user, users.enable(tx, user.id, audit.OPERATOR)

    user, enabled = context.write(work)
    outcome = "can sign in again." if enabled else "was not disabled."
    print_result(arguments, {"id": user.id, "email": user.email, "enabled": enabled}, [f"{user.email} {outcome}"])
    return 0


def end_sessions(arguments: argparse.Namespace, context: Context) -> int:
    """Keys and connected apps go on."""
    from gatewayd.identity import audit, deprovisioning

    def work(tx: "WriteTx") -> "tuple[User, int]":
        user = find_user(tx, arguments.email)
        return user, deprovisioning.end_sessions(tx, user.id, audit.OPERATOR)

    user, ended = context.write(work)
    document = {"id": user.id, "email": user.email, "sessions": ended}
    print_result(arguments, document, [f"{user.email} is signed out everywhere; sessions ended: {ended}."])
    return 0


def find_user(tx: "ReadTx", email: str) -> "User":
    """The user with an address. Raises `CommandError` where there is none."""
    from gatewayd.identity import users

    user = users.find(tx, email)
    if user is None:
        raise CommandError(f"there is no user with the address {email}")
    return user


def check_enabled(user: "User") -> None:
    """Raises `CommandError` for a user who is disabled."""
    if user.disabled_at is not None:
        raise CommandError(f"{user.email} is disabled: see gatewayd user enable")


def ended_in_words(ended: "EndedAccess") -> str:
    """`Ended: sessions 2, ...`."""
    counts = [
        f"sessions {ended.sessions}",
        f"passkeys {ended.passkeys}",
        f"second factor {'yes' if ended.second_factor else 'no'}",
        f"keys {ended.keys}",
        f"connected apps {ended.grants}",
    ]
    return f"Ended: {', '.join(counts)}."
