"""Answers that are kept for some seconds, where the operator wants it (domain model §D3).

Whatever an answer may depend on is part of what it is found by: the organization, the request line, the test scenario,
the coding, and the token, so that nobody reads what a connection showed that has been replaced or removed since.
"""

from collections import OrderedDict
from hashlib import sha256
from typing import Final, NamedTuple

import trio

from gatewayd.tax.authority import Authority
from gatewayd.tax.exchange import Answered, Outgoing

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
    answered: Answered


class KeepingAuthority:
    """An authority whose answers to GETs with status 200 are good for `seconds`, on one monotonic clock."""

    def __init__(self, authority: Authority, seconds: float) -> None:
        self._authority = authority
        self._seconds = seconds
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()  # the oldest first
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    async def answer(self, outgoing: Outgoing, org_id: str) -> Answered:
        """Raises `Problem`."""
        if outgoing.body is not None or outgoing.fresh:
            return await self._authority.answer(outgoing, org_id)
        self._forget_old(trio.current_time())
        key = _key(outgoing, org_id)
        kept = self._kept.get(key)
        if kept is not None:
            await trio.lowlevel.checkpoint()
            return kept.answered
        answered = await self._authority.answer(outgoing, org_id)
        if answered.status == 200 and len(answered.body) <= ANSWER_BYTES_MAX:
            self._keep(key, _Kept(trio.current_time() + self._seconds, answered))
        return answered

    def _keep(self, key: _Key, kept: _Kept) -> None:
        self._drop(key)
        self._kept[key] = kept
        self.bytes += len(kept.answered.body)
        while len(self._kept) > ANSWERS_MAX or self.bytes > BYTES_MAX:
            self._drop(next(iter(self._kept)))

    def _forget_old(self, now: float) -> None:
        """All are kept for equally long, so that the oldest are the first to go."""
        while self._kept and next(iter(self._kept.values())).until <= now:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: _Key) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self.bytes -= len(kept.answered.body)


def _key(outgoing: Outgoing, org_id: str) -> _Key:
    told = sorted((name.lower(), value) for name, value in outgoing.fields if name.lower() in _DEPENDS_ON)
    return _Key(org_id, outgoing.line, sha256(repr(told).encode()).digest())
