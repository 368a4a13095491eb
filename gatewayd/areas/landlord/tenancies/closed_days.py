"""Rents that fell due on days of closed periods, which count there on accruals, and stay what they were (Domain C1)."""

from gatewayd.areas.landlord.register import rent_terms
from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow
from gatewayd.ledger.allocating import lets
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.rents import schedule
from gatewayd.ledger.rents.schedule import Due
from gatewayd.ledger.taxpayers import businesses
from gatewayd.store import ReadTx


def refuse_moved_rents(tx: ReadTx, before: TenancyRow | None, after: TenancyRow) -> None:
    """Raises `Problem` `period_closed` where a locked day would have other rents. `before` None: it is new.

    Chosen: of a business on accruals alone, for on cash basis nothing that counts follows from what falls due.
    """
    let = lets.find(tx, after.property_id)
    business = None if let is None else businesses.find(tx, let.business_id)
    if business is None or business.accounting_basis != "accruals":
        return
    for first, last, lock in period_locks.ranges_of(tx, business.legal_entity_id, business.id):
        was, becomes = _dues(before, first, last), _dues(after, first, last)
        moved = next((due for due in sorted(was ^ becomes)), None)
        if moved is not None:
            period_locks.refuse_lock(tx, moved.first, lock)


def _dues(row: TenancyRow | None, first: str, last: str) -> set[Due]:
    if row is None or row.cancelled_at is not None:
        return set()
    return set(schedule.dues(rent_terms.of_row(row), first, last))
