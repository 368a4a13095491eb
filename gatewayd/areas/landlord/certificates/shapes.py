"""What certificates look like (Domain B4): requests, responses, and the row where it differs."""

from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    AmountText,
    Date,
    DateText,
    ExternalId,
    Id,
    Name,
    Request,
    Response,
    Timestamp,
    Version,
)
from gatewayd.ledger.certificate_shapes import (
    CertificateFacts,
    CertificateNumber,
    CertificateResult,
    CertificateStatus,
    CertificateType,
    EpcRating,
    Registration,
    Score,
)

Title = Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S")]
WindowDays = Annotated[int, Meta(ge=0, le=730, description="How many days ahead something is `expiring`.")]
WINDOW_DAYS = 60


class StoredCertificate(CertificateFacts, frozen=True, kw_only=True):
    """A certificate as it is stored: none that is missing. `superseded_date` is the day its successor was issued."""

    id: Id
    issued_date: DateText
    superseded_date: DateText | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class DeletedCertificate(Response, frozen=True, kw_only=True):
    """What was deleted."""

    id: Id
    deleted: Literal[True]
    """Always true."""


class ListCertificates(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. With `status` missing, only whose they are and `type` filter: `propertyId`, `unitId`,
    `businessId`, `legalEntityId`."""

    former_names: ClassVar = {"expiresBefore": "expiryDateBefore"}

    property_id: Id | None = None
    business_id: Id | None = None
    """Only those of this business's properties."""
    legal_entity_id: Id | None = None
    """Only those of the properties of this legal entity's businesses."""
    unit_id: Id | None = None
    """Only those of this unit, without those of the whole property."""
    tenancy_id: Id | None = None
    """Only those that name this tenancy; not with `status` missing."""
    document_id: Id | None = None
    """Only those that this document shows; not with `status` missing."""
    type: Annotated[list[CertificateType], Meta(min_length=1)] | None = None
    """Only those of one of these types."""
    status: CertificateStatus | None = None
    """Only those in this state today. Left out: whatever is entered and not superseded; what is `missing` is listed by
    this filter alone."""
    expiry_date_before: Date | None = None
    """Only those whose last day lies before this day, the soonest first; not with `status` missing."""
    window_days: WindowDays = WINDOW_DAYS
    include_superseded: bool = False
    """Whether those that were superseded are listed too, as they are with `status` superseded and with
    `updatedSince`."""
    external_id: ExternalId | None = None


class GetCertificate(Request, frozen=True, kw_only=True):
    """Which certificate."""

    id: Id


class CreateCertificate(Request, frozen=True, kw_only=True):
    """A new certificate of a property."""

    property_id: Id
    unit_id: Id | None = None
    tenancy_id: Id | None = None
    type: CertificateType
    title: Title | None = None
    """What people call it; one of type `other` needs it."""
    reference: CertificateNumber | None = None
    issued_date: Date
    """The day on which it was issued, or the check made; not one to come."""
    expiry_date: Date | None = None
    """The last day on which it holds. By default a new one holds as long as its type says, such as ten years for an
    EPC; a gas safety check in the last 2 months of the former one keeps the day of that."""
    issuer_name: Name | None = None
    issuer: Name | None = None
    """Another name of `issuerName`: give one of the two."""
    issuer_registration: Registration | None = None
    result: CertificateResult | None = None
    rating: EpcRating | None = None
    score: Score | None = None
    remedial_due_date: Date | None = None
    remedial_done_date: Date | None = None
    served_date: Date | None = None
    document_id: Id | None = None
    cost: AmountText | None = None
    """What it cost, in the currency of the property, 0 or more; nothing is booked for it."""
    external_id: ExternalId | None = None


@updates(CreateCertificate, of=StoredCertificate, without=("property_id",))
class UpdateCertificate(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears: without `expiryDate` it has no end."""

    id: Id
    expected_version: Version | None = None
    issuer_name: Name | UnsetType | None = UNSET
    issuer: Name | UnsetType | None = UNSET
    result: CertificateResult | UnsetType | None = UNSET


class DeleteCertificate(Request, frozen=True, kw_only=True):
    """Which certificate."""

    id: Id
    expected_version: Version | None = None
