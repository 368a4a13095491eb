"""What changed a client's account, each on its day. Reads only.

An invoice raises what is owed on its issue date, a credit note lowers it on its own, and a payment on the day it came.
"""

from collections.abc import Mapping
from operator import itemgetter
from typing import Final, NamedTuple

from gatewayd.areas.accounting.receivables.shapes import StatementLineKind
from gatewayd.store import ReadTx

_DUE = "gross_total - cis_deduction"
_OF_CLIENT = """
WHERE invoices.org_id = :org_id AND client_id = :client_id AND status <> 'draft' AND status <> 'void'
""".strip()
_INVOICES = f"""
SELECT invoices.currency, issue_date AS day, 1 AS rank, number, 0 AS position, id, id AS settles, reference, due_date,
    {_DUE} AS change
FROM invoices {_OF_CLIENT} AND kind = 'invoice' AND issue_date <= :day
"""
_CREDIT_NOTES = f"""
SELECT invoices.currency, issue_date, 2, number, 0, id, credits_invoice_id, reference, NULL, -({_DUE})
FROM invoices {_OF_CLIENT} AND kind = 'credit_note' AND issue_date <= :day
"""
_PAYMENTS = f"""
SELECT invoices.currency, date, 3, number, position, id, id, invoice_payments.reference, NULL, -amount
FROM invoices JOIN invoice_payments ON invoice_id = invoices.id AND invoice_payments.org_id = :org_id
{_OF_CLIENT} AND date <= :day
"""
_FILTERS: Final = {
    "currency": "invoices.currency = :currency",
    "legal_entity_id": "legal_entity_id = :legal_entity_id",
}
_KINDS: Final[dict[int, StatementLineKind]] = {1: "invoice", 2: "credit_note", 3: "payment"}
_ORDER = itemgetter(1, 2, 3, 4, 5)


class Movement(NamedTuple):
    """`day` and `due_date` are ISO, `change` minor units of `currency`.

    `settles` is the invoice whose balance it changes; `due_date` None: it is no invoice.
    """

    currency: str
    day: str
    kind: StatementLineKind
    invoice_id: str
    number: str
    settles: str
    reference: str | None
    due_date: str | None
    change: int


def of_client(tx: ReadTx, client_id: str, until: str, filters: Mapping[str, str]) -> list[Movement]:
    """All that changed an account until an ISO date, that day included, in order. `filters` are by `_FILTERS`."""
    conditions = "".join(f" AND {_FILTERS[name]}" for name in filters)
    sql = " UNION ALL ".join(part.rstrip() + conditions for part in (_INVOICES, _CREDIT_NOTES, _PAYMENTS))
    found = tx.rows(sql, client_id=client_id, day=until, **filters)
    return [
        Movement(currency, day, _KINDS[rank], id_, number, settles, reference, due_date, change)
        for currency, day, rank, number, _, id_, settles, reference, due_date, change in sorted(found, key=_ORDER)
    ]
