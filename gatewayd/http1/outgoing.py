"""A request that this program makes, whole. What answers it is a `Response`."""

from typing import NamedTuple

from gatewayd.http1.header_fields import Headers


class OutgoingRequest(NamedTuple):
    """A request on its way out. `target` is path and query as on the request line, percent-encoded."""

    method: str
    target: str
    headers: Headers
    body: bytes = b""
