"""Seals periods: writes the bundle beside the database, then the row that names it.

The books are read in one snapshot, on a thread. A kill before the row leaves a file that nothing names, until it is
swept.
"""

from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import trio

from gatewayd.bundles import differences, documents, writing
from gatewayd.bundles.archive import BundleFault
from gatewayd.bundles.differences import FileChange, RowChange
from gatewayd.bundles.manifest import FileEntry
from gatewayd.clock import DAY, HOUR, Instant
from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem, invalid, invalid_field, invalid_state
from gatewayd.identity.signing import seal_keys
from gatewayd.identity.signing.seal_keys import SealKey
from gatewayd.ledger import named_files
from gatewayd.ledger.calendar import period_seals
from gatewayd.ledger.calendar.period_seals import SEALS, PeriodSeal, SealedFile
from gatewayd.ledger.calendar.periods import PERIODS, PeriodRow
from gatewayd.ledger.references import unknown_reference
from gatewayd.shares import Shares
from gatewayd.store import ReadTx, Store, StoreFailure, WriteTx
from gatewayd.store.files.at_place import blobs_at
from gatewayd.store.files.blobs import BlobDraft, BlobInfo, Blobs, BlobTooLarge
from gatewayd.store.files.directory import free_bytes
from gatewayd.store.files.incoming_files import RESERVE_BYTES

MAX_BUNDLE_BYTES: Final = 1 << 30  # Chosen: a hundred times what a busy small firm has in a year
MAX_WITH_DOCUMENTS_BYTES: Final = 4 << 30  # Chosen: some ten thousand scans
COMPARED_AT_ONCE: Final = 2  # Chosen: one of each organization
WAIT_SECONDS: Final = 30.0  # Chosen: for a place to compare, as a long read waits
SWEEP_EVERY: Final = DAY  # Chosen
LOOKED_UP_AT_ONCE: Final = 500  # Chosen: files of one read
UNNAMED_FOR: Final = HOUR  # Chosen: a bundle is named some seconds after it was written

BOOKS: Final = "books"  # no seal is called so: they are compared as they are now


class _Written(NamedTuple):
    """A bundle whose file is durable. `instant` is when its books were read."""

    blob: BlobInfo
    sealed_at: int
    contents_sha256: str
    files: list[FileEntry]


class _Sink:
    """A blob on its way in, as a ZIP is written to it: never into the room that the database needs."""

    def __init__(self, draft: BlobDraft, folder: Path) -> None:
        self._draft = draft
        self._folder = folder

    def write(self, part: bytes, /) -> int:
        """Raises `StoreFailure` and `BlobTooLarge`."""
        if free_bytes(self._folder) < RESERVE_BYTES + len(part):
            raise StoreFailure("the disk has no room for the bundle")
        self._draft.write(bytes(part))
        return len(part)

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """Whoever made the draft ends it."""


