"""What handlers answer as JSON."""

from typing import Any

from gatewayd.contract.pages import Listing
from gatewayd.contract.wire import encode


def encoded(value: object) -> bytes:
    """The JSON of what a handler answers."""
    if isinstance(value, bytes):
        return value
    return _listing(value) if type(value) is Listing else encode(value)


def _listing(page: Listing[Any]) -> bytes:
    """The JSON of a page: its items are spliced, not encoded."""
    cursor = b"null" if page.next_cursor is None else b'"%b"' % page.next_cursor.encode("ascii")
    return b"".join((b'{"data":[', *page.pieces, b'],"nextCursor":', cursor, page.extra, b"}"))
