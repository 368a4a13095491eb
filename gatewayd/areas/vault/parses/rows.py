"""Where the reading of documents stands. Owns the tables `vault_parses` and `vault_parse_attempts`.

The row is the queue: `due_at` is when the next attempt may begin, and NULL while none is to. An attempt is on record as
running before any of its work is done.

    queued     due, or in the trash with its document
    running    not due: a daemon is at it under a lease, or was when it was killed
    failed     due again by itself some times, then no more
    succeeded, skipped   not due
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from gatewayd.areas.vault.parses.shapes import DocumentParse, ExtractedFacts, FactConfidences, VatAtRate
from gatewayd.clock import HOUR, MINUTE, Instant
from gatewayd.contract.wire import project
from gatewayd.extraction.shapes import CertificateFacts, DocumentKind, Facts, FactSource, Told
from gatewayd.store import ReadTx, Row, WriteTx

TOPIC: Final = "documents to read"
"""Announced when something may have become due."""
WAITS: Final = (MINUTE, 10 * MINUTE, HOUR)  # Domain B7: before each attempt that follows a failed one by itself
INTERRUPTED: Final = "interrupted"
_INTERRUPTED_TEXT: Final = "The program was ended each time that the document was read."

COLUMNS: Final = """p.status, p.attempt, p.started_at, p.finished_at, p.error_code, p.error_message, p.engine,
    p.text_chars, p.language, p.is_cut, p.extracted, p.corrected"""
"""What a list of documents selects of the row that is joined to each as `p`."""

_OF_DOCUMENT: Final = "WHERE org_id = :org_id AND document_id = :document_id"
_QUEUE = """
INSERT INTO vault_parses (org_id, document_id, status, attempt, due_at)
VALUES (:org_id, :document_id, 'queued', 1, :now)
ON CONFLICT (org_id, document_id) DO UPDATE SET due_at = excluded.due_at
WHERE vault_parses.status = 'queued' OR (vault_parses.status = 'failed' AND vault_parses.retries < :retries_max)
"""
_NONE_YET: Final = "started_at = NULL, finished_at = NULL, error_code = NULL, error_message = NULL"
"""Of an attempt that waits: what is kept of those before stands in `vault_parse_attempts`."""
_QUEUE_ANEW = f"""
UPDATE vault_parses SET status = 'queued', retries = 0, due_at = :now, {_NONE_YET},
    attempt = CASE WHEN status = 'queued' THEN attempt ELSE attempt + 1 END
WHERE org_id = :org_id AND document_id = :document_id AND status <> 'running'
"""
_WITHDRAW = f"UPDATE vault_parses SET due_at = NULL {_OF_DOCUMENT}"
_SELECT_NEXT_ANY_ORG = """
SELECT org_id, document_id, due_at FROM vault_parses
WHERE due_at IS NOT NULL AND org_id > :after ORDER BY org_id, due_at, document_id LIMIT 1
"""
_SELECT_DUE = """
SELECT document_id FROM vault_parses
WHERE org_id = :org_id AND due_at IS NOT NULL AND (due_at <= :at OR due_at > :latest)
ORDER BY due_at, document_id LIMIT :count
"""
_BEGIN = """
UPDATE vault_parses SET status = 'running', due_at = NULL, started_at = :now, finished_at = NULL,
    error_code = NULL, error_message = NULL,
    attempt = CASE WHEN status = 'failed' THEN attempt + 1 ELSE attempt END,
    retries = CASE WHEN status = 'failed' THEN retries + 1 ELSE retries END
WHERE org_id = :org_id AND document_id = :document_id AND due_at IS NOT NULL
RETURNING attempt, retries
"""
_ADD_ATTEMPT = """
INSERT INTO vault_parse_attempts (org_id, document_id, n, status, started_at)
VALUES (:org_id, :document_id, :attempt, 'running', :now)
"""
_SUCCEED = """
UPDATE vault_parses SET status = 'succeeded', finished_at = :now, engine = :engine, text_chars = :text_chars,
    language = :language, extracted = :extracted, is_cut = :is_cut
WHERE org_id = :org_id AND document_id = :document_id AND status = 'running' AND attempt = :attempt
"""
_END = """
UPDATE vault_parses SET status = :status, due_at = :due_at, finished_at = :now, error_code = :code,
    error_message = :message
