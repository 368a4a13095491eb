"""Statements of account by mail: one goes to its client with its PDF, which is made when the mail is sent.

The mail is written in the transaction that is asked for it, with the days of the statement, so that a letter that waits
is still of those days. A statement has no link: it is of a day, and nobody follows it.
"""

import datetime
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.accounting import sending
from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.receivables import letterhead
from gatewayd.areas.accounting.receivables.operations import get_statement
from gatewayd.areas.accounting.receivables.shapes import GetStatement, Statement, StatementKind
from gatewayd.areas.accounting.sending import KnownSeller, LetterRequest, Message, SendingWarning, SentMail, Subject
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.wire import Currency, Date, DateText, Id, Response
from gatewayd.mail import outbox
from gatewayd.mail.letters import Letter
from gatewayd.mail.notices import Mailing
from gatewayd.mail.outbox import NewMail
from gatewayd.money import Money
from gatewayd.store import WriteTx

_BY_HAND: Final = "`accounting.getStatementPdf` gives the PDF that you send yourself."


class SendStatement(LetterRequest, frozen=True, kw_only=True):
    """Whose statement to send, of which days, and what the mail says."""

    client_id: Id
    """The client whose account it is."""
    kind: StatementKind = "activity"
    from_date: Date | None = None
    to_date: Date | None = None
    """The last day. By default today, also where the mail goes out later."""
    currency: Currency | None = None
    """Only the account in this currency. By default every currency in which there is anything to tell."""
    legal_entity_id: Id | None = None
    """Only the account with this seller, whose letterhead it then has. By default all of the organization's."""
    subject: Subject | None = None
    """The subject. By default that it is a statement, its days, and from whom."""
    message: Message | None = None
    """What the mail says, as plain text; each line is a paragraph. By default that the statement is there. The days and
    the balance stand below it in any case."""


class StatementSending(Response, frozen=True, kw_only=True):
    """A statement that goes to its client, and the mails of those before it."""

    client_id: str
    """Whose account it is."""
    kind: StatementKind
    """Whatever happened in the days, or what is open at the end."""
    from_date: DateText | None
    """The first day. Null: a statement of what is outstanding has none."""
    to_date: DateText
    """The last day."""
    mails: list[SentMail]
    """The mails of statements to this client, newest first, at most 100."""
    warnings: list[SendingWarning]
    """What to look at. Empty: nothing."""


def send_statement(tx: WriteTx, caller: Caller, request: SendStatement, *, mailing: Mailing | None) -> StatementSending:
    """Send a client its statement of account by mail, with its PDF: what happened in days, or what is open.

    The days are fixed now, and the PDF is made when the mail is sent. Each address is a mail of its own, of which
    `mails` says what became. Without a mail server (`[mail]`) it is refused.
    """
    if mailing is None:
        raise sending.no_server(_BY_HAND)
    client = CLIENTS.get(tx, request.client_id, request.expected_version)
    to, cc = sending.addresses_of(request, client)
    asked = GetStatement(
        client_id=request.client_id,
        kind=request.kind,
        from_date=request.from_date,
        to_date=request.to_date,
        currency=request.currency,
        legal_entity_id=request.legal_entity_id,
    )
    told = get_statement(tx, caller, asked)
    whose = letterhead.seller_of(tx, client.id, request.legal_entity_id)
    seller, reply_to = sending.known_as(tx, KnownSeller(whose.legal_entity_id, whose.key, whose.name), caller.user_id)
    said = [line for line in (request.message or _says(told)).splitlines() if line.strip()]
    letter = Letter(
        subject=request.subject or f"Statement of account, {_days(told)}, from {seller}",
        paragraphs=tuple(said),
        facts=(("Statement", _days(told)), *_balances(told)),
        reason=f"You get this because {client.name} has an account with {seller}.",
        from_name=seller,
        reply_to=reply_to,
        to=tuple(to),
        cc=tuple(cc),
        paper=letterhead.named(_fixed(asked, told)),
    )
    for address in dict.fromkeys((*to, *cc)):
        outbox.queue(tx, NewMail("statement", tx.org_id, address, letter, about=client.id))
    return StatementSending(
        client_id=client.id,
        kind=told.kind,
        from_date=told.from_date,
        to_date=told.to_date,
        mails=sending.mails_about(tx, client.id),
        warnings=[] if reply_to else [sending.no_reply()],
    )


def _fixed(asked: GetStatement, told: Statement) -> GetStatement:
    """The same with the days that it has today."""
    first = None if told.from_date is None else datetime.date.fromisoformat(told.from_date)
    return replace(asked, from_date=first, to_date=datetime.date.fromisoformat(told.to_date))


def _days(told: Statement) -> str:
    last = sending.day(told.to_date)
    return last if told.from_date is None else f"{sending.day(told.from_date)} to {last}"


def _says(told: Statement) -> str:
    if told.from_date is None:
        return f"Here is what is open on your account on {sending.day(told.to_date)}."
    return f"Here is your statement of account from {_days(told)}."


def _balances(told: Statement) -> Iterator[tuple[str, str]]:
    """What is owed in each currency, and how much of it is overdue."""
    for account in told.currencies:
        balance, overdue = account.balance, account.overdue
        if balance.minor < 0:
            yield "In your favour", sending.money(Money(-balance.minor, balance.currency))
        else:
            yield "Balance", sending.money(balance)
        if overdue.minor > 0:
            yield "Overdue", sending.money(overdue)
    if not told.currencies:
        yield "Balance", "Nothing is owed"


OPERATIONS = (
    Operation(
        id="accounting.sendStatement",
        kind="write",
        method="POST",
        path="/clients/:clientId/statement/send",
        scopes=("accounting:write",),
        request=SendStatement,
        response=StatementSending,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={
            "clientId": "cli_01k0000000000000000000000a",
            "kind": "outstanding",
            "to": ["accounts@example.com"],
            "message": "Please look through what is open.",
        },
    ),
)
