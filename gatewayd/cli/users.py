"""`gatewayd user`: the people who sign in."""

import argparse
import sys
from typing import TYPE_CHECKING

from gatewayd.cli.output import print_list, print_made
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.session import CommandError, Session

if TYPE_CHECKING:
    from gatewayd.identity.memberships import Membership
    from gatewayd.identity.users import NewUser, User
    from gatewayd.store import ReadTx, WriteTx

STDIN_MAX = 8_192  # Chosen: longer than any password; ends the reading of what is something else


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of users."""
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
    command = add_command(group, "reset-password", "set a new password, by default a random one", reset, json=True)
    command.add_argument("email", metavar="EMAIL")
    command.add_argument("--password-stdin", action="store_true", help="read the password from standard input")


def create(arguments: argparse.Namespace, session: Session) -> int:
    """Chosen: an address that has an account gets one more membership, so that one person can serve two firms."""
    import msgspec

    from gatewayd.identity import audit, memberships, users
    from gatewayd.identity.passwords import Hasher, check_password

    hasher = Hasher()
    new = users.NewUser(email=arguments.email, name=arguments.name, instance_admin=arguments.instance_admin)
    same_password = True
    if arguments.password_stdin:
        password = _read_password()
        check_password(password, new.email, new.name)
        stored = session.read(lambda tx: users.credentials(tx, new.email))
        password_hash = None if stored is None else stored.password_hash
        same_password = password_hash is not None and hasher.verify(password_hash, password)
        new = msgspec.structs.replace(new, password_hash=hasher.hash(password))

    def work(tx: "WriteTx") -> "User":
        user = users.find(tx, new.email)
        if user is None:
            user = users.create(tx, new, audit.OPERATOR)
        else:
            _check_agreement(user, new, same_password)
        memberships.add(tx, user.id, arguments.role, audit.OPERATOR)
        return user

    user = session.write(work, arguments.org)
    document = {"id": user.id, "email": user.email, "orgId": arguments.org, "role": arguments.role}
    print_made(arguments, document, [f"{user.email} is {arguments.role} of {arguments.org}: {user.id}"])
    return 0


def list_all(arguments: argparse.Namespace, session: Session) -> int:
    found = session.read(lambda tx: _listed(tx, arguments.org))
    rows = []
    for user, joined in found:
        places = ", ".join(f"{each.role} of {each.org_id}" for each in joined)
        rows.append((user.id, user.email, user.name, "yes" if user.instance_admin else "", places))
    documents = [_document(user, joined) for user, joined in found]
    print_list(arguments, documents, ("id", "email", "name", "instance admin", "memberships"), rows)
    return 0


def reset(arguments: argparse.Namespace, session: Session) -> int:
    """The new password is printed only where it was not given: this once."""
    from gatewayd.identity import audit, users
    from gatewayd.identity.passwords import Hasher, check_password, make_password

    given = _read_password() if arguments.password_stdin else None
    user = session.read(lambda tx: _find(tx, arguments.email))
    if given is not None:
        check_password(given, user.email, user.name)
    password = make_password() if given is None else given
    password_hash = Hasher().hash(password)
    session.write(lambda tx: users.reset_password(tx, user.id, password_hash, audit.OPERATOR))
    document = {"id": user.id, "email": user.email}
    lines = [f"The password of {user.email} is set."]
    if given is None:
        document["password"] = password
        lines = [f"The password of {user.email} is now {password}", "It is not shown again."]
    print_made(arguments, document, lines)
    return 0


def _read_password() -> str:
    """The first line of standard input; on a terminal it is asked for and not echoed."""
    if sys.stdin.isatty():
        import getpass

        return getpass.getpass()
    return sys.stdin.readline(STDIN_MAX).rstrip("\r\n")


def _find(tx: "ReadTx", email: str) -> "User":
    from gatewayd.identity import users

    user = users.find(tx, email)
    if user is None:
        raise CommandError(f"there is no user with the address {email}")
    return user


def _check_agreement(user: "User", new: "NewUser", same_password: bool) -> None:
    """A user who exists is never changed by `create`, so what is asked for must be so already."""
    if new.instance_admin and not user.instance_admin:
        raise CommandError(f"{user.email} exists already and is no instance administrator")
    if not same_password:
        raise CommandError(f"{user.email} exists already with another password: see gatewayd user reset-password")


def _listed(tx: "ReadTx", org_id: str | None) -> "list[tuple[User, list[Membership]]]":
    """Every user with their memberships; with `org_id` the members of one organization, with that one."""
    from gatewayd.identity import memberships, organizations, users

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
        "memberships": [{"orgId": each.org_id, "role": each.role} for each in joined],
        "createdAt": user.created_at,
    }
