"""Quotes as they are stored. Owns the table `quotes`.

That a quote has expired follows from its day, and is stored nowhere. What was invoiced of it is kept with each change
of one of its invoices, in the same transaction.
"""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.accounting.quotes.shapes import QuoteStatus, StoredQuote
from gatewayd.money import Money
from gatewayd.store import ReadTx, RemovableTable, WriteTx


def _status(tx: ReadTx, row: StoredQuote) -> QuoteStatus:
    return "expired" if row.state == "sent" and row.valid_until < tx.today else row.state


QUOTES: Final = RemovableTable("quotes", StoredQuote, kind="quote", prefix="quo", derived={"status": _status})
OF_STATUS: Final[Mapping[QuoteStatus, str]] = {
    "draft": " AND state = 'draft'",
    "sent": " AND state = 'sent' AND valid_until >= :today",
    "accepted": " AND state = 'accepted'",
    "declined": " AND state = 'declined'",
    "expired": " AND state = 'sent' AND valid_until < :today",
    "invoiced": " AND state = 'invoiced'",
}
"""The condition of each state; of `sent` and `expired` on the day `:today`."""
_SELECT_ISSUED = """
SELECT count(*), coalesce(sum(gross_total), 0) FROM invoices
WHERE org_id = :org_id AND quote_id = :id AND kind = 'invoice' AND status NOT IN ('draft', 'void')
"""
_SELECT_CREDITED = """
SELECT coalesce(sum(notes.gross_total), 0)
FROM invoices JOIN invoices AS notes ON notes.org_id = invoices.org_id AND notes.credits_invoice_id = invoices.id
WHERE invoices.org_id = :org_id AND invoices.quote_id = :id AND notes.status NOT IN ('draft', 'void')
"""
_SELECT_INVOICES = """
SELECT id FROM invoices
WHERE org_id = :org_id AND quote_id = :id AND kind = 'invoice' AND status <> 'void' ORDER BY id
"""


def invoices_of(tx: ReadTx, quote_id: str) -> list[str]:
    """The ids of the invoices of a quote that are not void, the oldest first."""
    return [str(invoice_id) for (invoice_id,) in tx.rows(_SELECT_INVOICES, id=quote_id)]


def settle(tx: WriteTx, quote_id: str) -> None:
    """Keep what is invoiced of a quote, and whether that is all, after one of its invoices has changed."""
    row = QUOTES.get(tx, quote_id)
    if row.state not in ("accepted", "invoiced"):
        return
    count, gross = tx.rows(_SELECT_ISSUED, id=quote_id)[0]
    invoiced = Money(gross - tx.value(_SELECT_CREDITED, id=quote_id), row.currency)
    state = "invoiced" if count and invoiced >= row.gross_total else "accepted"
    if (invoiced, state) != (row.invoiced_total, row.state):
        QUOTES.update(tx, replace(row, invoiced_total=invoiced, state=state))
