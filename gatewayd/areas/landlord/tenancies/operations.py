"""The tenancy resource (Spec §4, Domain A4 and B4): its operations."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.landlord.register import rent_terms, tenancy_states, unit_references
from gatewayd.areas.landlord.register.properties import PROPERTIES, Jurisdiction, StoredProperty
from gatewayd.areas.landlord.register.tenancies import TENANCIES
from gatewayd.areas.landlord.register.tenancy_shapes import RentStep, TenancyRow
from gatewayd.areas.landlord.tenancies import changing, compliance, deposits, rows, rules, spans
from gatewayd.areas.landlord.tenancies.rules import amount_of
from gatewayd.areas.landlord.tenancies.shapes import CreateTenancy, GetTenancy, ListTenancies, Tenancy, UpdateTenancy
from gatewayd.areas.landlord.tenancies.spans import Changed
from gatewayd.areas.landlord.tenants import rows as tenants
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, gathered, invalid, invalid_state
from gatewayd.ledger.lists import Source, sync_page
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers import businesses
from gatewayd.money import Money
from gatewayd.store import ReadTx, Row, WriteTx


def list_tenancies(tx: ReadTx, caller: Caller, request: ListTenancies) -> Listing[Tenancy]:
    """List tenancies, newest first, or in the order of change with `updatedSince`.

    `status` is the state today. `asOfDate` answers those that had begun by that day and had not ended before it, and
    were not called off.
    """
    as_of_date = None if request.as_of_date is None else request.as_of_date.isoformat()
    filters: dict[str, object] = {
        "property_id = :property_id": request.property_id,
        **rows.WHOSE.filters(request),
        "unit_id = :unit_id": request.unit_id,
        rows.OF_TENANT: request.tenant_id,
        rows.RUNS_ON: as_of_date,
        "external_id = :external_id": request.external_id,
    }
    states = ("",) if request.status is None else rows.OF_STATUS[request.status]

    def item(row: Row) -> bytes:
        return encode(rows.shown(tx, TENANCIES.read(tx, row)))

    source = Source(TENANCIES, [TENANCIES.select + state for state in states])
    return sync_page(tx, request, source, filters, item, {"today": tx.today})


def get_tenancy(tx: ReadTx, caller: Caller, request: GetTenancy) -> Tenancy:
    """Get one tenancy as it is today, over or called off or not."""
    return rows.shown(tx, TENANCIES.get(tx, request.id))


def create_tenancy(tx: WriteTx, caller: Caller, request: CreateTenancy) -> Tenancy:
    """Create a tenancy of a property, or of a unit of it, for one tenant or several.

    Two tenancies cannot have a unit on the same day; one of the whole property has all of its units. Its type follows
    from the property and the day of its start: in England assured_periodic from 2026-05-01 on, assured_shorthold
    before, which became assured_periodic on that day. These have no fixed term from that day on, and Scottish private
    residential tenancies never had one: an `endDate` is taken with the warning `fixed_term_not_allowed`, and does not
    end them. Nor does it end a tenancy that the law continues past its term, which the warning `term_over` tells: a
    tenancy that is over has its `endedDate`.
    """
    let = PROPERTIES.find(tx, request.property_id)
    errors = [
        *_property_mistakes(tx, let),
        *unit_references.mistakes(tx, request.unit_id, request.property_id),
        *_tenant_mistakes(tx, request.tenant_ids),
    ]
    row = _new_row(tx, request, let, errors)
    ends = {"endDate": row.term_end_date, "endedDate": row.end_date}
    errors += [] if let is None else rules.type_mistakes(row, let.jurisdiction)
    errors += rules.mistakes(row, tx.today, ends)
    errors += rules.due_day_mistakes(row, is_requested=request.rent_due_day is not None)
    _refuse_mistakes([*errors, *deposits.mistakes(row, tx.today, by_name=request.deposit is None)])
    warnings = [compliance.no_term(row)] if rules.takes_no_term(row) else []
    row = rows.add(tx, rules.without_term(row))
    return rows.shown(tx, row, [*warnings, *compliance.of_last_quarter(None, row)])


def update_tenancy(tx: WriteTx, caller: Caller, request: UpdateTenancy) -> Tenancy:
    """Change how a tenancy ends, its tenants, its rent, its deposit, or what was entered wrongly of it.

    A tenant's notice ends the tenancy on the day it expires, unless `endedDate` says another one. A landlord's notice
    does so only where a contract alone protects the let; on a home the tenancy goes on past it until `endedDate` says
    that somebody left. A notice, and a rise of rent, that is not as the law asks for (section 13 of the Housing Act
    1988 for rises) is taken with `warnings`. An end that is said holds whatever the law made of the agreement; the end
    of a term that the law continues ends nothing. `cancelled` calls off a tenancy before its first day, and from then
    on its terms stay as they are.
    """
    before = TENANCIES.get(tx, request.id, request.expected_version)
    if before.cancelled_at is not None and changing.changes_terms(request):
        message = "The tenancy was called off: only its `deposit`, `notes` and `externalId` change. Create another."
        raise invalid_state(message, "cancelled", ("upcoming", "active", "notice", "ended"))
    errors: list[FieldError] = []
    after = TENANCIES.changed(before, request, end_date=before.end_date)
    after = changing.with_start(changing.with_due_day(after, before, request), before, request)
    after = changing.with_notice(after, before, request)
    after = gathered(errors, changing.with_end, after, request, tx.today) or after
    after = gathered(errors, changing.with_deposit, after, request) or after
    after, told = gathered(errors, spans.with_tenants, after, before, request, tx.today) or Changed(after)
    errors += rules.due_day_mistakes(after, is_requested=request.rent_due_day is not UNSET)
    if request.tenant_ids is not UNSET and after.tenant_ids != before.tenant_ids:
        errors += _tenant_mistakes(tx, after.tenant_ids)
    if (after.type, after.start_date) != (before.type, before.start_date):
        errors += rules.type_mistakes(after, _jurisdiction(tx, before))
    ends = changing.ends_of(after, request)
    errors += [*rules.mistakes(after, tx.today, ends), *spans.mistakes(after), *deposits.mistakes(after, tx.today)]
    if request.rent is not UNSET:
        after = gathered(errors, changing.with_rent, after, request.rent, tx.today) or after
    _refuse_mistakes(errors)
    if request.cancelled:
        after = _called_off(tx, after)
    same = (after.type, after.term_end_date) == (before.type, before.term_end_date)
    warnings = [*told, *([] if same or not rules.takes_no_term(after) else [compliance.no_term(after)])]
    after = rows.change(tx, before, rules.without_term(after))
    warnings += compliance.of_last_quarter(before, after)
    if request.rent is not UNSET and request.rent.amount is not None:
        warnings += compliance.of_rent(after, rent_terms.step_on(after, request.rent.from_date.isoformat()))
    return rows.shown(tx, after, warnings)


def _new_row(tx: WriteTx, request: CreateTenancy, let: StoredProperty | None, errors: list[FieldError]) -> TenancyRow:
    """A tenancy that is not stored yet, and not looked at. Amounts that are wrong are told in `errors`, and not in it.

    Of no property it is in no currency, and of no type that would follow from one: `other`, in pounds.
    """
    start = request.start_date.isoformat()
    if let is None:
        type_, currency, untold = request.type or "other", "GBP", list[FieldError]()
    else:
        companies = _are_companies(tx, request.tenant_ids)
        type_, currency, untold = (
            request.type or rules.default_type(let, start, companies=companies),
            let.currency,
            errors,
        )
    rent = gathered(untold, amount_of, "rentAmount", request.rent_amount, currency) or Money(0, currency)
    deposit = gathered(errors, deposits.part_of, request)
    by_name = request.deposit is None
    columns = gathered(untold, deposits.columns_of, deposit, currency, by_name=by_name)
    return TENANCIES.new(
        tx,
        request,
        type=type_,
        tenant_spans=[],
        notice_grounds=[],
        term_end_date=None if request.end_date is None else request.end_date.isoformat(),
        end_date=None if request.ended_date is None else request.ended_date.isoformat(),
        rent_due_day=request.rent_due_day or rules.default_due_day(start, request.rent_frequency),
        currency=currency,
        rent_history=[RentStep(from_date=start, amount=str(rent), notice=None)],
        **(columns or deposits.columns_of(None, currency)),
    )


def _refuse_mistakes(errors: list[FieldError]) -> None:
    """Raises `Problem` `validation_failed` where there are any."""
    if errors:
        raise invalid(*errors)


def _called_off(tx: WriteTx, row: TenancyRow) -> TenancyRow:
    """The tenancy, cancelled. Raises `Problem` `invalid_state` where it has begun."""
    status = tenancy_states.status_of(row, tx.today)
    if status not in ("upcoming", "cancelled"):
        message = f"The tenancy began on {row.start_date}: it is not called off any more, but ends on its `endedDate`."
        raise invalid_state(message, status, ("upcoming",))
    return replace(row, cancelled_at=row.cancelled_at or tx.now)


def _jurisdiction(tx: ReadTx, row: TenancyRow) -> Jurisdiction:
    let = PROPERTIES.find(tx, row.property_id)
    assert let is not None  # a foreign key
    return let.jurisdiction


def _property_mistakes(tx: ReadTx, let: StoredProperty | None) -> Iterator[FieldError]:
    """What is wrong with the property of a new tenancy; None: there is no such one."""
    if let is None:
        yield unknown_reference("propertyId", "property")
        return
    if let.status in ("sold", "archived"):
        message = f"The property is {let.status}: choose another, or bring it back with `landlord.updateProperty`."
        yield FieldError("propertyId", "conflict", message)
    business = businesses.find(tx, let.business_id)
    if business is not None and business.archived:
        yield FieldError(
            "propertyId",
            "conflict",
            "The business of the property is archived: bring it back first, or choose another.",
        )


def _tenant_mistakes(tx: ReadTx, ids: Sequence[str]) -> Iterator[FieldError]:
    """What is wrong with the tenants of a tenancy."""
    for index, id_ in enumerate(ids):
        path, standing = f"tenantIds[{index}]", tenants.standing(tx, id_)
        if id_ in ids[:index]:
            yield FieldError(path, "conflict", "The tenant is named twice: name each once.")
        elif standing is None:
            yield unknown_reference(path, "tenant")
        elif standing.erased:
            yield FieldError(path, "conflict", "The tenant was erased: choose another.")


def _are_companies(tx: ReadTx, ids: Sequence[str]) -> bool:
    """Whether all of these tenants are companies."""
    standings = [tenants.standing(tx, id_) for id_ in ids]
    return all(standing is not None and standing.kind == "company" for standing in standings)


OPERATIONS = (
    Operation(
        id="landlord.listTenancies",
        kind="read",
        method="GET",
        path="/landlord/listTenancies",
        scopes=("accounting:read",),
        request=ListTenancies,
        response=SyncPage[Tenancy],
        handler=list_tenancies,
        held=HeldBy(
            entity="legal_entity_id", leads={"property_id": "property", "business_id": "business", "unit_id": "unit"}
        ),
        example={"status": "active", "limit": 20},
    ),
    Operation(
        id="landlord.getTenancy",
        kind="read",
        method="GET",
        path="/landlord/getTenancy",
        scopes=("accounting:read",),
        request=GetTenancy,
        response=Tenancy,
        handler=get_tenancy,
        held=HeldBy(leads={"id": "tenancy"}),
        extension=True,
        example={"id": "tcy_01k0000000000000000000000a"},
    ),
    Operation(
        id="landlord.createTenancy",
        kind="write",
        method="POST",
        path="/landlord/createTenancy",
        scopes=("accounting:write",),
        request=CreateTenancy,
        response=Tenancy,
        handler=create_tenancy,
        errors=("already_exists", "overlapping_tenancy", "period_closed"),
        example={
            "propertyId": "prop_01k0000000000000000000000a",
            "unitId": "unit_01k0000000000000000000000a",
            "tenantIds": ["tnt_01k0000000000000000000000b"],
            "startDate": "2026-12-01",
            "rentAmount": "925.00",
            "rentFrequency": "monthly",
            "deposit": {
                "amount": "1067.00",
                "scheme": "dps",
                "reference": "DPS-4471",
                "receivedDate": "2026-11-18",
                "protectedDate": "2026-11-20",
            },
        },
    ),
    Operation(
        id="landlord.updateTenancy",
        kind="write",
        method="POST",
        path="/landlord/updateTenancy",
        scopes=("accounting:write",),
        request=UpdateTenancy,
        response=Tenancy,
        handler=update_tenancy,
        errors=(
            "already_exists",
            "invalid_state",
            "limit_reached",
            "overlapping_tenancy",
            "period_closed",
            "version_conflict",
        ),
        extension=True,
        example={
            "id": "tcy_01k0000000000000000000000a",
            "noticeServedDate": "2026-11-16",
            "noticeBy": "tenant",
            "noticeExpiryDate": "2027-01-31",
            "expectedVersion": 1,
        },
    ),
)
