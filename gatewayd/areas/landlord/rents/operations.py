"""Rents: their operations (Domain C1)."""

from collections.abc import Mapping

from gatewayd.areas.landlord.register.tenancies import TENANCIES
from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow
from gatewayd.areas.landlord.rents import arrears, pages
from gatewayd.areas.landlord.rents.shapes import (
    ListRentsDue,
    RecordedRent,
    RecordRent,
    RentDue,
    RentMethod,
    WriteOffRent,
    WrittenOffRent,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page
from gatewayd.errors import FieldError, Problem, gathered, invalid, invalid_field, invalid_state
from gatewayd.ledger.allocating import allocations, lets, rents_received
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Entry, Part
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers import businesses
from gatewayd.money import Money, canonical, to_minor
from gatewayd.store import ReadTx, WriteTx

_OF_RECORDED = frozenset({"amount", "date", "description", "fxRate"})
_OF_WRITTEN_OFF = frozenset({"amount", "date", "externalId"})
_BY: Mapping[RentMethod, str] = {
    "cash": "Rent in cash",
    "cheque": "Rent by cheque",
    "card": "Rent by card",
    "bank_transfer": "Rent by bank transfer",
    "other": "Rent",
}


def list_rents_due(tx: ReadTx, caller: Caller, request: ListRentsDue) -> Listing[RentDue]:
    """List the rents of tenancies with what has come for each: what is paid, due, late, and upcoming.

    By property, tenancy and due date. Rent is due in advance; parts of a period at the start and the end of a tenancy
    cost their days. Where `status` leaves out most of many tenancies, a page may be short, or even empty, before the
    last.
    """
    return pages.page(tx, request)


def record_rent(tx: WriteTx, caller: Caller, request: RecordRent) -> RecordedRent:
    """Record rent that no bank transaction shows, such as cash.

    It becomes an allocation of the property's business, and pays the oldest rents of the tenancy first. It is taken
    back with `banking.removeAllocation`, and what is given back to a tenant is a part of `banking.allocate` with
    `direction` out. Rent that came into a bank account is allocated there: entered here, it would count twice.
    """
    row = TENANCIES.find(tx, request.tenancy_id)
    if row is None:
        raise invalid(unknown_reference("tenancyId", "tenancy"))
    if row.cancelled_at is not None:
        message = "The tenancy was called off, and has no rent: `banking.allocate` enters money that is none."
        raise invalid_state(message, "cancelled", ("upcoming", "active", "notice", "ended"))
    allocation = _enter_rent(tx, row, request)
    owed = arrears.of_tenancy(tx, row, tx.today)
    return RecordedRent(
        allocation=allocation,
        arrears=Money(owed.arrears, row.currency),
        credit=Money(owed.credit, row.currency),
        currency=row.currency,
    )


def _enter_rent(tx: WriteTx, row: TenancyRow, request: RecordRent) -> Allocation:
    let = lets.find(tx, row.property_id)
    assert let is not None  # a foreign key
    business = businesses.find(tx, let.business_id)
    assert business is not None  # another
    errors: list[FieldError] = []
    amount = gathered(errors, _received, row, request.amount)
    part = Part(
        category=rents_received.category_of(business.type, let.use),
        direction="in",
        amount=amount or 1,  # what else is wrong is told beside an amount that is
        tenancy_id=row.id,
        fx_rate=None if request.fx_rate is None else canonical(request.fx_rate),
        description=request.description or _BY[request.method],
        external_id=request.external_id,
    )
    date = None if request.date is None else request.date.isoformat()
    entered = gathered(errors, _enter_part, tx, part, Entry(date, row.currency), _OF_RECORDED)
    if errors or entered is None:
        raise invalid(*errors)
    return entered


def _received(row: TenancyRow, text: str) -> int:
    try:
        amount = to_minor(text, row.currency)
    except ValueError as error:
        raise invalid_field("amount", "invalid_decimal", f"{error}.") from None
    if amount <= 0:
        message = "Expected more than 0: what is given back is a part of `banking.allocate` with `direction` out."
        raise invalid_field("amount", "out_of_range", message)
    return amount


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
        message = f"The tenancy owes nothing that was due by {day}: `landlord.listRentsDue` has what it owes when."
        raise invalid_state(message, "paid", ("due", "late"))
    part = Part(
        category="not_pnl",
        purpose="rent_written_off",
        direction="in",
        amount=_amount_of(row, request, owed),
        tenancy_id=row.id,
        description=request.reason,
        external_id=request.external_id,
    )
    entered = _enter_part(tx, part, Entry(day, row.currency), _OF_WRITTEN_OFF)
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


def _enter_part(tx: WriteTx, part: Part, entry: Entry, own: frozenset[str]) -> Allocation:
    """Enter a part of a request with `own` fields: what is wrong with others follows from its tenancy."""
    try:
        (entered,) = allocations.enter(tx, [part], entry)
    except Problem as problem:
        if not problem.errors:
            raise
        raise invalid(*(_of_request(error, own) for error in problem.errors)) from None
    return entered


def _of_request(error: FieldError, own: frozenset[str]) -> FieldError:
    path = error.path.rpartition(".")[2]
    return FieldError(path if path in own else "tenancyId", error.code, error.message)


OPERATIONS = (
    Operation(
        id="landlord.listRentsDue",
        kind="read",
        method="GET",
        path="/landlord/listRentsDue",
        scopes=("accounting:read",),
        request=ListRentsDue,
        response=Page[RentDue],
        handler=list_rents_due,
        held=HeldBy(
            entity="legal_entity_id",
            leads={"tenancy_id": "tenancy", "property_id": "property", "business_id": "business"},
            days=Days(),
        ),
        extension=True,
        example={"tenancyId": "tcy_01k0000000000000000000000a", "fromDate": "2026-04-06", "limit": 20},
    ),
    Operation(
        id="landlord.recordRent",
        kind="write",
        method="POST",
        path="/landlord/recordRent",
        scopes=("accounting:write",),
        request=RecordRent,
        response=RecordedRent,
        handler=record_rent,
        errors=("already_exists", "invalid_state", "period_closed"),
        extension=True,
        example={
            "tenancyId": "tcy_01k0000000000000000000000a",
            "date": "2026-11-16",
            "amount": "150.00",
            "description": "The week of 15 November, in cash",
        },
    ),
    Operation(
        id="landlord.writeOffRent",
        kind="write",
        method="POST",
        path="/landlord/writeOffRent",
        scopes=("accounting:write",),
        request=WriteOffRent,
        response=WrittenOffRent,
        handler=write_off_rent,
        errors=("already_exists", "invalid_state", "period_closed"),
        extension=True,
        example={
            "tenancyId": "tcy_01k0000000000000000000000a",
            "amount": "150.00",
            "reason": "Forgiven, for the week without hot water",
        },
    ),
)
