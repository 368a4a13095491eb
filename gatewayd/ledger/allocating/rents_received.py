"""Rent that came: what is allocated to a tenancy as rent (Domain B4, C3). Owns the table `rents_received`.

What was given back counts against it, and what was written off with it: it is owed no more. Chosen: only money of the
tenancy's own currency.

    amount       of all dates, so that who looks at many tenancies reads one row of each
    unpaid_from  when the first rent falls due that this does not pay whole, be it in years; NULL: it pays all there
                 will ever be, or nothing is due; empty: nobody has worked it out yet

Both are kept with each change of an allocation, the second with each change of a tenancy too. No day changes either:
who is in arrears on a day has a rent unpaid that was due by then.
"""

from typing import Final, Literal

from gatewayd.clock import LAST_DATE
from gatewayd.ledger.allocating.allocation_shapes import Allocation
from gatewayd.ledger.allocating.categories import PROPERTY_TYPES, Category
from gatewayd.ledger.rents import schedule, stored_terms
from gatewayd.ledger.rents.ladder import Payment
from gatewayd.store import ReadTx, Row, WriteTx

_TERMS: Final = 4  # how many columns go before those of the terms, the first of which is the currency
_RENT: Final[frozenset[Category]] = frozenset({"periodAmount", "rentARoomRentsReceived", "turnover"})
IS_RENT = "(category = 'periodAmount' OR category = 'rentARoomRentsReceived' OR category = 'turnover')"
"""In statements on allocations with a tenancy: those that are rent. A company that trades counts it as turnover."""
WRITTEN_OFF = "(category = 'not_pnl' AND purpose = 'rent_written_off')"
"""And those that say it will never come: they settle what is owed, and no money is in them."""
_SETTLES = f"({IS_RENT} OR {WRITTEN_OFF})"
_SIGNED = "CASE WHEN direction = 'in' THEN amount ELSE -amount END"
_AMOUNT = f"coalesce(sum({_SIGNED}), 0)"
_ADD = """
INSERT INTO rents_received (org_id, tenancy_id, currency, amount) VALUES (:org_id, :tenancy_id, :currency, :amount)
ON CONFLICT (org_id, tenancy_id, currency) DO UPDATE SET amount = rents_received.amount + excluded.amount
"""
LATER: Final = f"""
SELECT tenancy_id, currency, sum({_SIGNED}) AS came FROM allocations
WHERE org_id = :org_id AND property_id IS NOT NULL AND date > :day AND tenancy_id IS NOT NULL AND {_SETTLES}
GROUP BY tenancy_id, currency
""".strip()
"""What came for tenancies after the ISO date `:day`, less what was given back: a statement to select from."""
_KEPT = f"""
SELECT tenancies.id, coalesce(rents_received.amount, 0), rents_received.unpaid_from, cancelled_at IS NOT NULL,
    {stored_terms.COLUMNS}
FROM tenancies LEFT JOIN rents_received ON rents_received.org_id = tenancies.org_id
    AND rents_received.tenancy_id = tenancies.id AND rents_received.currency = tenancies.currency
WHERE tenancies.org_id = :org_id
"""
_SELECT_KEPT = f"{_KEPT} AND tenancies.id = :tenancy_id"
_SELECT_NEXT = f"{_KEPT} AND tenancies.id > :after ORDER BY tenancies.id LIMIT :count"
_KEEP_UNPAID = """
INSERT INTO rents_received (org_id, tenancy_id, currency, amount, unpaid_from)
VALUES (:org_id, :tenancy_id, :currency, 0, :unpaid_from)
ON CONFLICT (org_id, tenancy_id, currency) DO UPDATE SET unpaid_from = excluded.unpaid_from
"""
_SUM = f"""
SELECT {_AMOUNT} FROM allocations
WHERE org_id = :org_id AND tenancy_id = :tenancy_id AND date <= :day AND currency = :currency AND {_SETTLES}
"""
_SELECT = f"""
SELECT id, date, {_SIGNED}, CASE WHEN {WRITTEN_OFF} THEN 1 ELSE 0 END FROM allocations
WHERE org_id = :org_id AND tenancy_id = :tenancy_id AND currency = :currency AND {_SETTLES} ORDER BY date, id
"""


def note(tx: WriteTx, before: Allocation | None, after: Allocation | None) -> None:
    """Keep the sums true where an allocation has changed. `before` None: it is new; `after` None: it is gone."""
    if before is not None and after is not None and _counted(before) == _counted(after):
        return
    for row, sign in ((before, -1), (after, 1)):
        if row is not None and (of := _counted(row)) is not None:
            tenancy_id, currency, amount = of
            tx.run(_ADD, tenancy_id=tenancy_id, currency=currency, amount=sign * amount)
            note_unpaid(tx, tenancy_id)


def note_unpaid(tx: WriteTx, tenancy_id: str) -> None:
    """Keep `unpaid_from` true where a tenancy, or what came for it, has changed."""
    row = tx.row(_SELECT_KEPT, tenancy_id=tenancy_id)
    assert row is not None
    unpaid_from = _unpaid_from(row)
    if unpaid_from != row[2]:
        tx.run(_KEEP_UNPAID, tenancy_id=tenancy_id, currency=row[_TERMS], unpaid_from=unpaid_from)


def _unpaid_from(row: Row) -> str | None:
    """The column, of a row of `_KEPT`."""
    _, amount, _, cancelled, *columns = row
    if cancelled:
        return None
    return schedule.oldest_unpaid(stored_terms.terms_of(*columns), LAST_DATE, amount)


def _counted(row: Allocation) -> tuple[str, str, int] | None:
    """Tenancy, currency, and signed minor units of what settles rent; None: it does not."""
    settles = row.category in _RENT or row.purpose == "rent_written_off"
    return None if row.tenancy_id is None or not settles else (row.tenancy_id, row.currency, row.signed)


def stale(tx: ReadTx, after: str, count: int) -> list[tuple[str, bool]]:
    """The next tenancies after an id, and of each whether what is kept is not what its allocations and terms give."""
    return [(row[0], _is_wrong(tx, row)) for row in tx.rows(_SELECT_NEXT, after=after, count=count)]


def _is_wrong(tx: ReadTx, row: Row) -> bool:
    tenancy_id, amount, unpaid_from, *_ = row
    came = tx.value(_SUM, tenancy_id=tenancy_id, currency=row[_TERMS], day=LAST_DATE)
    return bool(amount != came) or unpaid_from not in ("", _unpaid_from(row))


def category_of(business_type: str, use: str) -> Literal["periodAmount", "rentARoomRentsReceived", "turnover"]:
    """The line of the rent of a property of such use, in a business of such a type."""
    if business_type not in PROPERTY_TYPES:
        return "turnover"
    return "rentARoomRentsReceived" if use == "rent_a_room" else "periodAmount"


def of_tenancy(tx: ReadTx, tenancy_id: str, currency: str) -> list[Payment]:
    """All rent of a tenancy, of any day, in the order of the dates."""
    return [Payment(*row) for row in tx.rows(_SELECT, tenancy_id=tenancy_id, currency=currency)]


def until(tx: ReadTx, tenancy_id: str, currency: str, day: str) -> int:
    """The rent of a tenancy that came by the end of an ISO date, less what was given back, in minor units.

    Chosen: it is not below 0, for who gives back more than came makes nobody a debtor.
    """
    return max(int(tx.value(_SUM, tenancy_id=tenancy_id, currency=currency, day=day)), 0)
