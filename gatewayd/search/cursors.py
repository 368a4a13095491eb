"""The cursor of a search: what is still to come, in its order (Domain C9).

The order is made of ranks, which move with every document that comes or goes. So it is settled with the first page, of
the 400 documents that two lists have at most, and later pages look up which of them are still there.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, get_args

from gatewayd import ids
from gatewayd.areas.vault.search import Mode, SearchDocuments
from gatewayd.contract.pages import cursor_key, next_cursor
from gatewayd.errors import Problem
from gatewayd.search import ranking
from gatewayd.search.ranking import Fused

_ENTRY_BYTES: Final = ids.ULID_BYTES + 2  # a document, and its places in the two lists; 0: it is not in it


class ToCome(NamedTuple):
    """How the first page was looked for, and the documents behind the last page."""

    mode: Mode
    ranked: Sequence[Fused]


def to_come(request: SearchDocuments) -> ToCome | None:
    """What the cursor of a request names; None: the first page. Raises `Problem`: `invalid_cursor`."""
    key = cursor_key(request, str, bytes)
    if key is None:
        return None
    mode, entries = key
    if mode not in get_args(Mode) or not isinstance(entries, bytes) or len(entries) % _ENTRY_BYTES:
        raise Problem("invalid_cursor", "The cursor is not one of this search: start again without it.")
    return ToCome(mode, [_fused(entries[at : at + _ENTRY_BYTES]) for at in range(0, len(entries), _ENTRY_BYTES)])


def cursor(request: SearchDocuments, rest: ToCome) -> str | None:
    """The cursor of the next page; None: nothing is to come."""
    if not rest.ranked:
        return None
    return next_cursor(request, (rest.mode, b"".join(_entry(hit) for hit in rest.ranked)))


def _entry(hit: Fused) -> bytes:
    return ids.packed(hit.document_id) + bytes([hit.text_rank or 0, hit.vector_rank or 0])


def _fused(entry: bytes) -> Fused:
    document_id = ids.unpacked("doc", entry[:-2])
    return ranking.placed(document_id, entry[-2] or None, entry[-1] or None)
