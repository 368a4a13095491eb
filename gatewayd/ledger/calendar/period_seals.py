"""Seals: signed bundles of what counted in a closed period. Owns the table `period_seals`.

The bundle itself is a file of the store's blobs, named by its digest; what stands here is what it holds.
"""

from msgspec.structs import replace

from gatewayd.contract.wire import Id, Response, Timestamp
from gatewayd.store import ReadTx, Table, WriteTx


class SealedFile(Response, frozen=True, kw_only=True):
    """One file of a bundle. `rows` are those of a CSV without its heading; null of other files."""

    path: str
    bytes: int
    rows: int | None
    sha256: str


class PeriodSeal(Response, frozen=True, kw_only=True):
    """A bundle of a closed period.

    `contentsSha256` is the same for the same books, whenever they are sealed: the SHA-256 of the lines that sha256sum
    writes of the files. `keyFingerprint` is the thumbprint (RFC 7638) of the key that signed it, of this instance.
    """

    id: Id
    period_id: Id
    number: int
    sealed_at: Timestamp
    sealed_by: str
    size_bytes: int
    sha256: str
    contents_sha256: str
    key_fingerprint: str
    files: list[SealedFile]
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
