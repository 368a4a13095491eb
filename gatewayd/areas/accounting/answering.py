"""What a client does at the link of a paper: looks at it, and accepts or declines a quote."""

from msgspec.structs import replace

from gatewayd.areas.accounting.invoices import rows
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.quotes.rows import QUOTES
from gatewayd.areas.accounting.quotes.shapes import StoredQuote
from gatewayd.errors import Problem, invalid_state
from gatewayd.store import WriteTx


def note_view(tx: WriteTx, paper_id: str) -> None:
    """Keep that the client has seen a paper; what was seen before stays. Chosen: that is no version of it, so that who
    read it before may still change it.
    """
    invoice = INVOICES.find(tx, paper_id)
    if invoice is not None:
        if invoice.viewed_at is None and invoice.number is not None:
            rows.save(tx, replace(invoice, viewed_at=tx.now))
        return
    quote = QUOTES.find(tx, paper_id)
    if quote is not None and quote.viewed_at is None and quote.number is not None:
        QUOTES.save(tx, replace(quote, viewed_at=tx.now))


def accept(tx: WriteTx, quote_id: str, name: str) -> None:
    """Accept a quote that holds today, as whoever names themselves so. Again changes nothing.

    Raises `Problem`: `not_found`, `invalid_state` of one that has expired or was answered otherwise.
    """
    row = QUOTES.get(tx, quote_id)
    if row.state in ("accepted", "invoiced"):
        return
    _require_open(row)
    QUOTES.update(tx, replace(row, state="accepted", accepted_date=tx.today, answered_by=name))


def decline(tx: WriteTx, quote_id: str, name: str, reason: str | None) -> None:
    """Decline a quote that is open. `reason` None: none was given. Again changes nothing. Raises as `accept` does."""
    row = QUOTES.get(tx, quote_id)
    if row.state == "declined":
        return
    _require_open(row)
    QUOTES.update(tx, replace(row, state="declined", declined_at=tx.now, decline_reason=reason, answered_by=name))


def _require_open(row: StoredQuote) -> None:
    if row.status != "sent":
        raise _closed(row)


def _closed(row: StoredQuote) -> Problem:
    said = {
        "expired": "This quote has expired. Ask for another.",
        "accepted": "This quote was accepted already.",
        "declined": "This quote was declined already.",
    }.get(row.status, "This quote cannot be answered any more.")
    return invalid_state(said, row.status, ("sent",))
