"""The attempts of a delivery, each by itself: what was answered, and where the time went. Owns `delivery_attempts`.

A record is rendered once, when the attempt ends, and is served as those bytes. What the receiver answered is its own
text, except that what is secret between us and it, or was our signature, is taken out where it sends that back.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType

from gatewayd.clock import Instant
from gatewayd.contract.wire import Response, Timestamp, encode
from gatewayd.store import ReadTx, WriteTx
from gatewayd.webhooks.sender import ANSWER_BYTES_KEPT, AttemptResult, Headers

HEADER_CHARACTERS_KEPT: Final = 8 * 1024  # Chosen: names and values of an answer together
REMOVED: Final = b"[removed]"  # Chosen: stands for what a receiver sent back of ours

Microseconds = Annotated[int, Meta(ge=0, description="Microseconds.")]
Row = tuple[str, int, str, bytes]
"""The values of `_INSERT`: delivery, attempt, organization, record."""


class Timings(Response, frozen=True, kw_only=True):
    """Where the time went, by phase; a phase that did not begin is left out."""

    dns: Microseconds | UnsetType = UNSET
    connect: Microseconds | UnsetType = UNSET
    tls: Microseconds | UnsetType = UNSET
    send: Microseconds | UnsetType = UNSET
    headers: Microseconds | UnsetType = UNSET
    body: Microseconds | UnsetType = UNSET


class Attempt(Response, frozen=True, kw_only=True):
    """One attempt.

    `error` is null where it succeeded. `durationMs` is null and there is no answer where the attempt was not made to
    its end on our side: `interrupted`, `internal`. `responseHeaders` has the first 8 KiB, `responseBody` the first
    16 KiB, as text.
    """

    attempt: int
    started_at: Timestamp
    duration_ms: int | None
    response_code: int | None
    error: str | None
    timings: Timings
    response_headers: list[tuple[str, str]]
    response_body: str
    reused_connection: bool


_NO_TIMINGS: Final = Timings()
_INSERT = """
INSERT INTO delivery_attempts (delivery_id, attempt, org_id, wire) VALUES (:delivery_id, :attempt, :org_id, :wire)
"""
_SELECT_OF_ONE = """
SELECT wire FROM delivery_attempts WHERE org_id = :org_id AND delivery_id = :delivery_id ORDER BY attempt
"""
_SELECT_OF_MANY = """
SELECT delivery_id, wire FROM delivery_attempts WHERE org_id = :org_id AND delivery_id IN ({ids})
ORDER BY delivery_id, attempt
"""


def of_delivery(tx: ReadTx, delivery_id: str) -> list[bytes]:
    """The records of a delivery's attempts, oldest first: each the JSON of an `Attempt`."""
    return [row[0] for row in tx.rows(_SELECT_OF_ONE, delivery_id=delivery_id)]


def of_deliveries(tx: ReadTx, delivery_ids: Sequence[str]) -> dict[str, list[bytes]]:
    """The same for the deliveries of a page; one of which no attempt is on record has an empty list."""
    if not delivery_ids:
        return {}
    found: dict[str, list[bytes]] = {delivery_id: [] for delivery_id in delivery_ids}
    names = {f"id_{index}": delivery_id for index, delivery_id in enumerate(found)}
    select = _SELECT_OF_MANY.format(ids=", ".join(f":{name}" for name in names))
    for delivery_id, wire in tx.rows(select, **names):
        found[delivery_id].append(wire)
    return found


def insert(tx: WriteTx, rows: Sequence[Row]) -> None:
    """Put attempts on record; no row twice."""
    if rows:
        tx.run_each(_INSERT, rows)


def answered(attempt: int, started_at: Instant, result: AttemptResult, hidden: Iterable[str]) -> bytes:
    """The record of an attempt that was made.

    `hidden` must not stand in it, also if it was sent back to us: texts in which JSON escapes nothing.
    """
    timings: Mapping[str, int] = dict(result.timings)
    wire = encode(
        Attempt(
            attempt=attempt,
            started_at=Instant(started_at),
            duration_ms=result.duration_ms,
            response_code=result.response_code,
            error=result.error,
            timings=Timings(**timings),
            response_headers=_kept(result.headers),
            response_body=result.body_excerpt[:ANSWER_BYTES_KEPT].decode("utf-8", "replace"),
            reused_connection=result.reused,
        )
    )
    for text in hidden:
        wire = wire.replace(text.encode(), REMOVED)
    return wire


def unanswered(attempt: int, started_at: Instant, error: str) -> bytes:
    """The record of an attempt that ended on our side, with `error`."""
    return encode(
        Attempt(
            attempt=attempt,
            started_at=Instant(started_at),
            duration_ms=None,
            response_code=None,
            error=error,
            timings=_NO_TIMINGS,
            response_headers=[],
            response_body="",
            reused_connection=False,
        )
    )


def _kept(headers: Headers) -> list[tuple[str, str]]:
    """The headers up to the first that goes past the limit."""
    kept: list[tuple[str, str]] = []
    room = HEADER_CHARACTERS_KEPT
    for name, value in headers:
        room -= len(name) + len(value)
        if room < 0:
            break
        kept.append((name, value))
    return kept
