"""The mortgage resource (Spec §4, Domain A4 and B4): its operations.

What was owed on days of closed periods stays what it was (Domain B9).
"""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.landlord.mortgages import rules
from gatewayd.areas.landlord.mortgages.rows import MORTGAGES, loan_of
from gatewayd.areas.landlord.mortgages.shapes import (
    CreateMortgage,
    GetMortgage,
    ListMortgages,
    Mortgage,
    RateStep,
    StatedBalance,
    UpdateMortgage,
)
from gatewayd.areas.landlord.register import properties, whose
from gatewayd.areas.landlord.register.properties import PROPERTIES
from gatewayd.contract.caller import Caller
from gatewayd.contract.faults import made_of
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, gathered, invalid, invalid_field
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.calendar.period_locks import LockState
from gatewayd.ledger.lists import table_page
from gatewayd.ledger.loans.amortising import Loan, balance_on
from gatewayd.ledger.taxpayers import businesses
from gatewayd.store import ReadTx, WriteTx

_WHOSE = whose.by_property("mortgages")
_BY_END = " AND (rate_end_date, id) > (:after_date, :after_id) ORDER BY rate_end_date, id LIMIT :count"


def list_mortgages(tx: ReadTx, caller: Caller, request: ListMortgages) -> Listing[Mortgage]:
    """List mortgages, newest first, or in the order of change with `updatedSince`.

    With `rateEndDateBefore` they come by the day on which their rate ends, rates that have ended already first.
    """
    filters = _filters(request, tx.today)
    if request.rate_end_date_before is None or request.updated_since is not None:
        return table_page(tx, request, MORTGAGES, filters)
    after_date, after_id = cursor_key(request, str, str) or ("", "")
    in_force = {condition: value for condition, value in filters.items() if value is not None}
    values = {condition.rpartition(":")[2].rstrip(")"): value for condition, value in in_force.items()}
    sql = " AND ".join([MORTGAGES.select, *in_force]) + _BY_END
    rows = tx.each(sql, after_date=after_date, after_id=after_id, count=request.limit + 1, **values)
    items: list[bytes] = []

    def size(row: Mortgage) -> int:
        items.append(encode(row))
        return len(items[-1])

    taken, more = fill((MORTGAGES.read(tx, row) for row in rows), request.limit, size)
    cursor = next_cursor(request, (taken[-1].rate_end_date or "", taken[-1].id)) if more else None
    return Listing.of(items[: len(taken)], cursor)


def _filters(request: ListMortgages, today: str) -> dict[str, object]:
    """Each condition with the value of the one parameter that it ends with; None: it is not asked for."""
    status, ends_before = request.status, request.rate_end_date_before
    if ends_before is not None and status is None:
        status = "active"  # Chosen: a loan that is repaid needs no new rate
    return {
        "property_id = :property_id": request.property_id,
        **_WHOSE.filters(request),
        "type = :type": request.type,
        "rate_type = :rate_type": request.rate_type,
        "(redeemed_date IS NULL OR redeemed_date > :redeemed_after)": today if status == "active" else None,
        "redeemed_date <= :redeemed_by": today if status == "redeemed" else None,
        "rate_end_date < :rate_end_date_before": None if ends_before is None else ends_before.isoformat(),
        "external_id = :external_id": request.external_id,
    }


def get_mortgage(tx: ReadTx, caller: Caller, request: GetMortgage) -> Mortgage:
    """Get one mortgage as it is today, redeemed or not."""
    return MORTGAGES.get(tx, request.id)


