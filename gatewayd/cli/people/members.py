"""`gatewayd member`: who belongs to an organization, and with which role."""

import argparse
from typing import TYPE_CHECKING

from gatewayd.cli.context import Context
from gatewayd.cli.output import note, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.people.user_access import add_hand_over, ask_to_hand_over, ended_in_words, find_user, hand_over_of
from gatewayd.clock import to_wire

if TYPE_CHECKING:
    from gatewayd.access.deprovisioning import EndedAccess
    from gatewayd.identity.people.invitations import Invitation
    from gatewayd.identity.people.memberships import Membership
    from gatewayd.identity.people.users import User
    from gatewayd.store import ReadTx, WriteTx


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of members."""
    group = add_group(subparsers, "member", "people of an organization")
    command = add_command(group, "list", "list the members of an organization", list_all, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command = add_command(group, "set-role", "give a member another role", set_role, json=True)
    _add_member(command)
    command.add_argument("--role", required=True, choices=("owner", "admin", "member"))
    command = add_command(group, "remove", "remove a member, and end or hand over what they opened", remove, json=True)
    _add_member(command)
    add_hand_over(command)
    summary = "make a link by which somebody joins, once, with an account that they have or make"
    command = add_command(group, "invite", summary, invite, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--email", required=True)
    command.add_argument("--role", required=True, choices=("owner", "admin", "member"))
    summary = "list the invitations that are open; gatewayd access end revokes one"
    command = add_command(group, "list-invitations", summary, list_invitations, json=True)
    command.add_argument("--org", required=True, metavar="ID")


def list_all(arguments: argparse.Namespace, context: Context) -> int:
    members = context.read(_listed, arguments.org)
    rows = [
        (user.id, user.email, user.name, each.role, "yes" if user.disabled_at else "", to_wire(each.created_at)[:10])
        for user, each in members
    ]
    documents = [_document(user, each) for user, each in members]
    print_list(arguments, documents, ("user", "email", "name", "role", "disabled", "since"), rows)
    return 0


def set_role(arguments: argparse.Namespace, context: Context) -> int:
    """A member who has that role already keeps it. The last owner stays one."""
    from gatewayd.access import deprovisioning
    from gatewayd.identity import audit

    def work(tx: "WriteTx") -> "User":
        user = _find_member(tx, arguments.user)
        deprovisioning.change_role(tx, user.id, arguments.role, audit.OPERATOR)
        return user

    user = context.write(work, arguments.org)
    document = {"orgId": arguments.org, "userId": user.id, "email": user.email, "role": arguments.role}
    print_result(arguments, document, [f"{user.email} is {arguments.role} of {arguments.org}."])
    return 0


def remove(arguments: argparse.Namespace, context: Context) -> int:
    """The account stays; sessions and passkeys end where it belongs to nothing else. The last owner stays."""
    from gatewayd.access import deprovisioning
    from gatewayd.identity import audit

    context.read(lambda tx: _find_member(tx, arguments.user), arguments.org)
    ask_to_hand_over(arguments, context, arguments.user, arguments.org)

    def work(tx: "WriteTx") -> "tuple[User, EndedAccess]":
        user = _find_member(tx, arguments.user)
        return user, deprovisioning.remove_member(tx, user.id, audit.OPERATOR, hand_over_of(tx, arguments))

    user, ended = context.write(work, arguments.org)
    document = {"orgId": arguments.org, "userId": user.id, "email": user.email, "ended": ended}
    lines = [f"{user.email} is no longer a member of {arguments.org}.", *ended_in_words(ended)]
    print_result(arguments, document, lines)
    if user.instance_admin:
        note(f"{user.email} administrates the whole instance still: see gatewayd user disable")
    return 0


def invite(arguments: argparse.Namespace, context: Context) -> int:
    """The link is shown once: it is mailed where mail is sent, else handed over by whoever made it."""
    from gatewayd.console.addresses import invitation_link
    from gatewayd.identity.people import invitations
    from gatewayd.mail import notices
    from gatewayd.mail.notices import Invited

    wanted = invitations.NewInvitation(arguments.email, arguments.role, None)
    mailing, site = context.mailing, context.config.server.public_url

    def work(tx: "WriteTx") -> "tuple[Invitation, str]":
        made, token = invitations.make(tx, wanted)
        if mailing is not None:
            link = invitation_link(site, token)
            notices.invite(tx, mailing, Invited(made.id, made.email, made.role, None, link, made.expires_at))
        return made, token

    made, token = context.write(work, arguments.org)
    address = invitation_link(site, token)
    lines = [address, f"Whoever opens this joins as {made.email}, once, until {to_wire(made.expires_at)}."]
    print_result(arguments, {**_invited(made), "link": address}, lines)
    if mailing is not None:
        note(f"the daemon mails it to {made.email}")
    return 0


def list_invitations(arguments: argparse.Namespace, context: Context) -> int:
    listed = context.read(_open_invitations, arguments.org)
    rows = [
        (each.id, each.email, each.role, maker, to_wire(each.created_at)[:10], to_wire(each.expires_at)[:16])
        for each, maker in listed
    ]
    documents = [{**_invited(each), "invitedBy": maker} for each, maker in listed]
    print_list(arguments, documents, ("id", "email", "role", "invited by", "since", "ends"), rows)
    return 0


def _open_invitations(tx: "ReadTx") -> "list[tuple[Invitation, str]]":
    """Those of the organization, with the address of who invites, or `the operator`."""
    from gatewayd.identity.people import invitations, organizations, users

    organizations.get(tx, tx.org_id)
    listed = invitations.list_invitations(tx)
    return [(each, "the operator" if each.user_id is None else users.get(tx, each.user_id).email) for each in listed]


def _invited(invitation: "Invitation") -> dict[str, object]:
    return {
        "id": invitation.id,
        "orgId": invitation.org_id,
        "email": invitation.email,
        "role": invitation.role,
        "createdAt": invitation.created_at,
        "expiresAt": invitation.expires_at,
    }


def _add_member(command: argparse.ArgumentParser) -> None:
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--user", required=True, metavar="EMAIL")


def _find_member(tx: "ReadTx", email: str) -> "User":
    """The user, in an organization that is there; that they are its member is for others to check."""
    from gatewayd.identity.people import organizations

    organizations.get(tx, tx.org_id)
    return find_user(tx, email)


def _listed(tx: "ReadTx") -> "list[tuple[User, Membership]]":
    from gatewayd.identity.people import memberships, organizations, users

    organizations.get(tx, tx.org_id)
    return [(users.get(tx, each.user_id), each) for each in memberships.list_members(tx)]


def _document(user: "User", membership: "Membership") -> dict[str, object]:
    return {
        "userId": user.id,
        "email": user.email,
        "name": user.name,
        "role": membership.role,
        "disabledAt": user.disabled_at,
        "createdAt": membership.created_at,
    }
