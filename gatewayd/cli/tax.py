"""`gatewayd tax`: who may ask the tax authority, and in whose name."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import note, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.clock import to_wire
from gatewayd.config import require_credentials

if TYPE_CHECKING:
    from gatewayd.tax.approvals import Decision
    from gatewayd.tax.connections import Tokens
    from gatewayd.tax.settings import TaxSettings
    from gatewayd.tax.subjects import Subject

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
    way = command.add_mutually_exclusive_group()
    way.add_argument("--code", metavar="CODE", help="what the authority showed after signing in; asked for otherwise")
    way.add_argument(
        "--token-file", metavar="FILE", help="a token endpoint's JSON answer, or a bearer token alone; - for input"
    )
    way.add_argument("--remove", action="store_true", help="forget the organization's tokens")


def requests(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.tax import approvals

    found = context.read(approvals.list_requests)
    rows = [
        (one.kind, one.subject, one.org_id or "", one.name, to_wire(one.requested_at)[:10], one.attestation or "")
        for one in found
    ]
    print_list(arguments, found, ("kind", "id", "organization", "name", "since", "attestation"), rows)
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
    from gatewayd.identity import audit, organizations
    from gatewayd.tax import connections
    from gatewayd.tax.settings import settings_from

    context.read(lambda tx: organizations.get(tx, arguments.org))
    if arguments.remove:
        context.write(lambda tx: connections.remove(tx, audit.OPERATOR), arguments.org)
        print_result(
            arguments, {"orgId": arguments.org, "connected": False}, ["The organization is not connected now."]
        )
        return 0
    if arguments.token_file:
        tokens = _read_tokens(arguments.token_file)
    else:
        require_credentials(context.config, "tax.client_secret_file", "tax.ca_file")
        tokens = _authorize(arguments, settings_from(context.config.tax))
    context.write(lambda tx: connections.save(tx, tokens, audit.OPERATOR), arguments.org)
    document = {"orgId": arguments.org, "connected": True, "scope": tokens.scope}
    print_result(arguments, document, [f"{arguments.org} is connected to the tax authority."])
    return 0


def _read_tokens(path: str) -> "Tokens":
    from gatewayd.errors import Problem
    from gatewayd.tax.connections import Tokens
    from gatewayd.tax.tokens import is_bearer, tokens_of

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
    from gatewayd.tax.subjects import Subject

    return Subject("key", arguments.key) if arguments.key else Subject("client", arguments.client)


def _show(arguments: argparse.Namespace, made: "Decision") -> None:
    print_result(arguments, made, [f"{made.subject} ({made.name}): {made.status}."])
