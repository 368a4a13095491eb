"""The journey resource: its operations."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.accounting.journeys import rates, rows
from gatewayd.areas.accounting.journeys.rates import Scheme
from gatewayd.areas.accounting.journeys.rows import JOURNEYS
from gatewayd.areas.accounting.journeys.shapes import (
    CreateJourney,
    DeletedJourney,
    DeleteJourney,
    EnteredJourney,
    GetJourney,
    Journey,
    JourneyWarning,
    ListJourneys,
    UpdateJourney,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import project
from gatewayd.errors import FieldError, Problem, invalid
from gatewayd.ledger import references
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Entry, Part
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.allocating.categories import PROPERTY_TYPES, Category
from gatewayd.ledger.dates import tax_calendar
from gatewayd.ledger.lists import table_page
from gatewayd.ledger.references import Reference
from gatewayd.ledger.taxpayers import businesses, owners
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

_SCHEMES: Final[dict[str, Scheme]] = {
    **dict.fromkeys(("individual", "sole_trader", "partnership", "llp"), "fixed"),
    **dict.fromkeys(("limited_company", "charity", "club"), "approved"),
}
"""By the type of legal entity. Chosen: none of trusts and others, of which nobody here knows how they are taxed."""
MOST_TENTHS: Final = 99_999  # Chosen: a journey of 10,000 miles is a slip of the pen


def list_journeys(tx: ReadTx, caller: Caller, request: ListJourneys) -> Listing[Journey]:
    """List journeys, last entered first, or in the order of change with `updatedSince`."""
    named = [
        Reference("businessId", "business", request.business_id),
        Reference("legalEntityId", "legal_entity", request.legal_entity_id),
    ]
    errors = [*references.unknown(tx, named)]
    if request.from_date and request.to_date and request.to_date < request.from_date:
        errors.append(FieldError("toDate", "date_order", "It is before fromDate: expected that day or a later one."))
    if errors:
        raise invalid(*errors)
    filters: dict[str, object] = {
        "business_id = :business_id": request.business_id,
        "legal_entity_id = :legal_entity_id": request.legal_entity_id,
        "vehicle_kind = :vehicle_kind": request.vehicle_kind,
        "vehicle = :vehicle": request.vehicle,
        "driver = :driver": request.driver,
        "date >= :from_date": request.from_date and request.from_date.isoformat(),
        "date <= :to_date": request.to_date and request.to_date.isoformat(),
        "external_id = :external_id": request.external_id,
    }
    return table_page(tx, request, JOURNEYS, filters)


def get_journey(tx: ReadTx, caller: Caller, request: GetJourney) -> Journey:
    """Get one journey."""
    return JOURNEYS.get(tx, request.journey_id)


def create_journey(tx: WriteTx, caller: Caller, request: CreateJourney) -> EnteredJourney:
    """Enter a journey on business by a vehicle of one's own, which counts as a cost at the published rates.

    Sole traders, partnerships and landlords deduct the fixed rates, and then none of what the vehicle costs; companies,
    charities and clubs have the approved ones, which they may pay to whom they employ. The first 10,000 miles of a tax
    year by car or van have the higher rate, in the order of their days, whenever they are entered. No VAT is in it.
    """
    JOURNEYS.refuse_taken(tx, request.external_id)
    business = businesses.find(tx, request.business_id)
    if business is None:
        raise invalid(references.unknown_reference("businessId", "business"))
    date = request.date.isoformat()
    row = JOURNEYS.new(
        tx,
        request,
        legal_entity_id=business.legal_entity_id,
        tax_year=tax_calendar.tax_year_of(date),
        full_rate_miles="0",
        amount=Money(0, "GBP"),
        currency="GBP",
        allocation_id="",
    )
    scheme = _scheme_of(tx, row, business)
    of_entity = {each.id: each for each in businesses.of_entity(tx, business.legal_entity_id)}
    first_of_vehicle = not rows.of_vehicle(tx, business.id, row.vehicle)
    pool = rows.pool_of(scheme, business, row.driver)
    of_pool, worth = rows.reckoned(tx, row, pool, of_entity, [row])
    row = rows.valued(row, worth[row.id])
    row = JOURNEYS.insert(tx, replace(row, allocation_id=_enter(tx, row, business)))
    rows.settle(tx, of_pool, worth, row.id)
    return _entered(tx, row, scheme, business, first_of_vehicle=first_of_vehicle)


def update_journey(tx: WriteTx, caller: Caller, request: UpdateJourney) -> EnteredJourney:
    """Change the given fields of a journey, and what it and others of its tax year come to."""
    before = JOURNEYS.get(tx, request.journey_id, request.expected_version)
    row = JOURNEYS.changed(before, request)
    row = replace(row, tax_year=tax_calendar.tax_year_of(row.date))
    business = businesses.find(tx, row.business_id)
    assert business is not None  # a business is archived, and never deleted
    scheme = _scheme_of(tx, row, business)
    of_entity = {each.id: each for each in businesses.of_entity(tx, business.legal_entity_id)}
    pool = rows.pool_of(scheme, business, row.driver)
    of_pool, worth = rows.reckoned(tx, row, pool, of_entity, [row])
    row = rows.valued(row, worth[row.id])
    allocations.refuse_closed(tx, ALLOCATIONS.get(tx, before.allocation_id))
    rows.book(tx, before, row)
    row = JOURNEYS.update(tx, row)
    rows.settle(tx, of_pool, worth, row.id)
    left = rows.pool_of(scheme, business, before.driver)
    if (before.tax_year, left) != (row.tax_year, pool):
        rows.settle(tx, *rows.reckoned(tx, before, left, of_entity), but=row.id)
    moved = before.vehicle != row.vehicle and rows.of_vehicle(tx, business.id, row.vehicle) == [row.id]
    return _entered(tx, row, scheme, business, first_of_vehicle=moved)


def delete_journey(tx: WriteTx, caller: Caller, request: DeleteJourney) -> DeletedJourney:
    """Delete a journey that was none, and what it came to; others of its tax year are reckoned anew."""
    row = JOURNEYS.get(tx, request.journey_id, request.expected_version)
    business = businesses.find(tx, row.business_id)
    assert business is not None
    entry = ALLOCATIONS.get(tx, row.allocation_id)
    allocations.refuse_closed(tx, entry)
    JOURNEYS.delete(tx, row.id)
    allocations.remove(tx, entry)
    of_entity = {each.id: each for each in businesses.of_entity(tx, business.legal_entity_id)}
    pool = rows.pool_of(_stored_scheme(tx, row), business, row.driver)
    rows.settle(tx, *rows.reckoned(tx, row, pool, of_entity), but=row.id)
    return DeletedJourney(id=row.id, deleted=True)


def _stored_scheme(tx: ReadTx, row: Journey) -> Scheme:
    owner = owners.find(tx, row.legal_entity_id)
    return "fixed" if owner is None else _SCHEMES.get(owner.type, "fixed")


def _scheme_of(tx: ReadTx, row: Journey, business: Business) -> Scheme:
    """By which rates the journey counts. Raises `Problem` `validation_failed` with all that is wrong with it."""
    owner = owners.find(tx, business.legal_entity_id)
    scheme = None if owner is None else _SCHEMES.get(owner.type)
    errors = [*_mistakes(row, business, tx.today)]
    if scheme is None:
        message = "No rates are published that are known to be for a trust or another body: enter what it cost."
        errors.append(FieldError("businessId", "conflict", message))
    else:
        errors += _rate_mistakes(row, business, scheme)
    if errors or scheme is None:
        raise invalid(*errors)
    return scheme


def _mistakes(row: Journey, business: Business, today: str) -> Iterator[FieldError]:
    miles = Decimal(row.miles) * 10
    if miles != miles.to_integral_value() or not 0 < miles <= MOST_TENTHS:
        yield FieldError("miles", "out_of_range", "Expected more than 0 and less than 10,000, to a tenth of a mile.")
    if row.date > today:
        yield FieldError("date", "out_of_range", f"It is still to come: expected today, {today}, or an earlier day.")
    if business.currency != "GBP":
        message = f"The business is kept in {business.currency}: the published rates are in GBP."
        yield FieldError("businessId", "currency_mismatch", message)


def _rate_mistakes(row: Journey, business: Business, scheme: Scheme) -> Iterator[FieldError]:
    if scheme == "approved" and row.driver is None:
        yield FieldError("driver", "required", "This field is required: the 10,000 miles are counted by employee.")
    if scheme == "fixed" and row.driver is not None:
        yield FieldError("driver", "conflict", "The 10,000 miles of this business are counted for all who drive.")
    if row.passengers and (scheme == "fixed" or row.vehicle_kind not in rates.BANDED):
        message = "Passengers count where an employee drives a car or van of their own."
        yield FieldError("passengers", "conflict", message)
    too_early = scheme == "fixed" and business.type in PROPERTY_TYPES and row.date < rates.PROPERTY_SINCE
    if scheme == "fixed" and row.vehicle_kind == "bicycle":
        yield FieldError("vehicleKind", "conflict", "There is no fixed rate of bicycles: enter what it cost.")
    elif too_early or rates.rate_on(scheme, row.vehicle_kind, row.date) is None:
        yield FieldError("date", "out_of_range", "No rate is known here of that day: enter what it cost.")


def _enter(tx: WriteTx, row: Journey, business: Business) -> str:
    """The id of the allocation by which a journey counts. Raises `Problem`: `period_closed`, `validation_failed`."""
    part = Part(
        category=_category(business),
        business_id=business.id,
        direction="out",
        amount=row.amount.minor,
        vat_code="outside_scope",
        description=rows.described(row),
    )
    try:
        [entry] = allocations.enter(tx, [part], Entry(row.date, row.currency))
    except Problem as problem:
        errors = [replace_path(each) for each in problem.errors]
        raise invalid(*errors) if errors else problem from None
    return entry.id


def replace_path(error: FieldError) -> FieldError:
    """The error under the path that the field has in a request about a journey."""
    return FieldError(error.path.removeprefix("parts[0]."), error.code, error.message)


def _category(business: Business) -> Category:
    return "travelCosts" if business.type in PROPERTY_TYPES else "carVanTravelExpenses"


def _entered(tx: ReadTx, row: Journey, scheme: Scheme, business: Business, *, first_of_vehicle: bool) -> EnteredJourney:
    warnings = [
        JourneyWarning(code=code, message=message)
        for code, message in _told(tx, row, scheme, business, first_of_vehicle=first_of_vehicle)
    ]
    return project(row, EnteredJourney, warnings=warnings)


def _told(
    tx: ReadTx, row: Journey, scheme: Scheme, business: Business, *, first_of_vehicle: bool
) -> Iterator[tuple[str, str]]:
    if scheme == "approved":
        return
    if first_of_vehicle:
        yield (
            "vehicle_for_good",
            f"From now on {row.vehicle} counts by its miles for as long as the business uses it, and nothing of what "
            "it costs to buy, run or hire does. It may not where capital allowances or such costs were claimed of it "
            "before, nor in a partnership with a company among its partners (ITTOIA 2005 s94D, s94E).",
        )
    days = tax_calendar.bounds(row.tax_year)
    costs = rows.other_costs(tx, business.id, _category(business), days)
    if costs > 0:
        yield (
            "vehicle_costs_claimed",
            f"{Money(costs, row.currency)} of other vehicle and travel costs are in the books of {row.tax_year}. "
            "Fares, parking and tolls may be there as well; fuel, repairs, insurance or hire of a vehicle that counts "
            "by its miles may not.",
        )
    if row.vehicle_kind in rates.BANDED and row.date >= rates.UNSETTLED:
        yield (
            "rate_unsettled",
            "It is reckoned at 45p and 25p, as ITTOIA 2005 s94F has them. For employees 55p was announced for 2026-27; "
            "whether the fixed rate followed is not known to this version: look before the return is made.",
        )


_READ: Final = ("accounting:read",)
_WRITE: Final = ("accounting:write",)
_JOURNEY: Final = "jny_01k0000000000000000000000a"

OPERATIONS = (
    Operation(
        id="accounting.listJourneys",
        kind="read",
        method="GET",
        path="/journeys",
        scopes=_READ,
        request=ListJourneys,
        response=SyncPage[Journey],
        handler=list_journeys,
        errors=("date_order", "unknown_reference"),
        extension=True,
        example={"vehicleKind": "car", "fromDate": "2026-04-06", "limit": 20},
    ),
    Operation(
        id="accounting.createJourney",
        kind="write",
        method="POST",
        path="/journeys",
        scopes=_WRITE,
        request=CreateJourney,
        response=EnteredJourney,
        handler=create_journey,
        errors=("already_exists", "period_closed"),
        extension=True,
        example={
            "businessId": "biz_01k0000000000000000000000c",
            "date": "2026-11-18",
            "vehicleKind": "van",
            "vehicle": "YK21 OAK",
            "miles": "38.4",
            "fromPlace": "Workshop, Leeds",
            "toPlace": "Harbour Ltd, York",
            "purpose": "Measuring for shelves",
        },
    ),
    Operation(
        id="accounting.getJourney",
        kind="read",
        method="GET",
        path="/journeys/:journeyId",
        scopes=_READ,
        request=GetJourney,
        response=Journey,
        handler=get_journey,
        extension=True,
        example={"journeyId": _JOURNEY},
    ),
    Operation(
        id="accounting.updateJourney",
        kind="write",
        method="PATCH",
        path="/journeys/:journeyId",
        scopes=_WRITE,
        request=UpdateJourney,
        response=EnteredJourney,
        handler=update_journey,
        errors=("already_exists", "period_closed", "version_conflict"),
        extension=True,
        example={"journeyId": _JOURNEY, "miles": "41.2", "expectedVersion": 1},
    ),
    Operation(
        id="accounting.deleteJourney",
        kind="write",
        method="DELETE",
        path="/journeys/:journeyId",
        scopes=_WRITE,
        request=DeleteJourney,
        response=DeletedJourney,
        handler=delete_journey,
        errors=("period_closed", "version_conflict"),
        extension=True,
        example={"journeyId": _JOURNEY},
    ),
)
