"""Certificates of properties as they are shown, whichever area does (Domain B4)."""

from typing import Literal

from gatewayd.contract.wire import Amount, DateText, Id, Response, Timestamp

CertificateType = Literal[
    "gas_safety",
    "eicr",
    "epc",
    "hmo_licence",
    "additional_licence",
    "selective_licence",
    "fire_risk_assessment",
    "legionella_assessment",
    "pat",
    "smoke_co_check",
    "emergency_lighting",
    "fire_alarm",
    "landlord_insurance",
    "buildings_insurance",
    "deposit_protection",
    "right_to_rent",
    "landlord_registration",
    "rent_smart_wales",
    "prs_database",
    "mees_exemption",
    "other",
]
CertificateResult = Literal["satisfactory", "unsatisfactory", "not_applicable"]
CertificateStatus = Literal["valid", "expiring", "expired", "missing", "superseded"]
EpcRating = Literal["A", "B", "C", "D", "E", "F", "G"]


class Certificate(Response, frozen=True, kw_only=True):
    """A certificate, licence, check or policy of a property, or one that is missing.

    One that is `missing` has null in `id`, and where else nothing can be known. `unitId` null: of the whole property.
    `expiryDate` is the last day on which it holds; null: it has no end. `supersededById` is the one that came after it.
    """

    id: Id | None
    external_id: str | None
    property_id: Id
    unit_id: str | None
    tenancy_id: str | None
    type: CertificateType
    status: CertificateStatus
    title: str | None
    reference: str | None
    issued_date: DateText | None
    expiry_date: DateText | None
    issuer_name: str | None
    issuer_registration: str | None
    result: CertificateResult | None
    rating: EpcRating | None
    score: int | None
    remedial_due_date: DateText | None
    remedial_done_date: DateText | None
    served_date: DateText | None
    document_id: str | None
    cost: Amount | None
    currency: str
    superseded_by_id: str | None
    created_at: Timestamp | None
    updated_at: Timestamp | None
    version: int | None