WHERE org_id = :org_id AND document_id = :document_id AND status = 'running' AND attempt = :attempt
"""
_QUEUE_INTERRUPTED = f"""
UPDATE vault_parses SET status = 'queued', attempt = attempt + 1, retries = retries + :counted, due_at = :due_at,
    {_NONE_YET}
WHERE org_id = :org_id AND document_id = :document_id AND status = 'running' AND attempt = :attempt
"""
_END_ATTEMPT = """
UPDATE vault_parse_attempts SET status = :status, finished_at = :now, engine = :engine, error_code = :code,
    error_message = :message
WHERE org_id = :org_id AND document_id = :document_id AND n = :attempt AND status = 'running'
"""
_SELECT_LEFT_ANY_ORG = """
SELECT p.org_id, p.document_id, p.attempt, p.retries, d.status
FROM vault_parses p JOIN vault_documents d ON d.org_id = p.org_id AND d.id = p.document_id
WHERE p.status = 'running' AND NOT EXISTS (
    SELECT 1 FROM leases l
    WHERE l.org_id = p.org_id AND l.subject = 'parse:' || p.document_id AND (l.until > :at OR l.holder = :holder)
)
ORDER BY p.org_id, p.document_id LIMIT :count
"""
_SELECT_ATTEMPTS = """
SELECT n, status, engine, started_at, finished_at, error_code, error_message FROM vault_parse_attempts
WHERE org_id = :org_id AND document_id = :document_id AND n < :before ORDER BY n DESC LIMIT :count
"""
_SELECT_EXTRACTED = f"SELECT extracted FROM vault_parses {_OF_DOCUMENT}"
_SELECT_CORRECTED = f"SELECT corrected FROM vault_parses {_OF_DOCUMENT}"
_CORRECT = f"UPDATE vault_parses SET corrected = :corrected {_OF_DOCUMENT}"
_COUNT_FAILED = """
SELECT count(*) FROM vault_parses p JOIN vault_documents d ON d.org_id = p.org_id AND d.id = p.document_id
WHERE p.org_id = :org_id AND p.status = 'failed' AND d.org_id = :org_id AND d.status = 'uploaded'
"""
_COUNT_WAITING_ANY_ORG = """
SELECT count(*) FROM (SELECT document_id FROM vault_parses WHERE due_at IS NOT NULL LIMIT :most) AS waiting
"""
_FORGET_ATTEMPTS = f"DELETE FROM vault_parse_attempts {_OF_DOCUMENT}"
_FORGET = f"DELETE FROM vault_parses {_OF_DOCUMENT}"
_NONE: Final = DocumentParse(
    status="none", attempt=0, truncated=False, **dict.fromkeys(DocumentParse.__struct_fields__[2:-1])
)


class StoredFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is stored of what was read, as another version may have stored it: with more beside it, or less."""

    kind: DocumentKind = "other"
    date: str | None = None
    total: str | None = None
    net: str | None = None
    vat: str | None = None
    vat_parts: list[VatAtRate] = []
    amount_due: str | None = None
    due_date: str | None = None
    currency: str | None = None
    counterparty: str | None = None
    vat_number: str | None = None
    reference: str | None = None
    source: FactSource = "text"
    confidences: FactConfidences = FactConfidences()
    confidence: float = 0.0
    vat_numbers: list[str] = []
    bank_accounts: list[str] = []
    told: list[Told] = []


class _StoredCertificate(msgspec.Struct, frozen=True):
    certificate: CertificateFacts | None = None


_FACTS: Final = msgspec.json.Decoder(StoredFacts)
_CORRECTIONS: Final = msgspec.json.Decoder(dict[str, str | None])
_CERTIFICATE: Final = msgspec.json.Decoder(_StoredCertificate)


class Head(NamedTuple):
    """What is due first in an organization."""

    org_id: str
    document_id: str
    due_at: Instant


class Left(NamedTuple):
    """An attempt that is on record as running. `document_status` is that of its document."""

    org_id: str
    document_id: str
    attempt: int
    retries: int
    document_status: str


class Failure(NamedTuple):
    """Why an attempt gave no text. `skipped`: another one would not either."""

    code: str
    message: str
    skipped: bool


# -- what is shown


