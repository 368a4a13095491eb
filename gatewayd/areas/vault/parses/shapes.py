"""What a document shows of its reading (Domain B7)."""

from typing import Literal

from gatewayd.contract.wire import DateText, Response, Timestamp
from gatewayd.extraction.shapes import DocumentKind

ParseStatus = Literal["none", "queued", "running", "succeeded", "failed", "skipped"]


class DocumentParse(Response, frozen=True, kw_only=True):
    """How far the reading of a document has come. The members beside `status` are of the latest attempt.

    `attempt` 0: there was none. `errorCode` is why it failed, or why there is nothing to read (skipped). `textChars`
    and `language` are of the text that is stored, which a later attempt that fails leaves; null: there is none.
    """

    status: ParseStatus
    attempt: int
    started_at: Timestamp | None
    finished_at: Timestamp | None
    error_code: str | None
    error_message: str | None
    engine: str | None
    text_chars: int | None
    language: str | None


class ExtractedFacts(Response, frozen=True, kw_only=True):
    """What a document seems to be, guessed from its text: `confidence` goes from 0 to 1.

    `counterparty` is who sent or issued it, `total` a decimal of `currency`; null: it was not found.
    """

    kind: DocumentKind
    date: DateText | None
    total: str | None
    currency: str | None
    counterparty: str | None
    vat_number: str | None
    reference: str | None
    confidence: float
