"""Sending: an invoice or a quote goes to its client by mail, with its PDF and a link, and what became of each mail.

The mail is written in the transaction that marks the paper as sent. Its PDF is made when the mail is sent, of what was
issued: a kill loses neither, and what has no room on the disk is tried again.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from gatewayd.areas.accounting import paper_links, paper_settings
from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.clients.shapes import StoredClient
from gatewayd.areas.accounting.invoices import moves, rows
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import InvoiceRow
from gatewayd.areas.accounting.quotes.operations import issue_quote
from gatewayd.areas.accounting.quotes.rows import QUOTES
from gatewayd.areas.accounting.quotes.shapes import ChangeQuote, GetQuote, StoredQuote
from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.given_files import WrittenFile
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.wire import Email, Id, Request, Response, Timestamp, Version
from gatewayd.errors import FieldError, Problem, invalid, invalid_field, invalid_state, not_found, version_conflict
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.mail import outbox
from gatewayd.mail.letters import SUBJECT_MAX, Action, Letter
from gatewayd.mail.notices import Mailing
from gatewayd.mail.outbox import NewMail
from gatewayd.money import Money, from_minor
from gatewayd.store import ReadTx, WriteTx

TO_MAX: Final = 5  # Chosen
MAILS_SHOWN: Final = 100  # Chosen
SENDABLE: Final = ("issued", "sent", "part_paid", "paid")
OPEN_QUOTE: Final = ("sent", "accepted")
_WAYS_OUT: Final = {
    "draft": " `accounting.issueQuote`, or `issue`, issues it first.",
    "expired": " `accounting.updateQuote` gives it another `validUntil`.",
}
_BY_LINK: Final = "`accounting.makeLink` makes a link that you send yourself."
_SELECT_EMAIL = "SELECT email FROM legal_entities WHERE org_id = :org_id AND id = :id"
_SYMBOLS: Final = {"GBP": "£", "EUR": "€", "USD": "US$"}
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

Addresses = Annotated[list[Email], Meta(min_length=1, max_length=TO_MAX)]
Subject = Annotated[str, Meta(min_length=1, max_length=SUBJECT_MAX, pattern=r"\S")]
MailStatus = Literal["queued", "sent", "failed", "bounced"]
Message = Annotated[str, Meta(min_length=1, max_length=4000, pattern=r"\S")]


class LetterRequest(Request, frozen=True, kw_only=True):
    """What a mail is to say, and to whom."""

    expected_version: Version | None = None
    to: Addresses | None = None
    """Whom it goes to. By default the client's `email`, with its `ccEmails` as copies."""
    cc: Addresses | None = None
    """Who gets a copy."""
    subject: Subject | None = None
    """The subject. By default what it is, its number, and from whom."""
    message: Message | None = None
    """What the mail says, as plain text; each line is a paragraph. By default that the paper is there, and what is due
    when. Number, amounts and the link stand below it in any case."""


class _Letter(LetterRequest, frozen=True, kw_only=True):
    """The mail of an invoice or a quote."""

    issue: bool = False
    """Whether a draft is issued first. Otherwise a draft is refused."""


class SendInvoice(_Letter, frozen=True, kw_only=True):
    """Which invoice or credit note to send."""

    invoice_id: Id
    """The `id` of the invoice or credit note."""


class SendQuote(_Letter, frozen=True, kw_only=True):
    """Which quote to send."""

    quote_id: Id
    """The `id` of the quote."""


class GetSending(Request, frozen=True, kw_only=True):
    """Which paper."""

    paper_id: Id
    """The `id` of the invoice, credit note or quote."""


class MakeLink(GetSending, frozen=True, kw_only=True):
    """Which paper to make a link of."""

    expected_version: Version | None = None
    replace: bool = False
    """Whether the link that there is ends, and another takes its place: whoever has the old one sees nothing any
    more."""


class SentMail(Response, frozen=True, kw_only=True):
    """One mail to one address."""

    id: Id
    recipient: str
    """The address."""
    subject: str
    """Its subject."""
    status: MailStatus
    """`queued`: it waits, or is tried again. `sent`: the server took it. `bounced`: the server takes nothing for this
    address. `failed`: it was given up, as `lastError` says."""
    attempts: int
    """How often it was tried."""
    last_error: str | None
    """What the server said last, or what went wrong. Null: nothing."""
    created_at: Timestamp
    completed_at: Timestamp | None
    """When it was sent or given up. Null: it waits."""


