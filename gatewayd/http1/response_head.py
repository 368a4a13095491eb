"""Response heads of HTTP/1.1: status lines and header fields, rendered and vetted (RFC 9110, RFC 9112)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Final

from gatewayd.http1.header_fields import Header

_TOKEN: Final = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110 §5.6.2
_BREAK: Final = re.compile(rb"[\r\n\0]")
_STATUS_LINES: Final = {
    int(status): f"HTTP/1.1 {int(status)} {status.phrase}\r\n".encode("ascii") for status in HTTPStatus
}

# What a response's own header fields mean to the driver.
PLAIN, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, DATE = range(5)
_ROLES: Final = {
    b"content-length": CONTENT_LENGTH,
    b"transfer-encoding": TRANSFER_ENCODING,
    b"connection": CONNECTION,
    b"date": DATE,
}


@lru_cache(maxsize=512)
def header_role(name: bytes) -> int:
    """What a response header field means here. Raises ValueError for a name that is no token."""
    if _TOKEN.fullmatch(name) is None:
        raise ValueError(f"Not a header name: {name!r}")
    return _ROLES.get(name.lower(), PLAIN)


def status_line(status: int) -> bytes:
    """The first line of a final response. Raises ValueError for a status outside 200-599."""
    line = _STATUS_LINES.get(status)
    if not 200 <= status <= 599:
        raise ValueError(f"Not a final status: {status!r}")
    return line if line is not None else b"HTTP/1.1 %d \r\n" % status


@dataclass(slots=True)
class ResponseFields:
    """An application's header fields: the rendered block, and what it says to the driver."""

    block: bytes
    length: int | None
    close: bool
    dated: bool


def render_lines(headers: Iterable[Header]) -> bytes:
    """Header fields as lines. Raises ValueError where one would start a line of its own."""
    lines = [name + b": " + value for name, value in headers]
    if _BREAK.search(b"".join(lines)) is not None:
        raise ValueError("A response header value holds CR, LF or NUL")
    return b"\r\n".join([*lines, b""])


def render_fields(headers: Iterable[Header]) -> ResponseFields:
    """Render and vet an application's header fields. Raises ValueError when a value would start a line of its own."""
    kept: list[Header] = []
    length, close, dated = None, False, False
    for header in headers:
        role = header_role(header[0])
        if role == PLAIN:
            kept.append(header)
        elif role == DATE:
            dated = True
            kept.append(header)
        elif role == CONTENT_LENGTH:
            length = int(header[1])
        elif role == CONNECTION:
            close = close or b"close" in header[1].lower()
    return ResponseFields(render_lines(kept), length, close, dated)
