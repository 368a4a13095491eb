"""What is owed at the end of a day, by client, currency and age. Reads only.

An invoice is what it came to with VAT, less its CIS deduction; a credit note takes from it on its issue date, a payment
on its own. What a client has on account was paid for no invoice yet. What was written off is owed no more from that day
on, as far as it is unpaid: what comes after all lessens it. Chosen: what is void now never was, whenever it was voided,
since it was a mistake that nobody owed.

It is what is owed now, less what came after that day, so that it costs a look at what is open and at what changed
since, however many invoices were paid long ago.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gatewayd.areas.accounting.receivables.placing import PLACE, Aged, bounds
from gatewayd.store import ReadTx

_WHAT = "invoices.id, client_id, currency, due_date, legal_entity_id"
_COUNTS = "status <> 'draft' AND status <> 'void'"
# An invoice that is open is found in the index alone
_OPEN = """
SELECT id, client_id, currency, open_due_date AS due_date, legal_entity_id, balance_due AS change, 0 AS written_off
FROM invoices WHERE org_id = :org_id AND open_due_date IS NOT NULL
"""
_OVERPAID = f"""
SELECT {_WHAT}, balance_due, 0 FROM invoices WHERE org_id = :org_id AND balance_due < 0
"""
_ON_ACCOUNT = """
SELECT '', client_id, currency, '', legal_entity_id, -on_account, 0 FROM client_payments
WHERE org_id = :org_id AND date <= :day AND on_account <> 0
"""
_PAID_LATER = f"""
SELECT {_WHAT}, amount, 0 FROM invoice_payments JOIN invoices ON invoices.id = invoice_id AND invoices.org_id = :org_id
WHERE invoice_payments.org_id = :org_id AND date > :day
"""
_CREDITED_LATER = f"""
SELECT {", ".join(f"invoices.{name}" for name in ("id", "client_id", "currency", "due_date", "legal_entity_id"))},
    notes.gross_total - notes.cis_deduction, 0
FROM invoices AS notes JOIN invoices ON invoices.id = notes.credits_invoice_id AND invoices.org_id = :org_id
WHERE notes.org_id = :org_id AND notes.issue_date > :day AND notes.credits_invoice_id IS NOT NULL
    AND notes.status <> 'draft' AND notes.status <> 'void'
"""
_ISSUED_LATER = f"""
SELECT {_WHAT}, cis_deduction - gross_total, 0 FROM invoices
WHERE org_id = :org_id AND issue_date > :day AND kind = 'invoice' AND {_COUNTS}
"""
_UNPAID = "(gross_total - cis_deduction - paid_total - credited_total)"
# What is due now lacks what of a write-off is unpaid: it is put back, and taken off by what was unpaid on the day
_WRITTEN_OFF = f"""
SELECT {_WHAT}, CASE WHEN {_UNPAID} < 0 THEN 0 WHEN {_UNPAID} < amount THEN {_UNPAID} ELSE amount END,
    CASE WHEN date <= :day THEN amount ELSE 0 END
FROM invoice_write_offs JOIN invoices ON invoices.id = invoice_id AND invoices.org_id = :org_id
WHERE invoice_write_offs.org_id = :org_id
"""
_LEFT = """
CASE WHEN sum(change) <= 0 THEN sum(change) WHEN sum(change) <= sum(written_off) THEN 0
    ELSE sum(change) - sum(written_off) END
""".strip()
_FILTERS = " AND ".join(
    f"(CAST(:{name} AS TEXT) IS NULL OR {name} = :{name})" for name in ("client_id", "currency", "legal_entity_id")
)
_SELECT_AGED = f"""
SELECT client_id, name, placed.currency, place, sum(balance)
FROM (
    SELECT client_id, currency, balance, {PLACE} AS place
    FROM (
        SELECT client_id, currency, due_date, {_LEFT} AS balance
        FROM (
            {_OPEN} UNION ALL {_OVERPAID} UNION ALL {_ON_ACCOUNT} UNION ALL {_WRITTEN_OFF}
            UNION ALL {_PAID_LATER} UNION ALL {_CREDITED_LATER} UNION ALL {_ISSUED_LATER}
        ) AS changes
        WHERE {_FILTERS}
        GROUP BY id, client_id, currency, due_date HAVING sum(change) <> 0
    ) AS balances
    WHERE balance <> 0
) AS placed JOIN clients ON clients.id = client_id AND clients.org_id = :org_id
GROUP BY client_id, name, placed.currency, place
"""


class Wanted(NamedTuple):
    """Of whom and what; None: of all."""

    client_id: str | None
    currency: str | None
    legal_entity_id: str | None


def at_end_of(tx: ReadTx, day: str, firsts: Sequence[str], wanted: Wanted) -> list[Aged]:
    """What is owed at the end of an ISO date, in no order.

    `firsts` are the earliest due dates of all bands but the last (`ageing.first_due_dates`).
    """
    return [Aged._make(row) for row in tx.each(_SELECT_AGED, day=day, **bounds(firsts), **wanted._asdict())]
