"""Answers that are files on the disk: whole, a part (RFC 9110 §14), or what has not changed (RFC 9110 §13)."""

import re
from pathlib import Path
from typing import Final, NamedTuple
from unicodedata import bidirectional
from urllib.parse import quote

from gatewayd.contract.media_types import SHOWN_INLINE
from gatewayd.http.requests import has_already
from gatewayd.http1.header_fields import Header
from gatewayd.http1.request import Request
from gatewayd.http1.response import FileResponse, Response

_UNSAFE: Final = re.compile(r'[^\x20-\x7e]|["\\%]')  # no part of a plain file name of a header
_TURNING: Final = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
_RANGE: Final = re.compile(rb"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))")
"""One range. Chosen: several are answered with the whole, as RFC 9110 §14.2 allows."""


class ServedFile(NamedTuple):
    """A file to be sent. `name` is what it is saved under; `inline`: it may be shown where it is safe to."""

    path: Path
    size_bytes: int
    sha256: str
    name: str
    media_type: str
    inline: bool


def serve(request: Request, file: ServedFile, more: tuple[Header, ...] = ()) -> Response:
    """The answer to a GET or HEAD whose fields were read; `more` are header fields of the caller's."""
    tag = b'"%b"' % file.sha256.encode()
    fields = (
        (b"etag", tag),
        (b"accept-ranges", b"bytes"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-security-policy", b"sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"),
        (b"referrer-policy", b"no-referrer"),
        *more,
    )
    if has_already(request, tag):
        return Response(304, fields)
    shown = file.inline and file.media_type in SHOWN_INLINE
    body = (
        (b"content-type", _content_type(file.media_type)),
        (b"content-disposition", disposition("inline" if shown else "attachment", file.name)),
    )
    part = _part(request, tag, file.size_bytes)
    if part is None:
        return FileResponse(200, (*body, *fields), file.path, file.size_bytes)
    first, last = part
    if first > last:
        return Response(416, ((b"content-range", b"bytes */%d" % file.size_bytes), *fields))
    reach = (b"content-range", b"bytes %d-%d/%d" % (first, last, file.size_bytes))
    return FileResponse(206, (*body, reach, *fields), file.path, last - first + 1, first)


def disposition(kind: str, name: str) -> bytes:
    """A Content-Disposition (RFC 6266 §4): the name in ASCII, and as it is where that is not the same.

    What turns the direction of writing is replaced: it makes `invoice-fdp.exe` look as if it ended in `exe.pdf`.
    """
    name = "".join("_" if bidirectional(each) in _TURNING else each for each in name)
    plain = _UNSAFE.sub("_", name)
    field = f'{kind}; filename="{plain}"'
    if plain != name:
        field += f"; filename*=UTF-8''{quote(name, safe='')}"
    return field.encode("ascii")


def _content_type(media_type: str) -> bytes:
    return f"{media_type}; charset=utf-8".encode() if media_type.startswith("text/") else media_type.encode()


def _part(request: Request, tag: bytes, size: int) -> tuple[int, int] | None:
    """The first and the last byte asked for; the first is behind the last where there is none such. None: all."""
    if request.method != "GET" or request.fields.get(b"if-range", tag) != tag:  # RFC 9110 §13.1.5
        return None
    range_match = _RANGE.fullmatch(request.fields.get(b"range", b"").replace(b" ", b"").lower())
    if range_match is None:
        return None
    first, last, suffix = range_match.groups()
    if suffix is not None:
        count = int(suffix)
        return (max(size - count, 0), size - 1) if count and size else (1, 0)
    if last and int(last) < int(first):
        return None  # RFC 9110 §14.1.1: invalid, so it is not there
    return (int(first), min(int(last), size - 1) if last else size - 1) if int(first) < size else (1, 0)
