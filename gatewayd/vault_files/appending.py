"""Who works on an upload: one request at a time, of all daemons that take uploads into the same place.

In one process the request that comes last ends the one before it. Where daemons share the place a row says whose the
upload is (`upload_files`), and the last who claimed it has it. What a daemon still writes that was stopped or cut off
meanwhile ends in a file that nobody reads, and is not acknowledged.
"""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

import trio

from gatewayd.areas.vault.documents import upload_files
from gatewayd.areas.vault.documents.upload_files import UploadFile, UploadLost
from gatewayd.areas.vault.documents.uploads import Expected
from gatewayd.errors import Problem
from gatewayd.store import ReadTx, Store, StoreFailure, WriteTx
from gatewayd.store.files.partial_blobs import PartialBlobs

TAKEOVER_SECONDS: Final = 10.0  # Chosen: for the disk to end what an earlier request began


class Turn(NamedTuple):
    """One request's time with an upload. `writer` None: no other daemon can be at it."""

    org_id: str
    document_id: str
    file: str
    writer: str | None

    def require(self, tx: ReadTx) -> None:
        """Raises `UploadLost` where another daemon has the upload by now."""
        if self.writer is not None:
            upload_files.require(tx, self.document_id, UploadFile(self.file, self.writer))

    def release_in(self, tx: WriteTx) -> None:
        """All that this request wrote is in the file: whoever comes next goes on with it as it is."""
        if self.writer is not None:
            upload_files.release(tx, self.document_id, self.writer)

    def end_in(self, tx: WriteTx) -> None:
        """The upload is over with this transaction, for all daemons."""
        upload_files.forget(tx, self.document_id)


@dataclass(eq=False)
class _Writer:
    """A request that works on an upload. Another one for the same ends it."""

    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    ended: trio.Event = field(default_factory=trio.Event)


class Appending:
    """The uploads that requests of this process work on."""

    def __init__(self, store: Store, partials: PartialBlobs, threads: trio.CapacityLimiter) -> None:
        self.is_shared = store.place.is_shared
        self._store = store
        self._partials = partials
        self._threads = threads
        self._writers: dict[str, _Writer] = {}

    def is_at_work(self, document_id: str) -> bool:
        """Whether a request of this process works on an upload."""
        return document_id in self._writers

    @asynccontextmanager
    async def alone(self, upload: Expected) -> AsyncIterator[Turn]:
        """The one request that works on an upload. One before it, which the client gave up, ends.

        Raises `Problem`: `unavailable` where that one does not end, `upload_offset_mismatch` where another one comes.
        """
        document_id = upload.row.id
        while (earlier := self._writers.get(document_id)) is not None:
            earlier.scope.cancel()
            with trio.move_on_after(TAKEOVER_SECONDS) as waited:
                await earlier.ended.wait()
            if waited.cancelled_caught:
                raise Problem("unavailable", "An earlier request is not over yet.", headers=((b"retry-after", b"5"),))
        writer = self._writers[document_id] = _Writer()
        try:
            with writer.scope:
                async with self._claimed(upload.org_id, document_id) as turn:
                    yield turn
        except UploadLost:
            raise _taken_over() from None
        finally:
            del self._writers[document_id]
            writer.ended.set()
        if writer.scope.cancelled_caught:
            raise _taken_over()

    async def require(self, turn: Turn) -> None:
        """What was written until now counts. Raises `UploadLost` where another daemon has the upload by now."""
        if turn.writer is not None:
            await self._store.read(turn.require, turn.org_id)

    @asynccontextmanager
    async def _claimed(self, org_id: str, document_id: str) -> AsyncIterator[Turn]:
        if not self.is_shared:
            file = await self._store.read(partial(upload_files.find, document_id=document_id), org_id)
            yield Turn(org_id, document_id, file.name, None)
            return
        turn = await self._claim(org_id, document_id, secrets.token_hex(8))
        try:
            yield turn
        except StoreFailure:  # its file may be gone, since another daemon goes on with a copy
            await self.require(turn)
            raise
        finally:
            if self._partials.is_certain(turn.file):  # else the next one goes on with a copy, as after a kill
                with trio.CancelScope(shield=True), suppress(StoreFailure):  # bounded by the store
                    await self._store.write(turn.release_in, org_id)

    async def _claim(self, org_id: str, document_id: str, writer: str) -> Turn:
        """A turn whose file nobody else writes. Raises `UploadLost`, `StoreFailure`."""
        claim = partial(upload_files.claim, document_id=document_id, writer=writer)
        before = await self._store.write(claim, org_id)
        if before.writer is None:
            return Turn(org_id, document_id, before.name, writer)
        file = UploadFile(f"{document_id}.{secrets.token_hex(8)}", writer)
        try:
            await self._run(self._partials.copy, before.name, file.name)
            await self._store.write(partial(upload_files.move, document_id=document_id, file=file), org_id)
        except (UploadLost, StoreFailure):
            await self._run(self._partials.discard, file.name)
            raise
        await self._run(self._partials.discard, before.name)
        return Turn(org_id, document_id, file.name, writer)

    async def _run(self, work: Callable[..., None], *names: str) -> None:
        await trio.to_thread.run_sync(work, *names, limiter=self._threads)


def _taken_over() -> Problem:
    return Problem("upload_offset_mismatch", "Another request goes on with this upload.")
