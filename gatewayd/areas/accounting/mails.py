"""Mails to clients: those of invoices, quotes and reminders, what became of each, and once more what did not arrive.

What a letter says stays sealed, and mails of people, such as invitations, are none of these.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, NamedTuple

from msgspec import Meta

from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.quotes.rows import QUOTES
from gatewayd.areas.accounting.sending import OPEN_QUOTE, SENDABLE, MailStatus, SentMail, no_server
from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import MAX_KEY, Listing, Page, PageRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import Id, Request, Response, Timestamp, encode
from gatewayd.errors import FieldError, invalid, invalid_state, not_found
from gatewayd.mail import outbox
from gatewayd.mail.notices import Mailing
from gatewayd.store import ReadTx, WriteTx

MailKind = Literal["invoice", "invoice_reminder", "quote"]
Outcome = Literal["sent", "retried", "failed", "bounced", "interrupted"]

_COLUMNS = """id, kind, about, recipient, subject, status, attempts, last_code, last_error, due_at, created_at,
    completed_at, CASE WHEN status IN ('failed', 'bounced') AND length(letter_sealed) > 0
        AND (expires_at IS NULL OR expires_at > :at) THEN 1 ELSE 0 END"""
_TO_CLIENTS = "org_id = :org_id AND kind IN ('invoice', 'invoice_reminder', 'quote') AND about IS NOT NULL"
_LIST = f"""
SELECT {_COLUMNS} FROM mails
WHERE {_TO_CLIENTS} AND id < :after_id AND (CAST(:status AS TEXT) IS NULL OR status = :status)
    AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind)
    AND (CAST(:recipient AS TEXT) IS NULL OR recipient_folded = :recipient)
