"""What a document is read into, and why it can't be (Domain B7)."""

from typing import Literal

from msgspec import Struct

DocumentKind = Literal["invoice", "receipt", "bank_statement", "certificate", "contract", "letter", "other"]

FactSource = Literal["text", "embedded"]
"""`embedded`: an e-invoice (EN 16931) in the file, which says exactly what it is; `text`: guessed from its words."""

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


class VatPart(Struct, frozen=True, kw_only=True):
    """The net amount and the VAT at one rate, a decimal of 100 such as `20`."""

    rate: str
    net: str
    vat: str


class Confidences(Struct, frozen=True, kw_only=True):
    """How far each fact is to be trusted, from 0 to 1; None: it was not found."""

    date: float | None = None
    due_date: float | None = None
    total: float | None = None
    net: float | None = None
    vat: float | None = None
    currency: float | None = None
    counterparty: float | None = None
    vat_number: float | None = None
    reference: float | None = None


class Told(Struct, frozen=True, kw_only=True):
    """A value with the letters that stand before it: what a correction is learned by. Amounts have two decimals."""

    kind: Literal["money", "date", "number"]
    label: str
    value: str


class Facts(Struct, frozen=True, kw_only=True):
    """What a document seems to be. `date` is ISO 8601, `total` a decimal, `confidence` from 0 to 1; None: not found.

    `counterparty` is who sent or issued it, `source` whether its facts are guessed from text or stand in it for
    programs. `senders` are names that its sender may have, the likeliest first, `vat_numbers` and `bank_accounts` all
    that stand in it: an IBAN, or a sort code and an account number in digits, `112233 00112233`.
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
    due_date: str | None = None
    net: str | None = None
    vat: str | None = None
    amount_due: str | None = None
    vat_parts: list[VatPart] = []
    confidences: Confidences = Confidences()
    source: FactSource = "text"
    senders: list[str] = []
    vat_numbers: list[str] = []
    bank_accounts: list[str] = []
    told: list[Told] = []


class Extraction(Struct, frozen=True, kw_only=True):
    """What was read. `language` is an ISO 639-1 code; `page_count` None: this kind of document has no pages.

    `is_cut`: the document goes on beyond what was read.
    """

    engine: str
    pages: list[Page]
    page_count: int | None
    language: str | None
    facts: Facts
    is_cut: bool = False


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
