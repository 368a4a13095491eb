"""Answers of reads that hold for as long as nothing is committed: what was rendered once is given again as bytes.

An answer is found again under the version of the database it was read from, by the caller who asked for it (credential,
scopes and role) and by the address as it was sent. Any commit, by whichever process, ends all of them. Who is calling
and what they may do is asked anew each time, before an answer is looked for. Decision 0009.
"""

from typing import Final, NamedTuple

from gatewayd.contract.caller import Caller
from gatewayd.http.render import Answer
from gatewayd.store import ReadTx

KEPT_BYTES: Final = 8 << 20  # Chosen: eighty pages of invoices
ENTRY_BYTES: Final = 1 << 10  # what an entry takes beside its body and address, generously


class Asked(NamedTuple):
    """What was asked, and by whom. `path` and `query` are as they were sent."""

    caller: Caller
    path: bytes
    query: bytes


class _Kept(NamedTuple):
    """`day` is the civil date that the answer holds on; None: it does not depend on the date."""

    answer: Answer
    day: str | None


class KeptAnswers:
    """The answers that one version of the database has given. Belongs to the event loop's thread."""

    def __init__(self, most_bytes: int = KEPT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._version = -1
        self._bytes = 0
        self._kept: dict[Asked, _Kept] = {}

    def find(self, version: int, asked: Asked, tx: ReadTx) -> Answer | None:
        """The answer that was given to the same question, where it still holds."""
        if version != self._version:
            return None
        kept = self._kept.get(asked)
        if kept is None or (kept.day is not None and kept.day != tx.today):
            return None
        return kept.answer

    def keep(self, version: int, asked: Asked, answer: Answer, tx: ReadTx) -> None:
        """Keep an answer that `tx` has led to, unless it depends on the very instant. Full, it starts afresh."""
        if tx.asked_instant:
            return
        size = len(answer.body) + len(asked.path) + len(asked.query) + ENTRY_BYTES
        if version != self._version or self._bytes + size > self._most_bytes:
            self._kept.clear()
            self._bytes = 0
            self._version = version
        if size <= self._most_bytes:
            self._kept[asked] = _Kept(answer, tx.today if tx.asked_day else None)
            self._bytes += size
