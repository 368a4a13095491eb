"""Tells through the outbox of invoices whose due date has passed with money still due: once for a due date.

What was told stands in the row, written in the transaction of the event: a kill neither loses an event nor sends it
twice. Nothing else rests on it: whether an invoice is overdue follows from dates alone.
"""

import datetime
from typing import Final

from gatewayd import events
from gatewayd.areas.accounting.invoices import rows
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import InvoiceRow
from gatewayd.clock import london_date
from gatewayd.store import ReadTx, WriteTx

TOLD_AT_ONCE: Final = 50  # Chosen: rows in one transaction, some milliseconds

_SELECT_PASSED_ANY_ORG = """
SELECT org_id, id FROM invoices
WHERE open_due_date IS NOT NULL AND (overdue_for IS NULL OR overdue_for <> open_due_date) AND open_due_date < :today
ORDER BY open_due_date, id LIMIT :count
"""


def is_silent(tx: ReadTx) -> bool:
    """Whether there is nothing to tell."""
    return tx.row(_SELECT_PASSED_ANY_ORG, today=tx.today, count=1) is None


def tell_some(tx: WriteTx) -> None:
    """Tell of some of what there is to tell of, in all organizations."""
    for org_id, id_ in tx.rows(_SELECT_PASSED_ANY_ORG, today=tx.today, count=TOLD_AT_ONCE):
        tx.bind(org_id)
        row = INVOICES.get(tx, id_)
        if _was_known(row):
            events.append(tx, "invoice.overdue", _data(tx, row))
        rows.mark_overdue(tx, id_)


def _was_known(row: InvoiceRow) -> bool:
    """Whether it stood in the books on its due date.

    Chosen: as with deadlines and rent, what was due before it came into the books is no news, or the import of
    another program's invoices would tell of years.
    """
    return london_date(row.created_at) <= row.due_date


def _data(tx: ReadTx, row: InvoiceRow) -> dict[str, object]:
    passed = datetime.date.fromisoformat(tx.today) - datetime.date.fromisoformat(row.due_date)
    return {
        "invoice_id": row.id,
        "client_id": row.client_id,
        "business_id": row.business_id,
        "number": row.number,
        "due_date": row.due_date,
        "days_overdue": passed.days,
        "balance_due": str(row.balance_due),
        "currency": row.currency,
    }