class SendingWarning(Response, frozen=True, kw_only=True):
    """What is not as it should be, and was done all the same."""

    path: str
    """The field that it is about."""
    code: Literal["reply_address_missing"]
    """`reply_address_missing`: the seller has no address to which the client's answer could go."""
    message: str
    """The same in words."""


class Sending(Response, frozen=True, kw_only=True):
    """What a client was sent of an invoice or a quote."""

    paper_id: Id
    """The invoice, credit note or quote."""
    number: str | None
    """Its number. Null: a draft."""
    status: str
    """Its state."""
    version: int
    link: str | None
    """The address under which whoever has it sees the paper, without signing in. Null: none was made."""
    sent_at: Timestamp | None
    """When an invoice went out first; when a quote was issued. Null: never."""
    viewed_at: Timestamp | None
    """When the client first opened the link. Null: never."""
    mails: list[SentMail]
    """The mails about it, newest first, at most 100."""
    warnings: list[SendingWarning]
    """What to look at. Empty: nothing."""


class _Subject(NamedTuple):
    """What a letter is about. `facts` are pairs of name and value; `says` is the paragraph that stands by default."""

    kind: Literal["invoice", "quote"]
    row: InvoiceRow | StoredQuote
    what: str
    says: str
    verb: str
    facts: tuple[tuple[str, str], ...]


class KnownSeller(NamedTuple):
    """Who sells. `key` is whose settings of papers hold where `legal_entity_id` is None."""

    legal_entity_id: str | None
    key: str
    name: str


# -- operations


def send_invoice(tx: WriteTx, caller: Caller, request: SendInvoice, *, mailing: Mailing | None) -> Sending:
    """Send an issued invoice or credit note to its client by mail: the PDF attached, with a link to its page.

    It is marked as sent. The PDF is made when the mail is sent, and kept in the vault. Each address is a mail of its
    own, of which `mails` says what became. Without a mail server (`[mail]`) it is refused; accounting.makeLink works.
    """
    if mailing is None:
        raise no_server()
    return invoice(tx, mailing, caller.user_id, request)


def send_quote(tx: WriteTx, caller: Caller, request: SendQuote, *, mailing: Mailing | None) -> Sending:
    """Send a quote to its client by mail: the PDF attached, with a link under which it is accepted or declined."""
    if mailing is None:
        raise no_server()
    row = QUOTES.get(tx, request.quote_id, request.expected_version)
    if request.issue and row.state == "draft":
        issue_quote(tx, caller, ChangeQuote(quote_id=row.id))
        row = QUOTES.get(tx, row.id)
    if row.status not in OPEN_QUOTE:
        message = f"A quote that is {row.status} cannot be sent.{_WAYS_OUT.get(row.status, '')}"
        raise invalid_state(message, row.status, OPEN_QUOTE)
    last = f"It holds until {day(row.valid_until)}."
    facts = (("Number", row.number or ""), ("Total", money(row.gross_total)), ("Holds until", day(row.valid_until)))
    about = _Subject("quote", row, f"Quote {row.number}", f"Here is our quote. {last}", "See the quote", facts)
    return _send(tx, mailing, caller.user_id, request, about)


def get_sending(tx: ReadTx, caller: Caller, request: GetSending, *, issuer: str) -> Sending:
    """Get what a client was sent of an invoice or a quote: the link, whether it was opened, and each mail."""
    return _shown(tx, _row(tx, request.paper_id), paper_links.given_link(tx, issuer, request.paper_id))


def make_link(tx: WriteTx, caller: Caller, request: MakeLink, *, issuer: str) -> Sending:
    """Make the link of an issued invoice or quote, answer the one that there is, or replace it.

    Whoever has it sees the paper without signing in, what is paid of it and where to pay; of a quote they accept or
    decline it.
    """
    row = _row(tx, request.paper_id)
    if request.expected_version is not None and request.expected_version != row.version:
        raise version_conflict(request.expected_version, row.version)
    if row.number is None:
        message = "A draft has no link: `accounting.issueInvoice` or `accounting.issueQuote` issues it first."
        raise invalid_state(message, "draft", ("issued",))
    made = paper_links.replace_link if request.replace else paper_links.link_of
    return _shown(tx, row, made(tx, issuer, row.id))


# -- what others of this area do with it


