"""Sealing of periods (Domain F.14): its operations. A bundle holds what several areas keep, and is read with all their
scopes.
"""

from typing import Annotated, Final, Literal, Protocol

from msgspec import Meta

from gatewayd.bundles import documents
from gatewayd.bundles.differences import Change, RowChange
from gatewayd.bundles.engine import BOOKS, Bundles
from gatewayd.contract.caller import Caller
from gatewayd.contract.given_files import StoredFile
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import PageRequest, cursor_key, next_cursor
from gatewayd.contract.scopes import ScopeLacking
from gatewayd.contract.wire import Id, Request, Response, Version
from gatewayd.errors import invalid_field
from gatewayd.ledger.calendar.period_seals import PeriodSeal

MEDIA_TYPE: Final = "application/octet-stream"  # Chosen: generators of clients know none of archives
_READING: Final = ("periods:read", "accounting:read", "banking:read")
_OF_VAULT: Final = "vault:read"


class Deps(Protocol):
    """What the rows are given to work with."""

    @property
    def bundles(self) -> Bundles: ...


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


async def seal_period(deps: Deps, caller: Caller, request: SealPeriod) -> PeriodSeal:
    """Seal a closed period: write all that counts in it into a bundle that can be checked without this program.

    Invoices, payments, bank transactions, allocations, profit and loss with the rows behind it, obligations and the
    facts of the period as CSV, the whole as beancount text, the hash of each file, and a signature by the key of this
    instance, whose fingerprint is to be kept apart. Where nothing differs from the last seal, that is the answer.

    With `documents` it holds the documents that allocations name, and those linked to invoices and bank transactions,
    but for the trash: listed in documents.csv, and not in `files`. To read such a bundle needs `vault:read` as well.
    """
    return await deps.bundles.seal_period(
        caller, request.id, request.expected_version, with_documents=request.documents
    )


async def get_bundle(deps: Deps, caller: Caller, request: GetBundle) -> StoredFile:
    """Get the bundle of a seal, a ZIP archive: `gatewayd period verify-bundle` checks it, without network or data."""
    seal, period, path = await deps.bundles.file_of(caller.org_id, request.id)
    _refuse_documents(caller, seal)
    return StoredFile(path, seal.size_bytes, f"{period.start_date}-{period.end_date}-{seal.id}.zip", MEDIA_TYPE)


async def get_seal_difference(deps: Deps, caller: Caller, request: GetSealDifference) -> SealDifference:
    """Get what differs between two seals of a period, row by row: what reopening it has changed.

    Of the first seal, and with `books`, what has changed in the books since it was sealed. Each page is of the books as
    they are when it is asked for.
    """
    if request.books and request.against is not None:
        raise invalid_field("against", "conflict", "Either another seal, or the books.")
    key = cursor_key(request, int)
    first = 0 if key is None else max(int(key[0]), 0)
    against = BOOKS if request.books else request.against
    found = await deps.bundles.differences(caller.org_id, request.id, against, first, request.limit + 1)
    seal, other, files, rows = found
    _refuse_documents(caller, seal, other)
    more = len(rows) > request.limit
    return SealDifference(
        id=seal.id,
        compared_with="books" if other is None else "seal",
        against=None if other is None else other.id,
        files=[FileDifference(**one._asdict()) for one in files],
        data=[_row(one) for one in rows[: request.limit]],
        next_cursor=next_cursor(request, (first + request.limit,)) if more else None,
    )


def _refuse_documents(caller: Caller, *seals: PeriodSeal | None) -> None:
    """Raises `Problem` `insufficient_scope` where there are documents in a bundle, and the caller may not see them."""
    paths = {file.path for seal in seals if seal is not None for file in seal.files}
    if documents.TABLE in paths and _OF_VAULT not in caller.scopes:
        raise ScopeLacking((*_READING, _OF_VAULT))


def _row(one: RowChange) -> RowDifference:
    return RowDifference(**one._asdict())


OPERATIONS: Final = (
    Operation(
        id="periods.seal",
        kind="call",
        method="POST",
        path="/periods/seal",
        scopes=("periods:write",),
        request=SealPeriod,
        response=PeriodSeal,
        handler=seal_period,
        errors=("gone", "invalid_state", "limit_reached", "version_conflict"),
        extension=True,
        example={"id": "per_01k0000000000000000000000b"},
    ),
    Operation(
        id="periods.getBundle",
        kind="call",
        method="GET",
        path="/periods/getBundle",
        scopes=_READING,
        request=GetBundle,
        response=StoredFile,
        handler=get_bundle,
        gives_file=MEDIA_TYPE,
        extension=True,
        example={"id": "seal_01k0000000000000000000000a"},
    ),
    Operation(
        id="periods.sealDifference",
        kind="call",
        method="GET",
        path="/periods/sealDifference",
        scopes=_READING,
        request=GetSealDifference,
        response=SealDifference,
        handler=get_seal_difference,
        errors=("invalid_state", "limit_reached"),
        extension=True,
        example={"id": "seal_01k0000000000000000000000a", "limit": 20},
    ),
)
