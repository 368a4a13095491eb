"""The attempts of a delivery: the receiver's response, and where the time went. Owns `delivery_attempts`.

A record is rendered once, when the attempt ends, and is served as those bytes. It holds the response as it came, except
that our secrets and signatures are redacted where the receiver sent them back.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType

from gatewayd.clock import Instant
from gatewayd.contract.wire import Response, Timestamp, encode
from gatewayd.store import ReadTx, WriteTx
from gatewayd.webhooks.sender import RESPONSE_BYTES_STORED, AttemptResult, Headers

HEADER_CHARACTERS_STORED: Final = 8 * 1024  # Chosen: names and values of a response together
REDACTED: Final = b"[removed]"  # Chosen: stands for what was taken out

Microseconds = Annotated[int, Meta(ge=0, description="Microseconds.")]
Row = tuple[str, int, str, bytes]
"""The values of `_INSERT`: delivery, attempt, organization, record."""


class Timings(Response, frozen=True, kw_only=True):
    """Where the time went, by phase; a phase that did not begin is left out."""

    dns: Microseconds | UnsetType = UNSET
    """Microseconds to look up the name. Absent: it was not looked up."""
    connect: Microseconds | UnsetType = UNSET
    """Microseconds to connect. Absent: it did not come to that."""
    tls: Microseconds | UnsetType = UNSET
    """Microseconds to agree on TLS. Absent: it did not come to that."""
    send: Microseconds | UnsetType = UNSET
    """Microseconds to send the request. Absent: it did not come to that."""
    headers: Microseconds | UnsetType = UNSET
    """Microseconds until the head of the answer was there. Absent: it did not come to that."""
    body: Microseconds | UnsetType = UNSET
    """Microseconds to read the body of the answer. Absent: it did not come to that."""


class ResponseHeader(Response, frozen=True, kw_only=True):
    """A header of what the receiver answered."""

    name: str
    """In lower case; there may be several headers of one name."""
    value: str
    """As the receiver sent it; secrets of ours in it are replaced by `[removed]`."""


class Attempt(Response, frozen=True, kw_only=True):
    """One attempt to deliver an event."""

    attempt: int
    """Which attempt of its delivery it is, from 1."""
    started_at: Timestamp
    """When it began."""
    duration_ms: int | None
    """How long it took, in milliseconds. Null: it was not made to its end on our side."""
    response_code: int | None
    """The HTTP status of the answer. Null: none came."""
    error: str | None
    """Why it failed: `timeout`, `dns`, `tls`, `connection`, `protocol`, `blocked_address`, `redirect_refused`,
    `http_4xx` and the like, or, where it ended on our side, `interrupted` or `internal`. Null: it succeeded."""
    body_error: str | UnsetType = UNSET
    """Why the body of a 2xx did not come whole, which is a success all the same: `timeout`, `connection`, `tls` or
    `protocol`. Absent: it came whole, or there was no 2xx."""
    timings: Timings
    """Where the time went."""
    response_headers: list[ResponseHeader]
    """The headers of the answer, the first 8 KiB of them. Empty: none came."""
    response_body: str
    """The first 16 KiB of the answer's body, as text. Empty: none came."""
    reused_connection: bool
    """True: it was sent on a connection that was open already."""


_NO_TIMINGS: Final = Timings()
_INSERT = """
INSERT INTO delivery_attempts (delivery_id, attempt, org_id, wire) VALUES (:delivery_id, :attempt, :org_id, :wire)
"""
_SELECT_OF_ONE = """
SELECT wire FROM delivery_attempts WHERE org_id = :org_id AND delivery_id = :delivery_id ORDER BY attempt
"""


def of_delivery(tx: ReadTx, delivery_id: str) -> list[bytes]:
    """The records of a delivery's attempts, oldest first: each the JSON of an `Attempt`."""
    return [row[0] for row in tx.rows(_SELECT_OF_ONE, delivery_id=delivery_id)]


def insert(tx: WriteTx, rows: Sequence[Row]) -> None:
    """Record attempts, each once."""
    if rows:
        tx.run_each(_INSERT, rows)


def render_completed(attempt: int, started_at: Instant, result: AttemptResult, redacted: Iterable[str]) -> bytes:
    """The record of an attempt that was made to its end.

    `redacted` are texts that must not stand in it, also if the receiver sent them back; JSON escapes nothing in them.
    """
    timings: Mapping[str, int] = dict(result.timings)
    wire = encode(
        Attempt(
            attempt=attempt,
            started_at=Instant(started_at),
            duration_ms=result.duration_ms,
            response_code=result.response_code,
            error=result.error,
            body_error=UNSET if result.body_error is None else result.body_error,
            timings=Timings(**timings),
            response_headers=_truncate(result.headers),
            response_body=result.body_excerpt[:RESPONSE_BYTES_STORED].decode("utf-8", "replace"),
            reused_connection=result.reused,
        )
    )
    for text in redacted:
        wire = wire.replace(text.encode(), REDACTED)
    return wire


def render_aborted(attempt: int, started_at: Instant, error: str) -> bytes:
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


def _truncate(headers: Headers) -> list[ResponseHeader]:
    """The headers before the one that goes past the limit."""
    stored: list[ResponseHeader] = []
    room = HEADER_CHARACTERS_STORED
    for name, value in headers:
        room -= len(name) + len(value)
        if room < 0:
            break
        stored.append(ResponseHeader(name=name, value=value))
    return stored
