"""The tenant resource (Spec §4, Domain A4 and B4): its operations."""

from msgspec.structs import replace

from gatewayd.areas.landlord.tenants import rows, rules
from gatewayd.areas.landlord.tenants.rows import TENANTS
from gatewayd.areas.landlord.tenants.shapes import (
    CreateTenant,
    EraseTenant,
    GetTenant,
    ListTenants,
    Tenant,
    UpdateTenant,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.errors import Problem, invalid, invalid_field, invalid_state
from gatewayd.ledger.lists import contains, table_page
from gatewayd.store import ReadTx, WriteTx


def list_tenants(tx: ReadTx, caller: Caller, request: ListTenants) -> Listing[Tenant]:
    """List tenants, newest first, or in the order of change with `updatedSince`.

    With `propertyId`, `tenancyId`, `businessId` or `legalEntityId` it is everybody who is or was a tenant there,
    whatever became of the tenancy.
    `includeFormer` false leaves out who was replaced.
    """
    where: dict[str, object] = {
        rows.IN_PROPERTY: request.property_id,
        rows.IN_TENANCY: request.tenancy_id,
        rows.IN_BUSINESS: request.business_id,
        rows.IN_LEGAL_ENTITY: request.legal_entity_id,
    }
    if not request.include_former:
        where = {rows.now(condition): value for condition, value in where.items()}
    filters: dict[str, object] = {
        **where,
        "kind = :kind": request.kind,
        "search_text LIKE :pattern ESCAPE '!'": contains(request.q),
        "external_id = :external_id": request.external_id,
    }
    if request.status is None:
        return table_page(tx, request, TENANTS, filters)
    return table_page(tx, request, TENANTS, filters, {"today": tx.today}, rows.OF_STATUS[request.status])


def get_tenant(tx: ReadTx, caller: Caller, request: GetTenant) -> Tenant:
    """Get one tenant, erased or not."""
    return TENANTS.get(tx, request.id)


def create_tenant(tx: WriteTx, caller: Caller, request: CreateTenant) -> Tenant:
    """Create a tenant, a person or a company. `externalId` may be used once."""
    row = TENANTS.new(tx, request, right_to_rent=request.right_to_rent or rules.UNCHECKED)
    return TENANTS.insert(tx, _checked(tx, rules.named(row, request.name), request))


def update_tenant(tx: WriteTx, caller: Caller, request: UpdateTenant) -> Tenant:
    """Change the given fields of a tenant. One that was erased stays as it is."""
    before = TENANTS.get(tx, request.id, request.expected_version)
    if before.anonymised_at is not None:
        message = "The tenant was erased, for good: create another with `landlord.createTenant`."
        raise invalid_state(message, before.status, ())
    after = TENANTS.changed(before, request)
    after = replace(after, right_to_rent=after.right_to_rent or rules.UNCHECKED)
    return TENANTS.update(tx, _checked(tx, rules.named(after, request.name), request))


def erase_tenant(tx: WriteTx, caller: Caller, request: EraseTenant) -> Tenant:
    """Erase what tells who a tenant was, for good: names, addresses, numbers, checks, guarantor, notes.

    The tenant stays under its id, so that tenancies and books do, and so does `externalId`. It is refused while a
    tenancy has not ended, and for six years after the last day as a tenant of any, unless an administrator has a
    `reason` and sets `force`. What the notes of tenancies say of a tenant is not looked at. To erase again changes
    nothing.
    """
    before = TENANTS.get(tx, request.id, request.expected_version)
    if before.anonymised_at is not None:
        return before
    last_day, going_on = rows.ends_of(tx, before.id)
    if going_on:
        message = "A tenancy of theirs has not ended: end that first, by `endedDate` of `landlord.updateTenancy`."
        raise invalid_state(message, before.status, ("past", "prospective"))
    kept_until = None if last_day is None else rules.kept_until(last_day)
    forced = kept_until is not None and kept_until >= tx.today
    if forced:
        _refuse_early(caller, request, f"Records of a tenancy, theirs until {last_day}, are kept until {kept_until}.")
    reason = request.reason if forced else None
    return TENANTS.update(tx, replace(rules.erased(before), anonymised_at=tx.now, anonymised_reason=reason))


def _refuse_early(caller: Caller, request: EraseTenant, message: str) -> None:
    """Raises `Problem`: `invalid_state`, `forbidden`, `validation_failed`."""
    if not request.force:
        way_out = "An administrator erases them earlier, with force: true and a `reason`."
        raise invalid_state(f"{message} {way_out}", "past", ())
    if not caller.is_admin:
        raise Problem("forbidden", "Only an administrator of the organization can erase a tenant before that time.")
    if request.reason is None:
        raise invalid_field("reason", "required", f"{message} Why is the tenant erased?")


def _checked(tx: WriteTx, row: Tenant, request: CreateTenant | UpdateTenant) -> Tenant:
    """The tenant as it is. Raises `Problem` `validation_failed`."""
    errors = [*rules.name_mistakes(request), *rules.mistakes(row, tx.today)]
    if errors:
        raise invalid(*errors)
    return row


OPERATIONS = (
    Operation(
        id="landlord.listTenants",
        kind="read",
        method="GET",
        path="/landlord/listTenants",
        scopes=("accounting:read",),
        request=ListTenants,
        response=SyncPage[Tenant],
        handler=list_tenants,
        example={"status": "current", "limit": 20},
    ),
    Operation(
        id="landlord.getTenant",
        kind="read",
        method="GET",
        path="/landlord/getTenant",
        scopes=("accounting:read",),
        request=GetTenant,
        response=Tenant,
        handler=get_tenant,
        extension=True,
        example={"id": "tnt_01k0000000000000000000000a"},
    ),
    Operation(
        id="landlord.createTenant",
        kind="write",
        method="POST",
        path="/landlord/createTenant",
        scopes=("accounting:write",),
        request=CreateTenant,
        response=Tenant,
        handler=create_tenant,
        errors=("already_exists",),
        example={
            "kind": "person",
            "name": "Rosa Hart",
            "email": "rosa.hart@example.com",
            "phone": "07700 900123",
            "rightToRent": {"status": "passed", "checkedDate": "2026-09-18"},
        },
    ),
    Operation(
        id="landlord.updateTenant",
        kind="write",
        method="POST",
        path="/landlord/updateTenant",
        scopes=("accounting:write",),
        request=UpdateTenant,
        response=Tenant,
        handler=update_tenant,
        errors=("already_exists", "invalid_state", "version_conflict"),
        extension=True,
        example={"id": "tnt_01k0000000000000000000000a", "phone": "07700 900456", "expectedVersion": 1},
    ),
    Operation(
        id="landlord.eraseTenant",
        kind="write",
        method="POST",
        path="/landlord/eraseTenant",
        scopes=("accounting:write",),
        request=EraseTenant,
        response=Tenant,
        handler=erase_tenant,
        errors=("forbidden", "invalid_state", "version_conflict"),
        extension=True,
        example={"id": "tnt_01k0000000000000000000000b"},
    ),
)
