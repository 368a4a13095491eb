"""A request to the tax authority and its answer, as bytes. Apart from `upstream.py`, which is slow to import."""

from typing import NamedTuple

from gatewayd.contract.operation import Fields


class Outgoing(NamedTuple):
    """A request. `line` is path and query, under the path of the service; a `body` makes it a POST.

    `fresh`: an answer that was kept will not do.
    """

    line: str
    fields: Fields
    body: bytes | None = None
    fresh: bool = False


class Answered(NamedTuple):
    """An answer as it came off the wire."""

    status: int
    fields: Fields
    body: bytes
