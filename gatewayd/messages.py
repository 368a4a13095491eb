"""An HTTP request and its response as bytes, whole, on whichever way they travel."""

from collections.abc import Sequence
from typing import NamedTuple

Headers = Sequence[tuple[bytes, bytes]]


class Request(NamedTuple):
    """A request. `target` is path and query as on the request line, percent-encoded."""

    method: str
    target: str
    headers: Headers
    body: bytes = b""


class Response(NamedTuple):
    """A response, with its header fields in the order they came in."""

    status: int
    headers: Headers
    body: bytes
