"""The legal entity resource (Spec §4, domain model A1 and B1): its operations."""

from string import ascii_lowercase

from msgspec.structs import replace

from gatewayd.areas.legal_entities import rows, rules
from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES
from gatewayd.areas.legal_entities.shapes import (
    ArchiveLegalEntity,
    Cis,
    CreateLegalEntity,
    EntityRow,
    GetLegalEntities,
    GetLegalEntity,
    LegalEntity,
    UpdateLegalEntity,
    Vat,
    VatStatus,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import Rendered, project
from gatewayd.errors import archived_already, invalid_state, not_found
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.lists import Source, archive_filter, contains, sync_page
from gatewayd.ledger.taxpayers import businesses, owners
from gatewayd.ledger.vat import vat_standing
from gatewayd.ledger.vat.vat_standing import VatStanding
from gatewayd.store import ReadTx, Row, WriteTx

IDENTIFIER_CODES = ("invalid_company_number", "invalid_nino", "invalid_utr", "invalid_vrn")

_SELECT_PAGE = "SELECT id, updated_at, wire, utr_hint, nino_hint FROM legal_entities WHERE org_id = :org_id"
_SELECT_ONE = "SELECT wire, utr_sealed, nino_sealed FROM legal_entities WHERE org_id = :org_id AND id = :id"


def get_legal_entities(tx: ReadTx, caller: Caller, request: GetLegalEntities) -> Listing[LegalEntity]:
    """List legal entities.

    Newest first, or in the order of change with `updatedSince`. `q` looks in the names and numbers.
    """
    filters: dict[str, object] = {
        "type = :type": request.type,
        **archive_filter(request),
        "external_id = :external_id": request.external_id,
        "search_text LIKE :pattern ESCAPE '!'": contains(request.q),
    }
    entities = None if caller.held is None else caller.held.entities
    if entities is None:
        return sync_page(tx, request, Source(LEGAL_ENTITIES, [_SELECT_PAGE]), filters, _masked_item)
    named = {f"held_{letter}": id_ for letter, id_ in zip(ascii_lowercase, sorted(entities), strict=False)}
    filters[f"id IN ({', '.join(f':{name}' for name in named)})"] = True
    return sync_page(tx, request, Source(LEGAL_ENTITIES, [_SELECT_PAGE]), filters, _masked_item, named)


def get_legal_entity(tx: ReadTx, caller: Caller, request: GetLegalEntity) -> Rendered[LegalEntity]:
    """Get one legal entity, with its tax identifiers unmasked."""
    row = tx.row(_SELECT_ONE, id=request.id)
    if row is None:
        raise not_found(LEGAL_ENTITIES.kind)
    wire, utr, nino = row
    opened = rows.opened_utr(tx, request.id, utr), rows.opened_nino(tx, request.id, nino)
    return Rendered(rows.served(wire, *opened))


def create_legal_entity(tx: WriteTx, caller: Caller, request: CreateLegalEntity) -> LegalEntity:
    """Create a legal entity.

    Identifiers are checked by their check digits; VAT and company numbers are unique in the organization. Invoices of
    the first one are numbered after those that the organization made out in its own name.
    """
    status: VatStatus = "not_registered" if request.vat_number is None else "registered"
    row = LEGAL_ENTITIES.new(
        tx,
        request,
        vat=request.vat or Vat(status=status),
        cis=request.cis or Cis(),
        accounting_year_end=request.accounting_year_end or rules.default_year_end(request.type),
        numbered_as_organization=rows.is_first(tx),
    )
    row = rows.sealed(tx, rules.checked(row))
    rows.refuse_clash(tx, row)
    return project(LEGAL_ENTITIES.insert(tx, row), LegalEntity)


def update_legal_entity(tx: WriteTx, caller: Caller, request: UpdateLegalEntity) -> LegalEntity:
    """Change the given fields of a legal entity.

    Type, base currency and year end are fixed once a period of the entity is closed, and whether it is registered for
    VAT on the days of that period. A company has no self-employment, and a person one UK property business: a type that
    its businesses do not allow is refused. So is one whose gains follow other rules, once its accounts have held
    anything.
    """
    before = LEGAL_ENTITIES.get(tx, request.id, request.expected_version)
    standing = vat_standing.of_entity(tx, before.id)
    back = {"archived_at": None} if request.status == "active" else {}
    after = rules.checked(LEGAL_ENTITIES.changed(before, request, **back))
    if after.nino != before.nino:
        after = replace(after, itsa_status=None)  # what was said was said of another person
    _refuse_fixed(tx, before, after)
    _refuse_type(tx, before, after)
    rows.refuse_clash(tx, after)
    after = LEGAL_ENTITIES.update(tx, rows.sealed(tx, after))
    _refuse_other_vat(tx, after, standing)
    _keep_former_terms(tx, before.id, standing)
    return project(after, LegalEntity)


def archive_legal_entity(tx: WriteTx, caller: Caller, request: ArchiveLegalEntity) -> LegalEntity:
    """Archive a legal entity: lists hide it, it sells and begins nothing more, and it can still be read.

    updateLegalEntity brings it back with `status`. A business of it that is neither ceased nor archived refuses it, as
    does a portfolio that is not archived, unless `force` is true.
    """
    before = LEGAL_ENTITIES.get(tx, request.id, request.expected_version)
    if before.archived_at is not None:
        raise archived_already(LEGAL_ENTITIES.kind)
    live = next((business for business in businesses.of_entity(tx, before.id) if business.is_live), None)
    if live is not None and not request.force:  # Chosen: as open obligations refuse to archive a business
        message = (
            f"Its business {live.id} is neither ceased nor archived: archive that first, with `businesses.archive`, or"
            " send force: true."
        )
        raise invalid_state(message, "active", ())
    portfolio_id = rows.live_portfolio(tx, before.id)
    if portfolio_id is not None and not request.force:
        message = (
            f"Its portfolio {portfolio_id} is not archived: archive that first, with `assets.archivePortfolio`, or send"
            " force: true."
        )
        raise invalid_state(message, "active", ())
    return project(LEGAL_ENTITIES.update(tx, replace(before, archived_at=tx.now)), LegalEntity)


def _masked_item(row: Row) -> bytes:
    _, _, wire, utr_hint, nino_hint = row
    return rows.masked(wire, utr_hint, nino_hint)


def _refuse_fixed(tx: ReadTx, before: EntityRow, after: EntityRow) -> None:
    fixed = ("type", "base_currency", "accounting_year_end")
    if any(getattr(before, name) != getattr(after, name) for name in fixed) and period_locks.any_closed(tx, before.id):
        message = (
            "A period is closed: `type`, `baseCurrency` and `accountingYearEnd` stay as they are until"
            " `periods.reopen` opens it."
        )
        raise invalid_state(message, "closed", ("open",))


def _refuse_other_vat(tx: ReadTx, after: EntityRow, standing: VatStanding) -> None:
    """Raises `Problem` `invalid_state` where figures of a closed period would become net of VAT, or gross."""
    ranges = period_locks.all_closed(tx, after.id)
    day = vat_standing.first_changed(standing, vat_standing.of_entity(tx, after.id), ranges)
    if day is not None:
        message = (
            f"The period that holds {day} is closed: how the entity stands towards VAT on that day stays as it is"
            " until `periods.reopen` opens it."
        )
        raise invalid_state(message, "closed", ("open",))


def _keep_former_terms(tx: WriteTx, legal_entity_id: str, standing: VatStanding) -> None:
    """Let closed days keep the scheme and the percentage that they were closed with."""
    if vat_standing.now(tx, legal_entity_id) != standing.terms:
        last_closed = period_locks.last_closed(tx, legal_entity_id)
        vat_standing.keep(tx, legal_entity_id, standing.terms_on(last_closed or ""), last_closed)


def _refuse_type(tx: ReadTx, before: EntityRow, after: EntityRow) -> None:
    """Raises `Problem` `invalid_state` where businesses or holdings of an entity are not those of its new type."""
    if after.type == before.type:
        return
    types = [business.type for business in businesses.of_entity(tx, before.id) if business.is_live]
    if after.type in owners.INCORPORATED and "self_employment" in types:
        message = "It has a self-employment, which is a person's: let that cease first, with `businesses.setStatus`."
        raise invalid_state(message, before.type, ())
    if after.type in owners.PERSONS and types.count("uk_property") > 1:
        message = (
            "A person has one UK property business, and it has several: archive all but one first, with"
            " `businesses.archive`."
        )
        raise invalid_state(message, before.type, ())
    if (after.type in owners.POOLING) != (before.type in owners.POOLING):
        _refuse_other_gains(tx, before, after)


def _refuse_other_gains(tx: ReadTx, before: EntityRow, after: EntityRow) -> None:
    """Chosen: what was held has its pools or has none (Domain C5), and neither becomes the other."""
    if rows.ever_held(tx, before.id):
        message = (
            "Its accounts have held assets, whose gains follow other rules: create another legal entity, with"
            " `legalEntity.createLegalEntity`."
        )
        raise invalid_state(message, before.type, ())
    portfolio_id = None if after.type in owners.POOLING else rows.pooled_portfolio(tx, before.id)
    if portfolio_id is not None:
        message = (
            f"It would have no section 104 holdings: give {portfolio_id} another `costBasisMethod` first, with"
            " `assets.updatePortfolio`."
        )
        raise invalid_state(message, before.type, ())


OPERATIONS = (
    Operation(
        id="legalEntity.getLegalEntities",
        kind="read",
        method="GET",
        path="/legalEntity/getLegalEntities",
        scopes=("entities:read",),
        request=GetLegalEntities,
        response=SyncPage[LegalEntity],
        handler=get_legal_entities,
        held=HeldBy(by_handler=True, undated=True),
        example={"type": "limited_company", "limit": 20},
    ),
    Operation(
        id="legalEntity.getLegalEntity",
        kind="read",
        method="GET",
        path="/legalEntity/getLegalEntity",
        scopes=("entities:read",),
        request=GetLegalEntity,
        response=LegalEntity,
        handler=get_legal_entity,
        held=HeldBy(leads={"id": "legal_entity"}, undated=True),
        example={"id": "ent_01k0000000000000000000000a"},
    ),
    Operation(
        id="legalEntity.createLegalEntity",
        kind="write",
        method="POST",
        path="/legalEntity/createLegalEntity",
        scopes=("entities:write",),
        request=CreateLegalEntity,
        response=LegalEntity,
        handler=create_legal_entity,
        errors=("already_exists", *IDENTIFIER_CODES),
        example={
            "name": "Oak & Son Kitchens",
            "type": "limited_company",
            "legalName": "Oak & Son Kitchens Ltd",
            "companyNumber": "13579246",
            "vatNumber": "GB577215622",
            "vat": {"status": "registered", "effectiveDate": "2026-09-01", "scheme": "standard"},
            "address": {"line1": "12a Oak Street", "town": "Leeds", "postcode": "LS1 4DY", "countryCode": "GB"},
        },
    ),
    Operation(
        id="legalEntity.updateLegalEntity",
        kind="write",
        method="POST",
        path="/legalEntity/updateLegalEntity",
        scopes=("entities:write",),
        request=UpdateLegalEntity,
        response=LegalEntity,
        handler=update_legal_entity,
        errors=("already_exists", "invalid_state", "version_conflict", *IDENTIFIER_CODES),
        example={"id": "ent_01k0000000000000000000000a", "email": "accounts@oakandson.example", "expectedVersion": 1},
    ),
    Operation(
        id="legalEntity.archive",
        kind="write",
        method="POST",
        path="/legalEntity/archive",
        scopes=("entities:write",),
        request=ArchiveLegalEntity,
        response=LegalEntity,
        handler=archive_legal_entity,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"id": "ent_01k0000000000000000000000a", "force": True},
    ),
)
