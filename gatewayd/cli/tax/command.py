"""`gatewayd tax`: who may ask the tax authority, and in whose name."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import note, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.tax.headers import add_check
from gatewayd.clock import to_wire
from gatewayd.config import require_credentials

if TYPE_CHECKING:
    from gatewayd.clock import Instant
    from gatewayd.store import ReadTx, WriteTx
    from gatewayd.tax.approvals import Decision, Subject
    from gatewayd.tax.connections.connections import Standing, Tokens
    from gatewayd.tax.settings import TaxSettings

REDIRECT_URI = "urn:ietf:wg:oauth:2.0:oob"  # HMRC, Authorisation: the code is shown to be copied


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of taxes."""
    group = add_group(subparsers, "tax", "access to the tax authority")
    add_command(group, "requests", "list who waits for the tax scopes", requests, json=True)
    command = add_command(group, "request", "ask for the tax scopes", ask, json=True)
    _add_subject(command)
    command.add_argument("--attestation", metavar="TEXT", help="what the vendor declares, recorded word for word")
    command = add_command(group, "approve", "open the tax scopes to a key or client, at once", approve, json=True)
    _add_subject(command)
    command.add_argument("--attestation", metavar="TEXT", help="in place of what was declared with the request")
    command = add_command(group, "refuse", "refuse them; what was approved is withdrawn, at once", refuse, json=True)
    _add_subject(command)
    command.add_argument("--reason", metavar="TEXT")
    command = add_command(group, "connect", "connect an organization to the tax authority", connect, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument(
        "--entity", metavar="ID", help="one legal entity; otherwise all without a connection of their own"
    )
    command.add_argument("--replace", action="store_true", help="put it in the place of a connection that is there")
    way = command.add_mutually_exclusive_group()
    way.add_argument("--code", metavar="CODE", help="what the authority showed after signing in; asked for otherwise")
    way.add_argument(
        "--token-file", metavar="FILE", help="a token endpoint's JSON answer, or a bearer token alone; - for input"
    )
    way.add_argument("--remove", action="store_true", help="forget the tokens")
    add_check(group)


def requests(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.tax import approvals

    waiting = context.read(approvals.list_requests)
    rows = [
        (
            request.kind,
            request.subject,
            request.org_id or "",
            request.name,
            to_wire(request.requested_at)[:10],
            request.attestation or "",
        )
        for request in waiting
    ]
    print_list(arguments, waiting, ("kind", "id", "organization", "name", "since", "attestation"), rows)
    return 0


def ask(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.tax import approvals

    made = context.write(lambda tx: approvals.request(tx, _subject(arguments), arguments.attestation, audit.OPERATOR))
    print_result(arguments, made, [f"{made.subject} ({made.name}) waits for approval."])
    return 0


def approve(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.tax import approvals

    made = context.write(lambda tx: approvals.approve(tx, _subject(arguments), arguments.attestation, audit.OPERATOR))
    _show(arguments, made)
    return 0


def refuse(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.tax import approvals

    made = context.write(lambda tx: approvals.refuse(tx, _subject(arguments), arguments.reason, audit.OPERATOR))
    _show(arguments, made)
    return 0


def connect(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.tax.connections import connections
    from gatewayd.tax.settings import settings_from

    org_id, entity_id = arguments.org, arguments.entity
    there = context.read(lambda tx: _connection(tx, org_id, entity_id), org_id)
    whose = {"orgId": org_id} if entity_id is None else {"orgId": org_id, "legalEntityId": entity_id}
    if arguments.remove:
        context.write(lambda tx: connections.remove(tx, audit.OPERATOR, entity_id), org_id)
        kind = "organization" if entity_id is None else "legal entity"
        print_result(arguments, {**whose, "connected": False}, [f"The {kind} is not connected now."])
        return 0
    agreed = there.since if there is not None and arguments.replace else None
    _refuse_replacing(context, org_id, entity_id, agreed)
    if arguments.token_file:
        tokens = _read_tokens(arguments.token_file)
    else:
        require_credentials(context.config, "tax.client_secret_file", "tax.ca_file")
        tokens = _authorize(arguments, settings_from(context.config.tax))

    def save(tx: "WriteTx") -> None:
        connections.refuse_replacing(tx, entity_id, agreed)
        connections.save(tx, tokens, audit.OPERATOR, entity_id)

    context.write(save, org_id)
    document = {**whose, "connected": True, "scope": tokens.scope}
    print_result(arguments, document, [f"{entity_id or org_id} is connected to the tax authority."])
    return 0


def _connection(tx: "ReadTx", org_id: str, entity_id: str | None) -> "Standing | None":
    """What is there. Raises `Problem` `not_found` for an organization or legal entity that is not."""
    from gatewayd.errors import not_found
    from gatewayd.identity.people import organizations
    from gatewayd.ledger.taxpayers import owners
    from gatewayd.tax.connections import connections

    organizations.get(tx, org_id)
    if entity_id is not None and owners.find(tx, entity_id) is None:
        raise not_found("legal entity")
    return connections.standing(tx, entity_id)


def _refuse_replacing(context: Context, org_id: str, entity_id: str | None, agreed: "Instant | None") -> None:
    from gatewayd.errors import Problem
    from gatewayd.tax.connections import connections

    try:
        context.read(lambda tx: connections.refuse_replacing(tx, entity_id, agreed), org_id)
    except Problem:
        message = f"{entity_id or org_id} is connected already: add --replace to put another in its place"
        raise CommandError(message) from None


def _read_tokens(path: str) -> "Tokens":
    from gatewayd.errors import Problem
    from gatewayd.tax.connections.connections import Tokens
    from gatewayd.tax.connections.token_endpoint import is_bearer, tokens_of

    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise CommandError(f"the tokens cannot be read: {error}") from None
    text = text.strip()
    if is_bearer(text):
        return Tokens(text, None, "", None)
    try:
        return tokens_of(text.encode())
    except Problem:
        raise CommandError(f"{path} holds neither a token endpoint's answer nor one bearer token") from None


def _authorize(arguments: argparse.Namespace, settings: "TaxSettings") -> "Tokens":
    import secrets

    import trio

    from gatewayd.tax import engine

    if not settings.connects:
        raise CommandError("set tax.mode to hmrc and tax.client_id, or give the tokens with --token-file", 2)
    code = arguments.code
    if not code:
        note(f"sign in at {settings.sign_in_address(REDIRECT_URI, secrets.token_urlsafe(16))}")
        note("then enter the code that is shown there:")
        code = sys.stdin.readline().strip()
    if not code:
        raise CommandError("no code was given")
    tokens = trio.run(engine.redeem, settings, arguments.org, code, REDIRECT_URI)
    if tokens is None:
        raise CommandError("the tax authority does not accept the code: it may be used already, or too old")
    return tokens


def _add_subject(command: argparse.ArgumentParser) -> None:
    subject = command.add_mutually_exclusive_group(required=True)
    subject.add_argument("--key", metavar="ID", help="an API key")
    subject.add_argument("--client", metavar="ID", help="an OAuth client")


def _subject(arguments: argparse.Namespace) -> "Subject":
    from gatewayd.tax.approvals import Subject

    return Subject("key", arguments.key) if arguments.key else Subject("client", arguments.client)


def _show(arguments: argparse.Namespace, made: "Decision") -> None:
    print_result(arguments, made, [f"{made.subject} ({made.name}): {made.status}."])
