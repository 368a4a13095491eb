"""What is owed to suppliers and claimants at the end of a day, by currency and age. Reads only.

A bill is what its supplier charges with VAT, from its date on; a credit note takes from it on its own date, a payment
on the day it was made. An expense claim is owed to who paid, whatever supplier it names. Chosen: what is void now never
was, whenever it was voided, since it was a mistake that nobody was owed; so it is with invoices.

It is what is owed now, less what came after that day.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gatewayd.areas.accounting.receivables.placing import PLACE, Aged, bounds
from gatewayd.store import ReadTx

_COUNTS = "status <> 'draft' AND status <> 'void'"
_CLAIM = "kind = 'expense_claim'"
_WHOSE = f"""
CASE WHEN {_CLAIM} THEN NULL ELSE supplier_id END AS supplier_id, claimant, currency, due_date, legal_entity_id
""".strip()
_NOW = f"""
SELECT id, {_WHOSE}, balance_due AS change FROM bills WHERE org_id = :org_id AND balance_due <> 0 AND {_COUNTS}
"""
_PAID_LATER = f"""
SELECT id, {_WHOSE}, amount FROM bill_payments JOIN bills ON bills.id = bill_id AND bills.org_id = :org_id
WHERE bill_payments.org_id = :org_id AND date > :day
"""
_CREDITED_LATER = f"""
SELECT bills.id, {_WHOSE}, credited FROM bills JOIN (
    SELECT credits_bill_id AS of_id, gross_total AS credited FROM bills
    WHERE org_id = :org_id AND bill_date > :day AND credits_bill_id IS NOT NULL AND {_COUNTS}
) AS notes ON of_id = bills.id
WHERE bills.org_id = :org_id
"""
_CHARGED_LATER = f"""
SELECT id, {_WHOSE}, -gross_total FROM bills
WHERE org_id = :org_id AND bill_date > :day AND kind <> 'credit_note' AND {_COUNTS}
"""
_FILTERS = " AND ".join(
    f"(CAST(:{name} AS TEXT) IS NULL OR {name} = :{name})"
    for name in ("supplier_id", "claimant", "currency", "legal_entity_id")
)
_SELECT_AGED = f"""
SELECT supplier_id, coalesce(name, claimant), placed.currency, place, sum(balance)
FROM (
    SELECT supplier_id, claimant, currency, balance, {PLACE} AS place
    FROM (
        SELECT supplier_id, claimant, currency, due_date, sum(change) AS balance
        FROM ({_NOW} UNION ALL {_PAID_LATER} UNION ALL {_CREDITED_LATER} UNION ALL {_CHARGED_LATER}) AS changes
        WHERE {_FILTERS}
        GROUP BY id, supplier_id, claimant, currency, due_date HAVING sum(change) <> 0
    ) AS balances
) AS placed LEFT JOIN clients ON clients.id = supplier_id AND clients.org_id = :org_id
GROUP BY supplier_id, name, claimant, placed.currency, place
"""


class Wanted(NamedTuple):
    """Who is owed, and what; None: all. `claimant` is a name, as claims have it."""

    supplier_id: str | None
    claimant: str | None
    currency: str | None
    legal_entity_id: str | None


def at_end_of(tx: ReadTx, day: str, firsts: Sequence[str], wanted: Wanted) -> list[Aged]:
    """What is owed at the end of an ISO date, in no order.

    `firsts` are the earliest due dates of all bands but the last (`ageing.first_due_dates`).
    """
    return [Aged._make(row) for row in tx.each(_SELECT_AGED, day=day, **bounds(firsts), **wanted._asdict())]
