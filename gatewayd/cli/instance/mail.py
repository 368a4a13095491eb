"""`gatewayd mail`: what was sent and what was not, once more, and whether the server takes mail at all."""

import argparse
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.clock import to_wire
from gatewayd.config import require_credentials

if TYPE_CHECKING:
    from gatewayd.clock import Instant
    from gatewayd.mail.outbox import Attempt, Mail
    from gatewayd.mail.settings import MailSettings
    from gatewayd.store import ReadTx, WriteTx

STATUSES = ("queued", "sent", "failed", "bounced")


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of mail."""
    group = add_group(subparsers, "mail", "mail that the daemon sends")
    command = add_command(group, "list", "list mails, newest first", list_all, json=True)
    command.add_argument("--org", metavar="ID", help="of one organization; else of the whole instance")
    command.add_argument("--status", choices=STATUSES)
    command.add_argument("--limit", type=whole_number(1, 1000), default=50, help="how many at most, 50 by default")
    command = add_command(group, "show", "show a mail and its attempts, without what it says", show, json=True)
    command.add_argument("id", metavar="ID")
    command = add_command(group, "resend", "send one again that the server has not taken", resend, json=True)
    command.add_argument("id", metavar="ID")
    command = add_command(
        group, "test", "send a mail now, past the queue, and say what the server says", test, json=True
    )
    command.add_argument("--to", required=True, metavar="ADDRESS")


def list_all(arguments: argparse.Namespace, context: Context) -> int:
    mails = context.read(lambda tx: _listed(tx, arguments), arguments.org)
    rows = [
        (each.id, each.kind, each.recipient, each.status, str(each.attempts), each.last_error or "", _day(each))
        for each in mails
    ]
    documents = [_document(each) for each in mails]
    print_list(arguments, documents, ("id", "kind", "to", "status", "attempts", "last error", "since"), rows)
    return 0


def show(arguments: argparse.Namespace, context: Context) -> int:
    """Its record, and a line for each attempt."""
    from gatewayd.mail import outbox

    mail, attempts = context.read(lambda tx: (_find(tx, arguments.id), outbox.list_attempts(tx, arguments.id)))
    lines = [
        f"{mail.id}: {mail.subject}",
        f"to {mail.recipient}, {mail.status}, written {to_wire(mail.created_at)}",
        *([f"tried next {to_wire(mail.due_at)}"] if mail.due_at is not None else []),
        *map(_attempt_line, attempts),
    ]
    document = {**_document(mail), "attempts": [_attempt_document(each) for each in attempts]}
    print_result(arguments, document, lines)
    return 0


def resend(arguments: argparse.Namespace, context: Context) -> int:
    """It waits for the daemon. Its time begins anew, and it keeps its Message-ID."""
    from gatewayd.mail import outbox

    def work(tx: "WriteTx") -> "Mail":
        found = _find(tx, arguments.id)
        if not outbox.resend(tx, found.id):
            why = "was not given up" if found.status in ("queued", "sent") else "says nothing that holds any more"
            raise CommandError(f"{found.id} cannot be sent again: it {why}")
        return _find(tx, arguments.id)

    _settings(context)
    mail = context.write(work)
    print_result(arguments, _document(mail), [f"{mail.id} waits to be sent again."])
    return 0


def test(arguments: argparse.Namespace, context: Context) -> int:
    """Nothing is stored, and no other mail waits for it."""
    import secrets

    import trio

    from gatewayd.mail.letters import Letter
    from gatewayd.mail.messages import AddressError, Outgoing, make_envelope
    from gatewayd.mail.smtp import SmtpResult, SmtpServer, Verdict

    settings = _settings(context)
    letter = Letter(
        subject="A test of mail",
        paragraphs=("Whoever runs the server wanted to know whether mail arrives. It does.",),
        reason="You get this because somebody entered your address for a test.",
    )
    outgoing = Outgoing(f"test-{secrets.token_hex(8)}", context.clock.now(), arguments.to, "", letter)
    try:
        envelope = make_envelope(outgoing, settings.sender, settings.sender_name)
    except AddressError as error:
        raise CommandError(str(error), 2) from None

    async def send() -> SmtpResult:
        server = SmtpServer(settings)
        result = await server.send(envelope)
        await server.aclose()
        return result

    result = trio.run(send)
    if result.verdict is not Verdict.SENT:
        code = "" if result.code is None else f"{result.code} "
        raise CommandError(f"{settings.host} has not taken it: {code}{result.answer}")
    document = {"to": arguments.to, "server": settings.host, "code": result.code}
    print_result(
        arguments, document, [f"{settings.host} has taken it. Whether it arrives is for {arguments.to} to see."]
    )
    return 0


def _settings(context: Context) -> "MailSettings":
    """Raises `CommandError` where no mail is sent."""
    from gatewayd.mail.settings import settings_from

    settings = settings_from(context.config.mail, context.config.server.public_url)
    if settings is None:
        raise CommandError("no mail is sent: mail.host is empty")
    require_credentials(context.config, "mail.password_file", "mail.ca_file")
    return settings


def _listed(tx: "ReadTx", arguments: argparse.Namespace) -> "list[Mail]":
    from gatewayd.identity.people import organizations
    from gatewayd.mail import outbox

    if arguments.org is None:
        return outbox.list_all(tx, arguments.status, arguments.limit)
    organizations.get(tx, tx.org_id)
    return outbox.list_of_organization(tx, arguments.status, arguments.limit)


def _find(tx: "ReadTx", id_: str) -> "Mail":
    from gatewayd.mail import outbox

    found = outbox.find(tx, id_)
    if found is None:
        raise CommandError(f"there is no mail {id_}")
    return found


def _day(mail: "Mail") -> str:
    return to_wire(mail.created_at)[:16].replace("T", " ")


def _wire(instant: "Instant | None") -> str | None:
    return None if instant is None else to_wire(instant)


def _document(mail: "Mail") -> dict[str, object]:
    return {
        "id": mail.id,
        "orgId": mail.org_id,
        "kind": mail.kind,
        "to": mail.recipient,
        "subject": mail.subject,
        "status": mail.status,
        "attempts": mail.attempts,
        "lastCode": mail.last_code,
        "lastError": mail.last_error,
        "lastAttemptAt": _wire(mail.last_attempt_at),
        "nextAttemptAt": _wire(mail.due_at),
        "completedAt": _wire(mail.completed_at),
        "expiresAt": _wire(mail.expires_at),
        "createdAt": _wire(mail.created_at),
    }


def _attempt_document(attempt: "Attempt") -> dict[str, object]:
    return {
        "number": attempt.number,
        "begunAt": _wire(attempt.begun_at),
        "durationMs": attempt.duration_ms,
        "outcome": attempt.outcome,
        "code": attempt.code,
        "answer": attempt.answer,
    }


def _attempt_line(attempt: "Attempt") -> str:
    code = "" if attempt.code is None else f" {attempt.code}"
    said = f": {attempt.answer}" if attempt.answer else ""
    return f"{attempt.number}. {to_wire(attempt.begun_at)} {attempt.outcome}{code}{said}"
