"""JSON bodies in: bounded, and JSON by their own word."""

import codecs
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from gatewayd.errors import Problem

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, max_bytes: int) -> bytes:
    """The whole body, without the byte order mark that some clients put first (RFC 8259 §8.1 lets us ignore it).

    Raises `Problem`: `unsupported_media_type`, `payload_too_large` (before reading, where the length is declared), or
    `invalid_request` when the client went away before its end.
    """
    _check_type(headers)
    length = headers.get(b"content-length")
    if length is not None and length.isdigit() and int(length) > max_bytes:
        raise _too_large(max_bytes)
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        body: bytes = message.get("body", b"")
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
        return body.removeprefix(codecs.BOM_UTF8)
    return (await _read_on(message, receive, max_bytes)).removeprefix(codecs.BOM_UTF8)


async def _read_on(message: Message, receive: Receive, max_bytes: int) -> bytes:
    body = bytearray()
    while message["type"] == "http.request":
        body += message.get("body", b"")
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
        if not message.get("more_body", False):
            return bytes(body)
        message = await receive()
    raise Problem("invalid_request", "The body ended before its end.")


def _check_type(headers: Mapping[bytes, bytes]) -> None:
    content_type = headers.get(b"content-type")
    if content_type is not None:
        media_type = content_type.partition(b";")[0].strip().lower()
        if media_type != b"application/json" and not media_type.endswith(b"+json"):
            raise Problem("unsupported_media_type", "Send JSON: Content-Type: application/json.")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Problem("unsupported_media_type", "Send the body without a content coding.")


def _too_large(max_bytes: int) -> Problem:
    return Problem("payload_too_large", f"A body may have at most {max_bytes} bytes.")