def shown(columns: Row) -> tuple[DocumentParse, ExtractedFacts | None]:
    """What a document shows of it, from what was selected with `COLUMNS`: NULL in all of them where there is no row."""
    if columns[0] is None:
        return _NONE, None
    status, attempt, started, finished, *rest, is_cut, extracted, corrected = columns
    parse = DocumentParse(
        status=status,
        attempt=attempt,
        started_at=None if started is None else Instant(started),
        finished_at=None if finished is None else Instant(finished),
        truncated=bool(is_cut),
        **dict(zip(DocumentParse.__struct_fields__[4:-1], rest, strict=True)),
    )
    if extracted is None and corrected is None:
        return parse, None
    corrections = _corrections(corrected)
    return parse, project(
        _effective(extracted, corrections), ExtractedFacts, corrected=sorted(map(_camel, corrections))
    )


def _corrections(stored: str | None) -> dict[str, str | None]:
    return {} if stored is None else _CORRECTIONS.decode(stored)


def _effective(extracted: str | None, corrections: Mapping[str, str | None]) -> StoredFacts:
    """What was read, and over it what somebody corrected."""
    facts = StoredFacts() if extracted is None else _FACTS.decode(extracted)
    if not corrections:
        return facts
    sure: dict[str, float | None] = {
        name: None if value is None else 1.0
        for name, value in corrections.items()
        if name in FactConfidences.__struct_fields__
    }
    both: dict[str, Any] = {**corrections, "confidences": replace(facts.confidences, **sure)}
    return replace(facts, **both)


def _camel(name: str) -> str:
    return "".join(part.capitalize() if place else part for place, part in enumerate(name.split("_")))


def facts_of(tx: ReadTx, document_id: str) -> StoredFacts:
    """What is known of a document: what was read, and over it what somebody corrected."""
    extracted = tx.value(_SELECT_EXTRACTED, document_id=document_id)
    return _effective(extracted, corrections_of(tx, document_id))


def corrections_of(tx: ReadTx, document_id: str) -> dict[str, str | None]:
    """What somebody corrected, by the names of facts."""
    return _corrections(tx.value(_SELECT_CORRECTED, document_id=document_id))


def correct(tx: WriteTx, document_id: str, corrections: Mapping[str, str | None]) -> None:
    """Store what somebody corrected, all of it."""
    tx.run(_CORRECT, document_id=document_id, corrected=msgspec.json.encode(corrections).decode())
    _note(tx, document_id)


def certificate_of(tx: ReadTx, document_id: str) -> CertificateFacts | None:
    """What was read in a document that is a certificate; None: it is none, or was not read."""
    extracted = tx.value(_SELECT_EXTRACTED, document_id=document_id)
    return None if extracted is None else _CERTIFICATE.decode(extracted).certificate


def attempts(tx: ReadTx, document_id: str, before: int, count: int) -> Iterator[Row]:
    """The columns of the attempts at a document with a number below `before`, the latest first."""
    return tx.each(_SELECT_ATTEMPTS, document_id=document_id, before=before, count=count)


def count_failed(tx: ReadTx) -> int:
    """How many of the organization's uploaded documents could not be read at the latest attempt."""
    return int(tx.value(_COUNT_FAILED))


def count_waiting(tx: ReadTx, most: int) -> int:
    """How many documents wait in all organizations; `most` is how far it is counted."""
    return int(tx.value(_COUNT_WAITING_ANY_ORG, most=most))


# -- the queue


def queue(tx: WriteTx, document_id: str) -> None:
    """Queue a document for reading: it was confirmed, or came out of the trash before it was read."""
    tx.run(_QUEUE, document_id=document_id, retries_max=len(WAITS))
    _note(tx, document_id)
    tx.announce(TOPIC)


def queue_anew(tx: WriteTx, document_id: str) -> None:
    """Let a document be read anew, at once; one that is being read stays with that."""
    tx.run(_QUEUE_ANEW, document_id=document_id)
    _note(tx, document_id)
    tx.announce(TOPIC)


def withdraw(tx: WriteTx, document_id: str) -> None:
    """Let no further attempt at a document begin: it is in the trash."""
    tx.run(_WITHDRAW, document_id=document_id)


def next_head(tx: ReadTx, after: str) -> Head | None:
    """What is due first in the first organization behind `after` that has a queue; None behind the last."""
    row = tx.row(_SELECT_NEXT_ANY_ORG, after=after)
    return None if row is None else Head(row[0], row[1], Instant(row[2]))


