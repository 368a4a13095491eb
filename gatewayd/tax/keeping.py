"""Answers that are kept for some seconds, where the operator wants it (domain model §D3).

Whatever an answer may depend on is part of what it is found by: the organization, the request line, the test scenario,
the coding, and the token, so that nobody reads what a connection showed that has been replaced or removed since.
"""

from collections import OrderedDict
from hashlib import sha256
from typing import Final, NamedTuple

import trio

from gatewayd.messages import Request, Response
from gatewayd.tax.authority import Authority

ANSWERS_MAX: Final = 256  # Chosen
BYTES_MAX: Final = 8 << 20  # Chosen, of bodies
ANSWER_BYTES_MAX: Final = 1 << 20  # Chosen: a larger one would push the others out

_DEPENDS_ON: Final = (b"authorization", b"accept", b"accept-encoding", b"gov-test-scenario")


class _Key(NamedTuple):
    org_id: str
    line: str
    digest: bytes


class _Kept(NamedTuple):
    until: float
    response: Response


class KeepingAuthority:
    """An authority whose answers to GETs with status 200 are good for `seconds`, on one monotonic clock."""

    def __init__(self, authority: Authority, seconds: float) -> None:
        self._authority = authority
        self._seconds = seconds
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()  # the oldest first
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    async def answer(self, request: Request, org_id: str, *, fresh: bool = False) -> Response:
        """Raises `Problem`."""
        if request.method != "GET" or fresh:
            return await self._authority.answer(request, org_id, fresh=fresh)
        self._forget_old(trio.current_time())
        key = _key(request, org_id)
        kept = self._kept.get(key)
        if kept is not None:
            await trio.lowlevel.checkpoint()
            return kept.response
        response = await self._authority.answer(request, org_id)
        if response.status == 200 and len(response.body) <= ANSWER_BYTES_MAX:
            self._keep(key, _Kept(trio.current_time() + self._seconds, response))
        return response

    def _keep(self, key: _Key, kept: _Kept) -> None:
        self._drop(key)
        self._kept[key] = kept
        self.bytes += len(kept.response.body)
        while len(self._kept) > ANSWERS_MAX or self.bytes > BYTES_MAX:
            self._drop(next(iter(self._kept)))

    def _forget_old(self, now: float) -> None:
        """All are kept for equally long, so that the oldest are the first to go."""
        while self._kept and next(iter(self._kept.values())).until <= now:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: _Key) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self.bytes -= len(kept.response.body)


def _key(request: Request, org_id: str) -> _Key:
    told = sorted((name.lower(), value) for name, value in request.headers if name.lower() in _DEPENDS_ON)
    return _Key(org_id, request.target, sha256(repr(told).encode()).digest())
