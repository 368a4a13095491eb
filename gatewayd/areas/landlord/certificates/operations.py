"""The certificate resource (Spec §4, Domain A4 and B4): its operations."""

from collections.abc import Iterator

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.landlord.certificates import listing, rows, rules
from gatewayd.areas.landlord.certificates.kinds import default_expiry
from gatewayd.areas.landlord.certificates.rows import CERTIFICATES
from gatewayd.areas.landlord.certificates.shapes import (
    WINDOW_DAYS,
    CreateCertificate,
    DeleteCertificate,
    DeletedCertificate,
    GetCertificate,
    ListCertificates,
    StoredCertificate,
    UpdateCertificate,
)
from gatewayd.areas.landlord.register import properties, unit_references
from gatewayd.contract.caller import Caller
from gatewayd.contract.faults import made_of
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.errors import FieldError, gathered, invalid
from gatewayd.ledger import references
from gatewayd.ledger.certificate_shapes import Certificate
from gatewayd.ledger.references import Reference, unknown_reference
from gatewayd.store import ReadTx, WriteTx

_SELECT_TENANCY = "SELECT property_id, unit_id FROM tenancies WHERE org_id = :org_id AND id = :id"


def list_certificates(tx: ReadTx, caller: Caller, request: ListCertificates) -> Listing[Certificate]:
    """List certificates, newest first, or in the order of change with `updatedSince`.

    `status` is that of today: valid, expiring and expired ones come with the soonest to expire first, and an electrical
    report with faults that nobody has mended is expired. What is `missing` is what the law asks for and nobody has, of
    properties that are let; its `id` is null. What was superseded is shown with `status`, `includeSuperseded` or
    `updatedSince`. Of properties that are sold nothing is expiring or expired, unless `propertyId` asks for one.
    """
    return listing.page(tx, request)


def get_certificate(tx: ReadTx, caller: Caller, request: GetCertificate) -> Certificate:
    """Get one certificate as it is today, superseded or not."""
    return rows.shown(CERTIFICATES.get(tx, request.id), tx.today, WINDOW_DAYS)


def create_certificate(tx: WriteTx, caller: Caller, request: CreateCertificate) -> Certificate:
    """Create a certificate of a property, or of a unit of it.

    It supersedes the one before it of the same property, unit and type, or is itself superseded by one that was issued
    later. A gas safety check in the last 2 months of the former one keeps its day.
    """
    errors: list[FieldError] = []
    owner = gathered(errors, properties.in_use, tx, request.property_id)
    issuer = gathered(errors, rules.issuer, request.issuer_name, request.issuer)
    currency, untold = ("GBP", list[FieldError]()) if owner is None else (owner.currency, errors)
    row = made_of(untold, lambda asked: CERTIFICATES.new(tx, asked, currency=currency, issuer_name=issuer), request)
    errors += [*rules.mistakes(row, tx.today), *_reference_mistakes(tx, None, row)]
    if errors:
        raise invalid(*errors)
    row = rules.with_remedy(row)
    if row.expiry_date is None:
        former = rows.neighbours(tx, row).before
        expiry = default_expiry(row.type, row.issued_date, None if former is None else former.expiry_date)
        row = replace(row, expiry_date=expiry)
    return rows.shown(rows.insert(tx, row), tx.today, WINDOW_DAYS)


def update_certificate(tx: WriteTx, caller: Caller, request: UpdateCertificate) -> Certificate:
    """Change the given fields of a certificate. Which one is current follows from when they were issued."""
    before = CERTIFICATES.get(tx, request.id, request.expected_version)
    errors: list[FieldError] = []
    after = made_of(errors, lambda asked: CERTIFICATES.changed(before, asked), request)
    issuer = gathered(errors, rules.issuer, request.issuer_name, request.issuer)
    if issuer is not UNSET:
        after = replace(after, issuer_name=issuer)
    errors += [*rules.mistakes(after, tx.today), *_reference_mistakes(tx, before, after)]
    if errors:
        raise invalid(*errors)
    if request.result == "unsatisfactory":
        after = rules.with_remedy(after)
    return rows.shown(rows.update(tx, before, after), tx.today, WINDOW_DAYS)