def create_mortgage(tx: WriteTx, caller: Caller, request: CreateMortgage) -> Mortgage:
    """Create a mortgage of a property, in the property's currency.

    A loan over several properties is entered as a mortgage of each. Without `monthlyPayment` the balance of a repayment
    mortgage is estimated by its `termMonths`; with neither, as if nothing were repaid.
    """
    errors = [*rules.balance_mistakes(request.current_balance, request.balance_date)]
    owner = gathered(errors, properties.in_use, tx, request.property_id)
    if owner is not None and request.currency not in (None, owner.currency):
        message = f"The property is kept in {owner.currency}: expected that, or leave this out."
        errors.append(FieldError("currency", "currency_mismatch", message))
    currency = request.currency or ("GBP" if owner is None else owner.currency)
    untold = [] if owner is None and request.currency is None else errors
    masked = rules.masked(request.account_number_masked)
    row = made_of(
        untold,
        lambda asked: MORTGAGES.new(tx, asked, currency=currency, account_number_masked=masked),
        request,
    )
    row = replace(
        row,
        rate_history=[RateStep(from_date=row.start_date, interest_rate=row.interest_rate)],
        balance_history=[]
        if row.current_balance is None or row.balance_date is None
        else [StatedBalance(date=row.balance_date, amount=str(row.current_balance))],
    )
    return MORTGAGES.insert(tx, _checked(tx, row, errors))


def update_mortgage(tx: WriteTx, caller: Caller, request: UpdateMortgage) -> Mortgage:
    """Change the given fields of a mortgage: a new rate, a new balance, its redemption, or a mistake.

    Former rates and balances stay in the histories, so that the interest of former years stays what it was. What was
    owed on days of a closed period stays too: a first balance leaves the months of that period as they were, and a
    change that would move them is refused.
    """
    before = MORTGAGES.get(tx, request.id, request.expected_version)
    errors: list[FieldError] = []
    requested = made_of(errors, lambda asked: MORTGAGES.changed(before, asked), request)
    if request.account_number_masked is not UNSET:
        requested = replace(requested, account_number_masked=rules.masked(request.account_number_masked))
    after = replace(
        requested,
        interest_rate=before.interest_rate,
        current_balance=before.current_balance,
        balance_date=before.balance_date,
    )
    after = rules.started(after)
    after = gathered(errors, _with_rate, tx, after, before, request, requested) or after
    after = gathered(errors, _with_balance, after, request, requested) or after
    return MORTGAGES.update(tx, _with_closed_days_kept(tx, before, _checked(tx, after, errors)))


def _with_rate(tx: WriteTx, row: Mortgage, before: Mortgage, request: UpdateMortgage, requested: Mortgage) -> Mortgage:
    """The mortgage with the rate that is asked for. Raises `Problem` `validation_failed` for a day it cannot have."""
    if request.interest_rate is UNSET:
        if request.rate_from_date is not UNSET:
            message = "This field is required: what is the rate from that day on?"
            raise invalid_field("interestRate", "required", message)
        return row
    latest = max(tx.today, row.start_date)
    from_date = latest if request.rate_from_date is UNSET else request.rate_from_date.isoformat()
    if from_date < row.start_date:
        message = f"It is before startDate, {row.start_date}: expected that day or a later one."
        raise invalid_field("rateFromDate", "date_order", message)
    if from_date > latest:  # Chosen: of a rate to come rateEndDate and reversionRate tell
        raise invalid_field(
            "rateFromDate", "out_of_range", "The day is still to come: expected today or an earlier one."
        )
    agreed = replace(row, rate_end_date=before.rate_end_date, reversion_rate=before.reversion_rate)
    row = rules.with_rate(agreed, requested.interest_rate, from_date)
    if request.rate_end_date is not UNSET:
        row = replace(row, rate_end_date=requested.rate_end_date)
    if request.reversion_rate is not UNSET:
        row = replace(row, reversion_rate=requested.reversion_rate)
    return row


def _with_balance(row: Mortgage, request: UpdateMortgage, requested: Mortgage) -> Mortgage:
    """The mortgage with the balance that is asked for, or without it. Raises `Problem` `validation_failed`."""
    day = None if request.balance_date is UNSET else request.balance_date.isoformat()
    if request.current_balance is None:
        return rules.without_balance(row, day)
    amount = None if request.current_balance is UNSET else requested.current_balance
    errors = [*rules.balance_mistakes(amount, day)]
    if errors:
        raise invalid(*errors)
    return row if amount is None or day is None else rules.with_balance(row, amount, day)


def _checked(tx: WriteTx, row: Mortgage, wrong: Sequence[FieldError]) -> Mortgage:
    """The mortgage as it is. Raises `Problem` `validation_failed` with what is `wrong` already, and all besides."""
    errors = [*wrong, *rules.mistakes(row, tx.today)]
    if errors:
        raise invalid(*errors)
    return row