"""
_OF_PAPER = " AND about = :paper_id"
_NEWEST_FIRST = " ORDER BY id DESC LIMIT :count"
_GET = f"SELECT {_COLUMNS} FROM mails WHERE {_TO_CLIENTS} AND id = :id"


class ListMails(PageRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    status: MailStatus | None = None
    kind: MailKind | None = None
    paper_id: Id | None = None
    """Those about one invoice, credit note or quote."""
    recipient: Annotated[str, Meta(min_length=1, max_length=320)] | None = None
    """Those to one address, in whichever case it is written."""


class GetMail(Request, frozen=True, kw_only=True):
    """Which mail."""

    mail_id: Id
    """The `id` of the mail."""


class PaperMail(SentMail, frozen=True, kw_only=True):
    """A mail to a client, about an invoice or a quote. `createdAt` is when it was written, or sent again."""

    kind: MailKind
    """`invoice`: it brings an invoice or a credit note. `quote`: it brings a quote. `invoice_reminder`: it reminds of
    an invoice."""
    paper_id: Id
    """The invoice, credit note or quote."""
    last_code: int | None
    """What the mail server answered last, such as 550. Null: nothing."""
    next_attempt_at: Timestamp | None
    """When it may be tried next. Null: it is over."""
    can_be_resent: bool
    """Whether accounting.resendMail may send it again: it was given up, and what it says is kept and holds still."""


class MailAttempt(Response, frozen=True, kw_only=True):
    """One attempt that has ended."""

    number: int
    """Which it is, from 1."""
    begun_at: Timestamp
    """When it began."""
    duration_ms: int | None
    """How long it took, in milliseconds. Null: nobody knows."""
    outcome: Outcome
    """`retried`: it is tried again. `interrupted`: it ended on our side, by a stop or a crash."""
    code: int | None
    """What the mail server answered. Null: nothing."""
    answer: str | None
    """What it said, or what went wrong. Null: nothing."""


class PaperMailDetail(PaperMail, frozen=True, kw_only=True):
    """A mail with its attempts."""

    attempt_log: list[MailAttempt]
    """The attempts that have ended, first to last."""


class _Stored(NamedTuple):
    """A row, as `_COLUMNS` has it."""

    id: str
    kind: MailKind
    about: str
    recipient: str
    subject: str
    status: MailStatus
    attempts: int
    last_code: int | None
    last_error: str | None
    due_at: int | None
    created_at: int
    completed_at: int | None
    resendable: int


def list_mails(tx: ReadTx, caller: Caller, request: ListMails) -> Listing[PaperMail]:
    """List the mails to clients about invoices and quotes, newest first, for as long as they are kept.

    `mail.retention_days` says how long that is, 90 days by default.
    """
    if request.paper_id is not None and not (INVOICES.find(tx, request.paper_id) or QUOTES.find(tx, request.paper_id)):
        message = "There is no such invoice or quote: `accounting.listInvoices` and `accounting.listQuotes` list them."
        raise invalid(FieldError("paperId", "unknown_reference", message))
    items: list[bytes] = []

    def size(row: _Stored) -> int:
        items.append(encode(_shown(row)))
        return len(items[-1])

    page, more = fill(_newest(tx, request), request.limit, size)
    return Listing.of(items[: len(page)], next_cursor(request, (page[-1].id,)) if more else None)


def get_mail(tx: ReadTx, caller: Caller, request: GetMail) -> PaperMailDetail:
    """Get a mail to a client with its attempts, without what it says."""
    return _detail(tx, _find(tx, request.mail_id))


def resend_mail(tx: WriteTx, caller: Caller, request: GetMail, *, mailing: Mailing | None) -> PaperMailDetail:
    """Send a mail again that bounced or was given up, as it was written and to the same address.

    Its time begins anew. It is refused where the paper is not to be sent any more, what the mail says is over or was
    withdrawn, or 14 days have passed; accounting.sendInvoice and accounting.sendQuote write another mail.
    """
    found = _find(tx, request.mail_id)
    if mailing is None:
        raise no_server()
    if found.status not in ("failed", "bounced"):
        message = f"A mail that is {found.status} cannot be sent again: it was not given up."
        raise invalid_state(message, found.status, ("failed", "bounced"))
    _check_paper(tx, found)
    if not outbox.resend(tx, found.id):
        message = (
            "What this mail says is not kept any more, or does not hold: `accounting.sendInvoice` or"
            " `accounting.sendQuote` writes another."
        )
        raise invalid_state(message, found.status, ())
    return _detail(tx, _find(tx, found.id))


def _check_paper(tx: ReadTx, mail: _Stored) -> None:
    """Raises `Problem` `invalid_state` where the paper is void, or the quote was declined or has expired."""
    quote = QUOTES.find(tx, mail.about) if mail.kind == "quote" else None
    invoice = INVOICES.find(tx, mail.about) if mail.kind != "quote" else None
    row = quote or invoice
    if row is None:
        raise not_found("invoice or quote")
    sendable = OPEN_QUOTE if mail.kind == "quote" else SENDABLE
    if row.status not in sendable:
        raise invalid_state(f"It is about a paper that is {row.status}, which is not sent.", row.status, sendable)


def _newest(tx: ReadTx, request: ListMails) -> Iterator[_Stored]:
    key = cursor_key(request, str)
    values: dict[str, object] = {
        "after_id": MAX_KEY if key is None else key[0],
        "status": request.status,
        "kind": request.kind,
        "recipient": None if request.recipient is None else request.recipient.strip().lower(),
        "at": tx.now,
        "count": request.limit + 1,
    }
    of_paper = {} if request.paper_id is None else {"paper_id": request.paper_id}
    sql = _LIST + (_OF_PAPER if of_paper else "") + _NEWEST_FIRST
    return (_Stored(*row) for row in tx.each(sql, **values, **of_paper))


def _find(tx: ReadTx, mail_id: str) -> _Stored:
    """Raises `Problem` `not_found`, also where it is of another kind."""
    row = tx.row(_GET, id=mail_id, at=tx.now)
    if row is None:
        raise not_found("mail")
    return _Stored(*row)


def _shown(row: _Stored) -> PaperMail:
    return PaperMail(**_members(row))


def _detail(tx: ReadTx, row: _Stored) -> PaperMailDetail:
    log = [
        MailAttempt(
            number=each.number,
            begun_at=Instant(each.begun_at),
            duration_ms=each.duration_ms,
            outcome=each.outcome,
            code=each.code,
            answer=each.answer,
        )
        for each in outbox.list_attempts(tx, row.id)
    ]
    return PaperMailDetail(**_members(row), attempt_log=log)


def _members(row: _Stored) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "paper_id": row.about,
        "recipient": row.recipient,
        "subject": row.subject,
        "status": row.status,
        "attempts": row.attempts,
        "last_code": row.last_code,
        "last_error": row.last_error,
        "next_attempt_at": _instant(row.due_at),
        "can_be_resent": bool(row.resendable),
        "created_at": Instant(row.created_at),
        "completed_at": _instant(row.completed_at),
    }


def _instant(at: int | None) -> Instant | None:
    return None if at is None else Instant(at)


_MAIL: Final = "mail_01k0000000000000000000000a"

OPERATIONS = (
    Operation(
        id="accounting.listMails",
        kind="read",
        method="GET",
        path="/mails",
        scopes=("accounting:read",),
        request=ListMails,
        response=Page[PaperMail],
        handler=list_mails,
        errors=("invalid_cursor", "unknown_reference"),
        extension=True,
        example={"status": "bounced"},
    ),
    Operation(
        id="accounting.getMail",
        kind="read",
        method="GET",
        path="/mails/:mailId",
        scopes=("accounting:read",),
        request=GetMail,
        response=PaperMailDetail,
        handler=get_mail,
        extension=True,
        example={"mailId": _MAIL},
    ),
    Operation(
        id="accounting.resendMail",
        kind="write",
        method="POST",
        path="/mails/:mailId/resend",
        scopes=("accounting:write",),
        request=GetMail,
        response=PaperMailDetail,
        handler=AT_CATALOGUE,
        errors=("invalid_state",),
        extension=True,
        example={"mailId": _MAIL},
    ),
)
