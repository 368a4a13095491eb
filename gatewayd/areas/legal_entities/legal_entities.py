"""The legal entity resource (Spec §4, domain model A1 and B1). Owns the table `legal_entities`.

The row carries its wire form without the tax identifiers: lists show those masked, a single read shows them whole,
and the National Insurance number is encrypted at rest.
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from gatewayd.areas.legal_entities import fields as f
from gatewayd.areas.legal_entities import rows, tax_standings
from gatewayd.areas.legal_entities.tax_standings import TaxStanding
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, SyncRequest
from gatewayd.contract.wire import (
    Address,
    CountryCode,
    Currency,
    Email,
    ExternalId,
    Id,
    Name,
    Rendered,
    Request,
    Search,
    Version,
)
from gatewayd.errors import Problem, invalid_state, not_found, version_conflict
from gatewayd.ledger import period_locks
from gatewayd.ledger.lists import archive_filter, contains, sync_page
from gatewayd.store import ReadTx, Row, WriteTx

KIND = "legal entity"
RENDERED_AT_ONCE = 500  # entities read into memory together
IDENTIFIER_CODES = ("invalid_company_number", "invalid_nino", "invalid_utr", "invalid_vrn")


class GetLegalEntities(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    type: f.EntityType | None = None
    status: Literal["active", "archived"] | None = None
    q: Search | None = None
    include_archived: bool = False


class GetLegalEntity(Request, frozen=True, kw_only=True):
    """Which entity."""

    id: Id


class CreateLegalEntity(Request, frozen=True, kw_only=True):
    """A new entity. A VAT number without `vat` means that the entity is registered."""

    name: Name
    type: f.EntityType
    legal_name: Name | None = None
    external_id: ExternalId | None = None
    company_number: f.CompanyNumber | None = None
    utr: f.Utr | None = None
    nino: f.Nino | None = None
    vat_number: f.VatNumber | None = None
    vat: f.Vat | None = None
    accounting_year_end: f.YearEnd | None = None
    base_currency: Currency = "GBP"
    country_code: CountryCode = "GB"
    tax_residency: f.TaxResidency | None = None
    address: Address | None = None
    email: Email | None = None
    phone: f.Phone | None = None
    website: f.Website | None = None
    cis: f.Cis | None = None


class UpdateLegalEntity(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears, an object replaces the one before."""

    id: Id
    expected_version: Version | None = None
    name: Name | UnsetType = UNSET
    type: f.EntityType | UnsetType = UNSET
    legal_name: Name | UnsetType | None = UNSET
    external_id: ExternalId | UnsetType | None = UNSET
    company_number: f.CompanyNumber | UnsetType | None = UNSET
    utr: f.Utr | UnsetType | None = UNSET
    nino: f.Nino | UnsetType | None = UNSET
    vat_number: f.VatNumber | UnsetType | None = UNSET
    vat: f.Vat | UnsetType = UNSET
    accounting_year_end: f.YearEnd | UnsetType = UNSET
    base_currency: Currency | UnsetType = UNSET
    country_code: CountryCode | UnsetType = UNSET
    tax_residency: f.TaxResidency | UnsetType | None = UNSET
    address: Address | UnsetType | None = UNSET
    email: Email | UnsetType | None = UNSET
    phone: f.Phone | UnsetType | None = UNSET
    website: f.Website | UnsetType | None = UNSET
    cis: f.Cis | UnsetType = UNSET


_SELECT_PAGE = """
SELECT id, updated_at, wire, utr, nino_hint FROM legal_entities WHERE org_id = :org_id
"""
_SELECT_ONE = """
SELECT wire, utr, nino_sealed FROM legal_entities WHERE org_id = :org_id AND id = :id
"""
_SELECT_STORED = f"""
SELECT {rows.COLUMNS} FROM legal_entities WHERE org_id = :org_id AND id = :id
"""
_SELECT_STORED_AFTER = f"""
SELECT {rows.COLUMNS} FROM legal_entities WHERE org_id = :org_id AND id > :after ORDER BY id LIMIT :limit
"""
_SELECT_CLASH = """
SELECT id, CASE WHEN vat_number = :vat_number THEN 'vatNumber' WHEN company_number = :company_number
    THEN 'companyNumber' ELSE 'externalId' END
FROM legal_entities WHERE org_id = :org_id AND id <> :id
    AND (vat_number = :vat_number OR company_number = :company_number OR external_id = :external_id)
LIMIT 1
"""
_INSERT = f"""
INSERT INTO legal_entities (org_id, {rows.COLUMNS}, search_text, wire)
VALUES (:org_id, {rows.PARAMETERS}, :search_text, :wire)
"""
_UPDATE = f"""
UPDATE legal_entities SET {rows.ASSIGNMENTS}, search_text = :search_text, wire = :wire
WHERE org_id = :org_id AND id = :id
"""


