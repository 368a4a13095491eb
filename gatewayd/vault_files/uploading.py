"""What an upload is on its way: what comes, how far it is, and how it is refused."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final, NamedTuple

from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.clock import Instant
from gatewayd.errors import Problem
from gatewayd.http1.bodies import BodyTooSlow

_NOTHING_EXPECTED: Final = "There is no such upload, or it was made already, or its time is over."

Source = AsyncGenerator[bytearray, None]
"""A body in parts. Raises `BodyCutShort`, `BodyTooSlow`."""


class Received(NamedTuple):
    """What was received of which document."""

    document_id: str
    size_bytes: int
    sha256: str


class Standing(NamedTuple):
    """How far an upload is. `length` is the whole; None: nobody said yet. `is_received`: it takes no more."""

    offset: int
    length: int | None
    expires_at: Instant
    is_received: bool


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a request appends: from `offset` on. `declared` are its bytes as far as it says, 0 where it does not.

    `length` is that of the whole upload, where the request says so. `checksum` is an algorithm of `hashlib` and a
    digest; where what came has another one, none of it counts.
    """

    offset: int
    declared: int
    length: int | None
    checksum: tuple[str, bytes] | None
    source: Source


def too_large(limit: int) -> Problem:
    """413."""
    return Problem("payload_too_large", f"The document may have at most {limit} bytes.")


def nothing() -> Problem:
    """404."""
    return Problem("not_found", _NOTHING_EXPECTED)


def cut_short() -> Problem:
    """400."""
    return Problem("invalid_request", "The body ended before its end.")


def too_slow(error: BodyTooSlow) -> Problem:
    """408, which ends the connection."""
    return Problem("request_timeout", str(error), headers=((b"connection", b"close"),))


def received(row: DocumentRow) -> Standing:
    """The standing of a document whose bytes have come."""
    assert row.size_bytes is not None, "received"
    return Standing(row.size_bytes, row.size_bytes, row.upload_expires_at, is_received=True)


def require_offset(part: Part, standing: Standing) -> None:
    """Raises `Problem` `upload_offset_mismatch` where the part does not begin behind what is there."""
    if part.offset != standing.offset:
        message = f"{standing.offset} bytes are there: go on behind them."
        raise Problem("upload_offset_mismatch", message, extra={"offset": standing.offset})
