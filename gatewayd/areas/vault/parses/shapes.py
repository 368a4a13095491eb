"""What is known of the reading of documents (Domain B7): requests and responses."""

from typing import Literal

from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import DateText, Id, Request, Response, Timestamp
from gatewayd.extraction.shapes import DocumentKind

ParseStatus = Literal["none", "queued", "running", "succeeded", "failed", "skipped"]
AttemptStatus = Literal["running", "succeeded", "failed", "skipped", "interrupted"]


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


class ParseAttempt(Response, frozen=True, kw_only=True):
    """One attempt at reading a document. `interrupted`: the daemon was ended while it was under way."""

    n: int
    status: AttemptStatus
    engine: str | None
    started_at: Timestamp
    finished_at: Timestamp | None
    error_code: str | None
    error_message: str | None


class DocumentCount(Response, frozen=True, kw_only=True):
    """How many documents."""

    count: int


class CountFailedDocuments(Request, frozen=True, kw_only=True):
    """Nothing is asked for beside the number."""


class ReparseDocument(Request, frozen=True, kw_only=True):
    """Which document is to be read anew."""

    document_id: Id


class ListParseAttempts(PageRequest, frozen=True, kw_only=True):
    """The attempts at which document."""

    document_id: Id
