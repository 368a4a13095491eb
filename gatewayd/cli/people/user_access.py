"""`gatewayd user disable`, `enable` and `end-sessions`, and what the commands about people share."""

import argparse
import sys
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import note, print_result
from gatewayd.cli.parser import Subparsers, add_command

if TYPE_CHECKING:
    from gatewayd.access.deprovisioning import EndedAccess, HandOver, Item
    from gatewayd.identity.people.users import User
    from gatewayd.store import ReadTx, WriteTx


def add_commands(group: Subparsers) -> None:
    """Add these commands to the group of users."""
    command = add_command(group, "disable", "let a user in no more, and end all that they hold", disable, json=True)
    command.add_argument("email", metavar="EMAIL")
    add_hand_over(command)
    command = add_command(group, "enable", "let in again who was disabled, by their password", enable, json=True)
    command.add_argument("email", metavar="EMAIL")
    command = add_command(group, "end-sessions", "sign a user out everywhere", end_sessions, json=True)
    command.add_argument("email", metavar="EMAIL")


def disable(arguments: argparse.Namespace, context: Context) -> int:
    """Chosen: the only owner of an organization too, for a stolen account must be closed at once."""
    from gatewayd.access import deprovisioning
    from gatewayd.identity import audit
    from gatewayd.identity.people import memberships

    ask_to_hand_over(arguments, context, arguments.email, None)

    def work(tx: "WriteTx") -> "tuple[User, EndedAccess, list[str]]":
        user = find_user(tx, arguments.email)
        ended = deprovisioning.disable(tx, user.id, audit.OPERATOR, hand_over_of(tx, arguments))
        return find_user(tx, arguments.email), ended, memberships.solely_owned(tx, user.id)

    user, ended, left = context.write(work)
    document = {"id": user.id, "email": user.email, "disabledAt": user.disabled_at, "ended": ended}
    print_result(arguments, document, [f"{user.email} is disabled.", *ended_in_words(ended)])
    for org_id in left:
        note(f"{org_id} has no other owner: see gatewayd member set-role")
    return 0


def enable(arguments: argparse.Namespace, context: Context) -> int:
    """What was ended stays so; for a user who is not disabled nothing changes."""
    from gatewayd.identity import audit
    from gatewayd.identity.people import users

    def work(tx: "WriteTx") -> "tuple[User, bool]":
        user = find_user(tx, arguments.email)
        return user, users.enable(tx, user.id, audit.OPERATOR)

    user, enabled = context.write(work)
    outcome = "can sign in again." if enabled else "was not disabled."
    print_result(arguments, {"id": user.id, "email": user.email, "enabled": enabled}, [f"{user.email} {outcome}"])
    return 0


def end_sessions(arguments: argparse.Namespace, context: Context) -> int:
    """Keys and connected apps go on."""
    from gatewayd.access import deprovisioning
    from gatewayd.identity import audit

    def work(tx: "WriteTx") -> "tuple[User, int]":
        user = find_user(tx, arguments.email)
        return user, deprovisioning.end_sessions(tx, user.id, audit.OPERATOR)

    user, ended = context.write(work)
    document = {"id": user.id, "email": user.email, "sessions": ended}
    print_result(arguments, document, [f"{user.email} is signed out everywhere; sessions ended: {ended}."])
    return 0


def find_user(tx: "ReadTx", email: str) -> "User":
    """The user with an address. Raises `CommandError` where there is none."""
    from gatewayd.identity.people import users

    user = users.find(tx, email)
    if user is None:
        raise CommandError(f"there is no user with the address {email}")
    return user


def check_enabled(user: "User") -> None:
    """Raises `CommandError` for a user who is disabled."""
    if user.disabled_at is not None:
        raise CommandError(f"{user.email} is disabled: see gatewayd user enable")


def add_hand_over(command: argparse.ArgumentParser) -> None:
    """The arguments that say what becomes of what somebody opened who goes. By default all of it ends."""
    command.add_argument(
        "--hand-over-to",
        metavar="EMAIL",
        help="a member who takes over links, feeds and webhook subscriptions, which end otherwise",
    )
    command.add_argument(
        "--hand-over", action="append", default=[], metavar="ID", help="only this; may be given again; see access list"
    )


def hand_over_of(tx: "ReadTx", arguments: argparse.Namespace) -> "HandOver | None":
    """What those arguments say. Raises `CommandError` where they name nobody."""
    from gatewayd.access.deprovisioning import HandOver

    if arguments.hand_over_to is None:
        if arguments.hand_over:
            raise CommandError("--hand-over goes with --hand-over-to", 2)
        return None
    return HandOver(find_user(tx, arguments.hand_over_to).id, frozenset(arguments.hand_over))


def ask_to_hand_over(arguments: argparse.Namespace, context: Context, email: str, org_id: str | None) -> None:
    """Ask on a terminal who takes over what somebody opened, where nothing was said of it. Nothing typed: it ends."""
    if arguments.hand_over_to or arguments.hand_over or arguments.json:
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    items = context.read(lambda tx: _can_be_handed_over(tx, email, org_id))
    if not items:
        return
    print(f"{email} opened this to the outside, which ends unless another member takes it over:")
    for each in items:
        print(f"  {in_words(each)}")
    arguments.hand_over_to = input("E-mail address of who takes it over (nothing: it ends): ").strip() or None


def _can_be_handed_over(tx: "ReadTx", email: str, org_id: str | None) -> "list[Item]":
    from gatewayd.access import deprovisioning, kinds
    from gatewayd.identity.people import organizations

    user = find_user(tx, email)
    items = []
    for organization in [org_id] if org_id is not None else [each.id for each in organizations.list_all(tx)]:
        tx.bind(organization)
        held = kinds.every(tx, user.id)
        items += [deprovisioning.item(tx, kind, each) for kind, each in held if kind.hand_over is not None]
    return items


def ended_in_words(ended: "EndedAccess") -> list[str]:
    """`Ended: sessions 2, ...`, and a line for each thing that was open to the outside."""
    counts = [
        f"sessions {ended.sessions}",
        f"passkeys {ended.passkeys}",
        f"second factor {'yes' if ended.second_factor else 'no'}",
        f"sign-in links {ended.sign_in_links}",
        f"keys {ended.keys}",
        f"connected apps {ended.grants}",
        f"document links {ended.document_links}",
        f"upload URLs {ended.upload_urls}",
        f"calendar feeds {ended.feeds}",
        f"webhook subscriptions {ended.subscriptions}",
        f"invitations {ended.invitations}",
    ]
    lines = [f"Ended: {', '.join(counts)}."]
    lines += [f"  {in_words(each)}" for each in ended.items]
    if ended.handed_over:
        lines += ["Handed over:", *(f"  {in_words(each)}" for each in ended.handed_over)]
    return lines


def in_words(item: "Item") -> str:
    """`calendar feed Tax deadlines (cal_...)`."""
    from gatewayd.access.kinds import KINDS

    words = next(kind.words for kind in KINDS if kind.name == item.kind)
    return f"{words} {item.name} ({item.id})"
