"""The reading of documents (Spec §4, Domain A7 and B7): the attempts at it, and another one. Done in `parsing`."""

from typing import Literal

from gatewayd.areas.vault.documents import rows
from gatewayd.areas.vault.documents.shapes import Document
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, PageRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import Id, Request, Response, Timestamp, Version, encode
from gatewayd.store import ReadTx, Row, WriteTx

AttemptStatus = Literal["running", "succeeded", "failed", "skipped", "interrupted"]

_BEHIND_ALL = (1 << 63) - 1


class ParseAttempt(Response, frozen=True, kw_only=True):
    """One attempt at reading a document."""

    n: int
    """The number of the attempt at this document, from 1."""
    status: AttemptStatus
    """What became of it; `skipped`: there is nothing to read; `interrupted`: the server was ended while it was under
    way."""
    engine: str | None
    """What read it, such as `pdfium+tesseract`. Null: it did not succeed."""
    started_at: Timestamp
    """When it began."""
    finished_at: Timestamp | None
    """When it ended. Null: it is under way."""
    error_code: str | None
    """Why it gave no text, for programs: `damaged`, `encrypted` and others. Null: it succeeded, or is under way."""
    error_message: str | None
    """Why it gave no text, for people. Null: it succeeded, or is under way."""


class DocumentCount(Response, frozen=True, kw_only=True):
    """How many documents."""

    count: int
    """How many uploaded documents could not be read at the latest attempt."""


class CountFailedDocuments(Request, frozen=True, kw_only=True):
    """It has no parameters."""


class ReparseDocument(Request, frozen=True, kw_only=True):
    """Which document is to be read anew."""

    document_id: Id
    """The document to read anew."""
    expected_version: Version | None = None


class ListParseAttempts(PageRequest, frozen=True, kw_only=True):
    """The attempts at which document."""

    document_id: Id
    """The document whose attempts are listed."""


def count_failed_documents(tx: ReadTx, caller: Caller, request: CountFailedDocuments) -> DocumentCount:
    """Count the uploaded documents whose latest attempt at reading failed, also where another attempt is to come."""
    return DocumentCount(count=parses.count_failed(tx))


def reparse_document(tx: WriteTx, caller: Caller, request: ReparseDocument) -> Document:
    """Read a document anew, which begins soon. What was read before stays until then.

    A document that waits or is being read already stays as it is, so that to ask again changes nothing.
    """
    row = rows.uploaded(tx, request.document_id, request.expected_version)
    parses.queue_anew(tx, row.id)
    return rows.shown(tx, row)


def list_parse_attempts(tx: ReadTx, caller: Caller, request: ListParseAttempts) -> Listing[ParseAttempt]:
    """List the attempts at reading a document, the latest first."""
    rows.get(tx, request.document_id)
    key = cursor_key(request, int)
    before = _BEHIND_ALL if key is None else key[0]
    assert isinstance(before, int)
    items: list[bytes] = []

    def size(row: Row) -> int:
        items.append(encode(_parse_attempt(row)))
        return len(items[-1])

    each = parses.attempts(tx, request.document_id, before, request.limit + 1)
    taken, more = fill(each, request.limit, size)
    return Listing.of(items[: len(taken)], next_cursor(request, (taken[-1][0],)) if more else None)


def _parse_attempt(row: Row) -> ParseAttempt:
    n, status, engine, started, finished, code, message = row
    return ParseAttempt(
        n=n,
        status=status,
        engine=engine,
        started_at=Instant(started),
        finished_at=None if finished is None else Instant(finished),
        error_code=code,
        error_message=message,
    )


OPERATIONS = (
    Operation(
        id="vault.countFailedDocuments",
        kind="read",
        method="GET",
        path="/vault/documents/failed-count",
        scopes=("vault:read",),
        request=CountFailedDocuments,
        response=DocumentCount,
        handler=count_failed_documents,
    ),
    Operation(
        id="vault.reparseDocument",
        kind="write",
        method="POST",
        path="/vault/documents/:documentId/reparse",
        scopes=("vault:write",),
        request=ReparseDocument,
        response=Document,
        handler=reparse_document,
        errors=("not_uploaded", "version_conflict"),
        extension=True,
        example={"documentId": "doc_01k0000000000000000000000a"},
    ),
    Operation(
        id="vault.listParseAttempts",
        kind="read",
        method="GET",
        path="/vault/documents/:documentId/parse-attempts",
        scopes=("vault:read",),
        request=ListParseAttempts,
        response=Page[ParseAttempt],
        handler=list_parse_attempts,
        extension=True,
        example={"documentId": "doc_01k0000000000000000000000a"},
    ),
)
