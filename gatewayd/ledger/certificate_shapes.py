"""Certificates of properties as they are shown, whichever area does (Domain B4)."""

from typing import Annotated, Literal

from msgspec import Meta

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
CertificateNumber = Annotated[str, Meta(min_length=1, max_length=80, pattern=r"\S", examples=["CP12-48211"])]
Registration = Annotated[str, Meta(min_length=1, max_length=40, pattern=r"\S", examples=["512345"])]
Score = Annotated[int, Meta(ge=1, le=200, examples=[72])]


class CertificateFacts(Response, frozen=True, kw_only=True):
    """What of a certificate is the same on every day, as its state is not."""

    id: Id | None
    """The id by which it is changed and deleted. Null: it is `missing`."""
    external_id: str | None
    property_id: Id
    """The property that it is of."""
    unit_id: str | None
    """The unit that it is of. Null: the whole property."""
    tenancy_id: str | None
    """The tenancy that it belongs to, as the protection of a deposit does. Null: none is named."""
    type: CertificateType
    """Which certificate, licence, check or policy it is; one of type `other` is told by its `title`."""
    title: str | None
    """What people call it. Null: its type says enough; one of type `other` always has a title."""
    reference: str | None
    """The number that its issuer gave it. Null: not entered."""
    issued_date: DateText | None
    """The day on which it was issued, or the check made. Null: it is `missing`."""
    expiry_date: DateText | None
    """The last day on which it holds. Null: it has no end, or is `missing`."""
    issuer_name: str | None
    """The engineer, firm, insurer or authority that issued it. Null: not entered."""
    issuer_registration: str | None
    """The issuer's registration number, with Gas Safe or NICEIC for example. Null: not entered."""
    result: CertificateResult | None
    """What the check found; `not_applicable`: it is no check. Null: not entered."""
    rating: EpcRating | None
    """The band of an EPC, from `A`, the best, to `G`. Null: not entered, or no EPC."""
    score: int | None
    """The points of an EPC: more than 100 where the building gives energy away. Null: not entered, or no EPC."""
    remedial_due_date: DateText | None
    """The day by which faults have to be mended; for an unsatisfactory EICR 28 days after its issue where no other day
    is given. Null: no such day is known."""
    remedial_done_date: DateText | None
    """The day on which the faults were mended. Null: they were not, or there are none."""
    served_date: DateText | None
    """The day on which the tenants were given a copy. Null: not entered."""
    document_id: str | None
    """The document in the vault that shows it. Null: there is none."""
    cost: Amount | None
    """What it cost; nothing is booked for it. Null: not entered."""
    currency: str
    """The currency of the property, which `cost` is in."""
    superseded_by_id: str | None
    """The certificate that came after it: of the same property, unit and type, and tenancy or title where these tell
    them apart. Null: it is the latest."""
    created_at: Timestamp | None
    updated_at: Timestamp | None
    version: int | None


class Certificate(CertificateFacts, frozen=True, kw_only=True):
    """A certificate, licence, check or policy of a property, or one that is missing.

    One that is `missing` is stored nowhere, and has null in whatever nobody can know of it.
    """

    status: CertificateStatus
    """`superseded`: a newer one was issued; `expired`: past `expiryDate`, or an unsatisfactory EICR whose faults are
    not mended; `expiring`: its last day is at most `windowDays` ahead; `missing`: the law asks for one, and none was
    ever entered; else `valid`."""