def get_legal_entities(tx: ReadTx, caller: Caller, request: GetLegalEntities) -> Listing:
    """List legal entities.

    Newest first, or in the order of change with `updatedSince`. `q` looks in the names and numbers.
    """
    filters = {
        "type = :type": request.type,
        **archive_filter(request.status, request.include_archived),
        "search_text LIKE :pattern ESCAPE '!'": contains(request.q),
    }
    return sync_page(tx, request, _SELECT_PAGE, filters, _masked_item)


def get_legal_entity(tx: ReadTx, caller: Caller, request: GetLegalEntity) -> Rendered:
    """Get one legal entity, with its tax identifiers unmasked."""
    row = tx.row(_SELECT_ONE, id=request.id)
    if row is None:
        raise not_found(KIND)
    wire, utr, nino_sealed = row
    nino = None if nino_sealed is None else tx.unseal(nino_sealed, rows.nino_context(request.id))
    return Rendered(wire + rows.identifiers(utr, nino))


def create_legal_entity(tx: WriteTx, caller: Caller, request: CreateLegalEntity) -> Rendered:
    """Create a legal entity.

    Identifiers are checked by their check digits; VAT and company numbers are unique in the organization.
    """
    given = {name: getattr(request, name) for name in request.__struct_fields__}
    status: f.VatStatus = "not_registered" if request.vat_number is None else "registered"
    given["vat"] = request.vat or f.Vat(status=status)
    given["cis"] = request.cis or f.Cis()
    given["accounting_year_end"] = request.accounting_year_end or f.default_year_end(request.type)
    fields = f.settled(f.Fields(**given))
    entity_id = tx.new_id("ent")
    _refuse_clash(tx, entity_id, fields)
    values = rows.columns(tx, entity_id, fields, rows.Stamps(tx.now, 1, None))
    tx.run(_INSERT, **values)
    return Rendered(values["wire"] + rows.identifiers(fields.utr, fields.nino))


def update_legal_entity(tx: WriteTx, caller: Caller, request: UpdateLegalEntity) -> Rendered:
    """Change the given fields of a legal entity.

    Type, base currency and year end are fixed once a period of the entity is closed.
    """
    row = tx.row(_SELECT_STORED, id=request.id)
    if row is None:
        raise not_found(KIND)
    stored = dict(zip(rows.COLUMN_NAMES, row, strict=True))
    if request.expected_version not in (None, stored["version"]):
        raise version_conflict(request.expected_version, stored["version"])
    before = rows.fields_of(tx, stored)
    changes = {name: getattr(request, name) for name in f.Fields.__struct_fields__}
    changes = {name: value for name, value in changes.items() if value is not UNSET}
    after = f.settled(msgspec.structs.replace(before, **changes))
    _refuse_fixed(tx, request.id, before, after)
    _refuse_clash(tx, request.id, after)
    stamps = rows.Stamps(stored["created_at"], stored["version"] + 1, stored["archived_at"])
    values = rows.columns(tx, request.id, after, stamps)
    tx.run(_UPDATE, **values)
    return Rendered(values["wire"] + rows.identifiers(after.utr, after.nino))


def render_again(tx: ReadTx, entity_id: str) -> bytes:
    """The wire form as the typed columns give it: what the stored one must equal."""
    row = tx.row(_SELECT_STORED, id=entity_id)
    assert row is not None
    stored = dict(zip(rows.COLUMN_NAMES, row, strict=True))
    return rows.wire(rows.fields_of(tx, stored), stored, tax_standings.find(tx))


