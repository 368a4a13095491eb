"""Makes the invoices of the days that have come: each once, in order, with the date of its own day.

Invoice and day are one transaction, whose key lets no day be made again: not by two daemons, not after a kill, and not
where the clock goes back. What cannot be made halts the recurring invoice, with the reason in words, until somebody
resumes it: no day is passed over in silence.
"""

import datetime
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.accounting import sending
from gatewayd.areas.accounting.invoices import drafts, moves
from gatewayd.areas.accounting.invoices.drafts import Draft
from gatewayd.areas.accounting.invoices.line_shapes import LineRow, requested
from gatewayd.areas.accounting.recurring import rows
from gatewayd.areas.accounting.recurring.rows import RECURRING
from gatewayd.areas.accounting.recurring.shapes import CreateRecurring, StoredRecurring
from gatewayd.areas.accounting.sending import SendInvoice
from gatewayd.errors import Problem, invalid_field
from gatewayd.mail.notices import Mailing
from gatewayd.store import WriteTx

_OTHER_VAT: Final = (
    "The VAT of its lines is another than last time: {now}, and it was {before}. Look at the prices, and resume it"
    " with `accounting.resumeRecurring`."
)


def make(tx: WriteTx, recurring_id: str, mailing: Mailing | None = None) -> bool:
    """Make the invoice of the next day, if that has come; whether it was made. `mailing` None: no mail is sent.

    Raises `Problem` as `accounting.createInvoice` does, and `accounting.sendInvoice` where it is sent, and
    `validation_failed` where other VAT would be charged.
    """
    row = RECURRING.find(tx, recurring_id)
    if row is None or row.status != "active" or row.next_date is None or row.next_date > tx.today:
        return False  # another daemon was first, or somebody has stopped it
    draft = draft_of(tx, row, row.next_date)
    charged = charged_by(draft.lines)
    if row.charged is not None and charged != row.charged:
        message = _OTHER_VAT.format(now=_told(charged), before=_told(row.charged))
        raise invalid_field("lines", "conflict", message)
    named = draft._replace(row=replace(draft.row, recurring_id=row.id))
    moves.enter(tx, named, issued=row.makes != "draft", number=None)
    if row.makes == "sent":
        if mailing is None:
            raise sending.no_server()
        sending.invoice(tx, mailing, None, SendInvoice(invoice_id=draft.row.id))
    rows.made(tx, row, draft.row.id, charged)
    return True


def halt(tx: WriteTx, recurring_id: str, date: str, problem: Problem) -> None:
    """Keep that the invoice of a day could not be made, and why; nothing where that is not its next day any more."""
    row = RECURRING.find(tx, recurring_id)
    if row is None or row.status != "active" or row.next_date != date:
        return
    reason = " ".join(error.message for error in problem.errors) or problem.message
    RECURRING.update(
        tx, replace(row, status="halted", halted_code=problem.code, halted_reason=reason, halted_at=tx.now)
    )


def draft_of(tx: WriteTx, terms: CreateRecurring | StoredRecurring, date: str) -> Draft:
    """The invoice of an ISO date, which is not stored. Raises `Problem` as to create it would."""
    discount = None if terms.discount_amount is None else str(terms.discount_amount)
    members = {"issue_date": datetime.date.fromisoformat(date), "discount_amount": discount}
    lines = [requested(line) for line in terms.lines]
    return drafts.of_request(tx, drafts.request_by(terms, lines=lines, **members))


def charged_by(lines: list[LineRow]) -> list[str]:
    """The VAT code of each line and its rate, percent."""
    return [f"{line.vat_code} {line.vat_rate_percent}" for line in lines]


def _told(charged: list[str]) -> str:
    return ", ".join(
        f"{code} at {rate} %" for code, _, rate in (each.partition(" ") for each in dict.fromkeys(charged))
    )
