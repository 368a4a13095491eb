"""Sealing of periods (Domain F.14): handlers of its operations."""

from typing import Final, Protocol

from gatewayd.areas.periods.seals import (
    MEDIA_TYPE,
    READING,
    FileDifference,
    GetBundle,
    GetSealDifference,
    RowDifference,
    SealDifference,
    SealPeriod,
)
from gatewayd.bundles import documents
from gatewayd.bundles.differences import RowChange
from gatewayd.bundles.engine import BOOKS, Bundles
from gatewayd.contract.caller import Caller
from gatewayd.contract.given_files import StoredFile
from gatewayd.contract.operation import Handlers
from gatewayd.contract.pages import cursor_key, next_cursor
from gatewayd.contract.scopes import ScopeLacking
from gatewayd.errors import invalid_field
from gatewayd.ledger.calendar.period_seals import PeriodSeal

_OF_VAULT: Final = "vault:read"


class Deps(Protocol):
    """What the rows are given to work with."""

    @property
    def bundles(self) -> Bundles: ...


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
        raise invalid_field("against", "conflict", "Give `against`, of another seal, or `books`, not both.")
    key = cursor_key(request, int)
    first = 0 if key is None else max(int(key[0]), 0)
    against = BOOKS if request.books else request.against
    answer = await deps.bundles.differences(caller.org_id, request.id, against, first, request.limit + 1)
    seal, other, files, rows = answer
    _refuse_documents(caller, seal, other)
    more = len(rows) > request.limit
    return SealDifference(
        id=seal.id,
        compared_with="books" if other is None else "seal",
        against=None if other is None else other.id,
        files=[FileDifference(**file._asdict()) for file in files],
        data=[_row(row) for row in rows[: request.limit]],
        next_cursor=next_cursor(request, (first + request.limit,)) if more else None,
    )


def _refuse_documents(caller: Caller, *seals: PeriodSeal | None) -> None:
    """Raises `Problem` `insufficient_scope` where there are documents in a bundle, and the caller may not see them."""
    paths = {file.path for seal in seals if seal is not None for file in seal.files}
    if documents.TABLE in paths and _OF_VAULT not in caller.scopes:
        raise ScopeLacking((*READING, _OF_VAULT))


def _row(change: RowChange) -> RowDifference:
    return RowDifference(**change._asdict())


HANDLERS: Final[Handlers] = {
    "periods.seal": seal_period,
    "periods.getBundle": get_bundle,
    "periods.sealDifference": get_seal_difference,
}