def invoice(tx: WriteTx, mailing: Mailing, user_id: str | None, request: SendInvoice) -> Sending:
    """Send one. `user_id` is to whom answers go where the seller has no address; None: to nobody.

    Raises `Problem`: `not_found`, `version_conflict`, `invalid_state`, `validation_failed` (nobody to send it to), and
    as to issue does.
    """
    row = INVOICES.get(tx, request.invoice_id, request.expected_version)
    if request.issue and row.status == "draft":
        row = moves.issue(tx, row.id)
    if row.status not in SENDABLE:
        way_out = " `accounting.issueInvoice`, or `issue`, issues it first." if row.status == "draft" else ""
        raise invalid_state(f"An invoice that is {row.status} cannot be sent.{way_out}", row.status, SENDABLE)
    word = "Credit note" if row.kind == "credit_note" else "Invoice"
    facts = [("Number", row.number or ""), ("Total", money(row.gross_total))]
    says = f"Here is our {word.lower()} of {day(row.issue_date)}."
    if row.balance_due.minor > 0 and row.kind == "invoice":
        facts += [("To pay", money(row.balance_due)), ("Pay by", day(row.due_date))]
        says = f"{says} Please pay {money(row.balance_due)} by {day(row.due_date)}."
    about = _Subject("invoice", row, f"{word} {row.number}", says, f"See the {word.lower()}", tuple(facts))
    return _send(tx, mailing, user_id, request, about)


def _went_out(tx: WriteTx, row: InvoiceRow) -> InvoiceRow:
    """Chosen: `sentAt` is the first time, and an invoice that is paid in part or whole stays so."""
    if row.status == "issued":
        return moves.mark_sent(tx, row.id)
    return row if row.sent_at is not None else rows.update(tx, replace(row, sent_at=tx.now))


def _send(tx: WriteTx, mailing: Mailing, user_id: str | None, request: _Letter, about: _Subject) -> Sending:
    row = about.row
    client = CLIENTS.get(tx, row.client_id)
    to, cc = addresses_of(request, client)
    seller, reply_to = sender_of(tx, row, user_id)
    link = paper_links.link_of(tx, mailing.issuer, row.id)
    said = [line for line in (request.message or about.says).splitlines() if line.strip()]
    letter = Letter(
        subject=request.subject or f"{about.what} from {seller}",
        paragraphs=tuple(said),
        facts=about.facts,
        action=Action(about.verb, link),
        reason=f"You get this because {seller} made this {about.kind} out to {client.name}.",
        from_name=seller,
        reply_to=reply_to,
        to=tuple(to),
        cc=tuple(cc),
        paper=row.id,
    )
    for address in dict.fromkeys((*to, *cc)):
        outbox.queue(tx, NewMail(about.kind, tx.org_id, address, letter, about=row.id))
    shown = _went_out(tx, row) if isinstance(row, InvoiceRow) else row
    return _shown(tx, shown, link, () if reply_to else (no_reply(),))


def addresses_of(request: LetterRequest, client: StoredClient) -> tuple[Sequence[str], Sequence[str]]:
    """To whom, and to whom as a copy. Raises `Problem` `validation_failed`."""
    if request.to is None and client.email is None:
        message = f"{client.name} has no `email`: give one here, or to the client with `accounting.updateClient`."
        raise invalid_field("to", "required", message)
    own = [client.email] if client.email is not None else []
    copies = request.cc or ((client.cc_emails or []) if request.to is None else [])
    to = request.to or own
    fields = {"to": to, "cc": copies}
    errors = [
        FieldError(f"{name}.{place}", "invalid_format", "No mail can be sent to such an address.")
        for name, addresses in fields.items()
        for place, address in enumerate(addresses)
        if not _can_be_sent_to(address)
    ]
    if errors:
        raise invalid(*errors)
    return to, copies


def _can_be_sent_to(address: str) -> bool:
    from gatewayd.mail.messages import AddressError, address_for_smtp  # not before it is needed: it is large

    try:
        address_for_smtp(address)
    except AddressError:
        return False
    return True


def sender_of(tx: ReadTx, row: InvoiceRow | StoredQuote, user_id: str | None) -> tuple[str, str]:
    """What the client knows the seller by, and where answers go; empty: nowhere."""
    name = row.seller_snapshot.name if row.seller_snapshot is not None else organizations.get(tx, tx.org_id).name
    return known_as(tx, KnownSeller(row.legal_entity_id, row.seller_key, name), user_id)


def known_as(tx: ReadTx, seller: KnownSeller, user_id: str | None) -> tuple[str, str]:
    """What a seller is known by, and where answers go; empty: nowhere."""
    settings = paper_settings.of_seller(tx, seller.legal_entity_id or seller.key)
    name = settings.trading_name if settings is not None and settings.trading_name else seller.name
    email = None if seller.legal_entity_id is None else tx.value(_SELECT_EMAIL, id=seller.legal_entity_id)
    if email is None and user_id is not None and memberships.is_member(tx, user_id):
        email = users.get(tx, user_id).email
    return name, email or ""