def change_tax_standing(tx: WriteTx, standing: TaxStanding | None) -> None:
    """Say in every entity of the organization what the tax authority grants; None: nothing any more.

    Each is a change as any other: it has a new version, and lists by `updatedSince` show it.
    """
    if standing == tax_standings.find(tx):
        return
    tax_standings.keep(tx, standing)
    after: str | None = ""
    while after is not None:  # Chosen: all of them, though a firm of accountants may have thousands
        found = tx.rows(_SELECT_STORED_AFTER, after=after, limit=RENDERED_AT_ONCE)
        for row in found:
            _touch(tx, dict(zip(rows.COLUMN_NAMES, row, strict=True)))
        after = found[-1][0] if len(found) == RENDERED_AT_ONCE else None


def _touch(tx: WriteTx, stored: dict[str, Any]) -> None:
    """Render an entity as one that has just changed."""
    stamps = rows.Stamps(stored["created_at"], stored["version"] + 1, stored["archived_at"])
    tx.run(_UPDATE, **rows.columns(tx, stored["id"], rows.fields_of(tx, stored), stamps))


def _masked_item(row: Row) -> bytes:
    _, _, wire, utr, nino_hint = row
    return bytes(wire + rows.masked_identifiers(utr, nino_hint))


def _refuse_fixed(tx: ReadTx, entity_id: str, before: f.Fields, after: f.Fields) -> None:
    fixed = ("type", "base_currency", "accounting_year_end")
    if any(getattr(before, name) != getattr(after, name) for name in fixed) and period_locks.any_closed(tx, entity_id):
        raise invalid_state("A period is closed: type, base currency and year end stay as they are.", "closed", ())


def _refuse_clash(tx: ReadTx, entity_id: str, fields: f.Fields) -> None:
    clash = tx.row(
        _SELECT_CLASH,
        id=entity_id,
        vat_number=fields.vat_number,
        company_number=fields.company_number,
        external_id=fields.external_id,
    )
    if clash is not None:
        existing_id, name = clash
        message = f"A legal entity with this {name} exists: {existing_id}."
        raise Problem("already_exists", message, extra={"existingId": existing_id, "field": name})


OPERATIONS = (
    Operation(
        id="legalEntity.getLegalEntities",
        kind="read",
        method="GET",
        path="/legalEntity/getLegalEntities",
        scopes=("entities:read",),
        request=GetLegalEntities,
        response=Page[rows.LegalEntity],
        handler=get_legal_entities,
        example={"type": "limited_company", "limit": 20},
    ),
    Operation(
        id="legalEntity.getLegalEntity",
        kind="read",
        method="GET",
        path="/legalEntity/getLegalEntity",
        scopes=("entities:read",),
        request=GetLegalEntity,
        response=rows.LegalEntity,
        handler=get_legal_entity,
        example={"id": "ent_01k0000000000000000000000a"},
    ),
    Operation(
        id="legalEntity.createLegalEntity",
        kind="write",
        method="POST",
        path="/legalEntity/createLegalEntity",
        scopes=("entities:write",),
        request=CreateLegalEntity,
        response=rows.LegalEntity,
        handler=create_legal_entity,
        errors=("already_exists", *IDENTIFIER_CODES),
        example={
            "name": "Oak & Son Joinery",
            "type": "limited_company",
            "legalName": "Oak & Son Joinery Ltd",
            "companyNumber": "01234567",
            "vatNumber": "GB980780684",
            "vat": {"status": "registered", "effectiveDate": "2024-05-01", "scheme": "standard"},
            "address": {"line1": "12 Oak Street", "town": "Leeds", "postcode": "LS1 4DY", "countryCode": "GB"},
        },
    ),
    Operation(
        id="legalEntity.updateLegalEntity",
        kind="write",
        method="POST",
        path="/legalEntity/updateLegalEntity",
        scopes=("entities:write",),
        request=UpdateLegalEntity,
        response=rows.LegalEntity,
        handler=update_legal_entity,
        errors=("already_exists", "invalid_state", "version_conflict", *IDENTIFIER_CODES),
        example={"id": "ent_01k0000000000000000000000a", "email": "accounts@example.com", "expectedVersion": 1},
    ),
)
