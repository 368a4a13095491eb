"""What a document shows of its reading (Domain B7)."""

from typing import Literal

from gatewayd.contract.wire import DateText, Response, Timestamp
from gatewayd.extraction.shapes import DocumentKind

ParseStatus = Literal["none", "queued", "running", "succeeded", "failed", "skipped"]


class DocumentParse(Response, frozen=True, kw_only=True):
    """How far the reading of a document has come."""

    status: ParseStatus
    """`none`: its bytes are not confirmed so far; `queued`, `running`, `succeeded`; `failed`: it is tried up to three
    times more by itself; `skipped`: there is nothing to read."""
    attempt: int
    """The number of the latest attempt, or of the one it is queued for. 0: there was none."""
    started_at: Timestamp | None
    """When that attempt began. Null: it waits, or there was none."""
    finished_at: Timestamp | None
    """When that attempt ended. Null: it waits or is under way, or there was none."""
    error_code: str | None
    """Why that attempt gave no text, for programs. Of `failed`: `damaged`, `too_large`, `too_slow`,
    `out_of_memory`, `crashed`, `gone` (the bytes are lost), `interrupted`, `internal`; of `skipped`: `empty`,
    `encrypted`, `unsupported`, `no_ocr` (a picture, and nothing that reads it). Null: it did not fail so far."""
    error_message: str | None
    """Why that attempt gave no text, for people. Null: it did not fail so far."""
    engine: str | None
    """What read the text that is kept, such as `pdfium+tesseract`. Null: there is no text."""
    text_chars: int | None
    """How many characters the text has that is kept; an attempt that fails later leaves it. Null: there is no text."""
    language: str | None
    """The language of the text that is kept, by its ISO 639-1 code. Null: it was not recognised, or there is no
    text."""


class ExtractedFacts(Response, frozen=True, kw_only=True):
    """What a document seems to be, guessed from its text."""

    kind: DocumentKind
    """What kind of document it seems to be."""
    date: DateText | None
    """The document's date. Null: it was not found."""
    total: str | None
    """What is to be paid, or was, VAT included: a decimal of `currency`. Null: it was not found."""
    currency: str | None
    """The currency of `total`, by its ISO 4217 code. Null: it was not found."""
    counterparty: str | None
    """Who sent or issued it. Null: it was not found."""
    vat_number: str | None
    """The VAT number of who sent it. Null: it was not found."""
    reference: str | None
    """The number of the invoice, certificate or letter. Null: it was not found."""
    confidence: float
    """How far all this is to be trusted, from 0 to 1: by it people see what to look at, for it is no probability."""