class Bundles:
    """The bundles of one store. Raises `OSError`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._blobs = blobs_at(store.place)
        self._threads = trio.CapacityLimiter(COMPARED_AT_ONCE)
        self._fetching, self._saving = trio.CapacityLimiter(COMPARED_AT_ONCE), trio.CapacityLimiter(COMPARED_AT_ONCE)
        self.shares = Shares("comparisons of seals", COMPARED_AT_ONCE, wait_seconds=WAIT_SECONDS)
        self._swept_at: Instant | None = None

    async def seal_period(
        self, caller: Caller, period_id: str, expected_version: int | None, *, with_documents: bool
    ) -> PeriodSeal:
        """The seal of a closed period as its books are: a new one, or the last where nothing differs from it.

        Raises `Problem`: `not_found`, `version_conflict`, `invalid_state` (it is not closed), `limit_reached`, `gone`
        (the bytes of a document); or `StoreFailure`.
        """
        org_id = caller.org_id
        period = await self._store.read(lambda tx: _closed(tx, period_id, expected_version), org_id)
        key = await self._key()
        written = await self._written(org_id, period, key, with_documents=with_documents)
        if isinstance(written, PeriodSeal):
            return written
        return await self._store.write(lambda tx: _add(tx, caller, period, key, written), org_id)

    async def _written(
        self, org_id: str, period: PeriodRow, key: SealKey, *, with_documents: bool
    ) -> _Written | PeriodSeal:
        """The bundle, durable, which the snapshot of the books does not wait for; or the last seal, of the same."""
        most = MAX_WITH_DOCUMENTS_BYTES if with_documents else MAX_BUNDLE_BYTES
        draft = await trio.to_thread.run_sync(self._blobs.draft, most, limiter=self._saving)
        try:
            of_documents = self._blobs if with_documents else None
            read = await self._store.read_later(lambda tx: self._write(tx, period, key, draft, of_documents), org_id)
            if isinstance(read, PeriodSeal):
                return read
            blob = await trio.to_thread.run_sync(draft.save, limiter=self._saving)
            return _Written(blob, *read)
        except BlobTooLarge:
            raise _too_large(most) from None
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(draft.discard, limiter=self._saving)

    async def file_of(self, org_id: str, seal_id: str) -> tuple[PeriodSeal, PeriodRow, Path]:
        """A seal, its period, and where its bundle is. Raises `Problem` `not_found`."""
        seal, period = await self._store.read(lambda tx: _with_period(tx, seal_id), org_id)
        return seal, period, await self._path(seal)

    async def differences(
        self, org_id: str, seal_id: str, against: str | None, first: int, count: int
    ) -> tuple[PeriodSeal, PeriodSeal | None, list[FileChange], list[RowChange]]:
        """What differs between a seal and another of its period, by default the one before it.

        With `BOOKS`, and where it is the first, between the seal and the books as they are now: the other is None then.

        Raises `Problem`: `not_found`, `validation_failed`, `invalid_state` for a bundle that cannot be read any more,
        `limit_reached` for books that no bundle would hold; or `StoreFailure`.
        """
        seal, other = await self._store.read(lambda tx: _pair(tx, seal_id, against), org_id)
        path = await self._path(seal)
        try:
            async with self.shares.place(org_id):
                if other is None:
                    changes = await self._store.read_later(
                        lambda tx: self._compare_books(tx, seal, path, first, count), org_id
                    )
                else:
                    compare = partial(differences.compare, await self._path(other), path, first, count)
                    changes = await trio.to_thread.run_sync(compare, limiter=self._threads)
        except BundleFault as fault:
            message = f"A bundle is damaged: {fault}. `periods.seal` makes another; a backup has this one as it was."
            raise invalid_state(message, "damaged", ()) from None
        return seal, other, *changes

    async def keep_house(self) -> None:
        """Once a day, delete the files that nothing names. Raises `StoreFailure`."""
        now = Instant(self._store.now())
        if self._swept_at is not None and now - self._swept_at < SWEEP_EVERY:
            return
        told = await trio.to_thread.run_sync(self._blobs.as_the_disk_tells, now, limiter=self._saving)
        found = sorted(await trio.to_thread.run_sync(self._blobs.digests, limiter=self._saving))
        unnamed = set[str]()
        for first in range(0, len(found), LOOKED_UP_AT_ONCE):
            piece = found[first : first + LOOKED_UP_AT_ONCE]
            unnamed |= await self._store.read_later(partial(_unnamed, digests=piece), None)
        # What is named meanwhile was stored meanwhile, and is too young.
        sweep = partial(self._blobs.sweep, lambda sha256: sha256 not in unnamed, Instant(told - UNNAMED_FOR))
        await trio.to_thread.run_sync(sweep, limiter=self._saving)
        self._swept_at = now

    async def _key(self) -> SealKey:
        """The key of the instance, made at the first seal."""
        key = await self._store.read(seal_keys.find)
        if key is not None:
            return key
        new = await trio.to_thread.run_sync(seal_keys.generate, limiter=self._threads)
        return await self._store.write(lambda tx: seal_keys.add(tx, new))

    def _write(
        self, tx: ReadTx, period: PeriodRow, key: SealKey, draft: BlobDraft, of_documents: Blobs | None
    ) -> tuple[int, str, list[FileEntry]] | PeriodSeal:
        """What `_Written` says beside its file; or the last seal, where it holds the same."""
        bundled = writing.write(tx, period, key, _Sink(draft, self._blobs.folder), of_documents)
        last = period_seals.last_of(tx, period.id)
        if last is not None and _is_same(last, bundled.contents_sha256, key) and self._has(last):
            return last
        return tx.now, bundled.contents_sha256, bundled.files

    def _compare_books(
        self, tx: ReadTx, seal: PeriodSeal, path: Path, first: int, count: int
    ) -> tuple[list[FileChange], list[RowChange]]:
        """What the books have that a seal has not, and the other way round; they are written beside it for so long."""
        period = PERIODS.get(tx, seal.period_id)
        with_documents = any(file.path == documents.TABLE for file in seal.files)
        try:
            with self._blobs.draft(MAX_BUNDLE_BYTES) as draft:
                writing.write_unsealed(tx, period, _Sink(draft, self._blobs.folder), with_documents=with_documents)
                return differences.compare(path, draft.written(), first, count)
        except BlobTooLarge:
            raise _too_large(MAX_BUNDLE_BYTES) from None

    def _has(self, seal: PeriodSeal) -> bool:
        return self._blobs.size_of(seal.sha256) == seal.size_bytes

    async def _path(self, seal: PeriodSeal) -> Path:
        try:
            return await trio.to_thread.run_sync(self._blobs.path, seal.sha256, limiter=self._fetching)
        except FileNotFoundError:
            message = "The file of this bundle is gone from the data directory: seal the period again."
            raise Problem("not_found", message) from None


def _unnamed(tx: ReadTx, digests: list[str]) -> set[str]:
    return {sha256 for sha256 in digests if not named_files.is_named(tx, sha256)}


def _too_large(most: int) -> Problem:
    return Problem("limit_reached", f"A bundle has at most {most} bytes.", extra={"limit": most})


def _is_same(last: PeriodSeal, contents_sha256: str, key: SealKey) -> bool:
    return (last.contents_sha256, last.key_fingerprint) == (contents_sha256, key.fingerprint)


def _closed(tx: ReadTx, period_id: str, expected_version: int | None) -> PeriodRow:
    row = PERIODS.get(tx, period_id, expected_version)
    if row.status != "closed":
        message = f"Only a closed period can be sealed, and this one is {row.status}: `periods.close` closes it."
        raise invalid_state(message, row.status, ("closed",))
    return row


def _with_period(tx: ReadTx, seal_id: str) -> tuple[PeriodSeal, PeriodRow]:
    seal = SEALS.get(tx, seal_id)
    return seal, PERIODS.get(tx, seal.period_id)


def _pair(tx: ReadTx, seal_id: str, against: str | None) -> tuple[PeriodSeal, PeriodSeal | None]:
    seal = SEALS.get(tx, seal_id)
    if against == BOOKS:
        return seal, None
    if against is None:
        return seal, period_seals.before(tx, seal)
    other = SEALS.find(tx, against)
    if other is None:
        raise invalid(unknown_reference("against", "seal"))
    if other.period_id != seal.period_id:
        message = f"It is a seal of another period, {other.period_id}: expected one of {seal.period_id}."
        raise invalid_field("against", "conflict", message)
    return seal, other


def _add(tx: WriteTx, caller: Caller, period: PeriodRow, key: SealKey, written: _Written) -> PeriodSeal:
    """Raises `Problem` `version_conflict` where the period was touched while its books were read."""
    _closed(tx, period.id, period.version)
    seal = SEALS.new(
        tx,
        None,
        period_id=period.id,
        number=1,
        sealed_at=written.sealed_at,
        sealed_by=caller.reference,
        size_bytes=written.blob.size_bytes,
        sha256=written.blob.sha256,
        contents_sha256=written.contents_sha256,
        key_fingerprint=key.fingerprint,
        files=[_sealed(file) for file in written.files if not file.path.startswith(documents.FOLDER)],
    )
    return period_seals.add(tx, seal)


def _sealed(file: FileEntry) -> SealedFile:
    return msgspec.convert(msgspec.structs.asdict(file), SealedFile)
