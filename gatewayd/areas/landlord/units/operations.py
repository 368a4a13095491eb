"""The unit resource (Spec §4, Domain A4 and B4): its operations."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.landlord.register import properties, tenancies
from gatewayd.areas.landlord.register.properties import PROPERTIES
from gatewayd.areas.landlord.register.tenancy_shapes import RentFrequency
from gatewayd.areas.landlord.units import rows
from gatewayd.areas.landlord.units.rows import UNITS
from gatewayd.areas.landlord.units.shapes import (
    CreatePropertyUnit,
    GetPropertyUnit,
    ListPropertyUnits,
    PropertyUnit,
    StoredUnit,
    UpdatePropertyUnit,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.faults import made_of
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, gathered, invalid, invalid_state
from gatewayd.ledger.lists import Source, archive_filter, sync_page
from gatewayd.store import ReadTx, WriteTx


def list_property_units(tx: ReadTx, caller: Caller, request: ListPropertyUnits) -> Listing[PropertyUnit]:
    """List units of properties, newest first, or in the order of change with `updatedSince`.

    `status` is the occupancy today. Archived ones are left out unless `includeArchived`, `updatedSince` or `status`
    asks for them.
    """
    filters: dict[str, object] = {
        **archive_filter(request),
        "property_id = :property_id": request.property_id,
        **rows.WHOSE.filters(request),
        "type = :type": request.type,
        "external_id = :external_id": request.external_id,
    }
    selects = [rows.SELECT_SHOWN + condition for condition in rows.OF_STATUS.get(request.status or "archived", ("",))]
    return sync_page(tx, request, Source(UNITS, selects), filters, lambda row: encode(rows.shown(row)), rows.days(tx))


def get_property_unit(tx: ReadTx, caller: Caller, request: GetPropertyUnit) -> PropertyUnit:
    """Get one unit of a property as it is today, archived or not."""
    return rows.get_shown(tx, UNITS.get(tx, request.id).id)


def create_property_unit(tx: WriteTx, caller: Caller, request: CreatePropertyUnit) -> PropertyUnit:
    """Create a unit of a property. Its name may be used once in the property, whatever its letter case."""
    errors: list[FieldError] = []
    owner = gathered(errors, properties.in_use, tx, request.property_id)
    currency, untold = ("GBP", list[FieldError]()) if owner is None else (owner.currency, errors)
    row = made_of(untold, lambda asked: UNITS.new(tx, asked, currency=currency), request)
    rent_wrong = row.market_rent is None and request.market_rent is not None
    row = UNITS.insert(tx, _checked(tx, row, None if rent_wrong else request.rent_frequency, errors))
    return rows.get_shown(tx, row.id)


def update_property_unit(tx: WriteTx, caller: Caller, request: UpdatePropertyUnit) -> PropertyUnit:
    """Change the given fields of a unit.

    `archived` hides it from lists, once no tenancy of it goes on, or brings it back.
    """
    before = UNITS.get(tx, request.id, request.expected_version)
    properties.refuse_archived(PROPERTIES.get(tx, before.property_id))
    errors: list[FieldError] = []
    after = made_of(errors, lambda asked: UNITS.changed(before, asked), request)
    if request.archived is not UNSET:
        after = _archived_or_back(tx, after, archived=request.archived)
    after = UNITS.update(tx, _checked(tx, after, request.rent_frequency or None, errors))
    return rows.get_shown(tx, after.id)


def _checked(tx: ReadTx, row: StoredUnit, frequency: RentFrequency | None, wrong: Sequence[FieldError]) -> StoredUnit:
    """The unit as it is kept; `frequency` is what the caller gives, `wrong` what is known to be wrong already.

    Raises `Problem`: `validation_failed`, `already_exists`.
    """
    errors = [*wrong, *_mistakes(row)]
    if row.market_rent is None and frequency is not None:
        message = "It is how often `marketRent` is due, and there is none: give that, or leave this out."
        errors.append(FieldError("rentFrequency", "conflict", message))
    if errors:
        raise invalid(*errors)
    rows.refuse_taken_name(tx, row)
    return _with_frequency(row)


def _archived_or_back(tx: WriteTx, row: StoredUnit, *, archived: bool) -> StoredUnit:
    """The unit in or out of the archive.

    Raises `Problem` `invalid_state` for one that is let, or will be. Chosen: a tenancy of the whole property needs no
    unit, and refuses nothing.
    """
    if not archived:
        return replace(row, archived_at=None)
    if row.archived_at is not None:
        return row
    tenancy_id = tenancies.lasting_of_unit(tx, row.property_id, row.id, tx.today)
    if tenancy_id is not None:
        message = f"Its tenancy {tenancy_id} has not ended: end that first, by `endedDate` of `landlord.updateTenancy`."
        raise invalid_state(message, "active", ())
    return replace(row, archived_at=tx.now)


def _with_frequency(row: StoredUnit) -> StoredUnit:
    """The unit with a frequency of its market rent.

    Chosen: monthly by default; without a market rent there is none.
    """
    if row.market_rent is None:
        return replace(row, rent_frequency=None)
    return replace(row, rent_frequency=row.rent_frequency or "monthly")


def _mistakes(row: StoredUnit) -> Iterator[FieldError]:
    """What is wrong with area and market rent."""
    if row.area_sqm is not None and Decimal(row.area_sqm) <= 0:
        yield FieldError("areaSqm", "out_of_range", "Expected more than 0.")
    if row.market_rent is not None and row.market_rent.minor < 0:
        yield FieldError("marketRent", "out_of_range", "Expected 0 or more.")


OPERATIONS = (
    Operation(
        id="landlord.listPropertyUnits",
        kind="read",
        method="GET",
        path="/landlord/listPropertyUnits",
        scopes=("accounting:read",),
        request=ListPropertyUnits,
        response=SyncPage[PropertyUnit],
        handler=list_property_units,
        held=HeldBy(entity="legal_entity_id", leads={"property_id": "property", "business_id": "business"}),
        example={"status": "vacant", "limit": 20},
    ),
    Operation(
        id="landlord.getPropertyUnit",
        kind="read",
        method="GET",
        path="/landlord/getPropertyUnit",
        scopes=("accounting:read",),
        request=GetPropertyUnit,
        response=PropertyUnit,
        handler=get_property_unit,
        held=HeldBy(leads={"id": "unit"}),
        extension=True,
        example={"id": "unit_01k0000000000000000000000a"},
    ),
    Operation(
        id="landlord.createPropertyUnit",
        kind="write",
        method="POST",
        path="/landlord/createPropertyUnit",
        scopes=("accounting:write",),
        request=CreatePropertyUnit,
        response=PropertyUnit,
        handler=create_property_unit,
        errors=("already_exists", "invalid_state"),
        example={
            "propertyId": "prop_01k0000000000000000000000a",
            "name": "Flat 3",
            "type": "flat",
            "bedrooms": 2,
            "marketRent": "950.00",
        },
    ),
    Operation(
        id="landlord.updatePropertyUnit",
        kind="write",
        method="POST",
        path="/landlord/updatePropertyUnit",
        scopes=("accounting:write",),
        request=UpdatePropertyUnit,
        response=PropertyUnit,
        handler=update_property_unit,
        errors=("already_exists", "invalid_state", "version_conflict"),
        example={"id": "unit_01k0000000000000000000000a", "marketRent": "975.00", "expectedVersion": 1},
    ),
)
