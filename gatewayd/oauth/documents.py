"""Public JSON documents that change hardly ever, rendered ahead."""

from typing import NamedTuple

from gatewayd.oauth.answers import CORS, JSON_TYPE, NO_SNIFF, Headers


class Document(NamedTuple):
    """A document with its header fields, as pairs and as rendered lines."""

    body: bytes
    headers: Headers
    lines: bytes


def document(body: bytes, fresh_seconds: int) -> Document:
    """A document that anybody may read, and keep for a while."""
    keep = (b"cache-control", b"public, max-age=%d" % fresh_seconds)
    headers = (JSON_TYPE, keep, NO_SNIFF, *CORS)
    return Document(body, headers, b"".join(b"%b: %b\r\n" % header for header in headers))
