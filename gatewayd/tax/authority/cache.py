"""A cache of the authority's responses for some seconds, where the operator wants it (domain model §D3).

Whatever a response may depend on is part of its key: the organization, the request line, the test scenario, the coding,
and the token, so that nobody reads what a connection showed that has been replaced or removed since.
"""

from collections import OrderedDict
from hashlib import sha256
from typing import Final, NamedTuple

import trio

from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.tax.authority.authority import Authority

ENTRIES_MAX: Final = 256  # Chosen
BYTES_MAX: Final = 8 << 20  # Chosen, of bodies
ENTRY_BYTES_MAX: Final = 1 << 20  # Chosen: a larger one would push the others out

_DEPENDS_ON: Final = (b"authorization", b"accept", b"accept-encoding", b"gov-test-scenario")


class _Key(NamedTuple):
    org_id: str
    target: str
    digest: bytes


class _Entry(NamedTuple):
    until: float
    response: Response


class KeptResponse(Response):
    """A response, and how many seconds ago it was asked for."""

    __slots__ = ("age",)

    def __init__(self, response: Response, age: float) -> None:
        super().__init__(response.status, response.headers, response.body)
        self.age = age


class ResponseCache:
    """An authority whose responses to GETs with status 200 are good for `seconds`, on one monotonic clock."""

    def __init__(self, authority: Authority, seconds: float) -> None:
        self._authority = authority
        self._seconds = seconds
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()  # the oldest first
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    async def answer(self, request: Request, org_id: str, *, fresh: bool = False) -> Response:
        """Raises `Problem`."""
        if request.method != "GET" or fresh:
            return await self._authority.answer(request, org_id, fresh=fresh)
        self._drop_old(trio.current_time())
        key = _answer_key(request, org_id)
        entry = self._entries.get(key)
        if entry is not None:
            await trio.lowlevel.checkpoint()
            return KeptResponse(entry.response, trio.current_time() - entry.until + self._seconds)
        response = await self._authority.answer(request, org_id)
        if response.status == 200 and len(response.body) <= ENTRY_BYTES_MAX:
            self._keep(key, _Entry(trio.current_time() + self._seconds, response))
        return response

    def _keep(self, key: _Key, entry: _Entry) -> None:
        self._drop(key)
        self._entries[key] = entry
        self.bytes += len(entry.response.body)
        while len(self._entries) > ENTRIES_MAX or self.bytes > BYTES_MAX:
            self._drop(next(iter(self._entries)))

    def _drop_old(self, now: float) -> None:
        """All are good for equally long, so that the oldest are the first to go."""
        while self._entries and next(iter(self._entries.values())).until <= now:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: _Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.bytes -= len(entry.response.body)


def _answer_key(request: Request, org_id: str) -> _Key:
    varying = sorted((name.lower(), value) for name, value in request.headers if name.lower() in _DEPENDS_ON)
    return _Key(org_id, request.target, sha256(repr(varying).encode()).digest())