def delete_certificate(tx: WriteTx, caller: Caller, request: DeleteCertificate) -> DeletedCertificate:
    """Delete a certificate; the one that it superseded is current again."""
    row = CERTIFICATES.get(tx, request.id, request.expected_version)
    rows.delete(tx, row)
    return DeletedCertificate(id=row.id, deleted=True)


def _reference_mistakes(tx: ReadTx, before: StoredCertificate | None, after: StoredCertificate) -> Iterator[FieldError]:
    """What is wrong with the unit, tenancy and document that it names. Those that stay are not looked at again."""
    if before is None or before.unit_id != after.unit_id:
        yield from unit_references.mistakes(tx, after.unit_id, after.property_id)
    if before is None or (before.tenancy_id, before.unit_id) != (after.tenancy_id, after.unit_id):
        yield from _tenancy_mistakes(tx, after)
    if before is None or before.document_id != after.document_id:
        yield from references.unknown(tx, [Reference("documentId", "document", after.document_id)])


def _tenancy_mistakes(tx: ReadTx, row: StoredCertificate) -> Iterator[FieldError]:
    if row.tenancy_id is None:
        return
    tenancy = tx.row(_SELECT_TENANCY, id=row.tenancy_id)
    if tenancy is None:
        yield unknown_reference("tenancyId", "tenancy")
    elif tenancy[0] != row.property_id:
        message = f"The tenancy is one of another property, {tenancy[0]}: expected one of {row.property_id}."
        yield FieldError("tenancyId", "conflict", message)
    elif None not in (row.unit_id, tenancy[1]) and row.unit_id != tenancy[1]:
        message = f"The tenancy is one of another unit, {tenancy[1]}: expected one of {row.unit_id}."
        yield FieldError("tenancyId", "conflict", message)


OPERATIONS = (
    Operation(
        id="landlord.listCertificates",
        kind="read",
        method="GET",
        path="/landlord/listCertificates",
        scopes=("accounting:read",),
        request=ListCertificates,
        response=SyncPage[Certificate],
        handler=list_certificates,
        held=HeldBy(
            entity="legal_entity_id",
            leads={"property_id": "property", "business_id": "business", "unit_id": "unit", "tenancy_id": "tenancy"},
        ),
        errors=("conflict",),
        example={"status": "valid", "type": ["gas_safety", "eicr"], "limit": 20},
    ),
    Operation(
        id="landlord.getCertificate",
        kind="read",
        method="GET",
        path="/landlord/getCertificate",
        scopes=("accounting:read",),
        request=GetCertificate,
        response=Certificate,
        handler=get_certificate,
        held=HeldBy(leads={"id": "certificate"}),
        extension=True,
        example={"id": "cert_01k0000000000000000000000a"},
    ),
    Operation(
        id="landlord.createCertificate",
        kind="write",
        method="POST",
        path="/landlord/createCertificate",
        scopes=("accounting:write",),
        request=CreateCertificate,
        response=Certificate,
        handler=create_certificate,
        errors=("already_exists", "invalid_state"),
        example={
            "propertyId": "prop_01k0000000000000000000000a",
            "type": "gas_safety",
            "issuedDate": "2026-11-18",
            "reference": "GS-20451",
            "issuerName": "Aire Heating",
            "issuerRegistration": "512345",
            "result": "satisfactory",
            "cost": "84.00",
        },
    ),
    Operation(
        id="landlord.updateCertificate",
        kind="write",
        method="POST",
        path="/landlord/updateCertificate",
        scopes=("accounting:write",),
        request=UpdateCertificate,
        response=Certificate,
        handler=update_certificate,
        errors=("already_exists", "version_conflict"),
        example={"id": "cert_01k0000000000000000000000a", "servedDate": "2026-11-18", "expectedVersion": 1},
    ),
    Operation(
        id="landlord.deleteCertificate",
        kind="write",
        method="POST",
        path="/landlord/deleteCertificate",
        scopes=("accounting:write",),
        request=DeleteCertificate,
        response=DeletedCertificate,
        handler=delete_certificate,
        errors=("version_conflict",),
        example={"id": "cert_01k0000000000000000000000b"},
    ),
)
