"""`gatewayd init`: from nothing to an instance with its first organization and owner."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.config import is_loopback, system_file, user_file
from gatewayd.config.forms import public_url_error
from gatewayd.errors import Problem, invalid_field

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
    url, organization, email, name = _answers(arguments)
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


def _answers(arguments: argparse.Namespace) -> list[str]:
    """Public URL, organization, and address and name of its owner: what was given is looked at before anybody is asked.

    Raises `CommandError` 2.
    """
    from gatewayd.identity.people.organizations import validate_name
    from gatewayd.identity.people.users import validate_email

    questions = (
        _Question(arguments.public_url, "Public URL", _checked_url, DEFAULT_URL),
        _Question(arguments.organization, "Organization", partial(validate_name, "organization")),
        _Question(arguments.email, "E-mail address of its owner", validate_email),
        _Question(arguments.name, "Name of its owner", partial(validate_name, "name")),
    )
    for each in questions:
        if each.flag is not None and (wrong := each.fault(each.flag)):
            raise CommandError(f"{each.words}: {wrong}", 2)
    return [_ask(each) for each in questions]


class _Question(NamedTuple):
    """What `init` has to know. `check` raises `Problem` for an answer that will not do. `flag` None: left out."""

    flag: str | None
    words: str
    check: Callable[[str], str]
    default: str = ""

    def fault(self, answer: str) -> str:
        """What is wrong with an answer; empty: nothing."""
        try:
            self.check(answer)
        except Problem as problem:
            return " ".join(error.message for error in problem.errors) or problem.message
        return ""


def _checked_url(url: str) -> str:
    if wrong := public_url_error(url):
        raise invalid_field("server.public_url", "invalid_url", f"server.public_url {wrong}")
    return url


def _ask(question: _Question) -> str:
    """The value given, else what a person types, until it will do. Raises `CommandError` 2 without a terminal."""
    if question.flag is not None:
        return question.flag
    if not sys.stdin.isatty():
        raise CommandError(f"{question.words}: give it with its flag, see gatewayd init --help", 2)
    shown = f" [{question.default}]" if question.default else ""
    while True:
        print(f"{question.words}{shown}: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise CommandError("the answers ended", 2)
        answer = line.strip() or question.default
        if answer and not (wrong := question.fault(answer)):
            return answer
        if answer:
            print(wrong, file=sys.stderr)


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
    from gatewayd.identity import audit
    from gatewayd.identity.people import memberships, organizations, users
    from gatewayd.identity.sign_in import one_time_links

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
