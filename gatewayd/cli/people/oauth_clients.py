"""`gatewayd client`: the OAuth clients of the instance, and what people have granted them."""

import argparse
from typing import TYPE_CHECKING

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.people import own_oauth_clients
from gatewayd.clock import to_wire

if TYPE_CHECKING:
    from gatewayd.identity.clients.grant_lists import GrantSummary
    from gatewayd.identity.clients.oauth_clients import Client
    from gatewayd.store import ReadTx, WriteTx


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of OAuth clients."""
    group = add_group(subparsers, "client", "OAuth clients and their grants; whom you invoice: billing-client")
    add_command(group, "list", "list the OAuth clients, newest first", list_all, json=True)
    command = add_command(
        group, "revoke", "refuse an OAuth client everything, and end its grants, now", revoke, json=True
    )
    command.add_argument("id", metavar="ID")
    own_oauth_clients.add_commands(group)


def list_all(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity.clients import grant_lists, oauth_clients

    def work(tx: "ReadTx") -> "list[tuple[Client, list[GrantSummary]]]":
        return [(client, grant_lists.of_client(tx, client.id)) for client in oauth_clients.list_clients(tx)]

    clients = context.read(work)
    columns = ("id", "hosts", "calls itself", "tax", "live grants", "last used", "state")
    print_list(arguments, [_document(*each) for each in clients], columns, [_cells(*each) for each in clients])
    return 0


def revoke(arguments: argparse.Namespace, context: Context) -> int:
    """Its people see it under their connected apps. A client that registers anew is another one."""
    from gatewayd.identity import audit
    from gatewayd.identity.clients import grant_lists, oauth_clients

    def work(tx: "WriteTx") -> "tuple[Client, int]":
        before = len([grant for grant in grant_lists.of_client(tx, arguments.id) if grant.revoked_at is None])
        return oauth_clients.revoke(tx, arguments.id, audit.OPERATOR), before

    client, ended = context.write(work)
    document = {"id": client.id, "revoked": True, "grantsEnded": ended}
    lines = [f"The client {client.id} ({client.name}) is revoked; grants ended: {ended}."]
    print_result(arguments, document, lines)
    return 0


def _cells(client: "Client", grants: "list[GrantSummary]") -> tuple[str, ...]:
    live = str(len([grant for grant in grants if grant.revoked_at is None]))
    tax = "approved" if client.tax_approved else ""
    state = "revoked" if client.revoked else "yours" if client.by_operator else ""
    return (
        client.id,
        ", ".join(_hosts(grants)) or "nobody connected it",
        client.name,
        tax,
        live,
        client.last_used or "never",
        state,
    )


def _document(client: "Client", grants: "list[GrantSummary]") -> dict[str, object]:
    return {
        "id": client.id,
        "origin": client.origin,
        "name": client.name,
        "hosts": _hosts(grants),
        "redirectUris": client.metadata.redirect_uris,
        "registeredBy": "operator" if client.by_operator else "itself",
        "authentication": client.metadata.token_endpoint_auth_method,
        "taxApproved": client.tax_approved,
        "revoked": client.revoked,
        "lastUsed": client.last_used,
        "createdAt": to_wire(client.created_at),
        "grants": [_grant(grant) for grant in grants],
    }


def _hosts(grants: "list[GrantSummary]") -> list[str]:
    """What people who connected the client were shown; what it merely registered stands in `redirectUris`."""
    return list(dict.fromkeys(host for grant in grants for host in grant.hosts))


def _grant(grant: "GrantSummary") -> dict[str, object]:
    return {
        "id": grant.grant_id,
        "hosts": grant.hosts,
        "orgId": grant.org_id,
        "userId": grant.user_id,
        "scopes": grant.scopes,
        "resource": grant.resource,
        "connectedAt": to_wire(grant.connected_at),
        "lastUsed": grant.last_used_day,
        "expiresAt": to_wire(grant.expires_at),
        "revokedAt": None if grant.revoked_at is None else to_wire(grant.revoked_at),
        "revokedReason": grant.revoked_reason,
    }
