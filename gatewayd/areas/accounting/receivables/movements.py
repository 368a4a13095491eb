"""What changed a client's account, each on its day. Reads only.

An invoice raises what is owed on its issue date, a credit note lowers it on its own, and a payment on the day it came.
A payment or refund of the client is for several invoices, or for none yet: it has a row for each of them (`parts`), and
one of what is on account. Credit that is set against an invoice changes what is left of two, and not the account.
A write-off takes off what is unpaid of it: what comes afterwards, once the rest is paid, lessens it again.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from gatewayd.areas.accounting.receivables.shapes import StatementLineKind
from gatewayd.store import ReadTx

ON_ACCOUNT: Final = ""
"""What a movement settles that is for no invoice."""
_DUE = "gross_total - cis_deduction"
_OF_CLIENT = """
WHERE invoices.org_id = :org_id AND client_id = :client_id AND status <> 'draft' AND status <> 'void'
""".strip()
_INVOICES = f"""
SELECT invoices.currency, issue_date AS day, 1 AS rank, number, 0 AS position, id, id AS settles, reference, due_date,
    {_DUE} AS change, NULL AS client_payment_id
FROM invoices {_OF_CLIENT} AND kind = 'invoice' AND issue_date <= :day
"""
_CREDIT_NOTES = f"""
SELECT invoices.currency, issue_date, 2, number, 0, id, credits_invoice_id, reference, NULL, -({_DUE}), NULL
FROM invoices {_OF_CLIENT} AND kind = 'credit_note' AND issue_date <= :day
"""
_PAYMENTS = f"""
SELECT invoices.currency, date, 3, number, position, id, id, invoice_payments.reference, NULL, -amount,
    client_payment_id
FROM invoices JOIN invoice_payments ON invoice_id = invoices.id AND invoice_payments.org_id = :org_id
{_OF_CLIENT} AND date <= :day
"""
_CLIENT_PAYMENTS = """
SELECT invoices.currency, date, CASE WHEN kind = 'refund' THEN 4 ELSE 3 END, '', 0, NULL, '', reference, NULL,
    -on_account, id
FROM client_payments AS invoices WHERE org_id = :org_id AND client_id = :client_id AND date <= :day
"""
_WRITE_OFFS = f"""
SELECT invoices.currency, date, 5, number, 0, id, id, NULL, NULL, -amount, NULL
FROM invoices JOIN invoice_write_offs ON invoice_id = invoices.id AND invoice_write_offs.org_id = :org_id
{_OF_CLIENT} AND date <= :day
"""
_FILTERS: Final = {
    "currency": "invoices.currency = :currency",
    "legal_entity_id": "legal_entity_id = :legal_entity_id",
}
_SELECTS: Final = (_INVOICES, _CREDIT_NOTES, _PAYMENTS, _CLIENT_PAYMENTS, _WRITE_OFFS)
_KINDS: Final[dict[int, StatementLineKind]] = {
    1: "invoice",
    2: "credit_note",
    3: "payment",
    4: "refund",
    5: "write_off",
}
_DAY, _RANK, _NUMBER, _POSITION, _CLIENT_PAYMENT = 1, 2, 3, 4, 10


class Movement(NamedTuple):
    """`day` and `due_date` are ISO, `change` minor units of `currency`.

    `settles` is the invoice whose balance it changes, or `ON_ACCOUNT`; `due_date` None: it is no invoice.
    `invoice_id` and `number` None: none is named. `client_payment_id` None: it is no part of one.
    """

    currency: str
    day: str
    kind: StatementLineKind
    invoice_id: str | None
    number: str | None
    settles: str
    reference: str | None
    due_date: str | None
    change: int
    client_payment_id: str | None


def of_client(tx: ReadTx, client_id: str, until: str, filters: Mapping[str, str]) -> list[Movement]:
    """All that changed an account until an ISO date, that day included, in order. `filters` are by `_FILTERS`."""
    conditions = "".join(f" AND {_FILTERS[name]}" for name in filters)
    sql = " UNION ALL ".join(part.rstrip() + conditions for part in _SELECTS)
    found = tx.rows(sql, client_id=client_id, day=until, **filters)
    found.sort(key=lambda row: (row[_DAY], row[_RANK], row[_NUMBER], row[_POSITION], row[_CLIENT_PAYMENT] or ""))
    return _written_off(
        [
            Movement(currency, day, _KINDS[rank], id_, number or None, settles, reference, due_date, change, payment)
            for currency, day, rank, number, _, id_, settles, reference, due_date, change, payment in found
        ]
    )


def _written_off(movements: list[Movement]) -> list[Movement]:
    """The same, where a write-off is of no more than is unpaid, and is followed by what lessens it.

    At the end of each day what is written off is what was, or what is unpaid by then, whichever is less.
    """
    amounts = {each.settles: -each.change for each in movements if each.kind == "write_off"}
    unpaid, off = dict.fromkeys(amounts, 0), dict.fromkeys(amounts, 0)
    begun: dict[str, Movement] = {}
    kept: list[Movement] = []
    for each in movements:
        its = each.settles
        if its not in amounts:
            kept.append(each)
            continue
        if each.kind == "write_off":
            begun[its] = each
        else:
            kept.append(each)
            unpaid[its] += each.change
        if its in begun:
            now = max(0, min(amounts[its], unpaid[its]))
            if now != off[its]:
                kept.append(begun[its]._replace(day=each.day, change=off[its] - now))
                off[its] = now
    return kept


def whole(movements: Iterable[Movement]) -> list[Movement]:
    """The same with the parts of each client payment as one, and without what leaves the account as it was.

    An order of days, and of what they are, is kept. One that is for one invoice alone names it.
    """
    kept: list[Movement] = []
    parts: dict[str, list[Movement]] = {}
    for each in movements:
        if each.client_payment_id is None:
            kept.append(each)
        else:
            parts.setdefault(each.client_payment_id, []).append(each)
    joined = [_joined(its) for its in parts.values()]
    kept += [each for each in joined if each.change]
    rank = {kind: number for number, kind in _KINDS.items()}
    return sorted(kept, key=lambda each: (each.day, rank[each.kind]))


def _joined(parts: list[Movement]) -> Movement:
    head = next(part for part in parts if part.settles == ON_ACCOUNT)
    change = sum(part.change for part in parts)
    others = [part for part in parts if part.settles != ON_ACCOUNT]
    if len(others) == 1 and not head.change:
        return head._replace(change=change, invoice_id=others[0].invoice_id, number=others[0].number)
    return head._replace(change=change)
