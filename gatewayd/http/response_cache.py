"""Responses to reads, kept for as long as nothing is committed: what was rendered once is given again as bytes.

A response is found again under the version of the database it was read from, by the caller who asked for it
(credential, scopes and role) and by the address as it was sent. Any commit, by whichever process, ends all of them.
Who is calling and what they may do is asked anew each time, before a response is looked for. Decision 0009.
"""

import threading
from typing import Final, NamedTuple

from gatewayd.contract.caller import Caller
from gatewayd.http1.response import Response
from gatewayd.store import ReadTx

CACHE_BYTES: Final = 8 << 20  # Chosen: eighty pages of invoices
ENTRY_BYTES_MAX: Final = 512 << 10  # Chosen: what is larger is not kept: a few would push out all else
ENTRY_BYTES: Final = 1 << 10  # what an entry takes beside its body and address, generously


class CacheKey(NamedTuple):
    """What was asked, and by whom. `path` and `query` are as they were sent."""

    caller: Caller
    path: bytes
    query: bytes


class _Entry(NamedTuple):
    """`version` is of the database; `day` the civil date that the response holds on, None: it does not depend on it."""

    response: Response
    version: int
    day: str | None


class ApiResponseCache:
    """The responses that one version of the database has given, for whichever thread."""

    def __init__(self, max_bytes: int = CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._max_entry_bytes = min(max_bytes, ENTRY_BYTES_MAX)
        self._lock = threading.Lock()
        self._version = -1
        self._bytes = 0
        self._entries: dict[CacheKey, _Entry] = {}

    def find(self, key: CacheKey, tx: ReadTx) -> Response | None:
        """The response that was given to the same request, where it still holds."""
        entry = self._entries.get(key)
        if entry is None or entry.version != tx.version or (entry.day is not None and entry.day != tx.today):
            return None
        return entry.response

    def keep(self, key: CacheKey, response: Response, tx: ReadTx) -> None:
        """Keep a response that `tx` has led to, unless it depends on the very instant. Full, it starts afresh.

        What is large is not kept at all, and ends nothing that is; nor is what was read of a version that nobody knows.
        """
        version = tx.version
        if tx.used_now or version is None:
            return
        size = len(response.body) + len(key.path) + len(key.query) + ENTRY_BYTES
        if size > self._max_entry_bytes:
            return
        entry = _Entry(response, version, tx.today if tx.used_today else None)
        with self._lock:
            if version != self._version or self._bytes + size > self._max_bytes:
                self._entries.clear()
                self._bytes = 0
                self._version = version
            self._entries[key] = entry
            self._bytes += size
