"""The entries of a business, as far as others ask for them: the day of the last one. Reads only."""

from gatewayd.ledger.results.allocated_money import Basis
from gatewayd.store import ReadTx

_SELECT_LAST_MONEY = """
SELECT max(date) FROM allocations
WHERE org_id = :org_id AND business_id = :business_id AND category <> 'not_pnl'
"""
_SELECT_LAST_BILL = """
SELECT max(coalesce(document_date, date)) FROM allocations
WHERE org_id = :org_id AND business_id = :business_id AND category <> 'not_pnl'
"""
_SELECT_LAST_SUPPLY = """
SELECT max(supply_date) FROM invoices
WHERE org_id = :org_id AND business_id = :business_id AND status <> 'draft' AND status <> 'void'
"""


def last_date(tx: ReadTx, business_id: str, basis: Basis) -> str | None:
    """The ISO date of the last income, expense or supply of a business; None: it has none.

    Chosen: drawings, and clients who pay for what was supplied before, may come after its end.
    """
    money = tx.value(_SELECT_LAST_MONEY if basis == "cash" else _SELECT_LAST_BILL, business_id=business_id)
    dates = (money, tx.value(_SELECT_LAST_SUPPLY, business_id=business_id))
    return max((date for date in dates if date is not None), default=None)
