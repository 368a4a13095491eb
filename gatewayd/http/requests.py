"""Requests in: header fields read as a whole, what the caller takes, and JSON bodies."""

import codecs
from typing import Final

from gatewayd.errors import Problem
from gatewayd.http1 import bodies
from gatewayd.http1.asgi import Receive
from gatewayd.http1.header_fields import RepeatedField
from gatewayd.http1.request import Request

OVERRIDE: Final = b"period-override"
CLOSING: Final = "closing"
NOTHING: Final[frozenset[str]] = frozenset()

_SINGLE_FIELDS = frozenset(
    {
        *(b"authorization", b"content-encoding", b"content-length", b"content-type", b"dpop", b"idempotency-key"),
        b"origin",
        OVERRIDE,
    }
)
"""Request header fields that hold one value. Two of them could be read as one by us and as the other by a proxy."""


def read_fields(request: Request) -> None:
    """Read the header fields. Raises `Problem` `invalid_request` for a second value of a field that holds one."""
    try:
        request.read_fields(_SINGLE_FIELDS)
    except RepeatedField as error:
        raise Problem("invalid_request", f"The header {error.name} was sent more than once.") from None


def requested_overrides(request: Request) -> frozenset[str]:
    """What the caller wants done in spite of a rule: `Period-Override: closing` (domain model B9).

    Chosen: one header field for every write that a period may refuse, in the place of a member in each of them. Raises
    `Problem` `invalid_request` for another value.
    """
    text = request.text(OVERRIDE)
    if text is None:
        return NOTHING
    if text.strip() != CLOSING:
        raise Problem("invalid_request", f"Period-Override must be {CLOSING}, or be left out.")
    return frozenset({CLOSING})


def check_accept(accept: bytes | None, file_type: str = "") -> None:
    """Raises `Problem` `not_acceptable` where JSON is not among what the caller takes (RFC 9110 §12.5.1).

    `file_type` is the media type of an operation that answers a file, which will do as well.
    """
    if not accept or b"*/*" in accept or b"application/json" in accept:
        return
    accept = accept.lower()
    if file_type and (file_type.encode() in accept or file_type.partition("/")[0].encode() + b"/*" in accept):
        return
    if b"json" not in accept and b"application/*" not in accept:
        raise Problem("not_acceptable", "This API answers JSON: send Accept: application/json, or leave Accept out.")


def check_conditions(request: Request) -> None:
    """Raises `Problem` `invalid_request` for a condition that would not be kept (RFC 9110 §13.1.1, §13.1.4).

    Chosen: answers have no entity tags; who sends one means not to undo what another wrote, and would believe it done.
    """
    if b"if-match" in request.fields or b"if-unmodified-since" in request.fields:
        raise Problem(
            "invalid_request",
            "If-Match and If-Unmodified-Since are not taken here: send the version that you last read, "
            "as expectedVersion.",
        )


def has_already(request: Request, tag: bytes) -> bool:
    """Whether the caller has what bears this entity tag (RFC 9110 §13.1.2)."""
    known = [each.strip().removeprefix(b"W/") for each in request.fields.get(b"if-none-match", b"").split(b",")]
    return tag in known or known == [b"*"]


async def read_json(request: Request, receive: Receive, max_bytes: int) -> bytes:
    """A whole JSON body, without the byte order mark that some clients put first (RFC 8259 §8.1 lets us ignore it).

    Raises `Problem`: `unsupported_media_type`, `payload_too_large`, or `invalid_request` where it ended early.
    """
    _check_type(request)
    try:
        body = await bodies.read_body(request, receive, max_bytes)
    except bodies.BodyTooLarge:
        raise Problem("payload_too_large", f"A body may have at most {max_bytes} bytes.") from None
    except bodies.BodyCutShort:
        raise Problem("invalid_request", "The body ended before its end.") from None
    return body.removeprefix(codecs.BOM_UTF8)


def _check_type(request: Request) -> None:
    media_type = bodies.media_type(request)
    if b"content-type" in request.fields and media_type != b"application/json" and not media_type.endswith(b"+json"):
        raise Problem("unsupported_media_type", "Expected JSON: send it with Content-Type: application/json.")
    if bodies.is_coded(request):
        raise Problem("unsupported_media_type", "Send the body as it is, without Content-Encoding.")