def _row(tx: ReadTx, paper_id: str) -> InvoiceRow | StoredQuote:
    """Raises `Problem` `not_found`."""
    found: InvoiceRow | StoredQuote | None = INVOICES.find(tx, paper_id) or QUOTES.find(tx, paper_id)
    if found is None:
        raise not_found("invoice or quote")
    return found


def _shown(
    tx: ReadTx, row: InvoiceRow | StoredQuote, link: str | None, warnings: Sequence[SendingWarning] = ()
) -> Sending:
    return Sending(
        paper_id=row.id,
        number=row.number,
        status=row.status,
        version=row.version,
        link=link,
        sent_at=row.sent_at,
        viewed_at=row.viewed_at,
        mails=mails_about(tx, row.id),
        warnings=list(warnings),
    )


def mails_about(tx: ReadTx, id_: str) -> list[SentMail]:
    """The mails about a paper, or the statements of a client, newest first, `MAILS_SHOWN` at most."""
    return [
        SentMail(
            id=mail.id,
            recipient=mail.recipient,
            subject=mail.subject,
            status=mail.status,
            attempts=mail.attempts,
            last_error=mail.last_error,
            created_at=Instant(mail.created_at),
            completed_at=None if mail.completed_at is None else Instant(mail.completed_at),
        )
        for mail in outbox.list_about(tx, id_, MAILS_SHOWN)
    ]


def no_reply() -> SendingWarning:
    message = "The seller has no address for answers: give the legal entity an `email`."
    return SendingWarning(path="legalEntity.email", code="reply_address_missing", message=message)


def no_server(way_out: str = _BY_LINK) -> Problem:
    """Why nothing is sent where `[mail]` names no server, and what to do instead."""
    message = f"No mail is sent here: `[mail]` of the settings names no server. {way_out}"
    return invalid_state(message, "no_mail_server", ())


def money(amount: Money) -> str:
    """An amount as letters have it: £1,234.50, or with the code of its currency."""
    text = from_minor(abs(amount.minor), amount.currency)
    whole, dot, fraction = text.partition(".")
    symbol = _SYMBOLS.get(amount.currency)
    figure = f"{int(whole):,}{dot}{fraction}"
    sign = "−" if amount.minor < 0 else ""
    return f"{sign}{symbol}{figure}" if symbol else f"{sign}{figure} {amount.currency}"


def day(date: str) -> str:
    """An ISO date as letters have it: 7 Nov 2026."""
    return f"{int(date[8:10])} {_MONTHS[int(date[5:7]) - 1]} {date[:4]}"


_INVOICE: Final = "inv_01k0000000000000000000000c"

OPERATIONS = (
    Operation(
        id="accounting.sendInvoice",
        kind="write",
        method="POST",
        path="/invoices/:invoiceId/send",
        scopes=("accounting:write",),
        request=SendInvoice,
        response=Sending,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "period_closed", "version_conflict"),
        extension=True,
        example={"invoiceId": _INVOICE, "to": ["accounts@example.com"], "message": "Thank you for your order."},
    ),
    Operation(
        id="accounting.sendQuote",
        kind="write",
        method="POST",
        path="/quotes/:quoteId/send",
        scopes=("accounting:write",),
        request=SendQuote,
        response=Sending,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"quoteId": "quo_01k0000000000000000000000c", "to": ["accounts@example.com"]},
    ),
    Operation(
        id="accounting.getQuotePdf",
        kind="call",
        method="GET",
        path="/quotes/:quoteId/pdf",
        scopes=("accounting:read",),
        request=GetQuote,
        response=WrittenFile,
        handler=AT_CATALOGUE,
        errors=("gone", "invalid_state"),
        gives_file="application/pdf",
        extension=True,
        example={"quoteId": "quo_01k0000000000000000000000c"},
    ),
    Operation(
        id="accounting.getSending",
        kind="read",
        method="GET",
        path="/sendings/:paperId",
        scopes=("accounting:read",),
        request=GetSending,
        response=Sending,
        handler=AT_CATALOGUE,
        extension=True,
        example={"paperId": _INVOICE},
    ),
    Operation(
        id="accounting.makeLink",
        kind="write",
        method="POST",
        path="/sendings/:paperId/link",
        scopes=("accounting:write",),
        request=MakeLink,
        response=Sending,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"paperId": _INVOICE},
    ),
)
