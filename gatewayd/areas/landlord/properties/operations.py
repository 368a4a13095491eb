"""The property resource (Spec §4, Domain A4 and B4): its operations."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.landlord import valuations
from gatewayd.areas.landlord.certificates import rows as certificates
from gatewayd.areas.landlord.mortgages import rows as mortgages
from gatewayd.areas.landlord.properties import rows, rules
from gatewayd.areas.landlord.properties.shapes import (
    CreateProperty,
    GetProperty,
    ListProperties,
    Property,
    PropertyDetail,
    UpdateProperty,
)
from gatewayd.areas.landlord.register import tenancies
from gatewayd.areas.landlord.register.properties import PROPERTIES, PropertyOwner, StoredProperty
from gatewayd.areas.landlord.register.whose import PROPERTIES_OF_LEGAL_ENTITY
from gatewayd.areas.landlord.tenancies import rows as tenancy_rows
from gatewayd.areas.landlord.tenancies.rules import only_place
from gatewayd.areas.landlord.units import rows as units
from gatewayd.contract.caller import Caller
from gatewayd.contract.faults import made_of
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import encode, project
from gatewayd.errors import FieldError, invalid, invalid_state
from gatewayd.ledger import references
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.lists import Source, archive_filter, contains, sync_page
from gatewayd.ledger.references import Reference
from gatewayd.ledger.results import owner_shares
from gatewayd.ledger.results.owner_shares import Of
from gatewayd.ledger.taxpayers import businesses
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.store import ReadTx, WriteTx

_NAMED_TWICE = FieldError("ownership", "conflict", "It is another name of `owners`: give one of the two.")
_NAME_LENGTH = 120  # of a name; a line of an address may be longer


def list_properties(tx: ReadTx, caller: Caller, request: ListProperties) -> Listing[Property]:
    """List properties, newest first, or in the order of change with `updatedSince`.

    `q` looks in the name and the address. Archived ones are left out unless `includeArchived`, `updatedSince` or
    `status` asks for them.
    """
    filters = {
        **archive_filter(request),
        "business_id = :business_id": request.business_id,
        PROPERTIES_OF_LEGAL_ENTITY: request.legal_entity_id,
        "status = :status": request.status,
        "use = :use": request.use,
        "type = :type": request.type,
        "jurisdiction = :jurisdiction": request.jurisdiction,
        "external_id = :external_id": request.external_id,
        "search_text LIKE :pattern ESCAPE '!'": contains(request.q),
    }
    source = Source(PROPERTIES, [rows.SELECT_SHOWN])
    return sync_page(tx, request, source, filters, lambda row: encode(rows.shown(row)), {"today": tx.today})


def get_property(tx: ReadTx, caller: Caller, request: GetProperty) -> PropertyDetail:
    """Get one property, archived or not, with what belongs to it where `include` asks for that."""
    property_ = rows.get_shown(tx, request.id)
    included = request.include or ()
    return project(
        property_,
        PropertyDetail,
        units=units.of_property(tx, property_.id) if "units" in included else UNSET,
        tenancies=tenancy_rows.of_property(tx, property_.id) if "tenancies" in included else UNSET,
        mortgages=mortgages.of_property(tx, property_.id) if "mortgages" in included else UNSET,
        valuations=valuations.of_property(tx, property_.id) if "valuations" in included else UNSET,
        certificates=certificates.of_property(tx, property_.id) if "certificates" in included else UNSET,
    )


def create_property(tx: WriteTx, caller: Caller, request: CreateProperty) -> Property:
    """Create a property of a business that lets, or of a company's trade.

    Its currency is that of the business by default. The shares of its owners come to 100 at most on each day; without
    owners the share of the business counts.
    """
    business = businesses.find(tx, request.business_id)
    path = "owners" if request.ownership is None else "ownership"
    owners = rules.merged_owners([], request.owners or request.ownership or [])
    errors = [*_naming_mistakes(request), *rules.business_mistakes(business)]
    errors += _owner_mistakes(tx, owners, business, path)
    untold = [] if business is None and request.currency is None else errors
    row = made_of(untold, lambda asked: _new_row(tx, asked, business, owners), request)
    errors += rules.mistakes(row, tx.today)
    errors += [] if business is None else rules.foreign_id_mistakes(row, business)
    if errors or business is None:
        raise invalid(*errors)
    its = rules.share_steps(owners, business.legal_entity_id)
    row = PROPERTIES.insert(tx, replace(row, owner_share_percent=its[-1].percent))
    owner_shares.keep_steps(tx, Of(business.id, row.id), None, its, None)  # closed days have nothing of it yet
    return rows.get_shown(tx, row.id)


def update_property(tx: WriteTx, caller: Caller, request: UpdateProperty) -> Property:
    """Change the given fields of a property; `status` sells it, archives it or brings it back.

    What is sold has a `disposalDate` that has come. While a tenancy goes on it is neither sold nor archived, unless
    `keepTenancies` is true. A property that is no longer `sold` keeps its `disposalDate`, `disposalProceeds` and
    `disposalCosts` until they are cleared. Owners that all have a `fromDate` follow those of the days before, who stay;
    owners without one are those of all days but closed ones. Its `jurisdiction` agrees with the types of the tenancies
    that have not ended.
    """
    before = PROPERTIES.get(tx, request.id, request.expected_version)
    business = businesses.find(tx, before.business_id)
    assert business is not None  # a foreign key
    errors: list[FieldError] = []
    after = made_of(errors, lambda asked: PROPERTIES.changed(before, asked), request)
    path = "owners" if request.ownership is UNSET else "ownership"
    owners = request.owners if request.ownership is UNSET else request.ownership
    if request.owners is not UNSET and request.ownership is not UNSET:
        errors.append(_NAMED_TWICE)
    if owners is not UNSET:
        owners = rules.merged_owners(before.owners, owners)
        errors += _owner_mistakes(tx, owners, business, path)
    if request.foreign_property_id is not UNSET:
        errors += rules.foreign_id_mistakes(after, business)
    errors += rules.mistakes(after, tx.today)
    errors += _jurisdiction_mistakes(tx, before, after)
    if errors:
        raise invalid(*errors)
    if owners is not UNSET:
        share = rules.share_steps(owners, business.legal_entity_id)[-1].percent
        after = replace(after, owners=owners, owner_share_percent=share)
        if owners != before.owners:
            _keep_shares(tx, before, after, business)
    after = _archived_or_back(tx, before, after, business)
    if not request.keep_tenancies:
        _refuse_tenancies(tx, before, after)
    after = PROPERTIES.update(tx, after)
    return rows.get_shown(tx, after.id)


def _new_row(
    tx: WriteTx, request: CreateProperty, business: Business | None, owners: list[PropertyOwner]
) -> StoredProperty:
    """The property that is asked for, not stored and not looked at. Of no business it is in pounds by default."""
    return PROPERTIES.new(
        tx,
        request,
        name=_name_or_first_line(request),
        jurisdiction=request.jurisdiction or rules.default_jurisdiction(business, request.address),
        owners=owners,
        currency=request.currency or ("GBP" if business is None else business.currency),
        status="active",
    )


def _naming_mistakes(request: CreateProperty) -> Iterator[FieldError]:
    if request.name is None and request.address is None:
        yield FieldError("name", "required", "Give a name, or an address for its first line to be the name.")
    if request.owners is not None and request.ownership is not None:
        yield _NAMED_TWICE


def _name_or_first_line(request: CreateProperty) -> str:
    if request.name is not None:
        return request.name
    return "" if request.address is None else request.address.line1.strip()[:_NAME_LENGTH].rstrip()


def _owner_mistakes(
    tx: ReadTx, owners: Sequence[PropertyOwner], business: Business | None, path: str
) -> Iterator[FieldError]:
    yield from rules.owner_mistakes(owners, path)
    if business is not None:
        yield from rules.ownership_mistakes(owners, business.legal_entity_id, path, tx.today)
    yield from references.unknown(
        tx,
        (
            Reference(f"{path}[{index}].legalEntityId", "legal_entity", owner.legal_entity_id)
            for index, owner in enumerate(owners)
        ),
    )


def _keep_shares(tx: WriteTx, before: StoredProperty, after: StoredProperty, business: Business) -> None:
    """Keep true which shares hold when. Raises `Problem` `period_closed`."""
    last_closed = period_locks.last_closed(tx, business.legal_entity_id, business.id)
    its = rules.share_steps(after.owners, business.legal_entity_id)
    owner_shares.keep_steps(tx, Of(business.id, after.id), before.owner_share_percent, its, last_closed)


def _jurisdiction_mistakes(tx: ReadTx, before: StoredProperty, after: StoredProperty) -> Iterator[FieldError]:
    """What is wrong with a new jurisdiction, by the types of its tenancies.

    Chosen: tenancies that have ended are not looked at.
    """
    if after.jurisdiction == before.jurisdiction:
        return
    for tenancy_id, type_ in tenancies.lasting_types(tx, after.id, tx.today):
        place = only_place(type_)
        if place not in (None, after.jurisdiction):
            message = (
                f"Its tenancy {tenancy_id} is {type_}: let that be of type other, and of the right one afterwards."
            )
            yield FieldError("jurisdiction", "conflict", message)


def _archived_or_back(tx: WriteTx, before: StoredProperty, after: StoredProperty, business: Business) -> StoredProperty:
    """The property in or out of the archive. Raises `Problem` `invalid_state` where its business is still there."""
    if after.status == "archived":
        return replace(after, archived_at=before.archived_at or tx.now)
    if before.status == "archived" and business.archived:
        message = "Its business is archived: bring that back first, with `businesses.setStatus`."
        raise invalid_state(message, "archived", ("active",))
    return replace(after, archived_at=None)


def _refuse_tenancies(tx: ReadTx, before: StoredProperty, after: StoredProperty) -> None:
    """Raises `Problem` `invalid_state` where a tenancy goes on after a sale, or in the archive.

    Chosen: what is sold goes into the archive as it is, for its tenancies were looked at.
    """
    if after.status == "sold" and (before.status, before.disposal_date) != (after.status, after.disposal_date):
        day, what = after.disposal_date, "sold"
    elif after.status == "archived" and before.status not in ("sold", "archived"):
        day, what = tx.today, "archived"
    else:
        return
    assert day is not None  # rules.mistakes
    tenancy_id = tenancies.lasting(tx, before.id, day)
    if tenancy_id is not None:
        message = (
            f"The tenancy {tenancy_id} has not ended before: end it with `landlord.updateTenancy`, or send"
            f" keepTenancies: true to have the property {what} all the same."
        )
        raise invalid_state(message, before.status, ())


OPERATIONS = (
    Operation(
        id="landlord.listProperties",
        kind="read",
        method="GET",
        path="/landlord/listProperties",
        scopes=("accounting:read",),
        request=ListProperties,
        response=SyncPage[Property],
        handler=list_properties,
        held=HeldBy(entity="legal_entity_id", leads={"business_id": "business"}),
        example={"status": "active", "limit": 20},
    ),
    Operation(
        id="landlord.getProperty",
        kind="read",
        method="GET",
        path="/landlord/getProperty",
        scopes=("accounting:read",),
        request=GetProperty,
        response=PropertyDetail,
        handler=get_property,
        held=HeldBy(leads={"id": "property"}),
        example={"id": "prop_01k0000000000000000000000b", "include": ["units", "tenancies", "certificates"]},
    ),
    Operation(
        id="landlord.createProperty",
        kind="write",
        method="POST",
        path="/landlord/createProperty",
        scopes=("accounting:write",),
        request=CreateProperty,
        response=Property,
        handler=create_property,
        errors=("already_exists", "share_total"),
        example={
            "businessId": "biz_01k0000000000000000000000b",
            "name": "31 Wharf Street",
            "address": {"line1": "31 Wharf Street", "town": "Leeds", "postcode": "LS2 7EQ", "countryCode": "GB"},
            "type": "house",
            "acquisitionDate": "2019-06-14",
            "purchasePrice": "185000.00",
            "owners": [{"name": "Ben Oak", "sharePercent": "50"}],
        },
    ),
    Operation(
        id="landlord.updateProperty",
        kind="write",
        method="POST",
        path="/landlord/updateProperty",
        scopes=("accounting:write",),
        request=UpdateProperty,
        response=Property,
        handler=update_property,
        errors=("already_exists", "invalid_state", "period_closed", "share_total", "version_conflict"),
        example={"id": "prop_01k0000000000000000000000a", "furnished": "part_furnished", "expectedVersion": 1},
    ),
)
