"""Seals: signed bundles of what counted in a closed period. Owns the table `period_seals`.

The bundle itself is a file of the store's blobs, named by its digest; what stands here is what it holds.
"""

from msgspec.structs import replace

from gatewayd.contract.wire import Id, Response, Timestamp
from gatewayd.store import ReadTx, Table, WriteTx


class SealedFile(Response, frozen=True, kw_only=True):
    """One file of a bundle."""

    path: str
    """Where it stands in the bundle, such as allocations.csv."""
    bytes: int
    """Its length in bytes."""
    rows: int | None
    """The rows of a CSV, without its heading. Null: it is no CSV."""
    sha256: str
    """The SHA-256 of its bytes, in hexadecimal."""


class PeriodSeal(Response, frozen=True, kw_only=True):
    """A signed bundle of what counted in a closed period."""

    id: Id
    period_id: Id
    """The period that was sealed."""
    number: int
    """Which seal of its period it is, from 1."""
    sealed_at: Timestamp
    """The instant at which the books were read."""
    sealed_by: str
    """The user who sealed it, else the credential; `operator`: whoever runs the server."""
    size_bytes: int
    """The length of the bundle, a ZIP archive, in bytes."""
    sha256: str
    """The SHA-256 of the bundle, in hexadecimal."""
    contents_sha256: str
    """The SHA-256 of the lines that sha256sum writes of the files: the same for the same books, whenever they are
    sealed."""
    key_fingerprint: str
    """The thumbprint (RFC 7638) of this instance's key that signed it."""
    files: list[SealedFile]
    """The files in the bundle, but for documents, which have a table of their own."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


SEALS = Table("period_seals", PeriodSeal, kind="seal", prefix="seal")

_SELECT_OF_PERIOD = f"{SEALS.select} AND period_id = :period_id ORDER BY number"
_SELECT_LAST = f"{SEALS.select} AND period_id = :period_id ORDER BY number DESC LIMIT 1"
_SELECT_BEFORE = f"{SEALS.select} AND period_id = :period_id AND number < :number ORDER BY number DESC LIMIT 1"
_SELECT_FILE_ANY_ORG = "SELECT 1 FROM period_seals WHERE sha256 = :sha256 LIMIT 1"


def is_file_of_any(tx: ReadTx, sha256: str) -> bool:
    """Whether the file with this digest is the bundle of a seal, of whichever organization."""
    return tx.row(_SELECT_FILE_ANY_ORG, sha256=sha256) is not None


def of_period(tx: ReadTx, period_id: str) -> list[PeriodSeal]:
    """The seals of a period, oldest first."""
    return [SEALS.read(tx, row) for row in tx.rows(_SELECT_OF_PERIOD, period_id=period_id)]


def last_of(tx: ReadTx, period_id: str) -> PeriodSeal | None:
    """The latest seal of a period, if it has any."""
    row = tx.row(_SELECT_LAST, period_id=period_id)
    return None if row is None else SEALS.read(tx, row)


def before(tx: ReadTx, seal: PeriodSeal) -> PeriodSeal | None:
    """The seal of the same period before this one."""
    row = tx.row(_SELECT_BEFORE, period_id=seal.period_id, number=seal.number)
    return None if row is None else SEALS.read(tx, row)


def add(tx: WriteTx, seal: PeriodSeal) -> PeriodSeal:
    """Store a seal, numbered after the last of its period."""
    last = last_of(tx, seal.period_id)
    return SEALS.insert(tx, replace(seal, number=1 if last is None else last.number + 1))
