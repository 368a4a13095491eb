"""Sealing of periods (Domain F.14): requests, responses and rows, whose handlers are those of `bundles`.

A bundle holds what several areas keep, and is read with all their scopes.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta

from gatewayd.contract.given_files import StoredFile
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Id, Request, Response, Version
from gatewayd.ledger.calendar.period_seals import PeriodSeal

MEDIA_TYPE: Final = "application/octet-stream"  # Chosen: generators of clients know none of archives
READING: Final = ("periods:read", "accounting:read", "banking:read")
Change = Literal["added", "removed", "changed"]


class SealPeriod(Request, frozen=True, kw_only=True):
    """Which closed period to seal."""

    id: Id
    expected_version: Version | None = None
    documents: bool = False
    """True: the bundle also has the bytes of the documents that entries of the period name."""


class GetBundle(Request, frozen=True, kw_only=True):
    """Which seal's file."""

    id: Id


class GetSealDifference(PageRequest, frozen=True, kw_only=True):
    """Which seal, and what it is compared with."""

    id: Id
    against: Id | None = None
    """Another seal of the same period; by default the one before it."""
    books: bool = False
    """True: compare it with the books as they are now, which is the default for the first seal of a period."""


class FileDifference(Response, frozen=True, kw_only=True):
    """How many rows of a file differ; one that is no table, such as books.beancount, has none."""

    path: str
    """Where the file stands in the bundle."""
    added: int
    """Rows that are there only after. 0 of a file that is no table, which differs as a whole."""
    removed: int
    """Rows that were there only before."""
    changed: int
    """Rows that are there before and after, and differ."""


class RowDifference(Response, frozen=True, kw_only=True):
    """A row that only one of two bundles has, or that differs in them."""

    path: str
    """Which file the row is in."""
    id: str
    change: Change
    """`added`: it is there only after; `removed`: only before; `changed`: before and after, and it differs."""
    fields: list[str]
    """The columns that differ; of a row that is there only once, all that are filled."""
    before: dict[str, str] | None
    """The row as it was before, by its columns. Null: it was not there."""
    after: dict[str, str] | None
    """The row as it is after, by its columns. Null: it is not there."""


class SealDifference(Response, frozen=True, kw_only=True):
    """What differs between two seals of a period, or a seal and the books: all files that do, a page of their rows."""

    id: Id
    compared_with: Literal["seal", "books"]
    """`seal`: before is the seal that `against` names, after is this one; `books`: before is this seal, after are the
    books as they are now."""
    against: Annotated[str, Meta(description="The seal that it is compared with. Null: the books.")] | None
    files: list[FileDifference]
    """All files that differ."""
    data: list[RowDifference]
    next_cursor: str | None


OPERATIONS: Final = (
    Operation(
        id="periods.seal",
        kind="call",
        method="POST",
        path="/periods/seal",
        scopes=("periods:write",),
        request=SealPeriod,
        response=PeriodSeal,
        handler=AT_CATALOGUE,
        errors=("gone", "invalid_state", "limit_reached", "version_conflict"),
        extension=True,
        example={"id": "per_01k0000000000000000000000b"},
    ),
    Operation(
        id="periods.getBundle",
        kind="call",
        method="GET",
        path="/periods/getBundle",
        scopes=READING,
        request=GetBundle,
        response=StoredFile,
        handler=AT_CATALOGUE,
        gives_file=MEDIA_TYPE,
        extension=True,
        example={"id": "seal_01k0000000000000000000000a"},
    ),
    Operation(
        id="periods.sealDifference",
        kind="call",
        method="GET",
        path="/periods/sealDifference",
        scopes=READING,
        request=GetSealDifference,
        response=SealDifference,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "limit_reached"),
        extension=True,
        example={"id": "seal_01k0000000000000000000000a", "limit": 20},
    ),
)
