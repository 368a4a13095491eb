"""Lists: keyset pages whose cursors are bound to the filters they were made under (domain model §0.2)."""

import base64
import binascii
import functools
import operator
import zlib
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, Generic, Literal, NamedTuple, Self, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.wire import Request, Response, Since, Timestamp, encode
from gatewayd.errors import Problem

T = TypeVar("T")

_INT64 = range(-(1 << 63), 1 << 63)  # what the database holds
PAGE_BYTES: Final = 1 << 20
"""Chosen: of items on a page, whatever the `limit`, so that none holds up the others or fills the memory."""
MAX_KEY = "\x7f"
"""Sorts after every id, so that a first page is a page `before` it."""


_LIMIT_TEXT: Final = (
    "How many to answer at most. A page that would be over 1 MiB ends sooner: what follows is behind `nextCursor`, and "
    "only null there means that nothing does."
)
Limit = Annotated[int, Meta(ge=1, le=100, description=_LIMIT_TEXT)]
SortOrder = Literal["asc", "desc"]
"""Of lists that go both ways: the least first, or the greatest."""
LongLimit = Annotated[int, Meta(ge=1, le=500, description=_LIMIT_TEXT)]
"""Of lists of short rows, which a request takes in the place of `limit`: bank lines, entries of a ledger."""


class PageRequest(Request, frozen=True, kw_only=True, omit_defaults=True):
    """Root of list requests."""

    limit: Limit = 50
    cursor: Annotated[str, Meta(max_length=512, description="`nextCursor` of the page before.")] | None = None


class SyncRequest(PageRequest, frozen=True, kw_only=True):
    """Root of list requests of resources that change.

    With `updatedSince` the order is `updatedAt`, oldest first, and what was deleted since is told; otherwise newest
    created first.
    """

    updated_since: Since | None = None


class Page(Response, Generic[T], frozen=True, kw_only=True):
    """A list answer."""

    data: list[T]
    next_cursor: str | None


class Removal(Response, frozen=True, kw_only=True):
    """A resource that was deleted."""

    id: str
    status: Literal["removed"] = "removed"
    """That it is there no more, in the place of whatever state it had."""
    removed_at: Timestamp
    """When it was deleted, in the order of the others' `updatedAt`."""


class SyncPage(Page[T], Generic[T], frozen=True, kw_only=True):
    """A list answer of resources that change."""

    removed: list[Removal] | UnsetType = UNSET
    """With `updatedSince`, what was deleted of this kind between the changes of this page, oldest first, whatever the
    filters; it counts towards `limit`. It is told for 90 days: who asks for changes of before a deletion that is
    forgotten gets `cursor_expired`, and begins anew."""


class Listing(NamedTuple, Generic[T]):
    """A page of `T` as a handler returns it, in pieces of JSON that are joined once, when the response is written.

    `pieces` are the items with the commas between them, cut anywhere. `next_cursor` None: nothing follows.
    """

    pieces: list[bytes]
    next_cursor: str | None
    extra: bytes = b""
    """Further members of the answer, each preceded by its comma."""

    @classmethod
    def of(cls, items: Iterable[bytes], next_cursor: str | None, extra: bytes = b"") -> Self:
        """A page of items whose JSON is at hand."""
        pieces = [piece for item in items for piece in (item, b",")]
        del pieces[-1:]
        return cls(pieces, next_cursor, extra)

    @property
    def data(self) -> bytes:
        """The JSON array of the items."""
        return b"[%b]" % b"".join(self.pieces)


def fill(rows: Iterable[T], limit: int, size: Callable[[T], int]) -> tuple[list[T], bool]:
    """The rows of a page, the first of those given, and whether any follow.

    At most `limit`, and as many as `PAGE_BYTES` hold, but always one; `size` is how long a row is as JSON.
    """
    taken: list[T] = []
    room = PAGE_BYTES
    for row in rows:
        if len(taken) == limit:
            return taken, True
        room -= size(row) + 1
        if room < 0 and taken:
            return taken, True
        taken.append(row)
    return taken, False


def listing_of(
    request: PageRequest, items: Iterable[T], key: Callable[[T], str], *, descending: bool = False
) -> Listing[T]:
    """A page of what is at hand whole, in the order of a key that no two items share; `descending`: the last first.

    Raises `Problem` `invalid_cursor`.
    """
    start = cursor_key(request, str)
    behind: Iterable[T] = items
    if start is not None:
        last, is_behind = str(start[0]), operator.lt if descending else operator.gt
        behind = (item for item in items if is_behind(key(item), last))
    written: list[bytes] = []

    def size(item: T) -> int:
        written.append(encode(item))
        return len(written[-1])

    taken, more = fill(behind, request.limit, size)
    return Listing.of(written[: len(taken)], next_cursor(request, (key(taken[-1]),)) if more else None)


def cursor_key(request: PageRequest, *types: type) -> tuple[Any, ...] | None:
    """The sort key at which the page starts, or None for the first page.

    Raises `Problem` `invalid_cursor` for a cursor that is broken or belongs to other filters.
    """
    if request.cursor is None:
        return None
    try:
        raw = base64.urlsafe_b64decode(request.cursor.encode("ascii") + b"==")
        binding, *key = msgspec.msgpack.decode(raw, type=list)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        raise _invalid() from None
    if binding != _binding(request) or tuple(map(type, key)) != types:
        raise _invalid()
    if any(isinstance(part, int) and part not in _INT64 for part in key):
        raise _invalid()
    return tuple(key)


def next_cursor(request: PageRequest, key: tuple[int | str | bytes, ...]) -> str:
    """The cursor of the page that starts after `key`."""
    raw = msgspec.msgpack.encode((_binding(request), *key), enc_hook=int)  # an instant is a number of its own kind
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")  # goes into a query as it is


def _binding(request: PageRequest) -> int:
    """Of the list and the filters that were given, so that a cursor outlives a new filter and a move of the code."""
    unpaged = msgspec.structs.replace(request, limit=1, cursor=None)
    return zlib.crc32(msgspec.json.encode(unpaged), _seed(type(request)))


@functools.cache
def _seed(kind: type) -> int:
    return zlib.crc32(kind.__qualname__.encode())


def _invalid() -> Problem:
    return Problem("invalid_cursor", "The cursor is not one of this list with these filters: start again without it.")
