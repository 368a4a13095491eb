"""`gatewayd user`: the people who sign in; and `gatewayd unlock`, for who failed to too often."""

import argparse
import sys
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import note, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.people.user_access import add_commands as add_access_commands
from gatewayd.cli.people.user_access import check_enabled, ended_in_words, find_user
from gatewayd.clock import to_wire

if TYPE_CHECKING:
    from gatewayd.access.deprovisioning import EndedAccess
    from gatewayd.identity.people.memberships import Membership
    from gatewayd.identity.people.users import NewUser, User
    from gatewayd.store import ReadTx, WriteTx
from ipaddress import ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatewayd.identity.people.users import User
    from gatewayd.identity.sign_in.throttling import Network
    from gatewayd.store import WriteTx

STDIN_MAX = 8_192  # Chosen: longer than any password


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of users."""
    add_unlock(subparsers)
    group = add_group(subparsers, "user", "people who sign in")
    command = add_command(
        group, "create", "make a user, or let one who exists into another organization", create, json=True
    )
    command.add_argument("--email", required=True)
    command.add_argument("--name", required=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--role", required=True, choices=("owner", "admin", "member"))
    command.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
    command.add_argument("--instance-admin", action="store_true", help="may administrate the whole instance")
    command = add_command(group, "list", "list the users", list_all, json=True)
    command.add_argument("--org", metavar="ID", help="only the members of this organization")
    command = add_command(group, "reset-password", "make a link that sets a new password, once", reset, json=True)
    command.add_argument("email", metavar="EMAIL")
    command.add_argument("--password-stdin", action="store_true", help="set the one that standard input holds, now")
    command.add_argument(
        "--end-everything",
        action="store_true",
        help="end sessions, passkeys, second factor, and all that they opened to the outside too, now",
    )
    add_unlock(group)
    add_access_commands(group)


def create(arguments: argparse.Namespace, context: Context) -> int:
    """Chosen: an address that has an account gets one more membership, so that one person can serve two firms.

    Who is new and has no password gets a link to set one.
    """
    import msgspec

    from gatewayd.identity import audit
    from gatewayd.identity.people import memberships, users
    from gatewayd.identity.sign_in.passwords import Hasher, check_password

    hasher = Hasher()
    new = users.NewUser(email=arguments.email, name=arguments.name, instance_admin=arguments.instance_admin)
    same_password = True
    if arguments.password_stdin:
        password = _read_password()
        check_password(password, new.email, new.name)
        stored = context.read(lambda tx: users.credentials(tx, new.email))
        password_hash = None if stored is None else stored.password_hash
        same_password = password_hash is not None and hasher.verify(password_hash, password)
        new = msgspec.structs.replace(new, password_hash=hasher.hash(password))

    def work(tx: "WriteTx") -> "tuple[User, tuple[str, str] | None, bool]":
        user = users.find(tx, new.email)
        link, existed = None, user is not None
        if user is None:
            user = users.create(tx, new, audit.OPERATOR)
            link = None if new.password_hash else _make_link(tx, user)
        else:
            _check_agreement(user, new, same_password)
        memberships.add(tx, user.id, arguments.role, audit.OPERATOR)
        return user, link, existed

    user, link, existed = context.write(work, arguments.org)
    document = {"id": user.id, "email": user.email, "orgId": arguments.org, "role": arguments.role}
    shown, lines = _show_link(context, user, link)
    first = f"{user.email} is {arguments.role} of {arguments.org}: {user.id}"
    print_result(arguments, {**document, **shown}, [first, *lines])
    if existed:  # it may have been made by an invitation of somebody who had the link, and not the address
        made = to_wire(user.created_at)[:10]
        note(f"{user.email} had an account already, called {user.name}, since {made}: make sure that it is theirs")
    return 0


def list_all(arguments: argparse.Namespace, context: Context) -> int:
    users = context.read(lambda tx: _listed(tx, arguments.org))
    rows = []
    for user, joined in users:
        places = ", ".join(f"{each.role} of {each.org_id}" for each in joined)
        admin, disabled = "yes" if user.instance_admin else "", "yes" if user.disabled_at else ""
        rows.append((user.id, user.email, user.name, admin, disabled, places))
    documents = [_document(user, joined) for user, joined in users]
    print_list(arguments, documents, ("id", "email", "name", "instance admin", "disabled", "memberships"), rows)
    return 0


def reset(arguments: argparse.Namespace, context: Context) -> int:
    """Nothing changes before the link is used; earlier links of the user stop working.

    Chosen: with `--end-everything` the old password ends at once too, for nothing else would be left to guard it.
    """
    if arguments.password_stdin:
        return _set_password(arguments, context)
    from gatewayd.identity import audit
    from gatewayd.identity.people import users

    def work(tx: "WriteTx") -> "tuple[User, EndedAccess | None, tuple[str, str]]":
        user = find_user(tx, arguments.email)
        check_enabled(user)
        ended = _end_everything(tx, user, arguments)
        if ended is not None:
            users.remove_password(tx, user.id, audit.OPERATOR)
        return user, ended, _make_link(tx, user)

    user, ended, link = context.write(work)
    shown, lines = _show_link(context, user, link)
    document = {"id": user.id, "email": user.email, **shown, **_ended_member(ended)}
    lines += [] if ended is None else ended_in_words(ended)
    print_result(arguments, document, lines)
    return 0


def _set_password(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.identity.sign_in import password_resets
    from gatewayd.identity.sign_in.passwords import Hasher, check_password

    password = _read_password()
    user = context.read(lambda tx: find_user(tx, arguments.email))
    check_enabled(user)
    check_password(password, user.email, user.name)
    hashed = Hasher().hash(password)

    def work(tx: "WriteTx") -> "EndedAccess | None":
        ended = _end_everything(tx, user, arguments)
        password_resets.reset(tx, user.id, hashed, audit.OPERATOR)
        return ended

    ended = context.write(work)
    lines = [f"The password of {user.email} is set; they are signed out everywhere."]
    lines += [] if ended is None else ended_in_words(ended)
    print_result(arguments, {"id": user.id, "email": user.email, **_ended_member(ended)}, lines)
    return 0


def _make_link(tx: "WriteTx", user: "User") -> tuple[str, str]:
    """The token of a link that sets a password, once, and when it ends."""
    from gatewayd.clock import Instant
    from gatewayd.identity import audit
    from gatewayd.identity.sign_in import one_time_links, password_resets

    token = password_resets.make_link(tx, user, audit.OPERATOR)
    return token, to_wire(Instant(tx.now + one_time_links.LIFETIMES["reset_password"]))


def _show_link(context: Context, user: "User", link: tuple[str, str] | None) -> tuple[dict[str, object], list[str]]:
    """What a link adds to the document and to the lines; nothing where there is none."""
    from gatewayd.console.addresses import reset_link

    if link is None:
        return {}, []
    token, ends = link
    address = reset_link(context.config.server.public_url, token)
    line = f"Whoever opens this sets the password of {user.email}, once, until {ends}."
    return {"link": address, "expiresAt": ends}, [address, line]


def _end_everything(tx: "WriteTx", user: "User", arguments: argparse.Namespace) -> "EndedAccess | None":
    """What `--end-everything` ended; None where it was not given."""
    from gatewayd.access import deprovisioning
    from gatewayd.identity import audit

    return deprovisioning.end_everything(tx, user.id, audit.OPERATOR) if arguments.end_everything else None


def _ended_member(ended: "EndedAccess | None") -> "dict[str, EndedAccess]":
    return {} if ended is None else {"ended": ended}


def _read_password() -> str:
    """The first line of standard input; on a terminal it is asked for and not echoed."""
    if sys.stdin.isatty():
        import getpass

        return getpass.getpass()
    return sys.stdin.readline(STDIN_MAX).rstrip("\r\n")


def _check_agreement(user: "User", new: "NewUser", same_password: bool) -> None:
    """`create` never changes a user who exists, so what was given must agree with what is stored."""
    check_enabled(user)
    if new.instance_admin and not user.instance_admin:
        raise CommandError(f"{user.email} exists already and is no instance administrator")
    if not same_password:
        raise CommandError(f"{user.email} exists already with another password: see gatewayd user reset-password")


def _listed(tx: "ReadTx", org_id: str | None) -> "list[tuple[User, list[Membership]]]":
    """Every user with their memberships; with `org_id` the members of one organization, with that one."""
    from gatewayd.identity.people import memberships, organizations, users

    if org_id is not None:
        organizations.get(tx, org_id)
    joined: dict[str, list[Membership]] = {}
    for each in memberships.list_all(tx):
        if org_id in (None, each.org_id):
            joined.setdefault(each.user_id, []).append(each)
    return [(user, joined.get(user.id, [])) for user in users.list_all(tx) if org_id is None or user.id in joined]


def _document(user: "User", joined: "list[Membership]") -> dict[str, object]:
    return {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "instanceAdmin": user.instance_admin,
        "disabledAt": user.disabled_at,
        "memberships": [{"orgId": each.org_id, "role": each.role} for each in joined],
        "createdAt": user.created_at,
    }


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
        return user, throttling.unlock_user(tx, user, audit.OPERATOR)

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
