"""Files of this machine become documents: their bytes are durable first, then the row is there, confirmed at once.

What the organization has already is not taken twice: bytes are compared, not names. A kill leaves at most bytes that
nothing names; to file the same folder again goes on where it ended.
"""

import hashlib
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeVar

import trio

from gatewayd.areas.vault.documents import operations, rows, uploads
from gatewayd.areas.vault.documents.shapes import ConfirmUpload, CreateDocumentRecord
from gatewayd.areas.vault.folders import operations as folder_operations
from gatewayd.areas.vault.folders import rows as folders
from gatewayd.areas.vault.folders.shapes import CreateFolder
from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem
from gatewayd.store import Store, StoreFailure, WriteTx
from gatewayd.store.files.blobs import BlobInfo, Blobs, BlobTooLarge
from gatewayd.store.files.directory import free_bytes
from gatewayd.store.files.incoming_files import RESERVE_BYTES
from gatewayd.vault_files import found_files
from gatewayd.vault_files.found_files import FoundFile, Passed

STEP_BYTES: Final = 4 << 20  # read at once; a stop waits for no more
T = TypeVar("T")


class Filed(NamedTuple):
    """What became of a file. `document_id` is of what it became, or of what has its bytes already.

    `reason` says why it was refused; it does not begin with a capital letter.
    """

    path: str
    outcome: Literal["added", "known", "refused"]
    size_bytes: int
    document_id: str | None = None
    reason: str | None = None


class Changed(Exception):
    """A file is not what it was when it was found."""


class Filing:
    """Files into one store."""

    def __init__(self, store: Store, blobs: Blobs, limits: uploads.Settings) -> None:
        self._store = store
        self._blobs = blobs
        self._limits = limits
        self._threads = trio.CapacityLimiter(1)

    async def file_tree(self, caller: Caller, root: Path, top: str | None, tell: Callable[[Filed], None]) -> None:
        """File a folder and those below it, which become folders in `top`, or one file; None: at the top.

        `tell` hears of each file. Raises `OSError` where the folder cannot be read, `StoreFailure` where the disk is
        full: what was told of until then is durable.
        """
        with closing(found_files.walk(root)) as files:
            while (file := await self.run(next, files, None)) is not None:
                if isinstance(file, Passed):
                    tell(Filed(file.path, "refused", 0, reason=file.reason))
                else:
                    tell(await self.file_one(caller, file, top))

    async def file_one(self, caller: Caller, file: FoundFile, top: str | None, above: int = 0) -> Filed:
        """File one file; the first `above` names of its path are no folders of the vault. Raises `StoreFailure`."""
        size = file.identity.size_bytes
        if size > self._limits.max_bytes:
            reason = f"a document may have at most {self._limits.max_bytes} bytes"
            return Filed(file.path, "refused", size, reason=reason)
        try:
            return await self._file(caller, file, top, above)
        except Changed:
            return Filed(file.path, "refused", size, reason="it was changed while it was read")
        except Problem as problem:
            return Filed(file.path, "refused", size, reason=problem.message)
        except OSError as error:
            return Filed(file.path, "refused", size, reason=f"it cannot be read: {error.strerror}")

    async def run(self, work: Callable[..., T], *values: object) -> T:
        """Work that waits for the disk."""
        return await trio.to_thread.run_sync(work, *values, limiter=self._threads)

    async def _file(self, caller: Caller, file: FoundFile, top: str | None, above: int) -> Filed:
        descriptor = await self.run(found_files.open_file, file)
        try:
            sha256 = await self._hash(descriptor)
            known = await self._store.read(lambda tx: rows.same_content(tx, sha256, ""), caller.org_id)
            if known is None or not await self.run(self._has, sha256):
                await self._copy(descriptor, file, sha256)
        finally:
            os.close(descriptor)
        outcome: Literal["added", "known"] = "known"
        if known is None:
            info = BlobInfo(sha256, file.identity.size_bytes)
            filer = _Filer(caller, self._limits, top)
            outcome, known = await self._store.write(lambda tx: filer.add(tx, file.parts[above:], info), caller.org_id)
        return Filed(file.path, outcome, file.identity.size_bytes, known)

    async def _hash(self, descriptor: int) -> str:
        digest = hashlib.sha256()

        def step() -> bool:
            part = os.read(descriptor, STEP_BYTES)
            digest.update(part)
            return bool(part)

        while await self.run(step):
            pass
        return digest.hexdigest()

    async def _copy(self, descriptor: int, file: FoundFile, sha256: str) -> None:
        """Store the bytes. Raises `Changed` where they are not those that were hashed."""
        await self.run(os.lseek, descriptor, 0, os.SEEK_SET)
        draft = await self.run(self._blobs.draft, self._limits.max_bytes)

        def step() -> bool:
            part = os.read(descriptor, STEP_BYTES)
            if free_bytes(self._blobs.folder) < RESERVE_BYTES + len(part):
                raise StoreFailure("the disk has no room for the document")
            draft.write(part)
            draft.sync()  # little at a time, so that commits beside it wait for little
            return bool(part)

        try:
            while await self.run(step):
                pass
            if draft.sha256 != sha256 or found_files.identity_of(descriptor) != file.identity:
                raise Changed
            await self.run(draft.save)
        except BlobTooLarge:
            raise Changed from None
        finally:
            with trio.CancelScope(shield=True):
                await self.run(draft.discard)

    def _has(self, sha256: str) -> bool:
        """Whether the bytes are there still: where they are lost they are put back."""
        return self._blobs.size_of(sha256) is not None


class _Filer(NamedTuple):
    """Whoever files, what an organization may keep, and the folder that its tree is put in."""

    caller: Caller
    limits: uploads.Settings
    top: str | None

    def add(self, tx: WriteTx, parts: tuple[str, ...], info: BlobInfo) -> tuple[Literal["added", "known"], str]:
        """The document and its folders, by the operations of the API. Raises `Problem`."""
        existing = rows.same_content(tx, info.sha256, "")
        if existing is not None:  # another process was faster
            return "known", existing
        folder_id = self.top
        for name in parts[:-1]:
            folder_id = self._folder(tx, found_files.readable(name), folder_id)
        record = CreateDocumentRecord(
            name=found_files.readable(parts[-1]), folder_id=folder_id, size_bytes=info.size_bytes, sha256=info.sha256
        )
        made = operations.create_document_record(tx, self.caller, record, settings=self.limits)
        token = made.upload.url.rpartition("/")[2]
        received = uploads.receive(tx, token, info.size_bytes, info.sha256, self.limits.organization_bytes)
        assert received is not None, "made in this transaction"
        confirmed = operations.confirm_upload(tx, self.caller, ConfirmUpload(document_id=received.id))
        return "added", confirmed.id

    def _folder(self, tx: WriteTx, name: str, parent_id: str | None) -> str:
        """The folder of that name in another, made where it is not there."""
        folder_id = folders.named(tx, parent_id, name)
        if folder_id is not None:
            return folder_id
        return folder_operations.create_folder(tx, self.caller, CreateFolder(name=name, parent_id=parent_id)).id
