"""What a document is read into, and why it can't be (Domain B7)."""

from typing import Literal

from msgspec import Struct

DocumentKind = Literal["invoice", "receipt", "bank_statement", "certificate", "contract", "letter", "other"]

FailureCode = Literal["damaged", "too_large", "too_slow", "out_of_memory", "crashed"]
"""Why an attempt failed: another one may end otherwise."""

SkipCode = Literal["empty", "encrypted", "unsupported", "no_ocr"]
"""Why there is nothing to read, however often it is tried. `no_ocr`: only pictures, and no program that reads them."""

CertificateKind = Literal[
    "gas_safety",
    "eicr",
    "epc",
    "hmo_licence",
    "additional_licence",
    "selective_licence",
    "fire_risk_assessment",
    "legionella_assessment",
    "pat",
    "emergency_lighting",
    "fire_alarm",
    "other",
]
"""Of those that landlords keep, the ones that are known by what they are called."""


class Page(Struct, frozen=True, kw_only=True):
    """The text of a page, sheet or part; pages are numbered from 1. A document without pages is one page."""

    number: int
    text: str


class CertificateFacts(Struct, frozen=True, kw_only=True):
    """What a certificate of a property says of itself. Dates are ISO 8601; None: it was not found.

    `issuer_registration` is the issuer's number with Gas Safe, NICEIC or the like, `score` the points of an EPC.
    """

    type: CertificateKind
    issued_date: str | None
    expiry_date: str | None
    reference: str | None
    issuer: str | None
    issuer_registration: str | None
    rating: str | None
    score: int | None
    result: Literal["pass", "fail"] | None
    address: str | None
    postcode: str | None


class Facts(Struct, frozen=True, kw_only=True):
    """What a document seems to be. `date` is ISO 8601, `total` a decimal, `confidence` from 0 to 1; None: not found.

    `counterparty` is who sent or issued it.
    """

    kind: DocumentKind
    date: str | None
    total: str | None
    currency: str | None
    counterparty: str | None
    vat_number: str | None
    reference: str | None
    confidence: float
    certificate: CertificateFacts | None


class Extraction(Struct, frozen=True, kw_only=True):
    """What was read. `language` is an ISO 639-1 code; `page_count` None: this kind of document has no pages."""

    engine: str
    pages: list[Page]
    page_count: int | None
    language: str | None
    facts: Facts


class Picture(Struct, frozen=True, kw_only=True):
    """A picture of a page, as WebP."""

    body: bytes
    width: int
    height: int


class ExtractionFailed(Exception):
    """A document that can't be read. `message` is a sentence for whoever keeps it, and has nothing of its text."""

    def __init__(self, code: FailureCode | SkipCode, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
