"""What certificates look like (Domain B4): requests, responses, and the row where it differs."""

from typing import Annotated, Literal

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
    CertificateResult,
    CertificateStatus,
    CertificateType,
    EpcRating,
)

Title = Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S")]
CertificateNumber = Annotated[str, Meta(min_length=1, max_length=80, pattern=r"\S", examples=["CP12-48211"])]
Registration = Annotated[
    str, Meta(min_length=1, max_length=40, pattern=r"\S", description="Of the issuer: Gas Safe, NICEIC.")
]
Score = Annotated[int, Meta(ge=1, le=200, description="Of an EPC; more than 100 is what gives energy away.")]
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


class ListCertificates(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. Superseded ones are left out unless `includeSuperseded` or `status` asks for them.

    `expiresBefore` finds those whose last day lies before that day. With `status` missing, only `propertyId`, `unitId`
    and `type` filter.
    """

    property_id: Id | None = None
    unit_id: Id | None = None
    type: Annotated[list[CertificateType], Meta(min_length=1)] | None = None
    status: CertificateStatus | None = None
    expires_before: Date | None = None
    window_days: WindowDays = WINDOW_DAYS
    include_superseded: bool = False
    external_id: ExternalId | None = None


class CreateCertificate(Request, frozen=True, kw_only=True):
    """A new certificate. Without `expiryDate` it holds for as long as its type says.

    `other` needs a title. `issuer` is a short name of `issuerName`. `cost` is in the currency of the property.
    """

    property_id: Id
    unit_id: Id | None = None
    tenancy_id: Id | None = None
    type: CertificateType
    title: Title | None = None
    reference: CertificateNumber | None = None
    issued_date: Date
    expiry_date: Date | None = None
    issuer_name: Name | None = None
    issuer: Name | None = None
    issuer_registration: Registration | None = None
    result: CertificateResult | None = None
    rating: EpcRating | None = None
    score: Score | None = None
    remedial_due_date: Date | None = None
    remedial_done_date: Date | None = None
    served_date: Date | None = None
    document_id: Id | None = None
    cost: AmountText | None = None
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