def is_due(tx: ReadTx, due_at: Instant) -> bool:
    """Whether it is time for an attempt.

    What is due later than after the longest wait was written by a clock that was ahead, and is due now.
    """
    return not tx.now < due_at <= tx.now + WAITS[-1]


def due(tx: ReadTx, count: int) -> list[str]:
    """The first of the organization's documents for which it is time, as in `is_due`."""
    at = tx.now
    return [row[0] for row in tx.rows(_SELECT_DUE, at=at, latest=at + WAITS[-1], count=count)]


def begin(tx: WriteTx, document_id: str) -> tuple[int, int]:
    """Put an attempt at a document that is due on record; answers its number, and which of the retries it is."""
    values = tx.row(_BEGIN, document_id=document_id)
    assert values is not None, "due"
    attempt, retries = values
    tx.run(_ADD_ATTEMPT, document_id=document_id, attempt=attempt)
    _note(tx, document_id)
    return attempt, retries


def succeed(
    tx: WriteTx,
    document_id: str,
    attempt: int,
    text_chars: int,
    reading: tuple[str, str | None, Facts] | tuple[str, str | None, Facts, bool],
) -> bool:
    """Record that an attempt succeeded; `reading` is engine, language, facts, and whether there is more than was read.

    False: the document is gone for good, or the attempt is not its own any more.
    """
    engine, language, facts, is_cut = reading if len(reading) == 4 else (*reading, False)
    extracted = msgspec.json.encode(facts).decode()
    values = {"text_chars": text_chars, "engine": engine, "language": language, "extracted": extracted}
    values["is_cut"] = int(is_cut)
    if not tx.run(_SUCCEED, document_id=document_id, attempt=attempt, **values):
        return False
    _end_attempt(tx, document_id, attempt, "succeeded", engine=engine)
    return True


def fail(tx: WriteTx, document_id: str, attempt: int, retries: int, failure: Failure) -> bool:
    """Record that an attempt gave no text, and when there is another; False as in `succeed`."""
    status = "skipped" if failure.skipped else "failed"
    again = status == "failed" and retries < len(WAITS)
    values = {"status": status, "code": failure.code, "message": failure.message}
    due_at = tx.now + WAITS[retries] if again else None
    if not tx.run(_END, document_id=document_id, attempt=attempt, due_at=due_at, **values):
        return False
    _end_attempt(tx, document_id, attempt, status, failure.code, failure.message)
    return True


def interrupt(tx: WriteTx, left: Left, *, counted: bool) -> None:
    """Record that an attempt was cut short, and queue the document again, for another attempt at once.

    `counted`: by a kill, of which the document may be the cause, so that it uses up one of the retries. Chosen: after
    so many it failed.
    """
    if counted and left.retries >= len(WAITS):
        fail(tx, left.document_id, left.attempt, left.retries, Failure(INTERRUPTED, _INTERRUPTED_TEXT, False))
        return
    due_at = tx.now if left.document_status == "uploaded" else None
    values = {"document_id": left.document_id, "attempt": left.attempt}
    if tx.run(_QUEUE_INTERRUPTED, counted=int(counted), due_at=due_at, **values):
        _end_attempt(tx, left.document_id, left.attempt, INTERRUPTED, INTERRUPTED)


def lease_subject(document_id: str) -> str:
    """What the lease is of, under which a document is read."""
    return f"parse:{document_id}"


def left_running(tx: ReadTx, holder: str, count: int) -> list[Left]:
    """Attempts on record as running, of all organizations, at which nobody is: neither the holder nor another."""
    return [Left(*row) for row in tx.rows(_SELECT_LEFT_ANY_ORG, at=tx.now, holder=holder, count=count)]


def forget(tx: WriteTx, document_id: str) -> None:
    """Delete what is known of the reading of a document that goes for good."""
    tx.run(_FORGET_ATTEMPTS, document_id=document_id)
    tx.run(_FORGET, document_id=document_id)


def _end_attempt(
    tx: WriteTx, document_id: str, attempt: int, status: str, *why: str, engine: str | None = None
) -> None:
    code, message = (*why, None, None)[:2]
    values = {"status": status, "engine": engine, "code": code, "message": message}
    tx.run(_END_ATTEMPT, document_id=document_id, attempt=attempt, **values)
    _note(tx, document_id)


def _note(tx: WriteTx, document_id: str) -> None:
    """What a document shows of its reading has changed."""
    tx.changed("vault_parses", document_id, None, document_id)
