"""What was owed on mortgages on days of closed periods, which stays what it was (Domain B4, B9)."""

from collections.abc import Iterator

from gatewayd.areas.landlord.mortgages import rules
from gatewayd.areas.landlord.mortgages.rows import loan_of
from gatewayd.areas.landlord.mortgages.shapes import Mortgage
from gatewayd.areas.landlord.register.properties import PROPERTIES
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.calendar.period_locks import LockState
from gatewayd.ledger.loans.amortising import Loan, balance_on
from gatewayd.ledger.taxpayers import businesses
from gatewayd.store import ReadTx


def kept(tx: ReadTx, before: Mortgage, after: Mortgage) -> Mortgage:
    """The mortgage as it may become another. Raises `Problem` `period_closed` where a closed day would show other debt.

    Chosen: the lender's first word always comes late, and does not reach back into a closed period: the months before
    it stay those that follow from what was lent.
    """
    locked = _moved(tx, before, after)
    if locked and after.balance_history:
        after = rules.not_reaching_back(after)
        locked = _moved(tx, before, after)
    for day, lock in locked:
        period_locks.refuse_lock(tx, day, lock)
    return after


def _moved(tx: ReadTx, before: Mortgage, after: Mortgage) -> list[tuple[str, LockState]]:
    """Locked days on which what is owed would be another, and how each is locked."""
    was, becomes = loan_of(before), loan_of(after)
    if was == becomes:
        return []
    return [
        (day, lock)
        for first, last, lock in _ranges(tx, before)
        for day in _days((was, becomes), first, last)
        if balance_on(was, day) != balance_on(becomes, day)
    ]


def _ranges(tx: ReadTx, row: Mortgage) -> list[tuple[str, str, LockState]]:
    business = businesses.find(tx, PROPERTIES.get(tx, row.property_id).business_id)
    assert business is not None  # a foreign key
    return period_locks.ranges_of(tx, business.legal_entity_id, business.id)


def _days(loans: tuple[Loan, Loan], first: str, last: str) -> Iterator[str]:
    """Days of a range that show whether two loans differ in it: its ends, and those on which something was said."""
    told = {balance.date for loan in loans for balance in loan.balances}
    told |= {day for loan in loans for day in (loan.start, loan.redeemed) if day is not None}
    yield from sorted({first, last, *(day for day in told if first <= day <= last)})
