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
    """Which closed period to seal. `documents`: with the bytes of the documents that its entries have."""

    id: Id
    expected_version: Version | None = None
    documents: bool = False


class GetBundle(Request, frozen=True, kw_only=True):
    """Which seal's file."""

    id: Id


class GetSealDifference(PageRequest, frozen=True, kw_only=True):
    """Which seal, and against which other of its period: by default the one before it.

    `books`: against the books as they are now instead, which is the default where it is the first of its period.
    """

    id: Id
    against: Id | None = None
    books: bool = False


class FileDifference(Response, frozen=True, kw_only=True):
    """How many rows of a file differ. One that is no table, such as books.beancount, has none of its own."""

    path: str
    added: int
    removed: int
    changed: int


class RowDifference(Response, frozen=True, kw_only=True):
    """A row that one of two bundles has, or that differs. `fields` are the columns that do.

    `before` and `after` are the row by its columns, null where it is not there.
    """

    path: str
    id: str
    change: Change
    fields: list[str]
    before: dict[str, str] | None
    after: dict[str, str] | None


class SealDifference(Response, frozen=True, kw_only=True):
    """What differs between two seals of a period, or a seal and the books: all files that do, and a page of their rows.

    `before` is what the earlier one had. With `comparedWith` books that is the seal, `after` is what stands in the
    books now, whether the period is closed or open, and `against` is null.
    """

    id: Id
    compared_with: Literal["seal", "books"]
    against: Annotated[str, Meta(description="The seal that it is compared with.")] | None
    files: list[FileDifference]
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
