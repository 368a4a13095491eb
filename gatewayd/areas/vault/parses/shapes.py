"""What a document shows of its reading (Domain B7)."""

from typing import Literal

from gatewayd.contract.wire import DateText, Response, Timestamp
from gatewayd.extraction.shapes import DocumentKind, FactSource

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
    truncated: bool
    """Whether the document goes on beyond the text that is kept: it has more pages or characters than are read, or
    pictures of more text than there was time for."""


class FactConfidences(Response, frozen=True, kw_only=True):
    """How far each fact is to be trusted, from 0 to 1. Null: it was not found, or was read before this was told."""

    date: float | None = None
    """Of `date`."""
    due_date: float | None = None
    """Of `dueDate`."""
    total: float | None = None
    """Of `total`."""
    net: float | None = None
    """Of `net`."""
    vat: float | None = None
    """Of `vat`."""
    currency: float | None = None
    """Of `currency`."""
    counterparty: float | None = None
    """Of `counterparty`."""
    vat_number: float | None = None
    """Of `vatNumber`."""
    reference: float | None = None
    """Of `reference`."""


class VatAtRate(Response, frozen=True, kw_only=True):
    """What an e-invoice says of one rate of VAT."""

    rate: str
    """The rate, a decimal of 100: `20`."""
    net: str
    """What is charged at that rate, without VAT: a decimal of `currency`."""
    vat: str
    """The VAT of that: a decimal of `currency`."""


class ExtractedFacts(Response, frozen=True, kw_only=True):
    """What a document seems to be: guessed from its text, or as an e-invoice in it says."""

    kind: DocumentKind
    """What kind of document it seems to be."""
    date: DateText | None
    """The document's date. Null: it was not found."""
    total: str | None
    """What is to be paid, or was, VAT included: a decimal of `currency`. Null: it was not found, or net and VAT
    contradict it."""
    net: str | None
    """`total` without VAT: a decimal of `currency`. Null: it was not found, or does not agree with `total` and
    `vat`."""
    vat: str | None
    """The VAT in `total`: a decimal of `currency`. Null: it was not found, or does not agree with `total`."""
    vat_parts: list[VatAtRate]
    """Net and VAT by rates, as an e-invoice tells them. Empty: nothing tells them."""
    amount_due: str | None
    """What is still to be paid of `total`, after deposits and deductions: a decimal of `currency`. Null: nothing says
    so."""
    due_date: DateText | None
    """By when it is to be paid. Null: it was not found."""
    currency: str | None
    """The currency of `total`, by its ISO 4217 code. Null: it was not found."""
    counterparty: str | None
    """Who sent or issued it. Null: it was not found."""
    vat_number: str | None
    """The VAT number of who sent it. Null: it was not found."""
    reference: str | None
    """The number of the invoice, certificate or letter. Null: it was not found."""
    source: FactSource
    """`embedded`: an e-invoice (Factur-X, CII or UBL) in the file, which says exactly what it is; `text`: guessed from
    words."""
    corrected: list[str]
    """The names of those facts that somebody corrected, which stay so when the document is read anew."""
    confidences: FactConfidences
    """How far each is to be trusted: 1 where it stands in an e-invoice, or somebody corrected it."""
    confidence: float
    """How far all this is to be trusted, from 0 to 1: by it people see what to look at, for it is no probability."""