def _with_closed_days_kept(tx: ReadTx, before: Mortgage, after: Mortgage) -> Mortgage:
    """The changed mortgage, with what was owed on closed days as it was.

    Raises `Problem` `period_closed` where that cannot be. Chosen: the first balance that a lender tells does not reach
    back into a closed period: the months before it stay those that follow from what was lent.
    """
    locked = _moved_locked_days(tx, before, after)
    if locked and after.balance_history:
        after = rules.not_reaching_back(after)
        locked = _moved_locked_days(tx, before, after)
    for day, lock in locked:
        period_locks.refuse_lock(tx, day, lock)
    return after


def _moved_locked_days(tx: ReadTx, before: Mortgage, after: Mortgage) -> list[tuple[str, LockState]]:
    """Locked days on which what is owed would be another, and how each is locked."""
    was, becomes = loan_of(before), loan_of(after)
    if was == becomes:
        return []
    return [
        (day, lock)
        for first, last, lock in _locked_ranges(tx, before)
        for day in _days_to_compare((was, becomes), first, last)
        if balance_on(was, day) != balance_on(becomes, day)
    ]


def _locked_ranges(tx: ReadTx, row: Mortgage) -> list[tuple[str, str, LockState]]:
    business = businesses.find(tx, PROPERTIES.get(tx, row.property_id).business_id)
    assert business is not None  # a foreign key
    return period_locks.ranges_of(tx, business.legal_entity_id, business.id)


def _days_to_compare(loans: tuple[Loan, Loan], first: str, last: str) -> Iterator[str]:
    """Days of a range that show whether two loans differ in it: its ends, and those on which something was said."""
    told = {balance.date for loan in loans for balance in loan.balances}
    told |= {day for loan in loans for day in (loan.start, loan.redeemed) if day is not None}
    yield from sorted({first, last, *(day for day in told if first <= day <= last)})


OPERATIONS = (
    Operation(
        id="landlord.listMortgages",
        kind="read",
        method="GET",
        path="/landlord/listMortgages",
        scopes=("accounting:read",),
        request=ListMortgages,
        response=SyncPage[Mortgage],
        handler=list_mortgages,
        held=HeldBy(entity="legal_entity_id", leads={"property_id": "property", "business_id": "business"}),
        example={"status": "active", "rateEndDateBefore": "2027-06-30", "limit": 20},
    ),
    Operation(
        id="landlord.getMortgage",
        kind="read",
        method="GET",
        path="/landlord/getMortgage",
        scopes=("accounting:read",),
        request=GetMortgage,
        response=Mortgage,
        handler=get_mortgage,
        held=HeldBy(leads={"id": "mortgage"}),
        extension=True,
        example={"id": "mtg_01k0000000000000000000000a"},
    ),
    Operation(
        id="landlord.createMortgage",
        kind="write",
        method="POST",
        path="/landlord/createMortgage",
        scopes=("accounting:write",),
        request=CreateMortgage,
        response=Mortgage,
        handler=create_mortgage,
        errors=("already_exists", "invalid_state"),
        example={
            "propertyId": "prop_01k0000000000000000000000a",
            "lender": "Aire Building Society",
            "type": "interest_only",
            "rateType": "fixed",
            "interestRate": "4.79",
            "rateEndDate": "2028-10-31",
            "reversionRate": "7.24",
            "originalAmount": "165000.00",
            "startDate": "2026-10-20",
            "termMonths": 300,
        },
    ),
    Operation(
        id="landlord.updateMortgage",
        kind="write",
        method="POST",
        path="/landlord/updateMortgage",
        scopes=("accounting:write",),
        request=UpdateMortgage,
        response=Mortgage,
        handler=update_mortgage,
        errors=("already_exists", "period_closed", "version_conflict"),
        extension=True,
        example={
            "id": "mtg_01k0000000000000000000000a",
            "currentBalance": "97400.00",
            "balanceDate": "2026-10-31",
            "expectedVersion": 1,
        },
    ),
)
