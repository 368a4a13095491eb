"""What commands that mail a paper have in common: what the mail is to say, and what is told of it."""

import argparse
from typing import Any

from gatewayd.cli.output import note, print_result

Json = dict[str, Any]


def add_letter(command: argparse.ArgumentParser) -> None:
    """The options of the mail of an invoice or a quote."""
    add_mail(command)
    command.add_argument("--issue", action="store_true", help="issue a draft first")


def add_mail(command: argparse.ArgumentParser) -> None:
    """The options of a mail."""
    command.add_argument("--to", action="append", metavar="ADDRESS", help="the client's by default; may be given again")
    command.add_argument("--cc", action="append", metavar="ADDRESS", help="who gets a copy; may be given again")
    command.add_argument("--subject", metavar="TEXT")
    command.add_argument("--message", metavar="TEXT", help="what the mail says; each line is a paragraph")


def letter_of(arguments: argparse.Namespace) -> Json:
    """What was given of it, as the operations take it."""
    return {**mail_of(arguments), "issue": arguments.issue or None}


def mail_of(arguments: argparse.Namespace) -> Json:
    """What was given of a mail alone."""
    return {name: getattr(arguments, name) for name in ("to", "cc", "subject", "message")}


def tell_sending(arguments: argparse.Namespace, sending: Json) -> int:
    """Print the mails of a paper with what became of each, and its link."""
    for warning in sending["warnings"]:
        note(warning["message"])
    lines = [f"{sending['number'] or sending['paperId']} is {sending['status']}."]
    lines += told_of(sending["mails"])
    if sending["link"] is not None:
        lines.append(f"Link: {sending['link']}")
    if sending["viewedAt"] is not None:
        lines.append(f"First opened at {sending['viewedAt']}.")
    print_result(arguments, sending, lines)
    return 0


def told_of(mails: list[Json]) -> list[str]:
    """A line of each mail."""
    return [f"To {mail['recipient']}: {_said(mail)}" for mail in mails]


def _said(mail: Json) -> str:
    return f"{mail['status']} ({mail['lastError']})" if mail["lastError"] else str(mail["status"])
