"""`gatewayd init`: from nothing to an instance with its first organization and owner."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.config import is_loopback, system_file, user_file

if TYPE_CHECKING:
    from gatewayd.store import WriteTx

DEFAULT_URL = "http://127.0.0.1:8080"


def add_commands(subparsers: Subparsers) -> None:
    """Add `init`."""
    command = add_command(subparsers, "init", "write the settings and make the first organization", init, json=True)
    command.add_argument("--public-url", metavar="URL", help=f"the origin that clients see, such as {DEFAULT_URL}")
    command.add_argument("--organization", metavar="NAME", help="the name of the first organization")
    command.add_argument("--email", help="the address of its owner")
    command.add_argument("--name", help="the name of its owner")
    command.add_argument("--directory", type=Path, metavar="DIR", help="where the data lies; else the usual place")


def init(arguments: argparse.Namespace, context: Context) -> int:
    """What is not given by a flag is asked for on a terminal. The owner administrates the instance too.

    The settings file is put in place last, so that a run that failed can simply be repeated.
    """
    from gatewayd.console.addresses import sign_in_link

    target = _target(context)
    if target.exists():
        raise CommandError(f"{target} is there already: it is not written over")
    url = _ask(arguments.public_url, "Public URL", DEFAULT_URL)
    organization = _ask(arguments.organization, "Organization")
    email = _ask(arguments.email, "E-mail address of its owner")
    name = _ask(arguments.name, "Name of its owner")
    text = _settings(url, arguments.directory)
    draft = _write_draft(target, text)
    try:
        fresh = Context(str(draft), context.environ, context.clock, context.root)
        org_id, user_id, token = _seed(fresh, organization, (email, name))
        os.link(draft, target)
    except FileExistsError:
        raise CommandError(f"{target} is there already: it is not written over") from None
    finally:
        draft.unlink()
    link = sign_in_link(fresh.config.server.public_url, token)
    document = {"config": str(target), "orgId": org_id, "userId": user_id, "email": email, "link": link}
    lines = [
        f"Wrote {target}",
        f"Made the organization {organization}: {org_id}",
        f"Next: {_next_command(target, context)}",
        f"Then its owner, {email}, signs in with this link, once, within half an hour:",
        link,
        f"Later: gatewayd user reset-password {email}",
    ]
    print_result(arguments, document, lines)
    return 0


def _next_command(target: Path, context: Context) -> str:
    """What starts the daemon with these settings."""
    return (
        "systemctl enable --now gatewayd"
        if target == system_file(context.root)
        else f"gatewayd serve --config {target}"
    )


def _target(context: Context) -> Path:
    """The file to write: the one that is named, else the usual one of root or of this user."""
    if context.config_path is not None:
        return context.config_path
    if os.geteuid() == 0:
        return system_file(context.root)
    return user_file()


def _ask(given: str | None, question: str, default: str = "") -> str:
    """The value given, else what a person types. Raises `CommandError` 2 where no terminal is there."""
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise CommandError(f"{question}: give it with its flag, see gatewayd init --help", 2)
    shown = f" [{default}]" if default else ""
    while True:
        print(f"{question}{shown}: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise CommandError("the answers ended", 2)
        if answer := line.strip() or default:
            return answer


def _settings(url: str, directory: Path | None) -> str:
    """The TOML: what was asked for; every other key has its default, and conf/gatewayd.toml lists them."""
    lines = ["[server]", f"public_url = {json.dumps(url)}"]
    if (address := _own_address(url)) is not None:
        lines.append(f"bind = [{json.dumps(address)}]")
    if directory is not None:
        lines += ["", "[store]", f"directory = {json.dumps(str(directory.absolute()))}"]
    return "\n".join(lines) + "\n"


def _own_address(url: str) -> str | None:
    """Where the daemon must listen for a URL that leads to this machine itself; None: its default will do."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None  # the settings are checked, and say what is wrong
    if url == DEFAULT_URL or parts.scheme != "http" or port is None or not is_loopback(parts.hostname or ""):
        return None
    return parts.netloc


def _write_draft(target: Path, text: str) -> Path:
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(descriptor, 0o644)  # no secrets are in it, and the daemon is another user than root
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CommandError(f"{target} cannot be written: {error.strerror}") from error
    return draft


def _seed(context: Context, organization: str, owner: tuple[str, str]) -> tuple[str, str, str]:
    """Make the organization and its owner (address, name); returns their ids and the token of the owner's link."""
    from gatewayd.identity import audit, memberships, one_time_links, organizations, users

    email, name = owner

    def work(tx: "WriteTx") -> tuple[str, str, str]:
        if organizations.list_all(tx):
            raise CommandError("the store has an organization already: init is for a new instance")
        org = organizations.create(tx, organization, audit.OPERATOR)
        tx.bind(org.id)
        new = users.NewUser(email=email, name=name, instance_admin=True)
        user = users.create(tx, new, audit.OPERATOR)
        memberships.add(tx, user.id, "owner", audit.OPERATOR)
        return org.id, user.id, one_time_links.make(tx, user.id, "sign_in")

    return context.write(work, makes_store=True)
