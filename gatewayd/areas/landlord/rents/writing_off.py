"""Rent that will not come: what is written off of the arrears of a tenancy (Domain C1)."""

from gatewayd.areas.landlord.register.tenancies import TENANCIES
from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow
from gatewayd.areas.landlord.rents import arrears
from gatewayd.areas.landlord.rents.shapes import WriteOffRent, WrittenOffRent
from gatewayd.contract.caller import Caller
from gatewayd.errors import FieldError, Problem, invalid, invalid_field, invalid_state
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Entry, Part
from gatewayd.ledger.references import unknown_reference
from gatewayd.money import Money, to_minor
from gatewayd.store import WriteTx

_OWN_PATHS = frozenset({"amount", "date", "externalId"})


def write_off_rent(tx: WriteTx, caller: Caller, request: WriteOffRent) -> WrittenOffRent:
    """Write off rent that will not come: all that a tenancy owes on a day, or a part of it.

    It is owed no more, and pays the oldest rents of the tenancy first. On accruals it is an expense of that day; on
    cash basis the rent was never income, and it is none. It is taken back with `banking.removeAllocation`, when the
    money comes after all.
    """
    row = TENANCIES.find(tx, request.tenancy_id)
    if row is None:
        raise invalid(unknown_reference("tenancyId", "tenancy"))
    day = tx.today if request.date is None else request.date.isoformat()
    owed = min(arrears.of_tenancy(tx, row, day).arrears, arrears.of_tenancy(tx, row, tx.today).arrears)
    if not owed:
        raise invalid_state(f"The tenancy owes nothing that was due by {day}.", "paid", ())
    part = Part(
        category="not_pnl",
        purpose="rent_written_off",
        direction="in",
        amount=_amount_of(row, request, owed),
        tenancy_id=row.id,
        description=request.reason,
        external_id=request.external_id,
    )
    try:
        (entered,) = allocations.enter(tx, [part], Entry(day, row.currency))
    except Problem as problem:
        raise invalid(*map(_of_request, problem.errors)) if problem.errors else problem from None
    left = arrears.of_tenancy(tx, row, tx.today)
    return WrittenOffRent(allocation=entered, arrears=Money(left.arrears, row.currency), currency=row.currency)


def _amount_of(row: TenancyRow, request: WriteOffRent, owed: int) -> int:
    if request.amount is None:
        return owed
    try:
        amount = to_minor(request.amount, row.currency)
    except ValueError as error:
        raise invalid_field("amount", "invalid_decimal", f"{error}.") from None
    if not 0 < amount <= owed:
        raise invalid_field("amount", "out_of_range", f"The tenancy owes {Money(owed, row.currency)}: give up to that.")
    return amount


def _of_request(error: FieldError) -> FieldError:
    """An error of a part as one of the request: what it does not name follows from the tenancy."""
    path = error.path.rpartition(".")[2]
    return FieldError(path if path in _OWN_PATHS else "tenancyId", error.code, error.message)
